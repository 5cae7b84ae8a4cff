# SPDX-License-Identifier: MIT
"""Many small nodes in one model, so that a grid of cases costs one conversion and one run."""
import os
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from models import file_name, must, plain_session


# Hundreds of outputs are hundreds of files: in memory, where it can be, they cost a tenth.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Grid:
    """A model whose nodes all read the inputs; each case has outputs of its own."""

    def __init__(self, opset, **inputs):
        self.opset, self.inputs = opset, inputs
        self.nodes, self.constants, self.cases = [], {}, []
        self.names = {}  # of constants, by type, shape and bytes

    def constant(self, values):
        values = np.asarray(values)
        name = self.names.setdefault((values.dtype, values.shape, values.tobytes()), f"c{len(self.constants)}")
        self.constants.setdefault(name, values)
        return name

    def add(self, what, op, inputs, outputs=1, domain="", **attributes):
        """Adds a case named `what`; inputs are names, arrays become constants."""
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        names = [f"y{len(self.cases)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        self.cases.append((what, names))

    def hidden(self, op, inputs, domain="", **attributes):
        """Adds a node that no case compares; returns the name of its output."""
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        name = f"h{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], domain=domain, **attributes))
        return name

    def model(self):
        kind = lambda x: helper.np_dtype_to_tensor_dtype(x.dtype)
        inputs = [helper.make_tensor_value_info(name, kind(x), x.shape) for name, x in self.inputs.items()]
        outputs = [onnx.ValueInfoProto(name=name) for _, names in self.cases for name in names]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, [numpy_helper.from_array(x, name) for name, x in self.constants.items()])
        imports = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, 1) for d in {n.domain for n in self.nodes} - {""}]
        model = helper.make_model(graph, opset_imports=imports, ir_version=8)
        types = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.output}
        for output in graph.output:  # runtimes want an element type; the shape is theirs to find
            output.type.tensor_type.elem_type = types[output.name].type.tensor_type.elem_type or TensorProto.FLOAT
        del model.graph.output[:]
        model.graph.output.extend(graph.output)
        return model

    def results(self, check=True, isa=(), session=plain_session):
        """(what, netsuke's output, ONNX Runtime's output) of every output; --check compares the evaluator as well."""
        with tempfile.TemporaryDirectory(prefix="nsk_grid_", dir=SCRATCH) as folder:
            folder = pathlib.Path(folder)
            onnx.save(self.model(), folder / "m.onnx")
            arguments = []
            for name, x in self.inputs.items():
                np.save(folder / f"{name}.npy", x)
                arguments += ["--input", f"{name}={folder / name}.npy"]
            must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--no-states", "--quiet", "--check" if check else "--no-check")
            must("run", folder / "m.nsk", *arguments, *isa, "--output-dir", folder / "out")
            runtime = session(folder / "m.onnx")
            expected = dict(zip((o.name for o in runtime.get_outputs()), runtime.run(None, self.inputs)))
            return [(what, np.load(folder / "out" / file_name(name)), expected[name]) for what, names in self.cases for name in names]

    def wrong(self, tolerance, **options):
        """What is further from ONNX Runtime than `tolerance`, in units of the inputs."""
        return [what for what, got, expected in (self.results(**options) if self.cases else [])
                if got.shape != expected.shape or not np.allclose(got, expected, rtol=0, atol=tolerance, equal_nan=True)]
