// SPDX-License-Identifier: MIT
// Output pixels of a window operator: where they are, what they read, and how four channels are stored.

// Quads of channels that the 64 threads of a group share out: the other threads take further pixels.
uint quads_of_group(uint quads) { return quads >= 8u ? 8u : quads > 2u ? 4u : quads; }

// First input row and column of the window of an output pixel; may be negative.
int2 window_of(uint oy, uint ox) {
  return int2(int(oy * ROWS(pc.stride)) - int(ROWS(pc.pad)), int(ox * COLUMNS(pc.stride)) - int(COLUMNS(pc.pad)));
}
int2 tap_of(int2 first, uint ky, uint kx) {
  return int2(first.x + int(ky * ROWS(pc.dilation)), first.y + int(kx * COLUMNS(pc.dilation)));
}
bool is_inside(int2 tap) { return tap.x >= 0 && tap.x < int(pc.ih) && tap.y >= 0 && tap.y < int(pc.iw); }
uint input_at(uint image, int2 tap) { return image + uint(tap.x) * pc.x_y + uint(tap.y) * pc.x_x; }
// Column, row and image of an output pixel; those of the one after it, without a division.
uint3 pixel_at(uint number) {
  uint rest = number / pc.ow;
  return uint3(number % pc.ow, rest % pc.oh, rest / pc.oh);
}
uint3 pixel_after(uint3 p) {
  uint x = p.x + 1u, y = x == pc.ow ? p.y + 1u : p.y;
  return uint3(x == pc.ow ? 0u : x, y == pc.oh ? 0u : y, y == pc.oh ? p.z + 1u : p.z);
}
// Places of a pixel in output and residual.
uint output_at(uint3 p) { return pc.y + p.z * pc.y_n + p.y * pc.y_y + p.x * pc.y_x; }
uint residual_at(uint3 p) { return pc.r + p.z * pc.r_n + p.y * pc.r_y + p.x * pc.r_x; }
