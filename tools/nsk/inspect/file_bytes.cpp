// SPDX-License-Identifier: MIT
#include "inspect/file_bytes.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

constexpr const char* winograd_share = "Winograd's weights";

std::string name_of(const tensor_info& t) {
  switch (t.arrangement()) {
    case packing::plain: return "other constants";
    case packing::winograd4:
    case packing::winograd2: return winograd_share;
    case packing::quads:
    case packing::safe_quads: return "weights of stored integers";
    case packing::panels: break;
  }
  return t.type() == dtype::float16 ? "float16 weights" : t.type() == dtype::int8 ? "int8 weights" : "float32 weights";
}

json sorted(const std::map<std::string, std::uint64_t>& shares) {
  json list = json::array();
  for (const auto& [what, bytes] : shares) list.push_back({{"what", what}, {"bytes", bytes}});
  std::stable_sort(list.begin(), list.end(), [](const json& a, const json& b) { return a["bytes"] > b["bytes"]; });
  return list;
}

/// Buffers of constants, each once, and what is none.
json shares_of_constants(const model_file& file) {
  std::map<std::string, std::uint64_t> shares;
  std::set<std::uint64_t> counted;
  std::uint64_t constants = 0;
  for (int i = 0; i < file.view.variant_count(); ++i)
    for (int k = 0; k < file.view.variant(i).tensor_count(); ++k) {
      const tensor_info t = file.view.variant(i).tensor(k);
      if (t.where() != storage::constant || !counted.insert(t.buffer_offset()).second) continue;
      shares[name_of(t)] += t.buffer_bytes();
      constants += t.buffer_bytes();
    }
  shares["tables, names and gaps"] = file.bytes.size() - std::min<std::uint64_t>(constants, file.bytes.size());
  return sorted(shares);
}

std::string ratio_of(const json& report) {
  return format_text("%.2f", report["file_bytes"].get<double>() / report["source_bytes"].get<double>());
}

/// Winograd's weights where there are any, which have 3 to 4 times the bytes of their kernels; else the largest share.
const json& share_that_explains(const json& shares) {
  for (const json& share : shares)
    if (share["what"] == winograd_share) return share;
  return shares.front();
}

}

void add_file_bytes(json& report, const model_file& file) {
  if (file.parts.empty()) {
    report["bytes"] = shares_of_constants(file);
    return;
  }
  report["file_bytes"] = file.stored_bytes;
  report["prepared_bytes"] = file.bytes.size();
  report["bytes"] = json::array();
  for (const small_share& part : file.parts)
    report["bytes"].push_back({{"what", part.what}, {"stored", part.stored}, {"bytes", part.bytes}});
}

std::string add_source_bytes(json& report, std::uint64_t source_bytes) {
  if (source_bytes == 0) return {};
  report["source_bytes"] = source_bytes;
  constexpr double max_ratio = 1.05;
  constexpr std::uint64_t max_excess = 16384;  // names and tables of the smallest networks
  const auto bytes = report["file_bytes"].get<std::uint64_t>();
  if (static_cast<double>(bytes) <= max_ratio * static_cast<double>(source_bytes) || bytes - source_bytes <= max_excess)
    return {};
  const bool small = report.contains("prepared_bytes");
  const json& largest = share_that_explains(report["bytes"]);
  return "the file has " + ratio_of(report) +
         " times as many bytes as its source: " + bytes_text(largest[small ? "stored" : "bytes"]) + " are " +
         largest["what"].get<std::string>() +
         (small ? "" : ". --small stores what the source has, and nsk::prepare expands it when a game loads the file");
}

std::string source_ratio_text(const json& report) {
  return report.contains("source_bytes") ? ", " + ratio_of(report) + " x source" : std::string();
}

std::string prepared_text(const json& report, const char* head) {
  if (!report.contains("prepared_bytes")) return {};
  return format_text("%snsk::prepare expands it to %s bytes\n", head, digits_text(report["prepared_bytes"]).c_str());
}

std::string file_bytes_text(const json& report) {
  const bool small = report.contains("prepared_bytes");
  std::string text = prepared_text(report, "small     ") + "bytes     ";
  bool first = true;
  for (const json& share : report["bytes"]) {
    text += (first ? "" : "; ") + (small ? bytes_text(share["stored"]) + " for " : std::string()) +
            bytes_text(share["bytes"]) + " " + share["what"].get<std::string>();
    first = false;
  }
  return text + "\n";
}

}
