#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators of ONNX Runtime that the converter writes by those of ONNX: attention in its forms, rotations, weights of few bits and of a dynamic
LSTM, whole transformers saved by its optimiser; each against ONNX Runtime."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import nsk, plain_session, results_of, told  # noqa: E402

F = np.float32
MS = "com.microsoft"
random = np.random.default_rng(51)
failures = []


def numbers(*shape):
    return (random.standard_normal(shape) * 0.5).astype(F)


def model_of(nodes, inputs, constants, outputs, path, opset=17):
    """inputs: {name: array}, whose types and shapes the model has; outputs: names of floats, or {name: ONNX's type}."""
    info = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    results = outputs if isinstance(outputs, dict) else dict.fromkeys(outputs, TensorProto.FLOAT)
    graph = helper.make_graph(nodes, "net", [info(n, a) for n, a in inputs.items()], [helper.make_tensor_value_info(o, t, None) for o, t in results.items()],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)], ir_version=8), str(path))


def compare(folder, what, source, inputs, tolerance=2e-6, options=()):
    done = nsk("convert", source, "-o", folder / "net.nsk", "--no-states", *options)
    if done.returncode:
        failures.append(f"{what}: exit {done.returncode}, {done.stderr.strip()[:300]}")
        return
    session, result = plain_session(source), results_of(folder / "net.nsk", inputs, folder)
    for output, theirs in zip(session.get_outputs(), session.run(None, inputs)):
        ours = result(output.name).astype(np.float64)
        error = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-6) if ours.shape == theirs.shape else np.inf
        print(f"{what}, {output.name}: {error:.1e}")
        if not error <= tolerance:
            failures.append(f"{what}, {output.name}: {error:.2e} of the largest magnitude")


def attention(folder):
    """Masks of every form, a past, one direction, heads of another size."""
    b, s, d, heads = 2, 5, 12, 3
    raw, raw3 = random.integers(0, 2, (b, s)).astype(np.int32), random.integers(0, 2, (b, s, s)).astype(np.int32)
    raw[:, 0] = raw3[:, :, 0] = 1
    past = numbers(2, b, heads, 4, d // heads)
    cases = {
        "plain": ({}, [], {}), "one direction": ({"unidirectional": 1}, [], {}),
        "a mask": ({}, ["mask"], {"mask": raw}), "a mask for each query": ({}, ["mask"], {"mask": raw3}),
        "lengths": ({}, ["mask"], {"mask": np.array([3, 5], np.int32)}),
        "a past": ({"unidirectional": 1}, ["", "past"], {"past": past}),
        "a bias": ({"scale": 0.3}, ["", "", "bias_of_scores"], {"bias_of_scores": numbers(b, heads, s, s)}),
    }
    for what, (attributes, more, extra) in cases.items():
        inputs = {"x": numbers(b, s, d), **extra}
        outputs = ["y", "present"] if "past" in more else ["y"]
        node = helper.make_node("Attention", ["x", "w", "b", *more], outputs, domain=MS, num_heads=heads, **attributes)
        model_of([node], inputs, {"w": numbers(d, 3 * d), "b": numbers(3 * d)}, outputs, folder / "net.onnx")
        compare(folder, f"Attention with {what}", folder / "net.onnx", inputs)


def multi_head(folder):
    b, s, t, d, heads = 2, 3, 6, 8, 2
    cases = {"plain": (["", "", ""], {}), "a bias": (["bias", "", ""], {"bias": numbers(3 * d)}),
             "a mask": (["", "mask", ""], {"mask": np.array([[1] * 4 + [0] * 2, [1] * 6], np.int32)}),
             "a bias of scores": (["", "", "scores"], {"scores": numbers(b, heads, s, t)})}
    for what, (more, extra) in cases.items():
        inputs = {"q": numbers(b, s, d), "k": numbers(b, t, d), "v": numbers(b, t, d), **extra}
        while more and more[-1] == "":
            more = more[:-1]
        node = helper.make_node("MultiHeadAttention", ["q", "k", "v", *more], ["y"], domain=MS, num_heads=heads)
        model_of([node], inputs, {}, ["y"], folder / "net.onnx")
        compare(folder, f"MultiHeadAttention with {what}", folder / "net.onnx", inputs)


def rotations(folder):
    b, s, heads, size = 2, 4, 3, 8
    for interleaved in (0, 1):
        for what, places in {"places": random.integers(0, 16, (b, s)), "a first place": np.array([5])}.items():
            for rotated in (0, 4):
                half = (rotated or size) // 2
                inputs = {"x": numbers(b, s, heads * size) if rotated == 0 else numbers(b, heads, s, size), "p": places.astype(np.int64)}
                extra = {} if rotated == 0 else {"rotary_embedding_dim": rotated, "num_heads": heads}
                node = helper.make_node("RotaryEmbedding", ["x", "p", "c", "n"], ["y"], domain=MS, interleaved=interleaved, **extra)
                model_of([node], inputs, {"c": numbers(16, half), "n": numbers(16, half)}, ["y"], folder / "net.onnx")
                compare(folder, f"RotaryEmbedding of {what}, interleaved {interleaved}, {rotated} rotated", folder / "net.onnx", inputs)


def few_bits(folder):
    for bits in (4, 8):
        for k, n, block in ((64, 5, 32), (40, 7, 16), (16, 1, 16)):
            count = -(-k // block)
            constants = {"B": random.integers(0, 256, (n, count, block * bits // 8)).astype(np.uint8), "s": np.abs(numbers(n * count)) + F(0.01)}
            for zeros in ("none", "packed"):
                names = ["x", "B", "s"]
                if zeros == "packed":
                    constants["z"] = random.integers(0, 256, n * -(-count * bits // 8)).astype(np.uint8)
                    names.append("z")
                inputs = {"x": numbers(3, k)}
                node = helper.make_node("MatMulNBits", names, ["y"], domain=MS, K=k, N=n, bits=bits, block_size=block)
                model_of([node], inputs, constants, ["y"], folder / "net.onnx")
                compare(folder, f"MatMulNBits of {bits} bits, {k} x {n}, zero points {zeros}", folder / "net.onnx", inputs, 1e-5)


def dynamic_lstm(folder):
    """ONNX Runtime rounds what it multiplies to 8 bits: a bound of that, while the LSTM of widened weights is within rounding."""
    steps, batch, width, hidden = 6, 2, 8, 5
    w, r = (random.integers(-128, 128, (1, d, 4 * hidden)).astype(np.int8) for d in (width, hidden))
    scales = {"ws": np.array([0.01], F), "wz": np.array([0], np.int8), "rs": np.array([0.008], F), "rz": np.array([3], np.int8)}
    inputs, bias = {"x": numbers(steps, batch, width)}, numbers(1, 8 * hidden)
    node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"], ["y"], domain=MS, hidden_size=hidden)
    model_of([node], inputs, {"w": w, "r": r, "b": bias, **scales}, ["y"], folder / "net.onnx")
    compare(folder, "DynamicQuantizeLSTM", folder / "net.onnx", inputs, 0.02)
    ours = results_of(folder / "net.nsk", inputs, folder)("y")
    wide = {"w": (w.astype(F) * scales["ws"]).transpose(0, 2, 1), "r": ((r.astype(F) - 3) * scales["rs"]).transpose(0, 2, 1)}
    model_of([helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=hidden)], inputs, {**wide, "b": bias}, ["y"], folder / "wide.onnx")
    theirs = plain_session(folder / "wide.onnx").run(None, inputs)[0]
    if not np.abs(ours - theirs).max() < 2e-6:
        failures.append(f"DynamicQuantizeLSTM is {np.abs(ours - theirs).max()} from the LSTM of its weights")


def embeddings(folder):
    """Words, segments, a mask whose sum is told, places that are given."""
    ids, more = random.integers(0, 9, (2, 4)).astype(np.int32), {"seg": random.integers(0, 2, (2, 4)).astype(np.int32),
                                                                "mask": np.array([[1, 1, 0, 0], [1, 0, 1, 1]], np.int32), "at": random.integers(0, 6, (2, 4)).astype(np.int32)}
    tables = {"w": numbers(9, 8), "p": numbers(6, 8), "s": numbers(2, 8), "g": numbers(8), "b": numbers(8)}
    for read in (["ids", "", "w", "p", "", "g", "b"], ["ids", "seg", "w", "p", "s", "g", "b", "mask"], ["ids", "seg", "w", "p", "s", "g", "b", "mask", "at"]):
        inputs = {"ids": ids} | {n: a for n, a in more.items() if n in read}
        node = helper.make_node("EmbedLayerNormalization", read, ["y", "count"], domain=MS)
        model_of([node], inputs, {n: a for n, a in tables.items() if n in read}, {"y": TensorProto.FLOAT, "count": TensorProto.INT32}, folder / "net.onnx")
        compare(folder, f"EmbedLayerNormalization of {len(read)}", folder / "net.onnx", inputs)


def single(folder):
    """Forms that no family samples: every result of a residual, channels last, storage along an axis, operators of old exporters."""
    x, k, image = numbers(2, 3, 8), numbers(2, 3, 8), random.integers(0, 256, (1, 5, 6, 3)).astype(np.uint8)
    g = {"g": numbers(8), "b": numbers(8)}
    node = lambda op, read, made, **a: helper.make_node(op, read, made, domain=MS, **a)
    old = lambda op, read, **a: helper.make_node(op, read, ["y"], **a)
    forms = [(node("SkipLayerNormalization", ["x", "k", "g", "b"], ["y", "m", "v", "s"]), {"x": x, "k": k}, g, ["y", "m", "v", "s"], 17),
             (helper.make_node("SimplifiedLayerNormalization", ["x", "g"], ["y", "i"], axis=-1, epsilon=1e-5), {"x": x}, {"g": g["g"]}, ["y", "i"], 17),
             (node("NhwcMaxPool", ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]), {"x": image}, {}, {"y": TensorProto.UINT8}, 17),
             (node("TransposeMatMul", ["x", "w"], ["y"], transB=1, alpha=0.5), {"x": x, "w": numbers(2, 5, 8)}, {}, ["y"], 17),
             (old("Scale", ["x"], scale=0.5), {"x": x}, {}, ["y"], 7), (old("Crop", ["x"], border=[1, 2, 0, 0], scale=[3, 4]), {"x": numbers(1, 2, 8, 8)}, {}, ["y"], 7),
             (old("DynamicSlice", ["x", "from", "to"]), {"x": numbers(5, 6)}, {"from": np.array([1, 2]), "to": np.array([4, 5])}, ["y"], 7)]
    for axis, length in ((0, 3), (1, 4)):
        along = {"s": np.abs(numbers(length)) + F(0.05), "z": np.arange(length).astype(np.uint8)}
        forms.append((node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=axis), {"x": numbers(3, 4)}, along, {"y": TensorProto.UINT8}, 17))
        forms.append((node("DequantizeLinear", ["x", "s", "z"], ["y"], axis=axis), {"x": random.integers(0, 256, (3, 4)).astype(np.uint8)}, along, ["y"], 17))
    for made, inputs, constants, outputs, opset in forms:
        model_of([made], inputs, constants, outputs, folder / "net.onnx", opset)
        compare(folder, made.op_type, folder / "net.onnx", inputs)


def sizes_of_bytes(folder):
    """Linear sizes cut the fraction. Where the exact result is whole, either side may be a step lower; with weights in halves neither is."""
    for kind in (np.uint8, np.int8):
        x = random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (1, 3, 20, 20)).astype(kind)
        for scales in ([2, 2], [0.5, 2], [3, 2], [1.7, 0.6]):
            node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear")
            model_of([node], {"x": x}, {"s": np.array([1, 1, *scales], F)}, {"y": helper.np_dtype_to_tensor_dtype(x.dtype)}, folder / "net.onnx")
            done = nsk("convert", folder / "net.onnx", "-o", folder / "net.nsk")
            theirs = plain_session(folder / "net.onnx").run(None, {"x": x})[0].astype(int)
            apart = np.abs(results_of(folder / "net.nsk", {"x": x}, folder)("y") - theirs) if done.returncode == 0 else np.array([99])
            print(f"Resize of {kind.__name__} by {scales}: {(apart > 0).mean():.1%} a step apart")
            if apart.max() > (0 if max(scales) == 2 else 1) or (apart > 0).mean() > 0.1:
                failures.append(f"Resize of {kind.__name__} by {scales}: {apart.max()} steps, {(apart > 0).mean():.1%}, {done.stderr.strip()}")


def transformer():
    """A block as an exporter spells it: projections, masked scores, residuals, an erf."""
    d, heads = 16, 2
    size = d // heads
    constants = {f"w{i}": numbers(d, d) for i in range(4)} | {f"b{i}": numbers(d) for i in range(4)} | {
        "up": numbers(d, 32), "down": numbers(32, d), "upb": numbers(32), "downb": numbers(d), "g0": numbers(d), "n0": numbers(d), "g1": numbers(d), "n1": numbers(d),
        "words": numbers(20, d), "places": numbers(8, d), "heads": np.array([0, 0, heads, size], np.int64), "joined": np.array([0, 0, d], np.int64),
        "root": np.array(np.sqrt(size), F), "half": np.array(0.5, F), "one": np.array(1, F), "two": np.array(np.sqrt(2), F), "where": np.arange(6)[None]}
    nodes = [helper.make_node("Gather", ["words", "ids"], ["e0"]), helper.make_node("Gather", ["places", "where"], ["e1"]), helper.make_node("Add", ["e0", "e1"], ["e"]),
             helper.make_node("LayerNormalization", ["e", "g0", "n0"], ["x"], axis=-1)]
    for i, (name, order) in enumerate({"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}.items()):
        nodes += [helper.make_node("MatMul", ["x", f"w{i}"], [f"{name}0"]), helper.make_node("Add", [f"b{i}", f"{name}0"], [f"{name}1"]),
                  helper.make_node("Reshape", [f"{name}1", "heads"], [f"{name}2"]), helper.make_node("Transpose", [f"{name}2"], [name], perm=order)]
    nodes += [helper.make_node("MatMul", ["q", "k"], ["s0"]), helper.make_node("Div", ["s0", "root"], ["s1"]), helper.make_node("Softmax", ["s1"], ["p"], axis=-1),
              helper.make_node("MatMul", ["p", "v"], ["o0"]), helper.make_node("Transpose", ["o0"], ["o1"], perm=[0, 2, 1, 3]), helper.make_node("Reshape", ["o1", "joined"], ["o2"]),
              helper.make_node("MatMul", ["o2", "w3"], ["o3"]), helper.make_node("Add", ["b3", "o3"], ["o4"]), helper.make_node("Add", ["o4", "x"], ["r"]),
              helper.make_node("LayerNormalization", ["r", "g1", "n1"], ["h"], axis=-1), helper.make_node("MatMul", ["h", "up"], ["u0"]), helper.make_node("Add", ["upb", "u0"], ["u"]),
              helper.make_node("Div", ["u", "two"], ["u1"]), helper.make_node("Erf", ["u1"], ["u2"]), helper.make_node("Add", ["u2", "one"], ["u3"]), helper.make_node("Mul", ["u", "u3"], ["u4"]),
              helper.make_node("Mul", ["u4", "half"], ["u5"]), helper.make_node("MatMul", ["u5", "down"], ["z0"]), helper.make_node("Add", ["downb", "z0"], ["z1"]), helper.make_node("Add", ["z1", "h"], ["y"])]
    return nodes, {"ids": random.integers(0, 20, (1, 6))}, constants


def saved_transformer(folder):
    nodes, inputs, constants = transformer()
    model_of(nodes, inputs, constants, ["y"], folder / "source.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath, options.log_severity_level = str(folder / "saved.onnx"), 3
    onnxruntime.InferenceSession(str(folder / "source.onnx"), options, providers=["CPUExecutionProvider"])
    print(sorted({n.op_type for n in onnx.load(str(folder / "saved.onnx")).graph.node if n.domain == MS}))
    compare(folder, "a transformer saved by ONNX Runtime", folder / "saved.onnx", inputs, 1e-5)


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_spelled_") as place:
        folder = pathlib.Path(place)
        for test in (attention, multi_head, rotations, few_bits, dynamic_lstm, embeddings, single, sizes_of_bytes, saved_transformer):
            test(folder)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
