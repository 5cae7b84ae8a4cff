# SPDX-License-Identifier: MIT
"""Random TensorFlow Lite models by seed, and cases as folders."""
import json
import random

import numpy as np

import tflite_dynamic
import tflite_elementwise
import tflite_movement
import tflite_quantised
import tflite_quantised_layers
import tflite_states
import tflite_streams
import tflite_updates
import tflite_windows
from tflite_graph import Case, Graph, Rejected
from tflite_oracle import Crashed, Refused, oracle

RULES = {**tflite_elementwise.RULES, **tflite_movement.RULES, **tflite_windows.RULES, **tflite_updates.RULES}
NAMES = sorted(RULES)


def one_operator(seed):
    """One operator on fresh inputs, with special numbers at times."""
    g = Graph(seed)
    op = g.choose.choice(NAMES)
    g.sample_specials(op)
    for _ in range(20):
        if g.attempt(RULES[op], op):
            return g.case()
    raise Rejected("nothing that LiteRT computes")


def one_update(seed):
    """An operator that writes updates, reduces rows or looks at windows of any axis, on what up to two others made."""
    g = Graph(seed)
    grow(g, g.choose.randint(0, 2))
    op = g.choose.choice(sorted(tflite_updates.RULES))
    if not g.operators:
        g.sample_specials(op)
    for _ in range(20):
        if g.attempt(RULES[op], op):
            return g.case()
    raise Rejected("nothing that LiteRT computes")


def grow(g, count):
    """Adds operators; those that folds and recognisers know come more often."""
    usual = ["ADD", "SUB", "MUL", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "PAD", "RELU", "RELU6", "LOGISTIC", "HARD_SWISH", "RESHAPE", "TRANSPOSE",
             "CONCATENATION", "MEAN", "STRIDED_SLICE", "MAX_POOL_2D", "AVERAGE_POOL_2D", "RESIZE_BILINEAR", "PRELU", "SPLIT", "MUL", "ADD"]
    made = 0
    for _ in range(6 * count):
        op = g.choose.choice(usual if g.some(0.4) else NAMES)
        made += g.attempt(RULES[op], op)
        if made == count:
            return


def several(seed):
    """A graph of two to twelve operators."""
    g = Graph(seed)
    grow(g, g.choose.randint(2, 12))
    return g.case(g.choose.choice([1, 1, 1, 2]))


def open_lengths(seed):
    """A graph of one to five operators with lengths that the file leaves open, and that the conversion is asked for."""
    g = Graph(seed)
    grow(g, g.choose.randint(1, 5))
    return g.case(open_lengths=True)


def images(seed):
    """A chain on one image of what meets in networks: windows, sums, factors, activations, pads."""
    g = Graph(seed)
    maximum = g.choose.choice([9, 9, 20])
    g.fresh([1, g.choose.randint(3, maximum), g.choose.randint(3, maximum), g.choose.choice([1, 2, 3, 4, 8, 16, 17])], constants=0)
    chain = ["CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "PAD", "ADD", "SUB", "MUL", "DIV", "RELU", "RELU6", "PRELU", "LEAKY_RELU", "HARD_SWISH", "LOGISTIC", "MAX_POOL_2D",
             "AVERAGE_POOL_2D", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "CONCATENATION", "MEAN", "MAXIMUM", "MINIMUM", "PADV2", "DEPTH_TO_SPACE", "STRIDED_SLICE", "SPLIT", "SQUARE",
             "RSQRT", "TANH", "ELU", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "MIRROR_PAD", "L2_NORMALIZATION", "SOFTMAX"]
    for _ in range(g.choose.randint(2, 9)):
        op = g.choose.choice(chain)
        g.attempt(RULES[op], op)
    return g.case()


FAMILIES = {"operator": (6, one_operator), "graph": (6, several), "image": (4, images), "open": (2, open_lengths), "update": (3, one_update), **tflite_quantised.FAMILIES,
            **tflite_quantised_layers.FAMILIES, **tflite_states.FAMILIES, **tflite_streams.FAMILIES, **tflite_dynamic.FAMILIES}
ATTEMPTS = 40


def operators():
    """Names of all operators that may be sampled."""
    return {*RULES, *tflite_quantised.RULES, *tflite_states.OPERATORS}


def made(seed, wanted):
    """The case of a seed, in the process that has LiteRT."""
    names = [n for n in FAMILIES if not wanted or any(w in n for w in wanted)]
    for attempt in range(ATTEMPTS):
        choose = random.Random(f"{seed} {attempt}")
        family = choose.choices(names, [FAMILIES[n][0] for n in names])[0]
        try:
            case = FAMILIES[family][1](choose.randrange(1 << 60))
        except Rejected:
            continue
        case.family = f"tflite_{family}"
        return case
    raise Rejected("nothing that LiteRT computes")


def sample(seed, wanted=()):
    """The model of a seed: deterministic, whatever was sampled before. `wanted`: parts of names of families; empty: all."""
    try:
        return oracle().ask((seed, list(wanted)))
    except Refused:
        return Case(b"", {}, family="tflite", declined="both refuse")
    except Crashed:
        return Case(b"", {}, family="tflite", declined="peer crashed")


def save(case, verdict, folder):
    """Writes the model, the inputs and what is wrong; read again by load."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(case.content)
    for index, values in enumerate(case.inputs.values()):
        np.save(folder / f"in{index}.npy", values)
    text = {"inputs": list(case.inputs), "request": case.request, "shapes": case.shapes, "exact": sorted(case.exact), "bounds": case.bounds, "operators": case.operators,
            "family": case.family, "kind": verdict.kind, "text": verdict.text}
    (folder / "case.json").write_text(json.dumps(text, indent=1) + "\n")


def load(folder):
    text = json.loads((folder / "case.json").read_text())
    inputs = {name: np.load(folder / f"in{index}.npy") for index, name in enumerate(text["inputs"])}
    return Case((folder / "model.tflite").read_bytes(), inputs, text["request"], text["shapes"], set(text["exact"]), text["bounds"], text["operators"], text["family"])
