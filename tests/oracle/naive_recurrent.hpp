// SPDX-License-Identifier: MIT
#pragma once
/// Recurrent layers as their definitions read, in double precision. Shares nothing with the library.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace oracle {

using number_function = std::function<double(double)>;

/// One direction of a layer of `hidden` elements, for one row of the batch. Gates are in ONNX's order: iofc, zrh.
struct recurrent_layer {
  enum kind_type { rnn, gru, lstm } kind = lstm;
  int hidden = 1;
  std::vector<double> weights;   ///< [gates * hidden][hidden]
  std::vector<double> bias;      ///< [gates * hidden], of the product with h
  std::vector<double> peephole;  ///< [3][hidden]: input, output, forget; may be empty
  bool input_forget = false, linear_before_reset = false, reverse = false;
  double clip = 0, cell_clip = 0;
  number_function f, g, h;

  int gates() const { return kind == rnn ? 1 : kind == gru ? 3 : 4; }
  /// Bias and product of row `gate`, `j` of the weights with a state.
  double product(int gate, int j, const std::vector<double>& state) const {
    double sum = bias[static_cast<std::size_t>(gate * hidden + j)];
    for (int k = 0; k < hidden; ++k)
      sum += weights[static_cast<std::size_t>((gate * hidden + j) * hidden + k)] * state[static_cast<std::size_t>(k)];
    return sum;
  }
  double clipped(double x) const { return clip > 0 ? std::max(-clip, std::min(clip, x)) : x; }
  double through(const number_function& function, double x) const { return function(clipped(x)); }

  /// Continues the states `s` and `c` by one time step, whose products with the layer's inputs are `x`.
  void step(const std::vector<double>& x, std::vector<double>& s, std::vector<double>& c) const {
    const std::vector<double> before = s;
    const auto at = [&](int gate, int j) { return x[static_cast<std::size_t>(gate * hidden + j)]; };
    const auto peek = [&](int gate, int j) {
      return peephole.empty() ? 0.0 : peephole[static_cast<std::size_t>(gate * hidden + j)];
    };
    std::vector<double> passed(before.size());
    for (int j = 0; kind == gru && j < hidden; ++j)
      passed[static_cast<std::size_t>(j)] =
          through(f, at(1, j) + product(1, j, before)) * before[static_cast<std::size_t>(j)];
    for (int j = 0; j < hidden; ++j) {
      const auto i = static_cast<std::size_t>(j);
      if (kind == rnn) {
        s[i] = through(f, at(0, j) + product(0, j, before));
      } else if (kind == gru) {
        const double z = through(f, at(0, j) + product(0, j, before)), r = through(f, at(1, j) + product(1, j, before));
        const double inner = linear_before_reset ? r * product(2, j, before) : product(2, j, passed);
        s[i] = (1 - z) * through(g, at(2, j) + inner) + z * before[i];
      } else {
        const double in = through(f, at(0, j) + product(0, j, before) + peek(0, j) * c[i]);
        const double forget = input_forget ? 1 - in : through(f, at(2, j) + product(2, j, before) + peek(2, j) * c[i]);
        c[i] = forget * c[i] + in * through(g, at(3, j) + product(3, j, before));
        if (cell_clip > 0) c[i] = std::max(-cell_clip, std::min(cell_clip, c[i]));
        s[i] = through(f, at(1, j) + product(1, j, before) + peek(1, j) * c[i]) * h(c[i]);
      }
    }
  }
};

}
