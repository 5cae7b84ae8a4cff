// SPDX-License-Identifier: MIT
// The constants of every kernel, once for shaders and C++: at most 32 words, scalars only. Offsets and strides count
// 32-bit words from the start of the arena, or of the weights section. Two numbers in one word: rows | columns << 16.

// Convolution, dense layer, matrix product, depthwise convolution, pooling. x input, y output, r residual: offset, then
// strides of images, rows, pixels. w: panels, and words from those of one image to the next. i, o: input and output
// height, width, channels (per group); count: output pixels of all images; fill: pads behind the input (pooling);
// slices: of the input channels, whose sums are at `scratch` in the arena. Winograd's convolution: count are cells, scratch
// is where their points are or their products; slices are the points.
#define NSK_WINDOW_CONSTANTS                                                                                        \
  uint x; uint x_n; uint x_y; uint x_x; uint y; uint y_n; uint y_y; uint y_x; uint r; uint r_n; uint r_y; uint r_x; \
  uint w; uint w_n; uint slope; uint ih; uint iw; uint ic; uint oh; uint ow; uint oc; uint count; uint groups;      \
  uint kernel; uint stride; uint dilation; uint pad; float alpha; float beta; uint fill;      \
  uint slices; uint scratch;

// A depthwise convolution and the 1 x 1 convolution that reads it: names as above, of the second one where both have
// them. w0, slope0, alpha0, beta0: panels and parameters of the first one. ow: pixels of an output row, rounded up to
// four; width: those that exist.
#define NSK_SEPARABLE_CONSTANTS                                                                                     \
  uint x; uint x_n; uint x_y; uint x_x; uint y; uint y_n; uint y_y; uint y_x; uint r; uint r_n; uint r_y; uint r_x; \
  uint w0; uint slope0; float alpha0; float beta0; uint w; uint slope; float alpha; float beta;                     \
  uint ih; uint iw; uint ic; uint oh; uint ow; uint oc; uint width; uint count; uint stride; uint dilation; uint pad;

// Elementwise operators of up to four joined dimensions: lengths of dimensions 1 to 3, then offset and strides of the
// output, of operands a and b, and of the residual. flags: bits 0 and 1: a and b are in the weights section, bit 2:
// the residual is; bits 3 to 5 say that a, b and the residual are not read as float4.
#define NSK_ELEMENTWISE_CONSTANTS                                                                                    \
  uint count; uint l1; uint l2; uint l3; uint y; int y0; int y1; int y2; int y3; uint a; int a0; int a1; int a2;      \
  int a3; uint b; int b0; int b1; int b2; int b3; uint r; int r0; int r1; int r2; int r3; float alpha; float beta;    \
  uint slope; uint flags;

// Elementwise operators on elements of any type, up to four joined dimensions: as above, with offsets and strides in
// elements of each operand's own type. extent, along: length of a gather's axis, and stride of a along it. low, high: the
// words that fill. flags: types (nsk::dtype) of y, a and b in bits 0 to 3, 4 to 7, 8 to 11; bits 12 to 14: a, b and c are
// in the weights section; kind of comparison or arithmetic in bits 16 to 19. y is dense where its elements are smaller
// than a word.
#define NSK_TYPED_ELEMENTWISE_CONSTANTS                                                                              \
  uint count; uint l1; uint l2; uint l3; uint y; int y0; int y1; int y2; int y3; uint a; int a0; int a1; int a2;      \
  int a3; uint b; int b0; int b1; int b2; int b3; uint c; int c0; int c1; int c2; int c3; uint extent; int along;     \
  uint low; uint high; uint flags;

// A strided copy of up to six dimensions. flags: bit 0: x is in the weights section.
#define NSK_COPY_CONSTANTS                                                                                         \
  uint count; uint l1; uint l2; uint l3; uint l4; uint l5; uint y; int y0; int y1; int y2; int y3; int y4; int y5; \
  uint x; int x0; int x1; int x2; int x3; int x4; int x5; uint flags;

// Lines: k kept dimensions with strides of x and y, m reduced ones with their strides in x (s) and y (z). scale, bias:
// of layer normalization, whose epsilon is alpha.
#define NSK_LINE_CONSTANTS                                                                                          \
  uint count; uint k1; uint k2; uint x; int x0; int x1; int x2; uint y; int y0; int y1; int y2; uint m0; uint m1;   \
  uint m2; int s0; int s1; int s2; int z0; int z1; int z2; float alpha; float beta; uint scale; uint bias; uint slope;

// Lines along one dimension, whose elements are compared: k kept dimensions with strides of x and y, extent and stride of
// the line in x, positions that are kept and their stride in y, all in elements. y is int64. flags: type (nsk::dtype) in
// bits 0 to 3; bit 4: x is in the weights section.
#define NSK_RANK_CONSTANTS                                                                                           \
  uint count; uint k1; uint k2; uint x; int x0; int x1; int x2; uint y; int y0; int y1; int y2; uint extent; int along; \
  uint kept; int apart; uint flags;

// Neighbours in the last dimension: lengths and strides of the dimensions before it. alpha is that of the file by size.
#define NSK_NEIGHBOUR_CONSTANTS                                                                                      \
  uint count; uint channels; uint l1; uint l2; uint x; int x0; int x1; int x2; uint y; int y0; int y1; int y2;       \
  uint size; float alpha; float beta; float bias;

// Decision trees: strides of x [rows, features] and y [rows, targets], and where the tables of the file are.
#define NSK_TREE_ENSEMBLE_CONSTANTS                                                                                  \
  uint count; uint targets; uint trees; uint x; int x_row; int x_feature; uint y; int y_row; int y_target; uint roots; \
  uint nodes; uint thresholds; uint entry_target; uint entry_weight; uint base;

// Random numbers. The first four words are those of nsk::random_source, known when an inference is recorded. per_row:
// elements of one index of dimension 0; lengths and strides of four joined dimensions of y.
#define NSK_RANDOM_CONSTANTS                                                                                         \
  uint key_low; uint key_high; uint run; uint first_row; uint count; uint per_row; uint stream; uint l1; uint l2;     \
  uint l3; uint y; int y0; int y1; int y2; int y3; float scale; float offset;

// One direction of a recurrent layer. x, y, h, c: offset and stride of rows of the batch, of time steps. channels: of
// the product with the weights at w; those of a gru's hidden gate at w_hidden, their product at reset_product. a, b:
// parameters of the three functions, whose numbers have four bits each. flags: 1 backwards, 2 linear_before_reset,
// 4 peephole, 8 input_forget, 16 lengths, 32, 64, 128: h, c, the lengths are in the weights section.
#define NSK_RECURRENT_CONSTANTS                                                                                      \
  uint rows; uint time_steps; uint hidden; uint channels; uint x; uint x_row; uint x_time; uint y; uint y_row;        \
  uint y_time; uint h; uint h_row; uint c; uint c_row; uint w; uint w_hidden; uint reset_product; uint peephole;      \
  uint lengths; uint functions; float a0; float b0; float a1; float b1; float a2; float b2; float clip;               \
  float cell_clip; uint flags;

// Resampling by the tables of the file: offsets of int32 indices and float weights of rows and columns.
#define NSK_RESIZE_2D_CONSTANTS                                                                                   \
  uint x; uint x_n; uint x_y; uint x_x; uint y; uint y_n; uint y_y; uint y_x; uint oh; uint ow; uint oc; uint count; \
  uint row_taps; uint column_taps; uint row_index; uint row_weight; uint column_index; uint column_weight;

// A matrix [B, K, N] becomes panels: strides of x, words from panels to panels in y.
#define NSK_PACK_PANELS_CONSTANTS \
  uint count; uint x; int x_b; int x_k; int x_c; uint y; uint y_b; uint depth; uint channels;

// A region of a texture becomes a dense tensor [height, width, channels], or such a tensor a texture. size: of the tensor;
// texture_size: of the texture that is read. rows, columns: first | end << 16 of the part of the tensor that shows the
// region. (x0 + xx column + xy row, y0 + yx column + yy row) is the place of a pixel, in texel centres: numbers of 64 bits
// as fixed_point.h has them, high (h) and low (l) words. s, o: scale and offset of levels 0 to 255; f: the fill, scaled.
// flags: bits 0 to 2 nsk::channel_order, bit 3: the texture holds blue in its first channel, bit 4: the region is
// slanted, bit 5: what is beside the texture shows the fill.
#define NSK_TEXTURE_CONSTANTS                                                                                          \
  uint y; uint size; uint flags; uint texture_size; uint rows; uint columns; uint x0h; uint x0l; uint xxh; uint xxl;   \
  uint xyh; uint xyl; uint y0h; uint y0l; uint yxh; uint yxl; uint yyh; uint yyl; float s0; float s1; float s2;        \
  float s3; float o0; float o1; float o2; float o3; float f0; float f1; float f2; float f3;
