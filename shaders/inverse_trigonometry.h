// SPDX-License-Identifier: MIT
// Inverse sine, cosine and tangent in radians, by the polynomials of netsuke/math/inverse_trigonometry.hpp.
#define HALF_PI 1.57079637
// What pi/2 is more than that.
#define HALF_PI_REST -4.37113883e-08

// asin(s), of which s is the magnitude up to 1/2 and sqrt((1 - magnitude) / 2) beyond, where `beyond` is negative.
float4 arcsine_part(float4 magnitude, float4 beyond) {
  float4 rest = max(FMA(magnitude, SPLAT(-0.5), SPLAT(0.5)), SPLAT(0.0));
  float4 square = where_negative(beyond, rest, magnitude * magnitude), s = where_negative(beyond, sqrt(rest), magnitude);
  float4 p = FMA(SPLAT(0.0421583056), square, SPLAT(0.0241847783));
  p = FMA(p, square, SPLAT(0.0454691499));
  p = FMA(p, square, SPLAT(0.0749530941));
  p = FMA(p, square, SPLAT(0.166667521));
  return FMA(s * square, p, s);
}
// HLSL and GLSL leave open what asin and acos make of numbers outside [-1, 1]: none here.
float4 inside_one(float4 magnitude, float4 y) { return where_negative(1.0 - magnitude, SPLAT(NOT_A_NUMBER), y); }
float4 arcsine(float4 x) {
  float4 magnitude = abs(x), beyond = 0.5 - magnitude, part = arcsine_part(magnitude, beyond);
  float4 y = where_negative(beyond, HALF_PI - (2.0 * part - HALF_PI_REST), part);
  return inside_one(magnitude, where_negative(x, -y, y));
}
float4 arccosine(float4 x) {
  float4 magnitude = abs(x), beyond = 0.5 - magnitude, part = arcsine_part(magnitude, beyond), twice = 2.0 * part;
  float4 far = where_negative(x, 2.0 * HALF_PI - (twice - 2.0 * HALF_PI_REST), twice);
  float4 near = HALF_PI - (where_negative(x, -part, part) - HALF_PI_REST);
  return inside_one(magnitude, where_negative(beyond, far, near));
}
// atan(t) for 0 <= t <= 1, or pi/2 less that where `above` is negative.
float4 arctangent_part(float4 t, float4 above) {
  float4 square = t * t, p = FMA(SPLAT(-0.00179040583), square, SPLAT(0.0108996965));
  p = FMA(p, square, SPLAT(-0.0311489366));
  p = FMA(p, square, SPLAT(0.0579272285));
  p = FMA(p, square, SPLAT(-0.0840158165));
  p = FMA(p, square, SPLAT(0.109515063));
  p = FMA(p, square, SPLAT(-0.142641023));
  p = FMA(p, square, SPLAT(0.19998534));
  p = FMA(p, square, SPLAT(-0.333332986));
  float4 angle = FMA(t * square, p, t);
  return where_negative(above, HALF_PI - (angle - HALF_PI_REST), angle);
}
float4 arctangent(float4 x) {
  float4 magnitude = abs(x), above = 1.0 - magnitude;
  float4 y = arctangent_part(where_negative(above, 1.0 / magnitude, magnitude), above);
  return where_negative(x, -y, y);
}
#define HAS_SIGN(x) (AS_UINT(x) >= 0x80000000u)
// The angle of the point (x, y): signs count, also those of zeros; of two infinities or zeros it is that of a diagonal or 0.
float angle_of(float y, float x) {
  float high = abs(y), wide = abs(x), longer = max(high, wide), shorter = min(high, wide);
  float t = longer == shorter ? (longer == 0.0 ? 0.0 : 1.0) : shorter / longer;
  float angle = arctangent_part(SPLAT(t), SPLAT(high > wide ? -1.0 : 1.0)).x;
  if (HAS_SIGN(x)) angle = 2.0 * HALF_PI - (angle - 2.0 * HALF_PI_REST);
  if (HAS_SIGN(y)) angle = -angle;
  return x != x || y != y ? NOT_A_NUMBER : angle;
}
