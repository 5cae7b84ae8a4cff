// SPDX-License-Identifier: MIT
// What a status says: its place, its names, its line in blocks of every size.
#include <doctest/doctest.h>
#include <string>
#include "sample_plans.hpp"
#include <netsuke/model/open.hpp>

namespace {

using nsk::status_code;
using nsk::status_place;

/// The line of a status, written into a block of so many bytes; nothing behind the block may change.
template <class... Names>
std::string cut_line_of(const nsk::status& s, std::size_t bytes, const Names&... names) {
  std::vector<char> block(bytes + 8, 'x');
  const std::size_t size = s.format({block.data(), bytes}, names...);
  for (std::size_t i = bytes; i < block.size(); ++i) CHECK(block[i] == 'x');
  if (bytes == 0) {
    CHECK(size == 0);
    return "";
  }
  REQUIRE(size < bytes);
  CHECK(block[size] == '\0');
  CHECK(std::string(block.data()).size() == size);
  return block.data();
}

template <class... Names>
std::string line_of(const nsk::status& s, const Names&... names) {
  return cut_line_of(s, 1024, names...);
}

std::string text_of(status_code code) { return nsk::status(code).message(); }

struct listed_code {
  status_code code;
  const char* name;
  status_place place;
  const char* text;
};

TEST_CASE("status: every code has a name, a place and a text") {
#define NSK_TEST_CODE(code, place, text) {status_code::code, #code, status_place::place, text},
  constexpr listed_code listed[] = {NSK_STATUS_LIST(NSK_TEST_CODE)};
#undef NSK_TEST_CODE
  int number = 0;
  for (const listed_code& of : listed) {
    const nsk::status s(of.code, 3);
    CHECK(static_cast<int>(of.code) == number++);
    CHECK(static_cast<bool>(s) == (of.code == status_code::ok));
    CHECK(std::string(s.name()) == of.name);
    CHECK(s.place() == of.place);
    CHECK(s.where() == 3);
    const std::string place = of.place == status_place::none ? "" : std::string(nsk::name_of(of.place)) + " 3: ";
    CHECK(line_of(s) == place + of.text);
    CHECK(line_of(nsk::status(of.code)) == of.text);
  }
  CHECK(number > 50);
}

TEST_CASE("status: the line has the place, and the variant behind the first") {
  const nsk::status s(status_code::wrong_size, status_place::input, 2);
  const std::string text = text_of(status_code::wrong_size);
  CHECK(nsk::status(status_code::wrong_size, 2).place() == status_place::port);
  CHECK(line_of(s) == "input 2: " + text);
  CHECK(s.variant() == 0);
  CHECK(line_of(s.in_variant(4)) == "variant 4, input 2: " + text);
  CHECK(s.in_variant(4).where() == 2);
  CHECK(s.in_variant(4).place() == status_place::input);
  CHECK(s.in_variant(0x12345).variant() == 0xffff);
  CHECK(line_of(nsk::status(status_code::bad_check, 1)) == "check vector 1: " + text_of(status_code::bad_check));
  CHECK(line_of(nsk::status(status_code::too_short).in_variant(4)) == text_of(status_code::too_short));
}

TEST_CASE("status: names are those of the model or of the variant") {
  test::plan_spec plan = test::make_cnn().plan;
  plan.variants = 2;
  const test::aligned_bytes file = plan.write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  const nsk::variant_view v = m.variant();
  const auto named = [&](status_code code, status_place place, int where) {
    const nsk::status s(code, place, where);
    CHECK(line_of(s, m) == line_of(s, v));
    return line_of(s, m);
  };
  const auto quoted = [](const char* name) { return " '" + std::string(name) + "': "; };
  const std::string step = text_of(status_code::bad_step), size = text_of(status_code::wrong_size);
  CHECK(named(status_code::bad_step, status_place::step, 1) == "step 1" + quoted(v.step(1).name()) + step);
  CHECK(named(status_code::bad_step, status_place::tensor, 0) == "tensor 0" + quoted(v.tensor(0).name()) + step);
  CHECK(named(status_code::wrong_size, status_place::input, 0) == "input 0 'image': " + size);
  CHECK(named(status_code::wrong_size, status_place::output, 0) == "output 0 'scores': " + size);
  // Numbers that nothing has, and places without names.
  for (status_place place : {status_place::step, status_place::tensor, status_place::input, status_place::output,
                             status_place::state, status_place::buffer, status_place::port, status_place::argument})
    CHECK(named(status_code::wrong_size, place, 999) == std::string(nsk::name_of(place)) + " 999: " + size);
  CHECK(line_of(nsk::status(status_code::bad_step, 1).in_variant(1), m) ==
        "variant 1, step 1" + quoted(v.step(1).name()) + step);
  CHECK(line_of(nsk::status(status_code::bad_step, 1).in_variant(9), m) == "variant 9, step 1: " + step);
  // A name that no port has: those that there are.
  const std::string none = text_of(status_code::no_such_port);
  CHECK(named(status_code::no_such_port, status_place::input, -1) == none + " (inputs: 'image')");
  CHECK(named(status_code::no_such_port, status_place::output, -1) == none + " (outputs: 'scores')");
  CHECK(line_of(nsk::status(status_code::no_such_port, status_place::input, -1)) == none);
  CHECK(line_of(nsk::status(status_code::no_such_port, status_place::input, 0), nsk::variant_view()) ==
        "input 0: " + none + " (inputs:  none)");
}

TEST_CASE("status: control characters of a name are not written") {
  test::cnn_sample s = test::make_cnn();
  s.plan.steps[0].name = "a\x1b[31m\nb\x7f";
  const test::aligned_bytes file = s.plan.write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  CHECK(line_of(nsk::status(status_code::bad_step, 0), m).find("step 0 'a?[31m?b?': ") == 0);
}

TEST_CASE("status: what does not fit into the block is left out") {
  const test::aligned_bytes file = test::make_cnn().plan.write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  for (const nsk::status& s : {nsk::status(status_code::wrong_size, status_place::input, 0), nsk::status(),
                               nsk::status(status_code::no_such_port, status_place::input, -1)}) {
    const std::string line = line_of(s, m);
    for (std::size_t bytes = 0; bytes < line.size() + 3; ++bytes)
      CHECK(cut_line_of(s, bytes, m) == line.substr(0, bytes == 0 ? 0 : bytes - 1));
    const std::string unnamed = line_of(s);
    for (std::size_t bytes = 0; bytes < unnamed.size() + 3; ++bytes)
      CHECK(cut_line_of(s, bytes) == unnamed.substr(0, bytes == 0 ? 0 : bytes - 1));
  }
}

}  // namespace
