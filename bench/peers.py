# SPDX-License-Identifier: MIT
"""Other engines behind one shape: a function loads a model for as many threads as NSK_BENCH_THREADS says (1 by default) and returns two callables,
`run` (what is timed) and `read`, which makes arrays of what run returned, in the order of the model's outputs.

A function raises ImportError where its package is not installed, and Refused where the engine does not take the model.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

THREADS = int(os.environ.get("NSK_BENCH_THREADS", "1"))


class Refused(Exception):
    """The engine does not run this model; the text says why."""


def onnxruntime(source, inputs):
    if source.suffix == ".tflite":
        raise Refused("reads no TensorFlow Lite")
    import onnxruntime as package
    options = package.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    options.log_severity_level = 3
    session = package.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda: session.run(names, inputs), list


def litert(source, inputs):
    """LiteRT with its default kernels, XNNPACK."""
    if source.suffix != ".tflite":
        raise Refused("reads TensorFlow Lite only")
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_path=str(source), num_threads=THREADS)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    outputs = [detail["index"] for detail in interpreter.get_output_details()]
    return interpreter.invoke, lambda _: [interpreter.get_tensor(index) for index in outputs]


def compiled_openvino(source, inputs):
    import openvino as package
    core = package.Core()
    try:
        model = core.read_model(str(source))
        model.reshape({name: list(value.shape) for name, value in inputs.items()})
        return core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY",
                                                 "INFERENCE_PRECISION_HINT": "f32"})
    except RuntimeError as error:
        raise Refused(str(error).strip().splitlines()[-1]) from error


def openvino(source, inputs):
    import openvino as package
    compiled = compiled_openvino(source, inputs)
    request = compiled.create_infer_request()
    for name, value in inputs.items():
        request.set_tensor(name, package.Tensor(value))
    return lambda: request.infer(share_outputs=True), lambda _: [np.copy(request.get_tensor(output).data) for output in compiled.outputs]


def openvino_kernels(source, inputs):
    """Which kernels OpenVINO takes for the layers of a model: {name, with the instruction set and the type: count}."""
    kinds = ("Convolution", "FullyConnected", "MatMul", "GroupConvolution")
    steps = [step.get_rt_info() for step in compiled_openvino(source, inputs).get_runtime_model().get_ops()]
    # What a step says of itself is wrapped in one version of the package, and a plain string in another.
    text = lambda said: str(getattr(said, "value", said))  # noqa: E731
    found = [text(step["primitiveType"]) for step in steps if text(step["layerType"]) in kinds]
    return {name: found.count(name) for name in sorted(set(found))}


def tract(source, inputs):
    import tract as package
    if source.suffix != ".onnx":
        raise Refused("is asked for ONNX only")
    if THREADS != 1:
        raise Refused("has one thread")
    try:
        model = package.onnx().load(str(source))
        for index in range(model.input_count()):
            value = inputs[model.input_name(index)]
            model.set_input_fact(index, ",".join(map(str, value.shape)) + ",f32")
        arguments = [inputs[model.input_name(index)] for index in range(model.input_count())]
        runnable = model.into_model().into_runnable()
        runnable.run(arguments)
    except Exception as error:  # tract's errors have no common base in every version
        raise Refused(str(error).strip().splitlines()[0]) from error
    return lambda: runnable.run(arguments), lambda results: [result.to_numpy() for result in results]


def pnnx():
    """Path of ncnn's converter. Its package is not imported, as it would ask for torch."""
    package = importlib.util.find_spec("pnnx")
    if package is None:
        raise ImportError("its converter is missing: pip install --no-deps pnnx")
    return pathlib.Path(package.origin).parent / "pnnx"


def converted(folder, source, made, *command):
    """Runs a converter of another engine; refused where it does not write `made`."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder)
    if done.returncode != 0 or not (folder / made).exists():
        raise Refused(f"{pathlib.Path(command[0]).name} does not convert {source.name}")
    return str(folder / made)


def mnn(source, inputs):
    """MNN through its session, weights and activations in float32."""
    import MNN as package
    kind = {".onnx": "ONNX", ".tflite": "TFLITE"}[source.suffix]
    with tempfile.TemporaryDirectory(prefix="nsk_mnn_") as place:
        path = converted(pathlib.Path(place), source, "model.mnn", pathlib.Path(sys.executable).parent / "mnnconvert", "-f", kind, "--modelFile", source.resolve(),
                         "--MNNModel", "model.mnn", "--bizCode", "nsk")
        interpreter = package.Interpreter(path)
    session = interpreter.createSession({"numThread": THREADS, "precision": "high"})
    for name, value in inputs.items():
        interpreter.resizeTensor(interpreter.getSessionInput(session, name), value.shape)
    interpreter.resizeSession(session)
    if any(value.dtype != np.float32 for value in inputs.values()):
        raise Refused("is asked for inputs of floats only")
    given = [(interpreter.getSessionInput(session, name), package.Tensor(value.shape, package.Halide_Type_Float, value, package.Tensor_DimensionType_Caffe))
             for name, value in inputs.items()]
    outputs = [interpreter.getSessionOutput(session, name) for name in names_of_outputs(source)]

    def numbers_of(output):
        numbers = np.zeros(output.getShape(), np.float32)  # a tensor does not keep it alive
        host = package.Tensor(output.getShape(), package.Halide_Type_Float, numbers, package.Tensor_DimensionType_Caffe)
        output.copyToHostTensor(host)
        return np.array(host.getNumpyData(), np.float32).reshape(output.getShape())

    def run():
        for tensor, value in given:
            tensor.copyFrom(value)  # a session writes over its inputs
        interpreter.runSession(session)

    return run, lambda _: [numbers_of(output) for output in outputs]


def names_of_outputs(source):
    """Names of a model's outputs, in its order, as ONNX Runtime reads them."""
    import onnxruntime as package
    if source.suffix != ".onnx":
        raise Refused("is asked for ONNX only")
    return [output.name for output in package.InferenceSession(str(source), providers=["CPUExecutionProvider"]).get_outputs()]


def ncnn(source, inputs):
    """ncnn by way of pnnx, weights and activations in float32. Its tensors have no batch."""
    import ncnn as package
    if source.suffix != ".onnx" or any(value.shape[0] != 1 or value.dtype != np.float32 for value in inputs.values()):
        raise Refused("is asked for ONNX of one row of floats only")
    outputs = [f"out{n}" for n in range(len(names_of_outputs(source)))]
    net = package.Net()
    net.opt.num_threads = THREADS
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    with tempfile.TemporaryDirectory(prefix="nsk_ncnn_") as place:
        shutil.copy(source, pathlib.Path(place) / "model.onnx")
        shapes = ",".join(f"[{','.join(map(str, value.shape))}]" for value in inputs.values())
        path = converted(pathlib.Path(place), source, "model.ncnn.param", pnnx(), "model.onnx", f"inputshape={shapes}", "fp16=0")
        if net.load_param(path) != 0 or net.load_model(path.replace(".param", ".bin")) != 0:
            raise Refused("does not load what pnnx writes")
    given = [(f"in{n}", package.Mat(value[0]).clone()) for n, value in enumerate(inputs.values())]

    def run():
        extractor = net.create_extractor()
        for name, value in given:
            extractor.input(name, value)
        return [extractor.extract(name) for name in outputs]

    if any(code != 0 for code, _ in run()):
        raise Refused("does not run what pnnx writes")
    return run, lambda results: [np.array(result)[np.newaxis] for _, result in results]


PEERS = {"onnxruntime": onnxruntime, "litert": litert, "openvino": openvino, "tract": tract, "mnn": mnn, "ncnn": ncnn}


def load(name, source, inputs):
    """The peer's two callables, or None with a line that says why it does not take part."""
    try:
        return PEERS[name](source, inputs)
    except ImportError as error:
        print(f"{name} does not take part: {error}")
    except Refused as error:
        print(f"{name} does not run {source.name}: {error}")
    return None


ONNX_TYPES = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8}


def numbers(generator, shape, dtype, low, high):
    """Random numbers of a type: reals between two limits, stored integers of the whole range."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
    return generator.uniform(low, high, shape).astype(np.float32)


def inputs_of(source, seed, low, high, shapes, open_dimensions):
    """Random numbers for every input of a model: {name: array}. `shapes` and, by position, `open_dimensions` say what it leaves open."""
    generator = np.random.default_rng(seed)
    if source.suffix == ".tflite":
        from ai_edge_litert.interpreter import Interpreter
        found = {d["name"]: ([int(n) for n in d["shape"]], d["dtype"]) for d in Interpreter(model_path=str(source)).get_input_details()}
    else:
        import onnxruntime as package
        options = package.SessionOptions()
        options.log_severity_level = 3
        session = package.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
        found = {i.name: ([d if isinstance(d, int) else open_dimensions[n] for n, d in enumerate(i.shape)], ONNX_TYPES.get(i.type, np.float32))
                 for i in session.get_inputs()}
    return {name: numbers(generator, shapes.get(name, shape), dtype, low, high) for name, (shape, dtype) in found.items()}
