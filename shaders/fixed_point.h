// SPDX-License-Identifier: MIT
// Numbers of 64 bits in two words, the high one in x: two's complement, 24 bits before the binary point and 40 behind it.
// Places in a texture need them: a float has too few bits for fractions of texels far from the first one.
uint2 fixed_sum(uint2 a, uint2 b) {
  uint low = a.y + b.y;
  return uint2(a.x + b.x + (low < b.y ? 1u : 0u), low);
}
uint2 fixed_negated(uint2 a) { return fixed_sum(uint2(~a.x, ~a.y), uint2(0u, 1u)); }
// n: at most 65535.
uint2 fixed_product(uint2 a, uint n) {
  uint lower = (a.y & 65535u) * n, upper = (a.y >> 16u) * n, low = lower + (upper << 16u);
  return uint2(a.x * n + (upper >> 16u) + (low < lower ? 1u : 0u), low);
}
// Number of bits up to the highest one that is set.
uint bit_length(uint v) {
  uint n = 0u;
  if (v >= 65536u) { n += 16u; v >>= 16u; }
  if (v >= 256u) { n += 8u; v >>= 8u; }
  if (v >= 16u) { n += 4u; v >>= 4u; }
  if (v >= 4u) { n += 2u; v >>= 2u; }
  return n + min(v, 2u);
}
// The nearest number that a float can hold: of 24 significant bits, the even one of two that are equally near.
uint2 fixed_rounded(uint2 a) {
  bool negative = int(a.x) < 0;
  uint2 v = a;
  if (negative) v = fixed_negated(a);
  uint bits = v.x != 0u ? 32u + bit_length(v.x) : bit_length(v.y);
  if (bits > 24u) {
    uint dropped = bits - 24u, odd = 0u;
    uint2 mask = uint2(0u, ~0u);
    if (dropped >= 32u) {
      mask.x = (1u << (dropped - 32u)) - 1u;
      odd = (v.x >> (dropped - 32u)) & 1u;
    } else {
      mask.y = (1u << dropped) - 1u;
      odd = (v.y >> dropped) & 1u;
    }
    uint2 below_half = uint2(mask.x >> 1u, (mask.y >> 1u) | (mask.x << 31u));
    v = fixed_sum(v, fixed_sum(below_half, uint2(0u, odd)));
    v = uint2(v.x & ~mask.x, v.y & ~mask.y);
  }
  if (negative) return fixed_negated(v);
  return v;
}
// The largest whole number that is not larger.
int fixed_floor(uint2 a) { return int(a.x) >> 8; }
// What is above it, in [0, 1).
float fixed_fraction(uint2 a) { return float(((a.x & 255u) << 16u) | (a.y >> 16u)) * (1.0 / 16777216.0); }
