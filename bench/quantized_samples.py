# SPDX-License-Identifier: MIT
"""Samples for tools that quantise, and what these tools make of a network of tests/models/support/models.py.

Photos are those of tests/models/quantize/quantized_accuracy.py: what is held out comes from other photos, digits and lines of text are rendered from other seeds.
"""
import contextlib
import io
import logging
import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / folder) for folder in ("support", "quantize")]
from models import MODELS, REPOSITORY, SHAPES, SHARED, must  # noqa: E402
from peers import Refused  # noqa: E402

# Network -> width and height, white, mean and deviation of each colour; or the function that renders.
PHOTOS = {"mobilenet_v2": (224, 224, 1, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), "ultraface": (320, 240, 255, (127, 127, 127), (128, 128, 128))}
PHOTOS.update({name: PHOTOS["mobilenet_v2"] for name in ("resnet18", "squeezenet1_1", "resnet50", "mobilenet_v3_small", "efficientnet_b0", "shufflenet_v2")})
RENDERED = ("mnist", "text_classifier")
SHOWN, HELD_OUT = ("cat_720p.jpg", "owl.jpg", "selfie.jpg"), ("parrot.jpg", "face.jpg")
OPSET = 13  # the first with scales of channels


def photos_of(names):
    from quantized_accuracy import IMAGES, load
    paths = [REPOSITORY / "docs" / "images" / name if name == "selfie.jpg" else IMAGES / name for name in names]
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise Refused(f"its samples are parts of photos that are not here: {', '.join(missing)}")
    return [load(path) for path in paths]


def samples_of(name, count, held_out):
    """`count` inputs of a network, in the shape of its input."""
    if name not in PHOTOS and name not in RENDERED:
        raise Refused("no samples are known for it")
    try:
        import quantized_accuracy as images
        from PIL import Image
    except ImportError as error:
        raise Refused(f"its samples need a package: {error} (pip install pillow)") from error
    generator = np.random.default_rng(2 if held_out else 1)
    if name in RENDERED:
        render = {"mnist": images.digit, "text_classifier": images.line_of_text}[name]
        return [render(generator)[None] for _ in range(count)]
    width, height, white, mean, deviation = PHOTOS[name]
    photos, samples = photos_of(HELD_OUT if held_out else SHOWN), []
    for n in range(count):
        part = images.view(photos[n % len(photos)], generator, 0.4).resize((width, height), Image.Resampling.BILINEAR)
        pixels = np.asarray(part, np.float32) * np.float32(white / 255)
        samples.append(np.ascontiguousarray(((pixels - np.float32(mean)) / np.float32(deviation)).transpose(2, 0, 1)[None]))
    return samples


def prepared(name, folder):
    """The float32 network with all shapes fixed, an opset that every tool takes, and what can be computed beforehand computed by ONNX Runtime's basic
    optimiser, without which two tools fail on constants that pass a Reshape. Returns its path and the name of its input."""
    import onnx
    import onnxruntime
    path = pathlib.Path(MODELS[name])
    path = path if path.is_absolute() else SHARED / path
    if not path.exists():
        raise Refused(f"{path} does not exist; set NSK_MODELS to a folder with {MODELS[name]}")
    model = onnx.load(path)
    stored = {constant.name for constant in model.graph.initializer}
    ports = [i for i in model.graph.input if i.name not in stored]
    port = ports[0]
    for dimension, wanted in zip(port.type.tensor_type.shape.dim, SHAPES.get(name, {}).get(port.name, [])):
        dimension.dim_value = wanted
    if port.type.tensor_type.shape.dim[0].dim_value == 0:
        port.type.tensor_type.shape.dim[0].dim_value = 1
    del model.graph.input[:]
    model.graph.input.extend(ports)  # a constant that is also an input, as old files have them, is not computed beforehand
    model.ir_version = max(model.ir_version, 8)
    if next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < OPSET:
        model = onnx.version_converter.convert_version(model, OPSET)
    target, port = folder / f"{name}.onnx", ports[0].name
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.optimized_model_filepath = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC, str(target)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    flatten_biases(target)
    return target, port


def flatten_biases(path):
    """Biases of Gemm of [1, N] become [N], the same to Gemm: onnxruntime.quantization fails on the others where weights have a scale per channel."""
    import onnx
    model = onnx.load(path)
    biases = {node.input[2] for node in model.graph.node if node.op_type == "Gemm" and len(node.input) == 3}
    for constant in model.graph.initializer:
        if constant.name in biases and len(constant.dims) == 2 and constant.dims[0] == 1:
            del constant.dims[0]
    onnx.save(model, path)


def onnxruntime_tool(source, port, samples, target, reduce_range):
    """Static, pairs of QuantizeLinear and DequantizeLinear, a scale per channel, uint8 activations, int8 weights; the rest as the tool has it by default."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rest = iter(samples)

        def get_next(self):
            sample = next(self.rest, None)
            return None if sample is None else {port: sample}

    ready = target.with_suffix(".ready.onnx")
    logging.disable(logging.WARNING)
    try:
        quant_pre_process(str(source), str(ready), skip_optimization=True, skip_symbolic_shape=True)
        quantize_static(str(ready), str(target), Reader(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        per_channel=True, reduce_range=reduce_range)
    finally:
        logging.disable(logging.NOTSET)
    return target


def nncf_tool(source, port, samples, target, preset):
    """Post-training quantisation of OpenVINO's tool."""
    import openvino
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        import nncf
        nncf.set_log_level(logging.ERROR)
        model = openvino.Core().read_model(str(source))
        made = nncf.quantize(model, nncf.Dataset([{port: sample} for sample in samples]), subset_size=len(samples), preset=nncf.QuantizationPreset(preset))
        openvino.save_model(made, str(target), compress_to_fp16=False)
    return target


def nsk_tool(source, port, samples, target, *options):
    places = target.with_suffix(".samples")
    places.mkdir(exist_ok=True)
    for n, sample in enumerate(samples):
        np.save(places / f"{n:04}.npy", sample)
    must("quantize", source, "-o", target, "--calibrate", f"{port}={places}", "--quiet", *options)
    return target
