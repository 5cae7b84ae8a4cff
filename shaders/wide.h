// SPDX-License-Identifier: MIT
// 64-bit integers as two words, low word first, in two's complement: shader model 5 has none.
uint2 wide_of(int v) { return uint2(uint(v), v < 0 ? 4294967295u : 0u); }
bool is_zero(uint2 v) { return (v.x | v.y) == 0u; }
bool is_negative(uint2 v) { return (v.y >> 31) != 0u; }
bool wide_equal(uint2 a, uint2 b) { return a.x == b.x && a.y == b.y; }
bool magnitude_less(uint2 a, uint2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
bool wide_less(uint2 a, uint2 b) { return int(a.y) < int(b.y) || (a.y == b.y && a.x < b.x); }
uint2 wide_sum(uint2 a, uint2 b) {
  uint low = a.x + b.x;
  return uint2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
uint2 wide_negative(uint2 v) { return wide_sum(uint2(~v.x, ~v.y), uint2(1u, 0u)); }
uint2 wide_magnitude(uint2 v) { return is_negative(v) ? wide_negative(v) : v; }
uint2 wide_difference(uint2 a, uint2 b) { return wide_sum(a, wide_negative(b)); }

// The 64 bits of a product of two words, from products of 16-bit halves.
uint2 word_product(uint a, uint b) {
  uint a0 = a & 65535u, a1 = a >> 16, b0 = b & 65535u, b1 = b >> 16;
  uint cross0 = a0 * b1, cross1 = a1 * b0, carried = ((a0 * b0) >> 16) + (cross0 & 65535u) + (cross1 & 65535u);
  return uint2(a * b, a1 * b1 + (cross0 >> 16) + (cross1 >> 16) + (carried >> 16));
}
uint2 wide_product(uint2 a, uint2 b) {
  uint2 p = word_product(a.x, b.x);
  return uint2(p.x, p.y + a.x * b.y + a.y * b.x);
}
// Quotient (x, y) and remainder (z, w) of magnitudes; the divisor is not 0.
uint4 magnitude_quotient(uint2 a, uint2 b) {
  if ((a.y | b.y) == 0u) return uint4(a.x / b.x, 0u, a.x % b.x, 0u);
  uint2 q = uint2(0u, 0u), r = uint2(0u, 0u);
  for (int i = 63; i >= 0; --i) {
    uint next = (i >= 32 ? a.y >> uint(i - 32) : a.x >> uint(i)) & 1u;
    bool overflow = is_negative(r);
    r = uint2((r.x << 1) | next, (r.y << 1) | (r.x >> 31));
    q = uint2(q.x << 1, (q.y << 1) | (q.x >> 31));
    if (overflow || !magnitude_less(r, b)) {
      r = wide_difference(r, b);
      q.x |= 1u;
    }
  }
  return uint4(q.x, q.y, r.x, r.y);
}
