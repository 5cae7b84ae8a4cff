#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random decision trees of ai.onnx.ml through the command line, against ONNX Runtime; and models that have to be refused."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import error_of, must, nsk, onnx_session  # noqa: E402

TOLERANCE = 1e-5
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def random_tree_ensemble(generator, trees, features, targets, missing):
    """Attributes of a TreeEnsembleRegressor; a tree's nodes have any numbers, its root 0."""
    a = {k: [] for k in ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids",
                         "nodes_falsenodeids", "target_treeids", "target_nodeids", "target_ids", "target_weights")}
    tracks = []

    def grow(tree, number, depth, used):
        leaf = depth == 0 or generator.random() < 0.2
        yes, no = (0, 0) if leaf else (used[0] + 1, used[0] + 2)
        used[0] += 0 if leaf else 2
        for key, value in (("treeids", tree), ("nodeids", number), ("featureids", 0 if leaf else int(generator.integers(features))),
                           ("modes", "LEAF" if leaf else MODES[generator.integers(6)]), ("values", float(generator.integers(-3, 4)) / 2),
                           ("truenodeids", yes), ("falsenodeids", no)):
            a["nodes_" + key].append(value)
        tracks.append(int(generator.integers(2)))
        if leaf:
            for target in range(targets):
                for key, value in (("treeids", tree), ("nodeids", number), ("ids", target), ("weights", float(generator.normal()))):
                    a["target_" + key].append(value)
        else:
            for child in (yes, no):
                grow(tree, child, depth - 1, used)

    for tree in range(trees):
        used = [0]
        grow(tree, 0, int(generator.integers(1, 6)), used)
        names = [0] + [int(n) for n in generator.permutation(np.arange(1, used[0] + 1))]
        for key in ("nodes_nodeids", "nodes_truenodeids", "nodes_falsenodeids", "target_nodeids"):
            trees_of = a["target_treeids" if key.startswith("target") else "nodes_treeids"]
            a[key] = [names[n] if t == tree else n for n, t in zip(a[key], trees_of)]
    if missing:
        a["nodes_missing_value_tracks_true"] = tracks
    return a


def model_of(node, features, targets, kind=TensorProto.FLOAT):
    graph = helper.make_graph([node], "trees", [helper.make_tensor_value_info("x", kind, ["batch", features])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", targets])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)


def compare(folder, seed):
    generator = np.random.default_rng(seed)
    features, targets, rows = int(generator.integers(1, 8)), int(generator.integers(1, 4)), 6
    attributes = random_tree_ensemble(generator, int(generator.integers(1, 20)), features, targets, seed % 2)
    if seed % 3:
        attributes["base_values"] = [float(x) for x in generator.normal(size=targets)]
    how = ["SUM", "AVERAGE", "MIN", "MAX"][seed % 4]
    model = model_of(helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets, aggregate_function=how,
                                      post_transform="NONE", **attributes), features, targets)
    x = (generator.integers(-4, 5, (rows, features)) / 2).astype(np.float32)
    if seed % 2:
        x[generator.random(x.shape) < 0.1] = np.nan
    onnx.save(model, folder / "m.onnx")
    np.save(folder / "x.npy", x)
    must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--batch-max", 8, "--check")
    np.save(folder / "wide.npy", np.concatenate([x, np.full((2, features), np.nan, np.float32)]))
    must("run", folder / "m.nsk", "--input", f"x={folder / 'wide.npy'}", "--batch", rows, "--output-dir", folder)
    return error_of(np.load(folder / "y.npy")[:rows], onnx_session(folder / "m.onnx").run(None, {"x": x})[0])


def refusals(folder):
    """What must not convert: (what, change of the attributes, word of the message)."""
    def cycle(a):
        a["nodes_truenodeids"][0] = a["nodes_nodeids"][0]

    def lost(a):
        a["nodes_truenodeids"][0] = 999

    def blind(a):
        a["nodes_featureids"][0] = 77

    def softened(a):
        a["post_transform"] = "SOFTMAX"

    for change, word in ((cycle, "no tree"), (lost, "no node"), (blind, "feature"), (softened, "post_transform")):
        generator = np.random.default_rng(2)
        attributes = random_tree_ensemble(generator, 1, 3, 1, False)
        while attributes["nodes_modes"][0] == "LEAF":
            attributes = random_tree_ensemble(generator, 1, 3, 1, False)
        change(attributes)
        node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, **attributes)
        onnx.save(model_of(node, 3, 1), folder / "bad.onnx")
        done = nsk("convert", folder / "bad.onnx", "-o", folder / "bad.nsk", "--input", "x=2x3")
        if done.returncode != 2 or word not in done.stderr:
            raise SystemExit(f"{change.__name__}: exit code {done.returncode}, {done.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_trees_") as folder:
        worst = max(compare(pathlib.Path(folder), seed) for seed in range(16))
        refusals(pathlib.Path(folder))
    print(f"16 random tree ensembles: within {worst:.1e} of ONNX Runtime")
    return 1 if worst > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
