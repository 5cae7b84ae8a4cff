#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of the shared folder on Vulkan, converted without Winograd.

  models.py PROGRAM permutations|networks|lengths|halves|barriers|order|validation|mesh
PROGRAM is built from tests/gpu/models; its test case of that name runs on the folder that this script fills. Models of the folder public, as
people ship them, are named and left out where the converter refuses them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "models" / part) for part in ("support", "onnx")]
import lengths  # noqa: E402
from models import MODELS, REPOSITORY, SHAPES, SHARED, nsk  # noqa: E402

TFLITE = {"face_landmark": "face/face_landmark.tflite", "selfie_segmentation": "face/selfie_segmentation.tflite",
          "attention_mesh": "face/face_landmark_with_attention.tflite"}
AGENT = {"grid_agent": "agents/GridFoodCollector.onnx"}
REFUSED = 2  # nsk's exit code for a model that it cannot convert
UPSCALER = REPOSITORY / "examples/models/upscaler_x2.onnx"
# Models, and what the program needs of each.
FOLDERS = {
    "networks": ["face_front", "face_back", "face_landmark", "selfie_segmentation", "mobilenet_v3_small", "shufflenet_v2", "text_classifier",
                 "transformer_enc", "upscaler", "grid_agent"],
    "halves": ["face_front", "face_back", "face_landmark", "selfie_segmentation", "mobilenet_v3_small", "shufflenet_v2", "text_classifier",
               "transformer_enc", "upscaler", "grid_agent", "policy_mlp", "squeezenet1_1"],
    "barriers": ["face_front", "mobilenet_v3_small", "shufflenet_v2"],
    "order": ["face_front", "face_landmark", "selfie_segmentation", "transformer_enc"],
    "validation": ["face_front"],
    "mesh": ["attention_mesh"],
}
# Fixed shapes for open inputs: one image, one piece of sound.
SOUND = ["--input", "input=1x576", "--input", "state=2x1x128", "--set", "sr=16000"]
OPEN = {"upscaler": ["--input", "frame=1x3x16x24"],
        "silero_vad_16k_op15.onnx": SOUND, "silero_vad_v5.onnx": SOUND, "silero_vad_op18_ifless.onnx": SOUND,
        "silero_vad_legacy.onnx": ["--input", "input=1x512", "--input", "h=2x1x64", "--input", "c=2x1x64", "--set", "sr=16000"]}


def options_of(name):
    shapes = [option for i, shape in SHAPES.get(name, {}).items() for option in ("--input", f"{i}={'x'.join(map(str, shape))}")]
    return [*OPEN.get(name, []), *shapes]


def convert(path, target, options):
    """Converts without Winograd; a quantised model becomes a float one. Returns the exit code and what was wrong."""
    real = ["--dequantize"] if path.parent.name == "quantized" or (path.parent.name == "public" and path.suffix == ".tflite") else []
    done = nsk("convert", path, "-o", target, "--no-winograd", "--no-check", "--quiet", *options, *real)
    return done.returncode, done.stderr.strip()


def sources(mode):
    """(name, path, options) of the models of a mode that are on this machine."""
    named = {**{n: SHARED / p for n, p in {**MODELS, **TFLITE, **AGENT}.items()}, "upscaler": UPSCALER}
    if mode != "permutations":
        return [(n, named[n], options_of(n)) for n in FOLDERS[mode] if named[n].exists()]
    names = {p: n for n, p in named.items()}
    paths = sorted([*SHARED.glob("*/*.onnx"), *SHARED.glob("*/*.tflite"), *(REPOSITORY / "examples/models").glob("*.onnx")])
    return [(p.name, p, options_of(names.get(p, p.name))) for p in paths]


def with_lengths(folder):
    """(name, path, options) of networks with lengths, which are written here."""
    for network in (lengths.encoder, lengths.cached, lengths.crossed, lengths.sound, lengths.strided, lengths.recurrent, lengths.image, lengths.points):
        path = pathlib.Path(folder) / f"{network.__name__}.onnx"
        yield network.__name__, path, [o for name, text in network(path)[0].items() for o in ("--bound", f"{name}={text}")]


def main(program, mode):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as written:
        found = list(with_lengths(written)) if mode == "lengths" else sources(mode)
        if not found:
            print(f"SKIPPED: no models in {SHARED} (NSK_MODELS)")
            return 0
        for name, path, options in found:
            code, wrong = convert(path, pathlib.Path(folder) / f"{name}.nsk", options)
            if code == REFUSED and path.parent.name == "public":
                print(f"refused: {path.name}: {wrong}")
            elif code != 0:
                print(f"nsk convert {path}: exit code {code}: {wrong}")
                return 1
        return subprocess.run([program, f"--test-case={mode}:*"], env={**os.environ, "NSK_TEST_GPU_MODELS": folder}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
