// SPDX-License-Identifier: MIT
#include "quantize/integer_ports.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "io/text.hpp"

namespace nsk::tool {
namespace {

/// Adds values and nodes beside a port.
class port_nodes {
 public:
  port_nodes(graph& g, std::string port) : m_graph(g), m_port(std::move(port)) {}

  value_id add_value(const std::string& suffix, const value& like, element type) {
    value v = like;
    v.name = m_port + suffix;
    v.type = type;
    v.typed = true;
    v.constant = nullptr;
    v.stored = nullptr;
    return m_graph.add(std::move(v));
  }
  value_id add_constant(const std::string& suffix, array a) {
    return m_graph.add_constant(m_port + suffix, std::move(a));
  }
  node make(const char* op, std::vector<value_id> inputs, value_id output) const {
    return node_of(op, m_port + "#" + op, std::move(inputs), output);
  }
  /// QuantizeLinear or DequantizeLinear.
  node linear(const char* op, value_id from, value_id to, float scale, const stored_port& p) {
    array zero(p.type, {});
    zero.set_integer(0, p.zero);
    const value_id s = add_constant(std::string("#") + op + "_scale", make_floats({}, {scale})),
                   z = add_constant(std::string("#") + op + "_zero", std::move(zero));
    return make(op, {from, s, z}, to);
  }

 private:
  graph& m_graph;
  std::string m_port;
};

/// One number for each position along the axis, in a shape that is broadcast over `like`; one number where all agree.
array along(const std::vector<float>& numbers, const stored_port& p, const shape_t& like) {
  if (std::all_of(numbers.begin(), numbers.end(), [&](float x) { return x == numbers.front(); }))
    return make_floats({}, {numbers.front()});
  shape_t shape(like.size() - p.axis, 1);
  shape.front() = static_cast<std::int64_t>(numbers.size());
  return make_floats(shape, numbers);
}

void replace_uses(graph& g, value_id from, value_id to) {
  for (node& n : g.nodes) std::replace(n.inputs.begin(), n.inputs.end(), from, to);
}

std::string numbers_text(const std::vector<float>& numbers) {
  std::string text;
  for (const float x : numbers) text += (text.empty() ? "" : ", ") + format_text("%.9g", static_cast<double>(x));
  return numbers.size() == 1 ? text : "(" + text + ")";
}

}

double stored_port::real(double integer, std::size_t position) const {
  const std::size_t at = scale.size() == 1 ? 0 : position;
  const auto factor = static_cast<double>(scale[at]);
  return is_pixels() ? integer * factor + static_cast<double>(offset[at])
                     : (integer - static_cast<double>(zero)) * factor;
}

std::int64_t stored_port::nearest(double number, std::size_t position) const {
  const std::size_t at = scale.size() == 1 ? 0 : position;
  const auto factor = static_cast<double>(scale[at]);
  const double integer = is_pixels() ? (number - static_cast<double>(offset[at])) / factor
                                     : number / factor + static_cast<double>(zero),
               lowest = type == element::i8 ? -128 : 0;
  return static_cast<std::int64_t>(std::clamp(std::nearbyint(integer), lowest, lowest + 255));
}

void store_input(graph& g, const std::string& name, const stored_port& p) {
  port_nodes nodes(g, name);
  const value_id stored = g.find(name);
  const value before = g.values[static_cast<std::size_t>(stored)];
  const value_id real = nodes.add_value("#real", before, element::f32);
  replace_uses(g, stored, real);
  std::replace(g.outputs.begin(), g.outputs.end(), stored, real);
  g.values[static_cast<std::size_t>(stored)].type = p.type;
  std::vector<node> first;
  if (!p.is_pixels()) {
    first.push_back(nodes.linear("DequantizeLinear", stored, real, p.scale.front(), p));
  } else {
    const value_id level = nodes.add_value("#level", before, element::f32),
                   scaled = nodes.add_value("#scaled", before, element::f32);
    first.push_back(nodes.linear("DequantizeLinear", stored, level, 1, p));
    first.push_back(nodes.make("Mul", {level, nodes.add_constant("#factor", along(p.scale, p, before.shape))}, scaled));
    first.push_back(nodes.make("Add", {scaled, nodes.add_constant("#offset", along(p.offset, p, before.shape))}, real));
  }
  g.nodes.insert(g.nodes.begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
}

void store_output(graph& g, const std::string& name, const stored_port& p) {
  port_nodes nodes(g, name);
  const value_id real = g.find(name);
  g.values[static_cast<std::size_t>(real)].name = name + "#real";
  const value_id stored = nodes.add_value("", g.values[static_cast<std::size_t>(real)], p.type);
  std::replace(g.outputs.begin(), g.outputs.end(), real, stored);
  g.nodes.push_back(nodes.linear("QuantizeLinear", real, stored, p.scale.front(), p));
}

std::string description_of(const stored_port& p) {
  if (p.is_pixels())
    return std::string(name_of(p.type)) + ", levels of pixels from 0 to 255, of which the model makes level * " +
           numbers_text(p.scale) + " + " + numbers_text(p.offset);
  return std::string(name_of(p.type)) + ", scale " + numbers_text(p.scale) + ", zero point " + std::to_string(p.zero);
}

std::string text_of(const stored_port& p) {
  return nlohmann::json{
      {"type", name_of(p.type)}, {"zero", p.zero}, {"scale", p.scale}, {"offset", p.offset}, {"axis", p.axis}}
      .dump();
}

stored_port port_from(const std::string& text) {
  const nlohmann::json j = nlohmann::json::parse(text);
  stored_port p;
  p.type = j.at("type") == name_of(element::i8) ? element::i8 : element::u8;
  p.zero = j.at("zero").get<std::int64_t>();
  p.scale = j.at("scale").get<std::vector<float>>();
  p.offset = j.at("offset").get<std::vector<float>>();
  p.axis = j.at("axis").get<std::size_t>();
  if (p.scale.empty() || (p.is_pixels() && p.offset.size() != p.scale.size()))
    throw std::invalid_argument("a port without a scale");
  return p;
}

}
