#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators whose number of results is data, through the command line: the rows that there are equal ONNX Runtime's, the count is theirs,
the rest holds the documented filler, and operators behind compute on the rows that there are or are refused.

  bounded.py [SEED]
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk, plain_session  # noqa: E402

onnxruntime.set_default_logger_severity(4)
TYPES = {"float": np.float32, "int64": np.int64, "int32": np.int32, "bool": np.bool_}


def model_of(text, folder):
    source = pathlib.Path(folder) / "model.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}'), source)
    return source


def run(text, inputs, options=()):
    """(the engine's outputs, ONNX Runtime's, None where it has no kernel), both by name."""
    with tempfile.TemporaryDirectory(prefix="nsk_bounded_") as folder:
        folder = pathlib.Path(folder)
        source = model_of(text, folder)
        must("convert", source, "-o", folder / "model.nsk", "--check", "--no-states", "--quiet", *options)
        arguments = []
        for key, value in inputs.items():
            np.save(folder / f"{key}.npy", value)
            arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
        must("run", folder / "model.nsk", *arguments, "--output-dir", folder / "out")
        names = [o.name for o in onnx.load(source).graph.output]
        try:
            wanted = dict(zip(names, plain_session(source).run(None, inputs)))
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            wanted = None
        return {file.stem: np.load(file) for file in (folder / "out").glob("*.npy")}, wanted


def compare(name, got, wanted, count, axis, filler):
    """Compares the rows along `axis`; `filler` None where none is promised."""
    if count != wanted.shape[axis]:
        raise SystemExit(f"{name}: {count} results, ONNX Runtime has {wanted.shape[axis]}")
    rows, rest = np.split(got, [count], axis)
    if rows.shape != wanted.shape or rows.dtype != wanted.dtype or not np.array_equal(rows, wanted, equal_nan=rows.dtype.kind == "f"):
        raise SystemExit(f"{name}: differs from ONNX Runtime")
    if filler is not None and not (rest == filler).all():
        raise SystemExit(f"{name}: the rows behind the last are not {filler}")


def check(name, text, inputs, axis, filler, output="y", counted="y"):
    """`counted` is the output of the operator that chooses."""
    got, wanted = run(text, inputs)
    compare(name, got[output], wanted[output], int(got[counted + ".count"]), axis, filler)


def unique_of(x, axis, in_order):
    """What NumPy says of it, as ONNX has it; NaN is one number, behind all others."""
    x = x if axis is not None else x.reshape(-1)
    line = axis or 0
    slices = np.moveaxis(x, line, 0).reshape(x.shape[line], -1)
    order = np.lexsort(slices.T[::-1]) if slices.shape[1] else np.arange(len(slices))
    same = [i > 0 and np.array_equal(slices[order[i]], slices[order[i - 1]], equal_nan=slices.dtype.kind == "f") for i in range(len(order))]
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(~np.array(same)) - 1
    first = np.array([np.flatnonzero(groups == g)[0] for g in range(groups.max() + 1)])
    if not in_order:
        place = np.argsort(np.argsort(first))
        groups, first = place[groups], np.sort(first)
    return {"y": np.take(x, first, line), "i": first, "r": groups, "c": np.bincount(groups)}


def check_unique(name, x, axis, in_order, outputs="yirc"):
    kind = {v: k for k, v in TYPES.items()}[x.dtype.type]
    shape = ["n" if d == (axis or 0) else str(n) for d, n in enumerate(x.shape)] if axis is not None else ["n"]
    sizes = {"y": f"{kind}[{','.join(shape)}] y", "i": "int64[n] i", "r": f"int64[{x.size if axis is None else x.shape[axis]}] r", "c": "int64[n] c"}
    text = f"({kind}[{','.join(map(str, x.shape))}] x) => ({', '.join(sizes[o] for o in outputs)}) {{ {', '.join(o if o in outputs else '' for o in 'yirc').rstrip(', ')} = Unique<" + \
           (f"axis={axis}, " if axis is not None else "") + f"sorted={int(in_order)}>(x) }}"
    got, wanted = run(text, {"x": x})
    by_numpy = unique_of(x, axis, in_order)
    if wanted is None or np.isnan(x.astype(np.float64)).any():
        wanted = by_numpy
    for output, filler in zip("yic", (0, -1, 0)):
        if output in outputs:
            compare(f"{name} {output}", got[output], wanted[output], int(got["y.count"]), (axis or 0) if output == "y" else 0, filler)
            if not np.array_equal(wanted[output], by_numpy[output], equal_nan=x.dtype.kind == "f"):
                raise SystemExit(f"{name}: ONNX Runtime and NumPy differ")
    if "r" in outputs and not np.array_equal(got["r"], wanted["r"]):
        raise SystemExit(f"{name}: groups differ from ONNX Runtime's")


def unique_cases(seed, rounds=14):
    random = np.random.default_rng(seed)
    for i in range(rounds):
        kind = ("float", "int64", "int32")[i % 3]
        shape = [int(d) for d in random.integers(1, 9, random.integers(1, 5))]
        axis = None if random.random() < 0.4 else int(random.integers(len(shape)))
        x = random.integers(-1, 2, shape).astype(TYPES[kind])
        if kind == "float" and i % 2:
            x[x == 0] *= -1
        check_unique(f"unique_{seed}_{i}", x, axis, random.random() < 0.5, ["yirc", "y", "yr", "yc", "yi"][i % 5])
    for in_order in (True, False):
        check_unique("unique_special", np.array([3, np.nan, -0.0, 3, np.inf, np.nan, 0.0, -np.inf, np.nan], np.float32), None, in_order)
        zeros = np.where(random.random(300) < 0.5, np.float32(0), np.float32(-0.0)) + random.integers(0, 2, 300).astype(np.float32)
        check_unique("unique_zeros", np.where(random.random(300) < 0.1, np.float32(np.nan), np.copysign(zeros, random.standard_normal(300))).astype(np.float32), None, in_order)
        check_unique("unique_special_slices", np.array([[1, np.nan], [np.nan, 1], [1, np.nan], [1, 0], [-0.0, 1], [0.0, 1], [np.nan, 1]], np.float32), 0, in_order)
        check_unique("unique_large_numbers", np.array([2**62 + 1, 2**62, -2**63, 2**62 + 1, 2**63 - 1], np.int64), None, in_order)
    check_unique("unique_of_many", random.integers(0, 5000, 65536), None, True)


def random_cases(seed, rounds=12):
    random = np.random.default_rng(seed)
    for i in range(rounds):
        kind = list(TYPES)[i % 4]
        shape = [int(d) for d in random.integers(1, 9, random.integers(1, 5))]
        share = [0, 0.1, 0.5, 1][int(random.integers(4))]
        x = (random.random(shape) < share) * random.integers(1, 9, shape)
        sizes = ",".join(map(str, shape))
        check(f"non_zero_{seed}_{i}", f"({kind}[{sizes}] x) => (int64[{len(shape)},n] y) {{ y = NonZero(x) }}", {"x": x.astype(TYPES[kind])}, 1, -1)
        axis = int(random.integers(len(shape)))
        length = int(random.integers(1, shape[axis] + 1))
        inputs = {"x": random.integers(0, 2 if kind == "bool" else 99, shape).astype(TYPES[kind]), "c": random.random(length) < share}
        out = ",".join("n" if d == axis else str(size) for d, size in enumerate(shape))
        check(f"compress_{seed}_{i}", f"({kind}[{sizes}] x, bool[{length}] c) => ({kind}[{out}] y) {{ y = Compress<axis={axis}>(x, c) }}", inputs, axis, 0)
    flat = {"x": random.standard_normal((5, 40)).astype(np.float32), "c": random.random(187) < 0.4}
    check("compress_flat", "(float[5,40] x, bool[187] c) => (float[n] y) { y = Compress(x, c) }", flat, 0, 0)
    large = (random.random(65536) < 0.3).astype(np.float32)
    check("functions_of_chosen", "(float[5,40] x, bool[187] c) => (float[n] y) { quarter = Constant<value_float=0.25>() z = Compress(x, c) a = PRelu(z, quarter) "
          "s = Shrink(a) y = Sum(s, a) }", flat, 0, None, counted="z")
    check("non_zero_of_many", "(float[65536] x) => (int64[1,n] y) { y = NonZero(x) }", {"x": large}, 1, -1)
    masked = {"x": random.standard_normal((30, 4)).astype(np.float32)}
    check("rows_by_mask", "(float[30,4] x) => (float[n] y) { b = Greater(x, zero) p = NonZero(b) t = Transpose(p) g = GatherND(x, t) y = Mul(g, two) }".replace(
        "{ b", "{ zero = Constant<value_float=0.0>() two = Constant<value_float=2.0>() b"), masked, 0, None, counted="p")


def check_ranges(seed, kind, numbers, bound):
    """Ranges of `numbers` [n, 3]: start, limit, delta; ONNX Runtime's where it has no more than the bound, else its first ones."""
    with tempfile.TemporaryDirectory(prefix="nsk_bounded_") as folder:
        folder = pathlib.Path(folder)
        source = model_of(f"({kind} s, {kind} l, {kind} d) => ({kind}[n] y) {{ y = Range(s, l, d) }}", folder)
        must("convert", source, "-o", folder / "model.nsk", "--check", "--quiet", "--bound", f"y={bound}")
        must("check", source, folder / "model.nsk", "--quiet")
        session = plain_session(source)
        for i, row in enumerate(numbers):
            inputs = dict(zip("sld", (np.asarray(x, TYPES[kind]) for x in row)))
            arguments = []
            for key, value in inputs.items():
                np.save(folder / f"{key}.npy", value)
                arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
            must("run", folder / "model.nsk", *arguments, "--output-dir", folder / "out")
            wanted = session.run(None, inputs)[0]
            got, count = np.load(folder / "out" / "y.npy"), int(np.load(folder / "out" / "y.count.npy"))
            if count != min(len(wanted), bound + 1):  # one more says that there are more
                raise SystemExit(f"range of {kind} {row}, seed {seed}: {count} elements, ONNX Runtime has {len(wanted)}")
            wanted = wanted[:bound]
            if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max(initial=0)):
                raise SystemExit(f"range of {kind} {row}, seed {seed}: differs from ONNX Runtime")


def range_cases(seed):
    random = np.random.default_rng(seed)
    whole = [[0, 5, 1], [5, 0, -2], [0, 5, -1], [3, 3, 1], [-7, 8, 3], [8, -7, -3], [0, 17, 1], [0, 1000, 1], [1, 2, 100], [1, 0, -100]]
    whole += [[int(x) for x in random.integers(-30, 30, 2)] + [int(random.choice([-3, -2, -1, 1, 2, 5]))] for _ in range(8)]
    check_ranges(seed, "int64", whole + [[2**62, 2**62 + 3, 2]], 16)
    check_ranges(seed, "int32", whole, 16)
    floats = [[0, 1, 0.1], [0, 0.7, 0.1], [0.1, 1.1, 0.1], [1, 0, -0.1], [0, 1, -0.1], [0, 3, 0.3], [1e-30, 3e-30, 1e-30], [0, 1e30, 1e29], [0, 1e-6, 1], [0, 5, np.inf], [5, 5, 1]]
    floats += [[0, float(np.float32(k) * np.float32(d)), d] for k in range(1, 14, 3) for d in (0.1, 0.7, 1 / 3)]
    floats += [[x, x + k * d, d] for x, k, d in zip(random.uniform(-2, 2, 12), random.integers(0, 40, 12), random.uniform(-1, 1, 12))]
    check_ranges(seed, "float", floats, 24)


BEHIND = {
    "sum of places": "(float[9] x) => (float y) { p = NonZero(x) f = Cast<to=1>(p) y = ReduceSum<keepdims=0>(f) }",
    "softmax": "(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) y = Softmax(p) }",
    "length": "(float[9] x, bool[9] c) => (int64[1] y) { p = Compress(x, c) y = Shape(p) }",
    "rows before others": "(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) y = Concat<axis=0>(p, x) }",
    "chosen again": "(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) z = Constant<value_float=0.0>() m = Greater(p, z) y = Compress(p, m) }",
    "scatter to places": "(float[9] x, float[9] u) => (float[9] y) { p = NonZero(x) t = Transpose(p) w = GatherND(u, t) y = ScatterND(u, t, w) }",
    "product along rows": "(float[9,9] x, bool[9] c) => (float[9,9] y) { p = Compress<axis=0>(x, c) t = Transpose(p) y = MatMul(t, p) }",
    "mean": "(float[9] x, bool[9] c) => (float y) { p = Compress(x, c) y = ReduceMean<keepdims=0>(p) }",
    "two best": "(float[9] x, bool[9] c) => (float[2] y, int64[2] i) { p = Compress(x, c) k = Constant<value_ints=[2]>() y, i = TopK(p, k) }",
    "last row": "(float[9,3] x, bool[9] c) => (float[3] y) { p = Compress<axis=0>(x, c) k = Constant<value_int=-1>() y = Gather(p, k) }",
    "first half": "(float[9,3] x, bool[9] c) => (float[n,3] y) { p = Compress<axis=0>(x, c) a = Constant<value_ints=[0]>() e = Constant<value_ints=[4]>() y = Slice(p, a, e, a) }",
    "rows of a line": "(float[9,4] x, bool[9] c) => (float[n] y) { p = Compress<axis=0>(x, c) k = Constant<value_ints=[-1]>() y = Reshape(p, k) }",
    "pairs": "(float[9] x, bool[9] c) => (float[n,n] y) { p = Compress(x, c) u = Constant<value_ints=[0]>() v = Constant<value_ints=[1]>() a = Unsqueeze(p, u) b = Unsqueeze(p, v) y = Sub(a, b) }",
    "sums from the end": "(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) k = Constant<value_int=0>() y = CumSum<reverse=1>(p, k) }",
    "as many as there are": "(float[9] x, bool[9] c) => (int64[n] y) { p = Compress(x, c) s = Size(p) z = Constant<value_int=0>() o = Constant<value_int=1>() y = Range(z, s, o) }",
    "best box": "(float[1,8,4] b, float[1,1,8] s) => (int64[n,3] y, float m) { k = Constant<value_ints=[5]>() i = Constant<value_floats=[0.5]>() t = Constant<value_floats=[0.5]>() "
                "y = NonMaxSuppression(b, s, k, i, t) a = Constant<value_int=2>() j = Gather<axis=1>(y, a) r = Constant<value_ints=[-1]>() f = Reshape(s, r) q = Gather(f, j) m = ReduceMax<keepdims=0>(q) }",
    "threshold as an input": "(float[1,8,4] b, float[1,1,8] s, float[1] t) => (int64[n,3] y) { k = Constant<value_ints=[5]>() i = Constant<value_floats=[0.5]>() y = NonMaxSuppression(b, s, k, i, t) }",
    "every second": "(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) a = Constant<value_ints=[0]>() e = Constant<value_ints=[99]>() t = Constant<value_ints=[2]>() y = Slice(p, a, e, a, t) }",
    "repeated": "(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) k = Constant<value_ints=[2]>() y = Tile(p, k) }",
    "triangle": "(float[9,9] x, bool[9] c) => (float[n,9] y) { p = Compress<axis=0>(x, c) y = Trilu(p) }",
}
REFUSED = {
    "last two": ("(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) a = Constant<value_ints=[-2]>() e = Constant<value_ints=[99]>() z = Constant<value_ints=[0]>() y = Slice(p, a, e, z) }", "begins at a place that depends"),
    "unique rows": ("(float[9] x, bool[9] c) => (float[n] y) { p = Compress(x, c) y = Unique(p) }", "Unique would count"),
    "another number": ("(float[9] x, bool[9] c, bool[9] d) => (float[n] y) { p = Compress(x, c) q = Compress(x, d) y = Add(p, q) }", "another number of them"),
    "fixed number": ("(float[9] x, bool[9] c) => (float[9] y) { p = Compress(x, c) y = Add(p, x) }", "9 elements there"),
    "normalised": ("(float[9] x, bool[9] c, float[9] w) => (float[n] y) { p = Compress(x, c) y = LayerNormalization<axis=0>(p, w) }", "normalised over them"),
    "scanned": ("(float[9] x, bool[9] c, float a) => (float y, float[n] z) { p = Compress(x, c) y, z = Scan<num_scan_inputs=1, "
                "body=b (float s, float e) => (float t, float o) { t = Add(s, e) o = Identity(t) }>(a, p) }", "unrolled for as many"),
    "computed overlap": ("(float[1,8,4] b, float[1,1,8] s, float[1] t) => (int64[n,3] y) { k = Constant<value_ints=[5]>() y = NonMaxSuppression(b, s, k, t, t) }", "--set t=VALUE"),
    "state": ("(float[9] x, bool[9] c, float[9] s) => (float[n] y, float[9] z) { y = Compress(x, c) z = Add(s, x) }", "pass them on in the game", ["--state", "s=y"]),
}


OF_NONE = {"mean": np.nan}  # where ONNX Runtime says 0 of no rows, and NumPy and the onnx package are of our opinion


def samples_of(model, seed):
    """Inputs of which none, few, many and all are chosen."""
    random = np.random.default_rng(seed)
    for share in (0, 0.2, 0.7, 1):
        yield {i.name: sample(random, i, share) for i in model.graph.input}


def sample(random, port, share):
    shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
    chosen = random.random(shape) < share
    if port.type.tensor_type.elem_type == onnx.TensorProto.BOOL:
        return chosen
    if shape[-1:] == [4] and len(shape) == 3:
        corners = random.uniform(0, 9, (*shape[:2], 2))
        return np.concatenate([corners, corners + random.uniform(0.5, 3, corners.shape)], 2).astype(np.float32)
    return np.where(chosen, random.uniform(0.55, 1, shape), 0).astype(np.float32)


def behind(name, text, seed):
    """Compares what is behind with ONNX Runtime, for every number of rows that it takes. Returns how many those were."""
    with tempfile.TemporaryDirectory(prefix="nsk_bounded_") as folder:
        folder = pathlib.Path(folder)
        source = model_of(text, folder)
        must("convert", source, "-o", folder / "model.nsk", "--quiet")
        must("check", source, folder / "model.nsk", "--quiet")
        session, compared = plain_session(source), 0
        for inputs in samples_of(onnx.load(source), seed):
            try:
                wanted = dict(zip((o.name for o in session.get_outputs()), session.run(None, inputs)))
            except Exception:  # its exceptions have no common base: it has no result for so many rows
                continue
            arguments = []
            for key, value in inputs.items():
                np.save(folder / f"{key}.npy", value)
                arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
            done = nsk("run", folder / "model.nsk", *arguments, "--output-dir", folder / "out")
            if done.returncode:
                raise SystemExit(f"{name}: {done.stderr}")
            if "not the model's" in done.stderr:  # fewer rows than the plan has a result for
                continue
            if name in OF_NONE and not inputs["c"].any():
                wanted["y"] = np.full_like(wanted["y"], OF_NONE[name])
            for output, rows in wanted.items():
                got = np.load(folder / "out" / f"{output}.npy")[tuple(slice(d) for d in rows.shape)]
                if got.shape != rows.shape or not np.allclose(got, rows, rtol=1e-5, atol=1e-6, equal_nan=True):
                    raise SystemExit(f"{name}: '{output}' differs from ONNX Runtime: {got}, not {rows}")
                counts = {file.stem: int(np.load(file)) for file in (folder / "out").glob("*.count.npy")}
                if rows.size != np.load(folder / "out" / f"{output}.npy").size and rows.shape[0] not in counts.values():
                    raise SystemExit(f"{name}: '{output}' has {rows.shape[0]} rows, counts are {counts}")
            compared += 1
        return compared


def refused(name, text, reason, options=(), code=2):
    with tempfile.TemporaryDirectory(prefix="nsk_bounded_") as folder:
        done = nsk("convert", model_of(text, folder), "-o", pathlib.Path(folder) / "model.nsk", *([] if "--state" in options else ["--no-states"]), *options)
        if done.returncode != code or reason not in done.stderr:
            raise SystemExit(f"{name}: a refusal expected, exit code {done.returncode}: {done.stderr}")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(f"seed {seed}")
    random_cases(seed)
    unique_cases(seed)
    range_cases(seed)
    for name, text in BEHIND.items():
        if behind(name, text, seed) < 2:
            raise SystemExit(f"{name}: ONNX Runtime takes too few of the inputs")
    for name, case in REFUSED.items():
        refused(name, *case)
    ranges = "(int64 s, int64 l, int64 d) => (int64[n] y) { y = Range(s, l, d) }"
    refused("range without a bound", ranges, "--bound y=COUNT")
    for bound in ("y", "y=0", "y=x", "y=1048577", "y=99999999999999999999"):
        refused(f"--bound {bound}", ranges, "--bound", ["--bound", bound], 1)
    refused("bound of nothing", ranges, "which is no result whose number is computed at run time", ["--bound", "y=4", "--bound", "z=4"], 1)
    print(f"{53 + len(BEHIND)} models have ONNX Runtime's rows, {len(REFUSED)} are refused")


if __name__ == "__main__":
    main()
