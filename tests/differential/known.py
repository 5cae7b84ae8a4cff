# SPDX-License-Identifier: MIT
"""Where ONNX Runtime is known to differ from the operators' text, or computes what floating point leaves open. Each entry is as narrow as
it can be told from the model; `reason` is asked only where the engine and the evaluator agree with each other."""


# Operators that make a number of NaN, or 0 of -inf where their text makes NaN (docs/conventions.md).
CLAMPS = {"Relu", "Clip", "HardSigmoid", "HardSwish", "Max", "Min", "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "ArgMax", "ArgMin", "TopK",
          "Gelu", "Swish", "LeakyRelu", "PRelu", "ThresholdedRelu", "Sigmoid", "Cast", "Mish", "Softmax", "LogSoftmax", "Hardmax"}


def reason(case, text):
    """Why the two may differ, or None."""
    for applies, why in DIFFERENCES:
        if applies(case, text):
            return why
    return None


DIFFERENCES = []
