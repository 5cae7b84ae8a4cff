#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize with images as samples: the same file as by arrays of the same numbers, in every order of colours and both layouts; the metadata of a model in
place of options; what is refused."""
import pathlib
import struct
import sys
import tempfile
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("support", "tflite")]
from litert import have_litert  # noqa: E402
from models import must, nsk, told  # noqa: E402
from tflite_metadata import described, table_of  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
HEIGHT, WIDTH = 12, 16
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def write_png(path, pixels):
    """8 bits, grey or rgb."""
    kind = 0 if pixels.ndim == 2 else 2
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, kind, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def network(path, channels, last):
    weights = np.random.default_rng(1).standard_normal((8, channels, 3, 3)).astype(F)
    shape = [1, HEIGHT, WIDTH, channels] if last else [1, channels, HEIGHT, WIDTH]
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])] if last else [helper.make_node("Identity", ["x"], ["t"])]
    nodes.append(helper.make_node("Conv", ["t", "w"], ["y"], "conv"))
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def numbers(pixels, mean, deviation, white):
    """Multiplied and added in one rounding, by factors that are float32."""
    scale = np.array([F(white) / (F(255) * F(d)) for d in deviation])
    offset = np.array([-F(m) / F(d) for m, d in zip(mean, deviation)])
    return (pixels.astype(np.float64) * scale + offset).astype(F)


def brightness(pixels):
    """Of a grey image, which is read as colours (ITU-R BT.601); products and sums round once each."""
    level, total = pixels.astype(np.float64), F(0)
    for share in (0.299, 0.587, 0.114):
        total = (level * np.float64(F(share)) + total).astype(F)
    return total


def check_equal(folder):
    random = np.random.default_rng(2)
    for channels, last, bgr, mean, deviation, white in ((3, False, False, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225], 1), (3, True, True, [127.5] * 3, [128.0] * 3, 255),
                                                        (3, False, True, [0] * 3, [1] * 3, 1), (1, True, False, [0.5], [0.25], 1)):
        name = f"{channels}{last}{bgr}{white}"
        source, images, arrays = network(folder / f"{name}.onnx", channels, last), folder / f"{name}_png", folder / f"{name}_npy"
        images.mkdir()
        arrays.mkdir()
        for i in range(4):
            pixels = random.integers(0, 256, (HEIGHT, WIDTH, 3) if channels == 3 else (HEIGHT, WIDTH)).astype(np.uint8)
            write_png(images / f"{i}.png", pixels)
            levels = brightness(pixels) if channels == 1 else pixels[..., ::-1] if bgr else pixels
            x = numbers(levels.reshape(HEIGHT, WIDTH, channels), mean, deviation, white)
            np.save(arrays / f"{i}.npy", x if last else x.transpose(2, 0, 1))
        short = [",".join(map(str, v if len(set(v)) > 1 else v[:1])) for v in (mean, deviation)]
        how = ["--mean", short[0], "--std", short[1], "--white", str(white)] + (["--color", "bgr"] if bgr else [])
        must("quantize", "--target", "size", source, "-o", folder / "images.nsk", "--calibrate", images, *how)
        must("quantize", "--target", "size", source, "-o", folder / "arrays.nsk", "--calibrate", f"x={arrays}")
        expect((folder / "images.nsk").read_bytes() == (folder / "arrays.nsk").read_bytes(), f"{name}: images and arrays give other files")
        for fit in ("crop", "letterbox"):
            write_png(folder / "wide.png", random.integers(0, 256, (20, 50, 3)).astype(np.uint8))
            must("quantize", "--target", "size", source, "-o", folder / "wide.nsk", "--calibrate", folder / "wide.png", "--fit", fit)


def check_metadata(folder):
    """A TensorFlow Lite model whose metadata has means, deviations and an order of colours: they count where the options leave them out, and the
    command says which it took."""
    if not have_litert():
        return
    images = folder / "3FalseFalse1_png"

    def lite(name, **changed):
        w = Writer()
        x, k = w.tensor("x", [1, HEIGHT, WIDTH, 3], F), w.tensor("k", [4, 3, 3, 3], F, np.random.default_rng(4).standard_normal((4, 3, 3, 3)))
        b, y = w.tensor("b", [4], F, np.zeros(4)), w.tensor("y", [1, HEIGHT, WIDTH, 4], F)
        w.operator("CONV_2D", [x, k, b], [y], ("Conv2DOptions", {"padding": 0, "strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}))
        entry, buffer = w.schema.MetadataT(), w.schema.BufferT()
        entry.name, entry.buffer = "TFLITE_METADATA", len(w.model.buffers)
        buffer.data = np.frombuffer(table_of({**described(**changed), 3: [{2: described(**changed)[3][0][2]}]}), np.uint8)
        w.model.buffers.append(buffer)
        w.model.metadata = [entry]
        (folder / name).write_bytes(w.finish([x], [y]))
        return folder / name

    def made(source, *options):
        text = must("quantize", "--target", "size", source, "-o", folder / "lite.nsk", "--calibrate", images, *options)
        return next(line for line in text.splitlines() if "images of input" in line), (folder / "lite.nsk").read_bytes()

    one, three = lite("one.tflite"), lite("three.tflite", mean=[10.0, 20.0, 30.0], std=[50.0, 60.0, 70.0])
    said, own = made(one)
    expect("'x': (x - 127.5) / 64 of levels from 0 to 255, as the model's metadata says; colours rgb, as the metadata says" in said, said)
    expect(own == made(one, "--white", "255", "--mean", "127.5", "--std", "64")[1], "the metadata's numbers are others than by options")
    said, own = made(three)
    expect("(x - (10, 20, 30)) / (50, 60, 70) of levels from 0 to 255, as the model's metadata says" in said, said)
    expect(own == made(three, "--white", "255", "--mean", "10,20,30", "--std", "50,60,70", "--color", "rgb")[1], "numbers for each colour are others than by options")
    said, other = made(three, "--color", "bgr")
    expect("as the model's metadata says; colours bgr, by --color" in said and other != own, said)
    said, other = made(three, "--mean", "0.5", "--std", "0.5")
    expect("(x - 0.5) / 0.5 of levels from 0 to 1, by --mean, --std and --white; colours rgb, as the metadata says" in said and other != own, said)
    text = must("quantize", "--target", "size", folder / "3FalseFalse1.onnx", "-o", folder / "lite.nsk", "--calibrate", images)
    expect("levels from 0 to 1, as neither --mean, --std and --white nor the model say otherwise; colours rgb" in text, text)
    text = must("quantize", "--target", "size", one, "-o", folder / "lite.nsk", "--calibrate", f"x={folder / '3TrueTrue255_npy'}")
    expect("images of input" not in text, f"arrays are images:\n{text}")


def check_refusals(folder):
    source, output = folder / "3FalseFalse1.onnx", folder / "never.nsk"
    good = folder / "3FalseFalse1_png" / "0.png"
    (folder / "text.png").write_text("no image")
    (folder / "cut.png").write_bytes(good.read_bytes()[:60])
    mixed = folder / "mixed"
    mixed.mkdir()
    (mixed / "a.png").write_bytes(good.read_bytes())
    np.save(mixed / "b.npy", np.zeros((1, 3, HEIGHT, WIDTH), F))
    dense = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])], [numpy_helper.from_array(np.eye(8, dtype=F), "w")])
    onnx.save(helper.make_model(dense, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(folder / "dense.onnx"))
    for code, text, model, arguments in ((2, "is no image that can be read", source, ["--calibrate", folder / "text.png"]),
                                         (2, "is no image that can be read", source, ["--calibrate", folder / "cut.png"]),
                                         (2, "there are .npy files and images", source, ["--calibrate", mixed]),
                                         (2, "takes no image", folder / "dense.onnx", ["--calibrate", good]),
                                         (1, "--std takes one number", source, ["--calibrate", good, "--std", "1,0,1"]),
                                         (1, "--mean takes one number", source, ["--calibrate", good, "--mean", "1,2"]),
                                         (1, "--white is a positive number", source, ["--calibrate", good, "--white", "0"]),
                                         (1, "no sample is one", source, ["--calibrate", folder / "3FalseFalse1_npy", "--mean", "0.5"]),
                                         (1, "--fit", source, ["--calibrate", good, "--fit", "tile"])):
        done = nsk("quantize", "--target", "size", model, "-o", output, *arguments)
        expect(done.returncode == code and text in done.stderr, f"{text}: exit {done.returncode}, {done.stderr.strip()}")
        expect(not output.exists(), f"{text}: a file was written")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_images_") as name:
        check_equal(pathlib.Path(name))
        check_metadata(pathlib.Path(name))
        check_refusals(pathlib.Path(name))
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
