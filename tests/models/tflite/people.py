#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--batch-max on models whose file fixes one row: ten people equal ten single runs, and fewer people are less work.

The oracle is ONNX Runtime or LiteRT, run once for each person on the model as it was exported.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import have_litert, interpreter_of  # noqa: E402
from models import SHARED, error_of, file_name, must, nsk, onnx_session, told  # noqa: E402

PEOPLE, FEW = 10, 3
TOLERANCE = 2e-5
OTHERS = ["face/face_landmark.tflite", "face/face_detection_front_128x128_barracuda.onnx", "pose/hand_landmark_lite.tflite", "pose/pose_landmark_lite.tflite"]
# Networks that amplify rounding: float32 itself is this far from exact arithmetic.
AMPLIFIED = {"pose/pose_landmark_lite.tflite": 2e-3}
rng = np.random.default_rng(1950)
failures = []


def expect(good, what):
    if not good:
        failures.append(what)


def ints(*values):
    return np.array(values, np.int64)


def save(path, nodes, inputs, outputs, **constants):
    ports = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in p.items()] for p in (inputs, outputs)]
    held = [numpy_helper.from_array(a if a.dtype == np.int64 else a.astype(np.float32), n) for n, a in ((n, np.asarray(c)) for n, c in constants.items())]
    graph = helper.make_graph(nodes, "people", *ports, held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def pose(path):
    """Heat maps and their expected places, by shapes that the exporter wrote for one person."""
    node = helper.make_node
    return save(path, [node("Conv", ["x", "k1"], ["c1"], strides=[2, 2], pads=[1] * 4), node("Relu", ["c1"], ["r1"]), node("Conv", ["r1", "k2"], ["maps"], pads=[1] * 4),
                       node("Reshape", ["maps", "flat"], ["lines"]), node("Softmax", ["lines"], ["weights"], axis=-1), node("Reshape", ["weights", "image"], ["soft"]),
                       node("ReduceSum", ["soft", "rows"], ["columns"], keepdims=0), node("MatMul", ["columns", "places"], ["u"]), node("Reshape", ["u", "points"], ["y"])],
                {"x": [1, 3, 16, 12]}, {"y": [1, 5], "maps": [1, 5, 8, 6]}, k1=rng.standard_normal((8, 3, 3, 3)) * 0.3, k2=rng.standard_normal((5, 8, 3, 3)) * 0.3,
                flat=ints(1, 5, 48), image=ints(1, 5, 8, 6), rows=ints(2), places=rng.standard_normal((6, 1)), points=ints(1, 5))


def hand(path):
    """Dense layers behind a flattened image, a score, and class tokens of one row that join the features."""
    node = helper.make_node
    return save(path, [node("Conv", ["x", "k"], ["c"], pads=[1] * 4, strides=[2, 2]), node("PRelu", ["c", "slope"], ["p"]), node("Reshape", ["p", "flat"], ["f"]),
                       node("Gemm", ["f", "w", "b"], ["points"]), node("MatMul", ["f", "v"], ["s"]), node("Sigmoid", ["s"], ["score"]),
                       node("Reshape", ["points", "apart"], ["q"]), node("Concat", ["token", "q"], ["tokens"], axis=1)],
                {"x": [1, 3, 12, 12]}, {"tokens": [1, 8, 3], "score": [1, 1]}, k=rng.standard_normal((6, 3, 3, 3)) * 0.3, slope=rng.uniform(0, 0.5, (6, 1, 1)), flat=ints(1, 216),
                w=rng.standard_normal((216, 21)) * 0.1, b=rng.standard_normal(21), v=rng.standard_normal((216, 1)) * 0.1, apart=ints(1, 7, 3), token=rng.standard_normal((1, 1, 3)))


def two_inputs(path):
    """A crop and where it was."""
    node = helper.make_node
    return save(path, [node("Conv", ["crop", "k"], ["c"]), node("GlobalAveragePool", ["c"], ["p"]), node("Flatten", ["p"], ["f"]), node("Concat", ["f", "place"], ["all"], axis=1),
                       node("MatMul", ["all", "w"], ["y"])],
                {"crop": [1, 3, 9, 9], "place": [1, 4]}, {"y": [1, 7]}, k=rng.standard_normal((5, 3, 3, 3)), w=rng.standard_normal((9, 7)))


def alone(source, inputs):
    """The outputs of each person's own run, by name, one behind the other."""
    rows = []
    if source.suffix == ".onnx":
        session = onnx_session(source)
        names = [o.name for o in session.get_outputs()]
        rows = [dict(zip(names, session.run(None, {n: x[i:i + 1] for n, x in inputs.items()}))) for i in range(PEOPLE)]
    else:
        interpreter = interpreter_of(source.read_bytes())
        for i in range(PEOPLE):
            for detail in interpreter.get_input_details():
                interpreter.set_tensor(detail["index"], inputs[detail["name"]][i:i + 1])
            interpreter.invoke()
            rows.append({d["name"]: interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()})
    axes = {n: next(d for d, length in enumerate(y.shape) if length == 1) for n, y in rows[0].items()}
    return {n: np.concatenate([r[n] for r in rows], axes[n]) for n in axes}, axes


def run(folder, model, inputs, people):
    for old in (folder / f"out{people}").glob("*"):
        old.unlink()
    for name, x in inputs.items():
        np.save(folder / file_name(name), x[:people])
    must("run", model, "--batch", people, "--output-dir", folder / f"out{people}", *[o for n in inputs for o in ("--input", f"{n}={folder / file_name(n)}")])
    return {p.name: np.load(p) for p in (folder / f"out{people}").glob("*.npy")}


def inputs_of(model):
    ports = json.loads(must("inspect", model, "--json"))["variants"][0]["inputs"]
    return {p["name"]: rng.uniform(0, 1, p.get("source_shape", p["shape"])).astype(np.float32) for p in ports}


def check_people(folder, source, *options, name=""):
    """Ten people, and three, against a run for each of them; what three cost."""
    model = folder / "batch.nsk"
    said = must("convert", source, "-o", model, "--batch-max", PEOPLE, *options)
    expect("--no-check" in options or f"{PEOPLE} rows, each what the model as it was exported gives" in said, f"{source.name}: the summary does not say that rows were compared\n{said}")
    inputs = inputs_of(model)
    wanted, axes = alone(source, inputs)
    all_people, few = run(folder, model, inputs, PEOPLE), run(folder, model, inputs, FEW)
    worst = 0.0
    for output, y in wanted.items():
        got = all_people[file_name(output)]
        worst = max(worst, error_of(got, y))
        first = np.take(got, range(FEW * got.shape[axes[output]] // PEOPLE), axes[output])
        expect(np.array_equal(few[file_name(output)], first), f"{source.name}: '{output}' of {FEW} people has other bits than among {PEOPLE}")
    expect(worst <= AMPLIFIED.get(name, TOLERANCE), f"{source.name}: off by {worst:.1e} from single runs")
    must("convert", source, "-o", folder / "single.nsk", "--no-check", "--quiet")
    for person in (0, PEOPLE - 1):
        for n, x in inputs.items():
            np.save(folder / file_name(n), x[person:person + 1])
        must("run", folder / "single.nsk", "--output-dir", folder / "single", *[o for n in inputs for o in ("--input", f"{n}={folder / file_name(n)}")])
        same = [np.array_equal(np.load(folder / "single" / n), np.take(y, range(person * y.shape[a] // PEOPLE, (person + 1) * y.shape[a] // PEOPLE), a))
                for n, y, a in ((file_name(o), all_people[file_name(o)], axes[o]) for o in axes)]
        expect(all(same), f"{source.name}: person {person} has other bits than in a file for one")
    one, every = json.loads(must("inspect", model, "--json"))["variants"][0]["batch_work"]
    expect((one["rows"], every["rows"]) == (1, PEOPLE) and every["macs"] == PEOPLE * one["macs"] > 0 and every["tiles"] >= one["tiles"],
           f"{source.name}: one person is {one}, ten are {every}")
    print(f"{source.name}: ten people within {worst:.1e} of single runs, one is {one['macs']} MACs of {every['macs']}")


def check_times(folder, source):
    """Fewer people take less time, by the engine's own clock."""
    model = folder / "batch.nsk"
    must("convert", source, "-o", model, "--batch-max", PEOPLE, "--no-check", "--quiet")
    inputs, took = inputs_of(model), {}
    for people in (1, PEOPLE):
        for n, x in inputs.items():
            np.save(folder / file_name(n), x[:people])
        command = ["run", model, "--batch", people, "--output-dir", folder / "out", "--trace", folder / "trace.json", *[o for n in inputs for o in ("--input", f"{n}={folder / file_name(n)}")]]
        runs = []
        for _ in range(3):
            must(*command)
            runs.append(sum(e["dur"] for e in json.loads((folder / "trace.json").read_text())["traceEvents"] if "macs" in e.get("args", {})))
        took[people] = min(runs)
    expect(took[1] < 0.5 * took[PEOPLE], f"{source.name}: one person takes {took[1]:.0f} us, {PEOPLE} take {took[PEOPLE]:.0f}")


def check_choices(folder):
    """Explicit rows are the same file; an input that is pinned is the same for all; integers too."""
    source = two_inputs(folder / "two.onnx")
    must("convert", source, "-o", folder / "a.nsk", "--batch-max", PEOPLE, "--quiet")
    must("convert", source, "-o", folder / "b.nsk", "--batch-max", PEOPLE, "--quiet", "--input", f"crop={PEOPLE}x3x9x9", "--input", f"place={PEOPLE}x4")
    expect((folder / "a.nsk").read_bytes() == (folder / "b.nsk").read_bytes(), "rows that are given by --input make another file")
    data = folder / "samples"
    data.mkdir()
    for i in range(4):
        np.save(data / f"{i}.npy", rng.uniform(0, 1, (1, 3, 12, 12)).astype(np.float32))
    source = hand(folder / "hand.onnx")
    for options, model in ((["--batch-max", PEOPLE], "ten.nsk"), ([], "one.nsk")):
        must("quantize", source, "-o", folder / model, "--target", "size", "--calibrate", data, "--quiet", *options)
    x = {"x": rng.uniform(0, 1, (PEOPLE, 3, 12, 12)).astype(np.float32)}
    ten = run(folder, folder / "ten.nsk", x, PEOPLE)
    for i in (0, 4, 9):
        np.save(folder / "x.npy", x["x"][i:i + 1])
        must("run", folder / "one.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "single")
        expect(all(np.array_equal(ten[n][i:i + 1], np.load(folder / "single" / n)) for n in ten), f"int8: person {i} has other bits than alone")


def check_refusals(folder):
    node = helper.make_node
    cases = {
        "rows that meet": ([node("ReduceMean", ["x"], ["m"], axes=[0], keepdims=1), node("Sub", ["x", "m"], ["y"])], {}, [1, 6], "row"),
        "a softmax along the rows": ([node("Softmax", ["x"], ["y"], axis=0)], {}, [1, 6], "row"),
        "rows that are not outermost": ([node("Transpose", ["x"], ["t"], perm=[1, 0, 2]), node("Reshape", ["t", "flat"], ["f"]), node("MatMul", ["f", "w"], ["y"])],
                                       {"flat": ints(6, 4), "w": rng.standard_normal((4, 3))}, [1, 6, 4], "row"),
        "rows that the exporter dropped": ([node("Squeeze", ["x", "zero"], ["q"]), node("Unsqueeze", ["q", "zero"], ["y"])], {"zero": ints(0)}, [1, 6], "run it for each row"),
        "a vector": ([node("Mul", ["x", "x"], ["y"])], {}, [1], "open first axis"),
        "a batch of two": ([node("Mul", ["x", "x"], ["y"])], {}, [2, 6], "open first axis"),
    }
    for what, (nodes, constants, shape, word) in cases.items():
        source = save(folder / "refused.onnx", nodes, {"x": shape}, {"y": None}, **constants)
        done = nsk("convert", source, "-o", folder / "no.nsk", "--batch-max", PEOPLE)
        expect(done.returncode == 2 and word in done.stderr and not (folder / "no.nsk").exists(), f"{what}: exit {done.returncode}, {done.stderr.strip()}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for make in (pose, hand, two_inputs):
        check_people(folder, make(folder / f"{make.__name__}.onnx"))
    check_choices(folder)
    check_refusals(folder)
    for other in OTHERS:
        source = SHARED / other
        if not source.exists() or (source.suffix == ".tflite" and not have_litert()):
            print(f"{source} or LiteRT is not there: its people were not compared")
            continue
        check_people(folder, source, *(["--no-check"] if other in AMPLIFIED else []), name=other)
    if (SHARED / OTHERS[2]).exists():
        check_times(folder, SHARED / OTHERS[2])
sys.exit(told(failures))
