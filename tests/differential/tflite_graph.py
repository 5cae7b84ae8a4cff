# SPDX-License-Identifier: MIT
"""A random TensorFlow Lite graph that grows operator by operator; LiteRT computes each one as it is added.

So every shape is the one that LiteRT gives, and a rule can ask what numbers a tensor holds.
"""
import dataclasses
import random

import numpy as np

from litert import interpreter_of
from tflite_writer import Writer

F, I, L, B, C = np.float32, np.int32, np.int64, np.bool_, np.complex64
MAX_ELEMENTS = 20000
LARGEST, SMALLEST = 1e6, 1e-12  # magnitudes of numbers that operators are given
SPECIALS = np.array([0.0, -0.0, 1e-40, -1e-40, 1.17549435e-38, 65536, -16777216, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan,
                     0.5, -0.5, 1.5, -1.5, 2.5, 1e-7, -1e-7, 88.7, -103.9], F)
# Where additions overflow depends on their order, and what comes of infinities that meet (or meet 0): docs/reference/conventions.md says what ours is.
SUMS = {"CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL", "AVERAGE_POOL_2D", "RESIZE_BILINEAR", "LOCAL_RESPONSE_NORMALIZATION", "SOFTMAX",
        "LOG_SOFTMAX", "L2_NORMALIZATION", "MEAN", "SUM", "REDUCE_PROD", "CUMSUM", "ADD_N", "RFFT2D", "COMPLEX_ABS", "REAL", "IMAG", "SIN", "COS", "GELU", "CONV_3D", "CONV_3D_TRANSPOSE",
        "L2_POOL_2D", "SCATTER_ND", "SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD", "REDUCE_WINDOW"}
# What a clamp makes of what is no number: docs/reference/conventions.md; LiteRT's depends on the length of the tensor.
CLAMPS = {"RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "MAXIMUM", "MINIMUM", "ADD", "SUB", "MUL", "DIV", "MAX_POOL_2D", "REDUCE_MAX", "REDUCE_MIN", "ARG_MAX", "ARG_MIN", "TOPK_V2",
          "LEAKY_RELU", "PRELU", "HARD_SWISH", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"}


class Rejected(Exception):
    """LiteRT does not compute this operator, or its result is of no use."""


@dataclasses.dataclass(eq=False)
class Tensor:
    """A tensor of the file; `value` is what LiteRT stores in it, `error` what netsuke may differ by (quantised tensors, in real numbers)."""
    name: str
    value: np.ndarray
    kind: str                 # input, constant, result
    exact: bool = False       # computed without rounding, whatever the order of additions
    scale: np.ndarray = None
    zero: np.ndarray = None
    axis: int = 0
    error: float = 0.0
    sparse: bool = False      # stored without its zeros
    hidden: bool = False      # no output of the model: parts of it are not defined

    @property
    def shape(self):
        return list(self.value.shape)

    @property
    def rank(self):
        return self.value.ndim

    @property
    def dtype(self):
        return self.value.dtype.type

    @property
    def real(self):
        """Real numbers of a quantised tensor with one scale."""
        return float(self.scale[0]) * (self.value.astype(np.float64) - int(self.zero[0]))


@dataclasses.dataclass
class Case:
    """What is compared: a model, its inputs (an axis of runs in front), options of the conversion, lengths that are asked for."""
    content: bytes
    inputs: dict
    request: dict = dataclasses.field(default_factory=dict)  # options of the worker's request
    shapes: dict = dataclasses.field(default_factory=dict)
    exact: set = dataclasses.field(default_factory=set)      # names of tensors that must be equal
    bounds: dict = dataclasses.field(default_factory=dict)   # of quantised tensors: largest difference, in real numbers
    operators: list = dataclasses.field(default_factory=list)
    family: str = ""
    answer: object = None  # of LiteRT, where it is known already
    twin: object = None    # as in examine.Case: not sampled here
    stored: bool = False   # LiteRT's results are asked for as it stores them
    kernels: str = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"  # LiteRT's
    peer: bytes = b""      # the model that LiteRT is asked for, where it is not the same
    declined: str = ""     # why there is no model: LiteRT rejects it, or crashes

    @property
    def runs(self):
        return len(next(iter(self.inputs.values())))


def quantisation_of(writer, t):
    q = writer.schema.QuantizationParametersT()
    q.scale, q.zeroPoint, q.quantizedDimension = np.asarray(t.scale, F), np.asarray(t.zero, L), t.axis
    return q


def sparsity_of(writer, value):
    """Rows one after the other, and the columns of each that are stored."""
    schema = writer.schema
    s, rows, columns = schema.SparsityParametersT(), schema.DimensionMetadataT(), schema.DimensionMetadataT()
    s.traversalOrder, s.blockMap, s.dimMetadata = [0, 1], [], [rows, columns]
    rows.format, rows.denseSize, columns.format = schema.DimensionType.DENSE, len(value), schema.DimensionType.SPARSE_CSR
    columns.arraySegmentsType = columns.arrayIndicesType = schema.SparseIndexVector.Int32Vector
    columns.arraySegments, columns.arrayIndices = schema.Int32VectorT(), schema.Int32VectorT()
    columns.arraySegments.values = [0, *np.cumsum(np.count_nonzero(value, 1)).tolist()]
    columns.arrayIndices.values = np.nonzero(value)[1].tolist()
    return s


def write_tensor(writer, t):
    if t.sparse:
        index = writer.tensor(t.name, t.shape, t.dtype, t.value[np.nonzero(t.value)])
        writer.graph.tensors[index].sparsity = sparsity_of(writer, t.value)
        return index
    index = writer.tensor(t.name, t.shape, t.dtype, t.value if t.kind == "constant" else None)
    if t.scale is not None:
        writer.graph.tensors[index].quantization = quantisation_of(writer, t)
    return index


class Graph:
    def __init__(self, seed):
        self.choose, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.tensors, self.operators = [], []
        self.specials, self.empty = None, self.some(0.15)
        self.quarters = self.choose.random() < 0.5  # numbers whose sums and products are exact

    # Random choices.
    def some(self, share):
        return self.choose.random() < share

    def length(self, maximum=9):
        if self.empty and self.some(0.06):
            return 0
        return 1 if self.some(0.2) else self.choose.randint(2, maximum)

    def shape(self, rank=None):
        if rank is None:
            rank = self.choose.choice([0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5])
        shape = [self.length(17 if rank < 3 else 7) for _ in range(rank)]
        if rank == 4 and self.some(0.7):
            shape[0] = 1
        return shape

    def sample(self, shape, dtype=F, low=-4, high=4):
        shape = list(shape)
        if dtype == B:
            return self.numbers.integers(0, 2, shape).astype(B)
        if np.issubdtype(dtype, np.integer):
            limits = np.iinfo(dtype)
            low, high = max(int(np.ceil(low)), limits.min), min(int(np.floor(high)), limits.max)
            return self.numbers.integers(low, high, shape, endpoint=True).astype(dtype)
        if self.quarters:
            return (self.numbers.integers(int(np.ceil(low * 4)), int(np.floor(high * 4)), shape, endpoint=True) / 4).astype(F)
        values = self.numbers.uniform(low, high, shape).astype(F)
        if self.specials is not None and low < 0:
            values = np.where(self.numbers.random(shape) < 0.3, self.numbers.choice(self.specials, shape), values).astype(F)
        return values

    def sample_specials(self, op):
        """At times, special numbers for an operator that leaves nothing open about them."""
        if op in SUMS or not self.some(0.25):
            return
        self.specials, self.quarters = SPECIALS[~np.isnan(SPECIALS)] if op in CLAMPS else SPECIALS, False

    # Tensors.
    def add(self, prefix, value, kind, exact=False, **fields):
        t = Tensor(f"{prefix}{len(self.tensors)}", np.asarray(value), kind, exact, **fields)
        self.tensors.append(t)
        return t

    def input(self, value):
        return self.add("x", value, "input", self.is_plain(value))

    def constant(self, value, dtype=None):
        value = np.asarray(value, dtype)
        if value.size == 0:  # a buffer without bytes is no constant
            raise Rejected("an empty constant")
        return self.add("c", value, "constant", self.is_plain(value))

    def fresh(self, shape, dtype=F, low=-4, high=4, constants=0.35):
        value = self.sample(shape, dtype, low, high)
        if value.size > 0 and self.some(constants):
            return self.floats(value) if dtype == F and self.specials is None else self.constant(value)
        return self.input(value)

    def floats(self, value):
        """A float32 constant, at times stored in 16 or 8 bits."""
        if value.size < 2 or not self.some(0.12):
            return self.constant(value)
        if value.ndim == 2 and self.some(0.5):
            return self.dense(value)
        if self.some(0.5):
            return self.do("DEQUANTIZE", [self.constant(value.astype(np.float16))], [F], exact=self.quarters)
        scale, count = 0.25 if self.quarters else 0.037, 1
        axis = self.choose.randrange(value.ndim)
        if self.some(0.5):
            count = value.shape[axis]
        scales, zeros = np.full(count, scale, F) * (2.0 ** self.numbers.integers(0, 3, count)).astype(F), np.zeros(count, L) if count > 1 else np.array([self.choose.choice([0, 3])])
        stored = np.clip(np.rint(value / scale), -128, 127).astype(np.int8)
        t = self.add("c", stored, "constant", scale=scales, zero=zeros, axis=axis if count > 1 else 0)
        return self.do("DEQUANTIZE", [t], [F], exact=True)

    def dense(self, value):
        """A constant that is stored without its zeros."""
        value = value * (self.numbers.random(value.shape) < 0.4)
        value[0, 0] = 1  # something is stored
        t = self.do("DENSIFY", [self.add("c", value.astype(F), "constant", self.is_plain(value), sparse=True)], [F], ("DensifyOptions", {}), exact=True)
        t.hidden = True  # LiteRT gives it another name
        return t

    def is_plain(self, value):
        """Whether sums and products of a few such numbers are exact."""
        value = np.asarray(value)
        if value.dtype != F:
            return True
        return bool(np.all(np.isfinite(value)) and np.all(np.abs(value) < 4096) and np.all(value * 64 == np.rint(value * 64)))

    def usable(self, t):
        if t.dtype != F or self.specials is not None:
            return True
        magnitude = np.abs(t.value[t.value != 0])
        return bool(np.all(np.isfinite(t.value)) and (magnitude.size == 0 or (magnitude.max() < LARGEST and magnitude.min() > SMALLEST)))

    def pick(self, dtype=F, rank=None, where=lambda t: True, low=-4, high=4, again=0.75, constants=0.1):
        """A tensor that is there, or a new one; `rank` may be a number or a list of numbers."""
        ranks = None if rank is None else [rank] if isinstance(rank, int) else list(rank)
        there = [t for t in self.tensors if t.dtype == dtype and t.scale is None and t.kind != "constant" and (ranks is None or t.rank in ranks) and self.usable(t) and where(t)]
        if there and self.some(again):
            return self.choose.choice(there[-6:])
        for _ in range(20):
            shape = self.shape(None if ranks is None else self.choose.choice(ranks))
            t = Tensor("?", np.zeros(shape, dtype), "input", True)
            if where(t):
                return self.fresh(shape, dtype, low, high, constants)
        raise Rejected("no shape fits")

    def pick_exact(self, **wanted):
        """A tensor without rounding errors, picked as pick() does: for operators that jump."""
        keep = wanted.pop("where", lambda t: True)
        before = self.quarters
        self.quarters = True
        try:
            return self.pick(where=lambda t: t.exact and keep(t), **wanted)
        finally:
            self.quarters = before

    def broadcast(self, shape, wider=0.2):
        """A shape that broadcasts with `shape`, at times to more than it."""
        other = [n if self.some(0.7) else 1 for n in shape]
        other = [self.length(5) if n == 1 and self.some(wider) else m for n, m in zip(shape, other)]
        return other[self.choose.randint(0, len(other)):] if self.some(0.35) else other

    def partner(self, x, low=-4, high=4, **wanted):
        """A second operand for x: itself, another tensor of a fitting shape, or a new one."""
        fits = [t for t in self.tensors if t.dtype == x.dtype and t.scale is None and t.kind != "constant" and self.usable(t) and fit(t.shape, x.shape) and not wanted]
        if fits and self.some(0.4):
            return self.choose.choice(fits)
        return self.fresh(self.broadcast(x.shape), x.dtype, low, high, 0.5)

    # Operators.
    def do_many(self, op, inputs, types, options=None, exact=False, custom=None, quantised=None, shape=None):
        """`inputs`: tensors, arrays (which become constants) and None (absent); `quantised`: (scale, zero) per result; `shape`: of the results, for
        the few operators that LiteRT asks it of."""
        inputs = [t if t is None or isinstance(t, Tensor) else self.constant(t) for t in inputs]
        values = self.compute(op, inputs, types, options, custom, quantised, shape)
        if sum(v.size for v in values) > MAX_ELEMENTS or any(v.ndim > 6 for v in values):
            raise Rejected("too large")
        if not self.empty and any(v.size == 0 for v in values):
            raise Rejected("empty")
        outputs = []
        for k, v in enumerate(values):
            floats = [t for t in inputs if t is not None and t.dtype == F]
            plain = exact and all(t.exact for t in floats) and self.is_plain(v)
            scale = {} if quantised is None or quantised[k] is None else {"scale": np.array([quantised[k][0]], F), "zero": np.array([quantised[k][1]], L)}
            outputs.append(self.add("y", v, "result", plain, **scale))
        self.operators.append((op, inputs, outputs, options, custom))
        return outputs

    def do(self, op, inputs, types, options=None, exact=False, custom=None, quantised=None, shape=None):
        return self.do_many(op, inputs, types, options, exact, custom, None if quantised is None else [quantised], shape)[0]

    def compute(self, op, inputs, types, options, custom, quantised, shape):
        writer = Writer()
        index = {}
        for t in inputs:
            if t is not None and id(t) not in index:
                index[id(t)] = write_tensor(writer, t)
        outputs = []
        for k, dtype in enumerate(types):
            outputs.append(writer.tensor(f"r{k}", [1] if shape is None else shape, dtype))
            if quantised is not None and quantised[k] is not None:
                fake = Tensor("", np.zeros(1), "result", scale=[quantised[k][0]], zero=[quantised[k][1]])
                writer.graph.tensors[outputs[-1]].quantization = quantisation_of(writer, fake)
        writer.operator(op, [-1 if t is None else index[id(t)] for t in inputs], outputs, options, custom)
        given = {id(t): t for t in inputs if t is not None and t.kind != "constant"}
        try:
            interpreter = interpreter_of(writer.finish([index[i] for i in given], outputs))
            for i, t in given.items():
                interpreter.set_tensor(index[i], t.value)
            interpreter.invoke()
            return [interpreter.get_tensor(o).copy() for o in outputs]
        except (RuntimeError, ValueError) as refused:
            raise Rejected(str(refused))

    def attempt(self, rule, *arguments):
        """Runs a rule; takes back what it added where LiteRT rejects it."""
        tensors, operators = len(self.tensors), len(self.operators)
        try:
            rule(self, *arguments)
            return True
        except Rejected:
            del self.tensors[tensors:], self.operators[operators:]
            return False

    # The model.
    def outputs(self):
        """Everything that nothing reads, and some that is read."""
        read = {id(t) for _, inputs, *_ in self.operators for t in inputs if t is not None}
        results = [t for t in self.tensors if t.kind == "result" and t.dtype not in (C, np.float16)]
        kept = [t for t in results if not t.hidden and (id(t) not in read or self.some(0.12))]
        if not kept:
            raise Rejected("no output")
        if self.some(0.03):  # an input as it is
            kept += [t for t in self.tensors if t.kind == "input" and id(t) in read and t.scale is None][:1]
        return kept

    def case(self, runs=1, dequantize=False, open_lengths=False, integers=False):
        outputs = self.outputs()
        used = {id(t) for _, inputs, *_ in self.operators for t in inputs if t is not None}
        inputs = [t for t in self.tensors if t.kind == "input" and id(t) in used]
        if not inputs:
            raise Rejected("no input")
        given = {t.name: np.stack([t.value] + [self.again(t) for _ in range(runs - 1)]) for t in inputs}
        shapes = {}
        if open_lengths:
            shapes = {t.name: t.shape for t in inputs if t.shape}
        content = self.write(inputs, outputs, shapes)
        request = {"dequantize": dequantize, "integers": integers, "winograd": self.some(0.8), "max_tile_us": self.choose.choice([100.0, 100.0, 1.0])}
        return Case(content, given, request, shapes, {t.name for t in self.tensors if t.exact}, {t.name: t.error for t in self.tensors} if dequantize or integers else {},
                    [o[0] for o in self.operators])

    def again(self, t):
        """Other numbers of the same kind for an input."""
        return self.numbers.permutation(t.value.reshape(-1)).reshape(t.value.shape)

    def write(self, inputs, outputs, open_inputs):
        """With open inputs, every length of an input and of a result is 1 in the file and open."""
        writer, index = Writer(), {}
        read = [t for _, given, made, *_ in self.operators for t in [*given, *made] if t is not None]
        for t in dict.fromkeys([*inputs, *read]):
            index[id(t)] = write_tensor(writer, t)
            if open_inputs and t.kind != "constant":
                table = writer.graph.tensors[index[id(t)]]
                table.shape, table.shapeSignature = [1] * t.rank, [-1] * t.rank
        for op, given, made, options, custom in self.operators:
            writer.operator(op, [-1 if t is None else index[id(t)] for t in given], [index[id(t)] for t in made], options, custom)
        return writer.finish([index[id(t)] for t in inputs], [index[id(t)] for t in outputs])


def fit(a, b):
    """Whether two shapes broadcast."""
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b)))
