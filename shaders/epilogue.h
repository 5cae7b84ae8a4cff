// SPDX-License-Identifier: MIT
// The elementwise functions of the file format (nsk::function), of four numbers. With EVERY_FUNCTION also those that stand
// rarely behind a sum, which would make each kernel larger by a tenth.
#include "functions.h"
#ifdef EVERY_FUNCTION
#include "hyperbolic.h"
#include "inverse_trigonometry.h"
#endif
// -1, 0 or 1.
float4 sign_of(float4 x) { return where_negative(x, SPLAT(-1.0), where_negative(-x, SPLAT(1.0), x)); }

float4 activated(uint function, float4 x, float alpha, float beta, float4 slope) {
  if (function == 1u) return min(max(x, SPLAT(alpha)), SPLAT(beta));
  if (function == 2u) return where_negative(x, alpha * x, x);
  if (function == 3u) return where_negative(x, slope * x, x);
  if (function == 4u) return 1.0 / (1.0 + exp(-x));
  if (function == 5u) return max(SPLAT(0.0), min(SPLAT(1.0), alpha * x + beta));
  if (function == 6u) return x * max(SPLAT(0.0), min(SPLAT(1.0), x / 6.0 + 0.5));  // hard swish
  if (function == 7u) return x / (1.0 + exp(-x));
  if (function == 8u) return hyperbolic_tangent(x);
  if (function == 9u) return exp(x);
  if (function == 10u) return log(x);
  if (function == 11u) return sqrt(x);
  if (function == 12u) return 1.0 / x;
  if (function == 13u) return -x;
  if (function == 14u) return abs(x);
  if (function == 15u) return floor(x);
  if (function == 16u) return ceil(x);
  if (function == 17u) return ROUND_EVEN(x);
  if (function == 18u) return error_function(x);
  if (function == 19u) return gaussian_unit(x);
  if (function == 20u) return where_negative(x, alpha * exponential_less_one(min(x, SPLAT(0.0))), x);
  if (function == 21u) return soft_plus(x);
  if (function == 22u) return x * x;
  if (function == 23u) return sign_of(x);
  if (function == 24u) return sine(x, 0.0);
  if (function == 25u) return sine(x, 0.25);  // a quarter turn
#ifdef EVERY_FUNCTION
  if (function == 26u) return arcsine(x);
  if (function == 27u) return arccosine(x);
  if (function == 28u) return arctangent(x);
  if (function == 29u) return hyperbolic_sine(x);
  if (function == 30u) return hyperbolic_cosine(x);
  if (function == 31u) return EACH_OF_FOUR(inverse_hyperbolic_sine, x);
  if (function == 32u) return EACH_OF_FOUR(inverse_hyperbolic_cosine, x);
  if (function == 33u) return EACH_OF_FOUR(inverse_hyperbolic_tangent, x);  // 33: function::atanh
#endif
  return x;
}
float4 activate4(float4 x, float alpha, float beta, float4 slope) {
  return activated(FUNCTION, x, alpha, beta, slope);
}
float activate(float x, float alpha, float beta, float slope) {
  return activate4(SPLAT(x), alpha, beta, SPLAT(slope)).x;
}
