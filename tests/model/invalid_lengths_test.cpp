// SPDX-License-Identifier: MIT
// Invalid lengths, and numbers that follow them wrongly, each refused for its own reason.
#include <doctest/doctest.h>
#include "lengths_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::no_length;
using test::plan_spec;
using test::format::Term;

test::tensor_spec& output(plan_spec& p, test::policy_step s) { return p.tensors[p.steps[s].outputs[0]]; }
std::vector<Term>& terms(plan_spec& p) { return output(p, test::dense_step).terms; }

/// Adds a length that follows from "rows": (times * rows + plus) / divide.
void follow(plan_spec& p, std::uint32_t minimum, std::uint32_t bound, std::uint32_t times, std::int32_t plus,
            std::uint32_t divide) {
  p.lengths.push_back({"", minimum, bound, 1, 0, times, plus, divide});
}

struct invalid_case {
  const char* name;
  status_code code;
  void (*apply)(plan_spec&);
};

const invalid_case invalid_cases[] = {
    {"a batch beside lengths", status_code::bad_lengths, [](plan_spec& p) { p.batch = test::policy_rows; }},
    {"a bound of nothing", status_code::bad_lengths,
     [](plan_spec& p) {
       p.lengths.push_back({"none", 0, 0});
     }},
    {"a minimum beyond the bound", status_code::bad_lengths, [](plan_spec& p) { p.lengths[0].minimum = 7; }},
    {"a bound beyond the tensors", status_code::bad_lengths, [](plan_spec& p) { p.lengths[0].bound = 7; }},
    {"a bound below the tensors", status_code::bad_lengths, [](plan_spec& p) { p.lengths[0].bound = 5; }},
    {"an endless bound", status_code::bad_lengths, [](plan_spec& p) { p.lengths[0].bound = 0x80000001u; }},
    {"a step of nothing", status_code::bad_lengths, [](plan_spec& p) { p.lengths[0].step = 0; }},
    {"a bound between steps", status_code::bad_lengths, [](plan_spec& p) { p.lengths[0].step = 4; }},
    {"no lengths", status_code::bad_lengths, [](plan_spec& p) { p.lengths.clear(); }},
    {"too many lengths", status_code::bad_lengths,
     [](plan_spec& p) {
       p.lengths.resize(25, {"more", 1, 9});
     }},
    {"a length that follows from itself", status_code::bad_lengths,
     [](plan_spec& p) {
       p.lengths.push_back({"", 1, 6, 1, 1, 1, 0, 1});
     }},
    {"a length that follows to another bound", status_code::bad_lengths,
     [](plan_spec& p) { follow(p, 1, 4, 1, 1, 2); }},
    {"a length that follows to another minimum", status_code::bad_lengths,
     [](plan_spec& p) { follow(p, 2, 3, 1, 1, 2); }},
    {"a length that follows from a second one that is absent", status_code::bad_lengths,
     [](plan_spec& p) {
       p.lengths.push_back({"", 2, 12, 1, 0, 1, 0, 1, 2});
     }},
    {"a sum with another bound", status_code::bad_lengths,
     [](plan_spec& p) {
       p.lengths.push_back({"", 2, 11, 1, 0, 1, 0, 1, 1});
     }},
    {"a length below nothing", status_code::bad_lengths, [](plan_spec& p) { follow(p, 1, 4, 1, -2, 1); }},
    {"a product that overflows", status_code::bad_lengths,
     [](plan_spec& p) { follow(p, 1, 6, 0x80000000u, 0, 0x80000000u); }},
    {"a term of an absent length", status_code::bad_lengths,
     [](plan_spec& p) { terms(p) = {Term(1, 0, 1, no_length, no_length)}; }},
    {"a term of an absent dimension", status_code::bad_lengths,
     [](plan_spec& p) { terms(p)[0] = Term(1, 2, 0, no_length, no_length); }},
    {"a term of an absent number", status_code::bad_lengths,
     [](plan_spec& p) { terms(p)[0] = Term(1, 13, 0, no_length, no_length); }},
    {"a dimension that shrinks", status_code::bad_lengths,
     [](plan_spec& p) {
       terms(p) = {Term(-1, 0, 0, no_length, no_length), Term(12, 0, no_length, no_length, no_length)};
     }},
    {"a dimension of nothing", status_code::bad_lengths,
     [](plan_spec& p) {
       terms(p) = {Term(2, 0, 0, no_length, no_length), Term(-6, 0, no_length, no_length, no_length)};
     }},
    {"a dimension beyond 64 bits", status_code::bad_lengths,
     [](plan_spec& p) { terms(p) = {Term(INT64_MAX, 0, 0, 0, 0)}; }},
    {"terms out of order", status_code::bad_lengths,
     [](plan_spec& p) {
       terms(p) = {Term(20, 6, no_length, no_length, no_length), Term(1, 0, 0, no_length, no_length)};
     }},
    {"factors out of order", status_code::bad_lengths,
     [](plan_spec& p) { terms(p) = {Term(1, 0, no_length, 0, no_length)}; }},
    {"rows that come to overlap", status_code::bad_overlap,
     [](plan_spec& p) {
       terms(p).push_back(Term(3, 6, 0, no_length, no_length));
       terms(p).push_back(Term(2, 6, no_length, no_length, no_length));
     }},
    {"elements that come to overlap", status_code::bad_overlap,
     [](plan_spec& p) {
       terms(p).push_back(Term(1, 7, 0, no_length, no_length));
       terms(p).push_back(Term(-5, 7, no_length, no_length, no_length));
       p.lengths[0].minimum = 5;
     }},
    {"an offset between elements", status_code::bad_lengths,
     [](plan_spec& p) { terms(p).push_back(Term(2, test::offset_number, no_length, no_length, no_length)); }},
    {"a backward stride", status_code::bad_lengths,
     [](plan_spec& p) {
       test::tensor_spec& t = p.tensors[p.steps[test::pick_step].inputs[1]];
       t.strides[0] = -1;
       t.offset = 40;
     }},
    {"weights that follow", status_code::bad_lengths,
     [](plan_spec& p) {
       p.tensors[p.steps[test::dense_step].inputs[1]].terms = {Term(20, 0, 0, no_length, no_length)};
     }},
    {"a constant that moves", status_code::bad_lengths,
     [](plan_spec& p) {
       p.tensors[p.steps[test::pick_step].inputs[0]].terms = {Term(0, test::offset_number, 0, no_length, no_length)};
     }},
};

test::length_spec& counted(plan_spec& p) { return p.lengths[0]; }

const invalid_case invalid_counts[] = {
    {"a tensor that is absent", status_code::bad_lengths,
     [](plan_spec& p) { counted(p).counted = static_cast<std::uint32_t>(p.tensors.size()) + 1; }},
    {"a number that is no integer", status_code::bad_lengths,
     [](plan_spec& p) { counted(p).counted = p.steps[test::total_step].outputs[0] + 1; }},
    {"a number of the caller", status_code::bad_lengths,
     [](plan_spec& p) { counted(p).counted = p.steps[test::count_step].inputs[0] + 1; }},
    {"several numbers", status_code::bad_lengths,
     [](plan_spec& p) {
       for (const std::uint32_t i : {p.steps[test::count_step].inputs[0], p.steps[test::count_step].outputs[0]}) {
         p.tensors[i].shape = {2};
         p.buffers[p.tensors[i].buffer].bytes *= 2;
       }
     }},
    {"steps of a number", status_code::bad_lengths, [](plan_spec& p) { counted(p).step = 2; }},
    {"a minimum beyond the bound", status_code::bad_lengths, [](plan_spec& p) { counted(p).minimum = 7; }},
    {"a step that follows what is counted behind it", status_code::bad_lengths,
     [](plan_spec& p) {
       std::swap(p.steps[test::count_step], p.steps[test::square_step]);
       p.buffers[p.tensors[p.steps[0].outputs[0]].buffer].first_step = 0;
       p.buffers[p.tensors[p.steps[1].outputs[0]].buffer].first_step = 1;
     }},
    {"an input that follows", status_code::bad_lengths,
     [](plan_spec& p) {
       p.tensors[p.steps[test::square_step].inputs[0]].terms.clear();
       p.tensors[p.inputs[1].tensor].terms = {Term(1, 0, 0, no_length, no_length)};
     }},
};

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

TEST_CASE("open: invalid lengths and terms are refused, each for its own reason") {
  const nsk::status valid = open_plan(test::make_lengths());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const invalid_case& l : invalid_cases) {
    plan_spec p = test::make_lengths();
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}

TEST_CASE("open: numbers that cannot be a length are refused") {
  const nsk::status valid = open_plan(test::make_counted());
  REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
  for (const invalid_case& l : invalid_counts) {
    plan_spec p = test::make_counted();
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}

TEST_CASE("open: rows that stand backwards are refused where they would begin before their buffer") {
  REQUIRE(open_plan(test::make_backwards()));
  const auto code_with = [](std::vector<Term> terms, std::int64_t stride, std::uint32_t minimum) {
    plan_spec p = test::make_backwards();
    test::tensor_spec& view = p.tensors[p.steps[0].inputs[0]];
    view.terms = std::move(terms);
    view.strides[0] = stride;
    p.lengths[0].minimum = minimum;
    return open_plan(p).code();
  };
  const Term rows(1, 0, 0, no_length, no_length), all(6, 0, no_length, no_length, no_length);
  const auto offset = [](std::int64_t n, bool follows) {
    return Term(n, test::offset_number, follows ? 0 : no_length, no_length, no_length);
  };
  CHECK(code_with({rows, offset(8, true), offset(-8, false)}, -2, 0) == status_code::bad_lengths);
  CHECK(code_with({all, offset(8, true), offset(-8, false)}, -2, 1) == status_code::bad_lengths);
  CHECK(code_with({rows, offset(4, true), offset(16, false)}, -2, 1) == status_code::bad_lengths);
  CHECK(code_with({rows, Term(1, 6, 0, no_length, no_length), Term(-8, 6, no_length, no_length, no_length),
                   offset(8, true), offset(-8, false)},
                  -2, 1) == status_code::bad_lengths);
}

TEST_CASE("open: a border that begins before its buffer for shorter lengths is refused") {
  const auto open_with = [](std::int64_t stride, std::int64_t offset) {
    plan_spec p;
    const std::uint32_t end = 2;
    const std::uint32_t x = p.add_input("x", {1, 4, 4, 2}, end);
    const std::uint32_t y = p.add_dense("y", {1, 4, 4, 2}, 0, 1);
    const std::uint32_t z = p.add_output("z", {1, 4, 4, 2}, 1, end);
    p.buffers[p.tensors[y].buffer].bytes = 4 * 2 * 6 * 6;
    p.arena_bytes += 1024;
    for (test::buffer_spec& b : p.buffers)
      if (&b != &p.buffers[p.tensors[y].buffer] && b.offset > p.buffers[p.tensors[y].buffer].offset) b.offset += 512;
    p.add_step(test::format::Operator::Copy, {x}, y, "in");
    p.add_step(test::format::Operator::Copy, {y}, z, "out");
    p.lengths = {{"columns", 1, 4}};
    test::tensor_spec& t = p.tensors[y];
    t.strides = {72, 12, 2, 1};
    t.border = {1, 1, 1, 1};
    t.offset = 4 * 14;
    t.terms = {Term(1, 2, 0, no_length, no_length), Term(stride, 7, 0, no_length, no_length),
               Term(12 - 4 * stride, 7, no_length, no_length, no_length),
               Term(4 * offset, test::offset_number, 0, no_length, no_length),
               Term(56 - 16 * offset, test::offset_number, no_length, no_length, no_length)};
    for (const std::uint32_t port : {x, z}) {
      p.tensors[port].terms = {Term(1, 2, 0, no_length, no_length), Term(2, 7, 0, no_length, no_length),
                               Term(8, 6, 0, no_length, no_length)};
      std::swap(p.tensors[port].terms[1], p.tensors[port].terms[2]);
    }
    return open_plan(p);
  };
  const nsk::status valid = open_with(2, 2);
  CHECK_MESSAGE(valid, valid.name() << " at " << valid.where());
  CHECK(open_with(2, 3).code() == status_code::bad_lengths);
  CHECK(open_with(3, 2).code() == status_code::bad_lengths);
}
}
