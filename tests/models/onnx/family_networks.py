#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The networks of bench/families.py against ONNX Runtime, with every instruction set of this machine: the same bits from all of them.

  family_networks.py
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from against_onnxruntime import TOLERANCE  # noqa: E402
from models import error_of, file_name, isas, must, onnx_session, random_inputs, told  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from families import FAMILIES, model_of  # noqa: E402


def outputs_of(model, name, inputs, folder, isa):
    arguments = []
    for key, value in inputs.items():
        np.save(folder / "input.npy", value)
        arguments += ["--input", f"{key}={folder / 'input.npy'}"]
    must("run", model, *arguments, "--isa", isa, "--output-dir", folder / isa)
    return np.load(folder / isa / file_name(name))


def failures_of(family, folder):
    source, model = folder / f"{family}.onnx", folder / f"{family}.nsk"
    onnx.save(model_of(family), source)
    must("convert", source, "-o", model)
    session = onnx_session(source)
    name, inputs = session.get_outputs()[0].name, random_inputs(session, 1)
    wanted = session.run(None, inputs)[0]
    found = {isa: outputs_of(model, name, inputs, folder, isa) for isa in isas()}
    for isa, got in found.items():
        error = error_of(got, wanted)
        if not error <= TOLERANCE:
            yield f"{family}, {isa}: {error:.1e} of the largest magnitude away from ONNX Runtime's outputs"
        if got.tobytes() != found["avx2"].tobytes():
            yield f"{family}, {isa}: other bits than avx2"


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_families_") as folder:
        return told([failure for family in FAMILIES for failure in failures_of(family, pathlib.Path(folder))])


if __name__ == "__main__":
    sys.exit(main())
