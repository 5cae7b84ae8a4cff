# SPDX-License-Identifier: MIT
"""Pipelines of ai.onnx.ml: numbers are completed, scaled and encoded, then classified; labels are integers or strings. Where they are strings,
other runtimes compute the model with the positions of the strings (the twin), which are what the converter gives."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from net import F, I, Unfit

ML = "ai.onnx.ml"
TEXTS = ["cat", "dog", "fox", "owl", "emu", "yak"]


def numbers(net, count, scale=1.0):
    return [float(v) for v in net.floats(count, scale)]


class Positions:
    """The model of a net with positions in place of the strings of its attributes."""
    def __init__(self, net):
        self.net = net

    def model(self):
        model = onnx.ModelProto()
        model.CopyFrom(self.net.model())
        renamed = {"classlabels_strings": None, "values_strings": "values_int64s", "keys_strings": "keys_int64s", "default_string": "default_int64"}
        for node in model.graph.node:
            for a in node.attribute:
                if a.name not in renamed:
                    continue
                name = renamed[a.name] or ("classlabels_int64s" if node.op_type == "TreeEnsembleClassifier" else "classlabels_ints")
                texts = helper.get_attribute_value(a)
                value = TEXTS.index(texts.decode()) if isinstance(texts, bytes) else [TEXTS.index(t.decode()) for t in texts]
                a.CopyFrom(helper.make_attribute(name, value))
        return model


def prepared(net, x, width):
    """Completes, scales, normalises or picks columns of x; returns it and how many there are."""
    for _ in range(net.rng.randrange(0, 3)):
        op = net.choice(["Imputer", "Scaler", "Normalizer", "Binarizer", "ArrayFeatureExtractor"])
        if op == "Imputer":
            replaced = net.choice([float("nan"), 0.0, 1.0])
            x = net.add(op, [x], domain=ML, imputed_value_floats=numbers(net, net.choice([1, width])), replaced_value_float=replaced)
        elif op == "Scaler":
            count = net.choice([1, width])
            x = net.add(op, [x], domain=ML, offset=numbers(net, count), scale=numbers(net, count))
        elif op == "Normalizer":
            x = net.add(op, [x], domain=ML, norm=net.choice(["L1", "L2"]))
        elif op == "Binarizer":
            x = net.add(op, [x], domain=ML, threshold=net.choice([None, 0.5, -0.25]))
        else:
            count = net.rng.randrange(1, 5)
            x = net.add(op, [x, net.constant(net.numbers.integers(0, width, count).astype(I))], domain=ML)
            width = count
    return x, width


def rows(net):
    width, count = net.choice([1, 2, 3, 5]), net.choice([1, 3, 6])
    odd = net.choice([0.0, 1.0, np.nan])
    x = net.input([count, width], values=lambda: np.where(net.numbers.random((count, width)) < 0.15, odd, net.floats((count, width), 2)))
    if np.isnan(odd):
        x = net.add("Imputer", [x], domain=ML, imputed_value_floats=numbers(net, net.choice([1, width])), replaced_value_float=float("nan"))
    return prepared(net, x, width)


def labels(net, classes, key="classlabels_ints"):
    """Attributes that name classes, and whether by strings."""
    if net.chance(0.4):
        net.twin = Positions(net)
        return {"classlabels_strings": TEXTS[:classes]}
    return {key: [int(v) for v in net.numbers.permutation(20)[:classes]]}


def linear(net):
    x, width = rows(net)
    classes = net.rng.randrange(2, 6)
    if net.chance(0.2):
        one = {"coefficients": numbers(net, width), "intercepts": numbers(net, 1), "post_transform": "LOGISTIC"}
        return finish(net, net.add("LinearClassifier", [x], 2, domain=ML, **one, **labels(net, 2)))
    y = net.add("LinearClassifier", [x], 2, domain=ML, coefficients=numbers(net, classes * width), intercepts=numbers(net, classes),
                post_transform=net.choice(["NONE", "LOGISTIC", "SOFTMAX"]), **labels(net, classes))
    finish(net, y)


def finish(net, y):
    """Both outputs, or one of them."""
    roll = net.rng.random()
    if roll < 0.8:
        net.output(y[0], I)
    if roll > 0.2:
        net.output(y[1])


def kernel(net):
    kind = net.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    return {"kernel_type": kind, "kernel_params": [float(net.choice([0.1, 0.5, 1.0])), float(net.choice([0.0, 0.5])), float(net.choice([1, 2, 3, 4]))]}


def machine(net):
    x, width = rows(net)
    if net.chance(0.4):
        vectors = net.choice([0, 1, 4, 9])
        extra = {"n_supports": vectors, "support_vectors": numbers(net, vectors * width), "coefficients": numbers(net, vectors or width), "rho": numbers(net, 1)}
        net.output(net.add("SVMRegressor", [x], domain=ML, one_class=net.choice([None, 1]), **extra, **kernel(net)))
        return
    classes = net.rng.randrange(2, 5)
    per_class = [net.rng.randrange(1, 4) for _ in range(classes)]
    total, pairs = sum(per_class), classes * (classes - 1) // 2
    extra = {"vectors_per_class": per_class, "support_vectors": numbers(net, total * width), "coefficients": numbers(net, (classes - 1) * total), "rho": numbers(net, pairs)}
    likely = net.chance(0.6)
    if likely:
        extra |= {"prob_a": [-abs(v) - 0.5 for v in numbers(net, pairs)], "prob_b": numbers(net, pairs, 0.3)}
    transform = net.choice(["NONE", "LOGISTIC", "SOFTMAX"] if likely or classes > 2 else ["NONE", "LOGISTIC"])
    if classes == 2 and not likely:
        extra["coefficients"][0] = -0.5  # runtimes differ in labels where all have one sign
    finish(net, net.add("SVMClassifier", [x], 2, domain=ML, post_transform=transform, **extra, **labels(net, classes), **kernel(net)))


def encoded(net):
    """Integers or floats to categories, one or several times."""
    count, width = net.choice([1, 4]), net.choice([1, 3])
    real = net.chance(0.4)
    dtype = F if real else I
    x = net.input([count, width], dtype, values=lambda: net.numbers.integers(-2, 9, (count, width)).astype(dtype))
    op = net.choice(["LabelEncoder", "LabelEncoder", "OneHotEncoder", "Imputer", "Binarizer"])
    if op == "OneHotEncoder":
        cats = net.numbers.permutation(np.arange(-3, 9))[:net.rng.randrange(1, 7)]
        net.output(net.add(op, [x], domain=ML, cats_int64s=[int(v) for v in cats], zeros=1))
    elif op == "Imputer":
        extra = {"imputed_value_floats": numbers(net, net.choice([1, width])), "replaced_value_float": 3.0} if real else {"imputed_value_int64s": [7] * net.choice([1, width]), "replaced_value_int64": 3}
        net.output(net.add(op, [x], domain=ML, dtype=dtype, **extra), dtype)
    elif op == "Binarizer":
        if not real:
            raise Unfit("it takes floats")
        net.output(net.add(op, [x], domain=ML, threshold=2.0))
    else:
        label_encoder(net, x, real)


def label_encoder(net, x, real):
    count = net.rng.randrange(1, 7)
    keys = list(range(count)) if net.chance(0.3) else [int(v) for v in net.numbers.permutation(np.arange(-2, 9))[:count]]
    given = {"keys_floats": [float(k) for k in keys]} if real else {"keys_int64s": keys}
    kind = net.choice(["ints", "floats", "texts"])
    net.domains[ML] = 2
    if kind == "floats":
        net.output(net.add("LabelEncoder", [x], domain=ML, values_floats=numbers(net, count), default_float=0.5, **given))
        return
    if kind == "ints":
        net.output(net.add("LabelEncoder", [x], domain=ML, dtype=I, values_int64s=[int(v) for v in net.numbers.integers(-99, 99, count)], default_int64=net.choice([-1, 5]), **given), I)
        return
    net.twin = Positions(net)
    y = net.add("LabelEncoder", [x], domain=ML, dtype=I, values_strings=TEXTS[:count], default_string=TEXTS[count - 1], **given)
    if net.chance(0.5):
        y = net.add("LabelEncoder", [y], domain=ML, dtype=I, keys_strings=TEXTS[:count], values_int64s=[int(v) for v in net.numbers.integers(0, 99, count)])
    net.output(y, I)


def vectorized(net):
    """Several inputs of several types beside each other, classified."""
    count = net.choice([1, 4])
    widths = [net.rng.randrange(1, 4) for _ in range(net.rng.randrange(1, 4))]
    inputs = [net.input([count, w], net.choice([F, I, np.int32])) for w in widths]
    kinds = {net.types[name] for name in inputs}
    if len(kinds) > 1:
        inputs = [net.add("Cast", [i], to=TensorProto.FLOAT) for i in inputs]
    x = net.add("FeatureVectorizer", inputs, domain=ML, inputdimensions=widths)
    width = sum(widths)
    y = net.add("LinearRegressor", [x], domain=ML, coefficients=numbers(net, 2 * width), targets=2)
    best = net.add("ArgMax", [y], axis=1, keepdims=net.choice([0, 1]), dtype=I)
    net.output(net.add("ArrayFeatureExtractor", [net.constant(net.numbers.integers(0, 50, 2).astype(I)), best], domain=ML, dtype=I), I)


def distances(net):
    x, width = rows(net)
    y = net.add("CDist", [x, net.constant(net.floats((net.rng.randrange(1, 6), width)))], domain="com.microsoft", metric=net.choice(["euclidean", "sqeuclidean"]))
    finish_neighbours(net, y)


def finish_neighbours(net, y):
    """The distances, or the class of the nearest."""
    if net.chance(0.5):
        return net.output(y)
    nearest = net.add("ArgMin", [y], axis=1, keepdims=net.choice([0, 1]), dtype=I)
    net.output(net.add("ArrayFeatureExtractor", [net.constant(net.numbers.integers(0, 9, 6).astype(I)), nearest], domain=ML, dtype=I), I)


FAMILIES = {"distances": (0.2, distances), "linear": (0.3, linear), "machine": (0.5, machine), "encoded": (0.5, encoded), "vectorized": (0.3, vectorized)}
