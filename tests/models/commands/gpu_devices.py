#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk run, check and bench --device: results are the CPU's, on a software driver where there is no GPU; what is said without any driver.

usage: gpu_devices.py DEVICE     vulkan, gl, gles or d3d12; "none" for what needs no driver
"""
import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, error_of, file_name, must, nsk  # noqa: E402

TOLERANCE, HALF_TOLERANCE = 2e-4, 2e-3
USAGE, REFUSED, FAILED = 1, 2, 3
failures = []


def expect(what, good, said=""):
    if not good:
        failures.append(f"{what}: {said}"[:600])


def environment(device):
    """Mesa's software driver of Vulkan where it is installed and no variable named another; the same for OpenGL."""
    values = dict(os.environ, LIBGL_ALWAYS_SOFTWARE="1")
    for driver in pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp_icd.*.json"):
        values.setdefault("VK_ICD_FILENAMES", str(driver))
    compilers = pathlib.Path(os.environ["NSK_TOOL"]).resolve().parent / "hlsl_compilers"  # tools/hlsl_compilers.py puts them there
    if device == "d3d12" and (compilers / "fxc").exists():
        values.setdefault("NSK_FXC", str(compilers / "fxc"))
        values.setdefault("NSK_FXC_CACHE", str(compilers.parent / "hlsl_blobs"))
    return values


def save_model(path, nodes, inputs, outputs, constants=()):
    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    tensors = [onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants]
    graph = helper.make_graph(nodes, "g", [info(*i) for i in inputs], [info(*o) for o in outputs], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def make_models(folder):
    """A small network with convolutions that the CPU computes by Winograd's algorithm; one with a memory."""
    generator = np.random.default_rng(4)
    constants = [("w0", generator.uniform(-1, 1, [16, 3, 3, 3])), ("w1", generator.uniform(-.2, .2, [16, 16, 3, 3])), ("w2", generator.uniform(-1, 1, [16, 10]))]
    nodes = [helper.make_node("Conv", ["image", "w0"], ["a"], pads=[1] * 4), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1] * 4), helper.make_node("Add", ["b", "c"], ["d"]),
             helper.make_node("GlobalAveragePool", ["d"], ["e"]), helper.make_node("Flatten", ["e"], ["f"]),
             helper.make_node("MatMul", ["f", "w2"], ["g"]), helper.make_node("Softmax", ["g"], ["scores"], axis=1)]
    save_model(folder / "net.onnx", nodes, [("image", ["n", 3, 20, 20])], [("scores", None), ("d", None)], constants)
    save_model(folder / "large.onnx", nodes, [("image", [1, 3, 352, 352])], [("scores", None)], constants)  # too large for Winograd on a GPU
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Add", ["y", "state"], ["z"]), helper.make_node("Tanh", ["z"], ["stateN"]),
             helper.make_node("Neg", ["stateN"], ["out"])]
    save_model(folder / "memory.onnx", nodes, [("x", [1, 8]), ("state", [1, 8])], [("out", None), ("stateN", None)], [("w", generator.uniform(-1, 1, [8, 8]))])
    # Differences of numbers near 1000, between which 16-bit floats have steps of 0.5.
    constants = [("w0", generator.uniform(-1, 1, [8, 3, 1, 1])), ("b0", np.full(8, 1000.0)), ("w1", np.tile([[[[1.0]], [[-1.0]]] * 4], [4, 1, 1, 1]))]
    nodes = [helper.make_node("Conv", ["image", "w0", "b0"], ["a"]), helper.make_node("Conv", ["a", "w1"], ["difference"])]
    save_model(folder / "cancels.onnx", nodes, [("image", [1, 3, 8, 8])], [("difference", None)], constants)
    must("convert", folder / "cancels.onnx", "-o", folder / "cancels.nsk", "--gpu", "--quiet")
    must("convert", folder / "net.onnx", "-o", folder / "net.nsk", "--gpu", "--quiet", "--batch-max", "4")
    must("convert", folder / "net.onnx", "-o", folder / "cpu.nsk", "--quiet")
    must("convert", folder / "large.onnx", "-o", folder / "large.nsk", "--quiet", "--no-check")
    must("convert", folder / "memory.onnx", "-o", folder / "memory.nsk", "--gpu", "--quiet")
    np.save(folder / "image.npy", generator.uniform(-1, 1, [4, 3, 20, 20]).astype(np.float32))
    np.save(folder / "x.npy", generator.uniform(-1, 1, [5, 1, 8]).astype(np.float32))


def outputs_of(folder, name, *arguments, **options):
    done = nsk("run", *arguments, "--output-dir", folder / name, **options)
    expect(f"run {name}", done.returncode == 0, done.stdout + done.stderr)
    return done.stdout, {p.name: np.load(p) for p in sorted((folder / name).glob("*.npy"))}


def compare_runs(device, folder, env):
    """Outputs on the device against those of the CPU: all rows of a batch, one row, states over five runs."""
    for what, arguments in (("batch", ["net.nsk", f"image={folder / 'image.npy'}"]), ("row", ["net.nsk", f"image={folder / 'image.npy'}", "--batch", "1"]),
                            ("states", ["memory.nsk", f"x={folder / 'x.npy'}", "--steps", "5"])):
        arguments = [folder / arguments[0], "--input", *arguments[1:]]
        said, got = outputs_of(folder, f"{what}_{device}", *arguments, "--device", device, env=env)
        _, wanted = outputs_of(folder, f"{what}_cpu", *arguments)
        expect(f"{what}: files", got.keys() == wanted.keys() and got, said)
        rows = slice(0, 1) if what == "row" else slice(None)
        worst = max(error_of(got[name][rows], wanted[name][rows]) for name in wanted)
        expect(f"{what}: outputs differ by {worst:.1e}", worst <= TOLERANCE)
        expect(f"{what}: the driver and the variant are named", f"{device}: " in said and "variant 'gpu': " in said, said)


def check_device(device, folder, env):
    for model in ("net.nsk", "memory.nsk"):
        done = nsk("check", folder / model, "--device", device, "--json", folder / "check.json", env=env)
        expect(f"check {model}", done.returncode == 0 and "check passed" in done.stdout, done.stdout + done.stderr)
        report = json.loads((folder / "check.json").read_text())
        steps = json.loads(must("inspect", folder / model, "--gpu", "--json", "--variant", "gpu"))["variants"][0]["gpu"]["steps"]
        expect("all steps", sorted({s["step"] for s in report["steps"]}) == [s["index"] for s in steps])
        errors = [s["relative_error"] for s in report["steps"]]
        expect("worst first", errors == sorted(errors, reverse=True) and report["passed"] and report["worst_step_error"] == errors[0] <= 1e-5)
        expect("outputs and states", len(report["outputs"]) == 2 and report["worst_output_error"] <= TOLERANCE, str(report["outputs"]))
    done = nsk("check", folder / "net.nsk", "--device", device, "--input", f"image={folder / 'image.npy'}", "--quiet", env=env)
    expect("check on an input, quiet", done.returncode == 0 and not done.stdout, done.stdout + done.stderr)


def halves_on_device(device, folder, env):
    """16-bit floats between steps: within their bound, which is larger, or a sentence with the cure."""
    arguments = [folder / "net.nsk", "--input", f"image={folder / 'image.npy'}"]
    said, got = outputs_of(folder, f"halves_{device}", *arguments, "--device", device, "--half-activations", env=env)
    _, wanted = outputs_of(folder, "halves_cpu", *arguments)
    worst = max(error_of(got[name], wanted[name]) for name in wanted)
    expect(f"halves: outputs differ by {worst:.1e}", 1e-6 < worst <= HALF_TOLERANCE)
    expect("halves are named", "16-bit floats" in said, said)
    done = nsk("check", folder / "net.nsk", "--device", device, "--half-activations", "--json", folder / "check.json", env=env)
    report = json.loads((folder / "check.json").read_text())
    expect("check of halves", done.returncode == 0 and "tolerance 2e-03 with 16-bit floats" in done.stdout, done.stdout + done.stderr)
    expect("its report", report["half_activations"] and report["output_tolerance"] == HALF_TOLERANCE and 1e-5 < report["worst_step_error"] < 1e-2, str(report)[:300])
    for options in (["--half-weights"], ["--half-weights", "--half-activations"]):
        done = nsk("check", folder / "net.nsk", "--device", device, *options, "--json", folder / "check.json", env=env)
        report = json.loads((folder / "check.json").read_text())
        expect(f"check {options}", done.returncode == 0 and "weights of layers are 16-bit floats" in done.stdout, done.stdout + done.stderr)
        expect("an error of weights", report["half_weights"] and 1e-6 < report["worst_output_error"] <= HALF_TOLERANCE, str(report)[:300])
    done = nsk("check", folder / "cancels.nsk", "--device", device, env=env)
    expect("float32", done.returncode == 0, done.stdout + done.stderr)
    done = nsk("check", folder / "cancels.nsk", "--device", device, "--half-activations", env=env)
    expect("beyond the bound", done.returncode == FAILED and "output 'difference' is " in done.stderr and "(tolerance 2e-03)" in done.stderr
           and "Keep float32" in done.stderr and done.stderr.count("\n") == 1, done.stdout + done.stderr)
    done = nsk("bench", folder / "net.nsk", "--device", device, "--half-activations", "--seconds", "0.1", "--json", env=env)
    expect("bench of halves", json.loads(done.stdout)["half_activations"] is True, done.stdout)
    done = nsk("check", folder / "cpu.nsk", "--device", device, "--half-activations", env=env)
    expect("halves and a step on the CPU", done.returncode == 0, done.stdout + done.stderr)


def bytes_of_halves(folder):
    """What nsk inspect --gpu says of them."""
    def plan(*options):
        return json.loads(must("inspect", folder / "net.nsk", "--gpu", "--json", "--variant", "gpu", *options))["variants"][0]["gpu"]
    whole, half = plan(), plan("--half-activations")
    sums = {"read": half["read_bytes"], "written": half["written_bytes"]}
    expect("bytes", sums == whole["half_bytes"] and half["written_bytes"] < whole["written_bytes"], f"{sums} {whole['half_bytes']}")
    expect("steps", sum(s["written_bytes"] for s in half["steps"]) == sums["written"], str(half["steps"]))
    expect("buffers and permutations", 0 < half["half_buffers"] < half["buffers"] and any(p["permutation"]["HALVES"] for p in half["pipelines"]), str(half["pipelines"]))
    weights = plan("--half-weights")
    expect("weights", weights["half_weight_layers"] == weights["weight_layers"] == 3 and 0 < weights["half_weight_bytes"]
           and whole["read_bytes"] - weights["read_bytes"] == weights["half_weights_saved"] == whole["half_weights_saved"] > 0, str(weights)[:400])
    text = must("inspect", folder / "net.nsk", "--gpu", "--half-activations", "--variant", "gpu")
    expect("text", f"{half['half_buffers']} of {half['buffers']} buffers hold 16-bit floats" in text, text)


def bench_device(device, folder, env):
    done = nsk("bench", folder / "net.nsk", "--device", device, "--seconds", "0.2", "--json", env=env)
    report = json.loads(done.stdout)
    expect("bench", report["device"] == device and report["runs"] > 0 and report["device_median_ms"] >= report["device_min_ms"] >= 0
           and report["recording_median_us"] > 0 and report["dispatches"] == 5, done.stdout)
    text = nsk("bench", folder / "net.nsk", "--device", device, "--seconds", "0.2", env=env).stdout
    expect("a software driver is named as such", not report["software"] or "a software driver on the CPU" in text and "say nothing about GPUs" in text, text)


def on_device(device, folder):
    env = environment(device)
    first = nsk("check", folder / "memory.nsk", "--device", device, env=env)
    if first.returncode == USAGE:
        print(f"{SAID_SKIPPED} {first.stderr.strip()}")
        return
    compare_runs(device, folder, env)
    check_device(device, folder, env)
    halves_on_device(device, folder, env)
    bench_device(device, folder, env)
    done = nsk("check", folder / "cpu.nsk", "--device", device, env=env)
    expect("Winograd on the device", done.returncode == 0 and "no shader" not in done.stdout, done.stdout + done.stderr)
    done = nsk("check", folder / "large.nsk", "--device", device, env=env)
    expect("a step without a shader", done.returncode == 0 and "1 of 6 steps have no shader and run on the CPU" in done.stdout, done.stdout + done.stderr)
    done = nsk("bench", folder / "large.nsk", "--device", device, "--seconds", "0.1", "--json", env=env)
    expect("and in bench", done.returncode == 0 and json.loads(done.stdout)["steps_on_cpu"] == 1, done.stdout + done.stderr)
    done = nsk("run", folder / "net.nsk", "--device", device, "--batch", "5", "--input", f"image={folder / 'image.npy'}", "--output-dir", folder / "no", env=env)
    expect("too many rows", done.returncode == REFUSED and "at most 4 rows" in done.stderr, done.stderr)


def without_driver(folder):
    """No driver of Vulkan, none of EGL, no compiler of HLSL: a sentence each, and nothing is written."""
    nowhere = dict(os.environ, VK_ICD_FILENAMES="/nonexistent", VK_DRIVER_FILES="/nonexistent", __EGL_VENDOR_LIBRARY_DIRS="/nonexistent")
    nowhere.pop("NSK_FXC", None)
    for device, cure in (("vulkan", "vulkan"), ("gl", "gl"), ("gles", "gl"), ("d3d12", "")):
        for command in ("run", "check", "bench"):
            extra = ["--input", f"image={folder / 'image.npy'}", "--output-dir", folder / "out"] if command == "run" else []
            done = nsk(command, folder / "net.nsk", "--device", device, *extra, env=nowhere)
            good = done.returncode == USAGE and done.stderr.startswith(f"nsk: --device {device}: ") and done.stderr.count("\n") == 1 and not done.stdout
            expect(f"{command} without {device}", good and (not cure or f"{cure}" in done.stderr), done.stdout + done.stderr)
    expect("nothing is written", not (folder / "out").exists() or not list((folder / "out").iterdir()))
    done = nsk("bench", folder / "net.nsk", "--device", "null", "--seconds", "0.05", "--json")
    report = json.loads(done.stdout)
    expect("null", report["device"] == "null" and report["dispatches"] == 5 and report["recording_median_us"] < 20, done.stdout)


def main():
    device = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="nsk_device_") as folder:
        folder = pathlib.Path(folder)
        make_models(folder)
        if device == "none":
            without_driver(folder)
            bytes_of_halves(folder)
        else:
            on_device(device, folder)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
