# SPDX-License-Identifier: MIT
"""Writes TensorFlow Lite models of a few operators, for tests: with the object classes of the package ai-edge-litert."""
import numpy as np

TYPES = {np.dtype(np.float32): "FLOAT32", np.dtype(np.float16): "FLOAT16", np.dtype(np.int32): "INT32", np.dtype(np.int64): "INT64",
         np.dtype(np.uint8): "UINT8", np.dtype(np.int8): "INT8", np.dtype(np.int16): "INT16", np.dtype(np.bool_): "BOOL",
         np.dtype(np.complex64): "COMPLEX64"}

VERSIONS = {"BROADCAST_TO": 2}  # the oldest that LiteRT has, where it is not the first


class Writer:
    def __init__(self):
        from ai_edge_litert import schema_py_generated as schema
        self.schema = schema
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.operatorCodes, self.model.buffers = [], [schema.BufferT()]
        self.model.subgraphs = []
        self.begin_graph()

    def begin_graph(self, name=""):
        """What follows belongs to another subgraph; returns its number."""
        self.graph = self.schema.SubGraphT()
        self.graph.name = name.encode()
        self.graph.tensors, self.graph.operators, self.graph.inputs, self.graph.outputs = [], [], [], []
        self.model.subgraphs.append(self.graph)
        return len(self.model.subgraphs) - 1

    def end_graph(self, inputs, outputs):
        """Ends a subgraph that is not the first one, which goes on."""
        self.graph.inputs, self.graph.outputs = list(inputs), list(outputs)
        self.graph = self.model.subgraphs[0]

    def tensor(self, name, shape, dtype, data=None, variable=False):
        """`dtype` None: the name of a resource."""
        t = self.schema.TensorT()
        t.name, t.shape, t.buffer, t.isVariable = name.encode(), list(shape), 0, variable
        t.type = self.schema.TensorType.RESOURCE if dtype is None else getattr(self.schema.TensorType, TYPES[np.dtype(dtype)])
        if data is not None:
            buffer = self.schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            t.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def operator(self, name, inputs, outputs, options=None, custom_options=None):
        """`options`: (class name without "T", {field: value}), or None; unknown builtin names are custom operators."""
        code = self.schema.OperatorCodeT()
        builtin = getattr(self.schema.BuiltinOperator, name, None)
        if builtin is None:
            code.customCode = name.encode()
            builtin = self.schema.BuiltinOperator.CUSTOM
        code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), VERSIONS.get(name, 1)
        o = self.schema.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = len(self.model.operatorCodes), list(inputs), list(outputs)
        self.model.operatorCodes.append(code)
        if options is not None:
            table = getattr(self.schema, options[0] + "T")()
            for key, value in options[1].items():
                if not hasattr(table, key):
                    raise SystemExit(f"{options[0]} has no field {key}")
                setattr(table, key, value)
            if hasattr(self.schema.BuiltinOptions, options[0]):
                o.builtinOptions, o.builtinOptionsType = table, getattr(self.schema.BuiltinOptions, options[0])
            else:
                o.builtinOptions2, o.builtinOptions2Type = table, getattr(self.schema.BuiltinOptions2, options[0])
        if custom_options is not None:
            o.customOptions = np.frombuffer(custom_options, np.uint8)
        self.graph.operators.append(o)
        return o

    def finish(self, inputs, outputs):
        import flatbuffers
        self.graph.inputs, self.graph.outputs = list(inputs), list(outputs)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
