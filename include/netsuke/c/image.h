/* SPDX-License-Identifier: MIT */
#ifndef NETSUKE_C_IMAGE_H
#define NETSUKE_C_IMAGE_H
/*
 * Images through the C interface, a part of netsuke/c/netsuke.h: from a frame to an input and from an output to a
 * frame, in one pass, without memory of its own.
 *
 *     nsk_image frame = {pixels, 4 * width, width, height, nsk_pixel_bgra8, 0};
 *     nsk_image_map map;
 *     nsk_status s = nsk_session_write_image(net, 0, 0, &frame, NULL, 0, &map);    as the model wants its images
 *
 *     nsk_image_settings how;                                                      or with what differs
 *     s = nsk_model_image_settings(model, 0, 0, &how, sizeof how);
 *     how.fit = nsk_fit_letterbox;
 *     s = nsk_session_write_image(net, 0, 0, &frame, &how, sizeof how, &map);
 *
 * Coordinates count from the left and upper edge: the first pixel's centre is (0.5, 0.5). Sampling is bilinear; where
 * an image shrinks to less than half, fine patterns alias. Grey is 0.299 R + 0.587 G + 0.114 B.
 */
#include <netsuke/c/base.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Bytes of a pixel in the order in which they are in memory; a is alpha. */
enum nsk_pixel_format { nsk_pixel_rgba8, nsk_pixel_bgra8, nsk_pixel_rgb8, nsk_pixel_bgr8, nsk_pixel_grey8 };
/* Channels of a tensor, in order. */
enum nsk_channel_order { nsk_order_grey, nsk_order_rgb, nsk_order_bgr, nsk_order_rgba, nsk_order_bgra };
/* How a region gets into a tensor of another shape: stretched; whole, with bars of the fill around it; cropped around
 * its centre until it fills the tensor. */
enum nsk_image_fit { nsk_fit_stretch, nsk_fit_letterbox, nsk_fit_crop };
/* What a region shows where it leaves the image: the nearest pixel, or the fill. */
enum nsk_image_edge { nsk_edge_repeat, nsk_edge_fill };
/* What becomes of an image's alpha where the tensor has none: 255, or what the image held before. */
enum nsk_image_alpha { nsk_alpha_opaque, nsk_alpha_keep };

/* An image that the caller owns. Functions that read it do not write to it. */
typedef struct nsk_image {
  void* pixels;   /* the first pixel of the upper row; any alignment */
  int64_t stride; /* bytes from a row to the one below, at least those of a row; negative where rows are bottom-up */
  int32_t width, height; /* pixels, 1 to 2^22 */
  int32_t format;        /* enum nsk_pixel_format */
  int32_t reserved;
} nsk_image;

/* What to take of an image, and how its levels [0, 255] become numbers: y = level * scale + offset. */
typedef struct nsk_image_settings {
  float scale[4], offset[4]; /* per channel of the tensor, in its order */
  float fill[4];             /* levels */
  float centre_x, centre_y;  /* the region, in pixels of the image, where `whole` is 0; it may leave the image */
  float width, height;
  float angle;      /* of the region, radians, clockwise on the screen */
  int32_t whole;    /* 1: the region is the whole image */
  int32_t fit;      /* enum nsk_image_fit */
  int32_t edge;     /* enum nsk_image_edge */
  int32_t order;    /* enum nsk_channel_order */
  int32_t mirrored; /* 1: left and right of the region change places */
} nsk_image_settings;

/* How a tensor's numbers become levels: level = y * scale + offset, clamped to [0, 255] and rounded half to even. */
typedef struct nsk_tensor_settings {
  float scale[4], offset[4]; /* per channel of the tensor, in its order */
  int32_t order;             /* enum nsk_channel_order */
  int32_t alpha;             /* enum nsk_image_alpha */
} nsk_tensor_settings;

/* Where points are: (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), pixels of the tensor to pixels of the image, and
 * the other way round. */
typedef struct nsk_image_map {
  double image_from_tensor[6], tensor_from_image[6];
} nsk_image_map;

/* Fill *how: the whole image, stretched, rgb, levels as [0, 1]; and the way back. Pass sizeof *how as how_bytes. */
NSK_C_API nsk_status nsk_default_image_settings(nsk_image_settings* how, size_t how_bytes) NSK_C_NOEXCEPT;
NSK_C_API nsk_status nsk_default_tensor_settings(nsk_tensor_settings* how, size_t how_bytes) NSK_C_NOEXCEPT;
/* Fills *how with what the model says of the images of an input: order of colours, mean and deviation. */
NSK_C_API nsk_status nsk_model_image_settings(const nsk_model* model, int32_t variant, int32_t input,
                                              nsk_image_settings* how, size_t how_bytes) NSK_C_NOEXCEPT;

/* Samples an image into row `row` (0 but in batches) of a float32 input [N, H, W, C]. A null `how` is what
 * nsk_model_image_settings gives; *map, where it is not null, becomes the map. nsk_status_no_image for an input that is
 * no image of the order's channels, nsk_status_is_bound for one that is bound: use nsk_image_to_tensor there. */
NSK_C_API nsk_status nsk_session_write_image(nsk_session* session, int32_t input, int32_t row, const nsk_image* image,
                                             const nsk_image_settings* how, size_t how_bytes,
                                             nsk_image_map* map) NSK_C_NOEXCEPT;
/* Writes row `row` of a float32 output [N, H, W, C] into an image of its width and height. A null `how` takes the order
 * of its channels and numbers from 0 to 1. nsk_status_no_image, nsk_status_wrong_image_size. */
NSK_C_API nsk_status nsk_session_read_image(const nsk_session* session, int32_t output, int32_t row,
                                            const nsk_tensor_settings* how, size_t how_bytes,
                                            const nsk_image* image) NSK_C_NOEXCEPT;

/* Samples an image into rows [row_begin, row_end) of a dense tensor of height * width * channels floats. Calls with
 * different rows may run at the same time and give the bits of one call; without rows, `tensor` may be null and *map is
 * all that is made. `tensor` does not overlap the image. */
NSK_C_API nsk_status nsk_image_to_tensor(const nsk_image* image, const nsk_image_settings* how, size_t how_bytes,
                                         float* tensor, uint64_t floats, int32_t height, int32_t width,
                                         int32_t row_begin, int32_t row_end, nsk_image_map* map) NSK_C_NOEXCEPT;
/* Writes rows [row_begin, row_end) of a dense tensor of the image's height * width * channels floats into the image;
 * bytes between its rows are not touched. */
NSK_C_API nsk_status nsk_tensor_to_image(const float* tensor, uint64_t floats, const nsk_tensor_settings* how,
                                         size_t how_bytes, const nsk_image* image, int32_t row_begin,
                                         int32_t row_end) NSK_C_NOEXCEPT;

#if defined(__cplusplus)
}
#endif
#endif
