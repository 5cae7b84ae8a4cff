#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trees by two routes, which must agree: as ai.onnx.ml operators, and as tensor programs (tree_tensors.py).

  tree_routes.py random      random trees
  tree_routes.py lightgbm    models that LightGBM trains here and onnxmltools exports: regression, two classes, three; and, as ai.onnx.ml
                             operators alone, classifiers of scikit-learn
Every form converts with --check, and gives what ONNX Runtime makes of the exported model; labels are equal.
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tree_tensors  # noqa: E402
from models import SAID_SKIPPED, error_of, must, onnx_session  # noqa: E402
from trees import random_tree_ensemble  # noqa: E402

TOLERANCE = 2e-6
MAXIMUM = 40


def results(folder, model, x, names):
    """Converts with --check; what it makes of a batch that is smaller than its bound."""
    onnx.save(model, folder / "m.onnx")
    must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--batch-max", MAXIMUM, "--check")
    np.save(folder / "x.npy", np.concatenate([x, np.zeros((MAXIMUM - len(x), x.shape[1]), np.float32)]))
    must("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--batch", len(x), "--output-dir", folder)
    return {n: np.load(folder / f"{n}.npy")[:len(x)] for n in names}


def tensor_forms(attributes, prefix, features, targets, finish):
    """The tensor programs; `finish` turns sums of leaves into outputs."""
    trees = tree_tensors.trees_of(attributes, prefix, targets)
    for name, form in (("products", lambda p: tree_tensors.as_products(p, trees, features)), ("walks", lambda p: tree_tensors.as_walks(p, trees))):
        p = tree_tensors.Program()
        yield name, p.model(features, finish(p, form(p)))


def agree(folder, what, source, programs, x):
    """The source and the programs against ONNX Runtime's result for the source."""
    names = [o.name for o in source.graph.output]
    wanted = dict(zip(names, onnx_session(folder / "source.onnx").run(names, {"x": x})))
    worst = 0
    for form, model in [("ai.onnx.ml", source), *programs]:
        got = results(folder, model, x, names)
        for name, want in wanted.items():
            if want.dtype == np.int64:
                if not np.array_equal(got[name], want):
                    raise SystemExit(f"{what} as {form}: {np.count_nonzero(got[name] != want)} of {len(x)} labels differ")
            else:
                error = error_of(got[name].reshape(want.shape), want)
                worst = max(worst, error)
                if not error <= TOLERANCE:
                    raise SystemExit(f"{what} as {form}: '{name}' is {error:.1e} from ONNX Runtime's")
    return worst


def random_trees(folder):
    worst = 0
    for seed in range(8):
        generator = np.random.default_rng(seed)
        features, targets = int(generator.integers(1, 8)), int(generator.integers(1, 4))
        attributes = random_tree_ensemble(generator, int(generator.integers(1, 12)), features, targets, False)
        attributes["nodes_modes"] = ["LEAF" if m == "LEAF" else "BRANCH_LEQ" for m in attributes["nodes_modes"]]
        node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets, **attributes)
        graph = helper.make_graph([node], "trees", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", features])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", targets])])
        source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
        onnx.save(source, folder / "source.onnx")
        x = (generator.integers(-4, 5, (MAXIMUM - 3, features)) / 2).astype(np.float32)
        finish = lambda p, sums: {"y": (sums, TensorProto.FLOAT, targets)}
        worst = max(worst, agree(folder, f"tree ensemble {seed}", source, tensor_forms(attributes, "target", features, targets, finish), x))
    print(f"8 random tree ensembles, three forms each: within {worst:.1e} of ONNX Runtime")


def attributes_of(model):
    node = next(n for n in model.graph.node if n.op_type.startswith("TreeEnsemble"))
    plain = lambda v: [s.decode() for s in v] if isinstance(v, list) and v and isinstance(v[0], bytes) else v
    return {a.name: plain(helper.get_attribute_value(a)) for a in node.attribute}


def finish_binary(p, sums):
    label = p.add("Cast", p.add("Greater", sums, p.constant(np.float32(0))), to=TensorProto.INT64)
    both = p.add("Sigmoid", p.add("Concat", p.add("Neg", sums), sums, axis=1))
    return {"label": (p.add("Reshape", label, p.constant(np.array([-1]))), TensorProto.INT64, None), "probabilities": (both, TensorProto.FLOAT, 2)}


def finish_classes(p, sums):
    return {"label": (p.add("ArgMax", sums, axis=1, keepdims=0), TensorProto.INT64, None), "probabilities": (p.add("Softmax", sums, axis=1), TensorProto.FLOAT, 3)}


def light_models(folder):
    try:
        import lightgbm
        from onnxmltools.convert import convert_lightgbm
        from onnxmltools.convert.common.data_types import FloatTensorType
    except ImportError as e:
        print(f"{SAID_SKIPPED} {e}; pip install lightgbm onnxmltools for models that LightGBM trains")
        return
    generator = np.random.default_rng(1)
    features = 6
    x = generator.normal(size=(600, features)).astype(np.float32)
    value = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x[:, 3]
    cases = {"regression": (lightgbm.LGBMRegressor, value, "target", 1, lambda p, sums: {"variable": (sums, TensorProto.FLOAT, 1)}),
             "two classes": (lightgbm.LGBMClassifier, (value > 0).astype(int), "class", 1, finish_binary),
             "three classes": (lightgbm.LGBMClassifier, np.digitize(value, [-0.5, 0.7]), "class", 3, finish_classes)}
    for what, (kind, y, prefix, targets, finish) in cases.items():
        learner = kind(n_estimators=12, num_leaves=12, min_child_samples=5, n_jobs=1, verbose=-1, random_state=3).fit(x, y)
        source = convert_lightgbm(learner, initial_types=[("x", FloatTensorType([None, features]))], target_opset=15, **({} if targets == 1 and prefix == "target" else {"zipmap": False}))
        onnx.save(source, folder / "source.onnx")
        seen = generator.normal(size=(MAXIMUM - 5, features)).astype(np.float32)
        worst = agree(folder, what, source, tensor_forms(attributes_of(source), prefix, features, targets, finish), seen)
        names = [o.name for o in source.graph.output]
        ours = results(folder, source, seen, names)
        trained = learner.predict(seen) if prefix == "target" else learner.predict_proba(seen)
        error = error_of(ours[names[-1]].astype(np.float64).reshape(trained.shape), trained)
        if error > 1e-5:
            raise SystemExit(f"{what}: {error:.1e} from LightGBM's own prediction")
        print(f"LightGBM, {what}: three forms within {worst:.1e} of ONNX Runtime, {error:.1e} of LightGBM")
    other_classifiers(folder, x, value)


def other_classifiers(folder, x, value):
    """Tree ensembles, boosted trees and linear models of scikit-learn, of two classes and of three."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    seen = np.random.default_rng(2).normal(size=(MAXIMUM - 5, x.shape[1])).astype(np.float32)
    for learner in (RandomForestClassifier(6, max_depth=4, random_state=1), GradientBoostingClassifier(n_estimators=6, random_state=1), LogisticRegression()):
        for y in ((value > 0).astype(int), np.digitize(value, [-0.5, 0.7])):
            source = to_onnx(learner.fit(x, y), initial_types=[("x", FloatTensorType([None, x.shape[1]]))], options={"zipmap": False}, target_opset={"": 15, "ai.onnx.ml": 3})
            onnx.save(source, folder / "source.onnx")
            what = f"{type(learner).__name__}, {len(set(y))} classes"
            worst = agree(folder, what, source, [], seen)
            print(f"{what}: within {worst:.1e} of ONNX Runtime")


def main(which):
    with tempfile.TemporaryDirectory(prefix="nsk_trees_") as folder:
        {"random": random_trees, "lightgbm": light_models}[which](pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
