# SPDX-License-Identifier: MIT
"""Makes TensorFlow Lite files of dynamic range, with integer weights for activations in float32, out of float32 files."""
import numpy as np

# By operator: the operands that may be stored, and the axis along which LiteRT takes a scale for each position.
LSTM = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16)
WEIGHTS = {"FULLY_CONNECTED": ((1,), 0), "CONV_2D": ((1,), 0), "DEPTHWISE_CONV_2D": ((1,), 3), "TRANSPOSE_CONV": ((1,), 0), "BATCH_MATMUL": ((1,), None), "EMBEDDING_LOOKUP": ((1,), 0),
           "SVDF": ((1, 2), None), "RNN": ((1, 2), None), "UNIDIRECTIONAL_SEQUENCE_RNN": ((1, 2), None), "BIDIRECTIONAL_SEQUENCE_RNN": ((1, 2, 5, 6, 10, 11), None),
           "LSTM": (LSTM, None), "UNIDIRECTIONAL_SEQUENCE_LSTM": (LSTM, None), "BIDIRECTIONAL_SEQUENCE_LSTM": ((*LSTM, *(i + 17 for i in LSTM), *range(40, 48)), None)}
FOUR_BITS = ("FULLY_CONNECTED", "CONV_2D", "EMBEDDING_LOOKUP")  # of which LiteRT takes int4
INT8_ALONE = ("DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "BATCH_MATMUL")  # of the others it reads uint8 as int8


def unpacked(content):
    from ai_edge_litert import schema_py_generated as schema
    return schema, schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))


def packed(model):
    import flatbuffers
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def rounded(value, axis, limit):
    """Integers, and a scale for each position of an axis, or one."""
    over = None if axis is None else tuple(a for a in range(value.ndim) if a != axis)
    largest = np.max(np.abs(value), axis=over, keepdims=True)
    scale = (np.maximum(largest, 1e-6) / limit).astype(np.float32)
    return np.clip(np.rint(value / scale), -limit, limit).astype(np.int8), scale


def bytes_of(integers, kind):
    if kind != "INT4":
        return np.frombuffer(integers.tobytes(), np.uint8)
    nibbles = np.append(integers.reshape(-1) & 15, 0).astype(np.uint8)[:(integers.size + 1) // 2 * 2]
    return nibbles[0::2] | nibbles[1::2] << 4


def stored_weights(content, choose):
    """The file with weights stored as integers, and the file with what they stand for as float32; None without weights."""
    schema, hybrid = unpacked(content)
    _, twin = unpacked(content)
    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
    graph, readers, done = hybrid.subgraphs[0], {}, set()
    for o in graph.operators:
        for t in o.inputs:
            readers.setdefault(int(t), set()).add(names[hybrid.operatorCodes[o.opcodeIndex].builtinCode])
    for o in graph.operators:
        name = names[hybrid.operatorCodes[o.opcodeIndex].builtinCode]
        if name not in WEIGHTS or (name == "LSTM" and len(o.inputs) == 5):
            continue
        operands, axis = WEIGHTS[name]
        kind = choose.choice(["INT8", "INT8", "INT8", "INT4" if name in FOUR_BITS else "INT8", "INT8" if name in INT8_ALONE else "UINT8"])
        per_channel = axis is not None and (name == "DEPTHWISE_CONV_2D" or (kind != "UINT8" and choose.random() < 0.5))
        for i in operands:
            t = int(o.inputs[i]) if i < len(o.inputs) else -1
            if t < 0 or t in done or len(readers[t]) != 1 or graph.tensors[t].type != schema.TensorType.FLOAT32 or graph.tensors[t].sparsity is not None:
                continue
            data = hybrid.buffers[graph.tensors[t].buffer].data
            if data is None or len(data) == 0:
                continue
            value = np.frombuffer(np.asarray(data, np.uint8).tobytes(), np.float32).reshape(graph.tensors[t].shape)
            if not np.all(np.isfinite(value)):
                continue
            integers, scale = rounded(value, axis if per_channel else None, 7 if kind == "INT4" else 127)
            done.add(t)
            place(hybrid, schema, t, kind, bytes_of(integers, kind), scale.reshape(-1), axis if per_channel else 0)
            place(twin, schema, t, "FLOAT32", np.frombuffer((integers * scale.astype(np.float64)).astype(np.float32).tobytes(), np.uint8))
    return (packed(hybrid), packed(twin)) if done else None


def place(model, schema, t, kind, data, scale=None, axis=0):
    tensor, buffer = model.subgraphs[0].tensors[t], schema.BufferT()
    buffer.data, tensor.type, tensor.buffer = data, getattr(schema.TensorType, kind), len(model.buffers)
    model.buffers.append(buffer)
    if scale is not None:
        q = schema.QuantizationParametersT()
        q.scale, q.zeroPoint, q.quantizedDimension = scale, np.zeros(len(scale), np.int64), axis
        tensor.quantization = q
