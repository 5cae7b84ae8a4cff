// SPDX-License-Identifier: MIT
#include "draw/labels.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace nsk::tool {
namespace {
using nlohmann::json;

std::string window_text(const json& window) {
  if (window.is_null()) return "";
  const int stride_h = window["stride"][0], stride_w = window["stride"][1], dilation = window["dilation"][0];
  std::string text = " " + window["kernel"][0].dump() + "x" + window["kernel"][1].dump();
  if (stride_h != stride_w) {
    text += " /" + std::to_string(stride_h) + "x" + std::to_string(stride_w);
  } else if (stride_h > 1) {
    text += " /" + std::to_string(stride_h);
  }
  return dilation > 1 ? text + " dilated " + std::to_string(dilation) : text;
}

/// "Resize2D" -> "resize", "GatherNd" -> "gather nd".
std::string words_of(std::string name) {
  if (name.size() > 2 && name.compare(name.size() - 2, 2, "2D") == 0) name.resize(name.size() - 2);
  std::string text;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) && !text.empty()) text += ' ';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

/// "/layer1/layer1.0/conv1/Conv" -> "layer1.0/conv1": without parts that the next one repeats, and without the operator
/// at the end.
std::string short_path(const std::string& name) {
  constexpr std::size_t deep = 3;  // "/network/Resize" keeps what says which one it is
  std::vector<std::string> parts;
  std::size_t begin = 0, depth = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = name.find('/', begin);
    const std::string part = name.substr(begin, end == std::string::npos ? end : end - begin);
    if (part.empty()) continue;
    ++depth;
    const bool repeated = !parts.empty() && part.compare(0, parts.back().size() + 1, parts.back() + ".") == 0;
    if (repeated) parts.pop_back();
    parts.push_back(part);
  }
  if (depth >= deep && parts.size() > 1 && std::isupper(static_cast<unsigned char>(parts.back()[0]))) parts.pop_back();
  std::string result;
  for (const std::string& part : parts) result += (result.empty() ? "" : "/") + part;
  return result;
}

}

std::string shape_text(const json& shape) {
  std::string text = "[";
  for (const json& length : shape) text += (text.size() > 1 ? "," : "") + length.dump();
  return text + "]";
}

std::string size_text(const json& shape, const char* times) {
  std::string text;
  for (const json& length : shape)
    if (!text.empty() || length != 1) text += (text.empty() ? "" : times) + length.dump();
  return text.empty() ? "1" : text;
}

std::vector<std::string> short_names(const json& steps) {
  std::vector<std::string> names;
  for (const json& s : steps) {
    const std::string name = s["name"];
    names.push_back(short_path(name.substr(0, name.find('+'))));
  }
  if (names.size() < 2) return names;
  std::size_t shared = names[0].size();
  for (const std::string& name : names) {
    std::size_t same = 0;
    while (same < std::min(shared, name.size()) && name[same] == names[0][same]) ++same;
    shared = same;
  }
  while (shared > 0 && names[0][shared - 1] != '/' && names[0][shared - 1] != '.') --shared;
  for (std::string& name : names) name.erase(0, shared);
  return names;
}

std::string operation_text(const json& step) {
  const std::string op = step["operator"], algorithm = step["algorithm"], window = window_text(step["window"]);
  if (op == "Conv2D") return "conv" + window + (step["groups"] > 1 ? " in " + step["groups"].dump() + " groups" : "");
  if (op == "DepthwiseConv2D") return "depthwise" + window;
  if (op == "FullyConnected") return "dense";
  if (op == "Pool2D") return algorithm + " pool" + window;
  if (op == "Unary") return step["function"];
  if (op == "Binary" || op == "Reduce" || op == "Recurrent") return algorithm;
  if (op == "Random") return algorithm + " random";
  return words_of(op);
}

std::string details_text(const json& step) {
  const std::string op = step["operator"], algorithm = step["algorithm"], function = step["function"];
  std::string text = op == "Conv2D" && algorithm != "direct" ? algorithm : "";
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  if (op != "Unary" && function != "identity") add(function);
  if (step["residual"].get<bool>()) add("+add");
  return text;
}

}
