// SPDX-License-Identifier: MIT
#pragma once
/// The FlatBuffers table of a .nsk file as JSON and back, driven by the schema itself: what schema/netsuke.fbs gains is
/// covered without a line here. Field names, enumerators and structure are the schema's; only fields that the table
/// stores appear. Floats are the shortest text that reads back as the same float; infinities are "inf" and "-inf".
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nsk::tool {

/// Keeps the order of keys, and floats as the format has them.
using table_json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

/// Returns a verified table (nsk::open did) as JSON.
table_json json_of_table(const std::byte* table);

/// Returns the bytes of the table that `json` describes: the same JSON gives the same bytes. Refuses unknown fields,
/// enumerators and wrong types, naming the path (variants[0].steps[3].parameters.window) and what there is instead.
/// Whether the table makes sense is for nsk::open to say.
std::vector<std::uint8_t> table_of_json(const table_json& json);

/// Returns the table as table_of_json would write it.
std::vector<std::uint8_t> canonical_table(const std::byte* table);

}
