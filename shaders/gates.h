// SPDX-License-Identifier: MIT
// Functions of the gates of recurrent layers (nsk::recurrent_function), with their parameters a and b.
#include "functions.h"
float hyperbolic(float x) { return hyperbolic_tangent(SPLAT(x)).x; }
float gate_function(uint f, float a, float b, float x) {
  if (f == 0u) return 1.0 / (1.0 + exp(-x));
  if (f == 1u) return hyperbolic(x);
  if (f == 2u) return x > 0.0 ? x : 0.0;
  if (f == 3u) return FMA(a, x, b);
  if (f == 4u) return x < 0.0 ? a * x : x;
  if (f == 5u) return x < a ? 0.0 : x;
  if (f == 6u) return a * hyperbolic(b * x);
  if (f == 7u) return max(0.0, min(1.0, FMA(a, x, b)));
  if (f == 8u) return x > 0.0 ? x : a * exponential_less_one(SPLAT(min(x, 0.0))).x;
  if (f == 9u) return x / (1.0 + abs(x));
  return soft_plus(SPLAT(x)).x;
}
