// SPDX-License-Identifier: MIT
#include "spell/pairwise_probabilities.hpp"

#include <string>

namespace nsk::tool {
namespace {

using i64 = std::int64_t;

// Of 100 rounds that there may be, 2 for two classes and 5 for more were needed at most, of a million rows that were
// tried.
constexpr i64 rounds_of_two = 4, rounds = 7, max_classes = 32;

class coupling {
 public:
  coupling(speller& s, i64 classes) : m_s(s), m_classes(classes) {}

  value_id run(value_id pairs) {
    m_q = matrix(pairs);
    for (i64 i = 0; i < m_classes; ++i) {
      m_rows.push_back(slice(m_q, 1, i));
      m_diagonal.push_back(slice(m_rows.back(), 2, i));
    }
    const auto count = static_cast<std::size_t>(m_classes);
    value_id p = m_s.floats({1, 1, m_classes}, std::vector<float>(count, 1.0f / static_cast<float>(m_classes)));
    for (i64 r = 0; r < (m_classes == 2 ? rounds_of_two : rounds); ++r) p = round(p);
    return m_s.add("Squeeze", {p, m_s.integers({1})});
  }

 private:
  value_id add(const char* op, value_id a, value_id b) { return m_s.add(op, {a, b}); }
  value_id number(float v) { return m_s.floats({}, {v}); }
  value_id slice(value_id v, i64 axis, i64 at) {
    return m_s.add("Slice", {v, m_s.integers({at}), m_s.integers({at + 1}), m_s.integers({axis})});
  }
  value_id reduced(const char* op, value_id v) { return m_s.add(op, {v, m_s.integers({2})}); }
  /// A sum that may cancel: as a mean, a check knows it by what it adds up.
  value_id sum(value_id v) { return add("Mul", reduced("ReduceMean", v), number(static_cast<float>(m_classes))); }

  /// The matrix Q of each row: on its diagonal the sums of squares, elsewhere negative products.
  value_id matrix(value_id first) {
    const i64 k = m_classes, pairs = k * (k - 1) / 2;
    const auto size = static_cast<std::size_t>(pairs * k * k);
    std::vector<float> of_first(size), of_second(size), of_products(size);
    i64 pair = 0;
    for (i64 i = 0; i < k; ++i)
      for (i64 j = i + 1; j < k; ++j, ++pair) {
        const i64 row = pair * k * k;
        of_first[static_cast<std::size_t>(row + j * k + j)] = 1;
        of_second[static_cast<std::size_t>(row + i * k + i)] = 1;
        of_products[static_cast<std::size_t>(row + i * k + j)] = -1;
        of_products[static_cast<std::size_t>(row + j * k + i)] = -1;
      }
    const value_id second = add("Sub", number(1), first);
    const auto spread = [&](value_id v, const std::vector<float>& weights) {
      return add("MatMul", v, m_s.floats({pairs, k * k}, weights));
    };
    const value_id entries = add(
        "Add", add("Add", spread(add("Mul", first, first), of_first), spread(add("Mul", second, second), of_second)),
        spread(add("Mul", first, second), of_products));
    return m_s.add("Reshape", {entries, m_s.integers({-1, k, k})});
  }

  /// One round: every class in turn comes nearer to where the error is least. Rows that were near enough stay.
  value_id round(value_id p) {
    const float enough = 0.005f / static_cast<float>(m_classes);
    value_id qp = m_s.add("Transpose", {sum(add("Mul", p, m_q))}, {{"perm", std::vector<i64>{0, 2, 1}}}),
             pqp = sum(add("Mul", p, qp));
    const value_id error = m_s.add("Abs", {add("Sub", qp, pqp)});
    const value_id far = cast_to(m_s, add("GreaterOrEqual", error, number(enough)), element::f32);
    const value_id goes_on = add("Greater", reduced("ReduceMax", far), number(0));
    value_id next = p;
    for (i64 i = 0; i < m_classes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const value_id own = slice(qp, 2, i), step = add("Div", add("Sub", pqp, own), m_diagonal[at]),
                     scale = add("Add", step, number(1));
      std::vector<float> unit(static_cast<std::size_t>(m_classes));
      unit[at] = 1;
      next = add("Div", add("Add", next, add("Mul", step, m_s.floats({1, 1, m_classes}, unit))), scale);
      const value_id change =
          add("Mul", step, add("Add", add("Mul", step, m_diagonal[at]), add("Mul", own, number(2))));
      pqp = add("Div", add("Div", add("Add", pqp, change), scale), scale);
      qp = add("Div", add("Add", qp, add("Mul", step, m_rows[at])), scale);
    }
    return m_s.add("Where", {goes_on, next, p});
  }

  speller& m_s;
  i64 m_classes;
  value_id m_q = no_value;
  std::vector<value_id> m_rows, m_diagonal;
};

}

value_id pairwise_probabilities(speller& s, value_id scores, i64 classes, const std::vector<float>& a,
                                const std::vector<float>& b) {
  if (classes > max_classes)
    s.refuse("probabilities of more than " + std::to_string(max_classes) +
             " classes take too many steps. Export it without probabilities");
  const shape_t length = {static_cast<i64>(a.size())};
  const value_id weighted = s.add("Add", {s.add("Mul", {scores, s.floats(length, a)}), s.floats(length, b)}),
                 likely = s.add("Sigmoid", {s.add("Neg", {weighted})}),
                 bounded = s.add("Clip", {likely, s.floats({}, {1.0e-7f}), s.floats({}, {1 - 1.0e-7f})});
  // A clamp makes a limit of NaN, which ends the rounds at once: every class is as likely as the others.
  return coupling(s, classes).run(s.add("Where", {s.add("IsNaN", {scores}), scores, bounded}));
}

}
