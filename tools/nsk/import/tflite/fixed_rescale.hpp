// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of TensorFlow Lite's kernels with states on stored integers, spelled out in int64: value for value what
/// graph/fixed_point.hpp says.
#include "import/tflite/call.hpp"

namespace nsk::tool::tflite {

/// An integer scalar of int64.
value_id long_constant(call& c, std::int64_t v);
/// Integers of any type as int64, and int64 as bytes or int16, which saturate.
value_id as_long(call& c, value_id integers);
value_id saturated_as(call& c, value_id numbers, element type);
/// floor(v / 2^bits) of int64.
value_id floor_shifted(call& c, value_id v, int bits);
/// v / 2^bits of int64, halves away from 0.
value_id round_shifted(call& c, value_id v, int bits);
/// int64 `v` times a real number, as fixed_point_multiplier has it. Refuses magnitudes, up to `bound`, that LiteRT's
/// int32 does not hold.
value_id rescaled(call& c, value_id v, double factor, double bound);
/// Sums of x less its zero point times constant weights [rows, depth], as int64 [batch, rows]; x are the integers
/// [batch, depth] of tensor `t`.
value_id integer_product(call& c, value_id x, int t, int weights);
/// The largest magnitude that such a product has.
double product_bound(call& c, int t, int weights);

}
