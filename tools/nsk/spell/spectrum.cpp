// SPDX-License-Identifier: MIT
#include "spell/forms.hpp"

namespace nsk::tool {

bool is_real_inverse(const graph& g, const node& n) {
  if (n.op != "DFT" || !n.domain.empty() || !n.reads(0)) return false;
  const shape_t& shape = g.at(n.inputs[0]).shape;
  return n.integer("inverse", 0) != 0 && n.integer("onesided", 0) != 0 && !shape.empty() && shape.back() == 2;
}

void write_complex_inverse(speller& s) {
  const shape_t shape = s.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = s.op().version < 20 ? s.op().integer("axis", 1) : s.has(2) ? s.single_integer(2) : -2;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + 1 >= rank) s.refuse("its axis does not exist, or is that of the parts");
  const std::int64_t given = shape[static_cast<std::size_t>(axis)];
  const std::int64_t length = s.has(1) ? s.single_integer(1) : 2 * (given - 1);
  if (length < 1 || length > (1 << 24)) s.refuse("its length must be 1 to 2^24");
  const std::int64_t terms = length / 2 + 1;  // of one side; those that are not given are 0
  value_id side = s.add("Slice", {s.in(0), s.integers({0}), s.integers({terms}), s.integers({axis})});
  if (given < terms) {
    std::vector<std::int64_t> pads(2 * shape.size(), 0);
    pads[shape.size() + static_cast<std::size_t>(axis)] = terms - given;
    side = s.add("Pad", {side, s.integers(pads)});
  }
  value_id whole = side;
  if (const std::int64_t others = length - terms; others > 0) {  // term n - k is the conjugate of term k
    const value_id mirrored = s.add(
                       "Slice", {side, s.integers({others}), s.integers({0}), s.integers({axis}), s.integers({-1})}),
                   conjugate = s.add("Mul", {mirrored, s.floats({2}, {1, -1})});
    whole = s.add("Concat", {side, conjugate}, {{"axis", axis}});
  }
  // Terms whose conjugates they are themselves have no imaginary part.
  array kept = s.make(element::f32, {length, 2});
  for (std::int64_t k = 0; k < length; ++k) {
    kept.set(2 * k, 1);
    kept.set(2 * k + 1, k == 0 || 2 * k == length ? 0 : 1);
  }
  shape_t wide(static_cast<std::size_t>(rank - axis), 1);
  wide.front() = length;
  wide.back() = 2;
  kept.shape = wide;
  const value_id valid = s.add("Mul", {whole, s.keep(std::move(kept))}),
                 made = s.add("DFT", {valid, no_value, s.keep(make_ints({}, {axis}))}, {{"inverse", std::int64_t{1}}});
  s.give(0, "Slice", {made, s.integers({0}), s.integers({1}), s.integers({rank - 1})});
}

}
