// SPDX-License-Identifier: MIT
// Hyperbolic sine and cosine, and the inverses of all three, as in netsuke/math/hyperbolic.hpp.
#include "logarithm.h"
// e^x / 2, which is finite a little further than e^x.
float4 exponential_by_two(float4 x) {
  float4 root = exp(0.5 * x);
  return 0.5 * root * root;
}
// A polynomial up to 1, beyond it e^|x| / 2 less its reciprocal.
float4 hyperbolic_sine(float4 x) {
  float4 magnitude = abs(x), square = magnitude * magnitude;
  float4 p = FMA(SPLAT(2.78221319e-06), square, SPLAT(0.000198428956));
  p = FMA(p, square, SPLAT(0.00833331048));
  p = FMA(p, square, SPLAT(0.166666672));
  float4 far = exponential_by_two(magnitude);
  float4 y = where_negative(1.0 - magnitude, far - 0.25 / far, FMA(magnitude * square, p, magnitude));
  return where_negative(x, -y, y);
}
float4 hyperbolic_cosine(float4 x) {
  float4 far = exponential_by_two(abs(x));
  return far + 0.25 / far;
}
// log(1 + u) with u = x + x^2 / (1 + sqrt(1 + x^2)); from 4096 on it is log(2 x).
float inverse_hyperbolic_sine(float x) {
  float magnitude = abs(x), a = min(magnitude, 4096.0), square = a * a;
  float y = logarithm_1_plus(a + square / (1.0 + sqrt(1.0 + square)));
  if (magnitude > 4096.0) y = logarithm(magnitude) + LOG_2;
  if (magnitude > LARGEST || magnitude != magnitude) y = magnitude;
  return x < 0.0 ? -y : y;
}
// log(1 + u) with u = t + sqrt(t^2 + 2 t), t = x - 1.
float inverse_hyperbolic_cosine(float x) {
  float t = min(max(x, 1.0), 4096.0) - 1.0, y = logarithm_1_plus(t + sqrt(FMA(t, t, t + t)));
  if (x > 4096.0) y = logarithm(x) + LOG_2;
  if (x > LARGEST) y = x;
  return x >= 1.0 ? y : NOT_A_NUMBER;
}
// log(1 + 2 x / (1 - x)) / 2.
float inverse_hyperbolic_tangent(float x) {
  float magnitude = abs(x), a = min(magnitude, 0.99999994), y = 0.5 * logarithm_1_plus((a + a) / (1.0 - a));
  if (magnitude == 1.0) y = INFINITE;
  if (!(magnitude <= 1.0)) y = NOT_A_NUMBER;
  return x < 0.0 ? -y : y;
}
#define EACH_OF_FOUR(f, x) float4(f(x.x), f(x.y), f(x.z), f(x.w))
