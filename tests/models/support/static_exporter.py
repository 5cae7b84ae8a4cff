# SPDX-License-Identifier: MIT
"""Writes ONNX models as an exporter with static shapes does: every length that the network computes of its input's shape becomes a literal.

A network is a function of a `writer`; written for two lengths of its input, with the same weights, it gives two models. The second one says what
a conversion of the first one for the second lengths has to compute.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPEN_END = 2**63 - 1


def as_list(v):
    return [int(i) for i in np.ravel(v)]


class tensor(str):
    """A name with a shape."""

    def __new__(cls, name, shape):
        self = super().__new__(cls, name)
        self.shape = [int(d) for d in shape]
        return self


class writer:
    def __init__(self, seed, producer="", opset=17):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.seed, self.producer, self.opset, self.weights, self.names = seed, producer, opset, 0, 0

    # Constants. Weights have the same numbers in every model of one seed, in the order of their creation.

    def constant(self, a, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(a, dtype), name))
        return tensor(name, np.shape(a))

    def ints(self, *v):
        return self.constant(np.array(v, np.int64), np.int64)

    def weight(self, *shape):
        self.weights += 1
        return self.constant(np.random.default_rng([self.seed, self.weights]).standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:]))))

    def add(self, op, inputs, shape, outputs=1, **attributes):
        self.names += 1
        made = [f"v{self.names}_{i}" for i in range(outputs)]
        attributes = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op, list(inputs), made, name=f"{op}_{self.names}", **attributes))
        if outputs == 1:
            return tensor(made[0], shape)
        return [tensor(m, s) for m, s in zip(made, shape)]

    def input(self, name, shape):
        self.inputs.append(tensor(name, shape))
        return self.inputs[-1]

    def output(self, x):
        name = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node("Identity", [x], [name]))
        self.outputs.append(tensor(name, x.shape))

    def model(self):
        ports = [[helper.make_tensor_value_info(t, TensorProto.FLOAT, t.shape) for t in p] for p in (self.inputs, self.outputs)]
        for p, t in zip(ports[1], self.outputs):
            p.type.tensor_type.elem_type = getattr(t, "element", TensorProto.FLOAT)
        graph = helper.make_graph(self.nodes, "exported", *ports, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8, producer_name=self.producer)

    # Operators.

    def unary(self, op, x, **attributes):
        return self.add(op, [x], x.shape, **attributes)

    def relu(self, x):
        return self.unary("Relu", x)

    def softmax(self, x, axis=-1):
        return self.unary("Softmax", x, axis=axis)

    def binary(self, op, a, b):
        return self.add(op, [a, b], np.broadcast_shapes(tuple(a.shape), tuple(b.shape)))

    def scaled(self, x, by, op="Mul"):
        return self.binary(op, x, self.constant(np.float32(by)))

    def conv(self, x, out, k=3, stride=1, pads=None, group=1):
        n = len(x.shape) - 2
        pads = [k // 2] * 2 * n if pads is None else pads
        w = self.weight(out, x.shape[1] // group, *[k] * n)
        lengths = [(x.shape[2 + i] + pads[i] + pads[i + n] - k) // stride + 1 for i in range(n)]
        return self.add("Conv", [x, w], [x.shape[0], out] + lengths, strides=[stride] * n, pads=pads, group=group)

    def up_conv(self, x, out, k=2, stride=2, pad=0, output_padding=0):
        n = len(x.shape) - 2
        w = self.weight(x.shape[1], out, *[k] * n)
        output_padding = output_padding if isinstance(output_padding, list) else [output_padding] * n
        lengths = [(x.shape[2 + i] - 1) * stride + k - 2 * pad + output_padding[i] for i in range(n)]
        return self.add("ConvTranspose", [x, w], [x.shape[0], out] + lengths, strides=[stride] * n, pads=[pad] * 2 * n, output_padding=output_padding)

    def pool(self, x, kernel, strides=None, op="AveragePool", pads=None):
        n = len(x.shape) - 2
        kernel = [kernel] * n if isinstance(kernel, int) else list(kernel)
        strides = kernel if strides is None else [strides] * n if isinstance(strides, int) else list(strides)
        pads = pads or [0] * 2 * n
        lengths = [(x.shape[2 + i] + pads[i] + pads[i + n] - kernel[i]) // strides[i] + 1 for i in range(n)]
        return self.add(op, [x], x.shape[:2] + lengths, kernel_shape=kernel, strides=strides, pads=pads)

    def adaptive_pool(self, x, results, op="AveragePool"):
        kernel = [s // results for s in x.shape[2:]]
        assert all(k * results == s for k, s in zip(kernel, x.shape[2:])), "the exporter refuses it"
        return self.pool(x, kernel, kernel, op)

    def global_pool(self, x):
        return self.add("GlobalAveragePool", [x], x.shape[:2] + [1] * (len(x.shape) - 2))

    def reduce(self, x, axes, op="ReduceMean", keepdims=1):
        axes = [a % len(x.shape) for a in axes]
        shape = [1 if d in axes else s for d, s in enumerate(x.shape) if keepdims or d not in axes]
        if op == "ReduceSum":
            return self.add(op, [x, self.ints(*axes)], shape, keepdims=keepdims)
        return self.add(op, [x], shape, axes=axes, keepdims=keepdims)

    def reshape(self, x, *shape, literal=None):
        """`literal` is what the exporter writes, where that is not the shape itself."""
        shape = list(shape)
        if -1 in shape:
            literal = literal or list(shape)
            shape[shape.index(-1)] = int(np.prod(x.shape) // -np.prod(shape))
        assert np.prod(shape) == np.prod(x.shape), (x.shape, shape)
        return self.add("Reshape", [x, self.ints(*(literal or shape))], shape)

    def transpose(self, x, *perm):
        return self.add("Transpose", [x], [x.shape[p] for p in perm], perm=perm)

    def flatten(self, x):
        return self.add("Flatten", [x], [x.shape[0], int(np.prod(x.shape[1:]))])

    def squeeze(self, x, *axes):
        return self.add("Squeeze", [x] + ([self.ints(*axes)] if axes else []), [s for d, s in enumerate(x.shape) if d not in axes and (axes or s != 1)])

    def unsqueeze(self, x, axis):
        return self.add("Unsqueeze", [x, self.ints(axis)], x.shape[:axis] + [1] + x.shape[axis:])

    def linear(self, x, out):
        return self.add("MatMul", [x, self.weight(x.shape[-1], out)], x.shape[:-1] + [out])

    def gemm(self, x, out):
        return self.add("Gemm", [x, self.weight(x.shape[-1], out)], [x.shape[0], out])

    def matmul(self, a, b):
        return self.add("MatMul", [a, b], list(np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))) + [a.shape[-2], b.shape[-1]])

    def resize(self, x, *sizes, mode="linear"):
        return self.add("Resize", [x, "", "", self.ints(*x.shape[:2], *sizes)], x.shape[:2] + list(sizes), mode=mode)

    def slice(self, x, axis, start=0, end=OPEN_END, step=1):
        length = len(range(x.shape[axis])[slice(start, end, step)])
        return self.add("Slice", [x, self.ints(start), self.ints(end), self.ints(axis), self.ints(step)],
                        x.shape[:axis] + [length] + x.shape[axis + 1:])

    def concat(self, parts, axis):
        shape = list(parts[0].shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        return self.add("Concat", parts, shape, axis=axis)

    def split(self, x, axis, *sizes):
        return self.add("Split", [x, self.ints(*sizes)], [x.shape[:axis] + [s] + x.shape[axis + 1:] for s in sizes], outputs=len(sizes), axis=axis)

    def gather(self, x, axis, *indices):
        return self.add("Gather", [x, self.ints(*indices)], x.shape[:axis] + [len(indices)] + x.shape[axis + 1:], axis=axis)

    def pad(self, x, *pads, mode="constant"):
        n = len(x.shape)
        return self.add("Pad", [x, self.ints(*pads)], [s + pads[d] + pads[d + n] for d, s in enumerate(x.shape)], mode=mode)

    def expand(self, x, *shape):
        return self.add("Expand", [x, self.ints(*shape)], np.broadcast_shapes(tuple(x.shape), tuple(shape)))

    def tile(self, x, *repeats):
        return self.add("Tile", [x, self.ints(*repeats)], [s * r for s, r in zip(x.shape, repeats)])

    def recurrent(self, x, hidden, op="GRU", initial=True):
        steps, rows, width = x.shape
        gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[op]
        w, r = self.weight(1, gates * hidden, width), self.weight(1, gates * hidden, hidden)
        h = [self.constant(np.zeros((1, rows, hidden)))] if initial else []
        y = self.add(op, [x, w, r, "", ""] + h if h else [x, w, r], [steps, 1, rows, hidden], hidden_size=hidden)
        return self.squeeze(y, 1)


def exported(network, lengths, seed=5, **settings):
    w = writer(seed, **settings)
    network(w, *lengths)
    return w.model()
