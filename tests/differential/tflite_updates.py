# SPDX-License-Identifier: MIT
"""Random operators of TensorFlow Lite that write updates, reduce rows, look at windows of any axis or work on integers: `RULES`."""
import numpy as np

from tflite_elementwise import ACTIVATIONS
from tflite_graph import B, F, I, L, Rejected
from tflite_movement import anything, integers
from tflite_windows import bias, weights, window


def place(g, value):
    """Indices: a constant or an input."""
    return g.input(value) if value.size == 0 or g.some(0.5) else g.constant(value)


def dynamic_update_slice(g, op):
    x = anything(g, rank=range(1, 6))
    size = [n if g.some(0.4) else g.choose.randint(min(1, n), n) for n in x.shape]
    start = np.array([g.choose.randint(-2, n + 1) for n in x.shape], g.choose.choice([I, I, L]))
    g.do(op, [x, g.fresh(size, x.dtype), place(g, start)], [x.dtype], ("DynamicUpdateSliceOptions", {}), exact=True)


def scatter_nd(g, op):
    shape = [max(1, n) for n in g.shape(g.choose.choice([1, 2, 2, 3, 4]))]
    depth = g.choose.randint(1, len(shape))
    rows = [max(1, n) for n in g.shape(g.choose.choice([1, 1, 2]))]
    places = np.stack([g.sample(rows, I, 0, n - 1) for n in shape[:depth]], -1)
    dtype = g.choose.choice([F, F, F, I, L, B, np.int8, np.uint8])
    g.do(op, [place(g, places), g.fresh(rows + shape[depth:], dtype, constants=0), integers(g, shape)], [dtype], ("ScatterNdOptions", {}), exact=True)


def sparse_to_dense(g, op):
    shape = [max(1, n) for n in g.shape(g.choose.choice([1, 2, 3, 4]))]
    count, dtype = g.choose.randint(1, 6), g.choose.choice([F, F, I, L])
    flat = g.numbers.permutation(int(np.prod(shape)))[:count]
    places = np.stack(np.unravel_index(np.sort(flat), shape), -1).astype(g.choose.choice([I, L]))
    if len(shape) == 1 and g.some(0.5):
        places = places[:, 0]
    numbers = g.fresh([] if g.some(0.2) else [len(places)], dtype, constants=0)
    g.do(op, [place(g, places), np.array(shape, places.dtype), numbers, g.sample([], dtype)], [dtype], ("SparseToDenseOptions", {}), exact=True)


def segment_sum(g, op):
    x = g.pick(g.choose.choice([F, F, I]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    rows = np.cumsum(g.sample([x.shape[0]], I, 0, 1), dtype=I)
    rows -= rows[0]
    g.do(op, [x, g.constant(rows)], [x.dtype], ("SegmentSumOptions", {}), exact=True)


def unsorted_segments(g, op):
    # Longer products overflow, and are NaN where a 0 follows, as in LiteRT; the evaluator, in double precision, goes on to the 0.
    longest = 32 if op.endswith("PROD") else 1 << 20
    x = g.pick(g.choose.choice([F, F, I]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0 and int(np.prod(t.shape)) <= longest)
    count = g.choose.randint(1, 6)
    rows = g.sample(x.shape[:g.choose.randint(1, x.rank)], I, -3 if g.some(0.4) else 0, count - 1)
    g.do(op, [x, place(g, rows), np.int32(count)], [x.dtype], ("UnsortedSegmentProdOptions", {}) if op.endswith("PROD") else None, exact=True)


def matrix_diagonal(g, op):
    dtype = g.choose.choice([F, F, I, L])
    if op == "MATRIX_DIAG":
        return g.do(op, [g.pick(dtype, rank=range(1, 4))], [dtype], exact=True)
    x = g.pick(dtype, rank=range(2, 5), where=lambda t: t.rank > 1 and min(t.shape) > 0)
    g.do(op, [x, g.fresh([*x.shape[:-2], min(x.shape[-2:])], dtype)], [dtype], exact=True)


def volume(g):
    return g.fresh([1 if g.some(0.7) else 2, *(g.choose.randint(1, 6) for _ in range(3)), g.choose.choice([1, 2, 3, 4])], constants=0)


def convolution(g, op):
    x, out = volume(g), g.choose.choice([1, 2, 3, 4, 8])
    kernel = [g.choose.choice([1, 2, 3, 3]) for _ in range(3)]
    table = {"padding": g.choose.choice([0, 1]), "fusedActivationFunction": g.choose.choice(ACTIVATIONS),
             **{f"stride{d}": g.choose.choice([1, 1, 1, 2, 3]) for d in "DHW"}}
    if op == "CONV_3D":
        table.update({f"dilation{d}Factor": g.choose.choice([1, 1, 1, 2]) for d in "DHW"})
        return g.do(op, [x, weights(g, [*kernel, x.shape[4], out]), bias(g, out)][:g.choose.choice([2, 3])], [F], ("Conv3DOptions", table), exact=True)
    steps = [table[f"stride{d}"] for d in "DHW"]
    if table["padding"] == 0:
        size = [n * s - g.choose.randint(0, s - 1) for n, s in zip(x.shape[1:4], steps)]
    else:
        size = [(n - 1) * s + k + g.choose.randint(0, s - 1) for n, s, k in zip(x.shape[1:4], steps, kernel)]
    g.do(op, [integers(g, [x.shape[0], *size, out]), weights(g, [*kernel, out, x.shape[4]]), x, bias(g, out)][:g.choose.choice([3, 4])], [F], ("Conv3DOptions", table), exact=True)


def square_pool(g, op):
    x = g.pick(rank=4, where=lambda t: t.rank == 4 and min(t.shape) > 0)
    table = {"padding": g.choose.choice([0, 1]), "fusedActivationFunction": g.choose.choice(ACTIVATIONS), "strideH": g.choose.choice([1, 2]), "strideW": g.choose.choice([1, 2, 3]),
             "filterHeight": window(g), "filterWidth": window(g)}
    g.do(op, [x], [F], ("Pool2DOptions", table))


def dilate(g, op):
    x = g.pick(g.choose.choice([F, F, I, L]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    g.do(op, [x, integers(g, [g.choose.choice([1, 1, 2, 3]) for _ in x.shape]), g.sample([], x.dtype)], [x.dtype], exact=True)


def pad(g, op):
    x = g.pick(g.choose.choice([F, F, I, L]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    between = [g.choose.choice([0, 0, 0, 1, 2]) for _ in x.shape]
    low, high = ([g.choose.choice([0, 0, 1, 2, -1]) for _ in x.shape] for _ in range(2))
    if any((n - 1) * (b + 1) + 1 + a + z < 1 for n, a, z, b in zip(x.shape, low, high, between)):
        raise Rejected("nothing is left")
    table = {"edgePaddingLow": low, "edgePaddingHigh": high, "interiorPadding": between}
    g.do(op, [x, g.sample([], x.dtype)], [x.dtype], ("StablehloPadOptions", table), exact=True)


def reduce_window(g, op):
    function = g.choose.choice([1, 1, 2, 3, 4, 5, 6])
    dtype = B if function > 4 else g.choose.choice([F, F, I])
    x = g.pick(dtype, rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    sides, steps, apart = [], [], []
    for n in x.shape:
        apart.append(g.choose.choice([1, 1, 2]))
        sides.append(g.choose.choice([w for w in (1, 1, 2, 3, 4) if (w - 1) * apart[-1] + 1 <= n]))
        steps.append(g.choose.choice([1, 1, 2, 3]))
    begin = {1: 0, 2: 1, 3: 3, 4: -3, 5: 1, 6: 0}[function]
    g.do(op, [x, np.array(begin, dtype), *(np.array(v, L) for v in (sides, steps, apart))], [dtype], ("ReduceWindowOptions", {"reduceFunction": function}), exact=True)


def bits(g, op):
    if op == "RIGHT_SHIFT":
        x = g.pick(I, low=-70000, high=70000)
        return g.do(op, [x, g.sample(x.shape, I, 0, 20)], [I], ("RightShiftOptions", {}), exact=True)
    x = g.pick(I)
    g.do(op, [x, g.partner(x)], [I], ("BitwiseXorOptions", {}), exact=True)


def bucketize(g, op):
    x = g.pick_exact(dtype=g.choose.choice([F, F, I, L]))
    g.do(op, [x], [I], ("BucketizeOptions", {"boundaries": sorted((g.numbers.integers(-12, 13, g.choose.randint(1, 6)) / 4).tolist())}), exact=True)


def broadcast_arguments(g, op):
    x = anything(g, rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    dtype = g.choose.choice([I, L])
    other = [g.length(4) if n == 1 else g.choose.choice([n, 1]) for n in x.shape]
    shape = g.do(op, [np.array(x.shape, dtype), np.array(other[g.choose.randint(0, len(other) - 1):], dtype)], [dtype])
    g.do("BROADCAST_TO", [x, shape], [x.dtype], ("BroadcastToOptions", {}), exact=True)


def stablehlo(g, op):
    x = g.pick(g.choose.choice([F, F, I]))
    g.do(op, [x, g.fresh(x.shape, x.dtype, constants=0.4)], [x.dtype], exact=True)


def stablehlo_gather(g, op):
    x = g.pick(g.choose.choice([F, F, F, I, L]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    axes = g.choose.sample(range(x.rank), g.choose.randint(1, x.rank))
    sizes = [g.choose.choice([1, 1, n, g.choose.randint(1, n)]) for n in x.shape]
    collapsed = [d for d, n in enumerate(sizes) if n == 1 and g.some(0.6)]
    batch = [max(1, n) for n in g.shape(g.choose.choice([0, 1, 1, 2]))]
    vector = g.choose.randint(0, len(batch))
    starts = np.stack([g.sample(batch, g.choose.choice([I]), -2, n + 1) for n in (x.shape[a] for a in axes)], vector)
    offsets = sorted(g.choose.sample(range(len(batch) + x.rank - len(collapsed)), x.rank - len(collapsed)))
    shape = [0] * (len(batch) + len(offsets))
    kept = iter([n for d, n in enumerate(sizes) if d not in collapsed])
    rest = iter(batch)
    shape = [next(kept) if d in offsets else next(rest) for d in range(len(shape))]
    table = {"offsetDims": offsets, "collapsedSliceDims": collapsed, "startIndexMap": axes, "indexVectorDim": vector, "sliceSizes": sizes}
    g.do(op, [x, place(g, starts)], [x.dtype], ("StablehloGatherOptions", table), exact=True, shape=shape)


RULES = {"DYNAMIC_UPDATE_SLICE": dynamic_update_slice, "SCATTER_ND": scatter_nd, "SPARSE_TO_DENSE": sparse_to_dense, "SEGMENT_SUM": segment_sum,
         **{f"UNSORTED_SEGMENT_{how}": unsorted_segments for how in ("SUM", "PROD", "MAX", "MIN")}, "MATRIX_DIAG": matrix_diagonal, "MATRIX_SET_DIAG": matrix_diagonal,
         "CONV_3D": convolution, "CONV_3D_TRANSPOSE": convolution, "L2_POOL_2D": square_pool, "DILATE": dilate, "STABLEHLO_PAD": pad, "REDUCE_WINDOW": reduce_window,
         "RIGHT_SHIFT": bits, "BITWISE_XOR": bits, "BUCKETIZE": bucketize, "BROADCAST_ARGS": broadcast_arguments,
         "STABLEHLO_GATHER": stablehlo_gather, **{f"STABLEHLO_{how}": stablehlo for how in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM")}}
