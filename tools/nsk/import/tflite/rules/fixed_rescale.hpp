// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of TensorFlow Lite's kernels with states on stored integers, spelled out in int64: value for value what
/// graph/fixed_point.hpp says.
#include <vector>

#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// Integers of int64, a scalar where it is one; made once.
value_id long_constants(call& c, const std::vector<std::int64_t>& numbers);
value_id long_constant(call& c, std::int64_t v);
/// Integers of any type as int64, and int64 as bytes or int16, which saturate.
value_id as_long(call& c, value_id integers);
value_id saturated_as(call& c, value_id numbers, element type);
/// floor(v / 2^bits) of int64.
value_id floor_shifted(call& c, value_id v, int bits);
/// v / 2^bits of int64, halves away from 0.
value_id round_shifted(call& c, value_id v, int bits);
/// int64 `v` times a real number, or one for each position of the last axis, as fixed_point_multiplier has it. Refuses
/// magnitudes, up to `bound`, that LiteRT's int32 does not hold.
value_id rescaled(call& c, value_id v, const std::vector<double>& factors, double bound);
/// Sums of bytes x [batch, depth] less their zero point times constant weights [depth, rows], as int64 [batch, rows].
value_id integer_product(call& c, value_id x, std::int64_t zero_point, value_id weights);
/// The largest magnitude that a product of int8 with weights [rows, depth] has.
double product_bound(const array& weights, std::int64_t zero_point);

}
