// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "quantize/report/report.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

using json = nlohmann::ordered_json;
constexpr int report_version = 1;

json histogram_json(const seen_numbers& s) {
  json j = {{"minimum", s.minimum}, {"maximum", s.maximum}, {"first_bin", s.first},
            {"bin_width", s.width}, {"bins", s.bins},       {"range", nullptr}};
  if (s.is_stored) {
    j["range"] = {s.low, s.high};
    j["share_outside"] = s.outside;
  }
  return j;
}

json layer_json(const layer_result& l, std::size_t depth) {
  json j = {{"name", l.name},
            {"operator", l.op},
            {"depth", depth},
            {"format", name_of(l.format)},
            {"reason", l.reason},
            {"float_bytes", l.float_bytes},
            {"bytes", l.stored_bytes()},
            {"db_alone_int8", l.alone},
            {"db_alone_float32", l.without},
            {"db_own_result", l.own},
            {"weights", histogram_json(l.weights)}};
  if (l.weights.is_stored) j["weights"]["smallest_channel_range"] = {-l.min_channel_range, l.min_channel_range};
  return j;
}

}

std::string quantize_json(const quantize_result& r, const report_context& about) {
  json j = {{"report_version", report_version},
            {"source", about.source},
            {"model", about.model},
            {"float_file_bytes", about.float_bytes},
            {"file_bytes", about.model_bytes},
            {"samples", r.samples},
            {"held_out", r.held_out},
            {"bound", nullptr},
            {"outputs", json::array()},
            {"expected_ms", json::array()},
            {"layers", json::array()},
            {"other_products", json::array()},
            {"tensors", json::array()}};
  if (r.bound) j["bound"] = {{"by", name_of(r.bound->by)}, {"max_drop", r.bound->limit}, {"reached", r.bound->reached}};
  for (const auto& [name, db] : r.outputs) j["outputs"].push_back({{"name", name}, {"db", db}});
  for (const expected_time& e : r.expected)
    j["expected_ms"].push_back({{"before", e.before}, {"after", e.after}, {"on", e.how}});
  for (std::size_t i = 0; i < r.layers.size(); ++i) j["layers"].push_back(layer_json(r.layers[i], i));
  for (const other_product& o : r.others)
    j["other_products"].push_back({{"name", o.name}, {"operator", o.op}, {"reason", o.reason}});
  for (const seen_numbers& s : r.tensors) {
    json tensor = {{"name", s.name}};
    tensor.update(histogram_json(s));
    j["tensors"].push_back(std::move(tensor));
  }
  return json_text(j, 1);
}

}
