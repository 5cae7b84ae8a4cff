#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One TensorFlow Lite model through the command line, as a user would: convert --check, run, compare with LiteRT.

  against_litert.py NAME      (names: TFLITE below)
Float models pass when every output is within 1e-4 of its largest magnitude and no transpose is left. Where a model amplifies rounding,
LiteRT's own kernels (reference, optimised, XNNPACK) differ among themselves: an output may then be off by twice as much as they are.
Quantised models are converted with --dequantize and compared, in the same way, with a float32 version that this script writes: constants
widened, results clamped to what the quantised ones can hold. They must also stay near the quantised model itself: 99 % of the outputs of
all runs within two quantisation steps, or as many as of LiteRT's float32 version; the largest one at the same place, unless it leads by less
than two such errors.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import interpreter_of  # noqa: E402
from models import SAID_SKIPPED, SHARED, error_of, file_name, must  # noqa: E402

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
    "tflite_movenet_int8": "quantized/movenet_single_pose_lightning_ptq.tflite",  # of github.com/google-coral/test_data
}
QUANTISED = {name for name in TFLITE if name.endswith("int8")} | {"tflite_keywords"}  # of the last one, the weights alone
TOLERANCE = 1e-4
RUNS, RUNS_OF_QUANTISED = 2, 8
STEPS = 2            # quantisation steps that a dequantised output may differ by
SHARE = 0.99         # of the outputs


def dequantised(content):
    """The model in float32: constants widened, and behind every quantised result a clamp to what it can hold."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    kinds = {schema.TensorType.INT8: np.int8, schema.TensorType.UINT8: np.uint8, schema.TensorType.INT32: np.int32}
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    graph, ranges = model.subgraphs[0], {}

    def constant(values):
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.asarray(values, np.float32).tobytes(), np.uint8)
        model.buffers.append(buffer)
        return len(model.buffers) - 1

    for index, t in enumerate(graph.tensors):
        q, data = t.quantization, model.buffers[t.buffer].data
        if t.type not in kinds or q is None or q.scale is None or len(q.scale) == 0:
            continue
        if data is not None:
            along = [-1 if axis == q.quantizedDimension else 1 for axis in range(len(t.shape))] if len(q.scale) > 1 else [1] * len(t.shape)
            stored = np.frombuffer(np.asarray(data, np.uint8).tobytes(), kinds[t.type]).reshape(t.shape).astype(np.float64)
            t.buffer = constant((stored - np.reshape(q.zeroPoint, along)) * np.reshape(q.scale, along).astype(np.float64))
        else:
            limits = np.iinfo(kinds[t.type])
            ranges[index] = [float(q.scale[0]) * (limit - int(q.zeroPoint[0])) for limit in (limits.min, limits.max)]
        t.type, t.quantization = schema.TensorType.FLOAT32, None

    def tensor(like, name, shape, buffer):
        t = schema.TensorT()
        t.name, t.shape, t.type, t.buffer = like + name, shape, schema.TensorType.FLOAT32, buffer
        graph.tensors.append(t)
        return len(graph.tensors) - 1

    codes = {}
    for name in ("MINIMUM", "MAXIMUM"):
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
        code.version = 1
        codes[name] = len(model.operatorCodes)
        model.operatorCodes.append(code)
    operators, graph.operators = graph.operators, []
    unclamped = (schema.BuiltinOperator.SOFTMAX, schema.BuiltinOperator.RESHAPE, schema.BuiltinOperator.UNPACK)
    conversions = (schema.BuiltinOperator.QUANTIZE, schema.BuiltinOperator.DEQUANTIZE)
    largest = tensor(b"largest", b"", [], constant(np.finfo(np.float32).max))
    for operator in operators:
        graph.operators.append(operator)
        if model.operatorCodes[operator.opcodeIndex].builtinCode in conversions:  # of float32, they change nothing
            operator.opcodeIndex, operator.inputs = codes["MINIMUM"], [operator.inputs[0], largest]
            operator.builtinOptions, operator.builtinOptionsType = None, schema.BuiltinOptions.NONE
        model.operatorCodes[operator.opcodeIndex].version = 1
        result = int(operator.outputs[0])
        if result not in ranges or model.operatorCodes[operator.opcodeIndex].deprecatedBuiltinCode in unclamped:
            continue
        t = graph.tensors[result]
        raw, capped = tensor(t.name, b"/raw", t.shape, 0), tensor(t.name, b"/capped", t.shape, 0)
        operator.outputs = [raw]
        for name, limit, source, target in (("MINIMUM", ranges[result][1], raw, capped), ("MAXIMUM", ranges[result][0], capped, result)):
            clamp = schema.OperatorT()
            clamp.opcodeIndex, clamp.inputs, clamp.outputs = codes[name], [source, tensor(t.name, name.encode(), [], constant(limit))], [target]
            graph.operators.append(clamp)
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def spread(content, inputs, wanted, index):
    """Largest difference of an output among LiteRT's sets of kernels, as a share of the largest magnitude."""
    results = [wanted]
    for kernels in ("BUILTIN_REF", "AUTO"):
        interpreter = interpreter_of(content, kernels)
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], inputs[detail["name"]])
        interpreter.invoke()
        results.append(interpreter.get_tensor(index))
    return max(error_of(a, b) for a in results for b in results)


def run_nsk(model, folder, inputs):
    """Outputs by the source's names."""
    arguments = []
    for index, (key, value) in enumerate(inputs.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments += ["--input", f"{key}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out")
    return Outputs(folder / "out")


class Outputs:
    """What nsk run wrote, by the source's names."""

    def __init__(self, folder):
        self.arrays = {path.name: np.load(path) for path in folder.glob("*.npy")}

    def __getitem__(self, name):
        return self.arrays[file_name(name)]


def random_input(detail, generator):
    """Numbers as models expect them: images vary slowly from pixel to pixel, in [0, 1] or over the stored integers."""
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
    return stored if detail["dtype"] == np.float32 or scale == 0 else (scale * (stored.astype(np.float64) - zero)).astype(np.float32)


def evaluate(interpreter, inputs):
    """Outputs by name; a quantised model takes real numbers too, and gives them."""
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()}


def compare(content, interpreter, outputs, inputs):
    """Largest error of a float model as a share of the largest magnitude."""
    worst = 0.0
    wanted = evaluate(interpreter, inputs)
    for detail in interpreter.get_output_details():
        name = detail["name"]
        error = error_of(outputs[name], wanted[name])
        if error > TOLERANCE:
            among = spread(content, inputs, wanted[name], detail["index"])
            print(f"{name}: off by {error:.1e}; LiteRT's kernels differ among themselves by {among:.1e}")
            error = error if error > 2 * among else 0
        worst = max(worst, error)
    return worst, wanted


def steps_between(detail, stored, outputs):
    """Distances from a quantised output in its steps, and whether the largest element is the same or not decided."""
    step, wanted, got = detail["quantization"][0], real(detail, stored), outputs[detail["name"]]
    leads = wanted.max() - wanted.reshape(-1)[got.argmax()]
    return np.abs(got - wanted).reshape(-1) / step, leads / step


def compare_quantised(source, model, folder, seeds):
    """Worst error against the float32 version; exits where the quantised model is farther than its float32 version is."""
    quantised, content = interpreter_of(source), dequantised(source)
    version = interpreter_of(content)
    worst, mine, theirs = 0.0, [], []
    for seed in seeds:
        generator = np.random.default_rng(seed)
        stored = {d["name"]: random_input(d, generator) for d in quantised.get_input_details()}
        inputs = {d["name"]: real(d, stored[d["name"]]) for d in quantised.get_input_details()}
        results = evaluate(quantised, stored)
        outputs = run_nsk(model, folder, inputs)
        error, wanted = compare(content, version, outputs, inputs)
        worst = max(worst, error)
        for detail in quantised.get_output_details():
            if detail["dtype"] == np.float32:
                continue
            steps, leads = steps_between(detail, results[detail["name"]], outputs)
            mine.append(steps)
            theirs.append(steps_between(detail, results[detail["name"]], wanted)[0])
            if leads > 2 * max(STEPS, theirs[-1].max()):
                raise SystemExit(f"{detail['name']}: another element is the largest, by {leads:.1f} steps")
    if mine:
        near, near_version = (np.mean(np.concatenate(s) <= STEPS) for s in (mine, theirs))
        print(f"{near:.2%} of the outputs within {STEPS} steps of the quantised model's, {near_version:.2%} of LiteRT's in float32")
        if near < min(SHARE, near_version - 0.01):
            raise SystemExit("farther from the quantised model than its float32 version is")
    return worst


def main(name):
    source = SHARED / TFLITE[name]
    if not source.exists():
        print(f"{SAID_SKIPPED} {source} does not exist; set NSK_MODELS to a folder with {TFLITE[name]}")
        return 0
    content = source.read_bytes()
    interpreter = interpreter_of(content)
    if interpreter is None:
        print(f"{SAID_SKIPPED} the Python package ai-edge-litert is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_tflite_") as folder:
        folder = pathlib.Path(folder)
        model, report = folder / "model.nsk", folder / "report.json"
        options = ["--dequantize"] if name in QUANTISED else []
        print(must("convert", source, "-o", model, *options, "--check", "--json", report).strip())
        left = json.loads(report.read_text())["variants"][0]["transposes_left"]
        if name in QUANTISED:
            worst = compare_quantised(content, model, folder, range(RUNS_OF_QUANTISED))
        else:
            worst = 0.0
            for seed in range(RUNS):
                generator = np.random.default_rng(seed)
                inputs = {d["name"]: random_input(d, generator) for d in interpreter.get_input_details()}
                worst = max(worst, compare(content, interpreter, run_nsk(model, folder, inputs), inputs)[0])
        must("check", source, model, "--quiet")
    print(f"{name}: within {worst:.1e} of the largest magnitude of LiteRT's outputs; transposes left: {len(left)}")
    return 1 if worst > TOLERANCE or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
