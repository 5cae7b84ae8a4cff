// SPDX-License-Identifier: MIT
#include "lengths/compare_graphs.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace nsk::tool {
namespace {

using graph_numbers = std::vector<std::int64_t>;

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

/// Walks a graph beside the first of its family, and reads its numbers: lengths of axes, whole numbers of attributes,
/// and those of small constants.
class number_reader {
 public:
  number_reader(const graph& first, const graph& g) : m_first(first), m_graph(g) {}

  /// The numbers, of each graph in one order. Nothing where anything else than numbers differs.
  std::optional<graph_numbers> read() {
    const bool alike = m_first.nodes.size() == m_graph.nodes.size() && read_values(m_first.inputs, m_graph.inputs) &&
                       std::equal(m_first.nodes.begin(), m_first.nodes.end(), m_graph.nodes.begin(),
                                  [&](const node& a, const node& b) { return read_node(a, b); }) &&
                       read_values(m_first.outputs, m_graph.outputs);
    if (!alike) return {};
    return std::move(m_numbers);
  }

 private:
  bool read_node(const node& a, const node& b) {
    if (a.op != b.op || a.domain != b.domain || a.name != b.name || a.version != b.version) return false;
    if (!read_values(a.inputs, b.inputs) || !read_values(a.outputs, b.outputs)) return false;
    return a.attributes.size() == b.attributes.size() &&
           std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(),
                      [&](const auto& x, const auto& y) {
                        return x.first == y.first && x.second.index() == y.second.index() &&
                               read_attribute(x.second, y.second);
                      });
  }

  bool read_attribute(const attribute& a, const attribute& b) {
    if (const auto* const number = std::get_if<std::int64_t>(&b)) {
      m_numbers.push_back(*number);
      return true;
    }
    if (const auto* const numbers = std::get_if<std::vector<std::int64_t>>(&b)) {
      m_numbers.insert(m_numbers.end(), numbers->begin(), numbers->end());
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
      return known->second == y && (!added || read_value(m_first.at(x), m_graph.at(y)));
    });
  }

  bool read_value(const value& a, const value& b) {
    if (a.type != b.type || a.shape.size() != b.shape.size() || !a.constant != !b.constant) return false;
    m_numbers.insert(m_numbers.end(), b.shape.begin(), b.shape.end());
    return !a.constant || a.constant == b.constant || read_constant(*a.constant, *b.constant);
  }

  /// A constant begins as that of the first graph does, or is a few whole numbers.
  bool read_constant(const array& a, const array& b) {
    constexpr std::int64_t few = 64;
    if (!is_integer(a.type) || a.count() > few) return begin_alike(a, b);
    const bool has_numbers = a.type == b.type && a.shape == b.shape;
    for (std::int64_t i = 0; i < a.count(); ++i) m_numbers.push_back((has_numbers ? b : a).integer(i));
    return has_numbers || begin_alike(a, b);
  }

  const graph &m_first, &m_graph;
  std::map<value_id, value_id> m_pairs;
  graph_numbers m_numbers;
};

}

graph_family::graph_family(const std::vector<chosen_length>& lengths, const length_choice& values, const graph& g)
    : m_lengths(lengths), m_first(g) {
  add(values, g);
}

bool graph_family::add(const length_choice& values, const graph& g) {
  std::optional<graph_numbers> numbers = number_reader(m_first, g).read();
  if (!numbers || (!m_numbers.empty() && numbers->size() != m_numbers[0].size())) return false;
  m_choices.push_back(values);
  m_numbers.push_back(std::move(*numbers));
  m_sums.clear();
  return true;
}

void graph_family::find_sums() {
  number_terms terms(m_lengths, m_choices);
  for (std::size_t i = 0; i < m_numbers[0].size(); ++i) {
    number_series s;
    for (const graph_numbers& numbers : m_numbers) s.push_back(numbers[i]);
    m_sums.push_back(terms.find(s));
  }
  m_sum_lengths = terms.lengths();
}

bool graph_family::has(const length_choice& values, const graph& g) {
  const std::optional<graph_numbers> numbers = number_reader(m_first, g).read();
  if (!numbers || numbers->size() != m_numbers[0].size()) return false;
  if (m_sums.empty()) find_sums();
  const std::vector<std::int64_t> all = values_of(m_sum_lengths, values);
  for (std::size_t i = 0; i < m_sums.size(); ++i) {
    if (!m_sums[i]) return false;
    std::int64_t number = m_sums[i]->empty() ? m_numbers[0][i] : 0;
    for (const plan_term& t : *m_sums[i]) number += value_of(t, all);
    if (number != (*numbers)[i]) return false;
  }
  return true;
}

}
