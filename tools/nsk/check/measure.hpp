// SPDX-License-Identifier: MIT
#pragma once
/// Distances between a tensor of the engine and the reference's.
#include <string>
#include <vector>
#include "graph/array.hpp"

namespace nsk::tool {

/// One tensor. `relative` is max_error as a share of the reference's largest magnitude, the figure that tolerances
/// refer to; of the largest operand's magnitude where a sum or mean is as near as float32 can add such operands.
/// `local` is the same figure where the reference continued from the engine's own earlier values, -1 where
/// that was not measured; `rounding` how far, in the same measure, the reference moves when every value is off by what
/// float32 rounds, -1 where not measured; `ulp` the largest distance in units in the last place of float32 among values
/// above a thousandth of that magnitude. Integers are equal or wrong: of a tensor that holds any, `integers` counts the
/// elements and `unequal` the wrong ones, and where there are some, `relative` is wrong_integer or more; `differing`
/// are those that are not the reference's, be it by what steps before made. `reach` is the largest error of an element
/// beside what its own window holds (receptive_fields.hpp), -1 where not measured.
struct comparison {
  std::string name, step_name;
  int step = -1;  ///< -1: a model output
  double max_error = 0, mean_error = 0, largest = 0, relative = 0, local = -1, rounding = -1, ulp = 0, reach = -1;
  std::int64_t integers = 0, unequal = 0, differing = 0;
  bool bytes = false;  ///< integers of 8 bits, which stand for real numbers
};

/// Puts the largest relative errors first.
void sort_worst_first(std::vector<comparison>& rows);

inline constexpr std::int64_t all_elements = std::int64_t{1} << 62;
/// What one wrong integer counts as, however small a share of the magnitudes it is: more than any tolerance for
/// numbers of float32, and the largest error that rounding is taken to explain.
inline constexpr double wrong_integer = 1e-2;

/// What float32 may lose near its smallest normal number, 2^-126: numbers below it have few digits, and functions are
/// exactly 0 there (docs/reference/conventions.md).
inline constexpr double no_difference = 0x1p-125;

/// Returns the largest finite magnitude; beyond the numbers of `type`, float32 or wider, values count as infinite.
double largest_of(const array& a, element type);

/// Returns the distance of a number of the engine from the reference's, infinite where one of them alone is not finite.
/// Differences up to `no_difference` are none. A sum that overflows ends as the infinity of either sign, or as none:
/// whichever of its parts overflowed first decides. All of them agree with a finite reference that float32 does not
/// have; nothing finite does.
double difference(double got, double reference, element type);

/// Compares element by element, in row-major order; the shapes need not agree, the counts do. `operands` is the largest
/// magnitude of what was added up: where the sum is small beside them, its rounding is a share of theirs. Of tensors
/// with more than `sampled` elements about as many are compared, whole rows of the last axis, spread over the tensor;
/// of integers all.
comparison measure(const array& got, const array& wanted, double operands = 0, std::int64_t sampled = all_elements);

/// measure() where axis d of `got` is axis order[d] of `wanted`.
comparison measure(const array& got, const array& wanted, const std::vector<int>& order, double operands,
                   std::int64_t sampled = all_elements);

/// Returns 0, 1, ..., rank - 1: the order in which axis d is axis d.
std::vector<int> same_order(std::size_t rank);

}
