// SPDX-License-Identifier: MIT
#pragma once
/// Constants of strings: nodes Constant with attributes of the converter's own, until resolve() makes integers of them.

namespace nsk::tool {

inline constexpr char text_attribute[] = "nsk_texts";        ///< one per element
inline constexpr char text_shape_attribute[] = "nsk_shape";  ///< of the tensor

}
