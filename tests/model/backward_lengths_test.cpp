// SPDX-License-Identifier: MIT
// Views that stand backwards and follow lengths: those that open are inside their buffer for every value.
#include <doctest/doctest.h>
#include <random>
#include "plan_builder.hpp"
#include <netsuke/format/impl/run_lengths.hpp>
#include <netsuke/model/open.hpp>

namespace {
using test::plan_spec;
using test::format::Term;

constexpr std::uint8_t none = 255, offset_number = 12;
constexpr int bound = 7;  ///< of rows and of columns

/// A part of an image of rows x columns, both lengths, that a Copy reads: rows, columns or both backwards, from some
/// begin on, some or all of them. `wrong` adds errors.
class sampled_view {
 public:
  sampled_view(std::uint32_t seed, bool wrong) : m_random(seed) {
    minimum = 1 + below(5);
    const std::uint32_t image = p.add_input("image", {bound, bound}, 1), y = p.add_output("y", {1, 1}, 0, 1);
    p.lengths = {{"rows", minimum, bound}, {"columns", minimum, bound}};
    p.tensors[image].terms = {Term(1, 0, 0, none, none), Term(1, 1, 1, none, none), Term(1, 6, 1, none, none)};
    const std::uint32_t from = p.add_tensor("from", {1, 1}, p.tensors[image].buffer);
    place(p.tensors[from], wrong);
    test::tensor_spec& out = p.tensors[y];
    out.shape = p.tensors[from].shape;
    out.strides = {out.shape[1], 1};
    for (const Term& t : p.tensors[from].terms)
      if (t.number() < 2) out.terms.push_back(t);
    for (const Term& t : p.tensors[from].terms)
      if (t.number() == 1) out.terms.push_back(Term(t.coefficient(), 6, t.a(), t.b(), t.c()));
    p.buffers[out.buffer].bytes =
        static_cast<std::uint64_t>(out.shape[0]) * static_cast<std::uint64_t>(out.shape[1]) * 4;
    p.arena_bytes += 4096;
    p.add_step(test::format::Operator::Copy, {from}, y, "copy");
    fits = out.shape[0] > 0 && out.shape[1] > 0;
  }

  plan_spec p;
  std::uint32_t minimum = 1;
  bool fits = false;  ///< the numbers at the bounds are positive

 private:
  int below(int n) { return static_cast<int>(m_random() % static_cast<std::uint32_t>(n)); }

  /// The number of a length that is shorter than another one.
  std::uint8_t shorter(int of, int less) {
    const auto plus = static_cast<std::int32_t>(-less);
    if (less == 0) return static_cast<std::uint8_t>(of);
    p.lengths.push_back({"", static_cast<std::uint32_t>(std::max<int>(0, static_cast<int>(minimum) - less)),
                         static_cast<std::uint32_t>(bound - less), 1, static_cast<std::uint32_t>(of), 1, plus, 1});
    return static_cast<std::uint8_t>(p.lengths.size() - 1);
  }
  std::int64_t at_bounds(const Term& t) const {
    std::int64_t n = t.coefficient();
    for (const std::uint8_t l : {t.a(), t.b(), t.c()})
      if (l != none) n *= static_cast<std::int64_t>(p.lengths[l].bound);
    return n;
  }
  void place(test::tensor_spec& t, bool wrong) {
    std::vector<Term> terms[13];
    for (const int d : {0, 1}) {
      const bool backwards = below(3) != 0, all = below(2) != 0;
      const int begin = below(3), count = 1 + below(4), error = wrong && below(3) == 0 ? 1 + below(2) : 0;
      if (all && minimum > static_cast<std::uint32_t>(begin))
        terms[d] = {Term(1, static_cast<std::uint8_t>(d), shorter(d, begin), none, none)};
      else
        terms[d] = {Term(count, static_cast<std::uint8_t>(d), none, none, none)};
      const std::int64_t sign = backwards ? -1 : 1;
      terms[6 + d] = {d == 0 ? Term(sign, 6, 1, none, none) : Term(sign, 7, none, none, none)};
      const int less = backwards ? 1 + begin - error : 0;
      if (backwards && d == 0) {
        const std::uint8_t last = less >= 0 ? shorter(0, less) : 0;
        terms[12].push_back(
            Term(4, offset_number, std::min<std::uint8_t>(last, 1), std::max<std::uint8_t>(last, 1), none));
      } else if (backwards) {
        terms[12].push_back(Term(4, offset_number, 1, none, none));
        terms[12].push_back(Term(-4 * (less + 2 * error), offset_number, none, none, none));
      } else if (begin + error > 0) {
        terms[12].push_back(d == 0 ? Term(4 * (begin + error), offset_number, 1, none, none)
                                   : Term(4 * (begin + error), offset_number, none, none, none));
      }
    }
    const auto sum = [&](int number) {
      std::int64_t n = 0;
      for (const Term& term : terms[number]) n += at_bounds(term);
      return n;
    };
    t.shape = {static_cast<std::int32_t>(sum(0)), static_cast<std::int32_t>(sum(1))};
    t.strides = {sum(6), sum(7)};
    t.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sum(12)));
    for (const std::vector<Term>& of_number : terms) t.terms.insert(t.terms.end(), of_number.begin(), of_number.end());
  }
  std::mt19937 m_random;
};

/// Whether all elements of every tensor are inside its buffer, whatever the lengths.
bool stays_inside(const nsk::variant_view& v, int minimum) {
  for (int rows = minimum; rows <= bound; ++rows)
    for (int columns = minimum; columns <= bound; ++columns) {
      nsk::impl::run_lengths lengths;
      lengths.reset(v);
      static_cast<void>(lengths.set(v, "rows", rows));
      static_cast<void>(lengths.set(v, "columns", columns));
      for (int i = 0; i < v.tensor_count(); ++i) {
        const nsk::tensor_info t = v.tensor(i);
        const nsk::tensor_view view = t.view(nullptr, lengths.values());
        auto low = static_cast<std::int64_t>(t.offset(lengths.values()));
        std::int64_t high = low + nsk::size_of(t.type());
        bool empty = false;
        for (int d = 0; d < view.rank; ++d) {
          empty = empty || view.shape[d] == 0;
          const std::int64_t last = std::int64_t{view.shape[d] - 1} * view.stride[d] * nsk::size_of(t.type());
          (last < 0 ? low : high) += last;
        }
        if (!empty && (low < 0 || high > static_cast<std::int64_t>(t.buffer_bytes()))) return false;
      }
    }
  return true;
}

}

TEST_CASE("backward views that open are inside their buffer for all lengths, and right ones open") {
  int opened = 0, right = 0, backwards = 0, refused_wrong = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const bool wrong = seed % 2 == 1;
    const sampled_view sampled(seed, wrong);
    if (!sampled.fits) continue;
    const test::aligned_bytes file = sampled.p.write();
    nsk::model m;
    const bool opens = static_cast<bool>(nsk::open({file.data(), file.size()}, m));
    right += wrong ? 0 : 1;
    opened += opens && !wrong ? 1 : 0;
    refused_wrong += !opens && wrong ? 1 : 0;
    if (!opens) continue;
    CAPTURE(seed);
    const nsk::variant_view v = m.variant();
    for (int i = 0; i < v.tensor_count(); ++i)
      for (const std::int64_t stride : v.tensor(i).strides()) backwards += stride < 0 ? 1 : 0;
    CHECK(stays_inside(v, static_cast<int>(sampled.minimum)));
  }
  MESSAGE(opened << " of " << right << " right ones open, with " << backwards << " backward dimensions; "
                 << refused_wrong << " wrong ones do not");
  CHECK(opened > 400);
  CHECK(backwards > 400);
  CHECK(refused_wrong > 200);
}
