// SPDX-License-Identifier: MIT
/// Unique: elements, or slices along an axis, are sorted; where one differs from the one before, a group begins.
#include <numeric>
#include <vector>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/counting.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::canonical {
namespace {

constexpr std::int64_t max_compared = std::int64_t{1} << 22;  // elements of all pairs of slices

class unique_lines {
 public:
  explicit unique_lines(context& c) : m_c(c) {
    const node& n = c.op();
    const shape_t x = c.in_shape(0);
    m_lines = {1, count_of(x), 1};
    if (!n.has("axis")) return;
    const auto axis = static_cast<std::size_t>(c.axis(n.integer("axis", 0), x.size()));
    m_lines = {1, x[axis], 1};
    for (std::size_t d = 0; d < x.size(); ++d)
      if (d != axis) m_lines[d < axis ? 0 : 2] *= x[d];
  }

  void run() {
    m_type = m_c.in_type(0);
    if (m_type != element::f32 && !is_computed_integer(m_type))
      m_c.refuse("float32, int32 and int64 have kernels; add a Cast in the exporter");
    if (count_of(m_lines) == 0) m_c.refuse("Unique of nothing has no kernel");
    const int x = reshaped(m_c, m_c.in(0), m_lines);
    group(m_lines[0] * m_lines[2] == 1 ? reshaped(m_c, x, {count()}) : keys(x));
    if (m_c.op().integer("sorted", 1) != 0)
      write(m_places, picked(x, 1, m_order, "sorted"), m_order);
    else
      write_as_found(x);
  }

 private:
  std::int64_t count() const { return m_lines[1]; }
  /// Of the results: one more, which nothing reads, where their number is a length.
  std::int64_t rows() const { return m_c.op().integer(reference::suppression_bound, count()); }
  int mask(compare_kind kind, int a, int b, const std::string& suffix) {
    const int result = m_c.temporary(suffix, broadcast_shape(m_c, a, b), element::boolean);
    m_c.emit(compare_params{kind}, {a, b}, result);
    return result;
  }
  int cast(int x, element type, const std::string& suffix) {
    const int result = m_c.temporary(suffix, m_c.shape(x), type);
    m_c.emit(cast_params{}, {x}, result);
    return result;
  }
  int picked(int x, std::size_t axis, int indices, const std::string& suffix) {
    shape_t shape = m_c.shape(x);
    shape[axis] = m_c.shape(indices)[0];
    const int result = m_c.temporary(suffix, shape, m_c.type(x));
    m_c.emit(gather_parameters{static_cast<int>(axis), false}, {x, indices}, result);
    return result;
  }
  /// Integers [n], `filler` where `places` [m] writes none of `values` [m].
  int scattered(std::int64_t n, std::int64_t filler, int places, int values, const std::string& suffix,
                scatter_kind kind = scatter_kind::replace) {
    const element type = m_c.type(values);
    const int result = m_c.temporary(suffix, {n}, type), base = m_c.temporary(suffix + "_base", {n}, type);
    m_c.emit(expand_parameters{}, {constant_integers(m_c, suffix + "_filler", {1}, type, {filler})}, base);
    m_c.emit(scatter_params{0, kind}, {base, places, values}, result);
    return result;
  }
  int counted(const std::string& suffix) {
    m_c.charge(static_cast<double>(count()));
    std::vector<std::int64_t> positions(static_cast<std::size_t>(count()));
    std::iota(positions.begin(), positions.end(), 0);
    return constant_integers(m_c, suffix, {count()}, element::i64, positions);
  }

  /// Where a and b differ; two that are no numbers do not.
  int differing(int a, int b, const std::string& suffix) {
    const int differs = mask(compare_kind::not_equal, a, b, suffix + "_differ");
    if (m_c.type(a) != element::f32) return differs;
    const int both = combine(m_c, arithmetic_kind::bit_and, mask(compare_kind::not_equal, a, a, suffix + "_no_a"),
                             mask(compare_kind::not_equal, b, b, suffix + "_no_b"), suffix + "_neither");
    return combine(m_c, arithmetic_kind::bit_xor, differs, both, suffix + "_differs");
  }

  /// How many slices come before each one: equal slices have equal keys, and keys have the slices' order.
  int keys(int x) {
    const std::int64_t n = count(), width = m_lines[0] * m_lines[2];
    if (static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(width) >
        static_cast<double>(max_compared))
      m_c.refuse(
          "slices are compared in pairs, which takes more than 2^22 comparisons; leave out the axis, or make "
          "the slices fewer or smaller");
    const int rows = reshaped(m_c, transposed(m_c, x, {1, 0, 2}, "slices"), {n, width}),
              mine = reshaped(m_c, rows, {n, 1, width}), other = reshaped(m_c, rows, {1, n, width}),
              differ = differing(mine, other, "slices");
    int before = mask(compare_kind::less, other, mine, "less");
    if (m_type == element::f32) {
      const int last = combine(m_c, arithmetic_kind::bit_and, differ, mask(compare_kind::not_equal, mine, mine, "last"),
                               "only_last");
      before = combine(m_c, arithmetic_kind::bit_or, before, last, "before");
    }
    const int first = m_c.temporary("first", {n, n, 1}, element::i64),
              decides = m_c.temporary("decides", {n, n, 1}, element::boolean);
    m_c.emit(arg_reduce_params{2, arg_reduce_kind::max, false}, {cast(differ, element::f32, "differences")}, first);
    m_c.emit(gather_parameters{2, true}, {before, first}, decides);
    return reshaped(m_c, reduced(m_c, reduce_kind::sum, cast(decides, element::f32, "decided"), {1}, "keys"), {n});
  }

  /// Sorts lines by `key` [n], and numbers the groups of equal ones.
  void group(int key) {
    const std::int64_t n = count();
    m_order = m_c.temporary("order", {n}, element::i64);
    m_c.emit(top_k_params{0, true}, {key}, m_order);
    const int sorted = picked(key, 0, m_order, "sorted_keys");
    m_begins = constant_integers(m_c, "begin", {1}, element::boolean, {1});
    if (n > 1)
      m_begins = appended(
          m_c, 0, m_begins,
          differing(part(m_c, sorted, 0, 1, n - 1, "later"), part(m_c, sorted, 0, 0, n - 1, "earlier"), "keys"),
          "begins");
    const int sums = running_sums(m_c, cast(m_begins, element::f32, "groups_begun"), n, "_groups"),
              group = combine(m_c, binary_kind::sub, sums, scalar(m_c, "first_group", 1), "group"),
              place = m_c.temporary("group_place", {n});
    m_c.emit(select_params{}, {m_begins, group, scalar(m_c, "no_group", static_cast<double>(n))}, place);
    m_groups = cast(group, element::i64, "groups");
    m_places = cast(place, element::i64, "group_places");
  }

  /// Writes the lines `from`, which are at `index` of the input, to their places; what is at place n is left out.
  void write(int places, int from, int index) {
    const std::int64_t n = count();
    const shape_t line = {1, n, 1};
    shape_t longer = m_lines;
    longer[1] = n + 1;
    if (m_c.wants(0)) {
      const int filled = m_c.temporary("filled", longer, m_type);
      m_c.emit(scatter_params{1, scatter_kind::replace},
               {constant_integers(m_c, "filler", {1, 1, 1}, m_type, {0}), reshaped(m_c, places, line), from}, filled);
      m_c.emit(reshape_parameters{}, {part(m_c, filled, 1, 0, rows(), "found")});
    }
    if (m_c.wants(1))
      m_c.emit(reshape_parameters{},
               {part(m_c, scattered(n + 1, -1, places, index, "indices"), 0, 0, rows(), "found_at")}, m_c.out(1));
    if (m_c.wants(2)) m_c.emit(reshape_parameters{}, {scattered(n, 0, m_order, m_groups, "inverse")}, m_c.out(2));
    if (!m_c.wants(3)) return;
    const int ones = m_c.temporary("ones", {n}, element::i64);
    m_c.emit(expand_parameters{}, {constant_integers(m_c, "one_more", {1}, element::i64, {1})}, ones);
    m_c.emit(reshape_parameters{}, {scattered(rows(), 0, m_groups, ones, "counts", scatter_kind::add)}, m_c.out(3));
  }

  /// Groups in the order in which their first lines are in the input.
  void write_as_found(int x) {
    const std::int64_t n = count();
    const int mask = scattered(n, 0, m_order, m_begins, "begun"), places = places_of_chosen(m_c, mask, n),
              firsts = part(m_c, scattered(n + 1, 0, m_places, m_order, "firsts"), 0, 0, n, "first_of_group");
    m_groups = picked(places, 0, picked(firsts, 0, m_groups, "first_of_each"), "groups_as_found");
    write(places, x, counted("positions"));
  }

  context& m_c;
  shape_t m_lines;  ///< elements before the axis, slices along it, elements behind it
  element m_type = element::f32;
  int m_order = no_value;   ///< int64 [n]: which line is where among the sorted ones
  int m_begins = no_value;  ///< boolean [n]: which of the sorted lines begins a group
  int m_groups = no_value;  ///< int64 [n]: group of each sorted line
  int m_places = no_value;  ///< int64 [n]: the same for those that begin a group, n for others
};

void unique(context& c) { unique_lines(c).run(); }

}

void add_unique(rule_table& t) { t["Unique"] = {unique, element_types::any}; }

}
