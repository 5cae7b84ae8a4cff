# SPDX-License-Identifier: MIT
"""MediaPipe's custom operators in NumPy, and models that have them as LiteRT computes the rest."""
import numpy as np


def transposed_convolution(options, x, weights, bias):
    """Every pixel adds its weighted kernel to the result; "same" leaves ceil-like borders out."""
    padding, stride_w, stride_h = np.frombuffer(options, np.int32, 3)
    channels, kernel_h, kernel_w, _ = weights.shape
    _, height, width, _ = x.shape
    cut_h = max(0, kernel_h - (height - 1) % stride_h - 1) if padding == 1 else 0
    cut_w = max(0, kernel_w - (width - 1) % stride_w - 1) if padding == 1 else 0
    full = np.zeros([1, stride_h * (height - 1) + kernel_h, stride_w * (width - 1) + kernel_w, channels])
    for i in range(kernel_h):
        for j in range(kernel_w):
            part = np.einsum("nhwc,oc->nhwo", x.astype(np.float64), weights[:, i, j, :].astype(np.float64))
            full[:, i:i + stride_h * height:stride_h, j:j + stride_w * width:stride_w, :] += part
    rows, columns = full.shape[1] - cut_h, full.shape[2] - cut_w
    return full[:, cut_h // 2:cut_h // 2 + rows, cut_w // 2:cut_w // 2 + columns, :] + bias


def landmarks_to_matrix(options, landmarks):
    """The matrix from a crop's pixels to landmarks: the box around a subset, upright after a rotation."""
    o = named(options)
    points = landmarks[0, :, :2].astype(np.float64)
    line = points[o["right_rotation_idx"]] - points[o["left_rotation_idx"]]
    turn = o.get("target_rotation_radians", 0.0) - np.arctan2(line[1], line[0])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    rotated = points[o["subset_idxs"]] @ rotation.T
    low, high = rotated.min(0), rotated.max(0)
    size = (high - low) * [o["scale_x"], o["scale_y"]] / [o["output_width"], o["output_height"]]
    linear = rotation.T @ np.diag(size)
    matrix = np.eye(4)
    matrix[:2, :2] = linear
    matrix[:2, 3] = rotation.T @ ((low + high) / 2) - linear @ [o["output_width"] / 2, o["output_height"] / 2]
    return matrix[None]


def transform_landmarks(options, landmarks, matrix):
    result = landmarks.astype(np.float64)
    m = matrix.reshape(4, 4).astype(np.float64)
    result[..., :2] = landmarks[..., :2] @ m[:2, :2].T + m[:2, 3]
    return result


def transform_image(options, image, matrix):
    """Bilinear samples at matrix (x + 1/2, y + 1/2) - 1/2, 0 outside."""
    o = named(options)
    m = matrix.reshape(4, 4).astype(np.float64)
    _, height, width, channels = image.shape
    result = np.zeros([1, o["output_height"], o["output_width"], channels])
    for row in range(o["output_height"]):
        for column in range(o["output_width"]):
            x, y = m[:2, :2] @ [column + 0.5, row + 0.5] + m[:2, 3] - 0.5
            if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
                continue
            left, top = int(np.floor(x)), int(np.floor(y))
            for i, j, share in ((0, 0, (1 - y + top) * (1 - x + left)), (0, 1, (1 - y + top) * (x - left)),
                                (1, 0, (y - top) * (1 - x + left)), (1, 1, (y - top) * (x - left))):
                if top + i < height and left + j < width:
                    result[0, row, column] += share * image[0, top + i, left + j]
    return result


CUSTOM = {b"Convolution2DTransposeBias": transposed_convolution, b"Landmarks2TransformMatrix": landmarks_to_matrix,
          b"TransformLandmarks": transform_landmarks, b"TransformTensorBilinear": transform_image}


def named(options):
    from flatbuffers import flexbuffers
    return flexbuffers.Loads(bytes(options))


class CutModel:
    """A model as runs of builtin operators with custom ones between them."""

    def __init__(self, path):
        from ai_edge_litert import schema_py_generated as schema
        self.schema = schema
        self.model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
        self.graph = self.model.subgraphs[0]
        self.operators = list(self.graph.operators)

    def custom_code(self, operator):
        return self.model.operatorCodes[operator.opcodeIndex].customCode

    def run(self, values):
        """`values`: tensor index -> array; afterwards also of everything computed that is read elsewhere."""
        pending = []
        for operator in self.operators:
            code = self.custom_code(operator)
            if code is None:
                pending.append(operator)
                continue
            self.run_builtin(pending, values)
            pending = []
            operands = [self.value_of(t, values) for t in operator.inputs]
            options = b"" if operator.customOptions is None else bytes(operator.customOptions.astype(np.uint8))
            values[operator.outputs[0]] = CUSTOM[code](options, *operands).astype(np.float32)
        self.run_builtin(pending, values)
        return [values[t] for t in self.graph.outputs]

    def value_of(self, tensor, values):
        return values[tensor]

    def run_builtin(self, operators, values):
        import flatbuffers
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
        if not operators:
            return
        made = {int(t) for o in operators for t in o.outputs}
        read = [int(t) for o in operators for t in o.inputs if t >= 0 and int(t) not in made]
        inputs = sorted({t for t in read if self.model.buffers[self.graph.tensors[t].buffer].data is None})
        elsewhere = {int(t) for o in self.operators if o not in operators for t in o.inputs} | {int(t) for t in self.graph.outputs}
        outputs = sorted(made & elsewhere)
        self.graph.operators, kept = operators, (self.graph.inputs, self.graph.outputs)
        self.graph.inputs, self.graph.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        self.graph.inputs, self.graph.outputs = kept
        interpreter = Interpreter(model_content=bytes(builder.Output()), num_threads=1,
                                  experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        interpreter.allocate_tensors()
        for tensor, detail in zip(inputs, interpreter.get_input_details()):
            interpreter.set_tensor(detail["index"], values[tensor])
        interpreter.invoke()
        for tensor, detail in zip(outputs, interpreter.get_output_details()):
            values[tensor] = interpreter.get_tensor(detail["index"])
