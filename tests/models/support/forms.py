# SPDX-License-Identifier: MIT
"""Small graphs in ONNX's text form through the command line: convert --check, run, compare with ONNX Runtime.

A case is a graph, its constants, and what the plan must look like: the operators of its steps where they matter, and no transposition.
Inputs are random; integer inputs are given with the case.
"""
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

from models import error_of, file_name, must, nsk, plain_session

TOLERANCE = 2e-5
RANDOM = np.random.default_rng(11)


def floats(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def case(cases, name, signature, body, constants=None, inputs=None, steps=None, opset=17, transposes=0, macs=None, domains=None):
    """Adds a graph to `cases`. `steps`: {operator: how many of it the plan has}; `macs`: its multiply-adds; `inputs`: those that are not random floats."""
    imports = ", ".join(f'"{domain}" : {version}' for domain, version in {"": opset, **(domains or {})}.items())
    cases[name] = {"text": f"<ir_version: 8, opset_import: [{imports}]> g {signature} {{ {body} }}", "constants": constants or {},
                   "inputs": inputs or {}, "steps": steps or {}, "transposes": transposes, "macs": macs}


def build(spec):
    model = onnx.parser.parse_model(spec["text"])
    for name, value in spec["constants"].items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    onnx.checker.check_model(model)
    return model


def shape_of(value_info):
    return [d.dim_value for d in value_info.type.tensor_type.shape.dim]


def run(name, spec):
    model = build(spec)
    with tempfile.TemporaryDirectory(prefix="nsk_forms_") as folder:
        folder = pathlib.Path(folder)
        source, target = folder / "model.onnx", folder / "model.nsk"
        onnx.save(model, source)
        must("convert", source, "-o", target, "--check", "--no-states", "--quiet", "--json", folder / "report.json")
        plan = json.loads((folder / "report.json").read_text())["variants"][0]
        operators = [s["operator"] for s in plan["steps"]]
        for operator, wanted in spec["steps"].items():
            if operators.count(operator) != wanted:
                raise SystemExit(f"{name}: {wanted} steps {operator} expected, the plan has {operators}")
        if spec["macs"] is not None and plan["macs"] != spec["macs"]:
            raise SystemExit(f"{name}: {plan['macs']} multiply-adds, {spec['macs']} expected")
        if len(plan["transposes_left"]) > spec["transposes"]:
            raise SystemExit(f"{name}: transpositions are left: {plan['transposes_left']}")
        inputs = {i.name: spec["inputs"].get(i.name, floats(*shape_of(i))) for i in model.graph.input}
        arguments = []
        for index, (key, value) in enumerate(inputs.items()):
            np.save(folder / f"in{index}.npy", value)
            arguments += ["--input", f"{key}={folder / f'in{index}.npy'}"]
        must("run", target, *arguments, "--output-dir", folder / "out")
        session = plain_session(source)
        worst = 0.0
        for output, wanted in zip(session.get_outputs(), session.run(None, inputs)):
            wanted = wanted.astype(np.float32) if wanted.dtype == np.float64 else wanted  # the engine has no float64
            worst = max(worst, error_of(np.load(folder / "out" / file_name(output.name)), wanted))
    if not worst <= TOLERANCE:
        raise SystemExit(f"{name}: differs from ONNX Runtime by {worst:.1e} of the largest magnitude")
    return worst


def parsed(text, generator=RANDOM):
    """The model of a text; constants without numbers in it get those of `generator`."""
    model = onnx.parser.parse_model(text if text.startswith("<ir") else f'<ir_version: 8, opset_import: ["" : 17]> g {text}')
    for v in model.graph.value_info:  # constants without numbers in the text
        shape, kind = [d.dim_value for d in v.type.tensor_type.shape.dim], helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
        values = generator.uniform(0.5, 1, shape) if kind == np.float32 else generator.integers(-99, 99, shape)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(kind), v.name))
    del model.graph.value_info[:]
    return model


def check_refusal(name, signature, body, constants, pattern, *options, opset=21):
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> g {signature} {{ {body} }}')
    for key, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), key))
    with tempfile.TemporaryDirectory(prefix="nsk_forms_") as folder:
        source = pathlib.Path(folder) / "model.onnx"
        source.write_bytes(model.SerializeToString())
        done = nsk("convert", source, "-o", source.with_suffix(".nsk"), "--quiet", *options)
    if done.returncode != 2 or not re.search(pattern, done.stderr):
        raise SystemExit(f"{name}: a refusal with '{pattern}' expected, exit code {done.returncode}: {done.stderr}")


def run_forms(cases, refused, dequantized=()):
    """Runs the forms whose names match the argument, and all refusals; `dequantized`: refusals in spite of --dequantize."""
    pattern = sys.argv[1] if len(sys.argv) > 1 else ".*"
    chosen = [name for name in cases if re.fullmatch(pattern, name)]
    for name in chosen:
        print(f"{name}: {run(name, cases[name]):.1e}", flush=True)
    for name, form in refused.items():
        check_refusal(name, *form, *(["--dequantize"] if name in dequantized else []))
    print(f"{len(chosen)} forms agree with ONNX Runtime, {len(refused)} are refused with a reason")
