// SPDX-License-Identifier: MIT
// Where a line of a reduction begins: x in the input, y in the output; and its number in the innermost kept dimension.
int2 line_of(uint number) {
  int i2 = int(number % pc.k2), i1 = int(number / pc.k2 % pc.k1), i0 = int(number / pc.k2 / pc.k1);
  return int2(int(pc.x) + i0 * pc.x0 + i1 * pc.x1 + i2 * pc.x2, int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2);
}
