// SPDX-License-Identifier: MIT
// Lines along one dimension whose elements, of type float32, int32 or int64, are compared.
uint type_of_line() { return pc.flags & 15u; }
uint2 element_of_line(int first, uint i) {
  return value_at(uint(first + int(i) * pc.along), type_of_line(), (pc.flags & 16u) != 0u);
}
// Where a line begins: x in the input, y in the output.
int2 first_of_line(uint number) {
  int i2 = int(number % pc.k2), i1 = int(number / pc.k2 % pc.k1), i0 = int(number / pc.k2 / pc.k1);
  return int2(int(pc.x) + i0 * pc.x0 + i1 * pc.x1 + i2 * pc.x2, int(pc.y) + i0 * pc.y0 + i1 * pc.y1 + i2 * pc.y2);
}
void set_position(int at, uint position) {
  A[2u * uint(at)] = position;
  A[2u * uint(at) + 1u] = 0u;
}
