// SPDX-License-Identifier: MIT
#pragma once
/// Kinds of work, each with a measured speed of its own in a device profile (profile/profile.hpp).
#include <string>
#include <netsuke/format/step_view.hpp>

namespace nsk::tool {

namespace work_kinds {
inline constexpr const char* depthwise = "depthwise";
inline constexpr const char* pool = "pool";
inline constexpr const char* reduce = "reduce";
inline constexpr const char* resize = "resize";
inline constexpr const char* softmax = "softmax";
inline constexpr const char* function = "function";
inline constexpr const char* elementwise = "elementwise";
inline constexpr const char* gemv = "gemv";
inline constexpr const char* pointwise = "pointwise";
}

/// Below so many rows a matrix product reads each weight for few multiplications.
inline constexpr std::int64_t gemv_rows = 4;

/// Whether a function is a polynomial of a dozen operations or more, not a comparison and a multiplication.
bool is_costly(function f);

/// Returns the kind of a convolution, dense layer or matrix product.
std::string kind_of_product(const step_view& s, const tile_space& space);

/// Returns the kind of a step that computes next to nothing: "shuffle" for copies of single elements, else "copy".
std::string kind_of_move(const step_view& s);

}
