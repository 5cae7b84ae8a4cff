// SPDX-License-Identifier: MIT
/// Rules for operators that give other numbers in every run. Theirs are not those of another runtime with the same
/// seed: the game seeds its sessions.
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {
namespace {

void random_numbers(call& c) {
  c.require_operands(1, 1);
  c.require(c.type(c.output()) == element::f32 && !c.is_stored(c.output()), "its numbers must be float32");
  const std::vector<std::int64_t> shape = integers(c, c.input(0), "the shape");
  checked_count(shape, "the shape");
  c.bind(0, c.emit(c.name() == "RANDOM_UNIFORM" ? "RandomUniform" : "RandomNormal", {},
                   {{"shape", shape}, {"dtype", std::int64_t{1}}}));
}

/// Numbers of classes by their logits, for each row.
void multinomial(call& c) {
  c.require_operands(2, 2);
  const std::int64_t count = integer(c, c.input(1), "the number of samples");
  c.require(c.rank(c.input(0)) == 2 && c.type(c.input(0)) == element::f32, "its logits must be float32, row by row");
  const value_id y = c.emit("Multinomial", {c.plain(c.input(0))}, {{"sample_size", count}, {"dtype", std::int64_t{7}}});
  c.bind(0, c.type(c.output()) == element::i32 ? cast(c, y, element::i32) : y);
}

}

void add_random(table& t) {
  t["RANDOM_UNIFORM"] = {random_numbers};
  t["RANDOM_STANDARD_NORMAL"] = {random_numbers};
  t["MULTINOMIAL"] = {multinomial};
}

}
