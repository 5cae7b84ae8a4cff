// SPDX-License-Identifier: MIT
#include "lengths/compare_graphs.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace nsk::tool {
namespace {

/// Whether two constants have the same elements in the positions that both have.
bool begin_alike(const array& a, const array& b) {
  if (a.type != b.type || a.shape.size() != b.shape.size()) return false;
  if (a.shape == b.shape) return a.data == b.data;
  shape_t common = a.shape;
  for (std::size_t d = 0; d < common.size(); ++d) common[d] = std::min(common[d], b.shape[d]);
  const std::size_t size = size_of(a.type);
  const std::int64_t count = count_of(common);
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t i = 0, k = 0, rest = n, of_a = 1, of_b = 1;
    for (std::size_t d = common.size(); d-- > 0; rest /= common[d]) {
      i += rest % common[d] * of_a;
      k += rest % common[d] * of_b;
      of_a *= a.shape[d];
      of_b *= b.shape[d];
    }
    if (std::memcmp(&a.data[static_cast<std::size_t>(i) * size], &b.data[static_cast<std::size_t>(k) * size], size) !=
        0)
      return false;
  }
  return true;
}

/// Whether all elements are 0, or there are none.
bool holds_zeros(const array& a) {
  return std::all_of(a.data.begin(), a.data.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// Walks a graph beside the first of its family, and reads its numbers: lengths of axes, whole numbers of attributes,
/// and those of small constants. Nodes that compute nothing but empty values may be missing: resolving drops them.
class number_reader {
 public:
  number_reader(const graph& first, const graph& g) : m_first(first), m_graph(g) {}

  /// The numbers. Nothing where anything else than numbers differs.
  std::optional<graph_numbers> read() {
    if (!read_values(m_first.inputs, m_graph.inputs) || !read_nodes() || !read_values(m_first.outputs, m_graph.outputs))
      return {};
    return std::move(m_numbers);
  }

 private:
  bool read_nodes() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < m_first.nodes.size(); ++i) {
      if (at == m_graph.nodes.size() || m_first.nodes[i].name != m_graph.nodes[at].name) continue;
      begin(-1 - static_cast<int>(i));
      if (!read_node(m_first.nodes[i], m_graph.nodes[at++])) return false;
    }
    return at == m_graph.nodes.size();
  }

  /// The numbers that follow are of a value, or of a node.
  void begin(int where) {
    m_where = where;
    m_count = 0;
  }
  void add(std::int64_t number) { m_numbers[{m_where, m_count++}] = number; }

  bool read_node(const node& a, const node& b) {
    if (a.op != b.op || a.domain != b.domain || a.version != b.version) return false;
    const bool alike =
        a.attributes.size() == b.attributes.size() &&
        std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), [&](const auto& x, const auto& y) {
          return x.first == y.first && x.second.index() == y.second.index() && read_attribute(x.second, y.second);
        });
    return alike && read_values(a.inputs, b.inputs) && read_values(a.outputs, b.outputs);
  }

  bool read_attribute(const attribute& a, const attribute& b) {
    if (const auto* const number = std::get_if<std::int64_t>(&b)) {
      add(*number);
      return true;
    }
    if (const auto* const numbers = std::get_if<std::vector<std::int64_t>>(&b)) {
      for (const std::int64_t number : *numbers) add(number);
      return numbers->size() == std::get<std::vector<std::int64_t>>(a).size();
    }
    if (const auto* const constant = std::get_if<array>(&b)) return read_constant(std::get<array>(a), *constant);
    return !std::holds_alternative<std::shared_ptr<graph>>(a) && is_equal(a, b);
  }

  template <class T>
  static bool is_equal_as(const attribute& a, const attribute& b) {
    const T *const x = std::get_if<T>(&a), *const y = std::get_if<T>(&b);
    return x != nullptr && y != nullptr && *x == *y;
  }
  static bool is_equal(const attribute& a, const attribute& b) {
    return is_equal_as<float>(a, b) || is_equal_as<std::string>(a, b) || is_equal_as<std::vector<float>>(a, b) ||
           is_equal_as<std::vector<std::string>>(a, b);
  }

  /// Whether the values of `b` stand where those of `a` do, whatever their numbers in the graphs.
  bool read_values(const std::vector<value_id>& a, const std::vector<value_id>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](value_id x, value_id y) {
      if (x == no_value || y == no_value) return x == y;
      const auto [known, added] = m_pairs.emplace(x, y);
      if (!added) return known->second == y;
      begin(x);
      return read_value(m_first.at(x), m_graph.at(y));
    });
  }

  /// Values without elements are constants, and so are sums over nothing: zeros here and in the engine.
  bool read_value(const value& a, const value& b) {
    if (a.type != b.type || a.shape.size() != b.shape.size()) return false;
    for (const std::int64_t length : b.shape) add(length);
    if (!a.constant && b.constant) return holds_zeros(*b.constant);
    return !a.constant == !b.constant && (!a.constant || read_constant(*a.constant, *b.constant));
  }

  /// A constant begins as that of the first graph does, or is a few whole numbers.
  bool read_constant(const array& a, const array& b) {
    constexpr std::int64_t few = 64;
    if (!is_integer(a.type) || a.count() > few) return &a == &b || begin_alike(a, b);
    if (a.type != b.type || a.shape != b.shape) return begin_alike(a, b);
    for (std::int64_t i = 0; i < b.count(); ++i) add(b.integer(i));
    return true;
  }

  const graph &m_first, &m_graph;
  std::map<value_id, value_id> m_pairs;
  graph_numbers m_numbers;
  int m_where = 0, m_count = 0;
};

/// Whether both have numbers in the same places.
bool same_places(const graph_numbers& a, const graph_numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

}

graph_family::graph_family(const std::vector<chosen_length>& lengths, const length_choice& values, const graph& g)
    : m_lengths(lengths), m_first(g) {
  add(values, g);
}

bool graph_family::add(const length_choice& values, const graph& g) {
  std::optional<graph_numbers> numbers = number_reader(m_first, g).read();
  if (!numbers || (!m_numbers.empty() && !same_places(*numbers, m_numbers[0]))) return false;
  m_choices.push_back(values);
  m_numbers.push_back(std::move(*numbers));
  m_sums.clear();
  return true;
}

void graph_family::find_sums() {
  number_terms terms(m_lengths, m_choices);
  for (const auto& [place, first] : m_numbers[0]) {
    number_series s;
    for (const graph_numbers& numbers : m_numbers) s.push_back(numbers.at(place));
    m_sums[place] = terms.find(s);
  }
  m_sum_lengths = terms.lengths();
}

bool graph_family::has(const length_choice& values, const graph& g) {
  const std::optional<graph_numbers> numbers = number_reader(m_first, g).read();
  if (!numbers) return false;
  if (m_sums.empty()) find_sums();
  const std::vector<std::int64_t> all = values_of(m_sum_lengths, values);
  for (const auto& [place, found] : *numbers) {
    const auto sum = m_sums.find(place);
    if (sum == m_sums.end() || !sum->second) return false;
    std::int64_t number = sum->second->empty() ? m_numbers[0].at(place) : 0;
    for (const plan_term& t : *sum->second) number += value_of(t, all);
    if (number != found) return false;
  }
  return true;
}

}
