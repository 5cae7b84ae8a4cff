// SPDX-License-Identifier: MIT
#include "program/winograd_choice.hpp"

#include <algorithm>

namespace nsk::tool {
namespace {

/// Floats of a layer's input and output, its weights left out.
struct layer_size {
  std::int64_t inputs, outputs, rows, columns;
};

/// Cycles of one core with AVX2, as measured: multiply-adds a cycle of products, bytes of weights a cycle where they
/// come from the last-level cache or from memory, which products hide or wait for, and what transforms take for each
/// channel of a cell (docs/decisions/kernels.md).
constexpr double direct_rate = 13.8, winograd_rate = 14.5, weight_bytes = 8;
struct transform_cycles {
  double input, output;
};
constexpr transform_cycles transforms_4{25, 22}, transforms_2{11, 10};

double whole_columns(std::int64_t outputs) { return static_cast<double>((outputs + 7) / 8 * 8); }

double cycles_of(conv_algorithm a, const layer_size& s) {
  const auto inputs = static_cast<double>(s.inputs), outputs = whole_columns(s.outputs);
  if (a == conv_algorithm::direct) {
    const double taps = 9 * inputs * outputs;
    return std::max(static_cast<double>(s.rows * s.columns) * taps / direct_rate, 4 * taps / weight_bytes);
  }
  const std::int64_t side = a == conv_algorithm::winograd4 ? 4 : 2, points = (side + 2) * (side + 2);
  const transform_cycles& t = a == conv_algorithm::winograd4 ? transforms_4 : transforms_2;
  const auto cells = static_cast<double>(((s.rows + side - 1) / side) * ((s.columns + side - 1) / side));
  const double weights = static_cast<double>(points) * inputs * outputs;
  return std::max(cells * weights / winograd_rate, 4 * weights / weight_bytes) +
         cells * (inputs * t.input + outputs * t.output);
}

}

bool winograd_fits(const window& w, std::int64_t groups) {
  return w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 && w.dilation_h == 1 &&
         w.dilation_w == 1 && groups == 1;
}

conv_algorithm fastest_algorithm(const window& w, std::int64_t groups, std::int64_t inputs, std::int64_t outputs,
                                 std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t max_bytes_4 = std::int64_t{16} << 20, max_bytes_2 = std::int64_t{20} << 20;
  // transformed weights are larger and results less exact, so that gains within the estimate's error count for nothing
  constexpr double worth = 0.9, worth_4 = 0.95;
  if (!winograd_fits(w, groups) || inputs < 16 || outputs < 8 || rows * columns < 36) return conv_algorithm::direct;
  const layer_size s{inputs, outputs, rows, columns};
  conv_algorithm best = conv_algorithm::direct;
  double cycles = worth * cycles_of(best, s);
  const auto consider = [&](conv_algorithm a, double factor) {
    const double found = cycles_of(a, s);
    if (found >= factor * cycles) return;
    best = a;
    cycles = found;
  };
  if (4 * 16 * inputs * outputs <= max_bytes_2) consider(conv_algorithm::winograd2, 1);
  if (4 * 36 * inputs * outputs <= max_bytes_4 && rows * columns >= 100) consider(conv_algorithm::winograd4, worth_4);
  return best;
}

double expected_gain(conv_algorithm a, std::int64_t inputs, std::int64_t outputs, std::int64_t rows,
                     std::int64_t columns) {
  const layer_size s{inputs, outputs, rows, columns};
  return cycles_of(conv_algorithm::direct, s) / cycles_of(a, s);
}

}
