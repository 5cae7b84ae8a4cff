#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One TensorFlow Lite model through the command line, as a user would: convert --check, run, compare with LiteRT.

  against_litert.py NAME      (names: TFLITE below)
Float models pass when every output is within 1e-4 of its largest magnitude and no transpose is left. Quantised models are
converted with --dequantize: 99 % of the outputs of all runs must lie within two quantisation steps, and the largest one at the same place.
A model whose weights alone are quantised is compared with itself after its weights were widened: LiteRT quantises the activations
of the original while it runs.
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
WEIGHTS_ONLY = {"tflite_keywords"}
TOLERANCE = 1e-4
RUNS, RUNS_OF_QUANTISED = 2, 8
STEPS = 2            # quantisation steps that a dequantised output may differ by
SHARE = 0.99         # of the outputs


def widened(content):
    """The model with float32 in the place of constant 8-bit integers."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    for t in model.subgraphs[0].tensors:
        data, q = model.buffers[t.buffer].data, t.quantization
        if t.type != schema.TensorType.INT8 or data is None or q is None or q.scale is None:
            continue
        along = [-1 if axis == q.quantizedDimension else 1 for axis in range(len(t.shape))] if len(q.scale) > 1 else [1] * len(t.shape)
        stored = np.asarray(data, np.uint8).view(np.int8).reshape(t.shape).astype(np.float64)
        values = (stored - np.reshape(q.zeroPoint, along)) * np.reshape(q.scale, along).astype(np.float64)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(values.astype(np.float32).tobytes(), np.uint8)
        model.buffers.append(buffer)
        t.type, t.buffer, t.quantization = schema.TensorType.FLOAT32, len(model.buffers) - 1, None
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def interpreter_of(content):
    """LiteRT without delegates, so that its own kernels compute; None where it is not installed."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        return None
    interpreter = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    return interpreter


def run_nsk(model, folder, inputs):
    arguments = []
    for index, (key, value) in enumerate(inputs.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments += ["--input", f"{key}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out")


def random_input(detail, generator):
    """Numbers as models expect them: pictures vary slowly from pixel to pixel, in [0, 1] or over the stored integers."""
    shape = detail["shape"]
    values = generator.uniform(0, 1, shape)
    if len(shape) == 4:
        coarse = generator.uniform(0, 1, [shape[0], 6, 6, shape[3]])
        for axis in (1, 2):
            at = np.linspace(0, 5, shape[axis])
            low = np.minimum(at.astype(int), 4)
            share = np.reshape(at - low, [-1 if a == axis else 1 for a in range(4)])
            coarse = np.take(coarse, low, axis) * (1 - share) + np.take(coarse, low + 1, axis) * share
        values = 0.9 * coarse + 0.1 * values
    if detail["dtype"] == np.float32:
        return values.astype(np.float32)
    info = np.iinfo(detail["dtype"])
    return np.rint(info.min + values * (int(info.max) - info.min)).astype(detail["dtype"])


def real(detail, stored):
    scale, zero = detail["quantization"]
    return stored if detail["dtype"] == np.float32 else (scale * (stored.astype(np.float64) - zero)).astype(np.float32)


def compare(interpreter, model, folder, seed):
    """Largest error of a float model as a share of the largest magnitude, and how many steps every quantised output is off."""
    generator = np.random.default_rng(seed)
    inputs = {}
    for detail in interpreter.get_input_details():
        stored = random_input(detail, generator)
        interpreter.set_tensor(detail["index"], stored)
        inputs[detail["name"]] = real(detail, stored)
    interpreter.invoke()
    run_nsk(model, folder, inputs)
    worst, steps = 0.0, []
    for detail in interpreter.get_output_details():
        stored = interpreter.get_tensor(detail["index"])
        got, wanted = np.load(folder / "out" / file_name(detail["name"])), real(detail, stored)
        if detail["dtype"] == np.float32:
            worst = max(worst, error_of(got, wanted))
            continue
        step = detail["quantization"][0]
        steps.append(np.abs(got - wanted).reshape(-1) / step)
        if got.max() - got.reshape(-1)[wanted.argmax()] > step:
            raise SystemExit(f"{detail['name']}: the largest output is {got.argmax()}, not {wanted.argmax()}")
    return worst, steps


def main(name):
    source = SHARED / TFLITE[name]
    if not source.exists():
        print(f"{SAID_SKIPPED} {source} does not exist; set NSK_MODELS to a folder with {TFLITE[name]}")
        return 0
    content = source.read_bytes()
    interpreter = interpreter_of(widened(content) if name in WEIGHTS_ONLY else content)
    if interpreter is None:
        print(f"{SAID_SKIPPED} the Python package ai-edge-litert is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_tflite_") as folder:
        folder = pathlib.Path(folder)
        model, report = folder / "model.nsk", folder / "report.json"
        options = ["--dequantize"] if name in QUANTISED | WEIGHTS_ONLY else []
        print(must("convert", source, "-o", model, *options, "--check", "--json", report).strip())
        left = json.loads(report.read_text())["variants"][0]["transposes_left"]
        worst, steps = 0.0, []
        for seed in range(RUNS_OF_QUANTISED if name in QUANTISED else RUNS):
            error, more = compare(interpreter, model, folder, seed)
            worst = max(worst, error)
            steps += more
        must("check", source, model, "--quiet")
    if steps:
        steps = np.concatenate(steps)
        near = np.mean(steps <= STEPS)
        print(f"{name}: {near:.2%} of the outputs within {STEPS} steps of LiteRT's, the farthest {steps.max():.1f}; transposes left: {len(left)}")
        return 1 if near < SHARE or left else 0
    print(f"{name}: within {worst:.1e} of the largest magnitude of LiteRT's outputs; transposes left: {len(left)}")
    return 1 if worst > TOLERANCE or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
