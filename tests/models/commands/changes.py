#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversion on the user's terms: other shapes than the file's, planar ports, an arg-max, other names, swish and hard swish, n rows of a batch.

  changes.py [PATTERN]

The oracle is ONNX Runtime: on the model itself, row by row, or on the same change made with the onnx package.
"""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SHARED, error_of, file_name, must, nsk  # noqa: E402

TOLERANCE = 2e-5
PEOPLE = 10
rng = np.random.default_rng(77)


def weights(**arrays):
    return [numpy_helper.from_array(np.asarray(a) if np.asarray(a).dtype == np.int64 else np.asarray(a, np.float32), n) for n, a in arrays.items()]


def save(folder, nodes, inputs, outputs, opset=17, **constants):
    ports = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in p.items()] for p in (inputs, outputs)]
    graph = helper.make_graph(nodes, "changes", *ports, weights(**constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, folder / "m.onnx")
    return folder / "m.onnx"


def ints(*values):
    return np.array(values, np.int64)


def pose(folder):
    """A top-down pose network, exported for one person: heat maps, their soft arg-max by hard-coded shapes, attention over joints."""
    node = helper.make_node
    nodes = [node("Conv", ["x", "k1"], ["c1"], strides=[2, 2], pads=[1] * 4), node("Relu", ["c1"], ["r1"]),
             node("Conv", ["r1", "k2"], ["maps"], pads=[1] * 4),
             node("Reshape", ["maps", "flat"], ["lines"]), node("Softmax", ["lines"], ["weights"], axis=-1),
             node("Reshape", ["weights", "image"], ["soft"]), node("ReduceSum", ["soft", "rows"], ["columns"], keepdims=0),
             node("MatMul", ["columns", "places"], ["u"]), node("Unsqueeze", ["u", "last"], ["u2"]),
             node("Transpose", ["lines"], ["t"], perm=[1, 0, 2]), node("Reshape", ["t", "joined"], ["joints"]), node("MatMul", ["joints", "mix"], ["features"]),
             node("Reshape", ["features", "apart"], ["f2"]), node("Transpose", ["f2"], ["f3"], perm=[1, 0, 2]),
             node("Concat", ["token", "f3"], ["tokens"], axis=1), node("Slice", ["tokens", "from", "to", "axes"], ["some"]),
             node("Expand", ["u2", "wide"], ["u3"]), node("Resize", ["maps", "", "", "size"], ["large"], mode="linear"),
             node("Identity", ["some"], ["a"])]
    return save(folder, nodes, {"x": [1, 3, 16, 12]}, {"u3": [1, 5, 1, 2], "a": [1, 6, 7], "large": [1, 5, 16, 12]},
                k1=rng.standard_normal((8, 3, 3, 3)) * 0.3, k2=rng.standard_normal((5, 8, 3, 3)) * 0.3, flat=ints(1, 5, 48), image=ints(1, 5, 8, 6),
                rows=ints(2), places=rng.standard_normal((6, 1)), last=ints(-1), joined=ints(5, 48), mix=rng.standard_normal((48, 7)), apart=ints(5, 1, 7),
                token=rng.standard_normal((1, 1, 7)), **{"from": ints(0, 0)}, to=ints(1, 6), axes=ints(0, 1), wide=ints(1, 5, 1, 2), size=ints(1, 5, 16, 12))


def run(folder, model, inputs, *options):
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
    for old in (folder / "out").glob("*"):
        old.unlink()
    must("run", model, *[o for n in inputs for o in ("--input", f"{n}={folder / n}.npy")], "--output-dir", folder / "out", *options)
    return {p.stem: np.load(p) for p in (folder / "out").glob("*.npy")}


def runtime(model, inputs):
    session = onnxruntime.InferenceSession(str(model) if isinstance(model, pathlib.Path) else model.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))


def compare(what, got, wanted):
    if set(got) != {file_name(n)[:-4] for n in wanted}:
        raise SystemExit(f"{what}: outputs {sorted(got)}, expected {sorted(wanted)}")
    worst = max(error_of(got[file_name(n)[:-4]], y) for n, y in wanted.items())
    if worst > TOLERANCE:
        raise SystemExit(f"{what}: off by {worst:.2e}")
    return worst


def converted(folder, source, *options, words=()):
    said = must("convert", source, "-o", folder / "m.nsk", "--check", *options)
    for w in words:
        if w not in said:
            raise SystemExit(f"{source}: the summary lacks '{w}'\n{said}")
    must("check", source, folder / "m.nsk", "--seed", "9", "--quiet")  # the file knows how it was made
    return folder / "m.nsk"


def refused(what, code, words, *arguments):
    done = nsk(*arguments)
    if done.returncode != code or any(w not in done.stderr for w in words):
        raise SystemExit(f"{what}: exit code {done.returncode}, expected {code} and {words}\n{done.stderr}")


def ten_people(folder):
    """Rows of ten people equal ten single runs."""
    source = pose(folder)
    model = converted(folder, source, "--input", f"x={PEOPLE}x3x16x12", words=[f"{PEOPLE} rows, each"])
    x = rng.uniform(-1, 1, (PEOPLE, 3, 16, 12)).astype(np.float32)
    rows = [runtime(source, {"x": x[i:i + 1]}) for i in range(PEOPLE)]
    worst = compare("ten people", run(folder, model, {"x": x}), {n: np.concatenate([r[n] for r in rows]) for n in rows[0]})
    two = folder / "two.nsk"
    must("convert", source, "-o", two, "--variant", "one:x=1x3x16x12", "--variant", "ten:x=10x3x16x12", "--check")
    return worst


def ten_rows_of_others(folder):
    """Rows of networks that people have, where they are beside the checkout, equal nsk's own single runs."""
    worst = 0.0
    for name in ("bench/transformer_enc.onnx", "classify/mnist.onnx", "face/face_detection_front_128x128_barracuda.onnx"):
        source = SHARED / name
        if not source.exists():
            print(f"{source} does not exist: its rows were not compared")
            continue
        [port] = onnx.load(source).graph.input[:1]
        shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
        model = converted(folder, source, "--input", f"{port.name}=" + "x".join(map(str, [3] + shape[1:])), words=["3 rows, each"])
        x = rng.uniform(-1, 1, [3] + shape[1:]).astype(np.float32)
        rows = [runtime(source, {port.name: x[i:i + 1]}) for i in range(3)]
        axis = {n: next(d for d, l in enumerate(y.shape) if l == 1) for n, y in rows[0].items()}
        worst = max(worst, compare(name, run(folder, model, {port.name: x}), {n: np.concatenate([r[n] for r in rows], axis[n]) for n in rows[0]}))
    return worst


def other_sizes(folder):
    """Another height and width than the file's: sizes and targets follow. The sum says which sizes are meant."""
    node = helper.make_node
    source = save(folder, [node("Conv", ["x", "k"], ["c"], pads=[1] * 4), node("Resize", ["c", "", "", "size"], ["large"], mode="nearest"),
                           node("ConvTranspose", ["c", "up"], ["d"], strides=[2, 2]), node("Add", ["large", "d"], ["l"]), node("Reshape", ["l", "flat"], ["f"]), node("Softmax", ["f"], ["s"], axis=1), node("Reshape", ["s", "back"], ["y"])],
                  {"x": [1, 3, 8, 6]}, {"y": [1, 4, 16, 12]}, k=rng.standard_normal((4, 3, 3, 3)), up=rng.standard_normal((4, 4, 2, 2)),
                  size=ints(1, 4, 16, 12), flat=ints(1, 4, 192), back=ints(1, 4, 16, 12))
    m = onnx.load(source)
    model = converted(folder, source, "--input", "x=1x3x10x6")
    for t, v in (("size", ints(1, 4, 20, 12)), ("flat", ints(1, 4, 240)), ("back", ints(1, 4, 20, 12))):
        next(i for i in m.graph.initializer if i.name == t).CopyFrom(numpy_helper.from_array(v, t))
    m.graph.input[0].type.tensor_type.shape.dim[2].dim_value = 10
    x = rng.uniform(-1, 1, (1, 3, 10, 6)).astype(np.float32)
    return compare("another height", run(folder, model, {"x": x}), runtime(m, {"x": x}))


def refused_shapes(folder):
    node, out = helper.make_node, folder / "no.nsk"
    cases = {
        "rows that meet": ([node("ReduceMean", ["x"], ["m"], axes=[0], keepdims=1), node("Add", ["x", "m"], ["y"])], {}, ["'y'", "row"]),
        "rows that are lost": ([node("Gather", ["x", "zero"], ["g"], axis=0), node("Unsqueeze", ["g", "zero1"], ["y"])], {"zero": np.int64(0), "zero1": ints(0)}, ["'y'"]),
        "an axis that is dropped": ([node("Squeeze", ["x", "zero1"], ["q"]), node("Unsqueeze", ["q", "zero1"], ["y"])], {"zero1": ints(0)}, ["Squeeze"]),
        "axes of length 1 that are dropped": ([node("Squeeze", ["x"], ["q"]), node("Unsqueeze", ["q", "zero1"], ["y"])], {"zero1": ints(0)}, ["Squeeze", "axes instead of"]),
        "softmax across rows": ([node("Softmax", ["x"], ["s"], axis=0), node("Mul", ["s", "x"], ["y"])], {}, ["'y'", "row"]),
        "rows in another order": ([node("Reshape", ["x", "swap"], ["r"]), node("Transpose", ["r"], ["t"], perm=[1, 0]), node("MatMul", ["t", "x"], ["y"])], {"swap": ints(1, 6)}, [""]),
    }
    for what, (nodes, constants, words) in cases.items():
        source = save(folder, nodes, {"x": [1, 6]}, {"y": None if "order" in what else [1, 6]}, **constants)
        refused(what, 2, words, "convert", source, "-o", out, "--input", "x=4x6")
        if out.exists():
            raise SystemExit(f"{what}: a file was written")
    return 0.0


def planar_ports(folder):
    """Planar ports compute what the transposed ones do, in the source's layout."""
    node = helper.make_node
    source = save(folder, [node("Conv", ["x", "k"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["r"]), node("Conv", ["r", "k2"], ["y"], pads=[1] * 4)],
                  {"x": [2, 3, 9, 7]}, {"y": [2, 5, 9, 7], "r": [2, 8, 9, 7]}, k=rng.standard_normal((8, 3, 3, 3)), k2=rng.standard_normal((5, 8, 3, 3)))
    x = rng.uniform(-1, 1, (2, 3, 9, 7)).astype(np.float32)
    wanted = runtime(source, {"x": x})
    for kept in (["x"], ["y"], ["x", "y", "r"]):
        model = converted(folder, source, *[o for k in kept for o in ("--keep-layout", k)])
        got = compare(f"planar {kept}", run(folder, model, {"x": x}), wanted)
        raw = run(folder, model, {"x": x if "x" in kept else x.transpose(0, 2, 3, 1).copy()}, "--nhwc")
        for name, y in wanted.items():
            if error_of(raw[name], y if name in kept else y.transpose(0, 2, 3, 1)) > TOLERANCE:
                raise SystemExit(f"planar {kept}: '{name}' is not in the layout that was asked for")
    must("convert", source, "-o", folder / "both.nsk", "--gpu", "--keep-layout", "x", "--keep-layout", "y", "--check")
    refused("a layout of no port", 1, ["--keep-layout", "'z'"], "convert", source, "-o", folder / "no.nsk", "--keep-layout", "z")
    return got


def segmentation(folder):
    """Without a Resize the arg-max is exact; behind one it is that of the small image, enlarged by the nearest pixel."""
    node = helper.make_node
    nodes = [node("Conv", ["x", "k"], ["small"], pads=[1] * 4), node("Resize", ["small", "", "", "size"], ["y"], mode="linear", coordinate_transformation_mode="half_pixel")]
    constants = dict(k=rng.standard_normal((6, 3, 3, 3)), size=ints(2, 6, 28, 20))
    source = save(folder, nodes, {"x": [2, 3, 7, 5]}, {"y": [2, 6, 28, 20], "small": [2, 6, 7, 5]}, **constants)
    x = rng.uniform(-1, 1, (2, 3, 7, 5)).astype(np.float32)
    wanted = runtime(source, {"x": x})
    labels = wanted["small"].argmax(1).astype(np.int32)
    large = labels.repeat(4, 1).repeat(4, 2)
    model = converted(folder, source, "--argmax", "y", "--argmax", "small", words=["arg-max of its 6 channels", "nearest pixel"])
    compare("arg-max", run(folder, model, {"x": x}), {"y": large, "small": labels})
    agreed = (wanted["y"].argmax(1) == large).mean()
    if not 0.5 < agreed < 1:
        raise SystemExit(f"the arg-max of the small image agrees with the large one's in {agreed:.0%}: the test shows nothing")
    nodes[1] = node("Resize", ["small", "", "", "size"], ["l"], mode="linear")
    source = save(folder, nodes + [node("Transpose", ["l"], ["y"], perm=[0, 2, 3, 1])], {"x": [2, 3, 7, 5]}, {"y": [2, 28, 20, 6]}, **constants)
    model = converted(folder, source, "--argmax", "y", "--rename", "y=labels")
    compare("arg-max of channels last", run(folder, model, {"x": x}), {"labels": large})
    source = save(folder, [node("MatMul", ["x", "w"], ["y"])], {"x": [3, 4]}, {"y": [3, 5]}, w=rng.standard_normal((4, 5)))
    x = rng.uniform(-1, 1, (3, 4)).astype(np.float32)
    for axis in (0, 1):
        model = converted(folder, source, "--argmax", f"y={axis}")
        compare("arg-max along an axis", run(folder, model, {"x": x}), {"y": runtime(source, {"x": x})["y"].argmax(axis).astype(np.int32)})
    refused("an arg-max of no output", 1, ["--argmax", "'z'"], "convert", source, "-o", folder / "no.nsk", "--argmax", "z")
    refused("an arg-max along no axis", 1, ["--argmax", "2 axes"], "convert", source, "-o", folder / "no.nsk", "--argmax", "y=2")
    return 0.0


def other_names(folder):
    source = pose(folder)
    model = converted(folder, source, "--rename", "x=person", "--rename", "u3=place", "--rename", "maps=heat", "--output-value", "u3")
    x = rng.uniform(-1, 1, (1, 3, 16, 12)).astype(np.float32)
    worst = compare("other names", run(folder, model, {"person": x}), {"place": runtime(source, {"x": x})["u3"]})
    for what, option, words in (("a name that is taken", "x=u3", ["already"]), ("a name that nothing has", "xx=unused", ["'xx'"]), ("no name", "x=", ["empty"])):
        refused(what, 1, ["--rename"] + words, "convert", source, "-o", folder / "no.nsk", "--rename", option)
    return worst


def swish_and_back(folder):
    node = helper.make_node
    soft = [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["h"]), node("MatMul", ["h", "w"], ["d"]), node("Sigmoid", ["d"], ["e"]), node("Mul", ["e", "d"], ["y"])]
    hard = [node("HardSwish", ["x"], ["h"]), node("MatMul", ["h", "w"], ["d"]), node("HardSwish", ["d"], ["y"])]
    clip = [node("Add", ["x", "three"], ["a"]), node("Clip", ["a", "zero", "six"], ["b"]), node("Mul", ["x", "b"], ["c"]), node("Div", ["c", "six"], ["h"]),
            node("MatMul", ["h", "w"], ["d"]), node("HardSigmoid", ["d"], ["e"], alpha=1 / 6, beta=0.5), node("Mul", ["d", "e"], ["y"])]
    constants = dict(w=rng.standard_normal((6, 4)), three=np.float32(3), zero=np.float32(0), six=np.float32(6))
    x = (3 * rng.standard_normal((5, 6))).astype(np.float32)
    worst, results = 0.0, {}
    for name, nodes in (("soft", soft), ("hard", hard), ("clip", clip)):
        results[name] = runtime(save(folder, nodes, {"x": [5, 6]}, {"y": [5, 4]}, **constants), {"x": x})
    for name, nodes, option, becomes in (("soft", soft, "--swish-to-hard-swish", "hard"), ("hard", hard, "--hard-swish-to-swish", "soft"), ("clip", clip, "--hard-swish-to-swish", "soft")):
        source = save(folder, nodes, {"x": [5, 6]}, {"y": [5, 4]}, **constants)
        model = converted(folder, source, option, words=["2 "])
        worst = max(worst, compare(f"{name} {option}", run(folder, model, {"x": x}), results[becomes]))
        if error_of(results[name]["y"], results[becomes]["y"]) < 1e-3:
            raise SystemExit("swish and hard swish are the same: the test shows nothing")
    refused("hard swish where there is no swish", 2, ["--swish-to-hard-swish", "no Swish"], "convert", save(folder, hard, {"x": [5, 6]}, {"y": [5, 4]}, **constants),
            "-o", folder / "no.nsk", "--swish-to-hard-swish")
    return worst


def some_rows(folder):
    """run --batch n takes and writes n rows, in images too."""
    node = helper.make_node
    source = save(folder, [node("Conv", ["x", "k"], ["y"], pads=[1] * 4), node("GlobalAveragePool", ["y"], ["p"]), node("Flatten", ["p"], ["z"])],
                  {"x": ["n", 3, 6, 5]}, {"y": ["n", 4, 6, 5], "z": ["n", 4]}, k=rng.standard_normal((4, 3, 3, 3)))
    must("convert", source, "-o", folder / "m.nsk", "--batch-max", "7", "--check")
    x = rng.uniform(-1, 1, (7, 3, 6, 5)).astype(np.float32)
    wanted, worst = runtime(source, {"x": x}), 0.0
    for rows in (1, 3, 7):
        for given in (x, x[:rows]):
            worst = max(worst, compare(f"{rows} rows", run(folder, folder / "m.nsk", {"x": given}, "--batch", rows), {n: y[:rows] for n, y in wanted.items()}))
    steps = np.stack([x[:3], x[3:6]])
    got = run(folder, folder / "m.nsk", {"x": steps}, "--batch", 3, "--steps", 2)
    worst = max(worst, compare("rows over time", got, {n: np.stack([y[:3], y[3:6]]) for n, y in wanted.items()}))
    np.save(folder / "four.npy", x[:4])
    refused("other rows than asked for", 2, ["[3,3,6,5]", "[4,3,6,5]"], "run", folder / "m.nsk", "--input", f"x={folder / 'four.npy'}", "--output-dir", folder / "no", "--batch", 3)
    return worst


def checked_integers(folder):
    """The check samples integers on which the model is defined, behind arithmetic too: it compares, and does not give up."""
    node, port = helper.make_node, helper.make_tensor_value_info
    table = ints(*range(100, 140)).reshape(40, 1)
    cases = {
        "an index behind an offset": ([node("Sub", ["i", "start"], ["j"]), node("Gather", ["table", "j"], ["y"])], dict(start=ints(1000), table=table)),
        "an index from behind": ([node("Sub", ["end", "i"], ["j"]), node("Gather", ["table", "j"], ["y"])], dict(end=ints(539), table=table)),
        "an index in steps": ([node("Mul", ["i", "step"], ["k"]), node("Add", ["k", "start"], ["j"]), node("Gather", ["table", "j"], ["y"])],
                              dict(step=ints(13), start=ints(-13 * 38), table=table)),
        "an index of parts": ([node("Div", ["i", "step"], ["k"]), node("Sub", ["k", "start"], ["j"]), node("Gather", ["table", "j"], ["y"])],
                              dict(step=ints(7), start=ints(60), table=table)),
        "a divisor behind an offset": ([node("Add", ["i", "two"], ["d"]), node("Div", ["hundred", "d"], ["y"])], dict(two=ints(2), hundred=ints(100))),
        "a divisor behind two": ([node("Mul", ["i", "two"], ["k"]), node("Add", ["k", "two"], ["d"]), node("Mod", ["hundred", "d"], ["y"])], dict(two=ints(2), hundred=ints(100))),
        "a divisor with its sign changed": ([node("Neg", ["i"], ["d"]), node("Div", ["hundred", "d"], ["y"])], dict(hundred=ints(100))),
    }
    for what, (nodes, constants) in cases.items():
        constants = {n: np.asarray(c, np.int64) for n, c in constants.items()}
        graph = helper.make_graph(nodes, "g", [port("i", TensorProto.INT64, [64])], [port("y", TensorProto.INT64, None)], weights(**constants))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
        done = nsk("convert", folder / "m.onnx", "-o", folder / "m.nsk")
        if done.returncode != 0 or "checked against" not in done.stdout:
            raise SystemExit(f"{what}: exit code {done.returncode}, not checked\n{done.stdout}{done.stderr}")
    return 0.0


TESTS = (checked_integers, ten_people, ten_rows_of_others, other_sizes, refused_shapes, planar_ports, segmentation, other_names, swish_and_back, some_rows)


def main():
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    for test in TESTS:
        if pattern.search(test.__name__):
            with tempfile.TemporaryDirectory(prefix="nsk_changes_") as name:
                print(f"{test.__name__}: at most {test(pathlib.Path(name)):.1e} off")


if __name__ == "__main__":
    main()
