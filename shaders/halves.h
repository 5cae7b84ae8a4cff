// SPDX-License-Identifier: MIT
// Activations as 16-bit floats, two per word; indices count 16-bit elements. Computed in float32, rounded here to the
// nearest, because devices differ in how they round when they pack. What does not fit becomes the largest or the
// smallest number, so that a mask of 1e8 still is a mask; NaN stays.
float packed_at(uint i) { return UNPACK_HALVES(A[i >> 1] >> ((i & 1u) * 16u)).x; }
// Four of them, or the first two, from a multiple of two on.
float4 halves_at(uint i, bool four) {
  float2 a = UNPACK_HALVES(A[i >> 1]);
  if (!four) return float4(a.x, a.y, 0.0, 0.0);
  float2 b = UNPACK_HALVES(A[(i >> 1) + 1u]);
  return float4(a.x, a.y, b.x, b.y);
}
#define LARGEST_HALF 65504.0
// Of the last bit that a 16-bit float keeps: half of it, less one, which with the bit itself rounds ties to even.
#define HALF_A_STEP 4095u
#define KEPT_BITS 4294959104u
float rounded_to_half(float x) {
  uint u = AS_UINT(x);
  if (abs(x) <= LARGEST_HALF) return AS_FLOAT((u + HALF_A_STEP + ((u >> 13) & 1u)) & KEPT_BITS);
  return x > LARGEST_HALF ? LARGEST_HALF : x < -LARGEST_HALF ? -LARGEST_HALF : x;
}
void set_halves(uint i, float4 v, bool four) {
  A[i >> 1] = PACK_HALVES(rounded_to_half(v.x), rounded_to_half(v.y));
  if (four) A[(i >> 1) + 1u] = PACK_HALVES(rounded_to_half(v.z), rounded_to_half(v.w));
}
