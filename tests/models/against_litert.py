#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One TensorFlow Lite model through the command line, as a user would: convert --check, run, compare with LiteRT.

  against_litert.py NAME      (names: TFLITE below)
Float models pass when every output is within 1e-4 of its largest magnitude and no transpose is left. Quantised models are
converted with --dequantize: 99 % of the outputs must lie within two quantisation steps, and the largest one at the same place.
Operators that LiteRT does not have are checked by custom_operators.py.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

from models import SAID_SKIPPED, SHARED, error_of, file_name, must

TFLITE = {
    "tflite_face_detection": "face/face_detection_short_range.tflite",
    "tflite_face_landmark": "face/face_landmark.tflite",
    "tflite_hand_landmark": "pose/hand_landmark_lite.tflite",
    "tflite_pose_landmark": "pose/pose_landmark_lite.tflite",
    "tflite_anomaly": "quantized/ad01_fp32.tflite",
    "tflite_keywords": "quantized/kws_ref_model_float32.tflite",
    "tflite_resnet": "quantized/pretrainedResnet.tflite",
    "tflite_wake_words": "quantized/vww_96_float.tflite",
    "tflite_anomaly_int8": "quantized/ad01_int8.tflite",
    "tflite_keywords_int8": "quantized/kws_ref_model.tflite",
    "tflite_mobilenet_v1_uint8": "quantized/mobilenet_v1_0.25_128_quant.tflite",
    "tflite_mobilenet_v2_uint8": "quantized/mobilenet_v2_1.0_224_quant.tflite",
    "tflite_resnet_int8": "quantized/pretrainedResnet_quant.tflite",
    "tflite_wake_words_int8": "quantized/vww_96_int8.tflite",
}
QUANTISED = {name for name in TFLITE if name.endswith("int8")}
TOLERANCE = 1e-4
RUNS = 2
STEPS = 2            # quantisation steps that a dequantised output may differ by
SHARE = 0.99         # of the outputs


def interpreter_of(path):
    """LiteRT without delegates, so that its own kernels compute; None where it is not installed."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        return None
    interpreter = Interpreter(model_path=str(path), num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    return interpreter


def run_nsk(model, folder, inputs):
    arguments = []
    for index, (key, value) in enumerate(inputs.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments += ["--input", f"{key}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out")


def random_input(detail, generator):
    """Numbers as the model takes them: pictures in [-1, 1], or any stored integer."""
    if detail["dtype"] == np.float32:
        return generator.uniform(-1, 1, detail["shape"]).astype(np.float32)
    info = np.iinfo(detail["dtype"])
    return generator.integers(info.min, info.max, detail["shape"], endpoint=True).astype(detail["dtype"])


def real(detail, stored):
    scale, zero = detail["quantization"]
    return stored if detail["dtype"] == np.float32 else (scale * (stored.astype(np.float64) - zero)).astype(np.float32)


def compare(interpreter, model, folder, seed):
    """Largest error as a share of the largest magnitude; for quantised outputs the share of elements that are too far off."""
    generator = np.random.default_rng(seed)
    inputs = {}
    for detail in interpreter.get_input_details():
        stored = random_input(detail, generator)
        interpreter.set_tensor(detail["index"], stored)
        inputs[detail["name"]] = real(detail, stored)
    interpreter.invoke()
    run_nsk(model, folder, inputs)
    worst = 0.0
    for detail in interpreter.get_output_details():
        wanted = interpreter.get_tensor(detail["index"])
        got = np.load(folder / "out" / file_name(detail["name"]))
        if detail["dtype"] == np.float32:
            worst = max(worst, error_of(got, wanted))
            continue
        wanted = real(detail, wanted)
        steps = np.abs(got - wanted) / detail["quantization"][0]
        top = got.reshape(-1)[wanted.reshape(-1).argmax()]
        decided = got.max() - top > detail["quantization"][0]
        print(f"{detail['name']}: {np.mean(steps > STEPS):.2%} beyond {STEPS} steps, the farthest {steps.max():.1f}")
        if np.mean(steps <= STEPS) < SHARE or (decided and got.argmax() != wanted.argmax()):
            raise SystemExit(f"{detail['name']}: not what the quantised model computes")
    return worst


def main(name):
    source = SHARED / TFLITE[name]
    if not source.exists():
        print(f"{SAID_SKIPPED} {source} does not exist; set NSK_MODELS to a folder with {TFLITE[name]}")
        return 0
    interpreter = interpreter_of(source)
    if interpreter is None:
        print(f"{SAID_SKIPPED} the Python package ai-edge-litert is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_tflite_") as folder:
        folder = pathlib.Path(folder)
        model, report = folder / "model.nsk", folder / "report.json"
        options = ["--dequantize"] if name in QUANTISED else []
        print(must("convert", source, "-o", model, *options, "--check", "--json", report).strip())
        left = json.loads(report.read_text())["variants"][0]["transposes_left"]
        worst = max(compare(interpreter, model, folder, seed) for seed in range(RUNS))
        must("check", source, model, "--quiet")
    print(f"{name}: within {worst:.1e} of the largest magnitude of LiteRT's outputs; transposes left: {len(left)}")
    return 1 if worst > TOLERANCE or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
