// SPDX-License-Identifier: MIT
// Functions that are accurate where those of GLSL and HLSL need not be: near 0, and where they cancel.
float4 where_negative(float4 x, float4 a, float4 b) {
  return float4(x.x < 0.0 ? a.x : b.x, x.y < 0.0 ? a.y : b.y, x.z < 0.0 ? a.z : b.z, x.w < 0.0 ? a.w : b.w);
}
// Below this magnitude the first terms of Taylor's series are enough.
#define SMALL SPLAT(0.125)

// erf(x) = x (1 + P(x^2)) near 0, elsewhere 1 - exp(-t Q(t)): the polynomials of netsuke/math/error_function.hpp.
float4 error_function(float4 x) {
  float4 a = abs(x), t = min(a, SPLAT(4.25)), square = a * a;
  float4 q = FMA(SPLAT(-8.77899424e-07), t, SPLAT(3.11111799e-05));
  q = FMA(q, t, SPLAT(-0.000472546526));
  q = FMA(q, t, SPLAT(0.00419182796));
  q = FMA(q, t, SPLAT(-0.024867015));
  q = FMA(q, t, SPLAT(0.107478455));
  q = FMA(q, t, SPLAT(0.634421825));
  q = FMA(q, t, SPLAT(1.12882268));
  float4 p = FMA(SPLAT(-0.000605344598), square, SPLAT(0.00500434591));
  p = FMA(p, square, SPLAT(-0.0267733987));
  p = FMA(p, square, SPLAT(0.112819783));
  p = FMA(p, square, SPLAT(-0.376125067));
  p = FMA(p, square, SPLAT(0.128379151));
  float4 e = where_negative(a - 0.9, FMA(a, p, a), 1.0 - exp(-t * q));  // 0.9: where one gets better than the other
  return where_negative(x, -e, e);
}
// x times the normal distribution function of x, whose values far below 0 do not cancel.
float4 gaussian_unit(float4 x) {
  float4 a = min(abs(x), SPLAT(6.0));
  float4 q = FMA(SPLAT(-1.84717508e-09), a, SPLAT(6.90117901e-08));
  q = FMA(q, a, SPLAT(-1.140893e-06));
  q = FMA(q, a, SPLAT(1.09084785e-05));
  q = FMA(q, a, SPLAT(-6.48593559e-05));
  q = FMA(q, a, SPLAT(0.00021951372));
  q = FMA(q, a, SPLAT(-3.26651789e-05));
  q = FMA(q, a, SPLAT(-0.00479250308));
  q = FMA(q, a, SPLAT(0.0363422856));
  q = FMA(q, a, SPLAT(0.318308145));
  q = FMA(q, a, SPLAT(0.797884703));
  float4 tail = 0.5 * exp(-a * q);
  return where_negative(x + 6.0, SPLAT(0.0), x * where_negative(x, tail, 1.0 - tail));
}
// tanh that does not overflow.
float4 hyperbolic_tangent(float4 x) {
  float4 e = exp(-2.0 * abs(x)), square = x * x, t = (1.0 - e) / (1.0 + e);
  // 1/3, 2/15, 17/315
  float4 series = FMA(square, FMA(square, FMA(square, SPLAT(-0.053968254), SPLAT(0.133333333)), SPLAT(-0.333333333)), SPLAT(1.0));
  return where_negative(abs(x) - SMALL, x * series, where_negative(x, -t, t));
}
// e^x - 1 for x <= 0.
float4 exponential_less_one(float4 x) {
  // 1/120, 1/24, 1/6, 1/2
  float4 series = FMA(x, FMA(x, FMA(x, FMA(x, SPLAT(0.00833333333), SPLAT(0.0416666667)), SPLAT(0.166666667)), SPLAT(0.5)), SPLAT(1.0));
  return where_negative(abs(x) - SMALL, x * series, exp(x) - 1.0);
}
// log(1 + e^x).
float4 soft_plus(float4 x) {
  float4 e = exp(-abs(x));
  // log(1 + e) to the term e^6 / 6
  float4 series = FMA(e, FMA(e, FMA(e, FMA(e, FMA(e, SPLAT(-0.166666667), SPLAT(0.2)), SPLAT(-0.25)), SPLAT(0.333333333)), SPLAT(-0.5)), SPLAT(1.0));
  return max(x, SPLAT(0.0)) + where_negative(e - SMALL, e * series, log(1.0 + e));
}
// sin(x + 2 pi shift): x is reduced to turns in three steps, then Taylor's series goes as far as c^13.
float4 sine(float4 x, float shift) {
  float4 n = ROUND_EVEN(x * 0.159154943);  // 1 / (2 pi)
  // 2 pi in parts whose products with n are exact
  float4 rest = FMA(n, SPLAT(-6.28125), x);
  rest = FMA(n, SPLAT(-0.00193405151), rest);
  rest = FMA(n, SPLAT(-1.25566589e-06), rest);
  float4 c = rest * 0.159154943 + shift;
  c = c - ROUND_EVEN(c);
  float4 folded = where_negative(c, -0.5 - c, 0.5 - c);  // beyond a quarter turn the sine comes back
  c = where_negative(abs(c) - 0.25, c, folded);
  float4 y = c * c, p = FMA(SPLAT(3.81995258), y, SPLAT(-15.0946426));  // coefficients as in random.comp
  p = FMA(p, y, SPLAT(42.0586939));
  p = FMA(p, y, SPLAT(-76.7058598));
  p = FMA(p, y, SPLAT(81.6052493));
  p = FMA(p, y, SPLAT(-41.3417022));
  return FMA(p, y, SPLAT(6.28318531)) * c;
}
