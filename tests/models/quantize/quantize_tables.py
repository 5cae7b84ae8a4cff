#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of nsk quantize: a saved calibration gives the bytes that its samples gave, a saved choice those that it describes, an edited one what it
says; damaged files, those of other models, and choices for nothing are refused by name, and nothing is written."""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk  # noqa: E402

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def network(path, seed=1, pads=(1, 1, 1, 1)):
    """Two convolutions and a residual sum, scores."""
    random = np.random.default_rng(seed)
    w = lambda *shape: (random.standard_normal(shape) / 4).astype(np.float32)
    c = {"a": w(16, 8, 3, 3), "ab": w(16), "b": w(8, 16, 1, 1), "d": w(4, 8, 1, 1)}
    node = helper.make_node
    nodes = [node("Conv", ["x", "a", "ab"], ["p"], "wide", pads=pads), node("Relu", ["p"], ["q"], "relu"), node("Conv", ["q", "b"], ["r"], "back"),
             node("Add", ["r", "x"], ["s"], "sum"), node("Conv", ["s", "d"], ["y"], "scores")]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 10, 10])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 10, 10])],
                              [numpy_helper.from_array(v, n) for n, v in c.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def samples(folder, count):
    folder.mkdir()
    random = np.random.default_rng(3)
    for i in range(count):
        np.save(folder / f"{i:02}.npy", random.standard_normal((1, 8, 10, 10)).astype(np.float32))
    return folder


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.source, self.other = network(folder / "net.onnx"), network(folder / "other.onnx", seed=2)
        self.shifted = network(folder / "shifted.onnx", pads=(0, 0, 2, 2))
        self.data = samples(folder / "data", 8)

    def arguments(self, output, *options, source=None):
        return ["quantize", source or self.source, "-o", self.folder / output, "--target", "size", *options]

    def made(self, output, *options):
        """What the command writes, without the name of its file."""
        return must(*self.arguments(output, *options)), (self.folder / output).read_bytes()

    def refused(self, what, said, *options, source=None, code=None):
        run = nsk(*self.arguments("none.nsk", *options, source=source))
        expect(run.returncode != 0 and said in run.stderr and (code is None or run.returncode == code),
               f"{what}: exit {run.returncode}, '{said}' is not in {run.stderr.strip()}")
        expect(not (self.folder / "none.nsk").exists(), f"{what}: a file is there")


def calibrations(b):
    saved = b.folder / "seen.json"
    _, first = b.made("first.nsk", "--calibrate", b.data, "--save-calibration", saved)
    text, again = b.made("again.nsk", "--calibrate", saved)
    expect(first == again, "a saved calibration gives another file than its samples")
    expect("8 samples" in text, f"the samples of a saved calibration are not told:\n{text}")
    for how in ("minmax", "percentile", "kl"):
        expect(b.made("x.nsk", "--calibrate", b.data, "--ranges", how)[1] == b.made("y.nsk", "--calibrate", saved, "--ranges", how)[1],
               f"--ranges {how} of a saved calibration differs")
    text, _ = b.made("measured.nsk", "--calibrate", saved, "--calibrate", b.data, "--report", b.folder / "report.md")
    expect("dB" in text, f"samples beside a calibration measure nothing:\n{text}")
    b.refused("a calibration of another model", "another model", "--calibrate", saved, source=b.other)
    b.refused("a calibration of other attributes", "another model", "--calibrate", saved, source=b.shifted)
    b.refused("a bound without samples", "--max-drop", "--calibrate", saved, "--max-drop", "0.1", code=1)
    whole = json.loads(saved.read_text())

    def damaged(what, change):
        j = json.loads(json.dumps(whole))
        change(j)
        path = b.folder / "damaged.json"
        path.write_text(json.dumps(j))
        b.refused(f"a calibration with {what}", "--calibrate", "--calibrate", path)

    tensor = lambda j: j["tensors"][0]
    damaged("no version", lambda j: j.pop("calibration_version"))
    damaged("a version of the future", lambda j: j.update(calibration_version=3))
    damaged("no tensors", lambda j: j.update(tensors=[]))
    damaged("a tensor twice", lambda j: j["tensors"].append(tensor(j)))
    damaged("negative bins", lambda j: tensor(j)["bins"].__setitem__(0, -1))
    damaged("bins beyond the histogram", lambda j: tensor(j).update(first_bin=10**9))
    damaged("a width that is no power of two", lambda j: tensor(j).update(width=0.3))
    damaged("a minimum above 0", lambda j: tensor(j).update(minimum=1))
    damaged("no sums", lambda j: tensor(j).update(channel_sums=[]))
    damaged("no samples", lambda j: j.update(samples=0))
    damaged("text in place of numbers", lambda j: tensor(j).update(width="wide"))
    (b.folder / "text.json").write_text("{")
    b.refused("a calibration that is no JSON", "text.json", "--calibrate", b.folder / "text.json")
    b.refused("a calibration that is not there", "missing.json", "--calibrate", b.folder / "missing.json")


def choices(b):
    saved = b.folder / "chosen.json"
    _, first = b.made("chosen.nsk", "--calibrate", b.data, "--save-overrides", saved, "--keep", "wide")
    j = json.loads(saved.read_text())
    expect(j["layers"] == {"wide": "float32", "back": "int8", "scores": "int8"}, f"the choice is not what was chosen: {j['layers']}")
    expect(all(low <= 0 <= high for low, high in j["ranges"].values()) and j["ranges"], f"strange ranges: {j['ranges']}")
    _, again = b.made("again.nsk", "--calibrate", b.data, "--override", saved)
    expect(first == again, "a saved choice gives another file")

    def edited(change, *options):
        c = json.loads(saved.read_text())
        change(c)
        path = b.folder / "edited.json"
        path.write_text(json.dumps(c))
        return ["--calibrate", b.data, "--override", path, *options]

    text, all_int8 = b.made("edited.nsk", *edited(lambda c: c["layers"].update(wide="int8")))
    expect("int8 in 3 of 3 layers" in text, f"a layer that is asked for is not int8:\n{text}")
    expect(all_int8 != first, "an edited choice changes nothing")
    name = next(iter(j["ranges"]))
    expect(b.made("range.nsk", *edited(lambda c: c["ranges"].update({name: [-50, 50]})))[1] != first, "an edited range changes nothing")
    b.refused("a choice for no layer", "which is no layer", *edited(lambda c: c["layers"].update(nothing="int8")), code=1)
    b.refused("a choice against --keep", "--keep", *edited(lambda c: c["layers"].update(wide="int8"), "--keep", "wide"), code=1)
    b.refused("a format that there is not", "no such format", *edited(lambda c: c["layers"].update(wide="int4")))
    b.refused("a range without 0", "no range with 0", *edited(lambda c: c["ranges"].update({name: [1, 2]})))
    b.refused("a range of nothing", "no range with 0", *edited(lambda c: c["ranges"].update({name: [0, 0]})))
    b.refused("a range of no tensor", "nothing", *edited(lambda c: c["ranges"].update(nothing=[-1, 1])))
    b.refused("another part", "'weights' has {}", *edited(lambda c: c.update(weights={})))
    b.refused("ranges for fp16", "ranges are of stored integers", "--format", "fp16", "--override", saved, code=1)
    b.refused("two calibrations", "one file of --save-calibration is enough", "--calibrate", saved, "--calibrate", saved, code=1)


with tempfile.TemporaryDirectory() as name:
    bench = Bench(pathlib.Path(name))
    calibrations(bench)
    choices(bench)
print("\n".join(failures) or "calibrations and choices in files: good")
sys.exit(bool(failures))
