// SPDX-License-Identifier: MIT
#pragma once
/// Operations whose result can be computed some rows at a time, each row with the bits that it has in the whole.
#include <cstdint>
#include "program/program.hpp"

namespace nsk::tool {

/// Rows [first, end) of an image [1, channels, rows, columns].
struct row_range {
  std::int64_t first = 0, end = 0;
  std::int64_t count() const { return end - first; }
  bool operator==(const row_range& other) const { return first == other.first && end == other.end; }
};

/// Whether rows of the result are made of as many rows of the operands, or of windows of them: convolutions, pools and
/// resampling of one image, and operations on each element.
bool works_by_rows(const program& p, const operation& o);
/// Whether an operation has windows of rows and columns, or resamples them, so that its operand is an image.
bool has_window(const operation& o);
/// Values other than constants that an operation reads: its inputs, then its residual.
std::vector<int> operands_of(const program& p, const operation& o);
/// Whether operand `v` has a row for each row, or window of rows, of the result; others are read whole.
bool is_read_by_rows(const program& p, const operation& o, int v);
/// The rows of operand `v` that rows of the result are made of, those around the image left out.
row_range rows_read(const program& p, const operation& o, int v, row_range of_result);
/// The last row of operand `v` that rows of the result up to `end` are made of: less than 0 where it is one above the
/// image, as it may be if `end` is.
std::int64_t last_row_read(const program& p, const operation& o, int v, std::int64_t end);
/// Rows at whose multiples a result may be cut: 4 where the cells of Winograd's algorithms may be that large.
std::int64_t row_unit(const operation& o);
/// The operation that computes these rows alone. Its operands become those rows of them that rows_read says.
operation band_of(const program& p, const operation& o, row_range of_result);

}
