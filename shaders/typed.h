// SPDX-License-Identifier: MIT
// Elements of any type but float16. Types are numbers of nsk::dtype: 0 float32, 2 int8, 3 uint8, 4 int16, 5 int32,
// 6 int64, 7 boolean. A value is two words: integers are extended to 64 bits, a float32 is in the low word.
// Comparisons work on bits, because shaders need not know NaN and denormal numbers.
uint word_at(uint i, bool in_weights) {
  if (in_weights) return W[i];
  return A[i];
}
uint2 value_at(uint i, uint type, bool in_weights) {
  if (type == 6u) return uint2(word_at(2u * i, in_weights), word_at(2u * i + 1u, in_weights));
  if (type == 0u) return uint2(word_at(i, in_weights), 0u);
  if (type == 5u) return wide_of(int(word_at(i, in_weights)));
  if (type == 4u) return wide_of(int(word_at(i >> 1, in_weights) << (16u - 16u * (i & 1u))) >> 16);
  uint shifted = word_at(i >> 2, in_weights) << (24u - 8u * (i & 3u));
  if (type == 2u) return wide_of(int(shifted) >> 24);
  return uint2(shifted >> 24, 0u);
}

// Above the bits of infinity, without the sign.
bool is_nan(uint bits) { return (bits & 2147483647u) > 2139095040u; }
// An integer that is as large among integers as a float32 among floats; NaN has none.
int order_of(uint bits) {
  uint magnitude = bits & 2147483647u;
  return bits == magnitude ? int(magnitude) : -int(magnitude);
}
bool value_less(uint2 a, uint2 b, uint type) {
  if (type != 0u) return wide_less(a, b);
  return !is_nan(a.x) && !is_nan(b.x) && order_of(a.x) < order_of(b.x);
}
bool value_equal(uint2 a, uint2 b, uint type) {
  if (type != 0u) return wide_equal(a, b);
  return !is_nan(a.x) && !is_nan(b.x) && order_of(a.x) == order_of(b.x);
}
