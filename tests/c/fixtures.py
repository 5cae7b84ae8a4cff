# SPDX-License-Identifier: MIT
"""What tests of the interfaces to other languages share: models, the inputs that every program makes, and the hashes of what the C++ engine
computes of them."""
import json
import pathlib
import re
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("docs", "models/support", "guards")]
from commands import small_model  # noqa: E402
from models import REPOSITORY, file_name, must  # noqa: E402

TIME_STEPS = 3


def c_header():
    """The text of the C interface without comments, all of its headers."""
    headers = sorted((REPOSITORY / "include/netsuke/c").glob("*.h"))
    return re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in headers), flags=re.DOTALL)


def status_codes():
    """The names of the engine's codes: the place in this list is the number."""
    text = (REPOSITORY / "include/netsuke/core/status_list.h").read_text()
    return re.findall(r"^  X\((\w+), \w+,", text[text.index("#define NSK_STATUS_LIST(X)"):text.index("#define NSK_C_STATUS_LIST(X)")], re.MULTILINE)


def memory_model(path, state="h"):
    """A layer with memory: x [1,1,4] and the state h give y [1,1,8] and the next h."""
    import onnx
    from onnx import TensorProto, helper
    generator = np.random.default_rng(5)
    weights = [onnx.numpy_helper.from_array(generator.normal(0, 0.5, shape).astype(np.float32), name) for name, shape in (("w", [1, 24, 4]), ("r", [1, 24, 8]))]
    node = helper.make_node("GRU", ["x", "w", "r", "", "", state], ["y", f"{state}_next"], hidden_size=8)
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in row]
             for row in ([("x", [1, 1, 4]), (state, [1, 1, 8])], [("y", [1, 1, 1, 8]), (f"{state}_next", [1, 1, 8])])]
    onnx.save(helper.make_model(helper.make_graph([node], "memory", *ports, weights), opset_imports=[helper.make_opsetid("", 14)], ir_version=8), str(path))


def make_models(folder):
    """conv.nsk (whose steps have several tiles, so that jobs share them), memory.nsk (with a state) and agents.nsk (with a batch of up to 8) in the
    folder; the first two with check vectors, the second a small file."""
    small_model(folder / "conv.onnx", 64)
    memory_model(folder / "memory.onnx")
    must("convert", folder / "conv.onnx", "-o", folder / "conv.nsk", "--max-tile-us", 1, "--embed-check", "--quiet")
    must("convert", folder / "memory.onnx", "-o", folder / "memory.nsk", "--state", "h=h_next", "--embed-check", "--small", "--quiet")
    must("convert", REPOSITORY / "examples/models/yard_agent.onnx", "-o", folder / "agents.nsk", "--batch-max", "8", "--quiet")
    return [folder / f"{name}.nsk" for name in ("conv", "memory", "agents")]


def image_model(folder):
    """image.nsk: takes a frame of 24 x 16 pixels and gives one of twice the size."""
    must("convert", REPOSITORY / "examples/models/upscaler_x2.onnx", "-o", folder / "image.nsk", "--input", "frame=1x3x16x24", "--quiet")
    return folder / "image.nsk"


def recurrent_model(folder):
    """recurrent.nsk, with a batch of up to 8: h_next = x + h, and y is twice that. A row has 4 numbers of each."""
    import onnx
    from onnx import TensorProto, helper
    nodes = [helper.make_node("Add", ["x", "h"], ["h_next"]), helper.make_node("Add", ["h_next", "h_next"], ["y"])]
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 4]) for name in row] for row in (["x", "h"], ["y", "h_next"])]
    onnx.save(helper.make_model(helper.make_graph(nodes, "recurrent", *ports), opset_imports=[helper.make_opsetid("", 14)], ir_version=8),
              str(folder / "recurrent.onnx"))
    must("convert", folder / "recurrent.onnx", "-o", folder / "recurrent.nsk", "--batch-max", "8", "--no-states", "--quiet")
    return folder / "recurrent.nsk"


def input_numbers(first, count):
    """Numbers first, first + 1, ... of the inputs, in [-0.5, 0.5): exact in single precision."""
    i = np.arange(first, first + count, dtype=np.uint32)
    return ((i * np.uint32(2654435761)) >> np.uint32(16)).astype(np.float32) / np.float32(65536) - np.float32(0.5)


def fnv1a(data, hash_value=14695981039346656037):
    """FNV-1a of 64 bits."""
    for byte in data:
        hash_value = ((hash_value ^ byte) * 1099511628211) & 0xffffffffffffffff
    return hash_value


def expected_hashes(model, folder):
    """Hashes of the outputs of TIME_STEPS runs in a row, states kept, as `nsk run` computes them in the engine's own layout."""
    variant = json.loads(must("inspect", model, "--json"))["variants"][0]
    options = []
    for i, port in enumerate(variant["inputs"]):
        steps = [input_numbers(1000 * step + i, int(np.prod(port["shape"]))).reshape(port["shape"]) for step in range(TIME_STEPS)]
        path = folder / f"{model.stem}_input_{i}.npy"
        np.save(path, np.stack(steps))
        options += ["--input", f"{port['name']}={path}"]
    out = folder / f"{model.stem}_out"
    out.mkdir(exist_ok=True)
    must("run", model, *options, "--steps", TIME_STEPS, "--nhwc", "--output-dir", out, "--quiet")
    arrays = [np.load(out / file_name(port["name"])) for port in variant["outputs"]]
    hashes = []
    for step in range(TIME_STEPS):
        value = fnv1a(b"")
        for array in arrays:
            value = fnv1a(array[step].tobytes(), value)
        hashes.append(f"{value:016x}")
    return hashes
