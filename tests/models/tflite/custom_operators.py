#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TensorFlow Lite models with MediaPipe's custom operators, against LiteRT for the rest and NumPy for those.

  custom_operators.py NAME      (names: MODELS below)
LiteRT has no such operators, so the model is cut at them: each run of builtin operators becomes a model of its own. Passes when every
output is within 1e-4 of its largest magnitude and no transpose is left.
  custom_operators.py detection     TFLite_Detection_PostProcess, both kinds of suppression, against LiteRT, which has it
  custom_operators.py pooling       MaxPoolingWithArgmax2D and MaxUnpooling2D against NumPy
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from against_litert import TOLERANCE, run_nsk  # noqa: E402
from mediapipe_operators import CutModel  # noqa: E402
from models import SAID_SKIPPED, SHARED, error_of, must  # noqa: E402

MODELS = {"selfie_segmentation": "face/selfie_segmentation.tflite", "face_attention": "face/face_landmark_with_attention.tflite"}
RUNS = 2


def compare(cut, model, folder, seed):
    generator = np.random.default_rng(seed)
    values, inputs = {}, {}
    for tensor in cut.graph.inputs:
        t = cut.graph.tensors[tensor]
        values[int(tensor)] = inputs[t.name.decode()] = generator.uniform(0, 1, t.shape).astype(np.float32)
    wanted = cut.run(values)
    outputs = run_nsk(model, folder, inputs)
    worst = 0.0
    for tensor, reference in zip(cut.graph.outputs, wanted):
        name = cut.graph.tensors[tensor].name.decode()
        error = error_of(outputs[name], reference)
        print(f"{name}: {error:.1e}")
        worst = max(worst, error)
    return worst


def run_small(folder, content, inputs):
    """Outputs of a small model by the source's names."""
    (folder / "m.tflite").write_bytes(content)
    must("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check", "--quiet")
    return run_nsk(folder / "m.nsk", folder, inputs)


def detection(folder):
    """Detections of random boxes; where there are fewer than the result has space for, the rest is 0."""
    from ai_edge_litert.interpreter import Interpreter
    from flatbuffers import flexbuffers
    from tflite_writer import Writer
    worst = 0.0
    for seed, (boxes, classes, background, regular, maximum, minimum, stored) in enumerate(
            ((40, 3, 1, False, 10, 0.3, False), (40, 3, 0, False, 10, 0.9, False), (5, 2, 1, False, 10, 0.0, False), (40, 3, 1, True, 10, 0.3, False), (40, 1, 0, True, 20, 0.6, False),
             (5, 2, 0, True, 12, 0.1, False), (40, 3, 1, False, 10, 0.3, True), (40, 3, 1, True, 10, 0.3, True), (300, 5, 0, False, 20, 0.5, True))):
        generator = np.random.default_rng(seed)
        options = {"max_detections": maximum, "max_classes_per_detection": 1, "detections_per_class": 7, "use_regular_nms": regular,
                   "nms_score_threshold": minimum, "nms_iou_threshold": 0.4, "num_classes": classes, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
        anchors = np.concatenate([generator.uniform(0, 1, [boxes, 2]), generator.uniform(0.1, 0.4, [boxes, 2])], 1)
        w = Writer()
        kind = np.uint8 if stored else np.float32
        codes = w.tensor("codes", [1, boxes, 4], kind)
        scores = w.tensor("scores", [1, boxes, classes + background], kind)
        constant = w.tensor("anchors", [boxes, 4], kind, np.rint(anchors * 200) if stored else anchors)
        for t, scale, zero in ((codes, 4 / 255, 128), (scores, 1 / 255, 0), (constant, 1 / 200, 0)) if stored else ():
            w.graph.tensors[t].quantization = q = w.schema.QuantizationParametersT()
            q.scale, q.zeroPoint = [scale], [zero]
        results = [w.tensor(name, [], np.float32) for name in ("boxes", "classes", "scores_out", "count")]
        w.operator("TFLite_Detection_PostProcess", [codes, scores, constant], results, custom_options=bytes(flexbuffers.Dumps(options)))
        content = w.finish([codes, scores], results)
        inputs = {"codes": generator.uniform(-2, 2, [1, boxes, 4]).astype(np.float32), "scores": generator.uniform(0, 1, [1, boxes, classes + background]).astype(np.float32)}
        if stored:
            inputs = {name: generator.integers(0, 255, value.shape, endpoint=True).astype(np.uint8) for name, value in inputs.items()}
        interpreter = Interpreter(model_content=content, num_threads=1)
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], inputs[detail["name"]])
        interpreter.invoke()
        wanted = {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()}
        got = run_small(folder, content, inputs)
        count = int(wanted["count"][0])
        if got["count"] != wanted["count"] or not np.array_equal(got["classes"][0, :count], wanted["classes"][0, :count]):
            raise SystemExit(f"case {seed}: {got['count']} {got['classes']} for {wanted['count']} {wanted['classes']}")
        for name in ("boxes", "classes", "scores_out"):
            if got[name][0, count:].any() or got[name].shape != wanted[name].shape:
                raise SystemExit(f"case {seed}: {name} is not 0 behind the detections, or has the shape {got[name].shape}")
            if count:
                worst = max(worst, error_of(got[name][0, :count], wanted[name][0, :count]))
        print(f"case {seed}: {count} detections")
    return worst


def pooling(folder):
    """The largest numbers of windows, their places, and numbers put back there."""
    from tflite_writer import Writer
    worst = 0.0
    for seed, (height, width) in enumerate(((2, 2), (3, 2))):
        packed = np.array([1, width, height, width, height, 0], np.int32).tobytes()
        w = Writer()
        x = w.tensor("x", [1, 6, 8, 5], np.float32)
        small = [1, 6 // height, 8 // width, 5]
        largest, places, back = w.tensor("largest", small, np.float32), w.tensor("places", small, np.float32), w.tensor("back", [1, 6, 8, 5], np.float32)
        w.operator("MaxPoolingWithArgmax2D", [x], [largest, places], custom_options=packed)
        w.operator("MaxUnpooling2D", [largest, places], [back], custom_options=packed)
        image = np.random.default_rng(seed).normal(size=[1, 6, 8, 5]).astype(np.float32)
        got = run_small(folder, w.finish([x], [largest, places, back]), {"x": image})
        wanted_largest, wanted_places, wanted_back = np.zeros(small), np.zeros(small), np.zeros(image.shape)
        for row, column, channel in np.ndindex(*small[1:]):
            window = image[0, row * height:(row + 1) * height, column * width:(column + 1) * width, channel]
            place = int(window.argmax())
            wanted_largest[0, row, column, channel], wanted_places[0, row, column, channel] = window.max(), place + 0.1
            wanted_back[0, row * height + place // width, column * width + place % width, channel] = window.max()
        for name, wanted in (("largest", wanted_largest), ("places", wanted_places), ("back", wanted_back)):
            worst = max(worst, error_of(got[name], wanted.astype(np.float32)))
    return worst


SMALL = {"detection": detection, "pooling": pooling}


def small(name):
    with tempfile.TemporaryDirectory(prefix="nsk_tflite_") as folder:
        worst = SMALL[name](pathlib.Path(folder))
    print(f"{name}: within {worst:.1e} of the largest magnitude")
    return 1 if worst > TOLERANCE else 0


def main(name):
    try:
        import ai_edge_litert.interpreter  # noqa: F401
        import flatbuffers  # noqa: F401
    except ImportError:
        print(f"{SAID_SKIPPED} the Python packages ai-edge-litert and flatbuffers are not installed")
        return 0
    if name in SMALL:
        return small(name)
    source = SHARED / MODELS[name]
    if not source.exists():
        print(f"{SAID_SKIPPED} {source} does not exist; set NSK_MODELS to a folder with {MODELS[name]}")
        return 0
    cut = CutModel(source)
    with tempfile.TemporaryDirectory(prefix="nsk_tflite_") as folder:
        folder = pathlib.Path(folder)
        model, report = folder / "model.nsk", folder / "report.json"
        print(must("convert", source, "-o", model, "--check", "--json", report).strip())
        left = json.loads(report.read_text())["variants"][0]["transposes_left"]
        worst = max(compare(cut, model, folder, seed) for seed in range(RUNS))
    print(f"{name}: within {worst:.1e} of the largest magnitude of the reference's outputs; transposes left: {len(left)}")
    return 1 if worst > TOLERANCE or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
