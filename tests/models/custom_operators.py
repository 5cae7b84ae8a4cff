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

from against_litert import TOLERANCE, run_nsk
from models import SAID_SKIPPED, SHARED, error_of, must

MODELS = {"selfie_segmentation": "face/selfie_segmentation.tflite", "face_attention": "face/face_landmark_with_attention.tflite"}
RUNS = 2


def transposed_convolution(options, x, weights, bias):
    """Every pixel adds its weighted kernel to the result; "same" leaves ceil-like borders out."""
    padding, stride_w, stride_h = np.frombuffer(options, np.int32, 3)
    channels, kernel_h, kernel_w, _ = weights.shape
    _, height, width, _ = x.shape
    cut_h = max(0, kernel_h - (height - 1) % stride_h - 1) if padding == 1 else 0
    cut_w = max(0, kernel_w - (width - 1) % stride_w - 1) if padding == 1 else 0
    full = np.zeros([1, stride_h * (height - 1) + kernel_h, stride_w * (width - 1) + kernel_w, channels])
    for i in range(kernel_h):
        for j in range(kernel_w):
            part = np.einsum("nhwc,oc->nhwo", x.astype(np.float64), weights[:, i, j, :].astype(np.float64))
            full[:, i:i + stride_h * height:stride_h, j:j + stride_w * width:stride_w, :] += part
    rows, columns = full.shape[1] - cut_h, full.shape[2] - cut_w
    return full[:, cut_h // 2:cut_h // 2 + rows, cut_w // 2:cut_w // 2 + columns, :] + bias


def landmarks_to_matrix(options, landmarks):
    """The matrix from a crop's pixels to landmarks: the box around a subset, upright after a rotation."""
    o = named(options)
    points = landmarks[0, :, :2].astype(np.float64)
    line = points[o["right_rotation_idx"]] - points[o["left_rotation_idx"]]
    turn = o.get("target_rotation_radians", 0.0) - np.arctan2(line[1], line[0])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    rotated = points[o["subset_idxs"]] @ rotation.T
    low, high = rotated.min(0), rotated.max(0)
    size = (high - low) * [o["scale_x"], o["scale_y"]] / [o["output_width"], o["output_height"]]
    linear = rotation.T @ np.diag(size)
    matrix = np.eye(4)
    matrix[:2, :2] = linear
    matrix[:2, 3] = rotation.T @ ((low + high) / 2) - linear @ [o["output_width"] / 2, o["output_height"] / 2]
    return matrix[None]


def transform_landmarks(options, landmarks, matrix):
    result = landmarks.astype(np.float64)
    m = matrix.reshape(4, 4).astype(np.float64)
    result[..., :2] = landmarks[..., :2] @ m[:2, :2].T + m[:2, 3]
    return result


def transform_image(options, image, matrix):
    """Bilinear samples at matrix (x + 1/2, y + 1/2) - 1/2, 0 outside."""
    o = named(options)
    m = matrix.reshape(4, 4).astype(np.float64)
    _, height, width, channels = image.shape
    result = np.zeros([1, o["output_height"], o["output_width"], channels])
    for row in range(o["output_height"]):
        for column in range(o["output_width"]):
            x, y = m[:2, :2] @ [column + 0.5, row + 0.5] + m[:2, 3] - 0.5
            if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
                continue
            left, top = int(np.floor(x)), int(np.floor(y))
            for i, j, share in ((0, 0, (1 - y + top) * (1 - x + left)), (0, 1, (1 - y + top) * (x - left)),
                                (1, 0, (y - top) * (1 - x + left)), (1, 1, (y - top) * (x - left))):
                if top + i < height and left + j < width:
                    result[0, row, column] += share * image[0, top + i, left + j]
    return result


CUSTOM = {b"Convolution2DTransposeBias": transposed_convolution, b"Landmarks2TransformMatrix": landmarks_to_matrix,
          b"TransformLandmarks": transform_landmarks, b"TransformTensorBilinear": transform_image}


def named(options):
    from flatbuffers import flexbuffers
    return flexbuffers.Loads(bytes(options))


class CutModel:
    """A model as runs of builtin operators with custom ones between them."""

    def __init__(self, path):
        from ai_edge_litert import schema_py_generated as schema
        self.schema = schema
        self.model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
        self.graph = self.model.subgraphs[0]
        self.operators = list(self.graph.operators)

    def custom_code(self, operator):
        return self.model.operatorCodes[operator.opcodeIndex].customCode

    def run(self, values):
        """`values`: tensor index -> array; afterwards also of everything computed that is read elsewhere."""
        pending = []
        for operator in self.operators:
            code = self.custom_code(operator)
            if code is None:
                pending.append(operator)
                continue
            self.run_builtin(pending, values)
            pending = []
            operands = [self.value_of(t, values) for t in operator.inputs]
            options = b"" if operator.customOptions is None else bytes(operator.customOptions.astype(np.uint8))
            values[operator.outputs[0]] = CUSTOM[code](options, *operands).astype(np.float32)
        self.run_builtin(pending, values)
        return [values[t] for t in self.graph.outputs]

    def value_of(self, tensor, values):
        return values[tensor]

    def run_builtin(self, operators, values):
        import flatbuffers
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
        if not operators:
            return
        made = {int(t) for o in operators for t in o.outputs}
        read = [int(t) for o in operators for t in o.inputs if t >= 0 and int(t) not in made]
        inputs = sorted({t for t in read if self.model.buffers[self.graph.tensors[t].buffer].data is None})
        elsewhere = {int(t) for o in self.operators if o not in operators for t in o.inputs} | {int(t) for t in self.graph.outputs}
        outputs = sorted(made & elsewhere)
        self.graph.operators, kept = operators, (self.graph.inputs, self.graph.outputs)
        self.graph.inputs, self.graph.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        self.graph.inputs, self.graph.outputs = kept
        interpreter = Interpreter(model_content=bytes(builder.Output()), num_threads=1,
                                  experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        interpreter.allocate_tensors()
        for tensor, detail in zip(inputs, interpreter.get_input_details()):
            interpreter.set_tensor(detail["index"], values[tensor])
        interpreter.invoke()
        for tensor, detail in zip(outputs, interpreter.get_output_details()):
            values[tensor] = interpreter.get_tensor(detail["index"])


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
