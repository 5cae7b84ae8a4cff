// SPDX-License-Identifier: MIT
/// Layers whose weights ONNX Runtime stores in few bits: they are widened, so that float32 is computed, which is nearer
/// to the network before it was quantised than ONNX Runtime, where it quantises what it multiplies them with.
#include <functional>

#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

/// Number `i` of `bits` each, first ones in low bits.
std::int64_t packed(const array& a, std::int64_t i, std::int64_t bits) {
  const std::int64_t per_byte = 8 / bits;
  return (a.integer(i / per_byte) >> (bits * (i % per_byte))) & ((1 << bits) - 1);
}

/// Weights of MatMulNBits by row and column of the matrix that is stored.
struct blocks {
  std::int64_t rows, columns, bits, length, count;  ///< blocks: `count` of `length` numbers in a row
};

/// The zero point of a block.
std::function<double(std::int64_t, std::int64_t)> zero_points(const speller& s, const blocks& b) {
  if (!s.has(3)) return [&b](std::int64_t, std::int64_t) { return static_cast<double>(1 << (b.bits - 1)); };
  const array& zeros = s.constant(3);
  const std::int64_t bytes = (b.count * b.bits + 7) / 8;
  if (zeros.type != element::u8) {
    if (zeros.count() != b.rows * b.count) s.refuse("it has too few zero points. The file is damaged");
    return [&](std::int64_t row, std::int64_t block) { return zeros.number(row * b.count + block); };
  }
  if (zeros.count() != b.rows * bytes) s.refuse("it has too few zero points. The file is damaged");
  return [&, bytes](std::int64_t row, std::int64_t block) {
    return static_cast<double>(packed(zeros, row * bytes * (8 / b.bits) + block, b.bits));
  };
}

/// A B^T, B in blocks of 2, 4 or 8 bits with a scale each.
void few_bit_product(speller& s) {
  const node& n = s.op();
  blocks b = {n.integer("N", 0), n.integer("K", 0), n.integer("bits", 4), n.integer("block_size", 0), 0};
  const array &stored = s.constant(1), &scales = s.constant(2);
  constexpr std::int64_t max_length = std::int64_t{1} << 31;
  if (b.rows < 1 || b.columns < 1 || b.rows > max_length || b.columns > max_length || b.length < 1 ||
      b.length > max_length || (b.bits != 2 && b.bits != 4 && b.bits != 8) || n.integer("weight_prepacked", 0) != 0)
    s.refuse("its weights must be blocks of 2, 4 or 8 bits, and not packed for a device");
  b.count = (b.columns + b.length - 1) / b.length;
  const std::int64_t in_row = b.count * b.length;
  if (stored.type != element::u8 || b.length * b.bits % 8 != 0 || in_row > max_length ||
      stored.count() != b.rows * (in_row * b.bits / 8) || scales.count() != b.rows * b.count)
    s.refuse("its weights or scales have another size than N, K, bits and block_size say. The file is damaged");
  const array* groups = s.has(4) ? &s.constant(4) : nullptr;
  if (groups != nullptr && groups->count() < b.columns) s.refuse("its g_idx is too short. The file is damaged");
  const auto zero_of = zero_points(s, b);
  array wide(element::f32, {b.columns, b.rows});
  for (std::int64_t row = 0; row < b.rows; ++row)
    for (std::int64_t k = 0; k < b.columns; ++k) {
      const std::int64_t block = groups != nullptr ? groups->integer(k) : k / b.length;
      if (block < 0 || block >= b.count) s.refuse("its g_idx names a block that does not exist. The file is damaged");
      const double q = static_cast<double>(packed(stored, row * in_row + k, b.bits));
      wide.set(k * b.rows + row, (q - zero_of(row, block)) * scales.number(row * b.count + block));
    }
  const value_id weights = s.keep(std::move(wide));
  if (!s.has(5)) return s.give(0, "MatMul", {s.in(0), weights});
  s.give(0, "Add", {s.add("MatMul", {s.in(0), weights}), s.in(5)});
}

/// Stored weights [directions, rows, columns] as those of LSTM, which has them transposed.
value_id transposed_weights(speller& s, std::size_t weights, std::size_t scale) {
  const array &w = s.constant(weights), &scales = s.constant(scale), &zeros = s.constant(scale + 1);
  if (w.shape.size() != 3) s.refuse("its weights must have three axes");
  const std::int64_t directions = w.shape[0], rows = w.shape[1], columns = w.shape[2];
  const auto fits = [&](const array& a) { return a.count() == directions || a.count() == directions * columns; };
  if (!fits(scales) || !fits(zeros)) s.refuse("its scales and zero points must be one per direction, or per column");
  const auto of = [&](const array& a, std::int64_t d, std::int64_t c) {
    return a.number(a.count() == directions ? d : d * columns + c);
  };
  array wide(element::f32, {directions, columns, rows});
  for (std::int64_t d = 0; d < directions; ++d)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        wide.set((d * columns + c) * rows + r,
                 (w.number((d * rows + r) * columns + c) - of(zeros, d, c)) * of(scales, d, c));
  return s.keep(std::move(wide));
}

void quantized_lstm(speller& s) {
  std::vector<value_id> inputs = {s.in(0), transposed_weights(s, 1, 8), transposed_weights(s, 2, 10)};
  for (std::size_t i = 3; i < 8; ++i) inputs.push_back(s.maybe(i));
  node n = s.op();
  n.op = "LSTM";
  n.domain.clear();
  n.version = 14;
  n.inputs = std::move(inputs);
  s.add(std::move(n));
}

}

void add_weight_spellings(spelling_table& t) {
  t["com.microsoft.MatMulNBits"] = few_bit_product;
  t["com.microsoft.DynamicQuantizeLSTM"] = quantized_lstm;
}

}
