// SPDX-License-Identifier: MIT
#pragma once
/// Nodes that rules of several families emit: constants, movements of elements, activations.
#include <string>
#include <vector>
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

value_id constant_integers(call& c, const std::vector<std::int64_t>& list);
value_id constant_number(call& c, double v);  ///< a float32 scalar

value_id transposed(call& c, value_id v, const std::vector<std::int64_t>& order);
value_id reshaped(call& c, value_id v, const shape_t& shape);  ///< `v` itself if it has the shape
value_id cast(call& c, value_id v, element to);
/// Elements at `positions` of an axis.
value_id gathered(call& c, value_id v, std::int64_t axis, const std::vector<std::int64_t>& positions);
/// Elements [start, stop) of every axis of the source's, by steps that may be negative (a stop of -1 is before the
/// first).
value_id sliced(call& c, value_id v, bool images, const std::vector<std::int64_t>& starts,
                const std::vector<std::int64_t>& stops, const std::vector<std::int64_t>& steps);
/// The values along an axis, one behind the other; a single one as it is.
value_id joined(call& c, const values& parts, std::int64_t axis);

/// A fused activation. Refuses those that runtimes do not agree about.
value_id activated(call& c, value_id v, tfl::Activation a);
/// The value within what the quantised tensor `t` can hold; of other tensors as it is.
value_id saturated(call& c, value_id v, int t);
/// Binds output `i` after an activation and the limits of what a quantised result can hold.
void finish(call& c, std::size_t i, value_id v, bool images = false, tfl::Activation a = tfl::Activation::NONE);

}
