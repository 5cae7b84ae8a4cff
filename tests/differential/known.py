# SPDX-License-Identifier: MIT
"""Where ONNX Runtime is known to differ from the operators' text, or computes what floating point leaves open. Each entry is as narrow as
it can be seen in the model."""

from onnx import helper

# Operators that make a number of NaN, or 0 of -inf where their text makes NaN (docs/reference/conventions.md).
CLAMPS = {"Relu", "Clip", "HardSigmoid", "HardSwish", "Max", "Min", "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "ArgMax", "ArgMin", "TopK",
          "Gelu", "Swish", "LeakyRelu", "PRelu", "ThresholdedRelu", "Sigmoid", "Cast", "Mish", "Softmax", "LogSoftmax", "Hardmax"}


def reason(case, text):
    """Why the two may differ, or None."""
    for applies, why in DIFFERENCES:
        if applies(case, text):
            return why
    return None


def uses(case, operators, **wanted):
    """Whether a node of one of the operators has attributes that satisfy all predicates of `wanted`."""
    for node in case.peer_model.graph.node:
        values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type in operators and all(test(values.get(name)) for name, test in wanted.items()):
            return True
    return False


def same(value):
    return value in (b"SAME_UPPER", b"SAME_LOWER")


def dilated(value):
    return value is not None and max(value) > 1


DIFFERENCES = [
    (lambda case, text: "shape" in text and uses(case, ("MaxPool", "AveragePool"), auto_pad=same, dilations=dilated),
     "ONNX Runtime leaves dilations out of the padding of SAME"),
    (lambda case, text: case.special and "nan" in text and "inf" in text and uses(case, ("Pow",)),
     "Pow with the constant exponent 0.5 is Sqrt, which has no root of -inf"),
    (lambda case, text: case.special and "nan" in text and uses(case, ("ReduceProd",)),
     "a product that overflows before it meets 0, or behind it, depends on the order of its factors"),
    (lambda case, text: case.special and "inf" in text and uses(case, ("Mean",)),
     "a sum of numbers near the end of float32 overflows before it is divided; older opsets of it ONNX Runtime declines"),
]
