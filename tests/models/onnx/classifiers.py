#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Classifiers, tree ensembles of opset 5, linear models, scalers and normalisers of ai.onnx.ml through the command line, against ONNX Runtime
and, where it knows the operator, the evaluator of the onnx package; and models that have to be refused."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import error_of, must, nsk, onnx_session  # noqa: E402
from trees import random_tree_ensemble  # noqa: E402

TOLERANCE = 1e-5
ROWS, MAXIMUM = 7, 9


def model_of(nodes, features, outputs, version=3, kind=TensorProto.FLOAT):
    """x [batch, features] -> outputs {name: (type, columns)}; columns None for a line of rows."""
    infos = [helper.make_tensor_value_info(n, t, ["batch"] + ([] if c is None else [c])) for n, (t, c) in outputs.items()]
    graph = helper.make_graph(nodes, "classified", [helper.make_tensor_value_info("x", kind, ["batch", features])], infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)], ir_version=10)


def ml(kind, **attributes):
    return helper.make_node(kind, ["x"], ["label", "y"] if "Classifier" in kind else ["y"], domain="ai.onnx.ml", **attributes)


def compare(folder, model, x, reference=True, options=()):
    """Converts with --check and compares a smaller batch; labels must be equal."""
    onnx.save(model, folder / "m.onnx")
    must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--batch-max", MAXIMUM, "--check", *options)
    np.save(folder / "x.npy", np.concatenate([x, np.ones((MAXIMUM - len(x), x.shape[1]), x.dtype)]))
    must("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--batch", len(x), "--output-dir", folder)
    names = [o.name for o in model.graph.output]
    names = [o for i, o in enumerate(options) if i % 2 == 1] or names
    oracles = {"ONNX Runtime": onnx_session(folder / "m.onnx").run(names, {"x": x})}
    if reference:
        oracles["onnx"] = ReferenceEvaluator(model).run(names, {"x": x})
    worst = 0
    for who, wanted in oracles.items():
        for name, want in zip(names, wanted):
            got = np.load(folder / f"{name}.npy")[:len(x)]
            if name == "label":
                if got.dtype != np.int64 or not np.array_equal(got, want):
                    raise SystemExit(f"labels {got}, {who} says {want}")
            else:
                worst = max(worst, error_of(got, np.asarray(want, np.float32).reshape(got.shape)))
    return worst


def observations(generator, features):
    """Numbers that fall on thresholds too."""
    return (generator.integers(-4, 5, (ROWS, features)) / 2).astype(np.float32)


def votes(tree_ensemble, one_score, sign):
    """A regressor's leaves as a classifier's votes."""
    result = {("class_" + k.removeprefix("target_") if k.startswith("target_") else k): v for k, v in tree_ensemble.items()}
    if sign:
        result["class_weights"] = [abs(w) for w in result["class_weights"]]
    if one_score:
        result["class_ids"] = [0] * len(result["class_ids"])
    return result


def random_classifier(folder, seed):
    generator = np.random.default_rng(seed)
    features, classes = int(generator.integers(1, 6)), 2 if seed % 2 else int(generator.integers(3, 6))
    tree_ensemble = votes(random_tree_ensemble(generator, int(generator.integers(1, 12)), features, 1 if classes == 2 else classes, False), classes == 2, seed % 4 == 1)
    transform = ("NONE" if seed % 4 == 1 else "LOGISTIC") if classes == 2 else ["NONE", "LOGISTIC", "SOFTMAX"][seed // 2 % 3]
    if seed % 4 == 1 and all(w == 0 for w in tree_ensemble["class_weights"]):
        return 0
    if transform == "LOGISTIC" and classes == 2:
        tree_ensemble["class_weights"][0] = -0.75  # logits, not probabilities
    if seed % 3 == 0:
        tree_ensemble["base_values"] = [float(v) for v in generator.normal(size=1 if classes == 2 else classes)]
    labels = list(range(classes)) if seed % 5 == 0 else [int(v) for v in generator.permutation(np.arange(-20, 20) * 2**33)[:classes]]
    model = model_of([ml("TreeEnsembleClassifier", classlabels_int64s=labels, post_transform=transform, **tree_ensemble)], features,
                     {"label": (TensorProto.INT64, None), "y": (TensorProto.FLOAT, classes)})
    # the evaluator of the onnx package takes the label from what is left after the transformation: other labels where that is all 1
    return compare(folder, model, observations(generator, features), reference=transform != "LOGISTIC" or classes == 2)


def random_ensemble(generator, features, targets, members):
    """Attributes of a TreeEnsemble: complete trees whose nodes and leaves are in any order of trees."""
    a = {k: [] for k in ("nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs", "leaf_targetids",
                         "tree_roots", "nodes_missing_value_tracks_true")}
    modes, splits, weights, sets = [], [], [], []

    def leaf():
        a["leaf_targetids"].append(int(generator.integers(targets)))
        weights.append(float(generator.normal()))
        return len(weights) - 1

    def grow(depth):
        me = len(modes)
        modes.append(6 if members and generator.random() < 0.4 else int(generator.integers(6)))
        splits.append(0.0 if modes[-1] == 6 else float(generator.integers(-3, 4)) / 2)
        if modes[-1] == 6:
            sets.extend([float(v) for v in generator.permutation(np.arange(1, 6))[:generator.integers(1, 5)]] + [np.nan])
        a["nodes_featureids"].append(int(generator.integers(features)))
        a["nodes_missing_value_tracks_true"].append(int(generator.integers(2)))
        for key in ("truenodeids", "falsenodeids", "trueleafs", "falseleafs"):
            a["nodes_" + key].append(0)
        for side in ("true", "false"):
            is_leaf = depth == 0 or generator.random() < 0.3
            a[f"nodes_{side}leafs"][me] = int(is_leaf)
            a[f"nodes_{side}nodeids"][me] = leaf() if is_leaf else grow(depth - 1)
        return me

    for _ in range(int(generator.integers(1, 9))):
        if generator.random() < 0.2:  # a tree that is a leaf: both branches lead to it
            a["tree_roots"].append(grow(0))
            root = a["tree_roots"][-1]
            a["nodes_falsenodeids"][root] = a["nodes_truenodeids"][root]
        else:
            a["tree_roots"].append(grow(int(generator.integers(4))))
    numbers = lambda name, values: helper.make_tensor(name, TensorProto.FLOAT, [len(values)], values)
    a |= {"nodes_modes": helper.make_tensor("m", TensorProto.UINT8, [len(modes)], modes), "nodes_splits": numbers("s", splits),
          "leaf_weights": numbers("w", weights), "n_targets": targets}
    if sets:
        a["membership_values"] = numbers("v", sets)
    return a


def random_tree_ensemble_of_positions(folder, seed):
    generator = np.random.default_rng(seed)
    features, targets = int(generator.integers(1, 6)), int(generator.integers(1, 4))
    a = random_ensemble(generator, features, targets, seed % 2)
    aggregate = [1, 0, 1, 2, 3][seed % 5]
    model = model_of([ml("TreeEnsemble", aggregate_function=aggregate, **a)], features, {"y": (TensorProto.FLOAT, targets)}, 5)
    x = observations(generator, features)
    x[generator.random(x.shape) < 0.1] = np.nan
    return compare(folder, model, x, reference=False)


def linear_models(folder, seed):
    generator = np.random.default_rng(seed)
    features, outputs = int(generator.integers(1, 20)), int(generator.integers(2, 6))
    x = generator.normal(size=(ROWS, features)).astype(np.float32)
    numbers = lambda *shape: [float(v) for v in generator.normal(size=shape).astype(np.float32).ravel()]
    labels = [int(v) for v in generator.permutation(50)[:outputs]]
    y = {"y": (TensorProto.FLOAT, outputs)}
    worst = 0
    for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
        node = ml("LinearClassifier", coefficients=numbers(outputs, features), intercepts=numbers(outputs), classlabels_ints=labels, post_transform=transform)
        worst = max(worst, compare(folder, model_of([node], features, {"label": (TensorProto.INT64, None)} | y), x))
    bias = {"intercepts": numbers(outputs)} if seed % 2 else {}
    node = ml("LinearRegressor", coefficients=numbers(outputs, features), targets=outputs, **bias)
    worst = max(worst, compare(folder, model_of([node], features, y), x, reference=seed % 2 == 1))
    wide = {"y": (TensorProto.FLOAT, features)}
    count = features if seed % 2 else 1
    node = ml("Scaler", offset=numbers(count), scale=numbers(count))
    worst = max(worst, compare(folder, model_of([node], features, wide), x))
    whole = generator.integers(-1000, 1000, (ROWS, features))
    worst = max(worst, compare(folder, model_of([node], features, wide, kind=TensorProto.INT64), whole, reference=False))
    x[2] = 0
    for norm in ("L1", "L2", "MAX"):  # the evaluator of the onnx package divides by the largest magnitude, against the text of the operator
        worst = max(worst, compare(folder, model_of([ml("Normalizer", norm=norm)], features, wide), x, reference=norm != "MAX"))
    return worst


def mapped(folder):
    """A classifier with a ZipMap behind it, as exporters write: alone, and without the maps (classic_pipelines.py compares these)."""
    tree_ensemble = votes(random_tree_ensemble(np.random.default_rng(5), 4, 3, 3, False), False, True)
    model = model_of([ml("TreeEnsembleClassifier", classlabels_int64s=[3, 1, 2], base_values=[0.1, 0.2, 0.3], **tree_ensemble),
                      helper.make_node("ZipMap", ["y"], ["maps"], domain="ai.onnx.ml", classlabels_int64s=[3, 1, 2])], 3, {"label": (TensorProto.INT64, None)})
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))
    model.graph.output.append(helper.make_value_info("maps", kind))
    onnx.save(model, folder / "m.onnx")
    must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--check")
    return compare(folder, model, observations(np.random.default_rng(6), 3), reference=False, options=("--output-value", "label"))


def must_refuse(folder, model, word, *options):
    onnx.save(model, folder / "bad.onnx")
    done = nsk("convert", folder / "bad.onnx", "-o", folder / "bad.nsk", "--input", "x=2x3", *options)
    if done.returncode != 2 or word not in done.stderr:
        raise SystemExit(f"{word}: exit code {done.returncode}, {done.stderr}")


def refusals(folder):
    tree_ensemble = lambda targets: random_tree_ensemble(np.random.default_rng(2), 3, 3, targets, False)
    both = {"label": (TensorProto.INT64, None), "y": (TensorProto.FLOAT, 3)}
    trees = lambda **changes: model_of([ml("TreeEnsembleClassifier", **(votes(tree_ensemble(3), False, True) | {"classlabels_int64s": [0, 1, 2]} | changes))], 3, both)
    must_refuse(folder, trees(post_transform="PROBIT"), "PROBIT")
    must_refuse(folder, trees(post_transform="SOFTMAX_ZERO"), "SOFTMAX_ZERO")
    must_refuse(folder, trees(classlabels_int64s=[4]), "does not exist")
    must_refuse(folder, trees(classlabels_int64s=[4], class_ids=[0] * len(tree_ensemble(3)["target_ids"])), "two classes at least")
    must_refuse(folder, trees(base_values=[1.0, 2.0]), "base_values")
    must_refuse(folder, trees(nodes_missing_value_tracks_true=[1]), "nodes_missing_value_tracks_true")
    silent = votes(tree_ensemble(3), False, False)
    silent["class_ids"] = [i % 2 for i in silent["class_ids"]]
    must_refuse(folder, trees(**silent), "votes for a class")
    two = votes(tree_ensemble(2), False, True) | {"classlabels_int64s": [0, 1]}
    must_refuse(folder, trees(**two), "two classes")
    one = votes(tree_ensemble(1), True, False) | {"classlabels_int64s": [0, 1]}
    must_refuse(folder, trees(**one), "two classes")
    must_refuse(folder, trees(**(one | {"class_ids": [1] * len(one["class_ids"])})), "second of two")
    linear = lambda **changes: model_of([ml("LinearClassifier", **({"coefficients": [1.0] * 9, "intercepts": [0.0] * 3, "classlabels_ints": [0, 1, 2]} | changes))], 3, both)
    must_refuse(folder, linear(coefficients=[1.0] * 3, intercepts=[0.0], classlabels_ints=[0, 1]), "intercepts")
    must_refuse(folder, linear(coefficients=[1.0] * 8), "coefficients")
    must_refuse(folder, linear(post_transform="PROBIT"), "PROBIT")
    positions = lambda **changes: model_of([ml("TreeEnsemble", **(random_ensemble(np.random.default_rng(3), 3, 2, True) | changes))], 3, {"y": (TensorProto.FLOAT, 2)}, 5)
    count = len(random_ensemble(np.random.default_rng(3), 3, 2, True)["nodes_featureids"])
    must_refuse(folder, positions(n_targets=1), "n_targets")
    must_refuse(folder, positions(post_transform=1), "post_transform")
    must_refuse(folder, positions(tree_roots=[99999]), "tree_roots")
    must_refuse(folder, positions(nodes_trueleafs=[0] * count, nodes_truenodeids=[0] * count), "no tree")
    must_refuse(folder, positions(nodes_falsenodeids=[-1] * count), "does not exist")
    must_refuse(folder, positions(membership_values=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])), "membership")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_classifiers_") as work:
        folder = pathlib.Path(work)
        worst = [max(case(folder, seed) for seed in range(count)) for case, count in
                 ((random_classifier, 24), (random_tree_ensemble_of_positions, 20), (linear_models, 4))]
        worst.append(mapped(folder))
        refusals(folder)
    print(f"24 classifiers, 20 tree ensembles, 4 x 8 linear models, a map: within {', '.join(f'{w:.1e}' for w in worst)} of ONNX Runtime")
    return 1 if max(worst) > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
