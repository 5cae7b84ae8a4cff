// SPDX-License-Identifier: MIT
// What the 64 threads of a group find together: a tree of fixed shape, so that every device adds in the same order.
GROUP_SHARED float partial[64];
float joined(float a, float b, uint kind) {
  return kind == 0u ? a + b : kind == 1u ? (b > a ? b : a) : kind == 2u ? (b < a ? b : a) : a * b;
}
// Sum (kind 0), largest (1), smallest (2) or product (3) of one number per thread.
float of_group(float v, uint lane, uint kind) {
  BARRIER;
  partial[lane] = v;
  BARRIER;
  for (uint s = 32u; s > 0u; s = s >> 1) {
    if (lane < s) partial[lane] = joined(partial[lane], partial[lane + s], kind);
    BARRIER;
  }
  return partial[0];
}
