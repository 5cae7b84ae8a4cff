# SPDX-License-Identifier: MIT
"""Random models of dynamic range: weights of other families' float32 models stored as integers.

The engine computes with what the integers stand for, so LiteRT is asked for the same model with these in float32; what its own rounding of
activations comes to is compared by tests/models/tflite/tflite_dynamic_range.py.
"""
import random

import tflite_states
from tflite_graph import Graph, Rejected
from tflite_hybrid import stored_weights

WINDOWS = ["CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL"]
AROUND = ["ADD", "MUL", "RELU", "PAD", "RESHAPE", "TRANSPOSE", "MEAN", "CONCATENATION", "LOGISTIC", "MAX_POOL_2D"]


def layers(seed):
    """Layers with weights, and what stands around them."""
    from tflite_cases import RULES
    g = Graph(seed)
    g.empty = False
    for _ in range(g.choose.randint(1, 6)):
        op = g.choose.choice(WINDOWS if g.some(0.6) else AROUND)
        g.attempt(RULES[op], op)
    case = g.case()
    case.exact = set()
    return case


def dynamic(seed):
    choose = random.Random(seed)
    case = choose.choice([layers, layers, tflite_states.layer])(seed)
    made = stored_weights(case.content, choose)
    if made is None:
        raise Rejected("no weights")
    case.content, case.peer = made
    return case


FAMILIES = {"dynamic": (2, dynamic)}
