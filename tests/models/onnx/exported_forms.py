#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small graphs in the forms that exporters write, against ONNX Runtime.

  exported_forms.py [PATTERN]
"""
import functools
import pathlib
import sys
import tempfile

import numpy as np
import onnx.parser
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import forms  # noqa: E402
from forms import RANDOM, floats, ints, run_forms  # noqa: E402
from models import must, nsk  # noqa: E402

CASES = {}
case = functools.partial(forms.case, CASES)


def moments(x, axis):
    return (f"m = ReduceMean<axes=[{axis}]>({x}) d = Sub({x}, m) two = Constant<value_float=2.0>() q = Pow(d, two)"
            f" v = ReduceMean<axes=[{axis}]>(q) e = Constant<value_float=0.00001>() p = Add(v, e) s = Sqrt(p)")


case("layer_norm_spelled_out", "(float[2,5,24] x) => (float[2,5,24] y)", moments("x", -1) + " n = Div(d, s) g = Mul(n, scale) y = Add(g, bias)",
     {"scale": floats(24), "bias": floats(24)}, steps={"LayerNormalization": 1, "Binary": 0, "Reduce": 0})
case("layer_norm_of_channels", "(float[1,12,6,7] x) => (float[1,12,6,7] y)", moments("x", 1) + " n = Div(d, s) g = Mul(n, scale) y = Add(g, bias)",
     {"scale": floats(12, 1, 1), "bias": floats(12, 1, 1)}, steps={"LayerNormalization": 1, "Binary": 0, "Reduce": 0})
case("layer_norm_two_centres", "(float[3,16] x) => (float[3,16] y)",
     "m = ReduceMean<axes=[-1]>(x) c = Sub(x, m) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes=[-1]>(q) p = Add(v, eps) s = Sqrt(p) y = Div(c, s)",
     {"eps": np.float32(1e-6)}, steps={"LayerNormalization": 1, "Binary": 0})
case("rms_norm_by_reciprocal", "(float[2,5,24] x) => (float[2,5,24] y)",
     "two = Constant<value_float=2.0>() q = Pow(x, two) v = ReduceMean<axes=[-1]>(q) p = Add(v, eps) s = Sqrt(p) r = Reciprocal(s) n = Mul(x, r)"
     " y = Mul(scale, n)", {"eps": np.float32(1e-6), "scale": floats(24)}, steps={"LayerNormalization": 1, "Binary": 0})
case("rms_norm_by_quotient", "(float[2,5,24] x) => (float[2,5,24] y)",
     "q = Mul(x, x) v = ReduceMean<axes=[-1]>(q) p = Add(v, eps) s = Sqrt(p) r = Div(one, s) n = Mul(r, x) y = Mul(scale, n)",
     {"eps": np.float32(1e-6), "scale": floats(24), "one": np.float32(1)}, steps={"LayerNormalization": 1, "Binary": 0})
case("variance_about_another_mean", "(float[2,5,24] x, float[2,5,1] m) => (float[2,5,24] y)",
     "d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes=[-1]>(q) p = Add(v, eps) s = Sqrt(p) y = Div(d, s)", {"eps": np.float32(1e-3)})
case("normal_with_another_variance", "(float[2,5,24] x, float[2,5,24] z) => (float[2,5,24] y)",
     "m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) q = Mul(z, z) v = ReduceMean<axes=[-1]>(q) p = Add(v, eps) s = Sqrt(p) y = Div(d, s)",
     {"eps": np.float32(1e-3)}, steps={"LayerNormalization": 0})
case("layer_norm_with_visible_mean", "(float[2,5,24] x) => (float[2,5,24] y, float[2,5,1] s)", moments("x", -1) + " y = Div(d, s)",
     steps={"LayerNormalization": 0})
case("gelu_by_erf", "(float[4,20] x) => (float[4,20] y)", "a = Div(x, root) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)",
     {"root": np.float32(2 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)}, steps={"Unary": 1, "Binary": 0})
case("gelu_by_erf_halved_first", "(float[4,20] x) => (float[4,20] y)", "h = Mul(half, x) a = Mul(x, root) b = Erf(a) c = Add(one, b) y = Mul(h, c)",
     {"root": np.float32(0.5 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)}, steps={"Unary": 1, "Binary": 0})
case("no_gelu_with_another_root", "(float[4,20] x) => (float[4,20] y)", "a = Div(x, root) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)",
     {"root": np.float32(1.5), "one": np.float32(1), "half": np.float32(0.5)})
case("group_norm_as_instances", "(float[2,12,6,7] x) => (float[2,12,6,7] y)",
     "r = Reshape(x, flat) n = InstanceNormalization(r, ones, zeros) b = Reshape(n, whole) g = Mul(b, scale) y = Add(g, bias)",
     {"flat": ints(0, 3, -1), "whole": ints(2, 12, 6, 7), "ones": np.ones(3, np.float32), "zeros": np.zeros(3, np.float32),
      "scale": floats(12, 1, 1), "bias": floats(12, 1, 1)})
case("group_norm_of_one_group", "(float[1,16,40] x) => (float[1,16,40] y)",
     "w = Identity(x) r = Reshape(w, flat) n = InstanceNormalization(r, one, zero) y = Reshape(n, whole)",
     {"flat": ints(0, 1, -1), "whole": ints(1, 16, 40), "one": floats(1), "zero": floats(1)})
case("instances_of_lines", "(float[2,3,40] x) => (float[2,3,40] y)", "y = InstanceNormalization(x, scale, bias)",
     {"scale": floats(3), "bias": floats(3)})
case("group_norm_operator", "(float[2,12,6,7] x) => (float[2,12,6,7] y)", "y = GroupNormalization<num_groups=4>(x, scale, bias)",
     {"scale": floats(12), "bias": floats(12)}, opset=21)
case("dropout_of_nothing", "(float[4,20] x) => (float[4,20] y)", "d = Dropout(x, ratio, training) y = Relu(d)",
     {"ratio": np.float32(0), "training": np.array(True)})
case("batch_norm_of_weights", "(float[1,3,9,9] x) => (float[1,8,7,7] y)",
     "f, rm, rv = BatchNormalization<training_mode=1, epsilon=0.00001>(flat, one, zero, mean, var) w = Reshape(f, kernel) y = Conv(x, w)",
     {"flat": floats(1, 8, 27), "one": np.ones(8, np.float32), "zero": np.zeros(8, np.float32),
      "mean": floats(8), "var": floats(8, low=1, high=2), "kernel": ints(8, 3, 3, 3)}, steps={"Conv2D": 1})
case("batch_norm_of_batch", "(float[3,8,5,5] x) => (float[3,8,5,5] y)", "y, rm, rv = BatchNormalization<training_mode=1>(x, scale, bias, mean, var)",
     {"scale": floats(8), "bias": floats(8), "mean": floats(8), "var": floats(8, low=1, high=2)})
HARD_SWISH = "t = Add(c, three) k = Clip(t, zero, six) m = Mul({order}) h = Div(m, six) "
CONVOLVED = {"w": floats(8, 3, 3, 3), "v": floats(5, 8, 1, 1), "d": floats(8, 1, 3, 3), "three": np.float32(3), "zero": np.float32(0), "six": np.float32(6),
             "scale": np.float32(0.4), "shift": floats(1), "scales": floats(8, 1, 1), "shifts": floats(8, 1, 1), "zeros": np.zeros((8, 1, 1), np.float32)}
case("hard_swish_divided_last", "(float[1,3,9,9] x) => (float[1,8,7,7] h)", "c = Conv(x, w) " + HARD_SWISH.format(order="c, k"), CONVOLVED,
     steps={"Conv2D": 1, "Binary": 0})
case("hard_swish_by_a_sixth", "(float[1,3,9,9] x) => (float[1,8,7,7] h)", "c = Conv(x, w) " + HARD_SWISH.format(order="k, c").replace("Div(m, six)", "Mul(m, sixth)"),
     {**CONVOLVED, "sixth": np.float32(1 / 6)}, steps={"Conv2D": 1, "Binary": 0})
case("no_hard_swish_of_something_else", "(float[1,3,9,9] x) => (float[1,8,7,7] h)", "c = Conv(x, w) o = Abs(c) " + HARD_SWISH.format(order="o, k"), CONVOLVED,
     steps={"Conv2D": 1, "Binary": 3})
case("scaled_before_a_convolution", "(float[1,3,9,9] x) => (float[1,5,7,7] y)",
     "c = Conv(x, w) " + HARD_SWISH.format(order="c, k") + "s = Mul(scale, h) q = Add(s, shift) y = Conv(q, v)", CONVOLVED, steps={"Conv2D": 2, "Binary": 0})
case("scaled_before_a_padded_convolution", "(float[1,3,9,9] x) => (float[1,8,7,7] y)",
     "c = Conv(x, w) " + HARD_SWISH.format(order="c, k") + "s = Mul(h, scale) q = Add(shift, s) y = Conv<group=8, pads=[1,1,1,1]>(q, d)", CONVOLVED,
     steps={"Conv2D": 1, "DepthwiseConv2D": 1, "Binary": 1})
case("channels_scaled_before_a_convolution", "(float[1,8,9,9] x) => (float[1,8,7,7] y)", "s = Mul(x, scales) q = Sub(s, shifts) y = Conv<group=8>(q, d)", CONVOLVED,
     steps={"DepthwiseConv2D": 1, "Binary": 0})
case("divided_before_a_dense_layer", "(float[4,6] x) => (float[4,5] y)", "q = Sub(x, mean) s = Div(q, deviation) y = Gemm(s, m)",
     {"mean": floats(6), "deviation": floats(6, low=0.5, high=2.0), "m": floats(6, 5)}, steps={"FullyConnected": 1, "Binary": 0})
case("divided_by_zero_before_a_convolution", "(float[1,8,9,9] x) => (float[1,5,9,9] y)", "a = Abs(x) s = Div(a, zeros) r = Min(s, six) y = Conv(r, v)",
     CONVOLVED, steps={"Conv2D": 1, "Binary": 2})
case("scaled_and_read_twice", "(float[1,8,9,9] x) => (float[1,5,9,9] y, float[1,8,9,9] z)", "s = Mul(x, scales) y = Conv(s, v) z = Neg(s)", CONVOLVED,
     steps={"Conv2D": 1, "Binary": 1})
LSTM_CELL = ("{p}a = Gemm<transB=1>({x}, w, wb) {p}b = Gemm<transB=1>({h}, r, rb) {p}s = Add({p}a, {p}b) {p}i, {p}f, {p}g, {p}o = Split<axis=1>({p}s, parts)"
             " {p}si = Sigmoid({p}i) {p}sf = Sigmoid({p}f) {p}tg = Tanh({p}g) {p}so = Sigmoid({p}o) {p}k = Mul({p}sf, {c}) {p}n = Mul({p}si, {p}tg)"
             " {c2} = Add({p}k, {p}n) {p}t = Tanh({c2}) {h2} = Mul({p}so, {p}t) ")
GRU_CELL = ("a = Gemm<transB=1>(x, w, wb) b = Gemm<transB=1>(h, r, rb) ar, az, an = Split<axis=1>(a, parts) br, bz, bn = Split<axis=1>(b, parts)"
            " rs = Add(ar, br) rr = Sigmoid(rs) zs = Add(bz, az) z = Sigmoid(zs) gated = Mul(bn, rr) inner = Add(an, gated) n = Tanh(inner) ")
LSTM_WEIGHTS = {"w": floats(32, 6), "wb": floats(32), "r": floats(32, 8), "rb": floats(32), "parts": ints(8, 8, 8, 8)}
GRU_WEIGHTS = {"w": floats(24, 6), "wb": floats(24), "r": floats(24, 8), "rb": floats(24), "parts": ints(8, 8, 8)}
case("lstm_cell", "(float[2,6] x, float[2,8] h, float[2,8] c) => (float[2,8] h2, float[2,8] c2)",
     LSTM_CELL.format(p="p", x="x", h="h", c="c", h2="h2", c2="c2"), LSTM_WEIGHTS, steps={"Recurrent": 1, "Unary": 0, "Binary": 0})
case("lstm_cell_unrolled", "(float[1,6] x, float[1,6] y, float[1,8] h, float[1,8] c) => (float[1,8] h3, float[1,8] c3)",
     LSTM_CELL.format(p="p", x="x", h="h", c="c", h2="h2", c2="c2") + LSTM_CELL.format(p="q", x="y", h="h2", c="c2", h2="h3", c2="c3"),
     LSTM_WEIGHTS, steps={"Recurrent": 2, "Unary": 0, "Binary": 0})
case("lstm_cell_of_its_own_width", "(float[1,8] x, float[1,8] h, float[1,8] c) => (float[1,8] h2, float[1,8] c2)",
     LSTM_CELL.format(p="p", x="x", h="h", c="c", h2="h2", c2="c2"), {**LSTM_WEIGHTS, "w": floats(32, 8)}, steps={"Recurrent": 1})
case("no_lstm_with_one_gate_for_two", "(float[2,6] x, float[2,8] h, float[2,8] c) => (float[2,8] h2, float[2,8] c2)",
     LSTM_CELL.format(p="p", x="x", h="h", c="c", h2="h2", c2="c2").replace("Mul(psf, c)", "Mul(psi, c)"), LSTM_WEIGHTS, steps={"Recurrent": 0})
case("no_lstm_without_its_last_tanh", "(float[2,6] x, float[2,8] h, float[2,8] c) => (float[2,8] h2, float[2,8] c2)",
     LSTM_CELL.format(p="p", x="x", h="h", c="c", h2="h2", c2="c2").replace("Tanh(c2)", "Sigmoid(c2)"), LSTM_WEIGHTS, steps={"Recurrent": 0})
case("gru_cell", "(float[2,6] x, float[2,8] h) => (float[2,8] h2)", GRU_CELL + "d = Sub(h, n) m = Mul(d, z) h2 = Add(m, n)", GRU_WEIGHTS,
     steps={"Recurrent": 1, "Unary": 0, "Binary": 0})
case("gru_cell_by_rest", "(float[2,6] x, float[2,8] h) => (float[2,8] h2)",
     GRU_CELL + "one = Constant<value_float=1.0>() u = Sub(one, z) e = Mul(u, n) m = Mul(z, h) h2 = Add(e, m)", GRU_WEIGHTS, steps={"Recurrent": 1, "Binary": 0})
case("no_gru_with_another_state", "(float[2,6] x, float[2,8] h, float[2,8] g) => (float[2,8] h2)",
     GRU_CELL + "d = Sub(g, n) m = Mul(d, z) h2 = Add(m, n)", GRU_WEIGHTS, steps={"Recurrent": 0})
case("no_gru_by_another_rest", "(float[2,6] x, float[2,8] h) => (float[2,8] h2)",
     GRU_CELL + "one = Constant<value_float=2.0>() u = Sub(one, z) e = Mul(u, n) m = Mul(z, h) h2 = Add(e, m)", GRU_WEIGHTS, steps={"Recurrent": 0})
case("split_with_a_part_that_nobody_reads", "(float[2,12,5] x) => (float[2,5,5] y)",
     "a, b, c = Split<axis=1>(x, parts) d, e, f = Split<axis=1>(x) g = Add(d, f) h, i, j = Split<axis=1>(c, rest) y = Concat<axis=1>(a, h, i)",
     {"parts": ints(3, 2, 7), "rest": ints(1, 1, 5)})
# What the check once took for errors: sums that cancel, numbers beyond float32, axis orders of five dimensions.
case("mean_that_cancels", "(float[4,64] x) => (float[4,64] y)", "m = ReduceMean<axes=[-1]>(x) c = Sub(x, m) z = ReduceMean<axes=[-1]>(c) y = Add(c, z)")
case("mask_beyond_float", "(float[4,6] x) => (float[4,6] y)", "a = Add(least, mask) b = Add(x, a) y = Softmax(b)",
     {"least": np.full((4, 6), -3e38, np.float32) * np.eye(4, 6, dtype=np.float32), "mask": np.full((4, 6), -3e38, np.float32) * np.eye(4, 6, dtype=np.float32)})
case("anchors_of_five_axes", "(float[1,12,4,4] x) => (float[1,48,4] y)",
     "r = Reshape(x, five) t = Transpose<perm=[0,1,3,4,2]>(r) s = Sigmoid(t) a, b = Split<axis=4>(s, halves) c = Mul(a, grid) d = Pow(b, two)"
     " j = Concat<axis=4>(c, d) y = Reshape(j, flat)",
     {"five": ints(1, 3, 4, 4, 4), "halves": ints(2, 2), "grid": floats(1, 1, 4, 4, 2), "two": np.float32(2), "flat": ints(1, 48, 4)}, transposes=9)


# Products in index notation, with two computed operands and with constant ones.
for index, (equation, *shapes) in enumerate([
        ("bihd,bjhd->bhij", (2, 5, 3, 4), (2, 6, 3, 4)), ("bhij,bjhd->bihd", (2, 3, 5, 6), (2, 6, 3, 4)), ("ij,jk", (3, 4), (4, 5)),
        ("bi,bkij->bkj", (2, 3), (2, 4, 3, 5)), ("...ij,...jk->...ik", (2, 3, 4, 5), (2, 3, 5, 6)), ("abc,cd->adb", (2, 3, 4), (4, 5)),
        ("i,j->ji", (4,), (5,)), ("bij,bij->b", (2, 3, 4), (2, 3, 4)), ("bchw,bkhw->bkc", (1, 3, 4, 5), (1, 2, 4, 5)),
        ("be,eio->bio", (2, 4), (4, 3, 5)), ("bij,kj->bki", (2, 3, 4), (5, 4)), ("nct,ncp->ntp", (2, 3, 4), (2, 3, 5)),
        ("bsd,dhk->bhsk", (2, 3, 4), (4, 2, 5)), ("ab,cb->ca", (3, 1), (4, 5))]):
    outputs = len(equation.split("->")[1].replace("...", "xy")) if "->" in equation else 2
    names = ["float[" + ",".join(map(str, shape)) + "]" for shape in shapes]
    result = "float[" + ",".join("d" * outputs) + "] y"
    product = f'y = Einsum<equation="{equation}">(a, b)'
    case(f"einsum_{index}", f"({names[0]} a, {names[1]} b) => ({result})", product, transposes=9)
    case(f"einsum_{index}_constant", f"({names[0]} a) => ({result})", product, {"b": floats(*shapes[1])}, transposes=9)
    case(f"einsum_{index}_constant_first", f"({names[1]} b) => ({result})", product, {"a": floats(*shapes[0])}, transposes=9)
case("einsum_alone", "(float[2,3,4] a) => (float[4,2] y)", 'y = Einsum<equation="abc->ca">(a)', transposes=9)
# Weights of a layer in index notation are packed like those of any dense layer.
case("einsum_as_layer", "(float[2,3,16] a) => (float[2,3,4,8] y)", 'y = Einsum<equation="bsd,dhk->bshk">(a, w)', {"w": floats(16, 4, 8)},
     steps={"FullyConnected": 1})

for mode in ("linear", "nearest", "cubic"):
    for padding in ("zeros", "border", "reflection"):
        for aligned in (0, 1):
            case(f"grid_sample_{mode}_{padding}_{aligned}", "(float[2,3,5,7] x, float[2,4,6,2] grid) => (float[2,3,4,6] y)",
                 f'y = GridSample<mode="{mode}", padding_mode="{padding}", align_corners={aligned}>(x, grid)', opset=20,
                 inputs={"grid": floats(2, 4, 6, 2, low=-2.2, high=2.2)}, transposes=2)
case("grid_sample_far_outside", "(float[1,3,5,7] x, float[1,1,6,2] grid) => (float[1,3,1,6] y)", "y = GridSample(x, grid)", opset=16,
     inputs={"grid": np.array([[[[1e9, 0], [0, -1e9], [-1, -1], [1, 1], [1e7, 1e8], [0.1, -0.3]]]], np.float32)})
case("warp_by_flow", "(float[1,4,12,16] x, float[1,2,12,16] flow) => (float[1,4,12,16] y)",
     "g = Add(base, flow) t = Transpose<perm=[0,2,3,1]>(g) s = GridSample<padding_mode=\"border\", align_corners=1>(x, t) y = Relu(s)",
     {"base": floats(1, 2, 12, 16)}, opset=16)

for kind, x in (("float", floats(2, 13, 3)), ("int64", RANDOM.integers(-9, 9, (2, 13, 3))), ("int32", RANDOM.integers(-9, 9, (2, 13, 3)).astype(np.int32))):
    for exclusive in (0, 1):
        for reverse in (0, 1):
            case(f"running_sum_{kind}_{exclusive}{reverse}", f"({kind}[2,13,3] x) => ({kind}[2,13,3] y)",
                 f"y = CumSum<exclusive={exclusive}, reverse={reverse}>(x, axis)", {"axis": np.array(-2)}, {"x": x})
case("positions_from_mask", "(int64[1,6] mask) => (int64[1,6] y)", "c = CumSum(mask, axis) m = Mul(c, mask) y = Add(m, two)",
     {"axis": np.array(1), "two": np.array(2)}, {"mask": np.array([[1, 1, 1, 0, 1, 0]])})

case("rows_assigned", "(float[4,3,5] x, float[2,5] v) => (float[4,3,5] y)", "y = ScatterND(x, at, v)", {"at": np.array([[0, 1], [-1, 2]])})
case("slices_assigned_to_zeros", "(float[2,3,5] v) => (float[4,3,5] y)", "y = ScatterND(zeros, at, v)",
     {"at": np.array([[3], [1]]), "zeros": np.zeros((4, 3, 5), np.float32)})
case("integers_assigned", "(int64[4,3] x) => (int64[4,3] y)", "y = ScatterND(x, at, v)", {"at": np.array([[0, 1], [2, 2]]), "v": np.array([70, 80])},
     {"x": RANDOM.integers(0, 9, (4, 3))})
for reduction in ("add", "mul", "max", "min"):
    case(f"rows_combined_{reduction}", "(float[4,3,5] x, float[2,3,5] v) => (float[4,3,5] y)", f'y = ScatterND<reduction="{reduction}">(x, at, v)',
         {"at": np.array([[3], [1]])}, opset=18)
case("elements_assigned", "(float[4,3] x, float[2,3] v) => (float[4,3] y)", "y = ScatterElements<axis=0>(x, at, v)", {"at": np.array([[0, 1, -1], [2, 3, 0]])})
case("elements_assigned_along_last", "(float[4,3] x, float[2,2] v) => (float[4,3] y)", "y = ScatterElements<axis=1>(x, at, v)", {"at": np.array([[0, 2], [1, 0]])})
case("rows_by_coordinates_of_batches", "(float[2,4,3,5] x, int64[2,6,2] at) => (float[2,6,5] y)", "y = GatherND<batch_dims=1>(x, at)",
     inputs={"at": np.stack([RANDOM.integers(-4, 4, (2, 6)), RANDOM.integers(-3, 3, (2, 6))], -1)})
case("sums_at_one_place", "(float[4] x, float[3] v) => (float[4] y)", 'y = ScatterND<reduction="add">(x, at, v)', {"at": np.array([[1], [2], [1]])},
     steps={"Scatter": 1}, opset=16)
for reduction in ("none", "add", "mul", "max", "min"):
    case(f"rows_at_computed_places_{reduction}", "(float[4,3,5] x, int64[2,3,2] at, float[2,3,5] v) => (float[4,3,5] y)",
         f'y = ScatterND<reduction="{reduction}">(x, at, v)', inputs={"at": np.stack([RANDOM.integers(-4, 4, (2, 3)), RANDOM.integers(-3, 3, (2, 3))], -1)},
         steps={"Scatter": 1}, opset=18)
    case(f"elements_at_computed_places_{reduction}", "(float[4,3,6] x, int64[3,5,6] at, float[3,5,6] v) => (float[4,3,6] y)",
         f'y = ScatterElements<axis=1, reduction="{reduction}">(x, at, v)', inputs={"at": RANDOM.integers(-3, 3, (3, 5, 6))}, steps={"Scatter": 1}, opset=18)
    for kind in ("int64", "int32"):
        case(f"{kind}_at_computed_places_{reduction}", f"({kind}[4,3] x, int64[4,5] at, {kind}[4,5] v) => ({kind}[4,3] y)",
             f'y = ScatterElements<axis=1, reduction="{reduction}">(x, at, v)',
             inputs={"x": RANDOM.integers(-9, 9, (4, 3)).astype(kind), "at": RANDOM.integers(-3, 3, (4, 5)), "v": RANDOM.integers(-9, 9, (4, 5)).astype(kind)},
             steps={"Scatter": 1}, opset=18)
case("rows_by_coordinates", "(float[4,3,5] x, int64[2,6,2] at) => (float[2,6,5] y)", "y = GatherND(x, at)",
     inputs={"at": np.stack([RANDOM.integers(-4, 4, (2, 6)), RANDOM.integers(-3, 3, (2, 6))], -1)})
case("windows_of_a_volume", "(float[2,8,14,14,6] x) => (float[32,98,6] y)", "r = Reshape(x, apart) t = Transpose<perm=[0,1,3,5,2,4,6,7]>(r) y = Reshape(t, joined)",
     {"apart": ints(2, 4, 2, 2, 7, 2, 7, 6), "joined": ints(32, 98, 6)}, transposes=1)
case("volume_of_windows", "(float[32,98,6] x) => (float[2,8,14,14,6] y)", "r = Reshape(x, apart) t = Transpose<perm=[0,1,4,2,5,3,6,7]>(r) y = Reshape(t, joined)",
     {"apart": ints(2, 4, 2, 2, 2, 7, 7, 6), "joined": ints(2, 8, 14, 14, 6)}, transposes=1)
case("eight_dimensions_reversed", "(float[1296] x) => (float[1296] y)", "r = Reshape(x, apart) t = Transpose<perm=[7,6,5,4,3,2,1,0]>(r) y = Reshape(t, joined)",
     {"apart": ints(2, 3, 2, 3, 2, 3, 2, 3), "joined": ints(-1)}, transposes=16)
case("seven_dimensions_reversed", "(float[432] x) => (float[432] y)", "r = Reshape(x, apart) t = Transpose<perm=[6,5,4,3,2,1,0]>(r) y = Reshape(t, joined)",
     {"apart": ints(2, 3, 2, 3, 2, 3, 2), "joined": ints(-1)}, transposes=16)
ROLL = "a = Slice(x, s, e, one) b = Slice(x, z, s, one) c = Concat<axis=1>(a, b) d = Slice(c, s, e, two) f = Slice(c, z, s, two) r = Concat<axis=2>(d, f)"
case("rolled_windows", "(float[1,8,8,6] x) => (float[4,16,6] y)", ROLL + " w = Reshape(r, apart) t = Transpose<perm=[0,1,3,2,4,5]>(w) y = Reshape(t, joined)",
     {"s": ints(2), "e": ints(2**62), "z": ints(0), "one": ints(1), "two": ints(2), "apart": ints(1, 2, 4, 2, 4, 6), "joined": ints(4, 16, 6)}, transposes=4)
case("fold", "(float[2,12,20] x) => (float[2,3,5,6] y)", "y = Col2Im(x, image, block)", {"image": ints(5, 6), "block": ints(2, 2)}, steps={"Scatter": 1}, opset=18)
case("fold_with_strides_and_pads", "(float[2,27,12] x) => (float[2,3,7,8] y)", "y = Col2Im<strides=[2,2], pads=[1,0,1,1], dilations=[2,1]>(x, image, block)",
     {"image": ints(7, 8), "block": ints(3, 3)}, steps={"Scatter": 1}, opset=18)
case("upper_triangle", "(float[2,4,5] x) => (float[2,4,5] y)", "y = Trilu(x, k)", {"k": np.array(1)})
case("lower_triangle", "(float[2,4,5] x) => (float[2,4,5] y)", "y = Trilu<upper=0>(x)")
strange = np.array([[1, np.nan, np.inf, -np.inf, 0, -2]], np.float32)
case("not_a_number_replaced", "(float[1,6] x) => (float[1,6] y)", "n = IsNaN(x) y0 = Where(n, zero, x) w = Cast<to=11>(y0) i = IsInf(w) y = Where(i, zero, y0)",
     {"zero": np.float32(0)}, {"x": strange}, opset=13)
case("only_positive_infinity", "(float[1,6] x) => (bool[1,6] y)", "y = IsInf<detect_negative=0>(x)", inputs={"x": strange})


for op in ("Sin", "Cos", "Tan"):
    case(f"angles_{op}", "(float[5,33] x) => (float[5,33] y)", f"y = {op}(x)", inputs={"x": floats(5, 33, low=-40, high=40)})
case("position_encoding", "(float[7,3] x) => (float[7,18] y)",
     "a = Mul(x, two) b = Mul(x, four) s = Sin(x) c = Cos(x) t = Sin(a) d = Cos(a) u = Sin(b) e = Cos(b) y = Concat<axis=1>(s, c, t, d, u, e)",
     {"two": np.float32(2), "four": np.float32(4)})
# Images over time, and other volumes.
case("conv_of_volume", "(float[1,3,6,8,9] x) => (float[1,5,6,8,9] y)", "y = Conv<pads=[1,1,1,1,1,1]>(x, w, b)", {"w": floats(5, 3, 3, 3, 3), "b": floats(5)})
case("conv_of_volumes_strided", "(float[2,4,7,8,9] x) => (float[2,6,3,8,4] y)",
     "c = Conv<strides=[2,1,2], dilations=[2,1,1], pads=[1,1,0,2,1,0], group=2>(x, w) y = Relu(c)", {"w": floats(6, 2, 3, 3, 3)}, transposes=3)
case("conv_of_volume_same", "(float[1,2,5,6,7] x) => (float[1,3,3,3,4] y)", 'y = Conv<strides=[2,2,2], auto_pad="SAME_UPPER">(x, w)', {"w": floats(3, 2, 2, 3, 3)})
case("max_of_volume", "(float[1,3,6,8,9] x) => (float[1,3,3,4,9] y)", "y = MaxPool<kernel_shape=[2,2,1], strides=[2,2,1]>(x)", transposes=2)
case("mean_of_volume", "(float[1,3,6,8,9] x) => (float[1,3,4,4,9] y)", "y = AveragePool<kernel_shape=[3,2,3], strides=[2,2,1], pads=[1,0,1,1,0,1], ceil_mode=1>(x)",
     transposes=2)
case("mean_of_padded_volume", "(float[2,3,6,8,9] x) => (float[2,3,3,8,5] y)",
     "y = AveragePool<kernel_shape=[3,3,3], strides=[2,1,2], pads=[1,1,1,1,1,1], count_include_pad=1>(x)", transposes=2)
case("reversed_sequence", "(float[5,1,4] x) => (float[5,1,4] y)", "y = ReverseSequence(x, n)", {"n": ints(5)})
case("reversed_start", "(float[2,6,4] x) => (float[2,6,4] y)", "y = ReverseSequence<batch_axis=0, time_axis=1>(x, n)", {"n": ints(4, 4)})
# Parts that nothing reads.
case("split_with_unread_parts", "(float[2,12] x) => (float[2,4] y)", "a, b, c = Split<axis=1>(x, parts) y = Relu(c)", {"parts": ints(3, 5, 4)})
case("split_evenly_with_unread_parts", "(float[2,12] x) => (float[2,3] y)", "a, b, c, d = Split<axis=1, num_outputs=4>(x) y = Relu(c)", opset=18)
case("split_unevenly_with_unread_parts", "(float[2,11] x) => (float[2,2] y)", "a, b, c, d = Split<axis=1, num_outputs=4>(x) y = Relu(d)", opset=18)
# Windows that reach beyond the image: only what can meet pixels is computed.
case("dilated_beyond_picture", "(float[1,4,8,9] x) => (float[1,6,8,9] y)", "y = Conv<dilations=[12,12], pads=[12,12,12,12]>(x, w)",
     {"w": floats(6, 4, 3, 3)}, macs=8 * 9 * 6 * 4)
case("dilated_beyond_one_side", "(float[1,4,8,9] x) => (float[1,6,8,1] y)", "y = Conv<dilations=[5,8], pads=[5,0,5,8]>(x, w)",
     {"w": floats(6, 4, 3, 3)}, macs=8 * 1 * 6 * 4 * 3 * 2)
case("strided_beyond_picture", "(float[1,4,7] x) => (float[1,6,3] y)", "y = Conv<dilations=[9], strides=[3], pads=[10,10]>(x, w)",
     {"w": floats(6, 4, 3)})
case("depthwise_beyond_picture", "(float[1,6,5,5] x) => (float[1,6,5,5] y)", "y = Conv<dilations=[6,1], pads=[6,1,6,1], group=6>(x, w)",
     {"w": floats(6, 1, 3, 3)})
# Constants that are stored as integers.
case("dequantised_weights", "(float[1,4,6,6] x) => (float[1,6,4,4] y)", "w = DequantizeLinear<axis=0>(q, scale, zero) y = Conv(x, w)",
     {"q": RANDOM.integers(-128, 128, (6, 4, 3, 3)).astype(np.int8), "scale": floats(6, low=0.001, high=0.02), "zero": RANDOM.integers(-9, 9, 6).astype(np.int8)},
     steps={"Conv2D": 1})
case("dequantised_bias", "(float[3,4] x) => (float[3,5] y)", "w = DequantizeLinear(q, scale, zero) b = DequantizeLinear(r, fine) y = Gemm(x, w, b)",
     {"q": RANDOM.integers(0, 256, (4, 5)).astype(np.uint8), "scale": np.float32(0.01), "zero": np.uint8(128),
      "r": RANDOM.integers(-999, 999, 5).astype(np.int32), "fine": np.float32(1e-4)})
case("dequantised_in_blocks", "(float[3,8] x) => (float[3,5] y)", "w = DequantizeLinear<axis=0, block_size=4>(q, scale, zero) y = MatMul(x, w)",
     {"q": RANDOM.integers(-128, 128, (8, 5)).astype(np.int8), "scale": floats(2, 5, low=0.001, high=0.02), "zero": RANDOM.integers(-9, 9, (2, 5)).astype(np.int8)},
     opset=21)

# Large images are reduced in runs of rows, then those (a form of one op each: kinds of the two steps differ); a border of the producer stays out.
for op in ("Mean", "Sum", "Max", "Min", "SumSquare", "L1", "L2"):
    case(f"large_picture_{op}", "(float[1,20,60,61] x) => (float[1,20,1,1] y)", f"p = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x) y = Reduce{op}<axes=[2,3]>(p)", steps={"Reduce": 2}, opset=12)
case("large_product", "(float[1,3,160,150] x) => (float[1,3,1,1] y)", "p = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x) s = Mul(p, small) z = Exp(s) y = ReduceProd<axes=[2,3]>(z)",
     {"small": np.float32(1e-3)}, steps={"Reduce": 2}, opset=12)
case("large_bordered_mean", "(float[1,8,90,92] x) => (float[1,8,1,1] m, float[1,8,90,92] y)",
     "r = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(x) m = GlobalAveragePool(r) y = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(r, w)", {"w": floats(8, 8, 3, 3)}, steps={"Reduce": 2})

# Trigonometry and hyperbolic functions, angles as both exporters of PyTorch write atan2, remainders.
for function, low, high in (("Asin", -1, 1), ("Acos", -1, 1), ("Atan", -30, 30), ("Sinh", -5, 5), ("Cosh", -5, 5), ("Asinh", -30, 30), ("Acosh", 1, 30), ("Atanh", -0.99, 0.99)):
    case(function.lower(), "(float[3,40] x) => (float[3,40] y)", f"y = {function}(x)", inputs={"x": floats(3, 40, low=low, high=high)}, steps={"Unary": 1, "Binary": 0})
ANGLE = "s = Div(v, x) a = Atan(s) b = Greater(v, zero) p = Add(a, pi) m = Sub(a, pi) w = Where(b, p, m) c = Less(x, zero) y = Where(c, w, a)"
case("angle_of_point", "(float[3,40] v, float[3,40] x) => (float[3,40] y)", ANGLE, {"zero": np.float32(0), "pi": np.float32(np.pi)})
case("angle_of_points_in_a_row", "(float[3,40] v, float[40] x) => (float[3,40] y)", ANGLE, {"zero": np.float32(0), "pi": np.float32(np.pi)}, opset=18)
case("remainder_of_floats", "(float[3,40] x, float[40] d) => (float[3,40] y)", "y = Mod<fmod=1>(x, d)",
     inputs={"x": floats(3, 40, low=-90, high=90), "d": floats(40, low=0.3, high=5)}, steps={"Binary": 1})
MATRICES = floats(5, 4, 4) + 3 * np.eye(4, dtype=np.float32)
case("determinant", "(float[5,4,4] x) => (float[5] y)", "y = Det(x)", inputs={"x": MATRICES}, steps={"MatrixFunction": 1}, opset=22)
case("determinant_of_one_matrix", "(float[3,3] x) => (float y)", "y = Det(x)", steps={"MatrixFunction": 1})
case("inverse", "(float[5,4,4] x) => (float[5,4,4] y)", "y = com.microsoft.Inverse(x)", inputs={"x": MATRICES}, steps={"MatrixFunction": 1}, domains={"com.microsoft": 1})
case("inverse_of_computed_matrices", "(float[2,3,16,16] x) => (float[2,3,16,16] y)", "t = Transpose<perm=[0,1,3,2]>(x) s = Add(t, shift) y = com.microsoft.Inverse(s)",
     {"shift": 20 * np.eye(16, dtype=np.float32)}, domains={"com.microsoft": 1})
# The inverse by the adjugate, as converters spell it out where the operator is missing.
case("inverse_by_adjugate", "(float[5,3,3] x) => (float[5,3,3] y)",
     "r0, r1, r2 = Split<axis=1>(x, parts) " + " ".join(
         f"a{i}1 = Gather<axis=2>({a}, next) b{i}2 = Gather<axis=2>({b}, prior) a{i}2 = Gather<axis=2>({a}, prior) b{i}1 = Gather<axis=2>({b}, next)"
         f" p{i} = Mul(a{i}1, b{i}2) q{i} = Mul(a{i}2, b{i}1) c{i} = Sub(p{i}, q{i})" for i, a, b in ((0, "r1", "r2"), (1, "r2", "r0"), (2, "r0", "r1")))
     + " d = Mul(r0, c0) det = ReduceSum(d, last) c = Concat<axis=1>(c0, c1, c2) t = Transpose<perm=[0,2,1]>(c) y = Div(t, det)",
     {"parts": ints(1, 1, 1), "next": ints(1, 2, 0), "prior": ints(2, 0, 1), "last": ints(2)}, inputs={"x": MATRICES[:, :3, :3].copy()})
case("first_maximum", "(float[3,17] x) => (float[3,17] y)", "y = Hardmax(x)")
case("first_maximum_of_flat", "(float[2,3,5] x) => (float[2,3,5] y)", "y = Hardmax(x)", opset=11)
case("unit_matrix", "(float[4,6] x) => (float[4,6] y)", "e = EyeLike<k=1>(x) y = Add(x, e)")
INTEGERS = {"x": RANDOM.integers(-9, 10, (3, 5, 7)), "z": RANDOM.integers(1, 5, (3, 5, 7))}
case("integer_quotients", "(int64[3,5,7] x, int64[3,5,7] z) => (int64[3,5,7] q, int64[3,5,7] r)", "q = Div(x, z) r = Mod(x, z)", inputs=INTEGERS)
case("integer_powers", "(int64[3,5,7] x, int64[3,5,7] z) => (int64[3,5,7] y, int64[3,5,7] s)", "y = Pow(x, z) s = Pow(x, two)", {"two": np.float32(2)}, inputs=INTEGERS)
case("powers_by_integers", "(float[3,5,7] x, int64[3,5,7] z) => (float[3,5,7] y)", "y = Pow(x, z)", inputs={"z": INTEGERS["z"]})
case("integer_limits", "(int32[3,5,7] x) => (int32[3,5,7] y, int32[3,5,7] z)", "y = Relu(x) z = Clip(x, low, high)", {"low": np.int32(-3), "high": np.int32(4)},
     inputs={"x": INTEGERS["x"].astype(np.int32)})
case("integer_sums", "(int32[3,5,7] x) => (int32[3,7] s, int32[3,5] m, int32[1,1,1] p, int32[3,1,1] q)",
     "s = ReduceSum<keepdims=0>(x, one) m = ReduceMax<axes=[2], keepdims=0>(x) p = ReduceProd(x) q = ReduceSumSquare<axes=[1,2]>(x)", {"one": ints(1)}, inputs={"x": INTEGERS["x"].astype(np.int32)})
case("integer_product", "(int64[3,5,7] x, int64[7,5] z) => (int64[3,5,5] y)", "y = MatMul(x, z)", inputs={"x": INTEGERS["x"], "z": INTEGERS["z"][0].T.copy()}, steps={"IntegerMatMul": 1})
case("integer_pad", "(int64[3,5,7] x) => (int64[4,5,10] y)", "y = Pad(x, pads, fill)", {"pads": ints(0, 0, 1, 1, 0, 2), "fill": np.int64(-7)}, inputs={"x": INTEGERS["x"]}, steps={"Copy": 1, "Fill": 3})

# What is refused, and what the message must say.
REFUSED = {
    "quantised_blocks": ("(float[4,6] x) => (int8[4,6] y)", "y = QuantizeLinear<axis=1, block_size=3>(x, s, z)",
                         {"s": np.ones((4, 2), np.float32), "z": np.zeros((4, 2), np.int8)}, "blocks of a scale are supported for constants alone"),
    "quantised_by_0": ("(uint8[1,3,4,4] x) => (uint8[1,4,4,4] y)", "y = QLinearConv(x, s, z, w, s, v, t, z)",
                       {"s": np.float32(0.01), "t": np.float32(0), "z": np.uint8(3), "v": np.int8(0), "w": np.ones((4, 3, 1, 1), np.int8)}, "not a positive normal number"),
    "quantised_by_a_negative_scale": ("(uint8[2,4] x) => (uint8[2,3] y)",
                                      "d = DequantizeLinear(x, s, z) k = DequantizeLinear(w, t, v) m = MatMul(d, k) r = Relu(m) y = QuantizeLinear(r, s, z)",
                                      {"s": np.float32(-0.1), "t": np.float32(0.1), "z": np.uint8(10), "v": np.int8(0), "w": np.ones((4, 3), np.int8)},
                                      "not a positive normal number"),
    "quantised_computed_weights": ("(uint8[1,3,4,4] x, int8[4,3,1,1] w) => (int32[1,4,4,4] y)", "y = ConvInteger(x, w)", {}, "must be a constant of the model"),
    "quantised_too_deep": ("(uint8[1,99000] x) => (int32[1,2] y)", "y = MatMulInteger(x, w)", {"w": np.full((99000, 2), -128, np.int8)}, "beyond int32"),
    "label_lengths": ("(float[3,4] x, float[5,6] z) => (float[3,6] y)", 'y = Einsum<equation="ij,jk->ik">(x, z)', {}, "axes of different lengths"),
    "sum_of_booleans": ("(bool[4] x, bool[2] v) => (bool[4] y)", 'y = ScatterND<reduction="add">(x, at, v)', {"at": np.array([[1], [1]])},
                        "reductions of booleans"),
    "sums_along_no_axis": ("(float[3,4] x) => (float[3,4] y)", "y = CumSum(x, axis)", {"axis": np.int64(7)}, "outside the 2 dimensions"),
    "matrices_too_large": ("(float[17,17] x) => (float y)", "y = Det(x)", {}, "at most 16"),
    "place_outside": ("(float[4] x, float[1] v) => (float[4] y)", "y = ScatterND(x, at, v)", {"at": np.array([[4]])}, "outside its axis"),
}


def check_trust():
    """Constants that are far larger than the file are made for those who say that the model is their own."""
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g (float[1,5000] x) => (float[1,5000] y) { w = ConstantOfShape(size) y = MatMul(x, w) }')
    model.graph.initializer.append(numpy_helper.from_array(ints(5000, 5000), "size"))
    with tempfile.TemporaryDirectory(prefix="nsk_forms_") as folder:
        source = pathlib.Path(folder) / "model.onnx"
        source.write_bytes(model.SerializeToString())
        arguments = ["convert", source, "-o", source.with_suffix(".nsk"), "--quiet"]
        done = nsk(*arguments)
        if done.returncode != 2 or "--trust" not in done.stderr:
            raise SystemExit(f"a refusal that names --trust expected, exit code {done.returncode}: {done.stderr}")
        must(*arguments, "--trust")
        must("check", source, source.with_suffix(".nsk"), "--trust")


if __name__ == "__main__":
    run_forms(CASES, REFUSED)
    check_trust()
