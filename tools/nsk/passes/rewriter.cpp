// SPDX-License-Identifier: MIT
#include "passes/rewriter.hpp"
#include <algorithm>
#include <iterator>

namespace nsk::tool {

operation* rewriter::sole_producer(int v) {
  operation* const found = producer(v);
  return found == nullptr || m_uses[static_cast<std::size_t>(v)].readers != 1 || m_p.is_output(v) ? nullptr : found;
}

operation* rewriter::producer(int v) {
  const int i = producer_index(v);
  return i < 0 ? nullptr : &at(static_cast<std::size_t>(i));
}

int rewriter::producer_index(int v) {
  if (m_stale) count_uses();
  return v == no_value ? -1 : m_uses[static_cast<std::size_t>(v)].producer;
}

int rewriter::readers(int v) {
  if (m_stale) count_uses();
  return m_uses[static_cast<std::size_t>(v)].readers;
}

bool rewriter::is_binary(const operation* o, binary_kind kind) {
  const auto* b = o ? o->as<binary_params>() : nullptr;
  return b && b->kind == kind && o->post.empty();
}

const operation* rewriter::binary(int v, binary_kind kind) {
  const operation* o = producer(v);
  return is_binary(o, kind) ? o : nullptr;
}

const operation* rewriter::unary(int v, function fn) {
  const operation* o = producer(v);
  return o && o->as<unary_params>() && o->post.fn == fn && o->post.residual == no_value ? o : nullptr;
}

void rewriter::count_uses() {
  m_uses.assign(m_p.values.size(), {});
  for (std::size_t i = 0; i < m_p.operations.size(); ++i) {
    const operation& o = at(i);
    if (o.output != no_value) m_uses[static_cast<std::size_t>(o.output)].producer = static_cast<int>(i);
    const auto read = [&](int v) {
      use& u = m_uses[static_cast<std::size_t>(v)];
      if (u.last_reader != static_cast<int>(i)) ++u.readers;  // one that reads it twice is one
      u.last_reader = static_cast<int>(i);
    };
    for (int v : o.inputs) read(v);
    if (o.post.residual != no_value) read(o.post.residual);
  }
  m_stale = false;
}

std::optional<double> rewriter::scalar(int v) const {
  if (!m_p.is_constant(v)) return std::nullopt;
  const array& a = *m_p.values[static_cast<std::size_t>(v)].constant;
  for (std::int64_t i = 1; i < a.count(); ++i)
    if (a.number(i) != a.number(0)) return std::nullopt;
  return a.count() > 0 ? std::optional<double>(a.number(0)) : std::nullopt;
}

std::optional<std::vector<double>> rewriter::per_channel(int v, const shape_t& shape, std::size_t axis) const {
  if (!m_p.is_constant(v)) return std::nullopt;
  const array& a = *m_p.values[static_cast<std::size_t>(v)].constant;
  if (a.shape.size() > shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] != 1 && d + shape.size() - a.shape.size() != axis) return std::nullopt;
  std::vector<double> values(static_cast<std::size_t>(shape[axis]));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = a.number(a.count() == 1 ? 0 : static_cast<std::int64_t>(i));
  return values;
}

void rewriter::take_over(operation* o, std::size_t i, int result) {
  operation moved = std::move(*o);
  o->inputs.clear();
  o->output = no_value;
  o->post = {};
  moved.name += "+" + at(i).name;
  moved.output = result;
  at(i) = std::move(moved);
}

void rewriter::insert(std::size_t i, std::vector<operation> made) {
  m_p.operations.insert(m_p.operations.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(made.begin()),
                        std::make_move_iterator(made.end()));
  m_stale = true;
}

void rewriter::insert(std::size_t i, operation o) {
  m_p.operations.insert(m_p.operations.begin() + static_cast<std::ptrdiff_t>(i), std::move(o));
  m_stale = true;
}

void rewriter::remove_dead() {
  std::vector<char> live(m_p.values.size(), 0);
  for (int v : m_p.outputs) live[static_cast<std::size_t>(v)] = 1;
  for (const program_state& s : m_p.states) live[static_cast<std::size_t>(s.output)] = 1;
  std::vector<operation> kept;
  for (std::size_t i = m_p.operations.size(); i-- > 0;) {
    operation& o = m_p.operations[i];
    if (o.output == no_value || !live[static_cast<std::size_t>(o.output)]) continue;
    for (int v : o.inputs) live[static_cast<std::size_t>(v)] = 1;
    if (o.post.residual != no_value) live[static_cast<std::size_t>(o.post.residual)] = 1;
    kept.push_back(std::move(o));
  }
  std::reverse(kept.begin(), kept.end());
  m_p.operations = std::move(kept);
  m_stale = true;
}

}
