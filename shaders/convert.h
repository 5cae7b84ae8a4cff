// SPDX-License-Identifier: MIT
// Conversions between element types: floats lose their fraction and saturate, NaN gives 0; integers wrap; boolean is
// x != 0. Integers to floats round to nearest, ties to even.

// The integer part of a float32, saturated to 64 bits.
uint2 wide_of_float(uint bits) {
  uint exponent = (bits >> 23) & 255u, mantissa = (bits & 8388607u) | 8388608u;
  bool negative = (bits >> 31) != 0u;
  if (is_nan(bits) || exponent < 127u) return uint2(0u, 0u);
  if (exponent >= 190u) return negative ? uint2(0u, 2147483648u) : uint2(4294967295u, 2147483647u);
  uint2 v = uint2(0u, 0u);
  if (exponent <= 150u) {
    v.x = mantissa >> (150u - exponent);
  } else if (exponent < 182u) {
    uint up = exponent - 150u;
    v = uint2(mantissa << up, mantissa >> (32u - up));
  } else {
    v.y = mantissa << (exponent - 182u);
  }
  return negative ? wide_negative(v) : v;
}
// An integer as a float32.
uint float_of_wide(uint2 integer) {
  if (is_zero(integer)) return 0u;
  uint2 v = wide_magnitude(integer);
  uint exponent = 190u;
  if (v.y == 0u) {
    v = uint2(0u, v.x);
    exponent -= 32u;
  }
  for (uint s = 16u; s > 0u; s = s >> 1) {
    if ((v.y >> (32u - s)) == 0u) {
      v = uint2(v.x << s, (v.y << s) | (v.x >> (32u - s)));
      exponent -= s;
    }
  }
  uint rest = v.y & 255u, magnitude = (exponent << 23) + ((v.y >> 8) & 8388607u);
  bool above_half = rest > 128u || (rest == 128u && v.x != 0u), is_half = rest == 128u && v.x == 0u;
  if (above_half || (is_half && (magnitude & 1u) != 0u)) magnitude += 1u;
  return (is_negative(integer) ? 2147483648u : 0u) | magnitude;
}
// A 64-bit integer restricted to what a type of 8, 16 or 32 bits holds.
uint2 saturated(uint2 v, uint type) {
  if (type == 6u) return v;
  uint2 low = type == 5u ? wide_of(-2147483647 - 1) : type == 4u ? wide_of(-32768) : wide_of(type == 2u ? -128 : 0);
  uint2 high = type == 5u ? wide_of(2147483647) : wide_of(type == 4u ? 32767 : type == 2u ? 127 : 255);
  return wide_less(v, low) ? low : wide_less(high, v) ? high : v;
}
// Numbers of types as in typed.h; a float32 is true where a bit beside its sign is set.
uint2 converted(uint2 v, uint from, uint to) {
  if (to == 7u) return uint2((from == 0u ? (v.x & 2147483647u) != 0u : !is_zero(v)) ? 1u : 0u, 0u);
  uint2 integer = from == 7u ? uint2(v.x != 0u ? 1u : 0u, 0u) : v;
  if (from == 0u) return to == 0u ? v : saturated(wide_of_float(v.x), to);
  return to == 0u ? uint2(float_of_wide(integer), 0u) : integer;
}
