// SPDX-License-Identifier: MIT
/// Spectra as products with sines and cosines: DFT as a dense layer, STFT as a convolution along the signal. Both make
/// all real parts, then all imaginary ones, so that what follows reads runs of them.
#include <algorithm>
#include <cmath>
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// Share of part `from` (0 real, 1 imaginary) of number t in part `to` of term k, in a transform of n numbers.
double share_in_term(std::int64_t t, int from, std::int64_t k, int to, std::int64_t n, bool inverse) {
  const double angle = 2 * std::acos(-1.0) * static_cast<double>(t * k % n) / static_cast<double>(n);
  const double scale = inverse ? 1 / static_cast<double>(n) : 1, sine = (inverse ? -scale : scale) * std::sin(angle);
  return from == to ? scale * std::cos(angle) : from < to ? -sine : sine;
}

/// x [..., n, ..., parts] with the axis of the transform before the last one is rows of n * parts numbers.
void dft(context& c) {
  const node& n = c.op();
  const shape_t &x = c.in_shape(0), &y = c.out_shape();
  const bool axis_is_input = n.version >= 20;
  const std::int64_t given = !axis_is_input ? n.integer("axis", 1) : c.has(2) ? integer(c, 2, "the axis") : -2;
  const auto axis = static_cast<std::size_t>(c.axis(given, x.size()));
  const std::int64_t parts = x.back(), terms = y[axis];
  const std::int64_t length = c.has(1) ? integer(c, 1, "the length") : x[axis], used = std::min(length, x[axis]);
  std::vector<int> to_end, back;
  shape_t rows;
  for (std::size_t d = 0; d + 1 < x.size(); ++d)
    if (d != axis) {
      to_end.push_back(static_cast<int>(d));
      rows.push_back(x[d]);
    }
  const auto last = static_cast<int>(rows.size());
  to_end.insert(to_end.end(), {static_cast<int>(axis), last + 1});
  for (int d = 0, row = 0; d <= last; ++d) back.push_back(d == static_cast<int>(axis) ? last + 1 : row++);
  back.push_back(last);

  dense_parameters d;
  d.depth = static_cast<int>(used * parts);
  d.outputs = static_cast<int>(2 * terms);
  c.charge(2.0 * d.depth * d.outputs);
  d.bias.assign(static_cast<std::size_t>(d.outputs), 0.0);
  for (std::int64_t t = 0; t < used; ++t)
    for (int from = 0; from < static_cast<int>(parts); ++from)
      for (std::int64_t column = 0; column < 2 * terms; ++column)
        d.weights.push_back(share_in_term(t, from, column % terms, static_cast<int>(column / terms), length,
                                          n.integer("inverse", 0) != 0));
  const auto with = [&](std::initializer_list<std::int64_t> tail) {
    shape_t shape = rows;
    shape.insert(shape.end(), tail);
    return shape;
  };
  const int lines = transposed(c, part(c, c.in(0), axis, 0, used, "used"), to_end, "turned"),
            product = c.temporary("product", with({2 * terms}));
  c.emit(std::move(d), {reshaped(c, lines, with({used * parts}))}, product);
  c.emit(transpose_parameters{std::move(back)}, {reshaped(c, product, with({2, terms}))});
}

void stft(context& c) {
  const shape_t &x = c.in_shape(0), &y = c.out_shape();
  const std::int64_t parts = x.size() == 3 ? x[2] : 1, frames = y[1], terms = y[2];
  const std::vector<double> window = c.has(2) ? numbers(c, 2, "the window") : std::vector<double>();
  const std::int64_t length =
      c.has(3) ? integer(c, 3, "the length of a frame") : static_cast<std::int64_t>(window.size());
  const std::int64_t step = integer(c, 1, "the step between frames");
  if (length > 65535 || step > 65535) c.refuse("a frame, or the step to the next one, is longer than 65535");
  conv_parameters p;
  p.w.kernel_w = static_cast<int>(length);
  p.w.stride_w = static_cast<int>(step);
  p.outputs = static_cast<int>(2 * terms);
  c.charge(2.0 * p.outputs * static_cast<double>(parts * length));
  p.bias.assign(static_cast<std::size_t>(p.outputs), 0.0);
  for (std::int64_t row = 0; row < 2 * terms; ++row)
    for (int from = 0; from < static_cast<int>(parts); ++from)
      for (std::int64_t t = 0; t < length; ++t)
        p.weights.push_back(share_in_term(t, from, row % terms, static_cast<int>(row / terms), length, false) *
                            (window.empty() ? 1 : window[static_cast<std::size_t>(t)]));
  const int signal = parts == 2 ? transposed(c, c.in(0), {0, 2, 1}, "parts") : reshaped(c, c.in(0), {x[0], 1, x[1]});
  const int spectrum = c.temporary("spectrum", {x[0], 2 * terms, frames});
  c.emit(std::move(p), {signal}, spectrum);
  c.emit(transpose_parameters{{0, 3, 2, 1}}, {reshaped(c, spectrum, {x[0], 2, terms, frames})});
}

}

void add_signal(rule_table& t) {
  t["DFT"] = {dft};
  t["STFT"] = {stft};
}

}
