#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Forms in which the exporters of PyTorch 2.15 write what a model has no operator for, as in exported_forms.py; operators on eight axes.

  torch_forms.py [PATTERN]
"""
import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import RANDOM, case, floats, ints, run_forms  # noqa: E402

CASES = {}
form = functools.partial(case, CASES)


def weights(*shape):
    return floats(*shape, low=-0.3, high=0.3)


# atan2: both write a quotient that differs from atan2 where an operand is 0 or infinite; these results must come out. The one of dynamo
# makes 0 of what is not a number.
ANGLE = "s = Div(v, x) a = Atan(s) b = Greater(v, zero) p = Add(a, pi) m = Sub(a, pi) w = Where(b, p, m) c = Less(x, zero) "
ENDS = np.float32([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, 1e-30, -1e30, np.nan])
ROWS, COLUMNS = (a.reshape(-1).copy() for a in np.meshgrid(ENDS, ENDS))
with np.errstate(all="ignore"):
    DEFINED = ~np.isnan(ROWS / COLUMNS)
CONSTANTS = {"zero": np.float32(0), "pi": np.float32(np.pi)}
form("angle", f"(float[{DEFINED.sum()}] v, float[{DEFINED.sum()}] x) => (float[{DEFINED.sum()}] y)", ANGLE + "y = Where(c, w, a)", CONSTANTS,
     {"v": ROWS[DEFINED], "x": COLUMNS[DEFINED]})
form("angle_of_dynamo", "(float[81] v, float[81] x) => (float[81] y)", ANGLE + "r = Where(c, w, a) n = IsNaN(r) y = Where(n, zero, r)", CONSTANTS,
     {"v": ROWS, "x": COLUMNS}, opset=20)
# Unpooling, whose indices torch counts over all channels.
form("unpool_after_pool", "(float[1,3,8,8] x) => (float[1,4,8,8] y)",
     "v0 = Conv<pads=[1, 1, 1, 1], kernel_shape=[3, 3]>(x, c0, c1) v1, v2 = MaxPool<strides=[2, 2], kernel_shape=[2, 2]>(v0) v3,"
     " v4 = MaxPool<kernel_shape=[1, 1]>(v0) v5 = Slice(v4, c2, c3, c4) v6 = Sub(v2, v5) v7 = Relu(v1) v8 = Add(v6, c5) v9 = Reshape(v8, c6)"
     " v10 = ConstantOfShape(c7) v11 = Reshape(v10, c6) v12 = Reshape(v7, c6) v13 = Unsqueeze(v9, c6) v14 = ScatterND(v11, v13, v12)"
     " y = Reshape(v14, c7)",
     {"c0": weights(4, 3, 3, 3), "c1": weights(4), "c2": ints(0, 0), "c3": ints(1, 1), "c4": ints(2, 3),
      "c5": np.array([[[[0]], [[64]], [[128]], [[192]]]]), "c6": ints(-1), "c7": ints(1, 4, 8, 8)},
     opset=18, transposes=9)
form("deformed_convolution", "(float[1,4,6,6] x) => (float[1,5,6,6] y)",
     "v0 = Conv<pads=[1, 1, 1, 1], kernel_shape=[3, 3]>(x, c0, c1) v1 = Conv<pads=[1, 1, 1, 1], kernel_shape=[3, 3]>(x, c2, c3)"
     " v2 = Sigmoid(v1) y = DeformConv<pads=[1, 1, 1, 1]>(x, c4, v0, c5, v2)",
     {"c0": weights(18, 4, 3, 3), "c1": weights(18), "c2": weights(9, 4, 3, 3), "c3": weights(9), "c4": weights(5, 4, 3, 3), "c5": weights(5)},
     opset=20, transposes=9)
# A block of a diffusion transformer: scales, shifts and gates of both layers are computed (adaLN-Zero).
form("adaptive_block", "(float[2,5,16] x, float[2,16] z) => (float[2,5,16] y)",
     "v0 = Sigmoid(z) v1 = Mul(z, v0) v2 = Gemm<transB=1>(v1, c0, c1) v3, v4, v5, v6, v7, v8 = Split<axis=1, num_outputs=6>(v2)"
     " v9 = LayerNormalization<epsilon=1e-06, axis=-1>(x, c2) v10 = Unsqueeze(v4, c3) v11 = Add(v10, c4) v12 = Mul(v9, v11)"
     " v13 = Unsqueeze(v3, c3) v14 = Add(v12, v13) v15 = MatMul(v14, c5) v16 = Add(v15, c6) v17 = Reshape(v16, c7)"
     " v18 = Transpose<perm=[2, 0, 3, 1, 4]>(v17) v19 = Slice(v18, c8, c3, c8) v20 = Squeeze(v19, c8) v21 = Slice(v18, c3, c9, c8)"
     " v22 = Squeeze(v21, c8) v23 = Slice(v18, c9, c10, c8) v24 = Squeeze(v23, c8) v25 = Reshape(v22, c11)"
     " v26 = Transpose<perm=[0, 2, 1]>(v25) v27 = Reshape(v26, c12) v28 = Mul(v20, c13) v29 = Mul(v27, c13) v30 = MatMul(v28, v29)"
     " v31 = Softmax<axis=-1>(v30) v32 = MatMul(v31, v24) v33 = Transpose<perm=[0, 2, 1, 3]>(v32) v34 = Reshape(v33, c14)"
     " v35 = Unsqueeze(v5, c3) v36 = MatMul(v34, c15) v37 = Add(v36, c16) v38 = Mul(v35, v37) v39 = Add(x, v38) v40 = Unsqueeze(v8, c3)"
     " v41 = LayerNormalization<epsilon=1e-06, axis=-1>(v39, c2) v42 = Unsqueeze(v7, c3) v43 = Add(v42, c4) v44 = Mul(v41, v43)"
     " v45 = Unsqueeze(v6, c3) v46 = Add(v44, v45) v47 = MatMul(v46, c17) v48 = Add(v47, c18) v49 = Pow(v48, c19) v50 = Mul(c20, v49)"
     " v51 = Add(v48, v50) v52 = Mul(c21, v51) v53 = Tanh(v52) v54 = Add(v53, c4) v55 = Mul(c22, v54) v56 = Mul(v48, v55)"
     " v57 = MatMul(v56, c23) v58 = Add(v57, c24) v59 = Mul(v40, v58) y = Add(v39, v59)",
     {"c0": weights(96, 16), "c1": weights(96), "c2": np.full(16, 1, np.float32), "c3": ints(1), "c4": np.float32(1), "c5": weights(16, 48),
      "c6": weights(48), "c7": ints(2, 5, 3, 2, 8), "c8": ints(0), "c9": ints(2), "c10": ints(3), "c11": ints(-1, 5, 8),
      "c12": ints(2, 2, 8, 5), "c13": np.full([1], 0.59460354, np.float32), "c14": ints(2, 5, 16), "c15": weights(16, 16), "c16": weights(16),
      "c17": weights(16, 32), "c18": weights(32), "c19": np.float32(3), "c20": np.float32(0.044714998), "c21": np.float32(0.79788458),
      "c22": np.float32(0.5), "c23": weights(32, 16), "c24": weights(16)},
     opset=18, transposes=9)
# A block of Swin: the image is rolled, cut into windows, and put together again.
form("shifted_window_block", "(float[1,8,8,16] x) => (float[1,8,8,16] y)",
     'v0 = LayerNormalization<epsilon=9.9999997e-06, axis=-1>(x, c0, c1) v1 = Pad<mode="constant">(v0, c2) v2 = Slice(v1, c3, c4, c5)'
     " v3 = Slice(v1, c4, c6, c5) v4 = Concat<axis=1>(v3, v2) v5 = Slice(v4, c3, c4, c4) v6 = Slice(v4, c4, c6, c4)"
     " v7 = Concat<axis=2>(v6, v5) v8 = Reshape(v7, c7) v9 = Transpose<perm=[0, 1, 3, 2, 4, 5]>(v8) v10 = Reshape(v9, c8)"
     " v11 = MatMul(v10, c9) v12 = Add(v11, c10) v13 = Reshape(v12, c11) v14 = Transpose<perm=[2, 0, 3, 1, 4]>(v13)"
     " v15 = Gather<axis=0>(v14, c12) v16 = Gather<axis=0>(v14, c13) v17 = Gather<axis=0>(v14, c14) v18 = Mul(v15, c15)"
     " v19 = Transpose<perm=[0, 1, 3, 2]>(v16) v20 = MatMul(v18, v19) v21 = Add(v20, c16) v78 = Reshape(v21, c37) v79 = Unsqueeze(mask, c38)"
     " v80 = Add(v78, v79) v81 = Reshape(v80, c39) v82 = Softmax<axis=-1>(v81) v83 = MatMul(v82, v17) v84 = Transpose<perm=[0, 2, 1, 3]>(v83)"
     " v85 = Reshape(v84, c8) v86 = MatMul(v85, c40) v87 = Add(v86, c41) v88 = Reshape(v87, c42) v89 = Transpose<perm=[0, 1, 3, 2, 4, 5]>(v88)"
     " v90 = Reshape(v89, c43) v91 = Slice(v90, c3, c44, c5) v92 = Slice(v90, c44, c6, c5) v93 = Concat<axis=1>(v92, v91)"
     " v94 = Slice(v93, c3, c44, c4) v95 = Slice(v93, c44, c6, c4) v96 = Concat<axis=2>(v95, v94) v97 = Add(x, v96)"
     " v98 = LayerNormalization<epsilon=9.9999997e-06, axis=-1>(v97, c0, c1) v99 = MatMul(v98, c45) v100 = Add(v99, c46) v101 = Div(v100, c47)"
     " v102 = Erf(v101) v103 = Add(v102, c48) v104 = Mul(c49, v103) v105 = Mul(v100, v104) v106 = MatMul(v105, c50) v107 = Add(v106, c51)"
     " y = Add(v97, v107)",
     {"c0": np.full(16, 1, np.float32), "c1": np.full(16, 0, np.float32), "c2": ints(0, 0, 0, 0, 0, 0, 0, 0), "c3": ints(0), "c4": ints(2),
      "c5": ints(1), "c6": ints(8), "c7": ints(1, 2, 4, 2, 4, 16), "c8": ints(4, 16, 16), "c9": weights(16, 48), "c10": weights(48),
      "c11": ints(4, 16, 3, 2, 8), "c12": np.int64(0), "c13": np.int64(1), "c14": np.int64(2), "c15": np.float32(0.35355338),
      "c16": weights(1, 2, 16, 16), "c37": ints(1, 4, 2, 16, 16), "c38": ints(0, 2), "c39": ints(-1, 2, 16, 16), "c40": weights(16, 16),
      "c41": weights(16), "c42": ints(1, 2, 2, 4, 4, 16), "c43": ints(1, 8, 8, 16), "c44": ints(6), "c45": weights(16, 64), "c46": weights(64),
      "c47": np.float32(1.4142135), "c48": np.float32(1), "c49": np.float32(0.5), "c50": weights(64, 16), "c51": weights(16),
      "mask": np.where(RANDOM.random((4, 16, 16)) < 0.3, np.float32(-100), np.float32(0))},
     opset=18, transposes=9)
# Windows and heads in one transposition of seven axes, by the other exporter.
form("windows_and_heads", "(float[1,4,4,8] x) => (float[1,4,4,8] y)",
     "v0 = Slice(x, c0, c1, c0) v1 = Slice(x, c2, c0, c0) v2 = Concat<axis=1>(v0, v1) v3 = Slice(v2, c0, c1, c3) v4 = Slice(v2, c2, c0, c3)"
     " v5 = Concat<axis=2>(v3, v4) v6 = LayerNormalization<axis=-1, epsilon=9.9999997e-06>(v5, c4, c5) v7 = MatMul(v6, c6) v8 = Add(c7, v7)"
     " v9 = Reshape(v8, c8) v10 = Reshape(v9, c9) v11 = Transpose<perm=[5, 0, 1, 3, 2, 4, 6]>(v10) v12 = Reshape(v11, c10)"
     " v13 = Gather<axis=0>(v12, c11) v14 = Gather<axis=0>(v12, c12) v15 = Transpose<perm=[0, 1, 3, 2]>(v14) v16 = MatMul(v13, v15)"
     " v17 = Mul(v16, c13) v18 = Softmax<axis=-1>(v17) v19 = Gather<axis=0>(v12, c14) v20 = MatMul(v18, v19) v21 = Reshape(v20, c15)"
     " v22 = Transpose<perm=[1, 2, 4, 3, 5, 0, 6]>(v21) v23 = Reshape(v22, c16) v24 = MatMul(v23, c17) v25 = Add(c18, v24)"
     " v26 = Slice(v25, c19, c1, c0) v27 = Slice(v25, c2, c19, c0) v28 = Concat<axis=1>(v26, v27) v29 = Slice(v28, c19, c1, c3)"
     " v30 = Slice(v28, c2, c19, c3) v31 = Concat<axis=2>(v29, v30) y = Add(x, v31)",
     {"c0": ints(1), "c1": ints(9223372036854775807), "c2": ints(0), "c3": ints(2), "c4": weights(8), "c5": weights(8), "c6": weights(8, 24),
      "c7": weights(24), "c8": ints(1, 2, 2, 2, 2, 3, 8), "c9": ints(1, 2, 2, 2, 2, 6, 4), "c10": ints(3, 2, 4, 4, 4), "c11": np.int64(0),
      "c12": np.int64(1), "c13": np.float32(0.5), "c14": np.int64(2), "c15": ints(2, 1, 2, 2, 2, 2, 4), "c16": ints(1, 4, 4, 8),
      "c17": weights(8, 8), "c18": weights(8), "c19": ints(-1)},
     opset=17, transposes=9)
# Windows of a volume: arithmetic on eight axes.
form("windows_of_volume", "(float[1,4,4,4,4] x) => (float[1,4,4,4,4] y)",
     "v0 = Reshape(x, c0) v1 = Transpose<perm=[0, 1, 3, 5, 2, 4, 6, 7]>(v0) v2 = Sigmoid(v1) v3 = Mul(v1, v2)"
     " v4 = LayerNormalization<epsilon=9.9999997e-06, axis=-1>(v1, c1, c2) v5 = MatMul(v4, c3) v6 = Add(v5, c4) v7 = Add(v3, v6)"
     " v8 = Softmax<axis=-1>(v7) v9 = ReduceMean(v7, c5) v10 = Add(v8, v9) v11 = Transpose<perm=[0, 1, 4, 2, 5, 3, 6, 7]>(v10)"
     " y = Reshape(v11, c6)",
     {"c0": ints(1, 2, 2, 2, 2, 2, 2, 4), "c1": np.full([4], 1, np.float32), "c2": np.full([4], 0, np.float32), "c3": weights(4, 4),
      "c4": weights(4), "c5": ints(4, 5), "c6": ints(1, 4, 4, 4, 4)},
     opset=18, transposes=9)

# Operators on eight axes, which the engine's tensors do not have: axes that an operator treats alike are merged.
AXES = "2,3,2,3,2,3,2,2"


def deep(name, body, result=AXES, second=AXES, constants=None, type_of_result="float", **options):
    """`body` makes r [result] of a [AXES] and, where it names b, b [second]; the model's inputs and outputs are lists."""
    count = lambda axes: int(np.prod([int(d) for d in axes.split(",")]))
    has_second = "b" in body.replace("(", " ").replace(")", " ").replace(",", " ").split()
    further = f", float[{count(second)}] z" if has_second else ""
    form("deep_" + name, f"(float[{count(AXES)}] x{further}) => ({type_of_result}[{count(result)}] y)",
         "a = Reshape(x, axes) " + ("b = Reshape(z, second) " if has_second else "") + body + " y = Reshape(r, flat)",
         {"axes": ints(*map(int, AXES.split(","))), "second": ints(*map(int, second.split(","))), "flat": ints(-1), **(constants or {})}, **options)


deep("function", "r = Sigmoid(a)", steps={"Copy": 0})
deep("sum", "r = Add(a, b)", steps={"Copy": 0})
deep("product_by_rows", "r = Mul(a, b)", second="3,2,1,1,2", steps={"Copy": 0})
deep("product_by_one_axis", "r = Mul(b, a)", second="2,1,1,3,1,1,2,1")
deep("choice", "g = Greater(a, b) r = Where(g, a, b)")
deep("integers", "r = Cast<to=6>(a)", type_of_result="int32")
deep("softmax", "r = Softmax(a)", steps={"Copy": 0})
deep("softmax_inside", "r = Softmax<axis=3>(a)")
deep("mean", "r = ReduceMean<axes=[4,5]>(a)", "2,3,2,3,1,1,2,2")
deep("maxima_of_two", "r = ReduceMax<axes=[1,5], keepdims=0>(a)", "2,2,3,2,2,2")
deep("join", "r = Concat<axis=3>(a, b)", "2,3,2,6,2,3,2,2")
deep("join_last", "r = Concat<axis=-1>(a, b)", "2,3,2,3,2,3,2,4")
deep("layer_norm", "r = LayerNormalization<axis=-2>(a, s)", constants={"s": weights(2, 2)})
deep("dense", "d = MatMul(a, w) f = Relu(d) r = Add(f, f)", "2,3,2,3,2,3,2,5", constants={"w": weights(2, 5)})
deep("products", "r = MatMul(a, b)", "2,3,2,3,2,3,2,5", "2,3,2,3,2,3,2,5")
deep("first_maximum", "r = ArgMax<axis=4>(a)", "2,3,2,3,1,3,2,2", type_of_result="int64")
deep("largest", "r, p = TopK<axis=5>(a, k)", "2,3,2,3,2,2,2,2", constants={"k": ints(2)})
deep("rows", "r = Gather<axis=3>(a, i)", "2,3,2,4,2,3,2,2", constants={"i": ints(2, 0, 0, 1)})
deep("rows_by_data", "l = Reshape(b, flat) m = Mul(l, three) c = Abs(m) i = Cast<to=7>(c) r = Gather<axis=3>(a, i)", "2,3,2,4,2,3,2,2", "4", {"three": np.float32(2.999)})
deep("fewer_elements", "m = Mul(b, three) c = Abs(m) i = Cast<to=7>(c) r = GatherElements<axis=3>(a, i)", "2,3,2,4,2,2,2,2", "2,3,2,4,2,2,2,2",
     {"three": np.float32(2.999)})
deep("running_sum", "r = CumSum(a, axis)", constants={"axis": np.int64(3)}, transposes=4)

if __name__ == "__main__":
    run_forms(CASES, {})
