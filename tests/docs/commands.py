#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command that the documentation shows.

  commands.py [FILE.md ...]        README.md, CONTRIBUTING.md, docs/*.md and examples/README.md when none is given

Blocks of ```sh are run with `bash -e`, those of one page in order in one scratch folder, in which what pages refer to exists: the tool and
the examples on the path, model.onnx, model.nsk, quantised.onnx, model.tflite, quantised.tflite, samples/, examples/ and include/ of the checkout, build/bindings,
arrays and images (see furnish). Programs of SYNTAX_ONLY, which install packages or take minutes, are tested elsewhere; here they must exist, be
executable, and parse. Where a line must
not run at all, or only where a file is that furnish may find (models beside the checkout), write before its block, with a reason:

  <!-- commands: not run, REASON -->
  <!-- commands: run where FILE is, REASON -->
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "support"))
from models import REPOSITORY, SHARED, TOOL  # noqa: E402

SYNTAX_ONLY = {"./examples/quickstart.sh", "examples/quickstart.sh", "./tests/run.sh", "tests/run.sh", "examples/models/fetch_blazeface.sh",
               "tools/install_dependencies.sh", "./tools/install_dependencies.sh"}
BLOCK = re.compile(r"^(?P<mark><!-- commands: (?:not run|run where (?P<needs>\S+) is), (?P<reason>[^\n]+?) -->\n+)?```sh\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TIME_LIMIT = 300


def small_model(path, side=32):
    """A network with a kernel of each usual kind; runs in microseconds. Input 'image' [1,3,side,side], output 'scores' [1,10]."""
    import onnx
    from onnx import TensorProto, helper
    generator = np.random.default_rng(1)
    weights = {"w1": (16, 3, 3, 3), "w2": (16, 16, 3, 3), "w3": (16, 1, 3, 3), "w4": (128, 16, 1, 1), "w5": (128, 10)}
    initializers = [helper.make_tensor(n, TensorProto.FLOAT, s, (generator.standard_normal(s) * 0.2).astype(np.float32).ravel()) for n, s in weights.items()]
    nodes = [helper.make_node("Conv", ["image", "w1"], ["a"], name="first", pads=[1] * 4, strides=[2, 2]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "w2"], ["c"], name="second", pads=[1] * 4), helper.make_node("Relu", ["c"], ["d"]),
             helper.make_node("Conv", ["d", "w3"], ["e"], name="third", pads=[1] * 4, group=16), helper.make_node("Add", ["e", "b"], ["f"]),
             helper.make_node("Conv", ["f", "w4"], ["g"], name="fourth"), helper.make_node("GlobalAveragePool", ["g"], ["h"]),
             helper.make_node("Flatten", ["h"], ["i"]), helper.make_node("MatMul", ["i", "w5"], ["j"], name="last"),
             helper.make_node("Softmax", ["j"], ["scores"], axis=-1)]
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, side, side])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def small_quantised(path):
    """A convolution between DequantizeLinear and QuantizeLinear."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    constants = {"s": np.float32(0.02), "z": np.uint8(128), "w": np.random.default_rng(4).integers(-99, 99, (4, 3, 3, 3)).astype(np.int8),
                 "sw": np.full(4, 0.01, np.float32), "zw": np.zeros(4, np.int8)}
    nodes = [helper.make_node("QuantizeLinear", ["image", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["x"]),
             helper.make_node("DequantizeLinear", ["w", "sw", "zw"], ["k"], axis=0), helper.make_node("Conv", ["x", "k"], ["c"]),
             helper.make_node("QuantizeLinear", ["c", "s", "z"], ["r"]), helper.make_node("DequantizeLinear", ["r", "s", "z"], ["y"])]
    graph = helper.make_graph(nodes, "quantised", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 30, 30])], [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def small_tflite(path, quantised):
    """One convolution; flatc turns its description into a TensorFlow Lite model."""
    shapes = {"image": [1, 8, 8, 3], "kernel": [4, 3, 3, 3], "y": [1, 8, 8, 4]}
    kernel = np.random.default_rng(3).integers(-9, 9, shapes["kernel"])
    data = kernel.astype(np.int8) if quantised else kernel.astype(np.float32)
    tensors = [{"name": name, "shape": shape, "type": "INT8" if quantised else "FLOAT32", "buffer": 1 if name == "kernel" else 0} for name, shape in shapes.items()]
    if quantised:
        for tensor, scale in zip(tensors, (0.1, 0.01, 0.2)):
            tensor["quantization"] = {"scale": [scale], "zero_point": [0]}
    options = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "fused_activation_function": "RELU"}
    operator = {"inputs": [0, 1], "outputs": [2], "builtin_options_type": "Conv2DOptions", "builtin_options": options}
    model = {"version": 3, "operator_codes": [{"builtin_code": "CONV_2D", "deprecated_builtin_code": 3}],
             "subgraphs": [{"tensors": tensors, "inputs": [0], "outputs": [2], "operators": [operator]}],
             "buffers": [{}, {"data": list(data.tobytes())}]}
    text = path.with_suffix(".json")
    text.write_text(json.dumps(model))
    subprocess.run(["flatc", "-b", "-o", path.parent, REPOSITORY / "schema/tflite.fbs", text], check=True)
    path.with_suffix(".bin").rename(path)
    text.unlink()


def furnish(folder):
    """Everything that pages take for granted."""
    programs = folder / ".path"
    programs.mkdir()
    (programs / "nsk").symlink_to(pathlib.Path(TOOL).resolve())
    for example in (pathlib.Path(TOOL).resolve().parent / "examples").glob("*"):
        if example.is_file() and os.access(example, os.X_OK):
            (programs / example.name).symlink_to(example)
    small_model(folder / "model.onnx")
    subprocess.run([TOOL, "convert", folder / "model.onnx", "-o", folder / "model.nsk", "--quiet"], check=True)
    small_quantised(folder / "quantised.onnx")
    small_tflite(folder / "model.tflite", False)
    small_tflite(folder / "quantised.tflite", True)
    (folder / "samples").mkdir()
    for i in range(4):
        np.save(folder / "samples" / f"{i}.npy", np.random.default_rng(i).uniform(-1, 1, [1, 3, 32, 32]).astype(np.float32))
    (folder / "photos").mkdir()
    for name in ("face_mesh", "hands", "body", "selfie"):
        shutil.copy(REPOSITORY / "docs" / "images" / f"{name}.jpg", folder / "photos")
    shutil.copy(folder / "photos" / "selfie.jpg", folder / "photo.jpg")
    for name in ("image", "in"):
        np.save(folder / f"{name}.npy", np.random.default_rng(2).uniform(-1, 1, [1, 3, 32, 32]).astype(np.float32))
    for name in ("examples", "include", "tests", "tools"):
        (folder / name).symlink_to(REPOSITORY / name)
    (folder / "netsuke").symlink_to(REPOSITORY)
    (folder / "out" / "models").mkdir(parents=True)
    for detector in (SHARED / "face").glob("*_barracuda.onnx"):
        (folder / "out" / "models" / detector.name).symlink_to(detector)
    (folder / "build").mkdir()
    (folder / "build" / "bindings").symlink_to(pathlib.Path(TOOL).resolve().parent / "bindings")
    (folder / "my_network.cpp").write_text("#include <netsuke/netsuke.hpp>\n")


def check_script(word):
    path = REPOSITORY / word
    if not (path.exists() and os.access(path, os.X_OK)):
        return f"{word} does not exist or is not executable"
    done = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def run_block(body, folder):
    """'' or what went wrong."""
    lines, problems = [], []
    for line in body.splitlines():
        first = line.split()[0] if line.split() else ""
        if first in SYNTAX_ONLY:
            problems.append(check_script(first))
        else:
            lines.append(line)
    environment = dict(os.environ, PATH=f"{folder / '.path'}{os.pathsep}{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    try:
        done = subprocess.run(["bash", "-e", "-o", "pipefail"], input="\n".join(lines), cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=TIME_LIMIT)
        if done.returncode:
            problems.append(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
    except subprocess.TimeoutExpired:
        problems.append(f"took more than {TIME_LIMIT} s")
    return "; ".join(p for p in problems if p)


def run_page(page):
    """Failures of one page, and how many blocks it has."""
    failures, count = [], 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nsk_docs_"))
    try:
        furnish(folder)
        text = page.read_text()
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("body"))
            if block.group("reason") and not (block.group("needs") and (folder / block.group("needs")).exists()):
                print(f"{page.name}:{line}: not run, {block.group('reason')}")
                continue
            if "build/bindings" in block.group("body") and not list((folder / "build" / "bindings").glob("*netsuke_c.*")):
                print(f"{page.name}:{line}: not run, the library netsuke_c was not built (NSK_BUILD_C)")
                continue
            count += 1
            problem = run_block(block.group("body"), folder)
            if problem:
                failures.append(f"{page.name}:{line}: {problem}\n    " + block.group("body").strip().replace("\n", "\n    "))
    finally:
        shutil.rmtree(folder)
    return failures, count


def main(arguments):
    pages = [pathlib.Path(a) for a in arguments] or [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md")), REPOSITORY / "examples" / "README.md"]
    failures, total = [], 0
    for page in pages:
        bad, count = run_page(page) if BLOCK.search(page.read_text()) else ([], 0)
        failures, total = failures + bad, total + count
    print("\n".join(failures + [f"{total} blocks of commands on {len(pages)} pages, {len(failures)} failed"]))
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
