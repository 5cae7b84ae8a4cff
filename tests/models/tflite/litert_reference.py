#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`nsk check --semantics litert-reference`: what it says of a model must be what NumPy finds between the engine's run and LiteRT's run by its reference
kernels, on the same inputs: the same number of elements that differ, and the same largest difference, for every output."""
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import litert_operators  # noqa: E402
from litert import have_litert, interpreter_of  # noqa: E402
from models import SAID_SKIPPED, SHARED, file_name, must, nsk  # noqa: E402

NAMES = ("ad01_int8", "kws_ref_model", "vww_96_int8", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant", "pretrainedResnet_quant")
OPERATORS = ("ADD", "SUB", "MUL", "QUANTIZE", "LEAKY_RELU", "HARD_SWISH", "PRELU", "RELU", "RELU6", "LOGISTIC", "TANH", "SOFTMAX", "AVERAGE_POOL_2D", "MAX_POOL_2D", "TRANSPOSE_CONV")
SAID = re.compile(r"'(.*)': (\d+) of (\d+) elements differ from LiteRT's reference kernels, by at most (\d+) steps")


def stored_input(detail, generator):
    info = np.iinfo(detail["dtype"])
    return generator.integers(info.min, info.max, detail["shape"], endpoint=True).astype(detail["dtype"])


def examine(content, folder, inputs=None):
    """(what nsk says, what NumPy finds): (elements that differ, elements, largest difference) by output."""
    source, model, generator = folder / "m.tflite", folder / "m.nsk", np.random.default_rng(5)
    source.write_bytes(content)
    must("convert", source, "-o", model, "--quiet")
    interpreter, arguments = interpreter_of(content, "BUILTIN_REF"), []
    for detail in interpreter.get_input_details():
        values = stored_input(detail, generator) if inputs is None else inputs[detail["name"]]
        interpreter.set_tensor(detail["index"], values)
        np.save(folder / f"{file_name(detail['name'])}", values)
        arguments += ["--input", f"{detail['name']}={folder / file_name(detail['name'])}"]
    interpreter.invoke()
    must("run", model, *arguments, "--output-dir", folder / "out")
    found = {}
    for detail in interpreter.get_output_details():
        got, want = np.load(folder / "out" / file_name(detail["name"])).astype(int), interpreter.get_tensor(detail["index"]).astype(int)
        found[detail["name"]] = int(np.sum(got != want)), want.size, int(np.max(np.abs(got - want)))
    text = must("check", source, model, *arguments, "--semantics", "litert-reference")
    said = {name: (int(differ), int(count), int(steps)) for name, differ, count, steps in SAID.findall(text)}
    return said, found


def main():
    if not have_litert():
        return 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_reference_") as name:
        folder = pathlib.Path(name)
        for model in NAMES:
            path = SHARED / "quantized" / f"{model}.tflite"
            if not path.exists():
                print(f"{SAID_SKIPPED} {path} does not exist")
                continue
            if interpreter_of(path.read_bytes()).get_input_details()[0]["dtype"] == np.float32:
                continue
            said, found = examine(path.read_bytes(), folder)
            print(f"{model}: {', '.join(f'{d} of {c} differ, by at most {s}' for d, c, s in found.values())}" + ("" if said == found else f", but nsk says {said}"))
            wrong += [model] if said != found else []
        for make in (litert_operators.arithmetic, litert_operators.functions, litert_operators.windows, litert_operators.transpositions):
            for dtype in (np.int8, np.uint8):
                for case in make(dtype):
                    if case.op not in OPERATORS:
                        continue
                    said, found = examine(case.content, folder, case.inputs)
                    if said != found:
                        print(f"{case}: nsk says {said}, but it is {found}")
                        wrong.append(str(case))
        refused = nsk("check", folder / "m.tflite", folder / "m.nsk", "--semantics", "other")
        if refused.returncode == 0 or "litert-reference" not in refused.stderr:
            wrong.append("a name of no semantics")
    print(f"{len(wrong)} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
