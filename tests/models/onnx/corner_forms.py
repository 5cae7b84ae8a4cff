#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Corners of the operators' definitions: nothing to do, factors that overflow, numbers that are none, lengths that are not whole.

  corner_forms.py [PATTERN]
"""
import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import case, floats, ints, run_forms  # noqa: E402

CASES = {}
form = functools.partial(case, CASES)


NONE = {"i": np.zeros((0, 1), np.int64), "u": floats(0, 3)}
ALONG = {"i": np.zeros((0, 3), np.int64), "u": floats(0, 3)}
form("scatter_nd_of_nothing", "(float[4,3] x) => (float[4,3] y)", "s = ScatterND(x, i, u) y = Relu(s)", NONE)
form("scatter_nd_of_nothing_added", "(float[4,3] x) => (float[4,3] y)", 's = ScatterND<reduction="add">(x, i, u) y = Relu(s)', NONE)
form("scatter_elements_of_nothing", "(float[4,3] x) => (float[4,3] y)", "s = ScatterElements(x, i, u) y = Relu(s)", ALONG)
form("reverse_sequences_of_one", "(float[5,2,3] x) => (float[5,2,3] y)", "y = ReverseSequence(x, lengths)", {"lengths": ints(1, 1)})

form("gemm_without_its_bias", "(float[3,4] x) => (float[3,5] y)", "y = Gemm<beta=0.0>(x, b, c)", {"b": floats(4, 5), "c": np.full(5, np.nan, np.float32)})
form("gemm_without_its_computed_bias", "(float[3,4] x, float[3,5] c) => (float[3,5] y)", "y = Gemm<beta=0.0>(x, b, c)", {"b": floats(4, 5)},
     inputs={"c": np.full((3, 5), np.inf, np.float32)})
WEIGHTS = {"w": floats(2, 2, 1, 1)}
form("convolution_divided_by_zero", "(float[1,2,3,3] x) => (float[1,2,3,3] y)", "t = Conv(x, w) d = Div(t, zero) y = Sigmoid(d)",
     {**WEIGHTS, "zero": np.zeros((1, 2, 1, 1), np.float32)})
LARGE = {"w": floats(2, 2, 1, 1) * np.float32(1e19), "f": np.full((1, 2, 1, 1), 1e25, np.float32)}
SMALL = {"x": floats(1, 2, 3, 3) * np.float32(1e-25)}
form("factor_behind_a_convolution", "(float[1,2,3,3] x) => (float[1,2,3,3] y)", "t = Conv(x, w) y = Mul(t, f)", LARGE, inputs=SMALL)
form("factor_before_a_convolution", "(float[1,2,3,3] x) => (float[1,2,3,3] y)", "t = Mul(x, f) y = Conv(t, w)", LARGE, inputs=SMALL)
# Products of both signs: numbers near 1, as the converter's check draws them, make infinite sums of either sign, and none.
form("factor_before_a_convolution_of_both_signs", "(float[1,2,3,3] x) => (float[1,2,3,3] y)", "t = Mul(x, f) y = Conv(t, w)",
     {**LARGE, "w": np.float32([[2e19, -1e19], [1e19, -2e19]]).reshape(2, 2, 1, 1)}, inputs=SMALL)

form("normalization_scaled_along_another_axis", "(float[3,2,3] x) => (float[3,2,3] y)", "y = LayerNormalization(x, s)", {"s": floats(3, 1, 1)})

# Among so many random matrices some are nearly singular, which the converter's check must not mistake for an error.
form("inverses_of_many_matrices", "(float[512,16,16] x) => (float[512,16,16] y)", "y = com.microsoft.Inverse(x)",
     inputs={"x": floats(512, 16, 16) + 32 * np.eye(16, dtype=np.float32)}, domains={"com.microsoft": 1})

SCALES = np.float32([1, 1, 1.7, 1.7])
form("resized_constant_cropped", "(float[1,1,6,6] x) => (float[1,1,6,6] y)",
     't = Resize<coordinate_transformation_mode="tf_crop_and_resize", mode="linear">(c, r, s) y = Add(t, x)',
     {"c": floats(1, 1, 4, 4), "r": np.float32([0, 0, 0.1, 0.2, 1, 1, 0.9, 0.8]), "s": SCALES})
form("resized_constant_of_one_pixel", "(float[1,1,1,1] x) => (float[1,1,1,1] y)",
     't = Resize<coordinate_transformation_mode="pytorch_half_pixel", mode="linear">(c, , s) y = Add(t, x)',
     {"c": floats(1, 1, 4, 4), "s": np.float32([1, 1, 0.4, 0.4])})
form("resized_to_no_whole_length", "(float[1,2,4,4] x) => (float[1,2,2,1] y)",
     'y = Resize<coordinate_transformation_mode="pytorch_half_pixel", mode="linear">(x, , s)', {"s": np.float32([1, 1, 0.6, 0.4])})

form("gemm_of_computed_matrices", "(float[4,3] x, float[5,4] b, float[3,5] c) => (float[3,5] y)", "y = Gemm<transA=1, transB=1, alpha=0.5, beta=-2.0>(x, b, c)")
form("gemm_of_computed_matrices_and_a_bias", "(float[3,4] x, float[4,5] b) => (float[3,5] y)", "y = Gemm<alpha=-1.5, beta=0.25>(x, b, c)", {"c": floats(5)})
form("parts_inside_parts", "(float[2,1,33,1] a, float[2,1,2,1] b, float[2,1,1,1] c, float[1,1,33,1] u) => (float[2,1,36,1] y)",
     "t = Concat<axis=2>(a, b, c) y = ScatterElements<axis=3>(t, i, u)", {"i": np.zeros((1, 1, 33, 1), np.int64)})
form("branches_before_where", "(float[2,3] x) => (float[2,3] y)",
     "s = ReduceSum<keepdims=0>(x) c = Greater(s, zero) y = If(c) <then_branch = t () => (float[2,3] p) { p = Relu(x) },"
     " else_branch = e () => (float[2,3] q) { q = Neg(x) }>", {"zero": np.float32(0)}, opset=8)

# Random inputs of the converter's check are negative, too; ours are not.
for name, op in (("logarithm", "Log"), ("root", "Sqrt")):
    form(f"{name}_before_a_clamp", "(float[4,8] x) => (float[4,8] y)", f"t = {op}(x) y = Relu(t)", inputs={"x": np.abs(floats(4, 8)) + np.float32(0.5)})

REFUSED = {
    "celu_of_negative_alpha": ("(float[4] x) => (float[4] y)", "y = Celu<alpha=-1.0>(x)", {}, "positive alpha"),
    "clip_to_no_number": ("(float[4] x) => (float[4] y)", "y = Clip(x, low)", {"low": np.float32(np.nan)}, "not a number"),
    "gelu_of_another_kind": ("(float[4] x) => (float[4] y)", 'y = Gelu<approximate="foo">(x)', {}, "none or tanh"),
    "resized_constant_between_corners": ("(float[1,1,6,6] x) => (float[1,1,6,6] y)",
                                         't = Resize<coordinate_transformation_mode="align_corners", mode="linear">(c, , s) y = Add(t, x)',
                                         {"c": floats(1, 1, 4, 4), "s": SCALES}, "disagree about it"),
    "region_of_a_kept_length": ("(float[1,1,6,6] x) => (float[1,1,6,9] y)", 'y = Resize<coordinate_transformation_mode="tf_crop_and_resize", mode="linear">(x, r, , z)',
                                {"r": np.float32([0, 0, 0.1, 0.2, 1, 1, 0.9, 0.8]), "z": ints(1, 1, 6, 9)}, "keeps its length"),
    "kernel_of_a_deep_volume": ("(float[1,1,300,2,2] x) => (float[1,1,1,2,2] y)", "y = Conv(x, w)", {"w": floats(1, 1, 300, 1, 1)}, "256 deep at most"),
    "cumulative_sum_along_nothing": ("(float[4,3] x) => (float[4,3] y)", "y = CumSum(x, axis)", {"axis": ints()}, "one number"),
    "sequences_beyond_their_length": ("(float[5,2,3] x) => (float[5,2,3] y)", "y = ReverseSequence(x, lengths)", {"lengths": ints(6, 6)}, "length of 6"),
    "an_empty_picture_sampled": ("(float[1,2,2,2] g) => (float[1,1,2,2] y)", 'y = GridSample<padding_mode="border">(c, g)', {"c": floats(1, 1, 0, 3)}, "no image"),
    "scales_for_rows": ("(float[3,4] x) => (float[3,5] y)", "q = QuantizeLinear(x, s, z) p = QLinearMatMul(q, v, zs, b, s, z, s, z) y = DequantizeLinear(p, s, z)",
                        {"s": np.float32(0.1), "z": np.uint8(3), "v": floats(3, low=0.1), "zs": np.zeros(3, np.uint8), "b": np.zeros((4, 5), np.uint8)}, "each row"),
}
DEQUANTIZED = {"scales_for_rows", "stored_in_four_bits", "stored_in_named_four_bits"}
REFUSED["stored_in_four_bits"] = ("(float[4] x) => (float[4] y)", "z = Constant<value=int4 {1}>() q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z)",
                                  {"s": np.float32(0.1)}, "integers of 4 or 2 bits")
REFUSED["stored_in_named_four_bits"] = ("(float[4] x) => (float[4] y)", "q = QuantizeLinear<output_dtype=22>(x, s) y = DequantizeLinear(q, s)",
                                        {"s": np.float32(0.1)}, "does not know")


if __name__ == "__main__":
    run_forms(CASES, REFUSED, DEQUANTIZED)
