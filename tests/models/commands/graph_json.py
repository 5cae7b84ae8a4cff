#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The graph of a source model as JSON: it converts to the bytes of its source, and edits of it compute what ONNX Runtime says of the same
edit made with the onnx package.

  graph_json.py [PATTERN]
"""
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import edits  # noqa: E402
from models import REPOSITORY, SHARED, error_of, file_name, must, nsk  # noqa: E402

TOLERANCE = 2e-5
SMALL = 3 << 20  # bytes of models that make the round trip
rng = np.random.default_rng(31)


def classifier(path):
    """Two outputs, one behind a Softmax; a branch; a shape in the graph."""
    w = {"k": rng.standard_normal((8, 3, 3, 3)) * 0.3, "kb": rng.standard_normal(8), "d": rng.standard_normal((128, 5)) * 0.2,
         "e": rng.standard_normal((128, 5)) * 0.2}
    nodes = [helper.make_node("Conv", ["x", "k", "kb"], ["c"], "conv", strides=[2, 2], pads=[1] * 4), helper.make_node("Relu", ["c"], ["r"], "act"),
             helper.make_node("MaxPool", ["r"], ["q"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Reshape", ["q", "rows"], ["f"], "rows_of"), helper.make_node("MatMul", ["f", "d"], ["logits"], "dense"),
             helper.make_node("Softmax", ["logits"], ["p"], "soft", axis=-1), helper.make_node("MatMul", ["f", "e"], ["s"], "side"),
             helper.make_node("Tanh", ["s"], ["t"], "squash")]
    port = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "classifier", [port("x", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [port("p", TensorProto.FLOAT, [1, 5]), port("t", TensorProto.FLOAT, [1, 5])],
                              [numpy_helper.from_array(v.astype(np.float32), n) for n, v in w.items()] +
                              [numpy_helper.from_array(np.array([1, -1], np.int64), "rows")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


SOURCES = {"edits": lambda path: edits.network(path, edits.WEIGHTS), "classifier": classifier,
           "upscaler": lambda path: path.write_bytes((REPOSITORY / "examples" / "models" / "upscaler_x2.onnx").read_bytes())}
OPTIONS = {"upscaler": ["--input", "frame=1x3x12x20"]}
EDITS = []


def edit(source):
    """An edit of a source: a function of the JSON, the folder of its constants, and the onnx model."""
    def add(function):
        EDITS.append((source, function))
        return function
    return add


def named(g, name):
    return next(n for n in g["nodes"] if n["name"] == name)


def node_of(m, name):
    return next(n for n in m.graph.node if n.name == name)


def set_attribute(node, name, value):
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend(kept + [helper.make_attribute(name, value)])


def reset_outputs(m, names):
    del m.graph.output[:]
    m.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names)


def set_constant(m, name, value):
    old = next(t for t in m.graph.initializer if t.name == name)
    old.CopyFrom(numpy_helper.from_array(value, name))


@edit("edits")
def insert_an_add(g, folder, m):
    bias = (np.arange(24, dtype=np.float32) * 0.01).reshape(1, 24, 1, 1)
    np.save(folder / "extra.npy", bias)
    g["constants"].append({"name": "extra", "file": f"{folder.name}/extra.npy"})
    g["nodes"].append({"name": "add", "op": "Add", "inputs": ["m1", "extra"], "outputs": ["m2"]})  # the order is free
    named(g, "mean")["inputs"] = ["m2"]
    m.graph.initializer.append(numpy_helper.from_array(bias, "extra"))
    m.graph.node.insert(6, helper.make_node("Add", ["m1", "extra"], ["m2"], "add"))
    node_of(m, "mean").input[0] = "m2"


@edit("edits")
def change_an_operator(g, folder, m):
    named(g, "relu").update({"op": "LeakyRelu", "attributes": {"alpha": 0.3}})
    node_of(m, "relu").op_type = "LeakyRelu"
    set_attribute(node_of(m, "relu"), "alpha", 0.3)


@edit("edits")
def delete_a_gate(g, folder, m):
    g["nodes"].remove(named(g, "gate"))
    named(g, "scale")["inputs"][0] = "c1"
    m.graph.node.remove(node_of(m, "gate"))
    node_of(m, "scale").input[0] = "c1"


@edit("edits")
def replace_a_kernel(g, folder, m):
    kernel = rng.standard_normal((32, 1, 3, 3)).astype(np.float32)
    entry = next(c for c in g["constants"] if c["name"] == "wd")
    np.save(folder.parent / entry["file"], kernel)
    named(g, "deep")["attributes"]["pads"] = [1, 1, 1, 1]
    set_constant(m, "wd", kernel)
    set_attribute(node_of(m, "deep"), "pads", [1, 1, 1, 1])


@edit("edits")
def add_a_shortcut(g, folder, m):
    g["nodes"].append({"name": "shortcut", "op": "Add", "inputs": ["cd", "r3"], "outputs": ["sum"]})
    named(g, "point")["inputs"][0] = "sum"
    m.graph.node.insert(3, helper.make_node("Add", ["cd", "r3"], ["sum"], "shortcut"))
    node_of(m, "point").input[0] = "sum"


@edit("edits")
def change_numbers_in_the_text(g, folder, m):
    entry = next(c for c in g["constants"] if c["name"] == "bg")
    entry["values"] = [float(i) / 4 for i in range(10)]
    set_constant(m, "bg", np.arange(10, dtype=np.float32) / 4)


@edit("classifier")
def delete_a_softmax(g, folder, m):
    g["nodes"].remove(named(g, "soft"))
    g["outputs"][0] = {"name": "logits"}
    m.graph.node.remove(node_of(m, "soft"))
    reset_outputs(m, ["logits", "t"])


@edit("classifier")
def swap_two_outputs(g, folder, m):
    g["outputs"].reverse()
    reset_outputs(m, ["t", "p"])


@edit("classifier")
def change_a_stride(g, folder, m):
    named(g, "conv")["attributes"]["strides"] = [1, 1]
    named(g, "pool")["attributes"].update({"kernel_shape": [4, 4], "strides": [4, 4]})
    set_attribute(node_of(m, "conv"), "strides", [1, 1])
    set_attribute(node_of(m, "pool"), "kernel_shape", [4, 4])
    set_attribute(node_of(m, "pool"), "strides", [4, 4])


@edit("classifier")
def cut_a_branch(g, folder, m):
    g["outputs"].pop()
    reset_outputs(m, ["p"])


@edit("classifier")
def change_an_input_type(g, folder, m):
    g["inputs"][0].update({"name": "bytes", "type": "uint8"})
    g["nodes"].append({"name": "widen", "op": "Cast", "inputs": ["bytes"], "outputs": ["x"], "attributes": {"to": 1}})
    m.graph.input[0].CopyFrom(helper.make_tensor_value_info("bytes", TensorProto.UINT8, [1, 3, 16, 16]))
    m.graph.node.insert(0, helper.make_node("Cast", ["bytes"], ["x"], "widen", to=1))


@edit("classifier")
def merge_two_outputs(g, folder, m):
    g["nodes"].append({"op": "Concat", "inputs": ["p", "t"], "outputs": ["both"], "attributes": {"axis": 1}})
    g["outputs"] = [{"name": "both"}]
    m.graph.node.append(helper.make_node("Concat", ["p", "t"], ["both"], axis=1))
    reset_outputs(m, ["both"])


@edit("upscaler")
def change_an_input_shape(g, folder, m):
    g["inputs"][0]["shape"] = [1, 3, 12, 20]


@edit("upscaler")
def clip_the_result(g, folder, m):
    output, last = g["outputs"][0]["name"], m.graph.output[0].name
    g["constants"] += [{"name": "low", "type": "float32", "shape": [], "values": [0.25]}, {"name": "high", "type": "float32", "shape": [], "values": [0.75]}]
    g["nodes"].append({"name": "limit", "op": "Clip", "inputs": [output, "low", "high"], "outputs": ["limited"]})
    g["outputs"] = [{"name": "limited"}]
    m.graph.initializer.extend([numpy_helper.from_array(np.float32(0.25), "low"), numpy_helper.from_array(np.float32(0.75), "high")])
    m.graph.node.append(helper.make_node("Clip", [last, "low", "high"], ["limited"]))
    reset_outputs(m, ["limited"])


def inputs_of(session):
    types = {"tensor(float)": np.float32, "tensor(uint8)": np.uint8}
    made = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) else [1, 3, 12, 20][n] for n, d in enumerate(i.shape)]
        x = rng.uniform(-1, 1, shape) if "float" in i.type else rng.integers(0, 255, shape)
        made[i.name] = x.astype(types[i.type])
    return made


def compare(folder, source, function):
    """The edited JSON against ONNX Runtime on the edited model; the edit must change something."""
    SOURCES[source](folder / "m.onnx")
    must("json", folder / "m.onnx", "-o", folder / "g.json")
    (folder / "g.constants").mkdir(exist_ok=True)
    g, m = json.loads((folder / "g.json").read_text()), onnx.load(folder / "m.onnx")
    function(g, folder / "g.constants", m)
    (folder / "edited.json").write_text(json.dumps(g))
    options = [] if function is change_an_input_shape else OPTIONS.get(source, [])
    must("convert", folder / "edited.json", "-o", folder / "e.nsk", "--check", *options)
    must("check", folder / "edited.json", folder / "e.nsk", "--seed", "3", "--quiet")
    session = onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = inputs_of(session)
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
    must("run", folder / "e.nsk", *[o for n in inputs for o in ("--input", f"{n}={folder / n}.npy")], "--output-dir", folder / "out")
    names = [o.name for o in session.get_outputs()]
    shown = json.loads(must("inspect", folder / "e.nsk", "--json"))["variants"][0]["outputs"]
    if [o["name"] for o in shown] != names:
        raise SystemExit(f"{source}, {function.__name__}: outputs {[o['name'] for o in shown]}, expected {names}")
    worst = max(error_of(np.load(folder / "out" / file_name(n)), y) for n, y in zip(names, session.run(names, inputs)))
    if worst > TOLERANCE:
        raise SystemExit(f"{source}, {function.__name__}: off by {worst:.2e}")
    return worst


def round_trips(folder):
    """Models beside the checkout, and those with branches, loops, states and all kinds of attributes that are made here."""
    from json_round_trips import options_of
    sources = [p for p in (REPOSITORY / "examples" / "models").glob("*.onnx")]
    sources += sorted(p for p in SHARED.rglob("*") if p.suffix in (".onnx", ".tflite") and p.stat().st_size <= SMALL) if SHARED.is_dir() else []
    for name, make in SOURCES.items():
        make(folder / f"{name}.onnx")
        sources.append(folder / f"{name}.onnx")
    attributes(folder / "attributes.onnx")
    sources.append(folder / "attributes.onnx")
    count = 0
    for source in sources:
        options = options_of(source)
        if "silero" in source.name:
            options = ["--input", "input=1x576", "--input", "state=2x1x128", "--set", "sr=16000"]
        if nsk("convert", source, "-o", folder / "a.nsk", "--quiet", "--no-check", *options).returncode != 0:
            continue
        must("json", source, "-o", folder / "a.json", *(["--dequantize"] if source.suffix == ".tflite" else []))
        must("convert", folder / "a.json", "-o", folder / "b.nsk", "--quiet", "--no-check", *options)
        if (folder / "a.nsk").read_bytes() != (folder / "b.nsk").read_bytes():
            raise SystemExit(f"{source}: the graph's JSON does not convert to the bytes of its source")
        must("json", folder / "a.json", "-o", folder / "c.json")
        if (folder / "a.json").read_text().replace("a.constants/", "c.constants/") != (folder / "c.json").read_text():
            raise SystemExit(f"{source}: the JSON of the JSON is another one")
        count += 1
    return count


def attributes(path):
    """A branch, an opset of its own domain, infinite numbers, a number that is none, empty lists."""
    branch = [helper.make_graph([helper.make_node(op, ["y"], [f"{op}_y"])], op, [], [helper.make_tensor_value_info(f"{op}_y", TensorProto.FLOAT, [1, 4])])
              for op in ("Relu", "Neg")]
    nodes = [helper.make_node("Constant", [], ["limits"], value=numpy_helper.from_array(np.array([[np.inf, -np.inf, 0.1, -0.0]], np.float32))),
             helper.make_node("Constant", [], ["wide"], value=numpy_helper.from_array(np.array([[0.1, 2.0, 3.0, 4.0]], np.float64))),
             helper.make_node("Cast", ["wide"], ["narrow"], to=1), helper.make_node("Max", ["x", "narrow"], ["m"]),
             helper.make_node("Min", ["m", "limits"], ["y0"]), helper.make_node("Elu", ["y0"], ["y"], alpha=0.1),
             helper.make_node("If", ["flag"], ["z"], then_branch=branch[0], else_branch=branch[1])]
    port = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "attributes", [port("x", TensorProto.FLOAT, [1, 4]), port("flag", TensorProto.BOOL, [])], [port("z", TensorProto.FLOAT, [1, 4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8), path)


def replace_a_kernel_of_tflite(folder):
    """A kernel goes out and in as [outputs, height, width, inputs]: twice the numbers give twice the result of the first layer."""
    source = SHARED / "face" / "face_detection_short_range.tflite"
    source = next(iter(SHARED.rglob("face_detection_short_range.tflite")), source)
    if not source.exists():
        print(f"{source} does not exist: kernels of TensorFlow Lite were not replaced")
        return
    must("json", source, "-o", folder / "t.json")
    g = json.loads((folder / "t.json").read_text())
    entry = next(c for c in g["constants"] if c.get("tensor") == "conv2d/Kernel")
    kernel = np.load(folder / entry["file"])
    if kernel.shape != (24, 5, 5, 3) or entry["permute"] != [0, 3, 1, 2]:
        raise SystemExit(f"the kernel of a TensorFlow Lite model is {kernel.shape}, to be permuted by {entry['permute']}")
    conv = next(n for n in g["nodes"] if entry["name"] in n["inputs"])
    g["outputs"] = [{"name": conv["outputs"][0]}]
    results = []
    bias = np.asarray(next(c for c in g["constants"] if c["name"] == "conv2d/Bias")["values"], np.float32).reshape(1, -1, 1, 1)
    np.save(folder / "i.npy", rng.uniform(-1, 1, (1, 128, 128, 3)).astype(np.float32))
    for factor in (1, 2):
        np.save(folder / entry["file"], kernel * np.float32(factor))
        (folder / "t.json").write_text(json.dumps(g))
        must("convert", folder / "t.json", "-o", folder / "t.nsk", "--check")
        must("run", folder / "t.nsk", "--input", f"input={folder / 'i.npy'}", "--output-dir", folder / "out")
        results.append(np.load(folder / "out" / file_name(conv["outputs"][0])) - bias)
    if error_of(2 * results[0], results[1]) > TOLERANCE:
        raise SystemExit("a replaced kernel of a TensorFlow Lite model is not in its order")


def main():
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    worst, count = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="nsk_graph_json_") as name:
        folder = pathlib.Path(name)
        for source, function in EDITS:
            if pattern.search(f"{source} {function.__name__}"):
                place = folder / f"{count}"
                place.mkdir()
                worst, count = max(worst, compare(place, source, function)), count + 1
        trips = round_trips(folder) if pattern.search("round trips") else 0
        if pattern.search("tflite"):
            replace_a_kernel_of_tflite(folder)
    print(f"{count} edits compute what ONNX Runtime does (at most {worst:.1e} off), {trips} models convert to the same bytes from their JSON")


if __name__ == "__main__":
    main()
