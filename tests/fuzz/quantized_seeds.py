# SPDX-License-Identifier: MIT
"""Small models on stored integers, for the fuzzers of both importers."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tflite_writer import Writer

RANDOM = np.random.default_rng(18)
F, U8, I8 = np.float32, np.uint8, np.int8
TYPES = {U8: TensorProto.UINT8, I8: TensorProto.INT8, F: TensorProto.FLOAT}
IMAGE = (1, 4, 6, 6)


def stored(kind, *shape):
    info = np.iinfo(kind)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(kind)


def onnx_model(nodes, inputs, constants, opset=21):
    """The results of the last node are the outputs."""
    values = [helper.make_tensor_value_info(n, TYPES[t], s) for n, (t, s) in inputs.items()]
    outputs = [helper.make_tensor_value_info(o, TensorProto.UNDEFINED, None) for o in nodes[-1].output]
    graph = helper.make_graph(nodes, "g", values, outputs, [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def one(op, inputs, constants, outputs=1, domain="", **attributes):
    names = {f"c{i}": c for i, c in enumerate(constants) if not isinstance(c, str)}
    read = [c if isinstance(c, str) else f"c{i}" for i, c in enumerate(constants)]
    return onnx_model([helper.make_node(op, read, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)], inputs, names)


def integer_operators():
    scales, image = [F(0.1), F(0.02)], {"x": (U8, IMAGE)}
    w, each = stored(I8, 8, 4, 3, 3), RANDOM.uniform(0.01, 0.1, 8).astype(F)
    bias = RANDOM.integers(-900, 900, 8).astype(np.int32)
    yield "QLinearConv", one("QLinearConv", image, ["x", F(0.1), U8(7), w, F(0.02), I8(0), F(0.5), U8(100), bias], pads=[1] * 4)
    yield "QLinearConvChannels", one("QLinearConv", image, ["x", F(0.1), U8(7), w, each, np.zeros(8, I8), F(0.5), U8(100), bias], strides=[2, 2])
    yield "QLinearConvDepth", one("QLinearConv", image, ["x", F(0.1), U8(7), stored(I8, 4, 1, 3, 3), F(0.02), I8(0), F(0.5), U8(3)], group=4, pads=[1] * 4)
    yield "ConvInteger", one("ConvInteger", image, ["x", w, U8(7), I8(0)], pads=[1] * 4)
    rows, b = {"x": (U8, (3, 8))}, stored(I8, 8, 5)
    yield "MatMulInteger", one("MatMulInteger", rows, ["x", b, U8(7), I8(1)])
    yield "QLinearMatMul", one("QLinearMatMul", rows, ["x", F(0.1), U8(7), b, F(0.02), I8(0), F(0.5), U8(100)])
    yield "QGemm", one("QGemm", rows, ["x", F(0.1), U8(7), b, F(0.02), I8(0), bias[:5], F(0.5), U8(100)], domain="com.microsoft", transB=0)
    yield "MatMulIntegerToFloat", one("MatMulIntegerToFloat", rows, ["x", b, F(0.1), F(0.02), U8(7), I8(0), each[:5]], domain="com.microsoft")
    pair = {"x": (U8, IMAGE), "z": (U8, IMAGE)}
    for op in ("QLinearAdd", "QLinearMul"):
        yield op, one(op, pair, ["x", scales[0], U8(3), "z", scales[1], U8(9), F(0.2), U8(20)], domain="com.microsoft")
    for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
        yield op, one(op, image, ["x", F(0.1), U8(3), F(0.004), U8(0)], domain="com.microsoft")
    yield "QLinearSoftmax", one("QLinearSoftmax", image, ["x", F(0.1), U8(3), F(0.004), U8(0)], domain="com.microsoft", axis=1, opset=13)
    yield "QLinearGlobalAveragePool", one("QLinearGlobalAveragePool", image, ["x", F(0.1), U8(3), F(0.1), U8(9)], domain="com.microsoft")
    yield "QLinearAveragePool", one("QLinearAveragePool", image, ["x", F(0.1), U8(3), F(0.1), U8(9)], domain="com.microsoft", kernel_shape=[2, 2])
    yield "QLinearConcat", one("QLinearConcat", pair, [F(0.2), U8(20), "x", scales[0], U8(3), "z", scales[1], U8(9)], domain="com.microsoft", axis=1)


def conversions():
    floats, image = {"x": (F, (2, 8, 4))}, {"x": (U8, (2, 8, 4))}
    each, zeros = RANDOM.uniform(0.01, 0.1, 8).astype(F), stored(U8, 8)
    yield "DynamicQuantizeLinear", one("DynamicQuantizeLinear", floats, ["x"], outputs=3)
    right, bias = stored(I8, 4, 5), RANDOM.uniform(-1, 1, 5).astype(F)
    yield "DynamicQuantizeMatMul", one("DynamicQuantizeMatMul", floats, ["x", right, F(0.02), I8(0), bias], domain="com.microsoft")
    for op, shape, w, along in (("MatMulInteger", (2, 8, 4), right, (5,)), ("ConvInteger", (1, 3, 6, 5), stored(I8, 4, 3, 3, 3), (1, 4, 1, 1))):
        nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), helper.make_node(op, ["q", "w", "z", "wz"], ["i"]), helper.make_node("Cast", ["i"], ["f"], to=1),
                 helper.make_node("Mul", ["s", "ws"], ["u"]), helper.make_node("Mul", ["f", "u"], ["m"]), helper.make_node("Add", ["m", "b"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
        constants = {"w": w, "wz": I8(0), "ws": RANDOM.uniform(0.01, 0.1, along).astype(F), "b": RANDOM.uniform(-1, 1, along).astype(F)}
        yield f"Dynamic{op}", onnx_model(nodes, {"x": (F, shape)}, constants, 13)
    blocks = {"w": stored(I8, 8, 4), "ws": RANDOM.uniform(0.01, 0.1, (4, 4)).astype(F), "wz": stored(I8, 4, 4)}
    nodes = [helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["d"], axis=0, block_size=2), helper.make_node("MatMul", ["x", "d"], ["y"])]
    yield "DequantizeLinearBlocks", onnx_model(nodes, {"x": (F, (2, 8))}, blocks)
    for op, inputs in (("QuantizeLinear", floats), ("DequantizeLinear", image)):
        yield op, one(op, inputs, ["x", F(0.1), U8(7)])
        yield op + "Axis", one(op, inputs, ["x", each, zeros], axis=1)


def pairs(kind):
    """A network between QuantizeLinear and DequantizeLinear: Conv, MaxPool, Add, Concat."""
    nodes, constants = [], {"zero": kind(3), "w": stored(I8, 4, 4, 3, 3), "none": I8(0), "ws": F(0.02), "s": F(0.1), "b": np.arange(4, dtype=np.int32), "bs": F(0.002),
                            "bz": np.int32(0)}

    def add(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, list(inputs), [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def through(name):
        return add("DequantizeLinear", add("QuantizeLinear", name, "s", "zero"), "s", "zero")

    x = through("x")
    layer = add("Conv", x, add("DequantizeLinear", "w", "ws", "none"), add("DequantizeLinear", "b", "bs", "bz"), pads=[1] * 4)
    total = through(add("Add", through(add("Relu", layer)), x))
    pooled = through(add("MaxPool", total, kernel_shape=[3, 3], pads=[1] * 4))
    through(add("Concat", pooled, total, axis=1))
    return onnx_model(nodes, {"x": (F, IMAGE)}, constants)


def onnx_models():
    """Yields (name, model)."""
    for name, m in (*integer_operators(), *conversions()):
        yield "stored_" + name, m
    for kind in (U8, I8):
        yield f"stored_pairs_{kind.__name__}", pairs(kind)


class Floats:
    """A network of float32 for the quantiser, which grows node by node."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def weights(self, *shape):
        name = f"w{len(self.constants)}"
        self.constants[name] = RANDOM.standard_normal(shape).astype(F) / 3
        return name

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(values)
        return name

    def add(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{len(self.nodes)}"], f"n{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def model(self, shape):
        return onnx_model(self.nodes, {"x": (F, shape)}, self.constants, 17).SerializeToString()


def residual(n):
    a = n.add("Conv", "x", n.weights(8, 4, 3, 3), n.weights(8), pads=[1] * 4)
    b = n.add("Relu", n.add("BatchNormalization", a, n.weights(8), n.weights(8), n.weights(8), n.constant(np.ones(8, F))))
    c = n.add("Conv", n.add("Relu", n.add("Conv", b, n.weights(8, 1, 3, 3), group=8, pads=[1] * 4)), n.weights(8, 8, 1, 1))
    n.add("GlobalAveragePool", n.add("Add", c, b))


def detector(n):
    a = n.add("Clip", n.add("Conv", "x", n.weights(8, 4, 3, 3), n.weights(8), strides=[2, 2], pads=[1] * 4), n.constant(F(0)), n.constant(F(6)))
    b = n.add("Sigmoid", n.add("Conv", n.add("MaxPool", a, kernel_shape=[2, 2]), n.weights(4, 8, 1, 1)))
    wide = n.add("Resize", b, "", "", n.constant(np.int64([1, 4, 3, 3])), mode="linear")
    n.add("Softmax", n.add("Conv", n.add("Concat", wide, a, axis=1), n.weights(3, 12, 1, 1)), axis=1)


def classes(n):
    a = n.add("HardSwish", n.add("ConvTranspose", "x", n.weights(4, 3, 2, 2), n.weights(3), strides=[2, 2]))
    b = n.add("Pad", n.add("AveragePool", n.add("LeakyRelu", n.add("Conv", a, n.weights(6, 3, 3, 3))), kernel_shape=[2, 2]), n.constant(np.int64([0, 0, 1, 0, 0, 0, 0, 1])))
    n.add("ArgMax", n.add("Conv", n.add("Mul", b, n.constant(F(0.5))), n.weights(5, 6, 1, 1)), axis=1)


def dense(n):
    a = n.add("Relu", n.add("Gemm", n.add("Flatten", "x"), n.weights(144, 12), n.weights(12)))
    b = n.add("Tanh", n.add("Add", n.add("MatMul", a, n.weights(12, 8)), n.weights(8)))
    n.add("LayerNormalization", n.add("MatMul", n.add("Mul", b, b), n.weights(8, 4)), n.weights(4), n.weights(4))


def float_models():
    """Yields (name, bytes of the model)."""
    for build in (residual, detector, classes, dense):
        n = Floats()
        build(n)
        yield build.__name__, n.model(IMAGE)


class Stored:
    """A TensorFlow Lite model whose tensors have scales."""

    def __init__(self, kind):
        self.w, self.kind = Writer(), kind
        self.x = self.tensor([1, 6, 6, 4])

    def tensor(self, shape, data=None, scales=(0.1,), zeros=None, axis=0, dtype=None):
        dtype = dtype or self.kind
        t = self.w.tensor(f"t{len(self.w.graph.tensors)}", shape, dtype, data)
        q = self.w.schema.QuantizationParametersT()
        q.scale, q.quantizedDimension = list(scales), axis
        q.zeroPoint = list(zeros) if zeros is not None else [128 if dtype is U8 else 0] * len(scales)
        self.w.graph.tensors[t].quantization = q
        return t

    def weights(self, shape, axis=0):
        count = shape[axis] if self.kind is I8 else 1
        scales = np.linspace(0.01, 0.02, count)
        bias = self.tensor([shape[axis]], np.arange(shape[axis], dtype=np.int32), scales * 0.1, [0] * count, dtype=np.int32)
        return self.tensor(shape, stored(self.kind, *shape), scales, axis=axis), bias

    def plain(self, values):
        data = np.int32(values)
        return self.w.tensor(f"t{len(self.w.graph.tensors)}", data.shape, np.int32, data)

    def emit(self, name, inputs, shape, options=None, **scaled):
        y = self.tensor(shape, **scaled)
        self.w.operator(name, inputs, [y], options)
        return y


def tflite_of(kind, build):
    s = Stored(kind)
    return s.w.finish([s.x], [build(s)])


def tflite_models():
    """Yields (name, bytes of the model)."""
    conv = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
    window = {"strideW": 2, "strideH": 2, "filterWidth": 2, "filterHeight": 2}
    image, small = [1, 6, 6, 4], [1, 3, 3, 4]
    builds = {
        "conv": lambda s: s.emit("CONV_2D", [s.x, *s.weights([5, 3, 3, 4])], [1, 6, 6, 5], ("Conv2DOptions", {**conv, "fusedActivationFunction": 1}), scales=[0.4]),
        "depthwise": lambda s: s.emit("DEPTHWISE_CONV_2D", [s.x, *s.weights([1, 3, 3, 4], 3)], image, ("DepthwiseConv2DOptions", {**conv, "depthMultiplier": 1}), scales=[0.3]),
        "dense": lambda s: s.emit("FULLY_CONNECTED", [s.x, *s.weights([3, 144])], [1, 3], ("FullyConnectedOptions", {}), scales=[0.9]),
        "add": lambda s: s.emit("ADD", [s.x, s.tensor([4], stored(s.kind, 4), [0.05])], image, ("AddOptions", {}), scales=[0.2]),
        "mul": lambda s: s.emit("MUL", [s.x, s.x], image, ("MulOptions", {}), scales=[0.7]),
        "average": lambda s: s.emit("AVERAGE_POOL_2D", [s.x], small, ("Pool2DOptions", window)),
        "maximum": lambda s: s.emit("MAX_POOL_2D", [s.x], small, ("Pool2DOptions", window)),
        "mean": lambda s: s.emit("MEAN", [s.x, s.plain([1, 2])], [1, 4], ("ReducerOptions", {"keepDims": False}), scales=[0.05]),
        "softmax": lambda s: s.emit("SOFTMAX", [s.x], image, ("SoftmaxOptions", {"beta": 1.0}), scales=[1 / 256], zeros=[-128 if s.kind is I8 else 0]),
        "logistic": lambda s: s.emit("LOGISTIC", [s.x], image, scales=[1 / 256], zeros=[-128 if s.kind is I8 else 0]),
        "requantize": lambda s: s.emit("QUANTIZE", [s.x], image, ("QuantizeOptions", {}), scales=[0.3]),
        "pad": lambda s: s.emit("PAD", [s.x, s.plain([[0, 0], [1, 2], [0, 1], [0, 0]])], [1, 9, 7, 4]),
        "concat": lambda s: s.emit("CONCATENATION", [s.x, s.tensor(image, stored(s.kind, *image))], [1, 6, 6, 8], ("ConcatenationOptions", {"axis": 3}))}
    for kind in (I8, U8):
        for name, build in builds.items():
            yield f"stored_{name}_{kind.__name__}", tflite_of(kind, build)
        yield f"stored_floats_{kind.__name__}", between_floats(kind)


def between_floats(kind):
    """QUANTIZE, two layers, DEQUANTIZE."""
    s = Stored(kind)
    x, y = (s.w.tensor(n, [1, 6, 6, 4], np.float32) for n in ("given", "result"))
    s.w.operator("QUANTIZE", [x], [s.x], ("QuantizeOptions", {}))
    options = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
    h = s.emit("CONV_2D", [s.x, *s.weights([4, 1, 1, 4])], [1, 6, 6, 4], ("Conv2DOptions", options), scales=[0.4])
    total = s.emit("ADD", [h, s.x], [1, 6, 6, 4], ("AddOptions", {}), scales=[0.5])
    s.w.operator("DEQUANTIZE", [total], [y], ("DequantizeOptions", {}))
    return s.w.finish([x], [y])
