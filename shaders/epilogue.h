// SPDX-License-Identifier: MIT
// The elementwise functions of the file format (nsk::function), of four numbers.
float4 where_negative(float4 x, float4 a, float4 b) {
  return float4(x.x < 0.0 ? a.x : b.x, x.y < 0.0 ? a.y : b.y, x.z < 0.0 ? a.z : b.z, x.w < 0.0 ? a.w : b.w);
}
// erf after Abramowitz and Stegun, 7.1.26: absolute error below 1.5e-7.
float4 error_function(float4 x) {
  float4 a = abs(x), t = 1.0 / (1.0 + 0.3275911 * a);
  float4 p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  float4 e = 1.0 - p * exp(-a * a);
  return where_negative(x, -e, e);
}
// tanh that does not overflow.
float4 hyperbolic_tangent(float4 x) {
  float4 e = exp(-2.0 * abs(x)), t = (1.0 - e) / (1.0 + e);
  return where_negative(x, -t, t);
}
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
  if (FUNCTION == 19u) return 0.5 * x * (1.0 + error_function(x * 0.70710678));  // sqrt(1 / 2)
  if (FUNCTION == 20u) return where_negative(x, alpha * (exp(x) - 1.0), x);
  if (FUNCTION == 21u) return max(x, SPLAT(0.0)) + log(1.0 + exp(-abs(x)));
  if (FUNCTION == 22u) return x * x;
  if (FUNCTION == 23u) return sign_of(x);
  if (FUNCTION == 24u) return sin(x);
  if (FUNCTION == 25u) return cos(x);
  return x;
}
float activate(float x, float alpha, float beta, float slope) {
  return activate4(SPLAT(x), alpha, beta, SPLAT(slope)).x;
}
