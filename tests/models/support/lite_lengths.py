# SPDX-License-Identifier: MIT
"""TensorFlow Lite models for two lengths of their input, against LiteRT."""
import numpy as np

from litert import answers, have_litert
from models import nsk
from tflite_writer import Writer

TOLERANCE = 3e-5
FOLLOWS, REFUSED, EITHER = "follows", "is refused", "either"


# TensorFlow Lite: shapes are literals wherever the file has them, and images are [N, H, W, C].

class lite:
    def __init__(self, *shape):
        self.w, self.count, self.shapes = Writer(), 0, {}
        self.x = self.tensor(shape, name="x")

    def tensor(self, shape, name=None, data=None):
        self.count += 1
        t = self.w.tensor(name or f"t{self.count}", shape, np.float32 if data is None else data.dtype, data)
        self.shapes[t] = list(shape)
        return t

    def constant(self, a):
        return self.tensor(np.shape(a), data=np.asarray(a))

    def ints(self, *v):
        return self.constant(np.array(v, np.int32))

    def weight(self, *shape):
        return self.constant(np.random.default_rng(int(np.prod(shape))).uniform(-0.5, 0.5, shape).astype(np.float32))

    def do(self, op, inputs, shape, options=None):
        y = self.tensor(shape)
        self.w.operator(op, inputs, [y], options)
        return y

    def conv(self, x, out, stride=1, same=True):
        n, h, v, c = self.shapes[x]
        shape = [n, *[-(-s // stride) if same else (s - 3) // stride + 1 for s in (h, v)], out]
        options = {"padding": 0 if same else 1, "strideH": stride, "strideW": stride, "dilationHFactor": 1, "dilationWFactor": 1}
        return self.do("CONV_2D", [x, self.weight(out, 3, 3, c), self.weight(out)], shape, ("Conv2DOptions", options))

    def pool(self, x, kernel, stride):
        n, h, v, c = self.shapes[x]
        shape = [n, (h - kernel[0]) // stride[0] + 1, (v - kernel[1]) // stride[1] + 1, c]
        options = {"padding": 1, "filterHeight": kernel[0], "filterWidth": kernel[1], "strideH": stride[0], "strideW": stride[1]}
        return self.do("AVERAGE_POOL_2D", [x], shape, ("Pool2DOptions", options))

    def reshape(self, x, *shape):
        return self.do("RESHAPE", [x, self.ints(*shape)], shape, ("ReshapeOptions", {"newShape": list(shape)}))

    def dense(self, x, out):
        return self.do("FULLY_CONNECTED", [x, self.weight(out, self.shapes[x][-1]), self.weight(out)], self.shapes[x][:-1] + [out],
                       ("FullyConnectedOptions", {"keepNumDims": True}))

    def resize(self, x, h, v, op="RESIZE_BILINEAR"):
        n, _, _, c = self.shapes[x]
        return self.do(op, [x, self.ints(h, v)], [n, h, v, c], ("ResizeBilinearOptions" if "LINEAR" in op else "ResizeNearestNeighborOptions", {"halfPixelCenters": True}))

    def add(self, a, b):
        return self.do("ADD", [a, b], self.shapes[a], ("AddOptions", {}))

    def cut(self, x, begin, end, masks=(0, 0)):
        shape = [len(range(s)[slice(None if masks[0] >> d & 1 else b, None if masks[1] >> d & 1 else e)]) for d, (s, b, e) in enumerate(zip(self.shapes[x], begin, end))]
        options = {"beginMask": masks[0], "endMask": masks[1], "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 0}
        return self.do("STRIDED_SLICE", [x, self.ints(*begin), self.ints(*end), self.ints(*[1] * len(begin))], shape, ("StridedSliceOptions", options))

    def pad(self, x, *pairs):
        return self.do("PAD", [x, self.constant(np.array(pairs, np.int32).reshape(-1, 2))], [s + pairs[2 * d] + pairs[2 * d + 1] for d, s in enumerate(self.shapes[x])])

    def content(self, y):
        return self.w.finish([self.x], [y])


def lite_head(m):
    y = m.conv(m.conv(m.x, 8, 2), 8, 2)
    s = m.shapes[y]
    return m.dense(m.reshape(m.pool(y, s[1:3], s[1:3]), 1, 8), 5)


def lite_pixels(m):
    y = m.conv(m.x, 8)
    return m.dense(m.reshape(y, 1, m.shapes[y][1] * m.shapes[y][2], 8), 5)


def lite_unpooled(m, op):
    y = m.conv(m.x, 4, 2)
    return m.add(m.conv(m.x, 4), m.resize(y, *m.shapes[m.x][1:3], op))


def lite_anchors(m):
    y = lite_pixels(m)
    n = m.shapes[y][1]
    return m.add(y, m.constant(np.random.default_rng(3).uniform(-1, 1, (4096, 5)).astype(np.float32)[None, :n]))


def lite_up_conv(m, more):
    y = m.conv(m.x, 4, 2)
    n, a, b, c = m.shapes[y]
    shape = [1, 2 * a - more, 2 * b - more, 6]
    return m.do("TRANSPOSE_CONV", [m.ints(*shape), m.weight(6, 3, 3, 4), y], shape, ("TransposeConvOptions", {"padding": 0, "strideH": 2, "strideW": 2}))


LITE = {  # name -> (network, shape A, shape B, what has to happen)
    "convolutions with SAME": (lambda m: m.conv(m.conv(m.x, 8, 2), 4, 2), [1, 15, 15, 3], [1, 18, 18, 3], FOLLOWS),
    "a global pool by its kernel": (lite_head, [1, 16, 16, 3], [1, 32, 32, 3], EITHER),
    "a global pool by its kernel, that also fits": (lite_head, [1, 16, 16, 3], [1, 24, 24, 3], REFUSED),
    "pixels as rows": (lite_pixels, [1, 10, 10, 3], [1, 14, 14, 3], FOLLOWS),
    "pixels as rows, H = C": (lite_pixels, [1, 8, 8, 3], [1, 12, 12, 3], EITHER),
    "anchors": (lite_anchors, [1, 10, 10, 3], [1, 14, 14, 3], REFUSED),
    "a linear resize beside an image": (lambda m: lite_unpooled(m, "RESIZE_BILINEAR"), [1, 12, 12, 3], [1, 16, 16, 3], FOLLOWS),
    "a nearest resize beside an image": (lambda m: lite_unpooled(m, "RESIZE_NEAREST_NEIGHBOR"), [1, 12, 12, 3], [1, 16, 16, 3], FOLLOWS),
    "a nearest resize beside an odd image": (lambda m: lite_unpooled(m, "RESIZE_NEAREST_NEIGHBOR"), [1, 12, 12, 3], [1, 15, 15, 3], REFUSED),
    "a linear resize at the end": (lambda m: m.resize(m.conv(m.x, 4, 2), *m.shapes[m.x][1:3]), [1, 12, 12, 3], [1, 16, 16, 3], REFUSED),
    "a linear resize to a size": (lambda m: m.resize(m.conv(m.x, 4, 2), 12, 12), [1, 12, 12, 3], [1, 16, 16, 3], REFUSED),
    "a slice with masks": (lambda m: m.cut(m.x, [0, 0, 0, 1], [1, 9, 9, 3], (6, 6)), [1, 10, 10, 3], [1, 14, 14, 3], EITHER),
    "a slice with numbers": (lambda m: m.cut(m.x, [0, 0, 0, 1], [1, *m.shapes[m.x][1:3], 3]), [1, 10, 10, 3], [1, 14, 14, 3], REFUSED),
    "a slice to a number": (lambda m: m.cut(m.x, [0, 2, 2, 0], [1, 8, 8, 3]), [1, 10, 10, 3], [1, 14, 14, 3], REFUSED),
    "a slice from the end": (lambda m: m.cut(m.x, [0, 2, 2, 0], [1, -2, -2, 3]), [1, 10, 10, 3], [1, 14, 14, 3], EITHER),
    "a transposed convolution": (lambda m: lite_up_conv(m, 0), [1, 12, 12, 3], [1, 16, 16, 3], FOLLOWS),
    "a transposed convolution to an odd length": (lambda m: lite_up_conv(m, m.shapes[m.x][1] % 2), [1, 15, 15, 3], [1, 18, 18, 3], REFUSED),
    "pads of a window": (lambda m: m.conv(m.pad(m.x, 0, 0, 1, 1, 1, 1, 0, 0), 4, 1, False), [1, 10, 10, 3], [1, 13, 13, 3], FOLLOWS),
    "pads of a stride": (lambda m: m.conv(m.pad(m.x, 0, 0, 0, 1, 0, 1, 0, 0), 4, 2, False), [1, 10, 10, 3], [1, 14, 14, 3], FOLLOWS),
    "pads to a multiple": (lambda m: m.conv(m.pad(m.x, 0, 0, 0, -m.shapes[m.x][1] % 8, 0, 0, 0, 0), 4), [1, 10, 10, 3], [1, 13, 13, 3], REFUSED),
    "steps, one after the other": (lambda m: m.do("REVERSE_V2", [m.x, m.ints(1)], m.shapes[m.x]), [1, 6, 8], [1, 9, 8], EITHER),
}


def lite_forms(folder, pattern):
    if not have_litert():
        return
    for name, (network, a, b, wanted) in LITE.items():
        if not pattern.search(name):
            continue
        contents = []
        for shape in (a, b):
            m = lite(*shape)
            contents.append(m.content(network(m)))
        (folder / "m.tflite").write_bytes(contents[0])
        (folder / "m.nsk").unlink(missing_ok=True)
        x = np.random.default_rng(4).uniform(-1, 1, b).astype(np.float32)
        np.save(folder / "x.npy", x)
        done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--quiet", "--input", "x=" + "x".join(map(str, b)))
        found = REFUSED if done.returncode == 2 else FOLLOWS
        if done.returncode not in (0, 2) or wanted not in (found, EITHER):
            raise SystemExit(f"TensorFlow Lite, {name}: {found}, expected that it {wanted}\n{done.stderr}")
        if found == FOLLOWS:
            [reference] = answers(contents[1], {"x": x}, 1).values()
            done = nsk("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "lite")
            [got] = [np.load(p) for p in (folder / "lite").glob("*.npy")]
            for p in (folder / "lite").glob("*.npy"):
                p.unlink()
            if got.shape != reference.shape or np.abs(got - reference).max() > TOLERANCE * np.abs(reference).max():
                raise SystemExit(f"TensorFlow Lite, {name}: WRONG")
        print(f"TensorFlow Lite, {name}: {found}")
