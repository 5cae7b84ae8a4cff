#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a TensorFlow Lite model says of itself: texts, labels and normalisation reach the .nsk file; what is damaged is left out with a
warning, and never stops a conversion.
"""
import io
import json
import pathlib
import random
import sys
import tempfile
import zipfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import have_litert  # noqa: E402
from models import SHARED, must, nsk  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
AXIS_LABELS, VALUE_LABELS = 2, 3
LABELS = ["cat", "dog", "Schiffchen-Käfer", "a thing, and another"]


def encode(b, node):
    """Writes a table: slot -> text, bytes (one number), list of floats, list of tables, or a table."""
    import flatbuffers  # noqa: F401
    offsets = {}
    for slot, value in node.items():
        if isinstance(value, str):
            offsets[slot] = b.CreateString(value)
        elif isinstance(value, dict):
            offsets[slot] = encode(b, value)
        elif isinstance(value, list) and value and isinstance(value[0], float):
            b.StartVector(4, len(value), 4)
            for x in reversed(value):
                b.PrependFloat32(x)
            offsets[slot] = b.EndVector()
        elif isinstance(value, list):
            tables = [encode(b, v) for v in value]
            b.StartVector(4, len(tables), 4)
            for t in reversed(tables):
                b.PrependUOffsetTRelative(t)
            offsets[slot] = b.EndVector()
    b.StartObject(max(node, default=0) + 1)
    for slot, value in node.items():
        if slot in offsets:
            b.PrependUOffsetTRelativeSlot(slot, offsets[slot], 0)
        else:
            b.PrependInt8Slot(slot, value[0], 0)
    return b.EndObject()


def described(**changed):
    """The metadata of a classifier of images."""
    parts = {"mean": [127.5], "std": [64.0], "labels": "labels.txt", "kind": AXIS_LABELS, "author": "somebody", "name": "Classifier", "color": 1, "inputs": 1,
             "locales": [("labels_fr.txt", "fr")], **changed}
    image = {3: {0: bytes([2]), 1: {0: bytes([parts["color"]])}}}
    units = {4: [{0: bytes([1]), 1: {0: parts["mean"], 1: parts["std"]}}]}
    files = [{0: name, 2: bytes([parts["kind"]]), 3: locale} for name, locale in parts["locales"]] + [{0: parts["labels"], 2: bytes([parts["kind"]])}]
    x = {0: "image", 1: "what the camera\nsees", **image, **units}
    return {0: parts["name"], 1: "tells what is seen", 2: "2", 3: [{2: [x] * parts["inputs"], 3: [{0: "scores", 6: files}]}], 4: parts["author"], 5: "MIT"}


def table_of(node):
    import flatbuffers
    b = flatbuffers.Builder(1024)
    b.Finish(encode(b, node), b"M001")
    return bytes(b.Output())


def archive(files, method=zipfile.ZIP_STORED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as z:
        for name, content in files.items():
            z.writestr(name, content)
    return packed.getvalue()


def model(table, behind=b""):
    """An image of 4 x 4, its means as scores; with this metadata table, and bytes behind the model."""
    w = Writer()
    x, y = w.tensor("x", [1, 4, 4, 4], F), w.tensor("y", [1, 4], F)
    axes = w.tensor("axes", [2], np.int32, np.int32([1, 2]))
    w.operator("MEAN", [x, axes], [y], ("ReducerOptions", {}))
    entry, buffer = w.schema.MetadataT(), w.schema.BufferT()
    entry.name, entry.buffer = "TFLITE_METADATA", len(w.model.buffers)
    buffer.data = np.frombuffer(table, np.uint8)
    w.model.buffers.append(buffer)
    w.model.metadata = [entry]
    return w.finish([x], [y]) + behind


def converted(folder, content):
    """(report of the conversion, what inspect prints)."""
    (folder / "m.tflite").write_bytes(content)
    done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--json", folder / "r.json", "--check")
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "r.json").read_text())
    assert all(f"nsk: warning: {warning}" in done.stderr for warning in report["warnings"])
    return report, must("inspect", folder / "m.nsk")


PACKED = {"labels.txt": "\ufeff" + "\r\n".join(LABELS) + "\n", "labels_fr.txt": "chat\nchien\nx\ny\n"}


def everything_arrives(folder):
    report, text = converted(folder, model(table_of(described()), archive(PACKED)))
    assert not report["warnings"], report["warnings"]
    variant, about = report["variants"][0], report["metadata"]
    assert variant["outputs"][0]["labels"] == LABELS, variant["outputs"][0]
    assert variant["inputs"][0]["mean"] == [127.5] and variant["inputs"][0]["deviation"] == [64.0] and variant["inputs"][0]["color"] == "rgb"
    assert about["about.name"] == "Classifier" and about["about.license"] == "MIT" and about["about.port.x"] == "image: what the camera sees"
    for part in ("rgb, x = (level - 127.5) / 64", "4 labels from 'cat'", "about     author: somebody"):
        assert part in text, (part, text)
    must("json", folder / "m.nsk", "-o", folder / "m.json")
    must("from-json", folder / "m.json", "-o", folder / "again.nsk")
    assert (folder / "m.nsk").read_bytes() == (folder / "again.nsk").read_bytes()
    per_channel = converted(folder, model(table_of(described(mean=[1.0, 2.0, 3.0, 4.0], std=[2.0]))))[0]["variants"][0]["inputs"][0]
    assert per_channel["mean"] == [1, 2, 3, 4] and per_channel["deviation"] == [2] * 4
    values = converted(folder, model(table_of(described(kind=VALUE_LABELS)), archive({"labels.txt": "a\nb\n"})))[0]
    assert values["variants"][0]["outputs"][0]["labels"] == ["a", "b"]
    assert not converted(folder, model(b""))[0]["warnings"]


def left_out():
    """What is wrong -> (file, words of the warning)."""
    good, packed = table_of(described()), archive(PACKED)
    yield "no archive", model(good), ["labels.txt", "not packed"]
    yield "half of an archive", model(good, packed[: len(packed) // 2]), ["labels.txt", "not packed"]
    yield "a compressed archive", model(good, archive(PACKED, zipfile.ZIP_DEFLATED)), ["compressed"]
    yield "another checksum", model(good, packed.replace(b"cat", b"rat")), ["checksum"]
    at = packed.index(b"PK\1\2")
    invalid_case = bytearray(packed)
    invalid_case[at + 42 : at + 46] = b"\xff\xff\xff\x7f"
    yield "a file beyond the end", model(good, bytes(invalid_case)), ["damaged"]
    invalid_case = bytearray(packed)
    invalid_case[at + 20 : at + 28] = b"\xff\xff\xff\x7f" * 2
    yield "a file of 2 GB", model(good, bytes(invalid_case)), ["beyond the archive"]
    yield "more labels than scores", model(good, archive({"labels.txt": "a\n" * 9})), ["9 labels for 4"]
    yield "labels that are no text", model(good, archive({"labels.txt": b"\xff\n\xfe\na\nb"})), ["UTF-8"]
    yield "labels that a terminal executes", model(good, archive({"labels.txt": "\x1b[2J\nb\nc\nd"})), ["control characters"]
    yield "17 MB of labels", model(table_of(described(kind=VALUE_LABELS)), archive({"labels.txt": "x" * (17 << 20)})), ["16 MiB"]
    yield "two deviations for four channels", model(table_of(described(std=[1.0, 2.0])), packed), ["2 deviations"]
    yield "a deviation of zero", model(table_of(described(std=[0.0])), packed), ["divides by zero"]
    yield "a mean that is no number", model(table_of(described(mean=[float("nan")])), packed), ["not finite"]
    yield "a long name", model(table_of(described(name="n" * 5000)), packed), ["4096"]
    yield "a name that a terminal executes", model(table_of(described(author="\x1b[2J")), packed), ["author", "control characters"]
    yield "more inputs than there are", model(table_of(described(inputs=3)), packed), ["3 inputs"]
    yield "half of a table", model(good[: len(good) // 2], packed), ["damaged"]
    yield "a table of another kind", model(good[:4] + b"XXXX" + good[8:], packed), ["damaged"]
    yield "an offset to anywhere", model(b"\xff\xff\xff\x7f" + good[4:], packed), ["damaged"]


def random_damage(folder, count):
    """No byte of table or archive stops a conversion or brings it down."""
    choose = random.Random(1)
    for _ in range(count):
        table, packed = bytearray(table_of(described())), bytearray(archive(PACKED))
        for part in (table, packed):
            for _ in range(choose.randint(0, 3)):
                part[choose.randrange(len(part))] = choose.choice([0, 1, 127, 128, 255, choose.randrange(256)])
        cut = choose.randrange(len(packed)) if choose.random() < 0.3 else len(packed)
        (folder / "m.tflite").write_bytes(model(bytes(table), bytes(packed[:cut])))
        done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--quiet")
        assert done.returncode == 0, (done.returncode, done.stderr, bytes(table).hex(), bytes(packed[:cut]).hex())


def real_model(folder):
    path = SHARED / "quantized" / "mobilenet_v1_0.25_128_quant.tflite"
    if not path.exists():
        return "no published model here"
    must("convert", path, "-o", folder / "m.nsk", "--dequantize", "--json", folder / "r.json", "--quiet")
    variant = json.loads((folder / "r.json").read_text())["variants"][0]
    assert len(variant["outputs"][0]["labels"]) == 1001 and variant["outputs"][0]["labels"][1] == "tench, Tinca tinca"
    assert variant["inputs"][0]["mean"] == [127.5] and variant["inputs"][0]["deviation"] == [127.5]
    return "a published model's 1001 labels"


def main():
    if not have_litert():
        return 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_metadata_") as name:
        folder = pathlib.Path(name)
        everything_arrives(folder)
        cases = list(left_out())
        for what, content, words in cases:
            warnings = " ".join(converted(folder, content)[0]["warnings"])
            if any(word not in warnings for word in words):
                wrong.append(f"{what}: {warnings!r} lacks {words}")
        random_damage(folder, 150)
        real = real_model(folder)
    print("\n".join(wrong + [f"{len(cases)} damaged descriptions, {len(wrong)} wrong; {real}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
