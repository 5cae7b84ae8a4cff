#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of several functions: --signature takes one of them, and what is not taken is said."""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import difference, have_litert  # noqa: E402
from models import nsk  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
WEIGHTS = np.random.default_rng(5).uniform(-1, 1, (3, 4)).astype(F)


def signature(w, key, subgraph, inputs, outputs):
    """`inputs` and `outputs`: pairs of a name and a tensor."""
    made = w.schema.SignatureDefT()
    made.signatureKey, made.subgraphIndex = key.encode(), subgraph
    for field, pairs in (("inputs", inputs), ("outputs", outputs)):
        maps = []
        for name, tensor in pairs:
            entry = w.schema.TensorMapT()
            entry.name, entry.tensorIndex = name.encode(), tensor
            maps.append(entry)
        setattr(made, field, maps)
    w.model.signatureDefs = (w.model.signatureDefs or []) + [made]


def two_functions(subgraph=1, keys=("prefill", "decode"), nameless=False):
    """Two functions of other shapes, with tensors of one name, that share weights; the second has a variable of its own, and runs a branch."""
    w = Writer()
    x, y = w.tensor("x", [2, 4], F), w.tensor("y", [2, 3], F)
    w.operator("FULLY_CONNECTED", [x, w.tensor("w", WEIGHTS.shape, F, WEIGHTS)], [y], ("FullyConnectedOptions", {}))
    shared = w.graph.tensors[2].buffer
    w.begin_graph("decode")
    x1, weights, y1, memory, s = w.tensor("x", [1, 4], F), w.tensor("w", WEIGHTS.shape, F), w.tensor("z", [1, 3], F), w.tensor("memory", [1, 3], F, variable=True), w.tensor("y", [1, 3], F)
    w.graph.tensors[weights].buffer = shared
    bias, zeros = w.tensor("bias", [3], F, np.ones(3, F)), w.tensor("zeros", [3, 3], F, np.zeros((3, 3), F))
    w.operator("FULLY_CONNECTED", [x1, weights], [y1], ("FullyConnectedOptions", {}))
    w.operator("RNN", [y1, w.tensor("one", [3, 3], F, np.eye(3, dtype=F)), zeros, bias, memory], [s], ("RNNOptions", {"fusedActivationFunction": 4}))
    w.end_graph([x1], [s])
    if nameless:
        w.begin_graph("loose")
        a, b = w.tensor("a", [1], F), w.tensor("b", [1], F)
        w.operator("NEG", [a], [b])
        w.end_graph([a], [b])
    signature(w, keys[0], 0, [("x", x)], [("y", y)])
    signature(w, keys[1], subgraph, [("token", x1)], [("logits", s)])
    return w.finish([x], [y])


def litert_of(content, key, given):
    from ai_edge_litert.interpreter import Interpreter
    return Interpreter(model_content=content).get_signature_runner(key)(**given)


def compared(folder, content, key, options, given, want):
    """What is wrong with a function, or None; `given`: by names of the signature, whose tensors ours are."""
    done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check", *options)
    if done.returncode != 0:
        return done.stderr
    np.save(folder / "x.npy", next(iter(given.values())))
    done = nsk("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    if done.returncode != 0:
        return done.stderr
    wrong = difference(np.load(folder / "out" / "y.npy"), litert_of(content, key, given)[want])
    checked = nsk("check", folder / "m.tflite", folder / "m.nsk")
    return wrong or (checked.stderr if checked.returncode != 0 else None)


def said(folder, wanted, *arguments):
    """None where a command fails and says all of it."""
    done = nsk(*arguments)
    lacks = [text for text in wanted if text not in done.stderr]
    return f"{arguments[0]} ended with {done.returncode} and said {done.stderr!r}, not {lacks}" if done.returncode == 0 or lacks else None


def findings(folder):
    content, source, output = two_functions(), folder / "m.tflite", folder / "m.nsk"
    source.write_bytes(content)
    x = np.random.default_rng(1).uniform(-1, 1, (2, 4)).astype(F)
    yield "the first one", compared(folder, content, "prefill", [], {"x": x}, "y")
    yield "the first one by name", compared(folder, content, "prefill", ["--signature", "prefill"], {"x": x}, "y")
    yield "the second one", compared(folder, content, "decode", ["--signature", "decode"], {"token": x[:1]}, "logits")
    plain, named = (nsk("convert", source, "-o", output, *options).stdout for options in ([], ["--signature", "decode"]))
    yield "the note", None if "signature 'prefill' is converted; --signature NAME takes another one of them: 'decode'" in plain else plain
    yield "the note of the second", None if "signature 'decode' is converted; --signature NAME takes another one of them: 'prefill'" in named else named
    yield "a name that is near", said(folder, ["no signature 'decod'", "'decode'", "'prefill'"], "convert", source, "-o", output, "--signature", "decod")
    written = nsk("json", source, "-o", folder / "g.json", "--signature", "decode")
    yield "its graph", None if written.returncode == 0 and "memory" in (folder / "g.json").read_text() else written.stderr
    yield "a graph that is none", said(folder, ["--signature chooses a function of a TensorFlow Lite model"], "convert", folder / "g.json", "-o", output, "--signature", "decode")
    source.write_bytes(two_functions(subgraph=7))
    yield "a subgraph that does not exist", said(folder, ["signature 'decode' names subgraph 7, but there are 2"], "convert", source, "-o", output, "--signature", "decode")
    source.write_bytes(two_functions(nameless=True))
    warned = nsk("convert", source, "-o", output).stderr
    yield "a subgraph without a name", None if "subgraphs that nothing names and nothing runs, which are left out: 2" in warned else warned
    source.write_bytes(two_functions(keys=("same", "same")))
    yield "a name that is there twice", said(folder, ["signature 'same' names two functions, subgraphs 0 and 1"], "convert", source, "-o", output, "--signature", "same")


def main():
    if not have_litert():
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_signatures_") as folder:
        results = list(findings(pathlib.Path(folder)))
    wrong = [f"{name}: {text}" for name, text in results if text]
    print("\n".join(wrong + [f"{len(results)} findings, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
