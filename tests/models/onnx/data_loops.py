#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loops that data ends, and branches that data chooses: random networks give what ONNX Runtime gives, on one lane and on two; a side of a choice
that is not taken is not computed.

    data_loops.py [--first SEED] [--count N]
"""
import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import error_of, must, nsk, plain_session, told  # noqa: E402

TOLERANCE = 1e-4  # of the largest magnitude
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
failures = []
counts = collections.Counter()


class Source:
    """A model under construction."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.constants, self.inputs, self.nodes, self.outputs, self.given = [], [], [], [], []

    def constant(self, values, kind=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def weights(self, *shape):
        return self.constant(self.random.normal(0, 0.8 / np.sqrt(shape[0]), shape))

    def save(self, path):
        graph = helper.make_graph(self.nodes, "loops", self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))

    def port(self, name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)


class Loops(Source):
    """A Loop around a vector: its number of iterations, its condition, or both are data; it may collect."""

    def __init__(self, seed):
        super().__init__(seed)
        r, self.width = self.random, int(self.random.choice([4, 8, 300]))
        self.rows = int(r.integers(2, 9))
        self.ends, self.collects, self.bounded = r.integers(1, 4), bool(r.integers(2)), bool(r.integers(2))
        self.inputs = [self.port("x", FLOAT, [1, self.width]), self.port("line", FLOAT, [self.rows, self.width])]
        trips = ""
        if self.ends & 1:
            trips = "trips"
            self.inputs.append(self.port("trips", INT64, []))
        else:
            trips = self.constant(self.rows, np.int64)
        starts = ["", self.constant(True, bool), "starts"][int(r.integers(3))]
        if starts == "starts":
            self.inputs.append(self.port("starts", BOOL, []))
        self.starts, self.trips = starts, trips
        self.nodes = [helper.make_node("Loop", [trips, starts, "x"], ["last"] + (["all"] if self.collects else []), body=self.body(), name="loop"),
                      helper.make_node("Relu", ["last"], ["y"], name="y")]
        self.outputs = [self.port("y", FLOAT, None)]
        if self.collects:
            self.nodes.append(helper.make_node("Softmax", ["all"], ["z"], axis=0, name="z"))
            self.outputs.append(self.port("z", FLOAT, None))

    def body(self):
        r, nodes, value = self.random, [], "v"
        if not self.bounded or r.integers(2):  # by the number of the iteration
            nodes += [helper.make_node("Gather", ["line", "i"], ["row"], axis=0), helper.make_node("Add", ["v", "row"], ["moved"])]
            value = "moved"
        nodes += [helper.make_node("MatMul", [value, self.weights(self.width, self.width)], ["product"]), helper.make_node("Tanh", ["product"], ["next"])]
        if self.ends & 2:
            nodes += [helper.make_node("ReduceMax", ["next"], ["size"], keepdims=0), helper.make_node("Less", ["size", self.constant(float(r.uniform(0.2, 0.95)))], ["goes"])]
        else:
            nodes.append(helper.make_node("Identity", ["c"], ["goes"]))
        outputs = [self.port("goes", BOOL, []), self.port("next", FLOAT, [1, self.width])]
        if self.collects:
            nodes.append(helper.make_node("Mul", ["next", self.constant(2.0)], ["kept"]))
            outputs.append(self.port("kept", FLOAT, [1, self.width]))
        return helper.make_graph(nodes, "body", [self.port("i", INT64, []), self.port("c", BOOL, []), self.port("v", FLOAT, [1, self.width])], outputs)

    def options(self):
        return ["--bound", f"last={self.rows}"] if self.bounded else []

    def samples(self):
        for trips in (0, 1, self.rows // 2, self.rows):
            given = {"x": self.random.normal(0, 1, (1, self.width)).astype(np.float32), "line": self.random.normal(0, 1, (self.rows, self.width)).astype(np.float32)}
            if self.trips == "trips":
                given["trips"] = np.array(trips)
            if self.starts == "starts":
                given["starts"] = np.array(trips != 1)
            yield given


class Branches(Source):
    """An If, or a Where by one boolean, between networks that are large or small; perhaps one inside the other."""

    def __init__(self, seed):
        super().__init__(seed)
        self.width = int(self.random.choice([16, 300]))
        self.inputs = [self.port("x", FLOAT, [1, self.width])]
        self.outputs = [self.port("y", FLOAT, [1, self.width])]
        value = self.layers(self.nodes, "x", "first")
        value = self.choice(self.nodes, value, "a", int(self.random.integers(2)))
        self.nodes.append(helper.make_node("Relu", [value], ["y"], name="y"))

    def layers(self, nodes, value, prefix):
        for i in range(int(self.random.integers(1, 4))):
            nodes += [helper.make_node("MatMul", [value, self.weights(self.width, self.width)], [f"{prefix}_{i}"], name=f"{prefix}_{i}"),
                      helper.make_node("Tanh", [f"{prefix}_{i}"], [f"{prefix}_{i}_t"], name=f"{prefix}_{i}_t")]
            value = f"{prefix}_{i}_t"
        return value

    def condition(self, nodes, value, name):
        if self.random.integers(2):
            self.inputs.append(self.port(name, BOOL, []))
            return name
        nodes += [helper.make_node("ReduceMean", [value], [f"{name}_mean"], keepdims=0, name=f"{name}_mean"),
                  helper.make_node("Greater", [f"{name}_mean", self.constant(0.0)], [f"{name}_is"], name=f"{name}_is")]
        return f"{name}_is"

    def side(self, value, name, depth):
        nodes = []
        result = self.layers(nodes, value, name)
        if depth:
            result = self.choice(nodes, result, name + "i", depth - 1)
        return nodes, result

    def choice(self, nodes, value, name, depth):
        condition = self.condition(nodes, value, f"is_{name}")
        sides = [self.side(value, f"{name}_{s}", depth) for s in range(2)]
        if self.random.integers(2):
            graphs = [helper.make_graph(n, f"{name}_{s}", [], [self.port(result, FLOAT, [1, self.width])]) for s, (n, result) in enumerate(sides)]
            nodes.append(helper.make_node("If", [condition], [f"{name}_chosen"], then_branch=graphs[0], else_branch=graphs[1], name=f"{name}_if"))
        else:
            nodes += sides[0][0] + sides[1][0]
            nodes.append(helper.make_node("Where", [condition, sides[0][1], sides[1][1]], [f"{name}_chosen"], name=f"{name}_where"))
        return f"{name}_chosen"

    def options(self):
        return []

    def samples(self):
        for i in range(4):
            yield {p.name: np.array(bool(self.random.integers(2))) if p.name != "x" else self.random.normal(0, 1, (1, self.width)).astype(np.float32) for p in self.inputs}


class Sides(Source):
    """An If whose sides have different numbers of rows: the past of a decoder, and none. What is behind computes on as many as there are."""

    def __init__(self, seed):
        super().__init__(seed)
        r = self.random
        self.width, self.rows, self.past = int(r.choice([4, 8])), int(r.integers(1, 4)), int(r.integers(2, 9))
        self.inputs = [self.port("x", FLOAT, [1, self.rows, self.width]), self.port("past", FLOAT, [1, self.past, self.width]), self.port("cached", BOOL, [1])]
        self.nodes, results = [helper.make_node("MatMul", ["x", self.weights(self.width, self.width)], ["k"], name="keys")], int(r.integers(1, 3))
        sides = []
        for cached in (True, False):
            nodes = []
            for i in range(results):
                source = "k" if i == 0 else "x"
                nodes.append(helper.make_node("Concat", ["past", source], [f"with_{i}"], axis=1) if cached else helper.make_node("Tanh", [source], [f"alone_{i}"]))
            sides.append(helper.make_graph(nodes, f"side_{cached}", [], [self.port(n.output[0], FLOAT, None) for n in nodes]))
        if r.integers(2):
            sides.reverse()
        self.nodes.append(helper.make_node("If", ["cached"], [f"present_{i}" for i in range(results)], then_branch=sides[0], else_branch=sides[1], name="if"))
        keys, values = "present_0", f"present_{results - 1}"
        self.nodes += [helper.make_node("Transpose", [keys], ["kt"], perm=[0, 2, 1]), helper.make_node("MatMul", ["x", "kt"], ["scores"]),
                       helper.make_node("Softmax", ["scores"], ["p"], axis=-1), helper.make_node("MatMul", ["p", values], ["attended"]),
                       helper.make_node("ReduceMax", [values], ["largest"], axes=[1], keepdims=1), helper.make_node("Add", ["attended", "largest"], ["y"])]
        self.outputs = [self.port(n, FLOAT, None) for n in ["y", *(["present_0"] if r.integers(2) else [])]]

    def options(self):
        return []

    def samples(self):
        for cached in (True, False):
            yield {"x": self.random.normal(0, 1, (1, self.rows, self.width)).astype(np.float32),
                   "past": self.random.normal(0, 1, (1, self.past, self.width)).astype(np.float32), "cached": np.array([cached])}


def compare(net, name, folder):
    source, file = folder / "source.onnx", folder / "model.nsk"
    net.save(source)
    done = nsk("convert", source, "-o", file, "--no-states", *net.options())
    if done.returncode:
        counts["refused"] += 1
        if done.returncode != 2 or "report" in done.stderr or isinstance(net, (Branches, Sides)):
            failures.append(f"{name}: exit code {done.returncode}, {done.stderr}")
        return
    counts["converted"] += 1
    stops = [s["name"] for s in json.loads(must("inspect", file, "--json"))["variants"][0]["steps"] if s["conditional"]]
    counts["with steps that may stop"] += bool(stops)
    if isinstance(net, Branches) and net.width == 300 and not stops:
        failures.append(f"{name}: both sides are computed")
    session = plain_session(source)
    for given in net.samples():
        wanted = dict(zip([o.name for o in session.get_outputs()], session.run(None, given)))
        arguments = []
        for key, value in given.items():
            np.save(folder / f"{key}.npy", value)
            arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
        for lanes in (1, 2):
            done = nsk("run", file, *arguments, "--lanes", str(lanes), "--output-dir", folder / "out")
            for output, expected in wanted.items():
                got = np.load(folder / "out" / f"{output}.npy") if done.returncode == 0 else np.zeros(0)
                if done.stderr or got.shape != expected.shape or error_of(got, expected) > TOLERANCE:
                    failures.append(f"{name}, {output} of {lanes} lanes: {got.shape} for {expected.shape}, {done.stderr}")
        counts["compared"] += 1


def too_long(folder):
    """A loop that would run longer than --bound says is told of, and one that ends there is not."""
    net = Source(0)
    net.inputs = [net.port("x", FLOAT, [1, 4]), net.port("trips", INT64, [])]
    nodes = [helper.make_node("Identity", ["c"], ["goes"]), helper.make_node("Tanh", ["v"], ["next"]), helper.make_node("Neg", ["next"], ["kept"])]
    ports = [net.port("i", INT64, []), net.port("c", BOOL, []), net.port("v", FLOAT, [1, 4])]
    body = helper.make_graph(nodes, "body", ports, [net.port("goes", BOOL, []), net.port("next", FLOAT, [1, 4]), net.port("kept", FLOAT, [1, 4])])
    net.nodes = [helper.make_node("Loop", ["trips", "", "x"], ["last", "all"], body=body, name="loop")]
    for output in ("last", "all"):
        net.outputs = [net.port(output, FLOAT, None)]
        net.save(folder / "long.onnx")
        must("convert", folder / "long.onnx", "-o", folder / "long.nsk", "--no-states", "--bound", f"{output}=3", "--quiet")
        for trips in (0, 3, 4, 9):
            np.save(folder / "trips.npy", np.array(trips))
            np.save(folder / "x.npy", np.ones((1, 4), np.float32))
            done = nsk("run", folder / "long.nsk", "--input", f"x={folder / 'x.npy'}", "--input", f"trips={folder / 'trips.npy'}", "--output-dir", folder / "long")
            if done.returncode or ("would run longer" in done.stderr) != (trips > 3):
                failures.append(f"{output} of {trips} rounds, at most 3: {done.stderr}")


def shorter_sides(folder):
    """Beside lengths that a game chooses the sides may be shorter than at the bounds: the number of rows begins at 0."""
    net = Sides(3)
    net.inputs = [net.port("x", FLOAT, [1, "rows", net.width]), net.port("past", FLOAT, [1, "before", net.width]), net.inputs[2]]
    net.save(folder / "open.onnx")
    done = nsk("convert", folder / "open.onnx", "-o", folder / "open.nsk", "--bound", "rows=5", "--bound", "before=1..7", "--quiet")
    if done.returncode == 0:
        text = must("inspect", folder / "open.nsk")
        if not re.search(r"count': 0 to 12, counted", text):
            failures.append(f"sides beside lengths: {text[:900]}")
    elif done.returncode != 2 or "report" in done.stderr:
        failures.append(f"sides beside lengths: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nsk_loops_") as name:
        too_long(pathlib.Path(name))
        shorter_sides(pathlib.Path(name))
        for seed in range(options.first, options.first + options.count):
            for kind in (Loops, Branches, Sides):
                compare(kind(seed), f"{kind.__name__} {seed}", pathlib.Path(name))
    print(dict(counts))
    if counts["converted"] < 2.5 * options.count:
        failures.append("fewer than five sixths of the networks convert")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
