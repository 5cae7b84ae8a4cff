// SPDX-License-Identifier: MIT
#pragma once
/// JSON that a person gives, within limits: parsing it takes bounded time and memory, and everything that walks it may
/// recurse.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"

namespace nsk::tool {

struct json_limits {
  std::uint64_t bytes;
  std::size_t keys;     ///< of one object
  std::size_t numbers;  ///< in all
  std::size_t others;   ///< texts, lists and objects in all
};
inline constexpr std::size_t max_json_depth = 32;

/// Of what nsk json writes: shallow, with few keys in an object (looking for one takes as long as there are).
inline constexpr json_limits table_limits = {std::uint64_t{1} << 28, 256, std::size_t{1} << 25, std::size_t{1} << 21};
/// Of choices and device profiles, whose objects are sorted: as many keys as there may be values.
inline constexpr json_limits option_limits = {std::uint64_t{1} << 24, std::size_t{1} << 21, std::size_t{1} << 20,
                                              std::size_t{1} << 20};

/// Returns the text as JSON. Refuses what is none, and what goes beyond the limits; `otherwise` ends the message.
template <class Json>
Json parse_json(std::string_view text, const std::string& path, const json_limits& limits, const char* otherwise) {
  using event = typename Json::parse_event_t;
  std::vector<std::size_t> keys(max_json_depth + 2, 0);  // of the object that is open, by depth
  std::size_t numbers = 0, others = 0;
  const auto refuse_more = [&](const std::string& what, std::size_t maximum) {
    refuse("'" + path + "' " + what + " " + std::to_string(maximum) + ": " + otherwise);
  };
  const auto look = [&](int depth, event e, const Json& value) {
    const auto level = static_cast<std::size_t>(depth);
    if (level > max_json_depth) refuse_more("nests deeper than", max_json_depth);
    if (e == event::key && ++keys[level] > limits.keys) refuse_more("has an object with more keys than", limits.keys);
    if (e == event::object_start) keys[level + 1] = 0;
    const bool is_number = e == event::value && value.is_number();
    if (is_number && ++numbers > limits.numbers) refuse_more("has more numbers than", limits.numbers);
    const bool is_other = e == event::value || e == event::object_start || e == event::array_start;
    if (!is_number && is_other && ++others > limits.others)
      refuse_more("has more texts, lists and objects than", limits.others);
    return true;
  };
  Json result = Json::parse(text.begin(), text.end(), look, false);
  if (result.is_discarded()) refuse("'" + path + "' is not JSON. Check it with python3 -m json.tool.");
  return result;
}

inline std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}
