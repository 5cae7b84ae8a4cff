# SPDX-License-Identifier: MIT
"""LiteRT in a process of its own, because unusual models make it crash: pickled requests on standard input, pickled answers on standard output.

A request is a seed with names of kinds of models (answered by a case with LiteRT's results) or a case (answered by the results).
"""
import dataclasses
import os
import pathlib
import pickle
import struct
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODELS = [HERE.parent / "models" / folder for folder in ("support", "tflite")]


@dataclasses.dataclass
class Answer:
    """LiteRT's results by name, an axis of runs in front; `given`: the inputs as netsuke takes them (quantised ones as real numbers)."""
    results: dict
    given: dict
    steps: dict   # of quantised results: the size of a step


class Crashed(RuntimeError):
    """LiteRT ended its process."""


class Refused(RuntimeError):
    """LiteRT does not compute the model."""


class Oracle:
    def __init__(self):
        self.process = None

    def ask(self, request):
        """Raises Crashed or Refused."""
        if self.process is None or self.process.poll() is not None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE, *MODELS))), "PYTHONDONTWRITEBYTECODE": "1"}
            self.process = subprocess.Popen([sys.executable, "-c", "import tflite_oracle; tflite_oracle.serve()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, env=environment)
        try:
            send(self.process.stdin, request)
            answer = receive(self.process.stdout)
        except (EOFError, BrokenPipeError):
            self.process.kill()
            self.process.wait()
            raise Crashed(f"LiteRT ended with {self.process.returncode}") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def oracle(made=[]):
    """The one of this process, started when it is asked."""
    if not made:
        made.append(Oracle())
    return made[0]


def send(stream, what):
    data = pickle.dumps(what)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def receive(stream):
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<Q", header)[0]))


def real(detail, stored):
    """Real numbers of stored ones; what has no scale stays as it is."""
    scale, zero = detail["quantization"]
    return stored if scale == 0 else (scale * (stored.astype(np.float64) - zero)).astype(np.float32)


def answer_of(case):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    interpreter = Interpreter(model_content=case.peer or case.content, num_threads=1, experimental_op_resolver_type=getattr(OpResolverType, case.kernels))
    inputs = {d["name"]: d for d in interpreter.get_input_details()}
    for name, shape in case.shapes.items():
        interpreter.resize_tensor_input(inputs[name]["index"], shape, strict=True)
    interpreter.allocate_tensors()
    inputs = {d["name"]: d for d in interpreter.get_input_details()}
    outputs = {d["name"]: d for d in interpreter.get_output_details()}
    results = {name: [] for name in outputs}
    for run in range(case.runs):
        for name, detail in inputs.items():
            interpreter.set_tensor(detail["index"], case.inputs[name][run])
        interpreter.invoke()
        for name, d in outputs.items():
            results[name].append(interpreter.get_tensor(d["index"]).copy())
    stacked = {name: np.stack(runs) for name, runs in results.items()}
    if case.request.get("integers"):
        return Answer(stacked, dict(case.inputs), {n: float(d["quantization"][0]) for n, d in outputs.items() if d["quantization"][0] != 0})
    return Answer(stacked if case.stored else {n: real(outputs[n], v) for n, v in stacked.items()}, {n: real(inputs[n], v) for n, v in case.inputs.items()},
                  {n: float(d["quantization"][0]) for n, d in outputs.items() if d["quantization"][0] != 0})


def answered(request):
    import tflite_cases
    if isinstance(request, tuple):
        case = tflite_cases.made(*request)
        case.answer = answer_of(case)
        return case
    return answer_of(request)


def serve():
    from tflite_graph import Rejected
    while True:
        try:
            request = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = answered(request)
        except (RuntimeError, ValueError, Rejected) as refused:
            answer = Refused(f"{type(refused).__name__}: {refused}")
        send(sys.stdout.buffer, answer)
