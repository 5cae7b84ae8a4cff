# SPDX-License-Identifier: MIT
"""Small ONNX models of every kind of operator: each function yields names and models."""
import sys
import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "models" / folder) for folder in ("support", "onnx")]
import corner_forms  # noqa: E402
import dequantized_forms  # noqa: E402
import exported_forms  # noqa: E402
import forms  # noqa: E402
import quantized_seeds  # noqa: E402
import signal_forms  # noqa: E402
import spelled_seeds  # noqa: E402
import trees  # noqa: E402

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
IMAGE = [1, 4, 6, 6]
LARGEST = 16384  # bytes; longer models only slow the fuzzer down
random = np.random.default_rng(3)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def model(nodes, inputs, constants, outputs, opset=22, functions=()):
    values = [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info(o, t, None) for o, t in outputs.items()],
                              [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("f", 1)] if functions else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def one(op, shapes, constants=(), outputs=1, opset=22, kind=F, **attributes):
    """A model of one operator: inputs that are data, then constants (None: absent)."""
    inputs = {f"x{i}": s if isinstance(s, tuple) else (kind, s) for i, s in enumerate(shapes)}
    names = {f"c{i}": c for i, c in enumerate(constants) if c is not None}
    read = [*inputs, *(f"c{i}" if c is not None else "" for i, c in enumerate(constants))]
    results = [f"y{i}" for i in range(outputs)]
    return model([helper.make_node(op, read, results, **attributes)], inputs, names, {r: F for r in results}, opset)


def simple_operators():
    for op in ("Relu", "Sigmoid", "HardSwish", "Tanh", "Exp", "Sqrt", "Erf", "Elu", "Softplus", "Gelu", "Sign", "Selu", "Celu", "Mish", "Softsign",
               "ThresholdedRelu", "Shrink", "GlobalAveragePool", "GlobalMaxPool", "Identity", "Dropout", "LeakyRelu", "HardSigmoid"):
        yield op, one(op, [IMAGE])
    for op in ("Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Min", "Max", "Sum", "Mean"):
        yield op, one(op, [IMAGE], [floats(4, 1, 1)])
        yield op + "2", one(op, [IMAGE, [1, 1, 6, 6]] if op != "PRelu" else [IMAGE, IMAGE])
    for op in ("Equal", "Less", "GreaterOrEqual"):
        yield op, one(op, [[2, 3], [3]])
    for op in ("And", "Or", "Xor"):
        yield op, one(op, [(B, [2, 3]), (B, [3])])
    for op in ("Add", "Div", "Mod", "BitwiseAnd", "Neg", "Abs"):
        yield "int_" + op, one(op, [(I, [2, 3])], [] if op in ("Neg", "Abs") else [ints(3, 1, 2)])
    yield "Clip", one("Clip", [IMAGE], [np.float32(0), np.float32(6)])
    yield "Where", one("Where", [(B, [3]), [2, 3], [2, 1]])
    yield "Cast", one("Cast", [[2, 3]], to=I)
    yield "Not", one("Not", [(B, [2, 3])])


def images():
    yield "Conv", one("Conv", [IMAGE], [floats(8, 4, 3, 3), floats(8)], pads=[1, 1, 1, 1], strides=[2, 2])
    yield "ConvGroups", one("Conv", [IMAGE], [floats(8, 2, 3, 3)], group=2, dilations=[2, 1], auto_pad="SAME_UPPER")
    yield "ConvDepth", one("Conv", [IMAGE], [floats(4, 1, 3, 3), floats(4)], group=4)
    yield "Conv1", one("Conv", [[1, 4, 9]], [floats(3, 4, 3)], pads=[1, 1])
    yield "ConvWide", one("Conv", [[1, 16, 14, 14]], [np.ones((16, 16, 3, 3), np.float32)], pads=[1] * 4)
    yield "ConvTranspose", one("ConvTranspose", [IMAGE], [floats(4, 3, 3, 3), floats(3)], strides=[2, 2], output_padding=[1, 1], pads=[1] * 4)
    yield "ConvTranspose5", one("ConvTranspose", [[1, 2, 3, 3]], [floats(2, 1, 2, 2)], strides=[5, 5], output_shape=[15, 15])
    yield "MaxPool", one("MaxPool", [IMAGE], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, pads=[1, 1, 0, 0])
    yield "AveragePool", one("AveragePool", [IMAGE], kernel_shape=[2, 3], count_include_pad=1, pads=[1, 1, 1, 1], dilations=[2, 1])
    yield "Resize", one("Resize", [IMAGE], [None, np.float32([1, 1, 2, 1.5])], mode="linear")
    yield "ResizeSize", one("Resize", [IMAGE], [None, None, ints(1, 4, 3, 4)], mode="cubic", antialias=1, coordinate_transformation_mode="align_corners")
    yield "ResizeCrop", one("Resize", [IMAGE], [floats(8), None, ints(1, 4, 4, 4)], mode="nearest", coordinate_transformation_mode="tf_crop_and_resize")
    yield "Upsample", one("Upsample", [IMAGE], [np.float32([1, 1, 2, 2])], opset=9)
    yield "Pad", one("Pad", [IMAGE], [ints(0, 0, 1, 2, 0, 0, 1, 0)], mode="reflect")
    yield "PadZero", model([helper.make_node("Pad", ["x", "p"], ["z"]), helper.make_node("Conv", ["z", "w"], ["y"])], {"x": (F, IMAGE)},
                           {"p": ints(0, 0, 1, 2, 0, 0, 1, 0), "w": floats(2, 4, 3, 3)}, {"y": F})
    for op in ("DepthToSpace", "SpaceToDepth"):
        yield op, one(op, [IMAGE], blocksize=2, **({"mode": "CRD"} if op[0] == "D" else {}))
    yield "LRN", one("LRN", [IMAGE], size=3)


def layers():
    yield "Gemm", one("Gemm", [[2, 4]], [floats(3, 4), floats(3)], transB=1, alpha=0.5)
    yield "Gemm2", one("Gemm", [[4, 2], [4, 3], [2, 3]], transA=1)
    yield "MatMul", one("MatMul", [[2, 3, 4]], [floats(4, 5)])
    yield "MatMul2", one("MatMul", [[2, 3, 4], [1, 4, 5]])
    yield "BatchNormalization", one("BatchNormalization", [IMAGE], [floats(4), floats(4), floats(4), np.ones(4, np.float32)])
    yield "LayerNormalization", one("LayerNormalization", [[2, 3, 8]], [floats(8), floats(8)])
    yield "InstanceNormalization", one("InstanceNormalization", [IMAGE], [floats(4), floats(4)])
    yield "GroupNormalization", one("GroupNormalization", [IMAGE], [floats(4), floats(4)], num_groups=2)
    yield "LpNormalization", one("LpNormalization", [[2, 3]], axis=-1, p=2)
    yield "MeanVarianceNormalization", one("MeanVarianceNormalization", [IMAGE])
    for op in ("Softmax", "LogSoftmax"):
        yield op, one(op, [[2, 3, 4]], axis=1)
    yield "Softmax11", one("Softmax", [[2, 3, 4]], axis=1, opset=11)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceLogSumExp"):
        yield op, one(op, [IMAGE], [ints(2, 3)], keepdims=0)
    for op in ("ArgMax", "ArgMin"):
        yield op, one(op, [IMAGE], axis=1, keepdims=0)
    yield "LSTM", one("LSTM", [[3, 1, 2]], [floats(2, 8, 2), floats(2, 8, 2), floats(2, 16), None, None, None, floats(2, 6)], outputs=3, hidden_size=2,
                      direction="bidirectional", clip=3.0)
    yield "GRU", one("GRU", [[3, 1, 2]], [floats(1, 6, 2), floats(1, 6, 2)], outputs=2, hidden_size=2, linear_before_reset=1, direction="reverse")
    yield "RNN", one("RNN", [[3, 2, 2]], [floats(1, 2, 2), floats(1, 2, 2), floats(1, 4), np.int32([3, 2])], outputs=2, hidden_size=2, activations=["Relu"])


def shapes():
    yield "Reshape", one("Reshape", [IMAGE], [ints(2, -1, 6)])
    yield "Flatten", one("Flatten", [IMAGE], axis=2)
    yield "Squeeze", one("Squeeze", [[1, 3, 1]], [ints(0)])
    yield "Unsqueeze", one("Unsqueeze", [[3]], [ints(0, 2)])
    yield "Transpose", one("Transpose", [IMAGE], perm=[0, 2, 3, 1])
    yield "Expand", one("Expand", [[1, 3, 1]], [ints(2, 3, 4)])
    yield "Tile", one("Tile", [[2, 3]], [ints(2, 2)])
    yield "Slice", one("Slice", [IMAGE], [ints(1, -1), ints(4, -9), ints(2, 3), ints(2, -1)])
    yield "Split", one("Split", [IMAGE], [ints(1, 3)], outputs=2, axis=1)
    yield "Concat", one("Concat", [[2, 3], [2, 2]], [floats(2, 1)], axis=1)
    yield "Gather", one("Gather", [IMAGE], [ints(2, 0, -1)], axis=1)
    yield "Gather2", one("Gather", [[4, 3], (I, [2, 2])])
    yield "GatherElements", one("GatherElements", [[2, 3], (I, [2, 2])], axis=1)
    yield "TopK", one("TopK", [[2, 5]], [ints(2)], outputs=2, largest=0)
    yield "OneHot", one("OneHot", [(I, [3])], [ints(4), np.float32([0, 1])])
    yield "NonMaxSuppression", one("NonMaxSuppression", [[1, 5, 4], [1, 2, 5]], [ints(3), np.float32([0.5]), np.float32([0.1])])


def folded():
    """Nodes that only constants reach, added to an input."""
    def around(name, nodes, constants):
        return name, model([*nodes, helper.make_node("Add", ["x", "k"], ["y"])], {"x": (F, [1])}, constants, {"y": F})

    node = helper.make_node
    yield around("ConstantOfShape", [node("ConstantOfShape", ["s"], ["k"], value=numpy_helper.from_array(np.float32([2])))], {"s": ints(2, 3)})
    yield around("Range", [node("Range", ["a", "b", "c"], ["k"])], {"a": np.float32(0), "b": np.float32(5), "c": np.float32(2)})
    for op, attributes in (("Trilu", {}), ("Hardmax", {}), ("IsNaN", {}), ("Floor", {}), ("GlobalLpPool", {})):
        end = [node("Cast", ["m"], ["k"], to=F)]
        yield around("folded_" + op, [node(op, ["a"], ["m"], **attributes), *end], {"a": floats(2, 3)})
    for op, extra, attributes in (("CumSum", {"b": np.int64(0)}, {}), ("Compress", {"b": np.array([True, False])}, {"axis": 0}), ("GatherND", {"b": np.int64([[1, 2]])}, {}),
                                  ("ScatterND", {"b": np.int64([[1, 2]]), "c": np.float32([7])}, {}),
                                  ("ScatterElements", {"b": np.int64([[0, 1, 1]]), "c": floats(1, 3)}, {"reduction": "add"}),
                                  ("ReverseSequence", {"b": np.int64([1, 2, 1])}, {}), ("MatMul", {"b": floats(3, 2)}, {}), ("TopK", {"b": ints(1)}, {}),
                                  ("Resize", {"b": floats(4), "c": np.float32([2, 2])}, {"mode": "linear"})):
        yield around("folded_" + op, [node(op, ["a", *extra], ["k", "t"] if op == "TopK" else ["k"], **attributes)], {"a": floats(2, 3), **extra})
    for op, extra, attributes in (("Conv", {"b": floats(2, 1, 2, 2)}, {}), ("ConvTranspose", {"b": floats(1, 2, 2, 2)}, {}), ("MaxPool", {}, {"kernel_shape": [2, 2]}),
                                  ("LpPool", {}, {"kernel_shape": [2, 2]}), ("LRN", {}, {"size": 3})):
        yield around("folded_" + op, [node(op, ["a", *extra], ["k"], **attributes)], {"a": floats(1, 1, 3, 3), **extra})
    yield around("folded_ints", [node("BitShift", ["a", "b"], ["m"], direction="LEFT"), node("Cast", ["m"], ["k"], to=F)], {"a": np.uint8([1, 2]), "b": np.uint8([3, 9])})
    yield around("folded_halves", [node("Cast", ["a"], ["k"], to=F)], {"a": np.float16([1, 2])})
    yield "Shape", model([node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Concat", ["n", "m"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
                         {"x": (F, [2, 3])}, {"i": ints(0), "m": ints(-1)}, {"y": F})
    yield "NonZero", model([node("NonZero", ["a"], ["n"]), node("Cast", ["n"], ["f"], to=F), node("Add", ["x", "f"], ["y"])], {"x": (F, [1])},
                           {"a": np.float32([[1, 0], [0, 1]])}, {"y": F})


def control_flow():
    node, value = helper.make_node, helper.make_tensor_value_info
    branches = {name: helper.make_graph([node(op, ["x"], [name])], name, [], [value(name, F, [2])]) for name, op in (("then_branch", "Relu"), ("else_branch", "Neg"))}
    yield "If", model([node("If", ["c"], ["y"], **branches)], {"x": (F, [2]), "c": (B, [1])}, {}, {"y": F})
    yield "IfKnown", model([node("If", ["c"], ["y"], **branches)], {"x": (F, [2])}, {"c": np.array([True])}, {"y": F})
    body = helper.make_graph([node("Identity", ["c"], ["d"]), node("Add", ["s", "x"], ["t"]), node("Relu", ["t"], ["r"])], "body",
                             [value("i", I, []), value("c", B, []), value("s", F, [2])], [value("d", B, []), value("t", F, [2]), value("r", F, [2])])
    yield "Loop", model([node("Loop", ["n", "", "s0"], ["y", "z"], body=body)], {"x": (F, [2]), "s0": (F, [2])}, {"n": np.int64(3)}, {"y": F, "z": F})
    scanned = helper.make_graph([node("Add", ["s", "e"], ["t"]), node("Relu", ["t"], ["r"])], "body", [value("s", F, [2]), value("e", F, [2])],
                                [value("t", F, [2]), value("r", F, [2])])
    yield "Scan", model([node("Scan", ["s0", "x"], ["y", "z"], body=scanned, num_scan_inputs=1)], {"s0": (F, [2]), "x": (F, [3, 2])}, {}, {"y": F, "z": F})
    twice = helper.make_function("f", "twice", ["a"], ["b"], [node("Mul", ["a", "a"], ["m"]), node("Relu", ["m"], ["b"])], [helper.make_opsetid("", 22)])
    yield "Function", model([node("twice", ["x"], ["y"], domain="f")], {"x": (F, [2])}, {}, {"y": F}, functions=[twice])
    yield "Chain", model([node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["r"]), node("Add", ["r", "x"], ["s"]), node("Concat", ["s", "r"], ["k"], axis=1),
                          node("GlobalAveragePool", ["k"], ["p"]), node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "g"], ["y"])], {"x": (F, [1, 2, 5, 5])},
                         {"w": floats(2, 2, 3, 3), "b": floats(2), "g": floats(4, 3)}, {"y": F})
    yield "State", model([node("Add", ["x", "hidden_in"], ["s"]), node("Tanh", ["s"], ["hidden_out"]), node("Relu", ["s"], ["y"])],
                         {"x": (F, [1, 2]), "hidden_in": (F, [1, 2])}, {}, {"y": F, "hidden_out": F})


def random_numbers():
    for op in ("RandomNormal", "RandomUniform"):
        yield op, model([helper.make_node(op, [], ["k"], shape=[2, 3], seed=1.0), helper.make_node("Add", ["x", "k"], ["y"])], {"x": (F, [3])}, {}, {"y": F})
    for op in ("RandomNormalLike", "RandomUniformLike"):
        yield op, one(op, [[2, 3]], seed=1.0)
    yield "Bernoulli", one("Bernoulli", [[2, 3]], seed=1.0)
    multinomial = helper.make_node("Multinomial", ["x"], ["y"], sample_size=2, dtype=I)
    yield "Multinomial", model([multinomial], {"x": (F, [2, 3])}, {}, {"y": I})


def learned():
    """Trees and linear models of ai.onnx.ml."""
    def one_of(op, outputs=("y",), **attributes):
        kinds = {o: F if o == "y" else I for o in outputs}
        m = model([helper.make_node(op, ["x"], list(outputs), domain="ai.onnx.ml", **attributes)], {"x": (F, [2, 3])}, {}, kinds)
        m.opset_import.append(helper.make_opsetid("ai.onnx.ml", 5 if op == "TreeEnsemble" else 3))
        return m

    for seed, how in enumerate(("SUM", "AVERAGE", "MIN", "MAX")):
        tree_ensemble = trees.random_tree_ensemble(random, 2, 3, 2, seed % 2)
        yield f"TreeEnsembleRegressor{seed}", one_of("TreeEnsembleRegressor", n_targets=2, aggregate_function=how, **tree_ensemble)
    tree_ensemble = {k.replace("target_", "class_"): v for k, v in trees.random_tree_ensemble(random, 2, 3, 2, False).items()}
    for seed, (after, labels) in enumerate((("SOFTMAX", {"classlabels_int64s": [3, 5]}), ("LOGISTIC", {"classlabels_strings": ["a", "b"]}))):
        yield f"TreeEnsembleClassifier{seed}", one_of("TreeEnsembleClassifier", ("label", "y"), post_transform=after, **labels, **tree_ensemble)
    value = numpy_helper.from_array
    yield "TreeEnsemble", one_of("TreeEnsemble", n_targets=1, tree_roots=[0], nodes_featureids=[2], nodes_splits=value(np.float32([0.5])), nodes_modes=value(np.uint8([0])),
                                 nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[1], nodes_falseleafs=[1], leaf_targetids=[0, 0],
                                 leaf_weights=value(np.float32([1, 2])))
    yield "LinearRegressor", one_of("LinearRegressor", coefficients=[1.0, 2.0, 3.0], intercepts=[0.5], targets=1)
    yield "LinearClassifier", one_of("LinearClassifier", ("label", "y"), coefficients=[1.0, 2.0, 3.0] * 2, intercepts=[0.5, 1.0], classlabels_ints=[0, 1],
                                     post_transform="SOFTMAX")
    yield "Scaler", one_of("Scaler", offset=[1.0, 2.0, 3.0], scale=[0.5])
    for norm in ("MAX", "L1", "L2"):
        yield "Normalizer" + norm, one_of("Normalizer", norm=norm)


def exported():
    """What exporters write, and quantised models, as far as they are small."""
    for cases in (exported_forms.CASES, signal_forms.CASES, corner_forms.CASES):
        for name, spec in cases.items():
            yield "form_" + name, forms.build(spec)
    for name, (quantised, _, _) in dequantized_forms.CASES.items():
        yield "quantised_" + name, quantised
    yield from quantized_seeds.onnx_models()


def models():
    """Yields (name, bytes of the model)."""
    for group in (simple_operators, images, layers, shapes, folded, control_flow, random_numbers, learned, exported, spelled_seeds.models):
        for name, m in group():
            content = m.SerializeToString()
            if len(content) <= LARGEST:
                yield name, content
