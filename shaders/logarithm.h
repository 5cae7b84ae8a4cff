// SPDX-License-Identifier: MIT
// Natural logarithms of positive normal numbers, to 2 ULP also near 1, where log of GLSL and HLSL need not be: a
// polynomial in the mantissa, as in netsuke/math/exponential.hpp.
#define LOG_2 0.693147182
// The bits of sqrt(1/2): mantissas are between that and sqrt(2).
#define ROOT_HALF_BITS 1060439283u
#define MANTISSA_BITS 8388607u

// log(2^n (1 + f)).
float logarithm_of_parts(float n, float f) {
  float p = FMA(-0.0763639957, f, 0.127621993);
  p = FMA(p, f, -0.131596133);
  p = FMA(p, f, 0.142015815);
  p = FMA(p, f, -0.166234091);
  p = FMA(p, f, 0.200012416);
  p = FMA(p, f, -0.250008196);
  p = FMA(p, f, 0.333333313);
  float tail = f * f * FMA(f, p, -0.5);
  return FMA(n, 0.693145752, f + FMA(n, 1.42860677e-6, tail));
}
float logarithm(float x) {
  uint bits = AS_UINT(x) - ROOT_HALF_BITS;
  return logarithm_of_parts(float(int(bits) >> 23), AS_FLOAT((bits & MANTISSA_BITS) + ROOT_HALF_BITS) - 1.0);
}
// log(1 + u) for 0 <= u below 2^26, whose small u are not lost in the sum.
float logarithm_1_plus(float u) {
  int n = int(AS_UINT(u + 1.0) - ROOT_HALF_BITS) >> 23;
  float scale = AS_FLOAT(uint(127 - n) << 23);
  return logarithm_of_parts(float(n), FMA(u, scale, scale - 1.0));
}
