# SPDX-License-Identifier: MIT
"""Other engines behind one shape: a function loads a model for one thread and returns two callables, `run` (what is timed) and `read`, which
makes arrays of what run returned, in the order of the model's outputs.

A function raises ImportError where its package is not installed, and Refused where the engine does not take the model.
"""
import numpy as np


class Refused(Exception):
    """The engine does not run this model; the text says why."""


def onnxruntime(source, inputs):
    if source.suffix == ".tflite":
        raise Refused("reads no TensorFlow Lite")
    import onnxruntime as package
    options = package.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = package.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda: session.run(names, inputs), list


def litert(source, inputs):
    """LiteRT with its default kernels, XNNPACK."""
    if source.suffix != ".tflite":
        raise Refused("reads TensorFlow Lite only")
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_path=str(source), num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    outputs = [detail["index"] for detail in interpreter.get_output_details()]
    return interpreter.invoke, lambda _: [interpreter.get_tensor(index) for index in outputs]


def openvino(source, inputs):
    import openvino as package
    core = package.Core()
    try:
        model = core.read_model(str(source))
        model.reshape({name: list(value.shape) for name, value in inputs.items()})
        compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY",
                                                     "INFERENCE_PRECISION_HINT": "f32"})
    except RuntimeError as error:
        raise Refused(str(error).strip().splitlines()[-1]) from error
    request = compiled.create_infer_request()
    for name, value in inputs.items():
        request.set_tensor(name, package.Tensor(value))
    return request.infer, lambda _: [np.copy(request.get_tensor(output).data) for output in compiled.outputs]


def tract(source, inputs):
    import tract as package
    if source.suffix != ".onnx":
        raise Refused("is asked for ONNX only")
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


PEERS = {"onnxruntime": onnxruntime, "litert": litert, "openvino": openvino, "tract": tract}


def load(name, source, inputs):
    """The peer's two callables, or None with a line that says why it does not take part."""
    try:
        return PEERS[name](source, inputs)
    except ImportError as error:
        print(f"{name} does not take part: {error}")
    except Refused as error:
        print(f"{name} does not run {source.name}: {error}")
    return None


def inputs_of(source, seed, low, high, shapes, open_dimensions):
    """Random numbers for every input of a model: {name: float32 array}. `shapes` and, by position, `open_dimensions` say what it leaves open."""
    generator = np.random.default_rng(seed)
    if source.suffix == ".tflite":
        from ai_edge_litert.interpreter import Interpreter
        found = {d["name"]: [int(n) for n in d["shape"]] for d in Interpreter(model_path=str(source)).get_input_details()}
    else:
        import onnxruntime as package
        session = package.InferenceSession(str(source), providers=["CPUExecutionProvider"])
        found = {i.name: [d if isinstance(d, int) else open_dimensions[n] for n, d in enumerate(i.shape)] for i in session.get_inputs()}
    return {name: generator.uniform(low, high, shapes.get(name, shape)).astype(np.float32) for name, shape in found.items()}
