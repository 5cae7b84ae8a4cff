#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TensorFlow Lite models of signals, against LiteRT: inputs whose lengths the file leaves open, spectra and complex numbers.

  tflite_signals.py [PART-OF-A-NAME]
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, error_of, file_name, must, nsk  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F, I, C = np.float32, np.int32, np.complex64
TOLERANCE = 1e-5


class Model:
    """A model with an input x; `signature`: its lengths, -1 where the file leaves them open."""

    def __init__(self, shape, signature=None):
        self.w = Writer()
        self.x = self.tensor("x", shape, F, signature)

    def tensor(self, name, shape, dtype, signature=None):
        t = self.w.tensor(name, shape, dtype)
        self.w.graph.tensors[t].shapeSignature = signature
        return t

    def do(self, op, inputs, shape, dtype=F, options=None, signature=None):
        inputs = [x if isinstance(x, int) else self.w.tensor(f"c{len(self.w.graph.tensors)}", x.shape, x.dtype, x) for x in inputs]
        y = self.tensor(f"t{len(self.w.graph.tensors)}", shape, dtype, signature)
        self.w.operator(op, inputs, [y], options)
        return y

    def spectrum(self, x, shape, lengths, signature=None):
        return self.do("RFFT2D", [x, np.array(lengths, I)], shape, C, ("Rfft2dOptions", {}), signature)

    def finish(self, *outputs):
        return self.w.finish([self.x], outputs)


def magnitudes(op="COMPLEX_ABS", shape=(2, 1, 16), lengths=(1, 16)):
    m = Model(list(shape))
    half = [shape[0], lengths[0], lengths[1] // 2 + 1]
    return m.finish(m.do(op, [m.spectrum(m.x, half, lengths)], half)), {}


def moved_and_cast():
    m = Model([3, 1, 16])
    y = m.do("SQUEEZE", [m.spectrum(m.x, [3, 1, 9], [1, 16])], [3, 9], C, ("SqueezeOptions", {"squeezeDims": [1]}))
    y = m.do("RESHAPE", [y, np.array([1, 27], I)], [1, 27], C, ("ReshapeOptions", {}))
    return m.finish(m.do("CAST", [y], [1, 27], F, ("CastOptions", {}))), {}


def open_lines(shape=(1, 1)):
    """A frame of 8 numbers every 4, as exporters write it, and the sum of each frame's magnitudes."""
    m = Model([1, 1], [-1, -1])
    y = m.do("EXPAND_DIMS", [m.x, np.array(1, I)], [1, 1, 1], F, ("ExpandDimsOptions", {}), [-1, 1, -1])
    y = m.do("EXPAND_DIMS", [y, np.array(3, I)], [1, 1, 1, 1], F, ("ExpandDimsOptions", {}), [-1, 1, -1, 1])
    kernel = np.eye(8, dtype=F).reshape(8, 1, 8, 1)
    conv = {"padding": 1, "strideW": 4, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
    y = m.do("CONV_2D", [y, kernel, np.zeros(8, F)], [1, 1, 1, 8], F, ("Conv2DOptions", conv), [-1, 1, -1, 8])
    y = m.spectrum(m.do("TRANSPOSE", [y, np.array([0, 2, 1, 3], I)], [1, 1, 1, 8], F, ("TransposeOptions", {}), [-1, -1, 1, 8]), [1, 1, 1, 5], [1, 8], [-1, -1, 1, 5])
    y = m.do("COMPLEX_ABS", [y], [1, 1, 1, 5], signature=[-1, -1, 1, 5])
    y = m.do("SUM", [y, np.array([3], I)], [1, 1, 1], F, ("ReducerOptions", {"keepDims": False}), [-1, -1, 1])
    return m.finish(y), {"x": list(shape)}


def complex_arithmetic():
    m = Model([2, 1, 20])
    y = m.spectrum(m.x, [2, 1, 11], [1, 20])
    return m.finish(m.do("COMPLEX_ABS", [m.do("ADD", [y, y], [2, 1, 11], C, ("AddOptions", {}))], [2, 1, 11])), {}


CASES = {
    "magnitudes": magnitudes,
    "magnitudes of planes": lambda: magnitudes(shape=(2, 4, 8), lengths=(4, 8)),
    "magnitudes of longer lines": lambda: magnitudes(lengths=(1, 32)),
    "magnitudes of shorter lines": lambda: magnitudes(lengths=(1, 8)),
    "real parts": lambda: magnitudes("REAL"),
    "imaginary parts": lambda: magnitudes("IMAG"),
    "moved and cast": moved_and_cast,
    "open lengths": lambda: open_lines((1, 40)),
    "open lengths and rows": lambda: open_lines((3, 33)),
}
# Models, options and words of the message.
REFUSED = {
    "lengths that nothing gives": (lambda: open_lines()[0], [], 2, ["--input x=1x512", "leaves lengths of its inputs open"]),
    "another number of lengths": (lambda: open_lines()[0], ["--input", "x=1x40x2"], 1, ["contradicts the model", "[?,?]"]),
    "another number of axes than the file fixes": (lambda: magnitudes()[0], ["--input", "x=2x24"], 1, ["contradicts the model"]),
    "sums of complex numbers": (lambda: complex_arithmetic()[0], [], 2, ["complex numbers may be moved", "ADD"]),
}


def litert(content, shapes, inputs):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    interpreter = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    for detail in interpreter.get_input_details():
        if detail["name"] in shapes:
            interpreter.resize_tensor_input(detail["index"], shapes[detail["name"]], strict=True)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()}


def shape_of_input(content, shapes):
    from ai_edge_litert.interpreter import Interpreter
    return shapes.get("x") or list(Interpreter(model_content=content).get_input_details()[0]["shape"])


def compare(folder, make):
    content, shapes = make()
    (folder / "m.tflite").write_bytes(content)
    options = [o for name, shape in shapes.items() for o in ("--input", f"{name}=" + "x".join(map(str, shape)))]
    must("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check", "--quiet", *options)
    must("check", folder / "m.tflite", folder / "m.nsk", "--quiet")
    x = np.random.default_rng(4).uniform(-1, 1, shape_of_input(content, shapes)).astype(F)
    np.save(folder / "x.npy", x)
    must("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    return max(error_of(np.load(folder / "out" / file_name(name)), wanted) for name, wanted in litert(content, shapes, {"x": x}).items())


def main(part):
    try:
        import ai_edge_litert  # noqa: F401
    except ImportError:
        print(f"{SAID_SKIPPED} LiteRT is not installed (pip install ai-edge-litert)")
        return 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_signals_") as name:
        folder = pathlib.Path(name)
        for case, make in CASES.items():
            error = compare(folder, make) if part in case else 0
            if not error <= TOLERANCE:
                wrong.append(f"{case}: differs from LiteRT by {error:.1e} of the largest magnitude")
        for case, (make, options, code, words) in REFUSED.items():
            (folder / "m.tflite").write_bytes(make())
            done = nsk("convert", folder / "m.tflite", "-o", folder / "refused.nsk", *options)
            if done.returncode != code or any(word not in done.stderr for word in words):
                wrong.append(f"{case}: exit code {done.returncode}, {done.stderr.strip()}")
    print("\n".join(wrong + [f"{len(CASES)} models, {len(REFUSED)} refusals, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
