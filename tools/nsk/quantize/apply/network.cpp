// SPDX-License-Identifier: MIT
#include "quantize/apply/network.hpp"

#include <memory>
#include <utility>

#include "errors.hpp"
#include "quantize/apply/rewrite.hpp"
#include "resolve/infer.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// Infers the shapes of a graph whose source's reader has said all there is to say.
void infer_again(graph& g) {
  const std::vector<std::string> warnings = g.facts.warnings;
  resolve(g, {});
  g.facts.warnings = warnings;
}

double lowest(const byte_scale& s) { return static_cast<double>(s.scale) * -s.zero; }
double highest(const byte_scale& s) { return static_cast<double>(s.scale) * (255 - s.zero); }

}

network::network(const variant_source& v, std::vector<float_layer> layers, const std::vector<sample>& samples,
                 const std::vector<std::string>& files, const quantize_choices& how, const report_progress& progress)
    : m_source(v), m_how(how), m_layers(std::move(layers)) {
  m_seen.model = hash_of(v.g);
  const std::map<std::string, std::size_t> axes = axes_of(stored_names());
  if (how.seen != nullptr) {
    require_same(*how.seen, axes);
    m_seen = *how.seen;
    for (const auto& [name, axis] : axes) m_seen.tensors.at(name).axis = axis;
  } else {
    m_seen.samples = samples.size();
    m_seen.tensors = calibrate(v, axes, samples, files, [&](double share) { progress("calibrating", share); });
  }
  set_scales();
}

network::network(const variant_source& v, std::vector<float_layer> layers, calibration seen,
                 const quantize_choices& how)
    : m_source(v), m_how(how), m_layers(std::move(layers)), m_seen(std::move(seen)) {
  for (const auto& [name, axis] : axes_of(stored_names())) {
    const auto t = m_seen.tensors.find(name);
    if (t == m_seen.tensors.end())
      refuse("'" + name + "' is stored for some shapes of the network, and not for those of the samples. " +
             "Quantise these shapes in a file of their own");
    t->second.axis = axis;
  }
  set_scales();
}

std::set<std::string> network::stored_names() const {
  std::set<std::string> names;
  for (const value_id id : plan_flow(m_source.g, m_layers).stored) names.insert(name_of(id));
  for (const float_layer& l : m_layers) names.insert(name_of(l.output));  // stored where fewer layers are integers
  for (const auto& [name, type] : m_how.integer_ports) names.insert(name);
  return names;
}

void network::set_scales() {
  for (const auto& [name, range] : m_how.chosen.ranges) {
    if (m_seen.tensors.count(name) == 0) {
      const std::set<std::string> names = stored_names();
      misuse("--override gives tensor '" + name + "' a range, and there is no such tensor that could be stored." +
             did_you_mean(name, {names.begin(), names.end()}));
    }
    m_scales[name] = scale_between(range[0], range[1]);
  }
  for (const auto& [name, seen] : m_seen.tensors)
    if (m_scales.count(name) == 0) m_scales[name] = scale_of(seen.values, m_how.ranges);
}

std::vector<value_id> network::ids_of(const std::vector<std::string>& names) const {
  std::vector<value_id> ids;
  for (const std::string& name : names) ids.push_back(m_source.g.find(name));
  return ids;
}

std::vector<std::string> network::names_of(const std::vector<value_id>& ids) const {
  std::vector<std::string> names;
  for (const value_id id : ids) names.push_back(name_of(id));
  return names;
}

std::function<variant_source(const length_choice&)> network::at_lengths(remaking remake) const {
  if (!m_source.at) return nullptr;
  auto how = std::make_shared<quantize_choices>(m_how);
  how->seen = nullptr;
  for (const auto& [name, s] : m_scales) how->chosen.ranges[name] = {lowest(s), highest(s)};
  const auto seen = std::make_shared<const calibration>(m_seen);
  return [at = m_source.at, how, seen, remake = std::move(remake)](const length_choice& values) {
    const variant_source v = at(values);
    return remake(network(v, layers_of(v.g), *seen, *how));
  };
}

std::vector<float_layer> network::layers_without(const std::set<std::string>& kept) const {
  std::vector<float_layer> chosen;
  for (const float_layer& l : m_layers)
    if (kept.count(l.name) == 0) chosen.push_back(l);
  return chosen;
}

byte_flow network::flow_of(const std::vector<float_layer>& layers) const {
  byte_flow flow = plan_flow(m_source.g, layers);
  const auto unseen = [&](value_id id) { return m_seen.tensors.count(name_of(id)) == 0; };
  for (auto id = flow.stored.begin(); id != flow.stored.end();)
    id = unseen(*id) || unseen(flow.scale_of(*id)) ? flow.stored.erase(id) : std::next(id);
  for (const auto* ports : {&m_source.g.inputs, &m_source.g.outputs})
    for (const value_id id : *ports)
      if (is_integer_port(id)) flow.stored.insert(id);
  for (const float_layer& l : layers)
    if (is_integer_port(l.output)) flow.real.erase(l.node);
  return flow;
}

variant_source network::stored(const std::vector<float_layer>& layers, const byte_flow& known,
                               const std::vector<value_id>& watched, std::vector<std::string>* floats) const {
  variant_source v = m_source;
  byte_flow flow = plan_flow(v.g, layers);  // of this graph: it refers to its nodes
  flow.stored = known.stored;
  flow.real = known.real;
  add_outputs(v.g, watched);
  const std::vector<std::string> beyond = store_layers(v.g, layers, flow, m_seen.tensors, m_scales, m_how);
  if (floats != nullptr) *floats = beyond;
  return v;
}

variant_source network::without(const std::set<std::string>& kept, const std::vector<value_id>& watched,
                                std::vector<std::string>* floats) const {
  const std::vector<float_layer> chosen = layers_without(kept);
  variant_source v = stored(chosen, flow_of(chosen), watched, floats);
  infer_again(v.g);
  v.at = at_lengths([kept, names = names_of(watched)](const network& n) { return n.without(kept, n.ids_of(names)); });
  return v;
}

variant_source network::with_integer_ports(const std::set<std::string>& kept,
                                           std::map<std::string, stored_port>& ports) const {
  const std::vector<float_layer> chosen = layers_without(kept);
  const byte_flow flow = flow_of(chosen);
  variant_source v = stored(chosen, flow, {}, nullptr);
  const auto port_of = [&](value_id id) {
    const byte_scale& s = m_scales.at(name_of(flow.scale_of(id)));
    const element type = m_how.integer_ports.at(name_of(id));
    return stored_port{type, type == element::i8 ? s.zero - 128 : s.zero, {s.scale}};
  };
  for (const value_id id : m_source.g.inputs)
    if (is_integer_port(id)) ports[name_of(id)] = port_of(id), store_input(v.g, name_of(id), port_of(id));
  for (const value_id id : m_source.g.outputs)
    if (is_integer_port(id)) ports[name_of(id)] = port_of(id), store_output(v.g, name_of(id), port_of(id));
  infer_again(v.g);
  v.at = at_lengths([kept](const network& n) {
    std::map<std::string, stored_port> alike;
    return n.with_integer_ports(kept, alike);
  });
  return v;
}

variant_source network::with_only(const std::string& name) const {
  std::set<std::string> others;
  for (const float_layer& l : m_layers)
    if (l.name != name) others.insert(l.name);
  return without(others);
}

variant_source network::watched(const std::vector<value_id>& ids) const {
  variant_source v = m_source;
  watch(v, names_of(ids));
  return v;
}

overrides network::chosen(const std::vector<layer_result>& results) const {
  overrides o;
  for (const layer_result& l : results) o.layers[l.name] = l.format;
  for (const auto& [name, s] : m_scales) o.ranges[name] = {lowest(s), highest(s)};
  return o;
}

std::vector<seen_numbers> network::tensors(const std::set<std::string>& kept) const {
  const byte_flow flow = flow_of(layers_without(kept));
  std::set<value_id> results;
  for (const float_layer& l : m_layers) results.insert(l.output);
  std::vector<seen_numbers> found;
  const auto add = [&](value_id v) {
    const bool is_stored = flow.stored.count(v) != 0;
    const auto seen = m_seen.tensors.find(name_of(v));
    if (seen == m_seen.tensors.end() || (!is_stored && results.count(v) == 0)) return;
    found.push_back(numbers_of(seen->second.values));
    found.back().name = name_of(v);
    if (is_stored) {
      const byte_scale& s = m_scales.at(name_of(flow.scale_of(v)));
      found.back().set_range(seen->second.values, lowest(s), highest(s), static_cast<double>(s.scale));
    }
  };
  for (const value_id v : m_source.g.inputs) add(v);
  for (const node& n : m_source.g.nodes)
    for (const value_id v : n.outputs)
      if (v != no_value) add(v);
  return found;
}

std::map<std::string, std::size_t> network::axes_of(const std::set<std::string>& names) const {
  std::map<std::string, std::size_t> axes;
  for (const float_layer& l : m_layers)
    if (names.count(name_of(l.input)) != 0) axes.emplace(name_of(l.input), l.input_axis);
  for (const std::string& name : names)
    axes.emplace(name, channel_axis(m_source.g.values[static_cast<std::size_t>(m_source.g.find(name))].shape));
  return axes;
}

void network::require_same(const calibration& c, const std::map<std::string, std::size_t>& axes) const {
  bool same = c.model == m_seen.model;
  for (const auto& [name, axis] : axes) {
    const auto t = c.tensors.find(name);
    const value& v = m_source.g.values[static_cast<std::size_t>(m_source.g.find(name))];
    const std::size_t sums = t != c.tensors.end() ? t->second.channel_sums.size() : 0;
    same = same && (sums == static_cast<std::size_t>(v.shape[axis]) || (sums == 1 && !m_source.lengths.empty()));
  }
  if (!same)
    refuse(
        "--calibrate: the calibration belongs to another model, or to another version of this one. Make it anew with "
        "--calibrate and --save-calibration");
}

}
