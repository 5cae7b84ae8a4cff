// SPDX-License-Identifier: MIT
// Cells of Winograd's convolution, 3 x 3 with stride 1: PIXELS x PIXELS outputs, which read SIDE x SIDE inputs and become
// as many points (include/netsuke/kernels/product/winograd_tile.hpp has the matrices). A group of threads transforms ITEMS
// quads of channels: SIDE threads a column each, then a row each of what they left in group memory. Scratch holds float4
// [point][cell][quad]; pc.count are cells.
#define SIDE uint(PIXELS + 2)
#define ITEMS uint(64 / (PIXELS + 2))
GROUP_SHARED float4 between[(PIXELS + 2) * (PIXELS + 2) * (64 / (PIXELS + 2))];  // [row][column][item]
// First output pixel of a cell: column, row, image.
uint3 first_pixel(uint cell) {
  uint across = (pc.ow + SIDE - 3u) / (SIDE - 2u), down = (pc.oh + SIDE - 3u) / (SIDE - 2u), rest = cell / across;
  return uint3(cell % across * (SIDE - 2u), rest % down * (SIDE - 2u), rest / down);
}
uint scratch_at(uint row, uint column, uint cell, uint quads) {
  return pc.scratch / 4u + ((row * SIDE + column) * pc.count + cell) * quads;
}
uint between_at(uint row, uint column, uint item) { return (row * SIDE + column) * ITEMS + item; }
