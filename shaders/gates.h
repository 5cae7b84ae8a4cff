// SPDX-License-Identifier: MIT
// Functions of the gates of recurrent layers (nsk::recurrent_function), with their parameters a and b.
float hyperbolic(float x) {
  float e = exp(-2.0 * abs(x)), square = x * x;
  // Taylor's series near 0, where 1 - e loses digits.
  float small = x * FMA(square, FMA(square, FMA(square, -0.0539682540, 0.133333333), -0.333333333), 1.0);
  float large = (1.0 - e) / (1.0 + e);
  if (square < 0.015625) return small;
  return x < 0.0 ? -large : large;
}
float gate_function(uint f, float a, float b, float x) {
  if (f == 0u) return 1.0 / (1.0 + exp(-x));
  if (f == 1u) return hyperbolic(x);
  if (f == 2u) return x > 0.0 ? x : 0.0;
  if (f == 3u) return FMA(a, x, b);
  if (f == 4u) return x < 0.0 ? a * x : x;
  if (f == 5u) return x < a ? 0.0 : x;
  if (f == 6u) return a * hyperbolic(b * x);
  if (f == 7u) return max(0.0, min(1.0, FMA(a, x, b)));
  if (f == 8u) return x > 0.0 ? x : a * (exp(min(x, 0.0)) - 1.0);
  if (f == 9u) return x / (1.0 + abs(x));
  return max(x, 0.0) + log(1.0 + exp(-abs(x)));
}
