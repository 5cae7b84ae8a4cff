#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--output-value and --set, through the command line.

Every tensor of a graph becomes an output when it is asked for: inputs, constants, what is folded or fused, what is inside functions,
branches and loops, and beside operators that are refused; it equals ONNX Runtime's. Inputs become constants: numbers, arrays.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import parsed  # noqa: E402
from models import file_name, nsk, plain_session, told  # noqa: E402

TOLERANCE = 2e-5
rng = np.random.default_rng(50)
failures = []

SQUEEZE = """(float[1,3,8,8] x) => (float[1,4] y) <float[4,3,3,3] w, float[4] s, float[4] b, float[4] m, float[4] v, int64[2] axes = {2, 3}, int64[1] zero = {0}> {
  c = Conv <pads = [1, 1, 1, 1]> (x, w)  n = BatchNormalization (c, s, b, m, v)  r = Relu (n)  g = GlobalAveragePool (r)  h = Sigmoid (g)
  e = Mul (r, h)  q = ReduceMean <axes = [2, 3], keepdims = 0> (e)  shape = Shape (e)  rows = Gather (shape, zero)  wide = ConstantOfShape (rows)
  t = Transpose <perm = [0, 2, 3, 1]> (e)  y = Add (q, wide) }"""
STORED = """(float[1,3,8,8] x) => (float[1,4,8,8] y) <float s = {0.02}, uint8 z = {128}, int8[4,3,3,3] w, float sw = {0.01}, int8 zw = {0}> {
  q = QuantizeLinear (x, s, z)  d = DequantizeLinear (q, s, z)  k = DequantizeLinear (w, sw, zw)  c = Conv <pads = [1, 1, 1, 1]> (d, k)
  r = Relu (c)  u = QuantizeLinear (r, s, z)  p = DequantizeLinear (u, s, z)  y = Sigmoid (p) }"""
UNSUPPORTED = """(float[2,4] x, string[2] words) => (string[2] name, float[2,4] y) {
  a = Exp (x)  b = Neg (a)  y = MaxRoiPool (b, b)  name = Identity (words) }"""
BRANCHES = """(float[4] x, bool flag) => (float[4] y) {
  a = Exp (x)
  y = If (flag) <then_branch = then_g () => (float[4] p) { t = Neg (a)  p = Abs (t) }, else_branch = else_g () => (float[4] o) { e = Sqrt (a)  o = Relu (e) }> }"""
LOOP = """(float[4] x) => (float[4] y, float[3,4] z) <int64 count = {3}, bool on = {1}> {
  a = Exp (x)
  y, z = Loop (count, on, a) <body = body_g (int64 i, bool c, float[4] before) => (bool d, float[4] after, float[4] seen) {
    d = Identity (c)  u = Sin (before)  after = Add (u, a)  seen = Neg (u) }> }"""
NEEDS_NONE = LOOP.replace("seen = Neg (u)", "seen = Neg (u)  bad = MaxRoiPool (u, u)").replace("after = Add (u, a)", "after = Add (bad, a)")
FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float[4] x) => (float[4] y) { a = Exp (x)  y = own.twice (a) }
  <domain: "own", opset_import: ["" : 17]> twice (p) => (q) { h = Neg (p)  q = Abs (h) }"""
MASKED = """(float[5,2] x, float[5] s) => (float[1,2] y) <float limit = {0.5}> {
  keep = Greater (s, limit)  places = NonZero (keep)  rows = Transpose <perm = [1, 0]> (places)  kept = GatherND (x, rows)
  y = ReduceMean <axes = [0], keepdims = 1> (kept) }"""


def run(folder, inputs, *arguments):
    """The outputs by the names of their files, or the message of a refusal."""
    done = nsk("convert", folder / "m.onnx", "-o", folder / "m.nsk", *arguments)
    if done.returncode:
        return done.stderr
    checked = nsk("check", folder / "m.onnx", folder / "m.nsk", "--quiet")
    if checked.returncode:
        return "nsk check: " + checked.stderr
    given = []
    ports = json.loads(nsk("inspect", folder / "m.nsk", "--json").stdout)["variants"][0]["inputs"]
    for name in {port["name"] for port in ports} & set(inputs):
        np.save(folder / f"{name}.npy", inputs[name])
        given += ["--input", f"{name}={folder / name}.npy"]
    done = nsk("run", folder / "m.nsk", *given, "--output-dir", folder / "out")
    if done.returncode:
        return done.stderr
    made = {file.name: np.load(file) for file in (folder / "out").glob("*.npy")}
    for file in (folder / "out").glob("*.npy"):
        file.unlink()
    return made


def expect(what, folder, inputs, name, wanted, *arguments):
    """`name` as the only output, beside counts, is `wanted`."""
    made = run(folder, inputs, "--output-value", name, *arguments)
    if isinstance(made, str):
        return failures.append(f"{what}, {name}: {made.strip()[:300]}")
    got = made.get(file_name(name))
    if got is None or got.shape != wanted.shape or got.dtype != wanted.dtype:
        return failures.append(f"{what}, {name}: {sorted(made)} {None if got is None else (got.dtype, got.shape)}, not {wanted.dtype} {wanted.shape}")
    if not np.allclose(got.astype(np.float64), wanted.astype(np.float64), atol=TOLERANCE, rtol=TOLERANCE):
        failures.append(f"{what}, {name}: differs from ONNX Runtime")


def every_value(what, text, folder, inputs, arguments=()):
    """All values of the main graph, by ONNX Runtime."""
    model = parsed(text, rng)
    onnx.save(model, folder / "m.onnx")
    whole = onnx.ModelProto.FromString(model.SerializeToString())
    del whole.graph.output[:]
    made = [o for n in model.graph.node for o in n.output if o]
    whole.graph.output.extend(onnx.ValueInfoProto(name=o) for o in made)
    onnx.save(whole, folder / "whole.onnx")
    wanted = dict(zip(made, plain_session(folder / "whole.onnx").run(None, inputs)))
    wanted |= {t.name: numpy_helper.to_array(t) for t in model.graph.initializer} | inputs
    for name, value in wanted.items():
        expect(what, folder, inputs, name, np.asarray(value), *arguments)


def inside(folder):
    """Values of functions, branches and loops; refused nodes that they do not need."""
    x = rng.uniform(0.1, 1, 4).astype(np.float32)
    a = np.exp(x)
    onnx.save(parsed(FUNCTION, rng), folder / "m.onnx")
    expect("a function", folder, {"x": x}, "twice_0/h", -a)
    onnx.save(parsed(BRANCHES, rng), folder / "m.onnx")
    for name, value in (("t", -a), ("e", np.sqrt(a)), ("a", a)):
        expect("a branch", folder, {"x": x, "flag": np.array(True)}, name, value)
    expect("a known branch", folder, {"x": x}, "t", -a, "--set", "flag=1")
    for what, text in (("a loop", LOOP), ("a loop with a refused node", NEEDS_NONE)):
        onnx.save(parsed(text, rng), folder / "m.onnx")
        expect(what, folder, {"x": x}, "u", np.sin(a))
    onnx.save(parsed(LOOP, rng), folder / "m.onnx")
    expect("a loop", folder, {"x": x}, "Loop_1/1/u", np.sin(np.sin(a) + a))
    onnx.save(parsed(UNSUPPORTED, rng), folder / "m.onnx")
    x = rng.uniform(-1, 1, (2, 4)).astype(np.float32)
    expect("beside what is refused", folder, {"x": x}, "b", -np.exp(x))


def counted(folder):
    """Rows whose number is data, and the number by name."""
    onnx.save(parsed(MASKED, rng), folder / "m.onnx")
    x, s = rng.uniform(-1, 1, (5, 2)).astype(np.float32), np.array([0.9, 0.1, 0.7, 0.2, 0.8], np.float32)
    made = run(folder, {"x": x, "s": s}, "--output-value", "kept")
    if isinstance(made, str) or made["places.count.npy"] != 3 or not np.array_equal(made["kept.npy"][:3], x[s > 0.5]):
        failures.append(f"rows behind NonZero: {made}")
    expect("a count", folder, {"x": x, "s": s}, "places.count", np.array(3))


def constants(folder):
    """--set with a number, numbers and arrays, and what does not fit."""
    text = "(float[2,3] x, float[2,3] s, int64[2] n) => (float[2,3] y) { f = Cast <to = 1> (n)  r = ReduceSum <keepdims = 0> (f)  p = Mul (x, s)  y = Add (p, r) }"
    onnx.save(parsed(text, rng), folder / "m.onnx")
    x, s, n = rng.uniform(-1, 1, (2, 3)).astype(np.float32), rng.uniform(-1, 1, (2, 3)).astype(np.float32), np.array([3, 5])
    for name, value in (("s", s), ("double", s.astype(np.float64)), ("flat", s.reshape(6)), ("n", n)):
        np.save(folder / f"{name}.npy", value)
    flat = ",".join(f"{v:.9g}" for v in s.ravel())
    for style, numbers in ((flat, "3,5"), (folder / "s.npy", folder / "n.npy"), (folder / "s.npy", "3,5")):
        expect("--set", folder, {"x": x}, "y", x * s + 8, "--set", f"s={style}", "--set", f"n={numbers}")
    expect("--set", folder, {"x": x}, "y", x * 2 + 8, "--set", "s=2", "--set", "n=4")
    for value, words in (("s=1,2", ["2 numbers", "6 elements"]), ("n=1.5,2", ["int64", "cannot hold"]), (f"s={folder / 'double.npy'}", ["float64", "astype(numpy.float32)"]),
                         (f"s={folder / 'flat.npy'}", ["[6]", "[2,3]", "reshape"]), ("s=1,,2", ["number"]), (f"s={folder / 'none.npy'}", ["none.npy"])):
        done = nsk("convert", folder / "m.onnx", "-o", folder / "no.nsk", "--set", value)
        if done.returncode not in (1, 2) or not all(w in done.stderr for w in words) or (folder / "no.nsk").exists():
            failures.append(f"--set {value}: exit {done.returncode}, {done.stderr}")
    open_text = '(float["n",3] x, float["n",3] s) => (float["n",3] y) { y = Mul (x, s) }'
    onnx.save(parsed(open_text, rng), folder / "m.onnx")
    expect("an array that gives a length", folder, {"x": x}, "y", x * s, "--set", f"s={folder / 's.npy'}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_output_values_") as name:
        folder = pathlib.Path(name)
        image = rng.uniform(-1, 1, (1, 3, 8, 8)).astype(np.float32)
        every_value("fused and folded", SQUEEZE, folder, {"x": image})
        every_value("stored integers", STORED, folder, {"x": image})
        every_value("a branch", BRANCHES, folder, {"x": rng.uniform(0, 1, 4).astype(np.float32), "flag": np.array(False)})
        every_value("a loop", LOOP, folder, {"x": rng.uniform(0, 1, 4).astype(np.float32)})
        inside(folder)
        counted(folder)
        constants(folder)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
