// SPDX-License-Identifier: MIT
// Natural logarithm of a positive normal number, to 2 ULP also near 1, where log of GLSL and HLSL need not be: a
// polynomial in the mantissa, as in netsuke/math/exponential.hpp.
float logarithm(float x) {
  uint bits = AS_UINT(x) - 1060439283u;
  float n = float(int(bits) >> 23), f = AS_FLOAT((bits & 8388607u) + 1060439283u) - 1.0;
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
