# SPDX-License-Identifier: MIT
"""LiteRT, and models that are compared with it run by run."""
import numpy as np

from models import SAID_SKIPPED, file_name, nsk

TOLERANCE = 1e-5  # of floats, as a share of the output's largest magnitude


def have_litert():
    try:
        import ai_edge_litert.interpreter  # noqa: F401
        import flatbuffers  # noqa: F401
        return True
    except ImportError:
        print(f"{SAID_SKIPPED} the Python packages ai-edge-litert and flatbuffers are not installed")
        return False


def interpreter_of(content, kernels="BUILTIN_WITHOUT_DEFAULT_DELEGATES"):
    """LiteRT with one set of kernels; None where it is not installed."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        return None
    interpreter = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=getattr(OpResolverType, kernels))
    interpreter.allocate_tensors()
    return interpreter


def answers(content, given, runs):
    """LiteRT's outputs of runs in a row, by name."""
    interpreter, results = interpreter_of(content), {}
    for run in range(runs):
        for detail in interpreter.get_input_details():
            values = given[detail["name"]]
            interpreter.set_tensor(detail["index"], values if runs == 1 else values[run])
        interpreter.invoke()
        for detail in interpreter.get_output_details():
            results.setdefault(detail["name"], []).append(interpreter.get_tensor(detail["index"]).copy())
    return {name: values[0] if runs == 1 else np.stack(values) for name, values in results.items()}


def difference(got, reference):
    """None where two arrays agree, else what is wrong."""
    if got.shape != reference.shape or got.dtype != reference.dtype:
        return f"{got.dtype}{got.shape} for {reference.dtype}{reference.shape}"
    if reference.dtype != np.float32:
        return None if np.array_equal(got, reference) else f"{np.mean(got != reference):.0%} of the elements differ"
    error = np.max(np.abs(got.astype(np.float64) - reference)) / max(1e-30, np.max(np.abs(reference)))
    return None if error <= TOLERANCE else f"off by {error:.1e}"


def compare_runs(folder, content, given, runs=1, wanted=None):
    """None where netsuke and LiteRT agree in all runs, else what is wrong. `given`: an array per input, with an axis of runs in front where
    there are several; `wanted`: results to compare with instead of LiteRT's of this file."""
    wanted = answers(content, given, runs) if wanted is None else wanted
    (folder / "m.tflite").write_bytes(content)
    done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check", "--quiet")
    if done.returncode != 0:
        return done.stderr.strip()
    arguments = ["--steps", runs]
    for name, values in given.items():
        np.save(folder / f"{name}.npy", values)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    done = nsk("run", folder / "m.nsk", *arguments, "--output-dir", folder / "out")
    if done.returncode != 0:
        return done.stderr.strip()
    for name, reference in wanted.items():
        wrong = difference(np.load(folder / "out" / file_name(name)), reference)
        if wrong:
            return f"{name}: {wrong}"
    return None
