# SPDX-License-Identifier: MIT
"""Random operators of TensorFlow Lite on images, windows and matrices: `RULES`, by the names of the operators that they sample."""
import numpy as np

from tflite_elementwise import ACTIVATIONS
from tflite_graph import F, I, L, Rejected
from tflite_movement import axis_of, integers, signed

def image(g):
    """Four dimensions; no empty ones, which LiteRT's windows do not take."""
    return g.pick(rank=4, where=lambda t: t.rank == 4 and min(t.shape) > 0)


def window(g):
    return g.choose.choice([1, 1, 2, 3, 3, 4, 5, 7])


def strides(g):
    h = g.choose.choice([1, 1, 1, 2, 2, 3, 4])
    return {"strideH": h, "strideW": h if g.some(0.7) else g.choose.choice([1, 2, 3])}


def dilations(g):
    h = g.choose.choice([1, 1, 1, 2, 3])
    return {"dilationHFactor": h, "dilationWFactor": h if g.some(0.7) else g.choose.choice([1, 2])}


def weights(g, shape):
    """Constants, however they are stored."""
    return g.floats(g.sample(shape, F, -2, 2))


def bias(g, n):
    return g.constant(g.sample([n], F, -3, 3) * g.some(0.8))


def common(g):
    return {"padding": g.choose.choice([0, 1]), "fusedActivationFunction": g.choose.choice(ACTIVATIONS)}


def convolution(g, op):
    x = image(g)
    channels = x.shape[3]
    groups = g.choose.choice([n for n in range(1, channels + 1) if channels % n == 0]) if g.some(0.15) else 1
    outputs = groups * g.choose.choice([1, 1, 2, 3, 4, 8, 16])
    w = weights(g, [outputs, window(g), window(g), channels // groups])
    g.do(op, [x, w, bias(g, outputs)], [F], ("Conv2DOptions", {**common(g), **strides(g), **dilations(g)}), exact=True)


def depthwise(g, op):
    x = image(g)
    multiplier = g.choose.choice([1, 1, 1, 2, 3])
    outputs = x.shape[3] * multiplier
    g.do(op, [x, weights(g, [1, window(g), window(g), outputs]), bias(g, outputs)], [F], ("DepthwiseConv2DOptions", {**common(g), **strides(g), **dilations(g), "depthMultiplier": multiplier}), exact=True)


def transposed(g, op):
    x = image(g)
    options, outputs = {**common(g), **strides(g)}, g.choose.choice([1, 2, 3, 4])
    kernel = [window(g), window(g)]
    shape = [x.shape[0]]
    for n, k, s in zip(x.shape[1:3], kernel, (options["strideH"], options["strideW"])):
        if options["padding"] == 0:
            shape.append(n * s - g.choose.randint(0, s - 1))
        else:
            shape.append((n - 1) * s + k + (g.choose.randint(0, s - 1) if g.some(0.3) else 0))
    w = weights(g, [outputs, *kernel, x.shape[3]])
    g.do(op, [integers(g, [*shape, outputs]), w, x, *([bias(g, outputs)] if g.some(0.6) else [])], [F], ("TransposeConvOptions", options), exact=True)


def pool(g, op):
    x = image(g)
    options = {**common(g), **strides(g), "filterHeight": window(g), "filterWidth": window(g)}
    g.do(op, [x], [F], ("Pool2DOptions", options), exact=op == "MAX_POOL_2D")


def resize(g, op):
    x = image(g)
    size = [g.choose.choice([n, 2 * n, g.choose.randint(1, 3 * n), g.choose.randint(1, 24)]) for n in x.shape[1:3]]
    corners, half = g.choose.choice([(False, False), (True, False), (False, True)])
    table = "ResizeBilinearOptions" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    g.do(op, [x, integers(g, size)], [F], (table, {"alignCorners": corners, "halfPixelCenters": half}), exact=op != "RESIZE_BILINEAR")


def paddings(g, x, maximum=4):
    pairs = [[g.choose.randint(0, maximum) if g.some(0.6) else 0 for _ in range(2)] for _ in x.shape]
    if x.rank == 4 and g.some(0.5):
        pairs[0] = pairs[3] = [0, 0]
    return pairs


def pad(g, op):
    x = g.pick(F if g.some(0.8) else g.choose.choice([I, L]), rank=range(1, 5))
    dtype = g.choose.choice([I, I, L])
    if op == "PAD":
        return g.do(op, [x, np.array(paddings(g, x), dtype)], [x.dtype], ("PadOptions", {}), exact=True)
    g.do(op, [x, np.array(paddings(g, x), dtype), g.sample([], x.dtype)], [x.dtype], ("PadV2Options", {}), exact=True)


def mirror_pad(g, op):
    x = g.pick(F if g.some(0.8) else I, rank=range(1, 5))
    mode = g.choose.choice([0, 1])
    maximum = [n - 1 if mode == 0 else n for n in x.shape]
    pairs = [[g.choose.randint(0, max(0, min(n, 3))) for _ in range(2)] for n in maximum]
    g.do(op, [x, integers(g, pairs)], [x.dtype], ("MirrorPadOptions", {"mode": mode}), exact=True)


def depth_to_space(g, op):
    b = g.choose.choice([2, 2, 3, 1])
    if op == "DEPTH_TO_SPACE":
        x = g.fresh([g.choose.choice([1, 1, 2]), g.length(5), g.length(5), b * b * g.choose.randint(1, 3)], constants=0)
        return g.do(op, [x], [F], ("DepthToSpaceOptions", {"blockSize": b}), exact=True)
    x = g.fresh([g.choose.choice([1, 1, 2]), b * g.length(4), b * g.length(4), g.choose.randint(1, 4)], constants=0)
    g.do(op, [x], [F], ("SpaceToDepthOptions", {"blockSize": b}), exact=True)


def space_to_batch(g, op):
    rank = g.choose.choice([3, 4, 4])
    spatial = rank - 2
    block = [g.choose.choice([1, 2, 2, 3]) for _ in range(spatial)]
    pairs = [[g.choose.randint(0, 2), g.choose.randint(0, 2)] if g.some(0.5) else [0, 0] for _ in block]
    if op == "SPACE_TO_BATCH_ND":
        lengths = [b * g.choose.randint(2, 4) - sum(p) for b, p in zip(block, pairs)]
        if min(lengths) < 1:
            raise Rejected("padding alone")
        x = g.fresh([g.choose.randint(1, 2), *lengths, g.choose.randint(1, 4)], constants=0)
    else:
        x = g.fresh([g.choose.randint(1, 2) * int(np.prod(block)), *[g.choose.randint(2, 5) for _ in block], g.choose.randint(1, 4)], constants=0)
        if any(sum(p) >= b * n for b, p, n in zip(block, pairs, x.shape[1:])):
            raise Rejected("nothing is left")
    table = "SpaceToBatchNDOptions" if op == "SPACE_TO_BATCH_ND" else "BatchToSpaceNDOptions"
    g.do(op, [x, integers(g, block), integers(g, pairs)], [F], (table, {}), exact=True)


def local_response(g, op):
    x = image(g)
    options = {"radius": g.choose.randint(0, 4), "bias": g.choose.choice([1.0, 2.0, 0.5]), "alpha": g.choose.choice([1.0, 0.5, 0.01]), "beta": g.choose.choice([0.5, 0.75, 1.0])}
    g.do(op, [x], [F], ("LocalResponseNormalizationOptions", options))


def fully_connected(g, op):
    x = g.pick(rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    keep = g.some(0.3)
    depth = x.shape[-1] if keep or g.some(0.7) else x.value.size
    if depth > 400:
        raise Rejected("too deep")
    outputs = g.choose.choice([1, 2, 3, 5, 8, 16, 17])
    operands = [x, weights(g, [outputs, depth])]
    operands += [bias(g, outputs)] if g.some(0.8) else []
    options = {"fusedActivationFunction": g.choose.choice(ACTIVATIONS), "keepNumDims": keep}
    g.do(op, operands, [F], ("FullyConnectedOptions", options), exact=True)


def batch_mat_mul(g, op):
    x = g.pick(rank=range(2, 6), where=lambda t: t.rank >= 2 and min(t.shape[-2:]) > 0)
    turn_x, turn_y = g.some(0.3), g.some(0.3)
    depth, columns = x.shape[-2 if turn_x else -1], g.choose.choice([1, 2, 3, 5, 16])
    shape = g.broadcast(x.shape[:-2]) + ([columns, depth] if turn_y else [depth, columns])
    g.do(op, [x, g.fresh(shape, constants=0.5)], [F], ("BatchMatMulOptions", {"adjX": turn_x, "adjY": turn_y}), exact=True)


def softmax(g, op):
    x = g.pick(rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0 and np.max(np.abs(t.value)) < 60)
    g.do(op, [x], [F], ("SoftmaxOptions", {"beta": g.choose.choice([1.0, 1.0, 0.5, 2.0])}) if op == "SOFTMAX" else None)


def l2_normalize(g, op):
    x = g.pick(rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    g.do(op, [x], [F], ("L2NormOptions", {}))


def axes(g, x):
    chosen = [a for a in range(x.rank) if g.some(0.5)]
    if x.rank == 4 and g.some(0.3):
        chosen = [1, 2]
    g.choose.shuffle(chosen)
    chosen = [signed(g, a, x.rank) for a in chosen] or [signed(g, axis_of(g, x), x.rank)]
    return integers(g, chosen if len(chosen) > 1 or g.some(0.7) else chosen[0])


def reduce(g, op):
    dtype = F if op == "MEAN" else g.choose.choice([F, F, F, F, I, L])
    low, high = (-1, 2) if op == "REDUCE_PROD" else (-4, 4)
    x = g.pick(dtype, rank=range(1, 6), low=low, high=high, where=lambda t: t.rank and min(t.shape) > 0)
    g.do(op, [x, axes(g, x)], [dtype], ("ReducerOptions", {"keepDims": g.some(0.5)}), exact=op not in ("MEAN", "REDUCE_PROD"))


def reduce_logical(g, op):
    x = g.pick(np.bool_, rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    g.do(op, [x, axes(g, x)], [np.bool_], ("ReducerOptions", {"keepDims": g.some(0.5)}))


def arg_reduce(g, op):
    dtype = g.choose.choice([F, F, F, I])
    wanted = {"rank": range(1, 5), "low": -9, "high": 9, "where": lambda t: t.rank and min(t.shape) > 0}
    x = g.pick_exact(**wanted) if dtype == F else g.pick(dtype, **wanted)
    result = g.choose.choice([I, L])
    table = "ArgMaxOptions" if op == "ARG_MAX" else "ArgMinOptions"
    g.do(op, [x, np.int32(signed(g, axis_of(g, x), x.rank))], [result], (table, {"outputType": 4 if result == L else 2}))


def top_k(g, op):
    dtype = g.choose.choice([F, F, I, L])
    wanted = {"rank": range(1, 5), "low": -20, "high": 20, "where": lambda t: t.rank and min(t.shape) > 0}
    x = g.pick_exact(**wanted) if dtype == F else g.pick(dtype, **wanted)
    g.do_many(op, [x, np.int32(g.choose.randint(1, x.shape[-1]))], [dtype, I], None, exact=True)


def cumulative_sum(g, op):
    x = g.pick(g.choose.choice([F, F, I, L]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    g.do(op, [x, np.int32(signed(g, axis_of(g, x), x.rank))], [x.dtype], ("CumsumOptions", {"exclusive": g.some(0.4), "reverse": g.some(0.4)}), exact=True)


def densify(g, op):
    """Sparse weights of a dense layer."""
    rows, columns = g.choose.randint(1, 8), g.choose.randint(1, 9)
    x = g.fresh([g.choose.randint(1, 4), columns], constants=0)
    g.do("FULLY_CONNECTED", [x, g.dense(g.sample([rows, columns]))], [F], ("FullyConnectedOptions", {}), exact=True)


def detections(g, op):
    """What is behind the detections that there are is not defined: it is replaced by zeros."""
    from flatbuffers import flexbuffers
    boxes, classes, background, maximum = g.choose.choice([1, 5, 20, 40]), g.choose.randint(1, 3), g.choose.randint(0, 1), g.choose.choice([1, 5, 10, 30])
    options = {"max_detections": maximum, "max_classes_per_detection": 1, "detections_per_class": g.choose.choice([3, 7, 100]), "use_regular_nms": g.some(0.5),
               "nms_score_threshold": g.choose.choice([0.0, 0.1, 0.3, 0.9]), "nms_iou_threshold": g.choose.choice([0.2, 0.4, 0.7]), "num_classes": classes,
               "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    anchors = np.concatenate([g.numbers.uniform(0, 1, [boxes, 2]), g.numbers.uniform(0.1, 0.4, [boxes, 2])], 1)
    count = boxes * (classes + background)
    codes, scores = g.numbers.uniform(-2, 2, [1, boxes, 4]), (g.numbers.permutation(count) + 0.5).reshape(1, boxes, -1) / count
    made = g.do_many(op, [g.input(codes.astype(F)), g.input(scores.astype(F)), g.constant(anchors.astype(F))], [F] * 4, None, custom=bytes(flexbuffers.Dumps(options)))
    for t in made[:3]:
        t.hidden = True
    there = g.do("LESS", [g.constant(np.arange(maximum, dtype=F)), made[3]], [np.bool_])
    for t in made[1:3]:
        g.do("SELECT_V2", [there, t, g.constant(np.zeros([1, maximum], F))], [F], shape=[1, maximum])
    there = g.do("RESHAPE", [there, integers(g, [maximum, 1])], [np.bool_], ("ReshapeOptions", {"newShape": [maximum, 1]}))
    g.do("SELECT_V2", [there, made[0], g.constant(np.zeros([1, maximum, 4], F))], [F], shape=[1, maximum, 4])


def suppression(g, op):
    boxes = g.choose.choice([1, 2, 5, 20])
    before, g.quarters = g.quarters, False
    corners, scores = g.input(g.numbers.uniform(0, 1, [boxes, 4]).astype(F)), g.input(g.numbers.permutation(np.arange(boxes, dtype=F) / max(boxes, 1)))
    g.quarters = before
    limits = [np.int32(g.choose.choice([1, 3, boxes, boxes + 4])), F(g.choose.choice([0.2, 0.5, 1.0])), F(g.choose.choice([-1.0, 0.2, 0.5, 3.0]))]
    if op == "NON_MAX_SUPPRESSION_V4":
        return g.do_many(op, [corners, scores, *limits], [I, I])
    g.do_many(op, [corners, scores, *limits, F(0)], [I, F, I], exact=True)


RULES = {"CONV_2D": convolution, "DEPTHWISE_CONV_2D": depthwise, "TRANSPOSE_CONV": transposed, "AVERAGE_POOL_2D": pool, "MAX_POOL_2D": pool, "RESIZE_BILINEAR": resize,
         "RESIZE_NEAREST_NEIGHBOR": resize, "PAD": pad, "PADV2": pad, "MIRROR_PAD": mirror_pad, "DEPTH_TO_SPACE": depth_to_space, "SPACE_TO_DEPTH": depth_to_space,
         "SPACE_TO_BATCH_ND": space_to_batch, "BATCH_TO_SPACE_ND": space_to_batch, "LOCAL_RESPONSE_NORMALIZATION": local_response, "FULLY_CONNECTED": fully_connected,
         "BATCH_MATMUL": batch_mat_mul, "SOFTMAX": softmax, "LOG_SOFTMAX": softmax, "L2_NORMALIZATION": l2_normalize, "MEAN": reduce, "SUM": reduce, "REDUCE_MAX": reduce,
         "REDUCE_MIN": reduce, "REDUCE_PROD": reduce, "REDUCE_ANY": reduce_logical, "REDUCE_ALL": reduce_logical, "ARG_MAX": arg_reduce, "ARG_MIN": arg_reduce,
         "TOPK_V2": top_k, "DENSIFY": densify, "TFLite_Detection_PostProcess": detections, "CUMSUM": cumulative_sum, "NON_MAX_SUPPRESSION_V4": suppression, "NON_MAX_SUPPRESSION_V5": suppression}
