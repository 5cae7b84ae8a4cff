#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk convert --gpu: the added variant computes what the source does, on the CPU; the other one stays as it is; what inspect --gpu says.

usage: gpu_variant.py MODEL...    names of models.py, or "options" for what --gpu does beside other options
"""
import json
import pathlib
import struct
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import convert_options, error_of, file_name, must, nsk, onnx_session, path_of, random_inputs  # noqa: E402

TOLERANCE = 2e-4
# Of the variant: dispatches, barriers between them; bytes that the file may grow by.
EXPECTED = {"face_front": (48, 30, 36 << 10), "resnet18": (24, 23, 50_000_000)}


def header(path):
    """Format version and features: what an engine asks before it reads on."""
    return struct.unpack_from("<II", path.read_bytes(), 8)


def outputs_of(session, model, variant, inputs, folder):
    for key, array in inputs.items():
        np.save(folder / file_name(key), array)
    arguments = [a for key in inputs for a in ("--input", f"{key}={folder / file_name(key)}")]
    must("run", model, "--variant", variant, "--output-dir", folder / variant, *arguments)
    return [np.load(folder / variant / file_name(o.name)) for o in session.get_outputs()]


def check_plan(name, model):
    """inspect --gpu says that every step has a shader, and how much is recorded."""
    report = json.loads(must("inspect", model, "--gpu", "--json", "--variant", "gpu"))
    plan = report["variants"][0]["gpu"]
    text = must("inspect", model, "--gpu", "--variant", "gpu")
    if len(report["variants"]) != 1 or not plan["whole"] or f"{plan['dispatches']} dispatches, {plan['barriers']} barriers" not in text:
        return f"{name}: {text.splitlines()[1]}"
    if sum(p["dispatches"] for p in plan["pipelines"]) != plan["dispatches"] + plan["reset_dispatches"]:
        return f"{name}: the dispatches of the pipelines are not those of the plan"
    expected = EXPECTED.get(name)
    if expected and (plan["dispatches"], plan["barriers"]) != expected[:2]:
        return f"{name}: {plan['dispatches']} dispatches and {plan['barriers']} barriers, not {expected[0]} and {expected[1]}"
    return None


def check_model(name, source, folder):
    session = onnx_session(source)
    options = convert_options(session, name)
    plain, model = folder / "plain.nsk", folder / "gpu.nsk"
    must("convert", source, "-o", plain, "--quiet", *options)
    said = must("convert", source, "-o", model, "--gpu", *options)
    if "gpu:      variant 'gpu', " not in said:
        return f"{name}: convert says nothing of the variant: {said}"
    if header(plain) != header(model) or header(model)[0] != 1:
        return f"{name}: format version and features {header(model)} instead of {header(plain)}"
    grown = model.stat().st_size - plain.stat().st_size
    if name in EXPECTED and grown > EXPECTED[name][2]:
        return f"{name}: {grown} bytes more"
    inputs = random_inputs(session, 3, name)
    before, after = (outputs_of(session, path, "default", inputs, folder) for path in (plain, model))
    if any(a.tobytes() != b.tobytes() for a, b in zip(before, after)):
        return f"{name}: --gpu changes what the variant 'default' computes"
    wanted = session.run(None, inputs)
    worst = max(error_of(a, b) for a, b in zip(outputs_of(session, model, "gpu", inputs, folder), wanted))
    must("check", source, model, "--variant", "gpu", "--quiet")
    print(f"{name}: {grown} bytes more, the variant differs from ONNX Runtime by {worst:.1e} of the largest magnitude")
    return f"{name}: the variant 'gpu' differs from ONNX Runtime by {worst:.1e}" if worst > TOLERANCE else check_plan(name, model)


def small_model(path):
    """Two convolutions that a CPU computes by Winograd's algorithm, the batch open."""
    generator = np.random.default_rng(1)
    weights = [onnx.numpy_helper.from_array(generator.uniform(-1, 1, [16, 16, 3, 3]).astype(np.float32), f"w{i}") for i in range(2)]
    nodes = [helper.make_node("Conv", ["x", "w0"], ["h"], name="first", pads=[1] * 4), helper.make_node("Conv", ["h", "w1"], ["y"], name="second", pads=[1] * 4)]
    image = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 16, "h", "w"]) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "g", image[:1], image[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def check_options(folder):
    """Beside other options: several variants, batches, single choices, check vectors; what is refused."""
    source, model = folder / "small.onnx", folder / "small.nsk"
    small_model(source)
    fixed = ["--input", "x=1x16x16x16"]

    def converted(*options):
        must("convert", source, "-o", model, "--gpu", "--quiet", "--input-range", "x=-4..4", *options)
        return json.loads(must("inspect", model, "--json", "--gpu"))["variants"]

    failures = []

    def expect(what, good):
        if not good:
            failures.append(what)

    both = converted("--variant", "a:x=1x16x16x16", "--variant", "b:x=1x16x8x24")
    expect("variants and their names", [v["name"] for v in both] == ["a", "b", "a.gpu", "b.gpu"])
    expect("profiles", [v["profile"] for v in both] == ["", "", "gpu", "gpu"])
    expect("one variant", [v["name"] for v in converted("--variant", "only:x=1x16x16x16")] == ["only", "gpu"])
    batch = converted("--batch-max", "3", "--input", "x=3x16x16x16")
    expect("batches", [v["batch"] for v in batch] == [3, 3] and batch[1]["gpu"]["whole"])
    np.save(folder / "x.npy", np.random.default_rng(2).uniform(-1, 1, [3, 16, 16, 16]).astype(np.float32))
    for rows in (1, 3):
        must("run", model, "--variant", "gpu", "--batch", rows, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / f"rows{rows}")
    one, all_rows = (np.load(folder / f"rows{rows}" / "y.npy") for rows in (1, 3))
    expect("rows of a batch", np.array_equal(one[0], all_rows[0]))
    (folder / "choices.json").write_text(json.dumps({"first": {"algorithm": "winograd2"}}))
    chosen = converted("--override", folder / "choices.json", *fixed)
    expect("choices are the CPU's", [[s["algorithm"] for s in v["steps"]] for v in chosen] == [["winograd2", "winograd4"], ["direct"] * 2])
    direct = converted("--no-winograd", *fixed)
    expect("direct convolutions", direct[0]["gpu"]["whole"] and all(s["algorithm"] == "direct" for v in direct for s in v["steps"]))
    converted("--embed-check", *fixed)
    expect("check vectors", nsk("selftest", model).returncode == 0)
    must("json", model, "-o", folder / "small.json")
    must("from-json", folder / "small.json", "-o", folder / "same.nsk", "--quiet")
    expect("round trip", model.read_bytes() == (folder / "same.nsk").read_bytes())
    for names, taken in ((["gpu"], "gpu"), (["a", "a.gpu"], "a.gpu")):
        refused = nsk("convert", source, "-o", folder / "no.nsk", "--gpu", *[o for n in names for o in ("--variant", f"{n}:x=1x16x16x16")])
        expect(f"a variant that is called {taken}", refused.returncode == 1 and f"--variant {taken}: --gpu adds" in refused.stderr)
    expect("Winograd has shaders", converted(*fixed)[0]["gpu"]["whole"])
    plan = converted("--input", "x=1x16x512x512", "--no-check")[0]["gpu"]
    expect("why a step has no shader", not plan["whole"] and "Winograd" in plan["steps"][0]["no_shader"])
    return failures


def main():
    failures = []
    with tempfile.TemporaryDirectory(prefix="nsk_gpu_") as folder:
        for name in sys.argv[1:]:
            if name == "options":
                failures += check_options(pathlib.Path(folder))
                continue
            source = path_of(name)
            found = check_model(name, source, pathlib.Path(folder)) if source else None
            failures += [found] if found else []
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
