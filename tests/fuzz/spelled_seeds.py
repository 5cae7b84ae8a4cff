# SPDX-License-Identifier: MIT
"""Small ONNX models of operators that are written by others before anything looks at them (tools/nsk/spell), of sequences, and of tensors that the
engine has in another form."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

F, I = TensorProto.FLOAT, TensorProto.INT64
MS = "com.microsoft"
random = np.random.default_rng(5)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def model(nodes, inputs, constants, outputs, opset=23):
    """inputs: {name: shape or (type, shape)}."""
    typed = {n: s if isinstance(s, tuple) else (F, s) for n, s in inputs.items()}
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, t, s) for n, (t, s) in typed.items()],
                              [helper.make_tensor_value_info(o, F, None) for o in outputs], [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)], ir_version=10)


def one(op, shapes, constants=(), outputs=1, domain=MS, opset=23, **attributes):
    names = {f"c{i}": c for i, c in enumerate(constants) if c is not None}
    read = [*(f"x{i}" for i in range(len(shapes))), *(f"c{i}" if c is not None else "" for i, c in enumerate(constants))]
    results = [f"y{i}" for i in range(outputs)]
    return model([helper.make_node(op, read, results, domain=domain, **attributes)], {f"x{i}": s for i, s in enumerate(shapes)}, names, results, opset)


def of_runtime():
    yield "FusedConv", one("FusedConv", [[1, 2, 5, 5]], [floats(3, 2, 3, 3), floats(3)], activation="LeakyRelu", activation_params=[0.1], pads=[1, 1, 1, 1])
    yield "FusedGemm", one("FusedGemm", [[2, 3]], [floats(3, 4), floats(4)], activation="Relu", alpha=0.5)
    yield "FusedMatMul", one("FusedMatMul", [[3, 2, 4], [2, 4, 3]], transBatchA=1, alpha=0.25)
    for op in ("Gelu", "FastGelu", "QuickGelu", "Trilu"):
        yield "runtime_" + op, one(op, [[3, 4]])
    yield "BiasGelu", one("BiasGelu", [[3, 4]], [floats(4)])
    yield "runtime_GridSample", one("GridSample", [[1, 2, 4, 4], [1, 3, 3, 2]], mode="bicubic", padding_mode="reflection")
    yield "SkipLayerNormalization", one("SkipLayerNormalization", [[1, 3, 4], [1, 3, 4]], [floats(4), floats(4), floats(4)], 4)
    yield "SkipSimplified", one("SkipSimplifiedLayerNormalization", [[1, 3, 4], [1, 3, 4]], [floats(4)])
    yield "Simplified", one("SimplifiedLayerNormalization", [[1, 3, 4]], [floats(4)], domain="", axis=-1)
    embedding = [None, floats(9, 4), floats(5, 4), None, floats(4), floats(4)]
    yield "EmbedLayerNormalization", one("EmbedLayerNormalization", [(TensorProto.INT32, [1, 3])], embedding, 2)
    yield "runtime_Attention", one("Attention", [[1, 3, 4]], [floats(4, 12), floats(12), np.array([[1, 1, 0]], np.int32)], num_heads=2, unidirectional=1)
    yield "MultiHeadAttention", one("MultiHeadAttention", [[1, 3, 4], [1, 5, 4], [1, 5, 4]], [floats(12)], num_heads=2)
    yield "runtime_RotaryEmbedding", one("RotaryEmbedding", [[1, 3, 8]], [np.array([[0, 1, 2]]), floats(5, 2), floats(5, 2)], num_heads=2, interleaved=1)
    blocks = [random.integers(0, 256, (3, 2, 8)).astype(np.uint8), floats(6), random.integers(0, 256, 3).astype(np.uint8)]
    yield "MatMulNBits", one("MatMulNBits", [[2, 32]], blocks, K=32, N=3, bits=4, block_size=16)
    stored = [random.integers(-9, 9, (1, 3, 8)).astype(np.int8), random.integers(-9, 9, (1, 2, 8)).astype(np.int8), floats(1, 16), None, None, None, None,
              np.float32([0.1]), np.int8([0]), np.float32([0.2]), np.int8([1])]
    yield "DynamicQuantizeLSTM", one("DynamicQuantizeLSTM", [[2, 1, 3]], stored, hidden_size=2)
    scale = [np.float32(0.1), np.uint8(3), np.float32(0.2), np.uint8(5)]
    byte = (TensorProto.UINT8, [1, 4, 4, 3])
    yield "pool_of_last_channels", one("QLinearAveragePool", [byte], scale, kernel_shape=[2, 2], channels_last=1)
    yield "NhwcMaxPool", one("NhwcMaxPool", [byte], kernel_shape=[2, 2])


def of_onnx():
    q, k = [1, 2, 3, 4], [1, 2, 5, 4]
    yield "Attention", one("Attention", [q, k, k], [floats(3, 5), floats(1, 2, 2, 4), floats(1, 2, 2, 4)], 3, domain="", is_causal=1)
    yield "attention_of_lengths", one("Attention", [[1, 3, 8], [1, 5, 4], [1, 5, 4]], [None, None, None, np.array([4])], domain="", opset=24, q_num_heads=4, kv_num_heads=2, softcap=2.0)
    yield "RotaryEmbedding", one("RotaryEmbedding", [[1, 2, 3, 4]], [floats(1, 3, 1), floats(1, 3, 1)], domain="", rotary_embedding_dim=2)
    yield "CausalConvWithState", one("CausalConvWithState", [[1, 2, 5]], [floats(2, 1, 3), floats(2)], 2, domain="", opset=27, activation="silu")
    yield "CumProd", one("CumProd", [[2, 4]], [np.array(1)], domain="", opset=26, exclusive=1, reverse=1)
    yield "CenterCropPad", one("CenterCropPad", [[3, 6, 2]], [np.array([5, 4])], domain="", axes=[0, 1])
    yield "LpPool", one("LpPool", [[1, 2, 5, 5]], domain="", kernel_shape=[2, 3], p=3, strides=[2, 2], ceil_mode=1)
    yield "GlobalLpPool", one("GlobalLpPool", [[1, 2, 5, 5]], domain="", p=2)
    yield "long_einsum", one("Einsum", [[2, 3], [3, 4], [4, 2]], domain="", equation="ij,jk,ki->k")
    yield "diagonal", one("Einsum", [[3, 3, 2]], domain="", equation="iij->ji")
    yield "real_inverse", one("DFT", [[1, 4, 2]], [np.array(6), np.array(1)], domain="", inverse=1, onesided=1)
    yield "Resize_of_channels", one("Resize", [[2, 3, 4, 4]], [None, np.float32([1, 2, 1, 0.5])], domain="", mode="linear")
    yield "pool_of_bytes", one("MaxPool", [(TensorProto.INT8, [1, 2, 5, 5])], domain="", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    for op, attributes in (("ImageScaler", {"scale": 0.5, "bias": [1.0, 2.0]}), ("Crop", {"border": [1, 0, 1, 1]}), ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}),
                           ("Affine", {"alpha": 2.0, "beta": 0.5})):
        yield op, one(op, [[1, 2, 4, 4]], domain="", opset=6, **attributes)
    yield "old_broadcast", one("Add", [[2, 3, 4]], [floats(3)], domain="", opset=6, broadcast=1, axis=1)
    yield "old_reshape", one("Reshape", [[2, 6]], domain="", opset=1, shape=[3, 4])
    yield "old_cast", one("Cast", [[2, 6]], domain="", opset=1, to="FLOAT")
    yield "old_upsample", one("Upsample", [[1, 2, 3, 3]], domain="", opset=1, height_scale=2.0, width_scale=2.0, mode="bilinear")
    yield "eight_axes", one("Neg", [[1, 2, 1, 2, 1, 2, 1, 2]], domain="")
    yield "no_elements", one("Concat", [[1, 0], [1, 3]], domain="", axis=1)
    yield "doubles", one("Neg", [(TensorProto.DOUBLE, [2, 3])], domain="")


def sequences():
    node = helper.make_node
    body = helper.make_graph([node("Neg", ["e"], ["r"])], "body", [helper.make_tensor_value_info("e", F, None)], [helper.make_tensor_value_info("r", F, None)])
    constants = {"zero": np.array(0), "one": np.array(1)}
    yield "sequence", model([node("SplitToSequence", ["x"], ["s"], axis=1), node("SequenceMap", ["s"], ["t"], body=body), node("SequenceErase", ["t", "zero"], ["u"]),
                             node("SequenceInsert", ["u", "x", "one"], ["v"]), node("SequenceAt", ["v", "zero"], ["y"]), node("SequenceLength", ["v"], ["l"])],
                            {"x": [2, 3]}, constants, ["y"])
    yield "joined_sequence", model([node("SequenceConstruct", ["x", "x"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0, new_axis=1)], {"x": [2, 3]}, {}, ["y"])


def models():
    for group in (of_runtime, of_onnx, sequences):
        yield from group()
