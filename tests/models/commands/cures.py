#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tool tells people to do works when it is done.

Each function below provokes a message, takes the options out of it, adds them to the command (or leaves out what the message says), and expects
success, with the results of ONNX Runtime where it has some. Every text of tools/nsk that holds an option belongs to a function, or is listed in
NO_CURE; a text that begins with its only option names the one at fault. Options that no command has are reported, too.
"""
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import parsed  # noqa: E402
from models import REPOSITORY, SHARED, file_name, nsk, plain_session, told  # noqa: E402

failures, CURES, STEPS = [], {}, []
rng = np.random.default_rng(62)
FOLDER = pathlib.Path()
# Texts that hold an option and are no cure: what was done and why, tables, parts of sentences, and advice about speed.
NO_CURE = [
    "kept by --", "returned by --max-drop", " for --max-drop", "| bound | --max-drop", " channels (--argmax)", ", by --", ", as neither --mean", "; --no-check skips it",
    "--check compares it all the same", "length is data", "With `--dequantize`", "with data a length of the file", "have another number of rows in each run", "faster so; --target size", "(--target size stores them too)",
    " here; --input gives another shape", ", --batch-max N leaves up to N rows", "a file of --output-dir", "(the source model's axes; --nhwc takes the engine's)", "with the layers that --override makes int8",
    "with the lengths of --input", "the lengths of --input in too many ways", "for the lengths of --input", ", which --dequantize does not know", "with other --input or --set options", "codegen: --name",
    "for --device", "most of its time begins the step", "it reads every weight for one row", "too many to draw", "nsk profile --isa", ". Give --isa ", "`nsk check --help`", "this machine cannot run it",
    # Of options of one command that contradict each other: the sentence says which to leave out.
    "Leave --lanes out", "the lengths of --bound cannot", "one --variant each", "leave --device out", "' --device ", "codegen: --weights is embed or file", "--dequantize and --input are for source models", "--max-drop with --", "one file of --save-calibration",
    "bound different things", "--float-layers and --equalize are for int8", "are for images, and no sample is one", "Leave one of them out", "--max-drop and --report measure on samples", "Choose another one",
    # What takes a device, minutes or gigabytes, or another version of the file.
    "Convert the model with --batch-max", "--input adds rows to a large model", "Make it anew with --calibrate", "nsk quantize --save-calibration writes one", "has not ended after", "this nsk reads",
    # Choices that depend on data, of which the sentence names several.
    "--max-drop 0.05 returns layers", "estimates are up to a quarter too good", "stores all layers as int8 whatever the speed", "A larger --max-drop returns fewer", "Give more samples, another bound", "Keep fewer, or use nsk convert",
    "no layer's weights can be int8", "Give --target size for a smaller file", "is float16 in this file", "or convert the model for another shape with --input", "Convert the float32 model that this one was made from",
    # What the tests of these options follow: size_constants.py, fitting_lengths.py, lengths.py, stream_refusals.py, tflite_signatures.py, and those of checks, states and batches.
    "/STEP has fewer values", "--signature NAME takes another one", ", with the size that you need in place of ", " It converts, for example, with", "--constant ", "that follow --input; ", "add --white 255", "and --input-range or --hdr says", "convert with --hdr", "leave Winograd's algorithms out", "why it has no shader", "convert the model with --no-states to give",
    "Convert with --no-states, and pass them on", "Give the model first; images are samples", "--small stores what the source has", "--semantics and --min-db", "below --min-db", "bring it nearer", "of which --batch-max makes",
    "' is a state, which has one size. Convert with", "chunks are multiples of that. Write", "or let them be late: --stream ", "which is no state. Make it one: --state ", "would have a part for each row", "those of a model with states are one sequence",
]


def cures(*texts):
    """Registers a function as a step of the test that follows these texts, too."""
    def register(function):
        CURES.update({text: function for text in texts})
        STEPS.append(function)
        return function
    return register


def options_in(text, fills):
    """The options of a message as they are typed, with `fills` in place of VALUE, NAME and the like."""
    words = []
    for option in re.findall(r"--(?:set|output-value|input|bound) '?[^\s,;:()'=]+(?:=[^\s;()']+)?", text):
        name, value = option.rstrip(".,").replace("'", "").split(" ", 1)
        for form, typed in fills.items():
            value = value.replace(form, str(typed))
        words += [name, value.rstrip(",")]
    return words


def refused(what, words, *arguments):
    """The message of a command that must fail with these words, or None."""
    done = nsk(*arguments)
    if done.returncode not in (1, 2) or not all(w in done.stderr for w in words):
        return failures.append(f"{what}: expected a message with {words}, exit {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stderr


def works(what, *arguments):
    done = nsk(*arguments)
    if done.returncode:
        failures.append(f"{what}: as the message says, nsk {' '.join(map(str, arguments))} exits {done.returncode}: {done.stderr.strip()[:400]}")
    return done.returncode == 0


def source_of(text):
    onnx.save(parsed(text), FOLDER / "m.onnx")
    return ["convert", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk"]


def compare(what, inputs, wanted):
    """Runs m.nsk on inputs; `wanted` by name."""
    given = []
    for name, value in inputs.items():
        np.save(FOLDER / f"in_{name}.npy", value)
        given += ["--input", f"{name}={FOLDER / f'in_{name}.npy'}"]
    if not works(what, "run", FOLDER / "m.nsk", *given, "--output-dir", FOLDER / "out"):
        return
    for name, value in wanted.items():
        got = np.load(FOLDER / "out" / file_name(name))
        if got.shape != value.shape or not np.allclose(got, value, atol=2e-5, rtol=2e-5):
            failures.append(f"{what}: '{name}' is not what ONNX Runtime gives")


def by_options(what, words, command, fills, keep="", inputs=None, wanted=None):
    """Follows the options of a message; `keep`: only those that begin with it."""
    if (text := refused(what, words, *command)) is None:
        return
    pairs = options_in(text.split(words[0])[-1], fills)
    chosen = [w for i in range(0, len(pairs), 2) if pairs[i].startswith(keep) for w in pairs[i:i + 2]]
    if not chosen:
        failures.append(f"{what}: no options in {text}")
    elif works(f"{what} ({' '.join(chosen)})", *command, *chosen) and wanted:
        compare(what, inputs or {}, wanted)


def by_leaving_out(what, words, command, *options, **more):
    if refused(what, words, *command, *options) is not None and works(what, *command) and more:
        compare(what, **more)


@cures(" --set ", " --output-value ")
def sizes_and_ends():
    x, size = rng.uniform(-1, 1, (1, 1, 8, 8)).astype(np.float32), np.array([3, 5], np.float32)
    command = source_of("""(float[1,1,8,8] x, float[2] size) => (float[1,1,h,w] y) <int64[2] from = {0, 0}, int64[2] axes = {2, 3}> {
        i = Cast <to = 7> (size)  y = Slice (x, from, i, axes) }""")
    want = plain_session(FOLDER / "m.onnx").run(None, {"x": x, "size": size})[0]
    by_options("a size", ["small inputs alone"], command, {"VALUE,VALUE": "3,5"}, "--set", {"x": x}, {"y": want})
    by_options("a size", ["end the model"], command, {"VALUE,VALUE": "3,5"}, "--output-value", {"x": x, "size": size}, {"i": np.array([3, 5])})
    command = source_of("""(float[3,1,2] x, float[1,4,2] z, float[1,4,1] r) => (float[3,1,1,1] y) { w = Neg (z)  y = LSTM <hidden_size = 1> (x, w, r) }""")
    z, r, x = (rng.uniform(-1, 1, s).astype(np.float32) for s in ((1, 4, 2), (1, 4, 1), (3, 1, 2)))
    np.save(FOLDER / "z.npy", z), np.save(FOLDER / "r.npy", r)
    want = plain_session(FOLDER / "m.onnx").run(None, {"x": x, "z": z, "r": r})[0]
    by_options("weights", ["small inputs alone"], [*command, "--set", f"r={FOLDER / 'r.npy'}"], {"FILE.npy": FOLDER / "z.npy"}, "--set", {"x": x}, {"y": want})
    command = source_of("(float[2,3] x) => (float[2,3] y) { a = Exp (x)  b = Neg (a)  y = MaxRoiPool (b, b) }")
    x = rng.uniform(-1, 1, (2, 3)).astype(np.float32)
    by_options("an operator that is not supported", ["or end the model"], command, {}, "", {"x": x}, {"b": -np.exp(x)})


@cures("choose outputs that do not need it (--output-value NAME)", "Choose outputs that do not need it (--output-value NAME)", "it makes no elements", "Choose others (--output-value NAME)")
def without_elements():
    text = "(float[2,3] x) => (float[2,3] y, float[0,3] e) <int64[1] zero = {0}> { y = Exp (x)  s = Slice (x, zero, zero, zero)  e = Neg (s) }"
    by_options("no elements", ["Choose outputs"], source_of(text), {"NAME": "y"}, "--output-value")
    command = source_of("(float[2,3] x) => (seq(float[2,3]) s, float[2,3] y) { y = Exp (x)  s = SequenceConstruct (x, y) }")
    by_options("a sequence", ["Choose others"], command, {"NAME": "y"}, "--output-value")


@cures(" it can run at most is not known. Say it: --bound ")
def branches_and_loops():
    x = rng.uniform(0.1, 1, 4).astype(np.float32)
    command = source_of("""(float[4] x, bool flag) => (float[n] y) { y = If (flag) <then_branch = t () => (float[4] p) { p = Neg (x) },
        else_branch = e () => (float[2,2] o) <int64[2] two = {2, 2}> { o = Reshape (x, two) }> }""")
    by_options("branches of two shapes", ["small inputs alone"], command, {"VALUE": 1}, "--set", {"x": x}, {"y": -x})
    command = source_of("""(float[4] x, int64 rate) => (float[n] y) <int64 wide = {16000}> { flag = Equal (rate, wide)
        y = If (flag) <then_branch = t () => (float[4] p) { p = Neg (x) }, else_branch = e () => (float[2,2] o) <int64[2] two = {3, 2}> { o = Reshape (x, two) }> }""")
    by_options("a branch for other shapes", ["both branches are computed"], command, {"VALUE": 16000}, "--set", {"x": x}, {"y": -x})
    voice = SHARED / "audio/silero_vad_v5.onnx"  # a branch for each rate of sound
    if voice.exists():
        command = ["convert", voice, "-o", FOLDER / "voice.nsk", "--input", "input=1x576", "--input", "state=2x1x128", "--no-check", "--quiet"]
        text = refused("Silero without its rate", ["both branches are computed", "--set sr=16000"], *command)
        works("Silero", *command, *options_in(text or "", {}))
        text = refused("Silero", ["with the size that you need in place of 512"], *command[:4])
        works("Silero", *command[:4], *options_in((text or "").split("add")[-1], {}))
    body = "<body = b (int64 i, bool c, float[4] v) => (bool d, float[4] after) { d = Identity (c)  after = Exp (v) }>"
    command = source_of(f"(float[4] x, int64 n) => (float[4] y) <bool on = {{1}}> {{ a = Neg (x)  y = Loop (n, on, a) {body} }}")
    by_options("a number of iterations", ["small inputs alone"], command, {"VALUE": 2}, "--set", {"x": x}, {"y": np.exp(np.exp(-x))})
    by_options("a number of iterations", ["Say it"], command, {"COUNT": 3}, "--bound", {"x": x, "n": np.array(2)}, {"y": np.exp(np.exp(-x))})
    by_options("a number of iterations", ["or end the model"], command, {}, "--output-value", {"x": x, "n": np.array(2)}, {"a": -x})


@cures("with its values as states (--state)")
def a_long_loop():
    body = "<body = b (int64 i, bool c, float[4] v) => (bool d, float[4] after) <float half = {0.5}> { d = Identity (c)  p = Mul (v, half)  after = Add (p, x) }>"
    command = source_of(f"(float[4] x, float[4] v0) => (float[4] y) <int64 n = {{5000}}, bool on = {{1}}> {{ y = Loop (n, on, v0) {body} }}")
    if refused("a long loop", ["its body as a model"], *command) is None:
        return
    x, v = rng.uniform(-1, 1, 4).astype(np.float32), np.zeros(4, np.float32)
    want = plain_session(FOLDER / "m.onnx").run(None, {"x": x, "v0": v})[0]
    command = source_of("(float[4] x, float[4] v) => (float[4] after, float[4] y) <float half = {0.5}> { p = Mul (v, half)  after = Add (p, x)  y = Identity (after) }")
    np.save(FOLDER / "x.npy", x)
    if works("a long loop", *command, "--state", "v=after") and works("a long loop", "run", FOLDER / "m.nsk", "--input", f"x={FOLDER / 'x.npy'}", "--steps", 5000, "--output-dir", FOLDER / "out"):
        if not np.allclose(np.load(FOLDER / "out" / "y.npy")[-1], want, atol=1e-5):
            failures.append("a long loop: the body with a state is not the loop")


@cures(" how long it can be at most: --bound ")
def ranges():
    command = source_of("(int64 n) => (int64[k] r) <int64 zero = {0}, int64 one = {1}> { r = Range (zero, n, one) }")
    n = np.array(3)
    by_options("a range", ["at run time"], command, {"COUNT": 8}, "--bound", {"n": n}, {"r": np.array([0, 1, 2])})
    command = source_of("(int64 n, float[3] x) => (float[k] y) <int64 zero = {0}, int64 one = {1}> { r = Range (zero, n, one)  f = Cast <to = 1> (r)  y = Mul (x, f) }")
    by_options("a range that is fixed", ["Fix it"], command, {"VALUE": 3}, "--set", {"x": np.ones(3, np.float32)}, {"y": np.arange(3, dtype=np.float32)})


@cures("an output with --output-value, and compute the rest in the game")
def rows_of_a_mask():
    command = source_of("""(float[5,2] x, float[5] s) => (float[1,2] y) <float limit = {0.5}, int64 axis = {0}, int64[1] last = {-1}> {
        keep = Greater (s, limit)  places = NonZero (keep)  rows = Transpose <perm = [1, 0]> (places)  kept = GatherND (x, rows)
        c = CumSum (kept, axis)  y = Gather (c, last) }""")
    done = nsk(*command)
    names = re.findall(r"Make '([^']+)' an output", done.stderr)
    if done.returncode and not names:
        failures.append(f"rows of a mask: {done.stderr}")
    for name in names:
        works("rows of a mask", *command, "--output-value", name)


@cures(" --input ", "' has no shape in the model. Give one, for example: --input ")
def open_shapes():
    x = rng.uniform(-1, 1, (2, 3)).astype(np.float32)
    command = source_of('(float["a","b"] x) => (float["a","b"] y) { y = Exp (x) }')
    by_options("open lengths", ["fixed at conversion"], command, {"1x1": "2x3"}, "", {"x": x}, {"y": np.exp(x)})
    model = parsed("(float[1] x) => (float[1] y) { y = Exp (x) }")
    model.graph.input[0].type.tensor_type.ClearField("shape"), model.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(model, FOLDER / "m.onnx")
    by_options("no shape", ["has no shape"], command, {"1x3x224x224": "2x3"}, "", {"x": x}, {"y": np.exp(x)})


@cures(". Give its shape, too: --input ", "=SHAPE, or an array: --set ")
def numbers_of_an_open_input():
    command = source_of('(float["a","b"] x, float["a","b"] s) => (float["a","b"] y) { y = Mul (x, s) }') + ["--input", "x=2x3", "--set", "s=1,2,3,4,5,6"]
    x, s = rng.uniform(-1, 1, (2, 3)).astype(np.float32), np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    by_options("numbers", ["open shape"], command, {"SHAPE": "2x3"}, "--input", {"x": x}, {"y": x * s})
    np.save(FOLDER / "s.npy", s)
    if works("an array", *command[:-2], "--set", f"s={FOLDER / 's.npy'}"):
        compare("an array", {"x": x}, {"y": x * s})


@cures("Add --trust if the model is your own")
def trust():
    text = "(float[1] x) => (float[1] y) <int64[2] shape = {4200, 4200}> { c = ConstantOfShape (shape)  m = ReduceMax <keepdims = 0> (c)  y = Add (x, m) }"
    text = refused("--trust", ["Add --trust"], *source_of(text))
    if text:
        works("--trust", "convert", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk", "--trust")


@cures("Convert without --batch-max and give the batch with --input")
def batches():
    command = source_of('(float["n",3] x) => (float["n",3] y) { y = Softmax <axis = 0> (x) }')
    x = rng.uniform(-1, 1, (4, 3)).astype(np.float32)
    want = plain_session(FOLDER / "m.onnx").run(None, {"x": x})[0]
    by_leaving_out("--batch-max", ["Convert without --batch-max"], [*command, "--input", "x=4x3"], "--batch-max", 4, inputs={"x": x}, wanted={"y": want})


@cures("leave --input out")
def other_lengths():
    command = source_of("(float[1,4] x) => (float[1,4] y) <float[1,4] w> { y = Mul (x, w) }")
    done = nsk(*command, "--input", "x=1x6")
    if done.returncode and works("--input", *command):
        return
    if not done.returncode:
        failures.append("--input: a constant that fills an axis took another length")


@cures("Convert it without --no-states")
def own_states():
    source_of("(float[1,2] x, float[1,2] h) => (float[1,2] y, float[1,2] g) { g = Add (x, h)  y = Exp (g) }")
    if not works("a graph", "json", FOLDER / "m.onnx", "-o", FOLDER / "g.json"):
        return
    graph = json.loads((FOLDER / "g.json").read_text())
    graph["states"] = [{"input": "h", "output": "g", "initial": {"type": "float32", "shape": [1, 2], "values": [1.5, 2.5]}}]
    (FOLDER / "g.json").write_text(json.dumps(graph))
    by_leaving_out("--no-states", ["Convert it without"], ["convert", FOLDER / "g.json", "-o", FOLDER / "m.nsk"], "--no-states", inputs={"x": np.ones((1, 2), np.float32)}, wanted={"y": np.exp([[2.5, 3.5]])})


@cures(": --dequantize makes the model a float32 one", "Convert it without --dequantize", "compute the model in float32 (--dequantize)")
def tflite():
    from tflite_writer import Writer
    def stored(w, name, scale, shape=(1, 4), **more):
        t, q = w.tensor(name, shape, np.int8, **more), w.schema.QuantizationParametersT()
        q.scale, q.zeroPoint = [scale], [0]
        w.graph.tensors[t].quantization = q
        return t
    w = Writer()
    x, y = w.tensor("x", [1, 4], np.float32), w.tensor("y", [1, 4], np.float32)
    w.operator("MUL", [x, stored(w, "k", 0.1, data=np.arange(4))], [y], ("MulOptions", {}))
    (FOLDER / "m.tflite").write_bytes(w.finish([x], [y]))
    command = ["convert", FOLDER / "m.tflite", "-o", FOLDER / "m.nsk"]
    if refused("integers beside floats", ["--dequantize makes"], *command):
        works("integers beside floats", *command, "--dequantize")
    w = Writer()
    x, k, y = stored(w, "x", 0.1, [1, 140000]), stored(w, "k", 0.1, [2, 140000], data=np.full((2, 140000), 127)), stored(w, "y", 900.0, [1, 2])
    w.operator("FULLY_CONNECTED", [x, k], [y], ("FullyConnectedOptions", {}))
    (FOLDER / "m.tflite").write_bytes(w.finish([x], [y]))
    if refused("sums beyond int32", ["(--dequantize)"], *command):
        works("sums beyond int32", *command, "--dequantize")
    w = Writer()
    x, y, h = stored(w, "x", 0.1), stored(w, "y", 0.2), w.tensor("h", [], None)
    w.operator("VAR_HANDLE", [], [h], ("VarHandleOptions", {"container": "", "sharedName": "v"}))
    w.operator("ASSIGN_VARIABLE", [h, x], [], ("AssignVariableOptions", {}))
    w.operator("READ_VARIABLE", [h], [y], ("ReadVariableOptions", {}))
    (FOLDER / "m.tflite").write_bytes(w.finish([x], [y]))
    by_leaving_out("two scales", ["Convert it without"], command, "--dequantize", inputs={"x": np.array([[1, 2, 3, 4]], np.int8)}, wanted={"y": np.array([[1, 2, 3, 4]], np.int8)})
    w = Writer()
    x, a, y = (w.tensor(n, [1, 4], np.float32) for n in "xay")
    w.operator("RELU", [x], [a])
    w.operator("NoSuchOperator", [a], [y])
    (FOLDER / "m.tflite").write_bytes(w.finish([x], [y]))
    v = rng.uniform(-1, 1, (1, 4)).astype(np.float32)
    by_options("a custom operator", ["or end the model"], command, {}, "--output-value", {"x": v}, {"a": np.maximum(v, 0)})


@cures("which is a list of maps. Choose that as an output (--output-value ")
def texts():
    x = rng.uniform(-1, 1, (1, 4)).astype(np.float32)
    w = rng.uniform(-1, 1, (4, 3)).astype(np.float32)
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])]
    label, prob = helper.make_tensor_value_info("label", TensorProto.STRING, [1]), helper.make_tensor_value_info("prob", TensorProto.FLOAT, [1, 3])
    command = ["convert", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk"]
    nodes = [helper.make_node("LinearClassifier", ["x"], ["text", "prob"], domain="ai.onnx.ml", classlabels_strings=["a", "b", "c"], coefficients=w.T.ravel().tolist(), intercepts=[0.0] * 3, post_transform="SOFTMAX"),
             helper.make_node("StringNormalizer", ["text"], ["label"], case_change_action="UPPER")]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ports, [label, prob]), opset_imports=imports, ir_version=8), FOLDER / "m.onnx")
    e = np.exp(x @ w)
    by_options("computed strings", ["or choose the outputs"], command, {}, "--output-value", {"x": x}, {"prob": e / e.sum()})
    nodes = [nodes[0], helper.make_node("ZipMap", ["prob"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["a", "b", "c"]), helper.make_node("SequenceLength", ["maps"], ["count"])]
    count = helper.make_tensor_value_info("count", TensorProto.INT64, [])
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ports, [count]), opset_imports=imports, ir_version=8), FOLDER / "m.onnx")
    by_options("maps that are read", ["Choose that as an output"], command, {}, "--output-value", {"x": x}, {"maps": e / e.sum()})


@cures()
def rows_that_mix():
    command = source_of("(float[1,4] x) => (float[1,4] y, float[1,4] z) { y = Softmax <axis = 0> (x)  z = Exp (x) }") + ["--input", "x=3x4"]
    x = rng.uniform(-1, 1, (3, 4)).astype(np.float32)
    by_options("rows that mix", ["leave this output out"], command, {}, "--output-value", {"x": x}, {"z": np.exp(x)})


@cures("give inputs on which the model is defined: nsk check SOURCE MODEL --input NAME=FILE.npy")
def undefined():
    command = source_of("(float[2] x) => (int64[1] y) <int64 some = {8}, int64[1] first = {0}> { s = Softmax (x)  g = Gather (s, first)  d = Cast <to = 7> (g)  y = Div (some, d) }")
    if not works("undefined", *command):
        return
    text = refused("undefined", ["give inputs on which"], "check", FOLDER / "m.onnx", FOLDER / "m.nsk")
    np.save(FOLDER / "x.npy", np.array([1000, 0], np.float32))
    if text:
        works("undefined", "check", FOLDER / "m.onnx", FOLDER / "m.nsk", "--input", f"x={FOLDER / 'x.npy'}")


@cures("the model was converted with --set ", "Give --set ")
def large_arrays():
    command = source_of("(float[40,40] x, float[40,40] s) => (float[40,40] y) { y = Mul (x, s) }")
    np.save(FOLDER / "s.npy", rng.uniform(-1, 1, (40, 40)).astype(np.float32))
    if works("a large array", *command, "--set", f"s={FOLDER / 's.npy'}"):
        text = refused("a large array", ["Give --set"], "check", FOLDER / "m.onnx", FOLDER / "m.nsk")
        if text:
            works("a large array", "check", FOLDER / "m.onnx", FOLDER / "m.nsk", *options_in(text.split("Give")[1], {}))


@cures("Convert the model with --embed-check", "convert the model without --weights fp16", "convert the model without --weights w8", "--report shows what --check finds; give both", "--name names the type that --settings prints; give both",
       "--variant chooses what --gpu shows; give both", "' is missing: give --input ", "formats of layers need weights of 16 or 8 bits")
def commands():
    command = source_of("(float[1,64] x) => (float[1,64] y) <float[64,64] w> { y = MatMul (x, w) }")
    model = FOLDER / "m.nsk"
    np.save(FOLDER / "x.npy", np.ones((1, 64), np.float32))
    for what, words, before, good in [
            ("selftest", ["with --embed-check"], [["selftest", model]], [[*command, "--embed-check"], ["selftest", model]]),
            ("codegen", ["without --weights fp16"], [[*command, "--weights", "fp16"], ["codegen", model, "-o", FOLDER / "c.hpp"]], [command, ["codegen", model, "-o", FOLDER / "c.hpp"]]),
            ("codegen", ["without --weights w8"], [[*command, "--weights", "w8"], ["codegen", model, "-o", FOLDER / "c.hpp"]], [command, ["codegen", model, "-o", FOLDER / "c.hpp"]]),
            ("--report", ["give both"], [[*command, "--report", FOLDER / "r.md"]], [[*command, "--report", FOLDER / "r.md", "--check"]]),
            ("--name", ["give both"], [["inspect", model, "--name", "n"]], [["inspect", model, "--name", "n", "--settings"]]),
            ("--variant", ["give both"], [["inspect", model, "--variant", "default"]], [["inspect", model, "--variant", "default", "--gpu"]]),
            ("run", ["give --input"], [["run", model, "--output-dir", FOLDER / "out"]], [["run", model, "--input", f"x={FOLDER / 'x.npy'}", "--output-dir", FOLDER / "out"]])]:
        works(what, *command)
        for step in before[:-1]:
            works(what, *step)
        if refused(what, words, *before[-1]):
            for step in good:
                works(what, *step)


@cures("int8 needs samples", " needs no samples: leave out", "--drop-by and --metric say what --max-drop bounds", "or give --keep ")
def quantising():
    source_of("(float[1,3,16,16] x) => (float[1,8,16,16] y) <float[8,3,3,3] w> { c = Conv <pads = [1, 1, 1, 1]> (x, w)  y = Relu (c) }")
    command = ["quantize", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk"]
    (FOLDER / "samples").mkdir(exist_ok=True)
    for i in range(8):
        np.save(FOLDER / "samples" / f"{i}.npy", rng.uniform(-1, 1, (1, 3, 16, 16)).astype(np.float32))
    samples = ["--calibrate", FOLDER / "samples", "--target", "size"]
    if refused("int8", ["Give --calibrate", "--format fp16 or w8"], *command):
        works("int8", *command, *samples), works("fp16", *command, "--format", "fp16", "--target", "size")
    if refused("fp16", ["leave out --calibrate"], *command, "--format", "fp16", *samples):
        works("fp16", *command, "--format", "fp16", "--target", "size")
    if refused("--drop-by", ["give it too"], *command, *samples, "--drop-by", "sqnr"):
        works("--drop-by", *command, *samples, "--drop-by", "sqnr", "--max-drop", 5)


@cures()
def prose():
    """Advice that is no option: other tools, other arrays."""
    x = rng.uniform(-1, 1, 4).astype(np.float32)
    command = source_of("(float[4] x, float[4] s) => (float[4] y) { y = Mul (x, s) }")
    model = onnx.load(FOLDER / "m.onnx")
    del model.opset_import[:]
    onnx.save(model, FOLDER / "m.onnx")
    if not refused("no opset", ["m.opset_import.append(onnx.helper.make_opsetid('', 13))"], *command):
        return
    model.opset_import.append(onnx.helper.make_opsetid("", 13))
    onnx.save(model, FOLDER / "m.onnx")
    if works("no opset", *command):
        compare("no opset", {"x": x, "s": x}, {"y": x * x})
    array = FOLDER / "s.npy"
    np.save(array, x.astype(np.float64).reshape(2, 2))
    text = refused("an array", ["x.astype(numpy.float32), reshaped"], *command, "--set", f"s={array}")
    np.save(array, x)
    if text and works("an array", *command, "--set", f"s={array}"):
        compare("an array", {"x": x}, {"y": x * x})


LITERAL = r'"(?:[^"\\\n]|\\.)*"'
OPTION = re.compile(r"--[a-z][a-z0-9-]+")


def texts_with_options(tree):
    """(file, text) of every string of the tool that holds an option, but those that declare options, and labels: texts that begin with their only one."""
    found = []
    for path in sorted((tree / "tools" / "nsk").rglob("*.[ch]pp")):
        if "generated" in path.parts or (path.parent.name == "cli" and re.search(r"_options\.cpp$|_commands\.cpp$|main\.cpp$|usage|deprecated", path.name)):
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text())
        for group in re.finditer(rf"{LITERAL}(?:\s*{LITERAL})*", text):
            whole = "".join(part[1:-1] for part in re.findall(LITERAL, group.group(0)))
            options = set(OPTION.findall(whole))
            if options and not (whole.startswith("--") and len(options) == 1):
                found.append((path.name, whole))
    return found


def every_text(found):
    """What is wrong with texts: no test follows them, or an option that no command has."""
    listed = re.findall(r"^  (\w[\w-]*) ", nsk("--help").stdout, re.MULTILINE)
    known = set(OPTION.findall("".join(nsk(command, "--help").stdout for command in listed)))
    for file, text in found:
        if not any(part in text for part in [*CURES, *NO_CURE]):
            yield f"{file}: '{text}' holds an option; tests/models/commands/cures.py does not follow it"
        for option in set(OPTION.findall(text)) - known - {"--help"}:
            yield f"{file}: '{text}' names {option}, which no command has"


def main():
    global FOLDER
    failures.extend(every_text(texts_with_options(REPOSITORY)))
    if len(list(every_text([("planted.cpp", "it fails. Give --bogus-option")]))) != 2:
        failures.append("a planted text with an unknown option is not reported")
    with tempfile.TemporaryDirectory(prefix="nsk_cures_") as name:
        FOLDER = pathlib.Path(name)
        for step in STEPS:
            step()
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
