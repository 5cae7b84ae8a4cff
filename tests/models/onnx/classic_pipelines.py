#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipelines of ai.onnx.ml as skl2onnx, onnxmltools and Custom Vision write them, against ONNX Runtime: labels that are strings are positions
among the labels of an output, lists of maps are rows; and models that have to be refused."""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from classifiers import observations, votes  # noqa: E402
from models import nsk, must, onnx_session  # noqa: E402
from trees import random_tree_ensemble  # noqa: E402

FOLDER = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(7)
NAMES = ["cat", "dog", "fox"]
MAPS = {k: helper.make_sequence_type_proto(helper.make_map_type_proto(k, helper.make_tensor_type_proto(T.FLOAT, []))) for k in (T.INT64, T.STRING)}


def ml(op, inputs, outputs, domain="ai.onnx.ml", **attributes):
    return helper.make_node(op, inputs, outputs, domain=domain, **attributes)


def info(name, kind, shape=None):
    return helper.make_value_info(name, kind) if isinstance(kind, onnx.TypeProto) else helper.make_tensor_value_info(name, kind, shape)


def save(nodes, inputs, outputs, constants=(), version=3):
    """Writes m.onnx: inputs {name: array}, outputs {name: type}, constants {name: array or strings}."""
    tensors = [helper.make_tensor(k, T.STRING, [len(v)], [s.encode() for s in v]) if isinstance(v, list) else numpy_helper.from_array(v, k) for k, v in dict(constants).items()]
    kinds = {k: T.STRING if v.dtype == object else helper.np_dtype_to_tensor_dtype(v.dtype) for k, v in inputs.items()}
    graph = helper.make_graph(nodes, "pipeline", [info(k, kinds[k], v.shape) for k, v in inputs.items()], [info(k, t) for k, t in outputs.items()], tensors)
    imports = [helper.make_opsetid("", 19), helper.make_opsetid("ai.onnx.ml", version), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), FOLDER / "m.onnx")


def convert(*options):
    return nsk("convert", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk", *options)


def labels():
    outputs = json.loads(must("inspect", "--json", FOLDER / "m.nsk"))["variants"][0]["outputs"]
    return {o["name"]: o.get("labels") for o in outputs}


def rows_of(maps, keys):
    """A list of maps as rows, in the order of keys."""
    named = [{str(k): v for k, v in m.items()} for m in maps]
    if sorted(named[0]) != sorted(keys or []):
        raise SystemExit(f"labels are {keys}, the keys of maps are {sorted(named[0])}")
    return np.array([[m[k] for k in keys] for m in named], np.float32)


def same(what, nodes, inputs, outputs, constants=(), version=3, options=()):
    """Converts, runs and compares all outputs; strings by their labels."""
    save(nodes, inputs, outputs, constants, version)
    made = convert("--check", *options)
    if made.returncode != 0:
        raise SystemExit(f"{what}: {made.stderr}")
    for name, array in inputs.items():
        np.save(FOLDER / f"{name}.npy", array)
    must("run", FOLDER / "m.nsk", *[v for k in inputs for v in ("--input", f"{k}={FOLDER / k}.npy")], "--output-dir", FOLDER / "out")
    names, told = list(outputs), labels()
    for name, want in zip(names, onnx_session(FOLDER / "m.onnx").run(names, inputs)):
        got = np.load(FOLDER / "out" / f"{name}.npy")
        if isinstance(want, list):
            want = rows_of(want, told[name])
        elif want.dtype == object:
            got = np.array(told[name], object)[got]
        good = np.array_equal(got, want) if want.dtype.kind in "Oi" else np.allclose(got, want, 1e-4, 1e-5, equal_nan=True)
        if got.shape != want.shape or not good:
            raise SystemExit(f"{what}: {name} is\n{got}, ONNX Runtime says\n{want}")
    return made.stdout + made.stderr


def refused(what, words, nodes, inputs, outputs, constants=(), version=3):
    save(nodes, inputs, outputs, constants, version)
    made = convert()
    if made.returncode != 2 or not all(w in made.stderr for w in words):
        raise SystemExit(f"{what}: exit code {made.returncode}: {made.stdout}{made.stderr}")


def contains(text, words):
    if words not in text:
        raise SystemExit(f"no '{words}' in: {text}")


def floats(*shape, scale=1.0):
    return (rng.normal(size=shape) * scale).astype(np.float32)


def listed(array):
    return [float(v) for v in array.ravel()]


def classifier(inputs, outputs, features, names, **attributes):
    given = {"classlabels_strings": names} if isinstance(names[0], str) else {"classlabels_ints": names}
    return ml("LinearClassifier", inputs, outputs, coefficients=listed(floats(len(names), features)), intercepts=listed(floats(len(names))),
              post_transform="SOFTMAX", **given, **attributes)


def linear_with_maps():
    """Imputer, Scaler, LinearClassifier, Normalizer, ZipMap, with keys of both kinds."""
    x = floats(6, 4)
    x[rng.random(x.shape) < 0.3] = np.nan
    for names, key, kind in ((NAMES, "classlabels_strings", T.STRING), ([7, -3, 4], "classlabels_int64s", T.INT64)):
        nodes = [ml("Imputer", ["x"], ["full"], imputed_value_floats=listed(floats(4)), replaced_value_float=float("nan")),
                 ml("Scaler", ["full"], ["scaled"], offset=listed(floats(4)), scale=listed(floats(4))), classifier(["scaled"], ["label", "scores"], 4, names),
                 ml("Normalizer", ["scores"], ["probabilities"], norm="L1"), ml("ZipMap", ["probabilities"], ["maps"], **{key: names})]
        text = same(f"linear {key}", nodes, {"x": x}, {"label": kind, "maps": MAPS[kind], "probabilities": T.FLOAT})
        contains(text, "'maps' is a list of maps in the model")
        if kind == T.STRING:
            contains(text, "'label' is text in the model, and here the position of one of its 3 labels")
            if labels()["probabilities"] != NAMES:
                raise SystemExit(f"columns are called {labels()}")


def custom_vision():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["l"]), helper.make_node("Softmax", ["l"], ["p"], axis=1), helper.make_node("ArgMax", ["p"], ["best"], axis=1, keepdims=0),
             ml("ArrayFeatureExtractor", ["names", "best"], ["one"]), helper.make_node("Identity", ["one"], ["classLabel"]),
             ml("ZipMap", ["p"], ["loss"], classlabels_strings=NAMES)]
    same("Custom Vision", nodes, {"x": floats(2, 4)}, {"classLabel": T.STRING, "loss": MAPS[T.STRING]}, {"w": floats(4, 3), "names": NAMES})


def machine(features, names, kind, likely, transform="NONE"):
    count = len(names)
    per_class = [int(v) for v in rng.integers(1, 5, count)]
    total, pairs = sum(per_class), count * (count - 1) // 2
    attributes = {"vectors_per_class": per_class, "support_vectors": listed(floats(total, features)), "coefficients": listed(floats(count - 1, total)), "rho": listed(floats(pairs)),
                  "kernel_type": kind, "kernel_params": [0.3, 0.5, 3.0], "post_transform": transform}
    if likely:
        attributes |= {"prob_a": listed(-np.abs(floats(pairs)) - 1), "prob_b": listed(floats(pairs, scale=0.2))}
    return attributes | ({"classlabels_strings": names} if isinstance(names[0], str) else {"classlabels_ints": names})


def support_vectors():
    x = floats(7, 5)
    for kind in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        for names in (NAMES, NAMES[:2], [5, 2, 9, -4]):
            for likely in (True, False):
                nodes = [ml("SVMClassifier", ["x"], ["label", "scores"], **machine(5, names, kind, likely))]
                if len(names) == 2:
                    nodes[0].attribute[[a.name for a in nodes[0].attribute].index("coefficients")].floats[0] = -0.5
                same(f"SVMClassifier {kind} {names}", nodes, {"x": x}, {"label": T.STRING if names[0] in NAMES else T.INT64, "scores": T.FLOAT})
        for one in (0, 1):
            extra = {"support_vectors": listed(floats(6, 5)), "coefficients": listed(floats(6)), "rho": [0.1], "kernel_type": kind, "kernel_params": [0.2, 0.1, 2.0]}
            same(f"SVMRegressor {kind}", [ml("SVMRegressor", ["x"], ["y"], n_supports=6, one_class=one, **extra)], {"x": x}, {"y": T.FLOAT})
    x[2, 1] = np.nan
    same("NaN", [ml("SVMClassifier", ["x"], ["label", "scores"], **machine(5, NAMES, "RBF", True))], {"x": x}, {"label": T.STRING, "scores": T.FLOAT})
    positive = machine(5, [4, 7], "RBF", False)
    positive["coefficients"] = [abs(v) for v in positive["coefficients"]]
    refused("coefficients of one sign", ["have one sign", "--output-value scores"], [ml("SVMClassifier", ["x"], ["label", "scores"], **positive)], {"x": floats(2, 5)}, {"label": T.INT64, "scores": T.FLOAT})
    must("convert", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk", "--output-value", "scores")
    refused("many classes", ["it needs 2 to 128 labels"], [ml("SVMClassifier", ["x"], ["label", "scores"], **machine(5, list(range(129)), "LINEAR", False))], {"x": floats(2, 5)},
            {"label": T.INT64, "scores": T.FLOAT})
    refused("PROBIT", ["post_transform PROBIT"], [ml("SVMClassifier", ["x"], ["label", "scores"], **machine(5, NAMES, "RBF", True, "PROBIT"))], {"x": floats(2, 5)},
            {"label": T.STRING, "scores": T.FLOAT})


def columns():
    """Several inputs of several types, as a ColumnTransformer has them."""
    inputs = {"age": floats(5, 1), "pay": floats(5, 2), "kind": rng.integers(0, 4, (5, 1)).astype(np.int64), "flag": rng.integers(0, 2, (5, 1)).astype(np.float32)}
    nodes = [ml("FeatureVectorizer", ["age", "pay"], ["numbers"], inputdimensions=[1, 2]), ml("Scaler", ["numbers"], ["scaled"], offset=[0.5], scale=[2.0]),
             ml("OneHotEncoder", ["kind"], ["hot"], cats_int64s=[0, 1, 3], zeros=1), helper.make_node("Reshape", ["hot", "flat"], ["encoded"]),
             ml("Binarizer", ["flag"], ["on"], threshold=0.5), helper.make_node("Concat", ["scaled", "encoded", "on"], ["all"], axis=1),
             ml("ArrayFeatureExtractor", ["all", "kept"], ["some"]), classifier(["some"], ["label", "scores"], 4, NAMES), ml("ZipMap", ["scores"], ["maps"], classlabels_strings=NAMES)]
    same("columns", nodes, inputs, {"label": T.STRING, "maps": MAPS[T.STRING]}, {"flat": np.array([-1, 3], np.int64), "kept": np.array([0, 2, 5, 6], np.int64)})
    same("floats are truncated", [ml("OneHotEncoder", ["x"], ["y"], cats_int64s=[-1, 0, 2], zeros=1)], {"x": np.array([[-1.7, -0.5, 0.5, 2.9]], np.float32)}, {"y": T.FLOAT})


def encoders():
    x = np.array([[3, 5], [-2, 9]], np.int64)
    for keys in ([5, -2, 3], [3, 4, 5]):
        same("integers", [ml("LabelEncoder", ["x"], ["y"], keys_int64s=keys, values_int64s=[10, 20, 30], default_int64=-7)], {"x": x}, {"y": T.INT64})
        same("strings", [ml("LabelEncoder", ["x"], ["y"], keys_int64s=keys, values_strings=["a", "b", "a"])], {"x": x}, {"y": T.STRING})
    same("floats", [ml("LabelEncoder", ["x"], ["y"], keys_floats=[3.0, 9.0], values_floats=[0.5, 1.5])], {"x": x.astype(np.float32)}, {"y": T.FLOAT})
    real = np.array([1.5, np.nan, 0, 2], np.float32)
    tensors = {"keys_tensor": helper.make_tensor("k", T.FLOAT, [3], [1.5, np.nan, 2]), "values_tensor": helper.make_tensor("v", T.INT64, [3], [4, 5, 6]), "default_tensor": helper.make_tensor("d", T.INT64, [1], [9])}
    same("tensors, NaN", [ml("LabelEncoder", ["x"], ["y"], **tensors)], {"x": real}, {"y": T.INT64}, version=4)
    tensors |= {"values_tensor": helper.make_tensor("v", T.STRING, [3], [b"p", b"q", b"r"]), "default_tensor": helper.make_tensor("d", T.STRING, [1], [b"none"])}
    same("tensors of strings", [ml("LabelEncoder", ["x"], ["y"], **tensors)], {"x": real}, {"y": T.STRING}, version=4)
    same("the old form", [ml("LabelEncoder", ["x"], ["y"], classes_strings=["a", "b"], default_string="none", default_int64=-1)], {"x": np.array([1, 0, 4], np.int64)}, {"y": T.STRING}, version=1)
    same("CategoryMapper", [ml("CategoryMapper", ["x"], ["y"], cats_int64s=[3, 9], cats_strings=["a", "b"])], {"x": x}, {"y": T.STRING})
    there_and_back = [ml("LabelEncoder", ["x"], ["t"], keys_int64s=[3, 5], values_strings=["a", "b"], default_string="c"),
                      ml("LabelEncoder", ["t"], ["y"], keys_strings=["c", "a", "z"], values_floats=[1.0, 2.0, 3.0], default_float=-1.0)]
    same("there and back", there_and_back, {"x": x}, {"y": T.FLOAT})
    hot = [there_and_back[0], ml("OneHotEncoder", ["t"], ["y"], cats_strings=["b", "q", "c"], zeros=1)]
    same("one hot of strings", hot, {"x": x}, {"y": T.FLOAT})
    refused("a key twice", ["first or the last"], [ml("LabelEncoder", ["x"], ["y"], keys_int64s=[3, 3], values_int64s=[1, 2])], {"x": x}, {"y": T.INT64})


def strings_between():
    """Strings that are moved, joined, chosen and compared."""
    x = np.array([0, 2, 1], np.int64)
    nodes = [helper.make_node("Constant", [], ["more"], value_strings=["owl", "cat"]), helper.make_node("Concat", ["names", "more"], ["all"], axis=0), helper.make_node("Gather", ["all", "x"], ["a"]),
             ml("ArrayFeatureExtractor", ["more", "bit"], ["b2"]), helper.make_node("Reshape", ["b2", "line"], ["b"]), helper.make_node("Equal", ["a", "b"], ["equal"]),
             helper.make_node("Where", ["equal", "a", "other"], ["chosen"]), helper.make_node("Cast", ["equal"], ["y"], to=T.INT32)]
    constants = {"names": NAMES, "other": ["none"], "bit": np.array([1, 1, 0], np.int64), "line": np.array([-1], np.int64)}
    same("strings between", nodes, {"x": x}, {"a": T.STRING, "chosen": T.STRING, "y": T.INT32}, constants)
    refused("computed strings", ["StringNormalizer", "'names' holds strings", "--output-value"], [helper.make_node("StringNormalizer", ["names"], ["upper"], case_change_action="UPPER"),
            helper.make_node("Gather", ["upper", "x"], ["y"])], {"x": x}, {"y": T.STRING}, {"names": NAMES})
    refused("a list of maps that is read", ["which is a list of maps"], [ml("ZipMap", ["p"], ["maps"], classlabels_strings=NAMES), helper.make_node("SequenceLength", ["maps"], ["y"])],
            {"p": floats(2, 3)}, {"y": T.INT64})
    refused("keys that do not fit", ["2 keys"], [ml("ZipMap", ["p"], ["maps"], classlabels_strings=NAMES[:2])], {"p": floats(2, 3)}, {"maps": MAPS[T.STRING]})
    save([ml("ZipMap", ["p"], ["maps"], classlabels_strings=["a\x1b", "b", "c"])], {"p": floats(2, 3)}, {"maps": MAPS[T.STRING]})
    contains(convert().stderr, "control characters, and were left out")


def strings_that_nothing_needs():
    """An input and nodes of strings beside what the outputs need."""
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("StringNormalizer", ["text"], ["lower"], case_change_action="LOWER"), helper.make_node("Identity", ["names"], ["unused"])]
    save(nodes, {"x": floats(2, 3), "text": np.array(["a"], object)}, {"y": T.FLOAT}, {"names": NAMES})
    made = convert()
    contains(made.stdout + made.stderr, "input 'text' is left out: no output needs it")
    np.save(FOLDER / "x.npy", floats(2, 3))
    must("run", FOLDER / "m.nsk", "--input", f"x={FOLDER / 'x.npy'}", "--output-dir", FOLDER / "out")
    refused("an input of strings", ["input 'text' has elements of type STRING"], nodes, {"x": floats(2, 3), "text": np.array(["a"], object)}, {"y": T.FLOAT, "lower": T.STRING}, {"names": NAMES})
    save(nodes, {"x": floats(2, 3), "text": np.array(["a"], object)}, {"y": T.FLOAT, "lower": T.STRING}, {"names": NAMES})
    must("convert", FOLDER / "m.onnx", "-o", FOLDER / "m.nsk", "--output-value", "y")


def trees():
    """Tree ensembles whose classes are strings, and their maps; a leaf with two weights for the only target."""
    attributes = votes(random_tree_ensemble(rng, 6, 4, 3, False), False, True) | {"base_values": [0.1, 0.2, 0.3]}
    nodes = [ml("TreeEnsembleClassifier", ["x"], ["label", "scores"], classlabels_strings=NAMES, **attributes), ml("ZipMap", ["scores"], ["maps"], classlabels_strings=NAMES)]
    same("trees", nodes, {"x": observations(rng, 4)}, {"label": T.STRING, "maps": MAPS[T.STRING]})
    one = random_tree_ensemble(rng, 2, 4, 1, False)
    one |= {f"target_{k}": one[f"target_{k}"] + one[f"target_{k}"][:1] for k in ("treeids", "nodeids", "ids", "weights")}
    refused("two weights", ["several weights for the only target"], [ml("TreeEnsembleRegressor", ["x"], ["y"], **one)], {"x": floats(2, 4)}, {"y": T.FLOAT})


def two_classes():
    """One logistic score for two classes, and distances of neighbours."""
    node = ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=[1.0, -2.0, 0.5], intercepts=[0.3], classlabels_strings=NAMES[:2], post_transform="LOGISTIC")
    same("one score", [node], {"x": floats(5, 3)}, {"label": T.STRING, "scores": T.FLOAT})
    node = ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=[1.0, -2.0, 0.5], intercepts=[0.3], classlabels_ints=[4, 9])
    same("one score that nothing reads", [node], {"x": floats(5, 3)}, {"label": T.INT64})
    for metric in ("euclidean", "sqeuclidean"):
        same(metric, [ml("CDist", ["x", "c"], ["y"], domain="com.microsoft", metric=metric)], {"x": floats(4, 3)}, {"y": T.FLOAT}, {"c": floats(6, 3)})


for part in (linear_with_maps, custom_vision, support_vectors, columns, encoders, strings_between, strings_that_nothing_needs, trees, two_classes):
    part()
print("classic pipelines: labels, maps, encoders, machines of support vectors as ONNX Runtime has them")
