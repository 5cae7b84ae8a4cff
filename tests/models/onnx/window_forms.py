#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Forms of windows and sampling, as in exported_forms.py: weights and scales that are computed, volumes, places that are computed.

  window_forms.py [PATTERN]
"""
import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import case, floats, ints, run_forms  # noqa: E402

CASES = {}
form = functools.partial(case, CASES)


# Weights that a network computes: dynamic filters, modulated convolutions, trackers that search one image in another.
form("conv_by_computed_weights", "(float[2,8,9,10] x, float[16,8,3,3] w) => (float[2,16,9,10] y)", "y = Conv<pads=[1,1,1,1]>(x, w)", transposes=2)
form("conv_by_computed_weights_and_bias", "(float[1,6,9,10] x, float[4,3,3,2] w, float[4] b) => (float[1,4,5,10] y)",
     "c = Conv<pads=[1,0,1,1], strides=[2,1], group=2>(x, w, b) y = Relu(c)", transposes=4)
form("conv_by_computed_bias", "(float[1,6,9,10] x, float[4] b) => (float[1,4,9,10] y)", "c = Conv<pads=[1,1,1,1]>(x, w, b) y = Relu(c)", {"w": floats(4, 6, 3, 3)})
form("conv_of_signal_by_computed_weights", "(float[1,6,30] x, float[4,6,5] w) => (float[1,4,22] y)", "y = Conv<dilations=[2]>(x, w)", transposes=2)
form("conv_of_volume_by_computed_weights", "(float[1,3,5,6,7] x, float[4,3,2,3,3] w) => (float[1,4,4,6,7] y)", "y = Conv<pads=[0,1,1,0,1,1]>(x, w)", transposes=2)
form("pointwise_conv_by_computed_weights", "(float[1,8,6,7] x, float[3,8,1,1] w) => (float[1,3,6,7] y)", "y = Conv(x, w)", steps={"MatMul": 1}, transposes=1)
form("conv_by_computed_weights_constant_bias", "(float[1,6,9,10] x, float[4,6,3,3] w) => (float[1,4,7,8] y)", "y = Conv(x, w, b)", {"b": floats(4)}, transposes=4)
form("cross_correlation", "(float[1,16,12,12] x, float[1,16,5,5] z) => (float[1,16,8,8] y)", "w = Reshape(z, s) y = Conv<group=16>(x, w)", {"s": ints(16, 1, 5, 5)},
     transposes=2)
form("cross_correlation_by_large_kernel", "(float[1,16,12,13] x, float[16,1,6,7] w, float[16] b) => (float[1,16,4,4] y)", "y = Conv<group=16, strides=[2,2], pads=[0,0,1,1]>(x, w, b)",
     steps={"Gather": 1, "Reduce": 1}, transposes=2)
form("conv_by_large_computed_weights", "(float[2,6,12,13] x, float[4,3,6,7] w) => (float[2,4,7,4] y)", "y = Conv<group=2, strides=[1,2]>(x, w)", steps={"Gather": 1},
     transposes=4)
form("conv_of_volume_by_large_computed_weights", "(float[1,3,5,6,7] x, float[4,3,4,3,3] w) => (float[1,4,3,4,6] y)", "y = Conv<pads=[0,0,1,1,0,1]>(x, w)",
     steps={"Gather": 1}, transposes=2)
# Modulated convolution as exporters of StyleGAN write it: a group per image of the batch.
form("modulated_conv", "(float[2,8,6,6] x, float[2,8] style) => (float[2,4,6,6] y)",
     "t = Reshape(style, a) m = Mul(w, t) q = Mul(m, m) v = ReduceSum<keepdims=1>(q, axes) e = Add(v, eps) r = Sqrt(e) d = Div(m, r) k = Reshape(d, b)"
     " g = Reshape(x, c) n = Conv<pads=[1,1,1,1], group=2>(g, k) y = Reshape(n, o)",
     {"w": floats(1, 4, 8, 3, 3), "a": ints(2, 1, 8, 1, 1), "axes": ints(2, 3, 4), "eps": np.float32(1e-8), "b": ints(8, 8, 3, 3), "c": ints(1, 16, 6, 6),
      "o": ints(2, 4, 6, 6)}, transposes=4)

# Scales and biases that a network computes: AdaIN, adaptive layer normalisation of diffusion transformers.
form("adaptive_instance_norm", "(float[1,6,7,8] x, float[1,12] style) => (float[1,6,7,8] y)",
     "p = Gemm(style, w, c) h, b = Split<axis=1, num_outputs=2>(p) s = Reshape(h, flat) o = Reshape(b, flat) y = InstanceNormalization(x, s, o)",
     {"w": floats(12, 12), "c": floats(12), "flat": ints(-1)}, opset=18)
form("group_norm_by_computed_scale", "(float[2,6,5,4] x, float[6] s, float[6] b) => (float[2,6,5,4] y)", "y = GroupNormalization<num_groups=3>(x, s, b)", opset=21)
form("layer_norm_by_computed_scale", "(float[2,5,12] x, float[12] s, float[12] b) => (float[2,5,12] y)", "y = LayerNormalization(x, s, b)",
     steps={"LayerNormalization": 1})
form("layer_norm_by_computed_bias", "(float[2,5,12] x, float[5,12] b) => (float[2,5,12] y)", "y = LayerNormalization<axis=1>(x, s, b)", {"s": floats(5, 12)})
form("layer_norm_scale_of_rows", "(float[2,5,12] x) => (float[2,5,12] y)", "y = LayerNormalization(x, s)", {"s": floats(5, 1)})
# A block as torch.onnx writes it with dynamo=False: LayerNormalization without affine weights, chunks of a layer of the condition, unsqueezed.
form("adaptive_layer_norm_block", "(float[1,10,16] x, float[1,16] condition) => (float[1,10,16] y)",
     "g = Sigmoid(condition) a = Mul(condition, g) p = Gemm<transB=1>(a, w, c) shift, scale, gate = Split<axis=1, num_outputs=3>(p)"
     " n = LayerNormalization<axis=-1, epsilon=0.000001>(x, ones) s = Unsqueeze(scale, one) u = Add(s, unit) m = Mul(n, u) t = Unsqueeze(shift, one)"
     " h = Add(m, t) k = MatMul(h, v) r = Unsqueeze(gate, one) z = Mul(r, k) y = Add(x, z)",
     {"w": floats(48, 16), "c": floats(48), "ones": np.ones(16, np.float32), "one": ints(1), "unit": np.float32(1), "v": floats(16, 16)}, opset=18,
     steps={"LayerNormalization": 1})
# That block with dynamo=True: the layer's own weights are computed from the condition by slices.
form("adaptive_layer_norm_of_the_other_exporter", "(float[1,10,16] x, float[1,32] condition) => (float[1,10,16] y)",
     "scale = Slice(condition, zero, half, one) shift = Slice(condition, half, all, one) s = Squeeze(scale, zero) t = Squeeze(shift, zero)"
     " y = LayerNormalization<axis=-1, epsilon=0.00001, stash_type=1>(x, s, t)", {"zero": ints(0), "half": ints(16), "all": ints(32), "one": ints(1)}, opset=18,
     steps={"LayerNormalization": 1})

# Volumes that grow.
for mode, transform in (("linear", "half_pixel"), ("linear", "align_corners"), ("linear", "pytorch_half_pixel"), ("nearest", "asymmetric")):
    nearest = ', nearest_mode="floor"' if mode == "nearest" else ""
    form(f"volume_resized_{mode}_{transform}", "(float[2,4,3,5,4] x) => (float[2,4,6,10,8] y)",
         f'y = Resize<mode="{mode}", coordinate_transformation_mode="{transform}"{nearest}>(x, , s)', {"s": np.float32([1, 1, 2, 2, 2])}, opset=18, transposes=2)
form("volume_resized_to_lengths", "(float[1,3,6,5,4] x) => (float[1,3,4,7,3] y)",
     'y = Resize<mode="linear", coordinate_transformation_mode="pytorch_half_pixel">(x, , , z)', {"z": ints(1, 3, 4, 7, 3)}, opset=18, transposes=2)
form("volume_resized_deeper", "(float[1,3,6,5,4] x) => (float[1,3,9,5,4] y)", 'y = Resize<mode="linear">(x, , , z)', {"z": ints(1, 3, 9, 5, 4)}, opset=18, transposes=2)
for name, kernel, stride, pad, group in (("double", "2,2,2", "2,2,2", 0, 1), ("smooth", "4,4,4", "2,2,2", 1, 1), ("odd", "3,2,4", "1,2,3", 0, 2), ("wide", "3,5,5", "3,5,5", 0, 1)):
    k = [int(v) for v in kernel.split(",")]
    form(f"conv_transpose_of_volume_{name}", "(float[1,4,3,5,4] x) => (float[n,c,d,h,w] y)",
         f"t = ConvTranspose<strides=[{stride}], pads=[{','.join([str(pad)] * 6)}], group={group}>(x, w, b) y = Relu(t)",
         {"w": floats(4, 3, *k), "b": floats(3 * group)}, transposes=6)
form("conv_transpose_by_computed_bias", "(float[1,4,5,4] x, float[3] b) => (float[1,3,10,8] y)", "y = ConvTranspose<strides=[2,2]>(x, w, b)", {"w": floats(4, 3, 2, 2)},
     transposes=2)

# Places of maxima: exporters write them as MaxPool, and places within an image by a pool of one pixel that is subtracted.
form("pool_with_indices", "(float[2,3,7,9] x) => (float[2,3,4,5] y, int64[2,3,4,5] i)", "y, i = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x)",
     inputs={"x": np.round(floats(2, 3, 7, 9) * 4) / 2})
form("pool_with_indices_alone", "(float[1,2,5,6,4] x) => (int64[1,2,2,3,2] i)", "y, i = MaxPool<kernel_shape=[2,2,2], strides=[2,2,2]>(x)")
form("pool_with_indices_by_columns", "(float[1,2,6,4] x) => (float[1,2,5,3] y, int64[1,2,5,3] i)", "y, i = MaxPool<kernel_shape=[2,2], storage_order=1>(x)")
form("pool_with_indices_of_signal", "(float[1,2,11] x) => (float[1,2,6] y, int64[1,2,6] i)", "y, i = MaxPool<kernel_shape=[3], strides=[2], pads=[1,1], ceil_mode=1>(x)")
form("pool_with_indices_in_images", "(float[1,3,6,8] x) => (float[1,3,3,4] y, int64[1,3,3,4] k)",
     "y, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) z, o = MaxPool<kernel_shape=[1,1], strides=[1,1]>(x) f = Slice(o, start, end, axes) k = Sub(i, f)",
     {"start": ints(0, 0), "end": ints(1, 1), "axes": ints(2, 3)})
form("unpool", "(float[1,3,6,8] x) => (float[1,3,6,8] y)",
     "p, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) q = Relu(p) y = MaxUnpool<kernel_shape=[2,2], strides=[2,2]>(q, i)", steps={"Scatter": 1}, transposes=4)
form("unpool_overlapping", "(float[2,3,7,7] x) => (float[2,3,7,7] y)",
     "p, i = MaxPool<kernel_shape=[3,3], strides=[2,2]>(x) y = MaxUnpool<kernel_shape=[3,3], strides=[2,2]>(p, i)", steps={"Scatter": 1}, transposes=4)

# Places that a network computes.
for mode in ("linear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for aligned in (0, 1):
            form(f"grid_sample_of_volume_{mode}_{padding}_{aligned}", "(float[2,3,4,5,6] x, float[2,3,4,2,3] grid) => (float[2,3,3,4,2] y)",
                 f'y = GridSample<mode="{mode}", padding_mode="{padding}", align_corners={aligned}>(x, grid)', opset=20,
                 inputs={"grid": floats(2, 3, 4, 2, 3, low=-1.4, high=1.4)}, transposes=3)
for aligned in (0, 1):
    form(f"affine_grid_{aligned}", "(float[2,2,3] t) => (float[2,5,7,2] y)", f"y = AffineGrid<align_corners={aligned}>(t, s)", {"s": ints(2, 3, 5, 7)}, opset=20)
    form(f"affine_grid_of_volume_{aligned}", "(float[2,3,4] t) => (float[2,5,7,4,3] y)", f"y = AffineGrid<align_corners={aligned}>(t, s)",
         {"s": ints(2, 3, 5, 7, 4)}, opset=20)
form("spatial_transformer", "(float[1,4,9,8] x, float[1,6] p) => (float[1,4,9,8] y)",
     "t = Reshape(p, shape) g = AffineGrid(t, s) y = GridSample(x, g)", {"shape": ints(1, 2, 3), "s": ints(1, 4, 9, 8)}, opset=20)
BOXES = np.float32([[0, 0, 7, 6], [1.5, 2, 5, 3], [-3, -2, 4, 12], [6, 6, 6.2, 6.1]])
for mode in ("avg", "max"):
    for transform in ("half_pixel", "output_half_pixel"):
        form(f"roi_align_{mode}_{transform}", "(float[2,6,8,9] x, float[4,4] boxes, int64[4] batch) => (float[4,6,3,4] y)",
             f'y = RoiAlign<mode="{mode}", coordinate_transformation_mode="{transform}", output_height=3, output_width=4, sampling_ratio=2, spatial_scale=0.9>(x, boxes, batch)',
             inputs={"boxes": BOXES, "batch": ints(0, 1, 1, 0)}, transposes=2)
form("deform_conv", "(float[2,4,8,9] x, float[2,36,4,9] o, float[2,18,4,9] m) => (float[2,6,4,9] y)",
     "y = DeformConv<group=2, offset_group=2, kernel_shape=[3,3], strides=[2,1], pads=[1,1,1,1]>(x, w, o, b, m)", {"w": floats(6, 2, 3, 3), "b": floats(6)},
     opset=19, transposes=4, steps={"SampleImage": 1, "Gather": 0})
form("deform_conv_dilated", "(float[1,8,9,9] x, float[1,8,9,7] o) => (float[1,3,9,7] y)", "y = DeformConv<dilations=[1,2], pads=[1,0,0,0]>(x, w, o)",
     {"w": floats(3, 8, 2, 2)}, inputs={"o": floats(1, 8, 9, 7, low=-3, high=3)}, opset=19, transposes=4, steps={"SampleImage": 1, "Gather": 0})
form("deform_conv_by_computed_weights", "(float[1,4,6,6] x, float[5,4,1,1] w, float[1,4,6,6] o) => (float[1,5,6,6] y)", "y = DeformConv<offset_group=2>(x, w, o)",
     opset=19, transposes=4, steps={"SampleImage": 1, "Gather": 0})

REFUSED = {
    "regions_of_any_size": ("(float[2,6,8,9] x, float[4,4] boxes, int64[4] batch) => (float[4,6,1,1] y)", "y = RoiAlign(x, boxes, batch)", {},
                            "sampling_ratio 0.*Export the model with a sampling_ratio"),
    "indices_of_a_large_window": ("(float[1,1,40,40] x) => (float[1,1,24,24] y, int64[1,1,24,24] i)", "y, i = MaxPool<kernel_shape=[17,17]>(x)", {}, "289 taps.*pool in two steps"),
}

if __name__ == "__main__":
    run_forms(CASES, REFUSED)
