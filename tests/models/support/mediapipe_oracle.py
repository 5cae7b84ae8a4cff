# SPDX-License-Identifier: MIT
"""MediaPipe's pipelines for faces, hands, bodies and selfies in NumPy and LiteRT, written from its calculators: the oracle of the examples.

Coordinates are normalised to the image as in MediaPipe's packets; results are in pixels. Sampling is what include/netsuke/image.hpp and
examples/support/region.hpp say: bilinear on half-pixel centres, edges repeated, read from the smallest half whose step stays below two.
"""
import math

import numpy as np


class Litert:
    """A model as LiteRT computes it, its custom operators as mediapipe_operators.py does."""

    def __init__(self, path):
        from mediapipe_operators import CutModel
        self.cut = CutModel(path)
        self.custom = any(self.cut.custom_code(o) is not None for o in self.cut.operators)
        if not self.custom:
            from ai_edge_litert.interpreter import Interpreter
            self.interpreter = Interpreter(model_path=str(path), num_threads=1)
            self.interpreter.allocate_tensors()
        graph = self.cut.graph
        self.height, self.width = (int(n) for n in graph.tensors[graph.inputs[0]].shape[1:3])

    def run(self, tensor):
        tensor = tensor[None].astype(np.float32)
        if self.custom:
            return self.cut.run({int(self.cut.graph.inputs[0]): tensor})
        self.interpreter.set_tensor(self.interpreter.get_input_details()[0]["index"], tensor)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()]


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(np.asarray(x, np.float64), -100, 100)))


class Rect:
    """MediaPipe's NormalizedRect: centre and size as shares of the image, rotation clockwise."""

    def __init__(self, x, y, width, height, rotation=0.0):
        self.x, self.y, self.width, self.height, self.rotation = x, y, width, height, rotation

    def transformed(self, image, scale, shift_y=0.0):
        """RectTransformationCalculator with square_long."""
        rows, columns = image.shape[:2]
        move = self.height * rows * shift_y
        x = self.x - math.sin(self.rotation) * move / columns
        y = self.y + math.cos(self.rotation) * move / rows
        side = max(self.width * columns, self.height * rows) * scale
        return Rect(x, y, side / columns, side / rows, self.rotation)

    def matrix(self, image, width, height):
        """From pixels of a tensor to pixels of the image."""
        rows, columns = image.shape[:2]
        c, s = math.cos(self.rotation), math.sin(self.rotation)
        turn = np.array([[c, -s], [s, c]])
        scale = np.diag([self.width * columns / width, self.height * rows / height])
        linear = turn @ scale
        return np.column_stack([linear, [self.x * columns, self.y * rows] - linear @ [width / 2, height / 2]])


def letterbox(image, size):
    """The whole image in a square tensor, with bars of whole pixels: matrix, and the rectangle that shows it."""
    rows, columns = image.shape[:2]
    step = max(rows, columns) / size
    shown = np.array([columns, rows]) / step
    bars = np.ceil((size - shown) / 2 - 0.5)
    return np.array([[step, 0, -bars[0] * step], [0, step, -bars[1] * step]]), (*bars, *(bars + shown))


def halved(image):
    rows, columns = (n // 2 * 2 for n in image.shape[:2])
    p = image[:rows, :columns].astype(np.int64)
    return ((p[::2, ::2] + p[1::2, ::2] + p[::2, 1::2] + p[1::2, 1::2] + 2) // 4).astype(np.uint8)


def sample(image, matrix, width, height, shown=None):
    """The tensor's pixels as levels; 0 outside of `shown`."""
    step = max(np.hypot(*matrix[:, 0]), np.hypot(*matrix[:, 1]))
    matrix = matrix.copy()
    while step >= 2 and min(image.shape[:2]) >= 64:
        image, matrix, step = halved(image), matrix / 2, step / 2
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    at_x, at_y = (m[0] * x + m[1] * y + m[2] - 0.5 for m in matrix)
    rows, columns = image.shape[:2]
    left, top = np.floor(at_x), np.floor(at_y)
    result = np.zeros([height, width, 3])
    for i, share_y in ((0, 1 - (at_y - top)), (1, at_y - top)):
        for j, share_x in ((0, 1 - (at_x - left)), (1, at_x - left)):
            row, column = np.clip(top + i, 0, rows - 1).astype(int), np.clip(left + j, 0, columns - 1).astype(int)
            result += (share_y * share_x)[..., None] * image[row, column]
    if shown is not None:
        left, top, right, bottom = shown
        result[(x < left) | (x >= right) | (y < top) | (y >= bottom)] = 0
    return result


def project(matrix, points, flatness=1.0):
    """Points of a network's input in the image; z, where there is one, grows as x does (LandmarkProjectionCalculator)."""
    projected = points[:, :2] @ matrix[:, :2].T + matrix[:, 2]
    if points.shape[1] == 2:
        return projected
    return np.column_stack([projected, points[:, 2] * np.hypot(*matrix[:, 0]) / flatness])


def ssd_anchors(size, strides):
    """SsdAnchorsCalculator with aspect_ratios 1, interpolated_scale_aspect_ratio 1, offsets 0.5, fixed sizes: centres in [0, 1]."""
    anchors, layer = [], 0
    while layer < len(strides):
        same = [s for s in strides[layer:] if s == strides[layer]]
        side = math.ceil(size / strides[layer])
        rows, columns, _ = np.indices([side, side, 2 * len(same)])
        anchors.append(np.stack([(columns.ravel() + 0.5) / side, (rows.ravel() + 0.5) / side], 1))
        layer += len(same)
    return np.concatenate(anchors)


def overlaps(boxes, box):
    size = np.maximum(0, np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2]))
    both = size.prod(1)
    with np.errstate(invalid="ignore"):  # an empty box and itself
        return both / ((boxes[:, 2:] - boxes[:, :2]).prod(1) + (box[2:] - box[:2]).prod() - both)


def weighted_suppression(scores, boxes, keypoints, threshold=0.3):
    order = np.argsort(-scores, kind="stable")
    found = []
    while len(order):
        alike = overlaps(boxes[order], boxes[order[0]]) > threshold
        if not alike.any():
            break
        share = scores[order[alike]] / scores[order[alike]].sum()
        found.append((scores[order[0]], share @ boxes[order[alike]], np.einsum("n,nkc->kc", share, keypoints[order[alike]])))
        order = order[~alike]
    return found


def detect(model, image, strides, symmetric, minimum=0.5):
    """Detections best first: score, box (left, top, right, bottom) and keypoints in [0, 1] over the image."""
    size = model.width
    matrix, shown = letterbox(image, size)
    tensor = sample(image, matrix, size, size, shown)
    first, second = model.run(tensor / 127.5 - 1 if symmetric else tensor / 255)
    boxes, scores = (first, second) if first.shape[-1] > second.shape[-1] else (second, first)
    boxes, scores = boxes[0].astype(np.float64), sigmoid(scores.ravel())
    anchors = ssd_anchors(size, strides)
    if len(anchors) != len(scores):
        raise SystemExit(f"{len(anchors)} anchors for {len(scores)} scores")
    keep = scores >= minimum
    boxes, scores, anchors = boxes[keep], scores[keep], anchors[keep] * size
    extent = (image.shape[1], image.shape[0])
    centre, half = boxes[:, :2] + anchors, boxes[:, 2:4] / 2
    corners = np.concatenate([project(matrix, centre - half) / extent, project(matrix, centre + half) / extent], 1)
    points = boxes[:, 4:].reshape(len(boxes), boxes.shape[1] // 2 - 2, 2) + anchors[:, None]
    return weighted_suppression(scores, corners, project(matrix, points.reshape(-1, 2)).reshape(points.shape) / extent)


def rotation(image, start, end, target):
    """DetectionsToRects: the rotation that brings the line between two points to an angle counted against the clock."""
    rows, columns = image.shape[:2]
    angle = math.radians(target) - math.atan2(-(end[1] - start[1]) * rows, (end[0] - start[0]) * columns)
    return angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))


def rect_of_box(image, box, start, end, target):
    return Rect((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], box[3] - box[1], rotation(image, start, end, target))


def rect_of_alignment(image, centre, rim):
    """AlignmentPointsRects."""
    rows, columns = image.shape[:2]
    side = 2 * math.hypot((rim[0] - centre[0]) * columns, (rim[1] - centre[1]) * rows)
    return Rect(centre[0], centre[1], side / columns, side / rows, rotation(image, centre, rim, 90))


def look(model, image, rect):
    """Outputs for a region, and the matrix from the network's input to the image."""
    matrix = rect.matrix(image, model.width, model.height)
    return model.run(sample(image, matrix, model.width, model.height) / 255), matrix


# Of tensors_to_face_landmarks_with_attention.pbtxt: where refined points belong.
LIPS = [61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 185, 40, 39, 37, 0, 267, 269, 270, 409, 78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308,
        191, 80, 81, 82, 13, 312, 311, 310, 415, 76, 77, 90, 180, 85, 16, 315, 404, 320, 307, 306, 184, 74, 73, 72, 11, 302, 303, 304, 408, 62, 96, 89,
        179, 86, 15, 316, 403, 319, 325, 292, 183, 42, 41, 38, 12, 268, 271, 272, 407]
EYES = [[33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173, 130, 25, 110, 24, 23, 22, 26, 112, 243, 247, 30, 29, 27, 28, 56, 190,
         226, 31, 228, 229, 230, 231, 232, 233, 244, 113, 225, 224, 223, 222, 221, 189, 35, 124, 46, 53, 52, 65, 143, 111, 117, 118, 119, 120, 121, 128,
         245, 156, 70, 63, 105, 66, 107, 55, 193],
        [263, 249, 390, 373, 374, 380, 381, 382, 362, 466, 388, 387, 386, 385, 384, 398, 359, 255, 339, 254, 253, 252, 256, 341, 463, 467, 260, 259, 257,
         258, 286, 414, 446, 261, 448, 449, 450, 451, 452, 453, 464, 342, 445, 444, 443, 442, 441, 413, 265, 353, 276, 283, 282, 295, 372, 340, 346, 347,
         348, 349, 350, 357, 465, 383, 300, 293, 334, 296, 336, 285, 417]]


def face_points(model, image, rect):
    """Score and points (x, y, z in pixels) of a face in a region."""
    outputs, matrix = look(model, image, rect)
    flat = [o.astype(np.float64).ravel() for o in outputs]
    points = flat[0].reshape(468, 3).copy()
    if len(flat) == 7:
        points = np.concatenate([points, np.zeros([10, 3])])
        points[LIPS, :2] = flat[1].reshape(-1, 2)
        for eye in range(2):
            points[EYES[eye], :2] = flat[2 + eye].reshape(-1, 2)
            points[468 + 5 * eye:473 + 5 * eye, :2] = flat[4 + eye].reshape(-1, 2)
            points[468 + 5 * eye:473 + 5 * eye, 2] = points[EYES[eye][:16], 2].mean()
    return float(sigmoid(flat[-1][0])), project(matrix, points)


def face_rect(image, detection):
    _, box, keypoints = detection
    return rect_of_box(image, box, keypoints[0], keypoints[1], 0).transformed(image, 1.5)


def face_rect_from_points(image, points):
    extent, points = (image.shape[1], image.shape[0]), points[:, :2]
    box = np.concatenate([points.min(0) / extent, points.max(0) / extent])
    return rect_of_box(image, box, points[33] / extent, points[263] / extent, 0).transformed(image, 1.5)


def faces(detector, model, image, maximum):
    found = [face_points(model, image, face_rect(image, d)) for d in detect(detector, image, [8, 16, 16, 16], True)[:maximum]]
    return [points for score, points in found if score >= 0.5]


def hands(detector, model, image, maximum):
    found = []
    for _, box, keypoints in detect(detector, image, [8, 16, 16, 16], False):
        rect = rect_of_box(image, box, keypoints[0], keypoints[2], 90).transformed(image, 2.6, -0.5)
        outputs, matrix = look(model, image, rect)
        if outputs[1].ravel()[0] >= 0.5 and len(found) < maximum:
            found.append(project(matrix, outputs[0].reshape(21, 3).astype(np.float64), 0.4))
    return found


def body(detector, model, image):
    """Points of the best body and its mask over the image; (None, None) where there is none."""
    found = detect(detector, image, [8, 16, 32, 32, 32], True)
    if not found:
        return None, None
    rect = rect_of_alignment(image, *found[0][2][:2]).transformed(image, 1.25)
    outputs, matrix = look(model, image, rect)
    if outputs[1].ravel()[0] < 0.5:
        return None, None
    points = outputs[0].reshape(39, 5)[:33, :3].astype(np.float64)
    heat = sigmoid(outputs[3][0])
    for i, (x, y) in enumerate(points[:, :2] / model.width * 64):
        column, row = int(x), int(y)
        if not (0 <= column < 64 and 0 <= row < 64):
            continue
        rows, columns = np.mgrid[max(0, row - 3):min(64, row + 4), max(0, column - 3):min(64, column + 4)]
        window = heat[rows, columns, i]
        if window.max() >= 0.5:
            points[i, :2] = np.array([(window * columns).sum(), (window * rows).sum()]) / window.sum() * model.width / 64
    return project(matrix, points), over_image(sigmoid(outputs[2][0, ..., 0]), matrix, image)


def over_image(mask, matrix, image):
    """A mask of a region at the centres of the image's pixels; 0 outside of the region."""
    rows, columns = image.shape[:2]
    x, y = np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5)
    inverse = np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))[:2]
    u, v = (m[0] * x + m[1] * y + m[2] for m in inverse)
    height, width = mask.shape
    inside = (u >= 0) & (v >= 0) & (u < width) & (v < height)
    u, v = np.clip(u - 0.5, 0, width - 1), np.clip(v - 0.5, 0, height - 1)
    left, top = np.minimum(u.astype(int), width - 2), np.minimum(v.astype(int), height - 2)
    a, b = u - left, v - top
    mixed = (mask[top, left] * (1 - a) + mask[top, left + 1] * a) * (1 - b) + (mask[top + 1, left] * (1 - a) + mask[top + 1, left + 1] * a) * b
    return np.where(inside, mixed, 0)


def selfie(model, image):
    outputs, matrix = look(model, image, Rect(0.5, 0.5, 1, 1))
    return over_image(outputs[0][0, ..., 0].astype(np.float64), matrix, image)
