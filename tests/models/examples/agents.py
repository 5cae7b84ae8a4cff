#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Policies of agents through the command line, against ONNX Runtime.

  agents.py [FOLDER]      (default: our own, and those of agents/ among the models, models.py)
Every policy converts with --check for one agent and for a batch; agents_memory.py has those with a memory run over time. ONNX Runtime makes other random numbers, so its
copy of the model gets those of the format, computed here in NumPy, as inputs; then all outputs are compared, the stochastic ones too.
Rows of a smaller batch must have the bits that they have alone.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import philox  # noqa: E402
from models import AGENTS, SHARED, error_of, file_name, must, nsk  # noqa: E402

TOLERANCE = 1e-4
RECURRENT = {"LSTM", "GRU", "RNN"}
SAMPLERS = {"RandomNormalLike": philox.normal, "Multinomial": philox.gumbel}
MAXIMUM, FEW, SEED = 12, 5, 20261121
FEATURE_BATCH = 1  # of the file header


def with_noise_as_input(model):
    """A copy whose random nodes read inputs, and [(input, how to sample it)] in the order of their streams."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    nodes, noises = [], []
    for node in result.graph.node:
        sample = SAMPLERS.get(node.op_type)
        if sample is None:
            nodes.append(node)
            continue
        name = f"noise_{len(noises)}"
        noises.append((name, sample))
        result.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
        if node.op_type == "Multinomial":
            kind = next((a.i for a in node.attribute if a.name == "dtype"), TensorProto.INT32)
            nodes += [helper.make_node("Add", [node.input[0], name], [name + "_sum"]),
                      helper.make_node("ArgMax", [name + "_sum"], [name + "_best"], axis=1, keepdims=1),
                      helper.make_node("Cast", [name + "_best"], node.output, to=kind)]
        else:
            nodes.append(helper.make_node("Identity", [name], node.output))
    del result.graph.node[:]
    result.graph.node.extend(nodes)
    return result, noises


def noise_widths(model, noises, inputs):
    """Lengths of the rows of noise, by what the random nodes read."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    read = [n.input[0] for n in model.graph.node if n.op_type in SAMPLERS]
    del probe.graph.output[:]
    probe.graph.output.extend(helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in read)
    values = onnxruntime.InferenceSession(probe.SerializeToString()).run(read, inputs) if read else []
    return [v.shape for v in values]


def live_inputs(model):
    initializers = {i.name for i in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in initializers]


def random_inputs(model, rows, seed):
    """Observations in [-1, 1), masks that leave the first action of each branch; one row per agent."""
    generator = np.random.default_rng(seed)
    result = {}
    for i in live_inputs(model):
        shape = [rows] + [d.dim_value for d in i.type.tensor_type.shape.dim[1:]]
        x = generator.uniform(-1, 1, shape).astype(np.float32)
        if i.name == "action_masks":
            x = (x > -0.5).astype(np.float32)
            x[:, 0] = 1
        result[i.name] = x
    return result


def run_nsk(model, inputs, folder, *options):
    arguments = []
    for index, (name, value) in enumerate(inputs.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments += ["--input", f"{name}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out", "--seed", SEED, *options)


def outputs_of(names, folder):
    return {n: np.load(folder / "out" / file_name(n)) for n in names}


def expected(model, inputs):
    noisy, noises = with_noise_as_input(model)
    shapes = noise_widths(model, noises, inputs)
    feeds = dict(inputs)
    for stream, ((name, sample), shape) in enumerate(zip(noises, shapes)):
        feeds[name] = sample(shape, stream, SEED).astype(np.float32)
    names = [o.name for o in model.graph.output]
    return dict(zip(names, onnxruntime.InferenceSession(noisy.SerializeToString()).run(names, feeds)))


def compare_all(got, wanted, rows):
    worst = 0.0
    for name, want in wanted.items():
        mine = got[name]
        if mine.shape != want.shape:
            mine = mine[:rows]
        worst = max(worst, error_of(mine, want))
    return worst


def in_batch(inputs, rows):
    """The inputs in a batch of MOST whose other rows are not numbers."""
    return {n: np.concatenate([x[:rows], np.full((MAXIMUM - rows,) + x.shape[1:], np.nan, x.dtype)]) for n, x in inputs.items()}


def check_policy(path, folder):
    model = onnx.load(path)
    names = [o.name for o in model.graph.output]
    many = random_inputs(model, FEW, 7)
    one = {n: x[:1] for n, x in many.items()}
    single, batch = folder / "single.nsk", folder / "batch.nsk"
    must("convert", path, "-o", single, *[w for n, x in one.items() for w in ("--input", f"{n}={'x'.join(map(str, x.shape))}")], "--no-states", "--check")
    run_nsk(single, one, folder)
    worst = compare_all(outputs_of(names, folder), expected(model, one), 1)

    must("convert", path, "-o", batch, "--batch-max", MAXIMUM, "--no-states", "--check")
    assert int.from_bytes(batch.read_bytes()[12:16], "little") == FEATURE_BATCH, f"{path.name}: the header does not say that the file has a batch"
    run_nsk(batch, in_batch(many, FEW), folder, "--batch", FEW)
    together, wanted = outputs_of(names, folder), expected(model, many)
    worst = max(worst, compare_all(together, wanted, FEW))
    noiseless = [n for n in names if "deterministic" in n or not depends_on_noise(model, n)]
    for row in range(FEW):
        run_nsk(batch, in_batch({n: x[row:row + 1] for n, x in many.items()}, 1), folder, "--batch", 1)
        alone = outputs_of(noiseless, folder)
        for n in noiseless:
            if wanted[n].shape[:1] == (FEW,) and alone[n][0].tobytes() != together[n][row].tobytes():
                raise SystemExit(f"{path.name}: row {row} of '{n}' has other bits alone than in a batch")
    return worst


def depends_on_noise(model, name):
    needed = {name}
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            if node.op_type in SAMPLERS:
                return True
            needed |= set(node.input)
    return False


def small_model(folder, nodes, shape, **constants):
    """x [batch, ...] -> y, of any nodes between."""
    graph = helper.make_graph(nodes, "rows", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [onnx.numpy_helper.from_array(v, k) for k, v in constants.items()])
    path = folder / "rows.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def check_refusals(folder):
    """Models in which rows meet, or are elsewhere than outermost, must not convert; nor those without an open batch."""
    square = np.eye(MAXIMUM, dtype=np.float32)
    cases = {
        "a mean of the batch": ([helper.make_node("ReduceMean", ["x"], ["y"], axes=[0])], ["batch", 4], {}),
        "a softmax along the batch": ([helper.make_node("Softmax", ["x"], ["y"], axis=0)], ["batch", 4], {}),
        "a product across the batch": ([helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["t", "w"], ["y"])],
                                       ["batch", 4], {"w": square}),
        "a batch times itself": ([helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["y"])], ["batch", 4], {}),
        "integers times those of all rows": ([helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT32),
                                              helper.make_node("ReduceSum", ["i", "a"], ["s"], keepdims=0),
                                              helper.make_node("Unsqueeze", ["s", "one"], ["r"]), helper.make_node("MatMul", ["i", "r"], ["p"]),
                                              helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT)],
                                             ["batch", 2, MAXIMUM], {"a": np.array([1, 2]), "one": np.array([1])}),
        "one row of the batch": ([helper.make_node("Gather", ["x", "i"], ["y"], axis=0)], ["batch", 4], {"i": np.array([1, 0], np.int64)}),
        "rows in another order": ([helper.make_node("Slice", ["x", "b", "e", "a", "s"], ["y"])], ["batch", 4],
                                  {"b": np.array([-1]), "e": np.array([-100]), "a": np.array([0]), "s": np.array([-1])}),
        "a constant for each row": ([helper.make_node("Add", ["x", "c"], ["y"])], ["batch", 4], {"c": np.arange(MAXIMUM * 4, dtype=np.float32).reshape(MAXIMUM, 4)}),
        "rows that become columns": ([helper.make_node("Reshape", ["x", "r"], ["y"])], ["batch", 4], {"r": np.array([4, MAXIMUM])}),
        "a recurrent layer along the batch": ([helper.make_node("Unsqueeze", ["x", "a"], ["s"]), helper.make_node("RNN", ["s", "w", "r"], ["y"], hidden_size=3)], ["batch", 4],
                              {"a": np.array([1]), "w": np.ones((1, 3, 4), np.float32), "r": np.ones((1, 3, 3), np.float32)}),
        "no open batch": ([helper.make_node("Relu", ["x"], ["y"])], [2, 4], {}),
    }
    for name, (nodes, shape, constants) in cases.items():
        done = nsk("convert", small_model(folder, nodes, shape, **constants), "-o", folder / "rows.nsk", "--batch-max", MAXIMUM)
        if done.returncode != 2 or "--batch-max" not in done.stderr:
            raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    same = small_model(folder, [helper.make_node("Add", ["x", "c"], ["y"])], ["batch", 4], c=np.ones((MAXIMUM, 4), np.float32))
    must("convert", same, "-o", folder / "rows.nsk", "--batch-max", MAXIMUM, "--check")
    np.save(folder / "x.npy", np.zeros((MAXIMUM, 4), np.float32))
    done = nsk("run", folder / "rows.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder, "--batch", MAXIMUM + 1)
    if done.returncode != 2:
        raise SystemExit(f"a batch of {MAXIMUM + 1} rows: exit code {done.returncode}, {done.stderr}")


def check_states(folder):
    """States belong to a session, not to rows: in a batch they are refused, and work as inputs and outputs."""
    rows = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4])
    nodes = [helper.make_node("Add", ["x", "h_in"], ["h_out"]), helper.make_node("Relu", ["h_out"], ["y"])]
    source, model = folder / "memory.onnx", folder / "memory.nsk"
    graph = helper.make_graph(nodes, "memory", [rows("x"), rows("h_in")], [rows("y"), rows("h_out")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), source)
    done = nsk("convert", source, "-o", model, "--batch-max", MAXIMUM)
    if done.returncode != 2 or "state 'h_in'" not in done.stderr:
        raise SystemExit(f"a state with rows: exit code {done.returncode}, {done.stderr}")
    must("convert", source, "-o", model, "--batch-max", MAXIMUM, "--no-states", "--check")
    must("convert", source, "-o", model, "--input", "x=2x4", "--input", "h_in=2x4", "--output-value", "y", "--output-value", "h_out")
    if [s["name"] for s in json.loads(must("inspect", model, "--json"))["variants"][0]["states"]] != ["h_in"]:
        raise SystemExit("a state whose output was named is no state")
    must("check", source, model)


def check_operators(folder):
    """Every random operator, its attributes, types and ranks, against the same numbers in NumPy."""
    x = np.random.default_rng(3).uniform(-2, 2, (3, 5)).astype(np.float32)
    p = (1 / (1 + np.exp(-x.astype(np.float64))))
    best = lambda stream, samples: (x[:, None, :] + philox.gumbel((3, samples, 5), stream, SEED)).argmax(-1)
    wanted = [2 + 0.5 * philox.normal((3, 4, 5), 0, SEED), -2 + 5 * philox.uniform((7,), 1, SEED), 1 + 3 * philox.uniform((3, 5), 2, SEED),
              philox.normal((3, 5), 3, SEED), best(4, 6).astype(np.int64), best(5, 1).astype(np.int32),
              (philox.uniform((3, 5), 6, SEED) < p).astype(np.float32), philox.uniform((3, 5), 7, SEED) < p, philox.normal((2, 3, 4, 5), 8, SEED)]
    nodes = [helper.make_node("RandomNormal", [], ["y0"], mean=2.0, scale=0.5, shape=[3, 4, 5], seed=1.0),
             helper.make_node("RandomUniform", [], ["y1"], low=-2.0, high=3.0, shape=[7]),
             helper.make_node("RandomUniformLike", ["x"], ["y2"], low=1.0, high=4.0), helper.make_node("RandomNormalLike", ["x"], ["y3"]),
             helper.make_node("Multinomial", ["x"], ["y4"], sample_size=6, dtype=TensorProto.INT64), helper.make_node("Multinomial", ["x"], ["y5"]),
             helper.make_node("Sigmoid", ["x"], ["p"]), helper.make_node("Bernoulli", ["p"], ["y6"]),
             helper.make_node("Bernoulli", ["p"], ["y7"], dtype=TensorProto.BOOL), helper.make_node("RandomNormal", [], ["y8"], shape=[2, 3, 4, 5])]
    kinds = {np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32, np.dtype(bool): TensorProto.BOOL}
    outputs = [helper.make_tensor_value_info(f"y{i}", kinds.get(w.dtype, TensorProto.FLOAT), list(w.shape)) for i, w in enumerate(wanted)]
    graph = helper.make_graph(nodes, "drawn", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 5])], outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), folder / "drawn.onnx")
    must("convert", folder / "drawn.onnx", "-o", folder / "drawn.nsk", "--check")
    run_nsk(folder / "drawn.nsk", {"x": x}, folder, "--lanes", 2)
    for i, want in enumerate(wanted):
        got = np.load(folder / "out" / f"y{i}.npy")
        if kinds.get(want.dtype) is None:
            want = want.astype(np.float32)
        if error_of(got, want) > 1e-6:
            raise SystemExit(f"y{i}: {error_of(got, want):.1e} from the numbers that NumPy makes")


def check_chosen_outputs(folder):
    """Only the outputs that are named are left, and with them the random steps."""
    model = folder / "sure.nsk"
    must("convert", AGENTS[0], "-o", model, "--batch-max", MAXIMUM, "--output-value", "deterministic_continuous_actions", "--check")
    must("check", AGENTS[0], model)
    seen = json.loads(must("inspect", model, "--json"))["variants"][0]
    if [o["name"] for o in seen["outputs"]] != ["deterministic_continuous_actions"] or any(s["operator"] == "Random" for s in seen["steps"]):
        raise SystemExit(f"outputs {seen['outputs']}, steps {[s['operator'] for s in seen['steps']]}")
    must("convert", AGENTS[0], "-o", model, "--input", "obs_0=1x13")
    if "nsk::op::random" not in must("inspect", model, "--settings"):
        raise SystemExit("the settings that are printed lack the operator random")
    if nsk("convert", AGENTS[0], "-o", model, "--batch-max", MAXIMUM, "--output-value", "nothing").returncode != 1:
        raise SystemExit("an output that there is not was accepted")


def main(folder):
    philox.check_known_answers()
    with tempfile.TemporaryDirectory(prefix="nsk_agents_") as work:
        check_refusals(pathlib.Path(work))
        check_states(pathlib.Path(work))
        check_operators(pathlib.Path(work))
        check_chosen_outputs(pathlib.Path(work))
    files = AGENTS + sorted(pathlib.Path(folder).glob("*.onnx"))
    if files == AGENTS:
        print(f"note: no policies in {folder}; set NSK_MODELS for more than our own")
    failed = 0
    for path in files:
        with tempfile.TemporaryDirectory(prefix="nsk_agents_") as work:
            worst = check_policy(path, pathlib.Path(work))
        print(f"{path.name}: within {worst:.1e} of ONNX Runtime, one agent and {FEW} of {MAXIMUM}")
        failed += worst > TOLERANCE
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else SHARED / "agents"))
