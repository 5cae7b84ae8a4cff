# SPDX-License-Identifier: MIT
"""Models whose products ONNX Runtime computes exactly: without VNNI it adds pairs of products of uint8 and int8 in 16 bits, and saturates them."""
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

# Operator -> place of the zero point of what weights multiply (None: of float32, stored as uint8), places of weights and of their zero points.
# Not ConvInteger, which has int8 weights on the side that does not saturate.
PRODUCTS = {"MatMulInteger": (2, [(1, 3)]), "QLinearMatMul": (2, [(3, 5)]), "QLinearConv": (2, [(3, 5)]), "QGemm": (2, [(3, 5)]),
            "MatMulIntegerToFloat": (4, [(1, 5)]), "DynamicQuantizeMatMul": (None, [(1, 3)]), "DynamicQuantizeLSTM": (None, [(1, 9), (2, 11)])}


def exact_products(path):
    """The model's path, or its bytes with each int8 weight that multiplies uint8 stored as uint8: it and its zero point are 128 higher, the result is the same."""
    model = onnx.load(str(path), load_external_data=False)
    graph, raised = model.graph, {}
    constants = {t.name: t for t in graph.initializer}
    types = {v.name: v.type.tensor_type.elem_type for v in graph.input} | {n: t.data_type for n, t in constants.items()}

    def unsigned(name):
        if name not in raised:
            values = numpy_helper.to_array(constants[name]).astype(np.int16) if name else np.int16(0)
            raised[name] = numpy_helper.from_array(np.asarray(values + 128).astype(np.uint8), f"{name}_in_uint8")
        return raised[name].name

    for node in graph.node:
        other, weights = PRODUCTS.get(node.op_type, (None, []))
        if other is not None and TensorProto.INT8 in [types.get(n) for n in (node.input[0], *node.input[other:other + 1])]:
            continue
        for place, zero in weights:
            if node.input[place] in constants and types[node.input[place]] == TensorProto.INT8:
                node.input.extend([""] * (zero + 1 - len(node.input)))
                node.input[place], node.input[zero] = unsigned(node.input[place]), unsigned(node.input[zero])
    graph.initializer.extend(raised.values())
    return model.SerializeToString() if raised else str(path)
