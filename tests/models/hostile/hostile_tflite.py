# SPDX-License-Identifier: MIT
"""Invalid TensorFlow Lite files: name -> (file, words of the refusal)."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tflite_writer import Writer  # noqa: E402

F = np.float32
SHAPE = [1, 6, 6, 4]


class Model:
    """An image x, and what is done to it; `corrupt` changes the finished tables."""

    def __init__(self, shape=SHAPE, dtype=F):
        self.w = Writer()
        self.x = self.w.tensor("x", shape, dtype)

    def constant(self, values, dtype=np.int32, name=None):
        data = np.asarray(values, dtype)
        return self.w.tensor(name or f"c{len(self.w.graph.tensors)}", data.shape, dtype, data)

    def run(self, name, inputs, shape, options=None, dtype=F):
        y = self.w.tensor("y", shape, dtype)
        self.w.operator(name, inputs, [y], options)
        return self.finish(y)

    def finish(self, y):
        return self.w.finish([self.x], [y])

    @property
    def schema(self):
        return self.w.schema

    @property
    def tensors(self):
        return self.w.graph.tensors


def corrupted(change, name="RELU"):
    m = Model()
    y = m.w.tensor("y", SHAPE, F)
    m.w.operator(name, [m.x], [y])
    change(m, m.tensors[0], m.tensors[y])
    return m.finish(y)


def with_constant(change, dtype=F, values=(1, 2, 3, 4)):
    m = Model()
    c, y = m.constant(values, dtype, "c"), m.w.tensor("y", SHAPE, F)
    m.w.operator("ADD", [m.x, c], [y], ("AddOptions", {}))
    change(m, m.tensors[c])
    return m.finish(y)


def assign(thing, **fields):
    for key, value in fields.items():
        if not hasattr(thing, key):
            raise SystemExit(f"no field {key}")
        setattr(thing, key, value)


def contradictions():
    yield "a negative length", corrupted(lambda m, x, y: assign(x, shape=[1, -6, 6, 4])), ["'x'", "negative dimension -6"]
    yield "nine dimensions", corrupted(lambda m, x, y: assign(x, shape=[1] * 9)), ["'x'", "9 dimensions"]
    yield "2^62 elements", corrupted(lambda m, x, y: assign(x, shape=[2147483647] * 2)), ["'x'", "2^40"]
    yield "2^34 elements", corrupted(lambda m, x, y: (assign(x, shape=[1 << 17, 1 << 17]), assign(y, shape=[1 << 17, 1 << 17]))), ["'x'", "2^31 - 1"]
    yield "no elements", corrupted(lambda m, x, y: (assign(x, shape=[0, 4]), assign(y, shape=[0, 4]))), ["'y'", "no elements"]
    yield "another result than the operator's", corrupted(lambda m, x, y: assign(y, shape=[1, 6, 6, 5])), ["operator 0", "RELU", "'y'", "[1,6,6,5]"]
    yield "an unknown element type", corrupted(lambda m, x, y: assign(x, type=99)), ["'x'", "99"]
    yield "a variable", corrupted(lambda m, x, y: assign(x, isVariable=True)), ["'x'", "variable", "Export"]
    yield "a name with a zero", corrupted(lambda m, x, y: assign(x, name=b"x\0y")), ["tensor 0", "byte 0"]
    yield "a name that is no UTF-8", corrupted(lambda m, x, y: assign(x, name=b"\xff\xfe")), ["tensor 0", "byte 255"]
    yield "a buffer that is not there", with_constant(lambda m, c: assign(c, buffer=77)), ["'c'", "buffer 77"]
    yield "a buffer beyond the file", with_constant(lambda m, c: (assign(m.w.model.buffers[c.buffer], data=None, offset=1 << 40, size=16))), ["'c'", "outside the file"]
    yield "a buffer of 2^64 bytes", with_constant(lambda m, c: (assign(m.w.model.buffers[c.buffer], data=None, offset=16, size=(1 << 64) - 8))), ["'c'", "outside the file"]
    yield "2 GB in sixteen bytes", with_constant(lambda m, c: assign(c, shape=[1 << 29])), ["'c'", "16 bytes", str(1 << 31)]
    yield "an operator that is not there", corrupted(lambda m, x, y: assign(m.w.graph.operators[0], opcodeIndex=9)), ["operator 0", "code 9"]
    yield "a tensor that is not there", corrupted(lambda m, x, y: assign(m.w.graph.operators[0], inputs=[42])), ["operator 0", "tensor 42"]
    yield "a cycle", corrupted(lambda m, x, y: assign(m.w.graph.operators[0], inputs=[1])), ["operator 0", "'y'", "nothing has produced"]
    yield "an input made again", corrupted(lambda m, x, y: assign(m.w.graph.operators[0], outputs=[0])), ["operator 0", "'x'", "exists already"]
    yield "no results", corrupted(lambda m, x, y: assign(m.w.graph.operators[0], outputs=[])), ["outputs"]
    yield "another version of the format", corrupted(lambda m, x, y: assign(m.w.model, version=9)), ["version 9"]
    yield "a builtin operator of the future", corrupted(lambda m, x, y: assign(m.w.model.operatorCodes[0], builtinCode=1000, deprecatedBuiltinCode=127)), ["1000", "not supported"]


def quantisation():
    def quantised(**fields):
        def change(m, c):
            c.quantization = m.schema.QuantizationParametersT()
            assign(c.quantization, **fields)
        return with_constant(change, np.int8)

    yield "more scales than positions", quantised(scale=[0.5] * 3, zeroPoint=[0] * 3), ["'c'", "3 scales", "[4]"]
    yield "scales along no axis", quantised(scale=[0.5] * 4, zeroPoint=[0] * 4, quantizedDimension=7), ["'c'", "axis 7"]
    yield "scales along a negative axis", quantised(scale=[0.5] * 4, zeroPoint=[0] * 4, quantizedDimension=-1), ["'c'", "axis -1"]
    yield "more zero points than scales", quantised(scale=[0.5], zeroPoint=[0] * 3), ["'c'", "1 scales", "3 zero points"]
    yield "a scale that is no number", quantised(scale=[float("nan")], zeroPoint=[0]), ["'c'", "not finite"]
    yield "a negative scale", quantised(scale=[-1.0], zeroPoint=[0]), ["'c'", "negative"]


def sparse():
    def matrix(change, stored=3, shape=(4, 4)):
        m = Model([1, 4])
        k, dense = m.w.tensor("k", shape, F, np.ones(stored, F)), m.w.tensor("d", shape, F)
        s, rows, columns = m.schema.SparsityParametersT(), m.schema.DimensionMetadataT(), m.schema.DimensionMetadataT()
        assign(s, traversalOrder=[0, 1], blockMap=[], dimMetadata=[rows, columns])
        assign(rows, format=m.schema.DimensionType.DENSE, denseSize=shape[0])
        assign(columns, format=m.schema.DimensionType.SPARSE_CSR, arraySegmentsType=m.schema.SparseIndexVector.Int32Vector,
               arrayIndicesType=m.schema.SparseIndexVector.Int32Vector, arraySegments=m.schema.Int32VectorT(), arrayIndices=m.schema.Int32VectorT())
        assign(columns.arraySegments, values=[0, 1, 1, 2, 3])
        assign(columns.arrayIndices, values=[0, 3, 1])
        m.tensors[k].sparsity = s
        change(m, s, rows, columns)
        m.w.operator("DENSIFY", [k], [dense], ("DensifyOptions", {}))
        return m.run("FULLY_CONNECTED", [m.x, dense, -1], [1, shape[0]], ("FullyConnectedOptions", {}))

    yield "an index beyond its row", matrix(lambda m, s, r, c: assign(c.arrayIndices, values=[0, 9, 1])), ["'k'", "index 9"]
    yield "a negative index", matrix(lambda m, s, r, c: assign(c.arrayIndices, values=[0, -1, 1])), ["'k'", "index -1"]
    yield "rows beyond the indices", matrix(lambda m, s, r, c: assign(c.arraySegments, values=[0, 1, 1, 2, 99])), ["'k'", "row segments"]
    yield "rows that go back", matrix(lambda m, s, r, c: assign(c.arraySegments, values=[0, 3, 1, 2, 3])), ["'k'"]
    yield "fewer rows than there are", matrix(lambda m, s, r, c: assign(c.arraySegments, values=[0, 1])), ["'k'", "row segments"]
    yield "a level twice", matrix(lambda m, s, r, c: assign(s, traversalOrder=[0, 0])), ["'k'", "levels"]
    yield "a level that is not there", matrix(lambda m, s, r, c: assign(s, traversalOrder=[0, 7])), ["'k'", "levels"]
    yield "blocks of one dimension twice", matrix(lambda m, s, r, c: assign(s, blockMap=[1, 1], traversalOrder=[0, 1, 2, 3], dimMetadata=[r, c, r, r])), ["'k'", "levels"]
    yield "a level without lists", matrix(lambda m, s, r, c: assign(c, arraySegmentsType=0, arraySegments=None)), ["'k'"]
    yield "more elements than bytes", matrix(lambda m, s, r, c: assign(c, format=0, denseSize=4)), ["'k'"]

    def dense_levels(m, s, rows, columns):
        assign(columns, format=m.schema.DimensionType.DENSE, denseSize=1 << 14)

    yield "2^28 elements in twelve bytes", matrix(dense_levels, shape=(1 << 14, 1 << 14)), ["'k'"]


def options():
    conv = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}

    def convolution(**changed):
        m = Model()
        return m.run("CONV_2D", [m.x, m.constant(np.zeros([2, 3, 3, 4]), F), -1], [1, 6, 6, 2], ("Conv2DOptions", {**conv, **changed}))

    def run(name, values, shape=SHAPE, opts=None, dtype=F):
        m = Model()
        return m.run(name, [m.x, *(m.constant(v) for v in values)], shape, opts, dtype)

    yield "a stride of zero", convolution(strideW=0), ["operator 0", "CONV_2D", "strides"]
    yield "a dilation of 2^30", convolution(dilationHFactor=1 << 30), ["operator 0", "CONV_2D"]
    yield "an activation that is not known", convolution(fusedActivationFunction=77), ["operator 0", "activation 77"]
    yield "no options", run("CONV_2D", [np.zeros([2, 3, 3, 4])]), ["operator 0", "options are missing"]
    yield "an axis beyond the rank", run("CONCATENATION", [], opts=("ConcatenationOptions", {"axis": 9})), ["operator 0", "axis 9"]
    yield "a permutation beyond the axes", run("TRANSPOSE", [[0, 1, 2, 9]]), ["operator 0", "axis 9"]
    yield "a permutation with an axis twice", run("TRANSPOSE", [[0, 1, 2, 2]]), ["operator 0", "twice"]
    yield "a reshape to other numbers", run("RESHAPE", [[7, 7]], [7, 7]), ["operator 0", "elements"]
    yield "a resize of nothing", Model([1, 0, 6, 4]).run("RELU", [0], [1, 0, 6, 4]), ["no elements"]
    m = Model([1, 0, 6, 4])
    yield "a resize of no rows", m.run("RESIZE_NEAREST_NEIGHBOR", [m.x, m.constant([4, 4])], [1, 4, 4, 4], ("ResizeNearestNeighborOptions", {})), ["operator 0", "empty"]
    yield "blocks of 2^96", run("SPACE_TO_BATCH_ND", [[65535] * 3, [[0, 65529], [0, 65529], [0, 65531]]], [1, 1, 1, 1]), ["operator 0", "SPACE_TO_BATCH_ND"]
    yield "a block of 2^30", run("SPACE_TO_DEPTH", [], [1, 1, 1, 4], ("SpaceToDepthOptions", {"blockSize": 1 << 30})), ["operator 0", "blocksize"]
    yield "an index outside", run("GATHER", [[99]], [1, 6, 6, 1], ("GatherOptions", {"axis": 3})), ["GATHER", "index 99"]
    yield "the end of a slice before its begin", run("SLICE", [[0, 4, 0, 0], [1, -3, 6, 4]]), ["operator 0", "SLICE"]
    cut = {"beginMask": 8, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 8}
    yield "a masked begin of one element", run("STRIDED_SLICE", [[0, 0, 0, 2], [1, 6, 6, 3], [1, 1, 1, 1]], [1, 6, 6], ("StridedSliceOptions", cut)), ["runtimes differ"]
    yield "numbers that change their scale unread", pooled_between_scales(), ["MAX_POOL_2D", "different scales"]
    yield "flexbuffers that are none", custom("TFLite_Detection_PostProcess", b"\xff" * 40), ["TFLite_Detection_PostProcess"]
    yield "a custom operator that is not known", custom("Evil", b""), ["operator 0", "Evil", "not supported"]


def pooled_between_scales():
    m = Model(SHAPE, np.int8)
    y = m.w.tensor("y", SHAPE, np.int8)
    for tensor, scale in ((m.x, 0.5), (y, 0.25)):
        q = m.schema.QuantizationParametersT()
        assign(q, scale=[scale], zeroPoint=[0])
        m.tensors[tensor].quantization = q
    m.w.operator("MAX_POOL_2D", [m.x], [y], ("Pool2DOptions", {"strideW": 1, "strideH": 1, "filterWidth": 1, "filterHeight": 1}))
    return m.finish(y)


def layers():
    """Layers with a memory whose operands contradict each other."""
    def rnn(name="RNN", state=(1, 3), variable=True, weights=(3, 4), recurrent=(3, 3), table="RNNOptions", shape=(1, 4), result=(1, 3), **opts):
        m = Model(shape)
        operands = [m.x, *(m.constant(np.zeros(s), F) for s in (weights, recurrent, (3,)))]
        operands.append(m.w.tensor("memory", state, F, variable=variable))
        if not variable:
            m.w.operator("NEG", [m.constant(np.zeros(state), F)], [operands[-1]])
        return m.run(name, operands, result, (table, opts))

    yield "a state of another size", rnn(state=(1, 5)), ["operator 0", "'memory'", "[1,3]"]
    yield "a state that is no variable", rnn(variable=False), ["operator 1", "'memory'", "no variable"]
    yield "weights of another depth", rnn(weights=(3, 9)), ["operator 0", "[3,4]"]
    yield "recurrent weights of one dimension", rnn(recurrent=(9,)), ["operator 0", "two dimensions"]
    yield "a layer over time without time", rnn("UNIDIRECTIONAL_SEQUENCE_RNN", table="SequenceRNNOptions"), ["operator 0", "three dimensions"]
    yield "a rank that divides nothing", svdf(2), ["operator 0", "rank"]
    yield "a rank of zero", svdf(0), ["operator 0", "rank"]
    yield "a negative limit", lstm(cellClip=-1.0), ["operator 0", "negative"]
    yield "a thousand time steps", lstm([1, 1000, 2], fusedActivationFunction=3), ["operator 0", "1000 time steps", "256"]
    yield "an activation that is not defined", lstm(fusedActivationFunction=0), ["operator 0", "activation is none"]
    yield "no states", lstm(states=False), ["operator 0", "input 18"]


def svdf(rank):
    m = Model([1, 4])
    operands = [m.x, m.constant(np.zeros((3, 4)), F), m.constant(np.zeros((3, 5)), F), -1, m.w.tensor("memory", [1, 15], F, variable=True)]
    return m.run("SVDF", operands, [1, 3], ("SVDFOptions", {"rank": rank}))


def lstm(shape=(1, 2, 2), states=True, **opts):
    m = Model(shape)
    square = [m.constant(np.zeros((2, 2)), F) for _ in range(8)]
    operands = [m.x, *square, -1, -1, -1, *(m.constant(np.zeros(2), F) for _ in range(4)), -1, -1]
    operands += [m.w.tensor(n, [1, 2], F, variable=True) for n in "hc"] if states else [-1, -1]
    return m.run("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, shape, ("UnidirectionalSequenceLSTMOptions", {"fusedActivationFunction": 4, **opts}))


def custom(name, bytes_of_options):
    m = Model()
    y = m.w.tensor("y", SHAPE, F)
    m.w.operator(name, [m.x, m.x, m.x], [y], custom_options=bytes_of_options or b"\0")
    return m.finish(y)


def explosions():
    """Constants without end from a few bytes."""
    limit = ["operator 0", "2^24"]

    def folded(name, values, shape, opts=None, dtype=np.int32):
        m = Model([1])
        return m.run(name, [m.constant(v) for v in values], shape, opts, dtype)

    yield "RANGE", folded("RANGE", [0, 1 << 30, 1], [1 << 30], ("RangeOptions", {})), limit
    yield "FILL", folded("FILL", [[1 << 30], 1], [1 << 30], ("FillOptions", {})), limit
    yield "BROADCAST_TO", folded("BROADCAST_TO", [[1], [1 << 30]], [1 << 30]), limit
    yield "TILE", folded("TILE", [[[1]], [1 << 15, 1 << 15]], [1 << 15, 1 << 15]), limit
    yield "PAD", folded("PAD", [[1], [[1 << 24, 1 << 24]]], [1 + (1 << 25)]), limit
    m = Model([1 << 15, 1 << 15])
    yield "ZEROS_LIKE", m.run("ZEROS_LIKE", [m.x], [1 << 15, 1 << 15]), limit
    m = Model([1, 1 << 30])
    yield "MIRROR_PAD", m.run("MIRROR_PAD", [m.x, m.constant([[0, 0], [1, 1]])], [1, (1 << 30) + 2], ("MirrorPadOptions", {})), limit
    yield "a buffer that a hundred thousand tensors share", shared_buffer(), ["at conversion"]


def shared_buffer():
    m = Model([1])
    data = np.zeros(1 << 16, np.int8)
    first = m.constant(data, np.int8)
    parts = [first]
    for i in range(4000):
        parts.append(m.w.tensor(f"t{i}", [1 << 16], np.int8))
        m.tensors[-1].buffer = m.tensors[first].buffer
    return m.run("CONCATENATION", parts, [len(parts) << 16], ("ConcatenationOptions", {"axis": 0}), np.int8)


def shared_name(count=20000, size=16000):
    """Tensors that are one table again and again: four bytes in the file for a name of `size`."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    b = flatbuffers.Builder(1 << 16)
    name = b.CreateString("n" * size)
    schema.TensorStart(b)
    schema.TensorAddName(b, name)
    tensor = schema.TensorEnd(b)
    schema.SubGraphStartTensorsVector(b, count)
    for _ in range(count):
        b.PrependUOffsetTRelative(tensor)
    tensors = b.EndVector()
    schema.SubGraphStart(b)
    schema.SubGraphAddTensors(b, tensors)
    graph = schema.SubGraphEnd(b)
    schema.ModelStartSubgraphsVector(b, 1)
    b.PrependUOffsetTRelative(graph)
    graphs = b.EndVector()
    schema.ModelStart(b)
    schema.ModelAddVersion(b, 3)
    schema.ModelAddSubgraphs(b, graphs)
    b.Finish(schema.ModelEnd(b), b"TFL3")
    return bytes(b.Output())


def damage():
    whole = corrupted(lambda m, x, y: None)
    yield "half of a file", whole[: len(whole) // 2], ["damaged", "truncated"]
    yield "a root beyond the file", b"\xff\xff\xff\x7f" + whole[4:], ["damaged"]
    yield "nothing but an identifier", whole[:8], ["damaged"]
    yield "a table used again and again", shared_name(), ["far more memory"]
