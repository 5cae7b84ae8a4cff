#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What operators make of NaN and infinities, here and in ONNX Runtime: the tables of docs/reference/conventions.md.

  special_numbers.py           fails where docs/reference/conventions.md does not hold exactly these tables
  special_numbers.py --print   prints them
What ONNX Runtime gives is compared where the version is the one that the document names. Every instruction set of this machine must give the same. Each input is repeated, so that whole vectors and what is left of them are seen.
"""
import pathlib
import re
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402
from models import REPOSITORY, nsk  # noqa: E402

NAN, INF = np.float32(np.nan), np.float32(np.inf)
COPIES = 37
ONES = (NAN, INF, -INF)
LISTS = {"NaN, 1, 2": (NAN, 1, 2), "1, NaN, 2": (1, NAN, 2), "inf, 1, 2": (INF, 1, 2), "-inf, 1, 2": (-INF, 1, 2), "inf, -inf, 1": (INF, -INF, 1),
         "inf, inf, inf": (INF, INF, INF), "-inf, -inf, -inf": (-INF, -INF, -INF)}
PAIRS = {"NaN, 1": (NAN, 1), "1, NaN": (1, NAN), "NaN, 0": (NAN, 0), "inf, inf": (INF, INF), "inf, -inf": (INF, -INF), "-1, inf": (-1, INF), "0, inf": (0, INF),
         "inf, 0": (INF, 0), "1, 0": (1, 0), "0, 0": (0, 0)}


def text(x):
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return {2 ** 31 - 1: "2^31 - 1", -2 ** 31: "-2^31", 2 ** 63 - 1: "2^63 - 1", -2 ** 63: "-2^63"}.get(int(x), str(x))
    return "NaN" if np.isnan(x) else "inf" if x == INF else "-inf" if x == -INF else f"{x + 0.0:.3g}"


def texts(values):
    """What COPIES of one case gave: one text, or all that came up."""
    rows = {tuple(text(x) for x in np.ravel(row)) for row in values}
    return " or ".join(sorted(f"all {row[0]}" if len(row) > 1 and len(set(row)) == 1 else ", ".join(row) for row in rows))


def functions():
    """(name, operator, further inputs, attributes) of functions of one number."""
    for op in ("Relu", "LeakyRelu", "HardSigmoid", "HardSwish", "Sigmoid", "Tanh", "Softplus", "Softsign", "Elu", "Selu", "Celu", "Mish", "Erf", "Exp", "Log", "Sqrt",
               "Reciprocal", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "ThresholdedRelu", "Shrink", "IsNaN", "IsInf"):
        yield op, op, [], {}
    yield "Gelu", "Gelu", [], {}
    yield "Gelu by tanh", "Gelu", [], {"approximate": "tanh"}
    yield "PRelu, slope 0.5", "PRelu", [np.float32([0.5])], {}
    yield "Clip from -1 to 2", "Clip", [np.float32(-1), np.float32(2)], {}
    yield "Clip from -1", "Clip", [np.float32(-1)], {}
    yield "Clip to 2", "Clip", ["", np.float32(2)], {}
    for name, code in (("int32", 6), ("int64", 7), ("bool", 9)):
        yield f"Cast to {name}", "Cast", [], {"to": code}


def combinations():
    for op in ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        yield op


def reductions():
    """(name, operator, inputs, attributes, outputs, shape of the list) of functions of a list."""
    axes = [np.int64([1])]
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        yield op, op, axes, {"keepdims": 0}, 1, (3,)
    for op in ("ArgMax", "ArgMin"):
        yield op, op, [], {"axis": 1, "keepdims": 0}, 1, (3,)
    for largest in (1, 0):
        yield f"TopK of 3, {'largest' if largest else 'smallest'} first: positions", "TopK", [np.int64([3])], {"axis": 1, "largest": largest}, 2, (3,)
    for op in ("Softmax", "LogSoftmax"):
        yield op, op, [], {"axis": 1}, 1, (3,)
    yield "CumSum", "CumSum", [np.int64(1)], {}, 1, (3,)
    yield "MaxPool of 3", "MaxPool", [], {"kernel_shape": [3]}, 1, (1, 3)
    yield "AveragePool of 3", "AveragePool", [], {"kernel_shape": [3]}, 1, (1, 3)
    yield "GlobalMaxPool", "GlobalMaxPool", [], {}, 1, (1, 3)
    yield "GlobalAveragePool", "GlobalAveragePool", [], {}, 1, (1, 3)
    yield "LRN of 3", "LRN", [], {"size": 3}, 1, (3, 1, 1)
    yield "Resize, linear, to 5", "Resize", ["", "", np.int64([COPIES, 1, 1, 5])], {"mode": "linear"}, 1, (1, 1, 3)
    yield "InstanceNormalization", "InstanceNormalization", [np.ones(1, np.float32), np.zeros(1, np.float32)], {}, 1, (1, 3)
    yield "LayerNormalization", "LayerNormalization", [np.ones(3, np.float32)], {}, 1, (3,)
    yield "LpNormalization", "LpNormalization", [], {"axis": 1}, 1, (3,)
    yield "MatMul with 1, 0, 1", "MatMul", [np.float32([[1], [0], [1]])], {}, 1, (3,)
    yield "Conv with 1, 0, 1", "Conv", [np.float32([[[1, 0, 1]]])], {}, 1, (1, 3)


def instruction_sets(grid):
    """--isa options that run on this machine."""
    names = re.search(r"Instruction set \(([^)]*)\)", " ".join(nsk("run", "--help").stdout.split())).group(1).split(", ")
    for name in names:
        try:
            grid.results(False, ["--isa", name])
        except SystemExit as refused:
            if "this machine cannot run it" not in str(refused):
                raise
        else:
            yield ["--isa", name]


def measured(grid):
    """{case: (here, in ONNX Runtime)}, outputs as rows of COPIES; the last output of each case."""
    results = None
    for isa in ISAS:
        now = {what: (np.reshape(got, (COPIES, -1)), np.reshape(wanted, (COPIES, -1))) for what, got, wanted in grid.results(False, isa)}
        for what in results or {}:
            if not np.array_equal(results[what][0], now[what][0], equal_nan=now[what][0].dtype == np.float32):
                raise SystemExit(f"{what}: {isa} gives {texts(now[what][0])}, {ISAS[0]} gave {texts(results[what][0])}")
        results = now
    return {what: (texts(got), texts(wanted)) for what, (got, wanted) in results.items()}


ISAS = []


def row(name, results):
    """A line of a table; `results`: (here, in ONNX Runtime) per column."""
    return f"| {name} | " + " | ".join(here if here == there else f"{here} (ORT {there})" for here, there in results) + " |"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "| --- " * len(head) + "|", *rows])


def tables():
    one = {text(x): Grid(20, x=np.full((COPIES, 1), x, np.float32)) for x in ONES}
    for grid in one.values():
        for name, op, more, attributes in functions():
            grid.add(name, op, ["x", *more], **attributes)
    one = {x: measured(grid) for x, grid in one.items()}
    pairs = {name: Grid(20, x=np.full((COPIES, 1), a, np.float32), y=np.full((COPIES, 1), b, np.float32)) for name, (a, b) in PAIRS.items()}
    for grid in pairs.values():
        for op in combinations():
            grid.add(op, op, ["x", "y"])
    pairs = {name: measured(grid) for name, grid in pairs.items()}
    lists = {}
    for name, values in LISTS.items():
        lists[name] = {}
        for shape in ((3,), (1, 3), (3, 1, 1), (1, 1, 3)):
            grid = Grid(20, x=np.tile(np.float32(values), (COPIES, 1)).reshape(COPIES, *shape))
            for what, op, more, attributes, outputs, wanted in reductions():
                if wanted == shape:
                    grid.add(what, op, ["x", *more], outputs, **attributes)
            lists[name].update(measured(grid))
    yield table(["function of x", *one], [row(name, [one[x][name] for x in one]) for name, *_ in functions()])
    yield table(["function of", *pairs], [row(op, [pairs[x][op] for x in pairs]) for op in combinations()])
    yield table(["function of", *lists], [row(name, [lists[x][name] for x in lists]) for name, *_ in reductions()])


def plain(line):
    """A line without what ONNX Runtime gives."""
    return re.sub(r" \(ORT [^)]*\)", "", line)


def main():
    grid = Grid(20, x=np.zeros(3, np.float32))
    grid.add("one function", "Relu", ["x"])
    ISAS.extend(instruction_sets(grid))
    found = list(tables())
    if sys.argv[1:] == ["--print"]:
        print("\n\n".join(found))
        return 0
    document = (REPOSITORY / "docs" / "reference" / "conventions.md").read_text()
    seen = (lambda line: line) if f"ONNX Runtime {onnxruntime.__version__}" in document else plain
    written = {seen(line) for line in document.splitlines()}
    missing = [line for part in found for line in part.splitlines() if seen(line) not in written]
    for line in missing:
        print(f"docs/reference/conventions.md lacks the line\n  {line}")
    if missing:
        print("copy the tables that special_numbers.py --print shows, and read what changed")
    print(f"{sum(len(part.splitlines()) - 2 for part in found)} rows on {len(ISAS)} instruction sets")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
