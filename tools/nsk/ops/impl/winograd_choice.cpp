// SPDX-License-Identifier: MIT
#include "ops/impl/winograd_choice.hpp"

namespace nsk::tool {

bool winograd_fits(const window& w, std::int64_t groups) {
  return w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 && w.dilation_h == 1 &&
         w.dilation_w == 1 && groups == 1;
}

conv_algorithm fastest_algorithm(const window& w, std::int64_t groups, std::int64_t inputs, std::int64_t outputs,
                                 std::int64_t rows, std::int64_t columns) {
  if (!winograd_fits(w, groups) || inputs < 16 || outputs < 16) return conv_algorithm::direct;
  // F(4x4) pays from maps of three tiles on; its weights are 4 times a direct convolution's and must stay out of DRAM
  const std::int64_t weights = inputs * outputs * 9;
  const double waste =
      static_cast<double>((rows + 3) / 4 * 4 * ((columns + 3) / 4 * 4)) / static_cast<double>(rows * columns);
  if (weights * 4 * 4 <= (std::int64_t{16} << 20) && waste <= 1.4 && rows * columns >= 100)
    return conv_algorithm::winograd4;
  if (rows * columns >= 36 && weights * 16 * 4 / 9 <= (std::int64_t{20} << 20)) return conv_algorithm::winograd2;
  return conv_algorithm::direct;
}

}
