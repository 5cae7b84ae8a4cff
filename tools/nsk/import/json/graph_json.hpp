// SPDX-License-Identifier: MIT
#pragma once
/// The words of a source graph as JSON, and what its reader and its writer share.
#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>

#include "graph/array.hpp"

namespace nsk::tool {

/// Keeps the order of keys; its real numbers are float32, so that an attribute comes back with the bits that it had.
using graph_json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

inline constexpr char graph_json_key[] = "netsuke_graph";  ///< the first key of the file; its value is the version
inline constexpr int graph_json_version = 1;
inline constexpr int max_graph_json_depth = 5;       ///< graphs inside each other
inline constexpr std::int64_t max_inline = 64;       ///< elements of a constant that is written into the JSON
inline constexpr char default_domain[] = "ai.onnx";  ///< how the domain "" is written in the list of opsets

/// Real numbers that JSON has no numbers for.
inline constexpr char infinity_text[] = "inf", minus_infinity_text[] = "-inf", nan_text[] = "nan";

/// An element type by NumPy's spelling ("float32", "bool"); nothing for others.
inline std::optional<element> element_named(const std::string& name) {
  constexpr std::array<element, 11> known = {element::f32, element::f64, element::i8,     element::u8,
                                             element::i16, element::u16, element::i32,    element::u32,
                                             element::i64, element::u64, element::boolean};
  for (const element t : known)
    if (name == name_of(t)) return t;
  return std::nullopt;
}

}
