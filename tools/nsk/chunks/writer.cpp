// SPDX-License-Identifier: MIT
#include "chunks/writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "errors.hpp"
#include "graph/onnx_type.hpp"

namespace nsk::tool::chunks {

void reduce(course& c) {
  const std::int64_t common = std::gcd(c.up, c.down);
  c.up /= common;
  c.down /= common;
}

writer::writer(const graph& whole, const signal_axes& axes) : node_writer(whole), m_axes(axes) {
  for (const node& n : whole.nodes)
    for (const value_id v : n.inputs) ++m_readers[v];
  for (const value_id v : whole.outputs) ++m_readers[v];
  for (const value_id i : whole.inputs) {
    const value& v = whole.at(i);
    value made;
    made.name = v.name;
    made.set(v.type, v.shape);
    course c;
    c.state = axes.states.count(v.name) != 0;
    if (const auto found = axes.of.find(v.name); found != axes.of.end()) {
      c = {relation::timed, found->second};
      made.shape[c.axis] = -1;
      made.symbols.assign(v.shape.size(), "");
      made.symbols[c.axis] = axes.name;
    }
    m_made.inputs.push_back(m_made.add(std::move(made)));
    m_flows[i] = {m_made.inputs.back(), v.type, v.shape, c};
    m_sources[m_made.inputs.back()] = {i};
  }
  for (const state_link& s : whole.states) m_made.states.push_back(s);
}

value_id writer::count_samples() {
  for (const value_id v : m_whole.inputs) {
    const flow& f = of(v);
    const auto axis = static_cast<std::int64_t>(f.c.axis);
    if (f.timed()) return add("Shape", {f.id}, {{"start", axis}, {"end", axis + 1}}, 15);
  }
  return integers({1});
}

const flow& writer::of(value_id v) {
  const auto found = m_flows.find(v);
  return found != m_flows.end() ? found->second : m_flows.emplace(v, copied(v)).first->second;
}

flow writer::copied(value_id v) {
  const value& from = m_whole.at(v);
  return {m_made.add(from), from.type, from.shape, {}};
}

void writer::set(value_id v, value_id id, const course& c) {
  const value& from = m_whole.at(v);
  m_step = std::lcm(m_step, c.down);
  m_sources[id].push_back(v);
  m_flows[v] = {id, from.type, from.shape, c};
}

std::int64_t writer::extra(value_id v) const {
  const flow& f = m_flows.at(v);
  return m_whole.at(v).shape[f.c.axis] - m_axes.samples * f.c.up / f.c.down;
}

std::vector<value_id> writer::copy(std::vector<value_id> inputs, const attributes& changed, std::size_t results) {
  node n = *m_node;
  n.inputs = std::move(inputs);
  for (const auto& [key, a] : changed) n.attributes[key] = a;
  n.outputs.resize(std::max(n.outputs.size(), results), no_value);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    value_id& v = n.outputs[i];
    if (v == no_value && i >= results) continue;
    value made;
    made.name = v == no_value ? m_names.unique(n.name + "." + std::to_string(i)) : m_whole.at(v).name;
    v = m_made.add(std::move(made));
  }
  for (const value_id v : n.outputs) m_makers[v] = m_made.nodes.size();
  m_made.nodes.push_back(n);
  return n.outputs;
}

void writer::give(std::vector<value_id> inputs, const course& c, const attributes& changed) {
  const std::vector<value_id> made = copy(std::move(inputs), changed);
  for (std::size_t i = 0; i < m_node->outputs.size(); ++i)
    if (made[i] != no_value) set(m_node->outputs[i], made[i], c);
}

value_id writer::add_state(const std::string& name, element type, const shape_t& shape,
                           std::shared_ptr<const array> initial) {
  const value_id state = new_value(name, type);
  m_made.at(state).set(type, shape);
  m_made.inputs.push_back(state);
  m_made.states.push_back({m_made.at(state).name, "", std::move(initial)});
  return state;
}

void writer::keep(value_id state, value_id next) {
  const std::string& name = m_made.at(state).name;
  m_kept.push_back(next);
  for (state_link& s : m_made.states)
    if (s.input == name) s.output = m_made.at(next).name;
}

value_id writer::joined(const flow& x, std::int64_t count, double before) {
  if (count == 0) return x.id;
  const auto [found, is_new] = m_joined.emplace(std::tuple(x.id, count, before), no_value);
  if (!is_new) return found->second;
  // states of images are stored as the engine has images, channels last: so they can be joined as they are
  const bool swaps = x.rank() > 2 && x.c.axis > 1;
  std::vector<std::int64_t> last = {0}, back = {0, static_cast<std::int64_t>(x.rank()) - 1};
  for (std::size_t d = 2; d < x.rank(); ++d) {
    last.push_back(static_cast<std::int64_t>(d));
    back.push_back(static_cast<std::int64_t>(d) - 1);
  }
  last.push_back(1);
  shape_t shape = x.shape;
  shape[x.c.axis] = count;
  if (swaps) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  m_history += (count * x.c.down + x.c.up - 1) / x.c.up;
  std::shared_ptr<const array> initial;
  if (before != 0) {
    array first(x.type, shape);
    for (std::int64_t i = 0; i < first.count(); ++i)
      is_float(x.type) ? first.set(i, before) : first.set_integer(i, static_cast<std::int64_t>(before));
    initial = std::make_shared<const array>(std::move(first));
  }
  const value_id state = add_state(base_name(x.id) + ".before", x.type, shape, std::move(initial));
  const value_id earlier = swaps ? add("Transpose", {state}, {{"perm", back}}) : state;
  const value_id all = add("Concat", {earlier, x.id}, {{"axis", static_cast<std::int64_t>(x.c.axis)}});
  const value_id next = part(all, x.c.axis, -count, std::numeric_limits<std::int64_t>::max());
  keep(state, swaps ? add("Transpose", {next}, {{"perm", last}}) : next);
  return m_joined[std::tuple(x.id, count, before)] = all;
}

flow writer::delayed(flow x, std::int64_t count) {
  if (count == 0) return x;
  const value_id all = joined(x, count, x.c.late < 0 ? x.c.before : 0);
  x.id = part(all, x.c.axis, 0, -count);
  x.c.late += count;
  return x;
}

flow writer::settled(flow x) { return x.timed() && x.c.late < 0 ? delayed(x, -x.c.late) : x; }

flow writer::padded(flow x, std::int64_t count, double with) {
  if (count == 0) return x;
  if (x.c.late > 0) x = masked(x, with);
  if (x.c.late < 0 && x.c.before != with) x = settled(x);
  x.c.late -= count;
  x.c.before = with;
  return x;
}

flow writer::cropped(flow x, std::int64_t count) {
  if (x.c.late + count > 0) note_ahead(x.c.late + count - std::max<std::int64_t>(x.c.late, 0), x.c);
  x.c.late += count;
  return x;
}

bool writer::follows_layer(value_id id) const {
  const auto maker = m_makers.find(id);
  if (maker == m_makers.end()) return false;
  const node& n = m_made.nodes[maker->second];
  if (n.op == "Conv" || n.op == "ConvTranspose" || n.op == "MatMul" || n.op == "Gemm") return true;
  if (n.op != "Mul" && n.op != "Div" && n.op != "Add" && n.op != "Sub" && n.op != "BatchNormalization") return false;
  std::vector<value_id> data;
  for (const value_id v : n.inputs)
    if (!m_made.at(v).constant) data.push_back(v);
  return data.size() == 1 && follows_layer(data[0]);
}

const node* writer::factor_of(const flow& x, bool padded, std::size_t& operand) const {
  const auto source = m_sources.find(x.id);
  const auto maker = m_makers.find(x.id);
  if (source == m_sources.end() || maker == m_makers.end()) return nullptr;
  for (const value_id v : source->second)
    if (m_readers.at(v) != 1) return nullptr;
  const node& n = m_made.nodes[maker->second];
  const bool scales = n.op == "Mul" || n.op == "Div";
  if (!scales && (padded || (n.op != "Add" && n.op != "Sub" && n.op != "BatchNormalization"))) return nullptr;
  operand = m_made.at(n.inputs[0]).constant ? 1 : 0;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const value& v = m_made.at(n.inputs[i]);
    if ((v.constant == nullptr) != (i == operand)) return nullptr;
    for (std::int64_t k = 0; padded && v.constant && k < v.constant->count(); ++k)
      if (const double c = v.constant->number(k); !std::isfinite(c) || (n.op == "Div" && c == 0)) return nullptr;
  }
  const bool stays = (n.op == "Div" && operand == 1) || follows_layer(n.inputs[operand]);
  return stays ? nullptr : &n;
}

value_id writer::joined_behind_factor(const flow& x, std::int64_t count, double before) {
  std::size_t operand = 0;
  const node* const found = count > 0 && before == 0 ? factor_of(x, x.c.late < 0, operand) : nullptr;
  const auto data = found ? m_sources.find(found->inputs[operand]) : m_sources.end();
  if (data == m_sources.end()) return joined(x, count, before);
  flow scaled = m_flows.at(data->second[0]);
  if (scaled.rank() != x.rank() || scaled.c.axis != x.c.axis || scaled.type != x.type) return joined(x, count, before);
  node n = *found;
  n.inputs[operand] = joined(scaled, count, 0);
  return add(n.op, n.inputs, n.attributes, n.version);
}

flow writer::windowed(flow x, std::int64_t reach, std::int64_t stride, bool folds) {
  const auto earlier = [&] {  // reach - stride or up to stride - 1 more, so that windows begin where the source's do
    const std::int64_t low = reach - stride;
    return low + ((-(low + x.c.late)) % stride + stride) % stride;
  };
  std::int64_t count = earlier();
  if (const std::int64_t late = (count + x.c.late) / stride; late < 0) {
    x = delayed(x, -late * stride);
    count = earlier();
  }
  const std::int64_t needs = reach - stride + std::min<std::int64_t>(x.c.late, 0);
  if (needs > 0) note_ahead(needs, x.c);
  flow seen = x;
  const double before = x.c.late < 0 ? x.c.before : 0;
  seen.id = count < 0 ? part(x.id, x.c.axis, -count, std::numeric_limits<std::int64_t>::max())
            : folds   ? joined_behind_factor(x, count, before)
                      : joined(x, count, before);
  seen.c.late = (count + x.c.late) / stride;
  seen.c.before = 0;
  seen.c.down *= stride;
  reduce(seen.c);
  return seen;
}

flow writer::masked(flow x, double with) {
  if (x.c.late <= 0) return x;
  const auto key = std::tuple(x.c.up, x.c.down, x.c.late, x.rank(), x.c.axis);
  auto found = m_masks.find(key);
  if (found == m_masks.end()) {
    shape_t ones(x.rank(), 1);
    std::vector<value_id> lengths;
    const auto axis = static_cast<std::int64_t>(x.c.axis);
    for (std::size_t d = 0; d < x.rank(); ++d)
      lengths.push_back(d == x.c.axis ? add("Shape", {x.id}, {{"start", axis}, {"end", axis + 1}}, 15) : integers({1}));
    const value_id shape = add("Concat", lengths, {{"axis", std::int64_t{0}}});
    const value_id all = add("ConstantOfShape", {shape}, {{"value", make_floats({1}, {1})}});
    const flow late = delayed({all, element::f32, ones, {relation::timed, x.c.axis}}, x.c.late);
    found = m_masks.emplace(key, add("Greater", {late.id, number(0.5, element::f32)})).first;
  }
  x.id = add("Where", {found->second, x.id, number(with, x.type)}, {}, 16);
  return x;
}

course writer::align(std::vector<flow>& flows) {
  course common;
  std::int64_t latest = 0;
  for (flow& f : flows) {
    f = settled(f);
    if (f.timed()) latest = std::max(latest, f.c.late);
  }
  for (flow& f : flows) {
    if (!f.timed()) continue;
    f = delayed(f, latest - f.c.late);
    common = f.c;
  }
  return common;
}

void writer::note_ahead(std::int64_t elements, const course& c) {
  if (m_ahead.samples == 0) m_ahead = {describe(m_whole, *m_node), (elements * c.down + c.up - 1) / c.up};
}

graph writer::finish() {
  node here;
  for (const value_id v : m_whole.outputs) {
    here.name = m_whole.at(v).name;
    begin(here);
    flow f = settled(of(v));
    if (m_made.at(f.id).name != here.name) {
      node n = node_of("Identity", m_nodes.unique(here.name + ".Identity"), {f.id}, no_value);
      value made;
      made.name = here.name;
      n.outputs[0] = f.id = m_made.add(std::move(made));
      m_made.nodes.push_back(std::move(n));
    }
    m_flows[v] = f;
    m_made.outputs.push_back(f.id);
  }
  m_made.outputs.insert(m_made.outputs.end(), m_kept.begin(), m_kept.end());
  return std::move(m_made);
}

}
