// SPDX-License-Identifier: MIT
// The elementwise functions of the file format (nsk::function), of four numbers.
#include "functions.h"
// -1, 0 or 1.
float4 sign_of(float4 x) { return where_negative(x, SPLAT(-1.0), where_negative(-x, SPLAT(1.0), x)); }

float4 activate4(float4 x, float alpha, float beta, float4 slope) {
  if (FUNCTION == 1u) return min(max(x, SPLAT(alpha)), SPLAT(beta));
  if (FUNCTION == 2u) return where_negative(x, alpha * x, x);
  if (FUNCTION == 3u) return where_negative(x, slope * x, x);
  if (FUNCTION == 4u) return 1.0 / (1.0 + exp(-x));
  if (FUNCTION == 5u) return max(SPLAT(0.0), min(SPLAT(1.0), alpha * x + beta));
  if (FUNCTION == 6u) return x * max(SPLAT(0.0), min(SPLAT(1.0), x / 6.0 + 0.5));  // hard swish
  if (FUNCTION == 7u) return x / (1.0 + exp(-x));
  if (FUNCTION == 8u) return hyperbolic_tangent(x);
  if (FUNCTION == 9u) return exp(x);
  if (FUNCTION == 10u) return log(x);
  if (FUNCTION == 11u) return sqrt(x);
  if (FUNCTION == 12u) return 1.0 / x;
  if (FUNCTION == 13u) return -x;
  if (FUNCTION == 14u) return abs(x);
  if (FUNCTION == 15u) return floor(x);
  if (FUNCTION == 16u) return ceil(x);
  if (FUNCTION == 17u) return ROUND_EVEN(x);
  if (FUNCTION == 18u) return error_function(x);
  if (FUNCTION == 19u) return gaussian_unit(x);
  if (FUNCTION == 20u) return where_negative(x, alpha * exponential_less_one(min(x, SPLAT(0.0))), x);
  if (FUNCTION == 21u) return soft_plus(x);
  if (FUNCTION == 22u) return x * x;
  if (FUNCTION == 23u) return sign_of(x);
  if (FUNCTION == 24u) return sine(x, 0.0);
  if (FUNCTION == 25u) return sine(x, 0.25);  // a quarter turn
  return x;
}
float activate(float x, float alpha, float beta, float slope) {
  return activate4(SPLAT(x), alpha, beta, SPLAT(slope)).x;
}
