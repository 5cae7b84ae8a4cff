#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize --max-drop and --report: the bound holds on samples that it has not seen, the layer that costs most returns to float32, every layer is
on the page and in the chart, and what cannot be met is refused with nothing written."""
import json
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk, told  # noqa: E402

F = np.float32
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def network(path):
    """The middle one of three layers has one weight a hundred times as large as the others, which one scale for all of them does not store."""
    random = np.random.default_rng(4)
    weights = {name: random.standard_normal((16, 16, 3, 3)) / 12 for name in ("a", "b", "c")}
    weights["b"][:, 3, 1, 1] *= 100
    nodes = [helper.make_node("Conv", ["x", "a"], ["p"], "first", pads=[1] * 4), helper.make_node("Relu", ["p"], ["q"]),
             helper.make_node("Conv", ["q", "b"], ["r"], "middle", pads=[1] * 4), helper.make_node("Tanh", ["r"], ["s"]),
             helper.make_node("Conv", ["s", "c"], ["y"], "last", pads=[1] * 4)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 10, 10])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16, 10, 10])],
                              [numpy_helper.from_array(w.astype(F), n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def samples(folder, count, seed):
    folder.mkdir()
    random = np.random.default_rng(seed)
    for i in range(count):
        np.save(folder / f"{i:03}.npy", random.standard_normal((1, 16, 10, 10)).astype(F))
    return folder


def error_on(folder, source, model, unseen):
    session = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"])
    signal = noise = 0.0
    for file in sorted(unseen.glob("*.npy")):
        must("run", model, "--input", f"x={file}", "--output-dir", folder)
        wanted = session.run(None, {"x": np.load(file)})[0].astype(float)
        signal += (wanted ** 2).sum()
        noise += ((np.load(folder / "y.npy") - wanted) ** 2).sum()
    return np.sqrt(noise / signal)


def check_histogram(what, h, numbers):
    """Bins of a report count the numbers that numpy counts, up to the bins' neighbours, and as many are beyond the range."""
    edges = h["first_bin"] + h["bin_width"] * np.arange(len(h["bins"]) + 1)
    expect(0 < len(h["bins"]) <= 64 and edges[0] <= numbers.min() and numbers.max() <= edges[-1], f"{what}: bins do not hold the numbers")
    expect(np.array_equal(np.histogram(numbers, edges)[0], h["bins"]), f"{what}: other bins than numpy's")
    expect(h["minimum"] == min(0, numbers.min()) and h["maximum"] == max(0, numbers.max()), f"{what}: {h['minimum']} to {h['maximum']}")
    if h["range"]:
        share = ((numbers < h["range"][0]) | (numbers > h["range"][1])).mean()
        expect(abs(share - h["share_outside"]) < 0.003, f"{what}: {share} of the numbers are beyond, and {h['share_outside']} is said")


def check_json(folder, source, data, model):
    """The same report as JSON: sizes are those of files, histograms those of numpy, every layer that is float says why, and times follow the layers."""
    page = folder / "whole.md"
    must("profile", "-o", folder / "machine.json", "--seconds", "0.02", "--quiet")
    must("quantize", "--target", "pc", source, "-o", model, "--calibrate", data, "--keep", "last", "--report", page, "--profile", folder / "machine.json")
    j = json.loads((folder / "whole.json").read_text())
    must("convert", source, "-o", folder / "float.nsk")
    expect(j["file_bytes"] == model.stat().st_size and j["file_bytes"] < j["float_file_bytes"], f"bytes: {j['file_bytes']} of {j['float_file_bytes']}")
    expect(abs(j["float_file_bytes"] - (folder / "float.nsk").stat().st_size) < 1024, "the float file has another size")
    layers = {l["name"]: l for l in j["layers"]}
    expect([l["depth"] for l in j["layers"]] == [0, 1, 2] and list(layers) == ["first", "middle", "last"], f"order: {list(layers)}")
    expect(layers["last"]["format"] == "float32" and layers["last"]["reason"] == "kept by --keep", f"a kept layer: {layers['last']['reason']}")
    expect(all(bool(l["reason"]) == (l["format"] != "int8") for l in j["layers"]), "a float layer without a reason, or an int8 layer with one")
    expect(len(j["expected_ms"]) == 2 and all(0 < e["after"] and 0 < e["before"] for e in j["expected_ms"]), f"expected times: {j['expected_ms']}")
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(str(source)).graph.initializer}
    for layer, name in (("first", "a"), ("middle", "b"), ("last", "c")):
        check_histogram(f"weights of {layer}", layers[layer]["weights"], weights[name].ravel())
    tensors = {t["name"]: t for t in j["tensors"]}
    check_histogram("the input", tensors["x"], np.stack([np.load(f) for f in sorted(data.glob("*.npy"))]).ravel())
    expect(tensors["y"]["range"] is None and tensors["x"]["range"] is not None, "what is stored")
    names = [c.text for c in xml.etree.ElementTree.parse(folder / "whole.histograms.svg").iter("{http://www.w3.org/2000/svg}text")]
    expect(all(n in names for n in (*layers, *tensors)), f"histograms: {names}")
    text = page.read_text()
    expect(all(part in text for part in ("## Signal to noise by depth", "## Ranges", "whole.histograms.svg", "| file |", "| expected |")), f"the page lacks a part:\n{text}")
    wide = folder / "wide.onnx"
    wide_network(wide)
    must("quantize", "--target", "pc", wide, "-o", model, "--calibrate", folder / "wide", "--report", page)
    j = json.loads((folder / "whole.json").read_text())
    reasons = {l["name"]: l["reason"] for l in j["layers"]}
    expect(reasons["winograd"].startswith("faster by Winograd on pc") and not reasons["point"], f"reasons: {reasons}")
    expect(j["expected_ms"][0]["after"] < j["expected_ms"][0]["before"], f"expected times: {j['expected_ms']}")
    expect([(o["name"], o["operator"]) for o in j["other_products"]] == [("up", "ConvTranspose")], f"others: {j['other_products']}")


def wide_network(path):
    """Deep 1 x 1 convolutions, a 3 x 3 one between numbers that are floats anyway, and a transposed one of two groups; and samples."""
    random = np.random.default_rng(6)
    shapes = {"a": (256, 64, 1, 1), "b": (128, 256, 1, 1), "c": (64, 64, 3, 3), "d": (64, 4, 2, 2)}
    weights = {name: random.standard_normal(shape).astype(F) / 16 for name, shape in shapes.items()}
    nodes = [helper.make_node("Conv", ["x", "c"], ["p"], "winograd", pads=[1] * 4), helper.make_node("ConvTranspose", ["p", "d"], ["z"], "up", strides=[2, 2], group=2),
             helper.make_node("Conv", ["x", "a"], ["q"], "point"), helper.make_node("Conv", ["q", "b"], ["y"], "deep")]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 64, 32, 32]), ("y", [1, 128, 32, 32]), ("z", [1, 8, 64, 64]))]
    graph = helper.make_graph(nodes, "wide", info[:1], info[1:], [numpy_helper.from_array(w, n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    (path.parent / "wide").mkdir()
    np.save(path.parent / "wide" / "0.npy", random.standard_normal((1, 64, 32, 32)).astype(F))


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_report_") as name:
        folder = pathlib.Path(name)
        source, data, unseen = network(folder / "net.onnx"), samples(folder / "data", 16, 1), samples(folder / "unseen", 16, 2)
        model, page, chart = folder / "net.nsk", folder / "net.md", folder / "net.svg"
        text = must("quantize", "--target", "size", source, "-o", model, "--calibrate", data, "--per-tensor")
        loose = error_on(folder, source, model, unseen)
        expect("int8 in 3 of 3 layers, by 16 samples" in text, text)

        text = must("quantize", "--target", "size", source, "-o", model, "--calibrate", data, "--per-tensor", "--max-drop", "0.06", "--report", page)
        bound = error_on(folder, source, model, unseen)
        print(f"error {loose:.3f} without a bound, {bound:.4f} with 0.06")
        expect(loose > 0.12 and bound <= 0.06, f"the bound does not hold: {loose}, {bound}")
        expect("int8 in 2 of 3 layers, by 12 samples" in text and "1 layers stay float32 for --max-drop" in text, text)
        expect("on samples that were held out" in text, text)
        rows = re.findall(r"^\| `(\w+)` \| Conv \| (\S+) \| (\S+) \| (\S+) \| (\d+) to (\d+) \| (.*) \|$", page.read_text(), re.MULTILINE)
        expect({r[0] for r in rows} == {"first", "middle", "last"} and rows[0][0] == "middle", f"layers of the page: {rows}")
        expect(rows[0][6] == "float32: returned by --max-drop" and rows[0][4] == rows[0][5] == "9216", f"the worst layer: {rows[0]}")
        expect(all(r[6] == "" and int(r[5]) == 16 * 16 * 9 + 8 * 16 for r in rows[1:]), f"the others: {rows[1:]}")
        expect(float(rows[0][1]) < 20 < float(rows[1][1]) and float(rows[0][2]) > float(rows[1][2]) + 5, f"sensitivities: {rows}")
        circles = [c.get("class") for c in xml.etree.ElementTree.parse(chart).iter("{http://www.w3.org/2000/svg}circle")]
        expect(circles.count("float") == 2 and circles.count("alone") == 3 and circles.count("depth") == 4, f"chart: {circles}")

        reached = json.loads((folder / "net.json").read_text())["bound"]
        expect(reached["by"] == "error" and reached["max_drop"] == 0.06 and 0 < reached["reached"] <= 0.06, f"the bound in the report: {reached}")
        check_json(folder, source, data, model)
        # a held-out sample on which the float model overflows and the stored one does not
        huge = samples(folder / "huge", 8, 5)
        np.save(huge / "003.npy", np.load(huge / "003.npy") * F(1e25))
        squares = onnx.load(str(source))
        squares.graph.node[-1].output[0] = "z"
        squares.graph.node.append(helper.make_node("Mul", ["q", "q"], ["y"]))
        squares.graph.node.append(helper.make_node("Identity", ["z"], ["w"]))
        squares.graph.output.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [1, 16, 10, 10]))
        onnx.save(squares, str(folder / "squares.onnx"))
        done = nsk("quantize", "--target", "size", folder / "squares.onnx", "-o", folder / "huge.nsk", "--calibrate", huge, "--max-drop", "0.9")
        expect(done.returncode == 0 and "2 layers stay float32" in done.stdout and "nan" not in done.stdout, f"an overflow: exit {done.returncode} {done.stdout} {done.stderr}")

        text = must("quantize", "--target", "size", source, "-o", model, "--calibrate", data, "--max-drop", "0.5")
        expect("int8 in 3 of 3 layers" in text and "stay float32" not in text, f"a loose bound:\n{text}")
        few = samples(folder / "few", 3, 3)
        never, never_page = folder / "never.nsk", folder / "never.md"
        for code, what, arguments in ((2, "no layer can be int8", ["--calibrate", data, "--max-drop", "0.000001"]), (2, "holds out every fourth sample", ["--calibrate", few, "--max-drop", "0.1"]),
                                      (1, "--max-drop", ["--calibrate", data, "--max-drop", "0"]), (1, "--max-drop", ["--calibrate", data, "--max-drop", "nan"]),
                                      (1, "needs no samples", ["--format", "fp16", "--max-drop", "0.1"])):
            done = nsk("quantize", "--target", "size", source, "-o", never, "--report", never_page, *arguments)
            expect(done.returncode == code and what in done.stderr, f"{what}: exit {done.returncode}, {done.stderr.strip()}")
            expect(not never.exists() and not never_page.exists(), f"{what}: a file was written")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
