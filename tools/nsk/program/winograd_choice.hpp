// SPDX-License-Identifier: MIT
#pragma once
/// Where Winograd's algorithms pay on a CPU.
#include <cstdint>

#include <netsuke/format/params.hpp>

namespace nsk::tool {

/// Whether Winograd's algorithms compute such convolutions: 3x3, stride 1, neither dilated nor in groups.
bool winograd_fits(const window& w, std::int64_t groups);

/// Returns the algorithm that is expected to be the fastest for `inputs` and `outputs` channels and a result of `rows`
/// by `columns` in float32. It depends on sizes alone, so that a file computes the same bits on every machine.
conv_algorithm fastest_algorithm(const window& w, std::int64_t groups, std::int64_t inputs, std::int64_t outputs,
                                 std::int64_t rows, std::int64_t columns);

/// Returns how many times as fast as directly `a` is expected to compute such a layer on AVX2; 1 for direct.
double expected_gain(conv_algorithm a, std::int64_t inputs, std::int64_t outputs, std::int64_t rows,
                     std::int64_t columns);

}
