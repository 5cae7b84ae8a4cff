#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Constants that an exporter made of a size: a network exported for size A and converted for size B with --input equals the export for B, or is refused.

  size_constants.py [--cases N] [--seed S]

Each case is a random operator with a constant, a scalar or a vector, float or integer, which is a random expression of the lengths. It is exported
for A, converted with the lengths of B, and compared with the export for B in ONNX Runtime. A result that differs fails the test. A refusal has to
print --constant options that convert; `follow` has to give the export for B, and where several numbers are possible the true one has to be listed.
"""
import argparse
import pathlib
import random
import re
import shlex
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import nsk  # noqa: E402
from static_exporter import exported  # noqa: E402

TOLERANCE = 3e-5
PLAIN = (0, 1, 2, 3, 4, 6, 0.5, 1 / 6, 255, 127.5, 1 / 255, 1 / 127.5)

# What an exporter makes of the lengths: height and width of the image, and of the features behind a stride.
SINGLE = {
    "n": lambda n: n, "n - 1": lambda n: n - 1, "n + 1": lambda n: n + 1, "n / 2": lambda n: n / 2, "(n - 1) / 2": lambda n: (n - 1) / 2,
    "(n + 1) / 2": lambda n: (n + 1) / 2, "1 / n": lambda n: 1 / n, "2 / n": lambda n: 2 / n, "1 / (n - 1)": lambda n: 1 / (n - 1),
    "2 / (n - 1)": lambda n: 2 / (n - 1), "sqrt n": np.sqrt, "1 / sqrt n": lambda n: 1 / np.sqrt(n), "log n": np.log, "n / 3": lambda n: n / 3,
    "n / 4": lambda n: n / 4, "(n - 1) / 4": lambda n: (n - 1) / 4, "1 / (2 n)": lambda n: 0.5 / n, "n / (n - 1)": lambda n: n / (n - 1),
}
DOUBLE = {
    "h w": lambda h, w: h * w, "1 / (h w)": lambda h, w: 1 / (h * w), "sqrt (h w)": lambda h, w: np.sqrt(h * w),
    "1 / sqrt (h w)": lambda h, w: 1 / np.sqrt(h * w), "h w / 2": lambda h, w: h * w / 2, "log (h w)": lambda h, w: np.log(h * w),
    "h w - 1": lambda h, w: h * w - 1,
}
WHOLE = {"n": lambda n: n, "n - 1": lambda n: n - 1, "n + 1": lambda n: n + 1, "n / 2": lambda n: n // 2, "n / 4": lambda n: n // 4}


OPERATORS = ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Clip", "ClipMin", "Greater", "Where", "MatMul", "Gemm", "GemmC", "Pad", "OldClip")


class maker:
    """An expression of the lengths, and an operator that has it: choices that do not depend on the lengths."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.stride = r.choice((1, 1, 2, 4))
        self.form = r.choice(("scalar", "scalar", "vector", "channels"))
        self.is_whole = r.random() < 0.25
        self.names = [r.choice(list(WHOLE if self.is_whole else SINGLE)) for _ in range(2)]
        if r.random() < 0.7:
            self.names[1] = self.names[0]
        self.double = None if self.is_whole or r.random() < 0.8 else r.choice(list(DOUBLE))
        self.part = r.choice((1, 1, 1, self.stride))
        self.sign = r.choice((1, 1, 1, -1))
        self.place = r.choice(("image", "points", "features", "sum"))
        whole_operators = ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Less")
        self.operator = r.choice(whole_operators if self.is_whole else OPERATORS)
        if self.operator == "Mod" and not self.is_whole and (self.double or not set(self.names) <= set(WHOLE)):
            self.operator = "Sub"  # what is just below a multiple may be just above it
        if self.operator in ("Mod", "Where", "Greater", "Less") and self.place in ("features", "sum"):
            self.place = "image"  # exact numbers
        self.own = 10007 if self.is_whole else r.uniform(0.1, 9)

    def number(self, h, w, axis):
        if self.double:
            return DOUBLE[self.double](h // self.part, w // self.part)
        return (WHOLE if self.is_whole else SINGLE)[self.names[axis]]((h, w)[axis] // self.part)

    def numbers(self, h, w):
        """The numbers that were made of the lengths."""
        return [self.sign * self.number(h, w, axis) for axis in ((0,) if self.form == "scalar" else (0, 1))]

    def array(self, h, w, channels):
        found = self.numbers(h, w)
        if self.form == "scalar":
            return np.array(found[0])
        if self.form == "vector" and channels == 2:
            return np.array(found)
        return np.array((found + [self.own] * channels)[:channels])  # beside numbers of its own

    def __call__(self, w, height, width):
        image = w.input("x", [1, 3, height, width])
        points = w.input("p", [1, 5, 2])
        features = w.conv(image, 4, 3, self.stride) if self.stride > 1 else w.conv(image, 4)
        x = {"image": image, "points": points, "features": features, "sum": None}[self.place]
        if x is None:
            x = w.reduce(features, [2, 3], "ReduceSum", keepdims=0)
        if len(x.shape) == 4 and self.operator != "Pad":
            x = w.transpose(x, 0, 2, 3, 1)
        y = self.applied(w, x, self.array(height, width, x.shape[-1]))
        w.output(y)
        w.output(features)
        w.output(w.linear(points, 3))

    def applied(self, w, x, a):
        scalar, channels = self.numbers_first(a), x.shape[-1]
        if self.is_whole:
            x = w.add("Cast", [w.scaled(x, 37.31)], x.shape, to=7)
            c = w.constant(a.astype(np.int64), np.int64)
            y = w.add(self.operator, [x, c], x.shape)
            return w.add("Cast", [y], x.shape, to=1)
        c = w.constant(a)
        if self.operator in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
            return w.binary(self.operator, x, c)
        big = w.scaled(x, 37.31)
        if self.operator == "Mod":
            return w.add("Mod", [big, c], x.shape, fmod=1)
        if self.operator in ("Clip", "ClipMin"):
            return w.add("Clip", [big, "", w.constant(scalar)] if self.operator == "Clip" else [big, w.constant(scalar)], x.shape)
        if self.operator == "Greater":
            return w.add("Where", [w.add("Greater", [big, c], x.shape), w.constant(0), x], x.shape)
        if self.operator == "Where":
            return w.add("Where", [w.add("Greater", [x, w.constant(0)], x.shape), c, x], x.shape)
        if self.operator == "MatMul":
            return w.add("MatMul", [x, w.constant(np.diag(np.broadcast_to(a, [channels])))], x.shape)
        if self.operator == "Pad":
            pads = [0] * len(x.shape) + [0, 1] + [0] * (len(x.shape) - 2)
            return w.add("Pad", [x, w.ints(*pads), w.constant(scalar)], [x.shape[0], x.shape[1] + 1, *x.shape[2:]])
        flat = w.reshape(w.reduce(x, list(range(1, len(x.shape) - 1))), 1, channels) if len(x.shape) > 2 else x
        if self.operator == "Gemm":
            return w.add("Gemm", [flat, w.weight(channels, 3)], [1, 3], alpha=float(scalar))
        if self.operator == "GemmC":
            return w.add("Gemm", [flat, w.weight(channels, channels), w.constant(np.broadcast_to(a, [channels]))], [1, channels])
        return w.add("Clip", [big, w.constant(-1e9), w.constant(scalar)], x.shape)

    def numbers_first(self, a):
        return np.ravel(a)[0]

    def used(self, numbers, changed):
        """Those that changed and that the operator takes."""
        takes_one = self.operator in ("Clip", "ClipMin", "OldClip", "Pad", "Gemm")
        return [numbers[i] for i in changed if i == 0 or not takes_one]


def is_plain(number):
    return any(abs(abs(number) - p) <= 1e-6 * max(p, 1e-6) for p in PLAIN)


def run_reference(model, inputs):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))


class case:
    def __init__(self, seed, folder, network=None, a=None, b=None):
        r = random.Random(seed * 7919)
        self.network, self.folder = network or maker(seed), folder
        lengths = range(8, 49, 4) if self.network.stride > 1 else range(7, 41)
        square = r.random() < 0.5
        self.a, self.b = ((n, n if square else r.choice(lengths)) for n in (r.choice(lengths), r.choice(lengths)))
        self.a, self.b = a or self.a, b or self.b
        a, b = self.network.numbers(*self.a), self.network.numbers(*self.b)
        changed = [i for i in range(len(a)) if not np.isclose(a[i], b[i], rtol=1e-9)]
        divides_by_0 = self.network.is_whole and 0 in a + b
        self.unlike = changed
        self.counts = bool(changed) and not divides_by_0 and self.a[0] != self.b[0] and self.a[1] != self.b[1] and not any(is_plain(a[i]) for i in changed)
        self.true = b
        self.seed = seed

    def make(self):
        self.models = [exported(self.network, lengths, 5) for lengths in (self.a, self.b)]
        rng = np.random.default_rng(self.seed)
        self.inputs = {i.name: rng.uniform(-1, 1, [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32) for i in self.models[1].graph.input}
        self.wanted = run_reference(self.models[1], self.inputs)
        onnx.save(self.models[0], self.folder / "m.onnx")
        for n, x in self.inputs.items():
            np.save(self.folder / f"{n}.npy", x)

    def convert(self, more=()):
        shape = "x".join(map(str, self.inputs["x"].shape))
        (self.folder / "m.nsk").unlink(missing_ok=True)
        return nsk("convert", self.folder / "m.onnx", "-o", self.folder / "m.nsk", "--quiet", "--input", f"x={shape}", *more)

    def difference(self):
        out = self.folder / "out"
        done = nsk("run", self.folder / "m.nsk", *[o for n in self.inputs for o in ("--input", f"{n}={self.folder / n}.npy")], "--output-dir", out)
        if done.returncode != 0:
            raise SystemExit(f"run: {done.stderr}")
        worst = 0
        for name, y in self.wanted.items():
            got = np.load(out / f"{name}.npy")
            if got.shape != y.shape:
                return np.inf
            finite = np.isfinite(y)
            worst = max(worst, np.abs(got[finite].astype(np.float64) - y[finite]).max(initial=0) / max(0.1, np.abs(y[finite]).max(initial=0)))
        return worst

    def outcome(self):
        """Raises AssertionError where the tool is wrong."""
        self.make()
        done = self.convert()
        if done.returncode == 0:
            assert self.difference() <= TOLERANCE, "WRONG without a word"
            return "converts"
        assert done.returncode == 2, f"exit code {done.returncode}: {done.stderr}"
        options = [o.rstrip(";,.") for o in re.findall(r"--constant ('[^']*'|\S+)", done.stderr.split("; where the network")[0])]
        if not options:
            return "refused without --constant: " + done.stderr.split("): ")[-1][:60]
        words = [w for o in options for w in ("--constant", *shlex.split(o))]
        again = self.convert(words)
        assert again.returncode == 0, f"{' '.join(words)} does not convert: {again.stderr}"
        right = self.difference() <= TOLERANCE
        if all(o.strip("'").endswith("=follow") for o in options):
            assert right, f"{' '.join(words)} gives another network than the export\n{done.stderr}"
            outcome = "follows with --constant NODE=follow"
        else:
            said = [float(v) for v in re.findall(r"become (-?\d(?:[\d.e+-]*\d)?)", done.stderr)]
            assert right or all(any(np.isclose(v, s, rtol=1e-6) for s in said) for v in self.network.used(self.true, self.unlike)), f"the true {self.true} is not listed\n{done.stderr}"
            outcome = "follows with a number" if right else "several numbers, the true one among them"
        keep = [w for o in options for w in ("--constant", shlex.split(o)[0].split("=")[0] + "=keep")]
        kept = self.convert(keep)
        assert kept.returncode == 0, f"{' '.join(keep)} does not convert: {kept.stderr}"
        return outcome


def fixed(**settings):
    """A scalar that is multiplied with an image, unless the settings say otherwise."""
    m = maker(1)
    m.stride, m.part, m.form, m.is_whole, m.double, m.sign, m.place, m.operator, m.own = 1, 1, "scalar", False, None, 1, "image", "Mul", 0.7310001
    for name, value in settings.items():
        setattr(m, name, value)
    return m


def many(h, w):
    """Twelve numbers of a network, and one that was made of a length: one of the last axis' channels."""
    return np.append(np.random.default_rng(7).uniform(0.1, 9, 12), h - 1)


def table(h, w):
    """Twenty numbers, eight of which were made of a length."""
    made = [h - 1, (h - 1) / 2, 1 / (h - 1), 2 / (h - 1), h, h / 2, 1 / h, 2 / h]
    return np.append(np.random.default_rng(9).uniform(0.1, 9, 12), made)


def bias(h, w):
    return np.random.default_rng(8).uniform(-3, 3, 3000)


def anchors(h, w):
    """Boxes in pixels, as parts of the height: multiples of one number, of which few look like a length themselves."""
    return np.random.default_rng(6).permutation(np.arange(5, 400, 7))[:40] / h


def first_steps(h, w):
    return np.arange(24) / (h - 1)


def pixel_centres(h, w):
    return (np.arange(20) + 0.5) / h


def from_minus_one(h, w):
    """The first positions of a grid from -1 to 1, of which more than 64 differ."""
    return np.arange(90) * 2 / (h - 1) - 1


def three_parts(h, w):
    return np.array([10, 13, 16]) / h


def lines_apart(h, w):
    """Places of the first lines in a flat image, as whole numbers."""
    return np.arange(24) * float(h)


def as_half(numbers):
    return np.float64(np.float16(numbers))


def as_bfloat(numbers):
    mantissa, exponent = np.frexp(numbers)
    return np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8)


def short(name, rounded):
    """An expression of the lengths in a short float type."""
    return fixed(names=["n", "n"], numbers=lambda h, w: [rounded(SINGLE[name](h))] * 2)


OWN_TABLES = {
    "tenths": lambda: np.arange(1, 30) / 10, "octaves": lambda: 2.0 ** np.arange(-8, 12),
    "means of colours": lambda: np.array([0.485, 0.456, 0.406, 0.229, 0.224, 0.225]), "a ramp of its own": lambda: np.linspace(0.013, 0.877, 50),
    "20 weights": lambda: np.random.default_rng(3).normal(0, 1, 20), "17 halves": lambda: as_half(np.random.default_rng(4).normal(0, 1, 17)),
    "3000 halves": lambda: as_half(np.random.default_rng(5).normal(0, 0.1, 3000)), "300 bfloats": lambda: as_bfloat(np.random.default_rng(6).normal(0, 0.1, 300)),
    "300 weights of 4 bits": lambda: np.random.default_rng(7).integers(-7, 8, 300) * 0.0137, "periods": lambda: 10000.0 ** (-np.arange(32) / 32),
}


def beside(numbers, operator="Mul"):
    """A constant of numbers that meets an image's channels, put there by a convolution or a product."""

    def network(w, height, width):
        x = w.transpose(w.input("x", [1, 3, height, width]), 0, 2, 3, 1)
        a = numbers(height, width)
        y = w.linear(w.reduce(x, [1, 2]), len(a))
        w.output(w.add(operator, [y, w.constant(a)], y.shape))

    network.numbers, network.operator, network.stride, network.is_whole = lambda h, w: list(numbers(h, w)), operator, 1, False
    network.used = lambda values, changed: [values[i] for i in changed]
    return network


def rules(folder):
    """Each expression alone has to stop the conversion, and to follow: a rule that is missing or wrong fails here. Numbers of the network do not stop it."""
    forms = [dict(names=[n, n]) for n in SINGLE] + [dict(names=["n", "n"], double=d) for d in DOUBLE]
    forms += [dict(names=[n, n], is_whole=True) for n in WHOLE] + [dict(names=["n - 1"] * 2, operator=o) for o in OPERATORS]
    forms += [dict(names=["1 / (n - 1)", "2 / n"], form=f) for f in ("vector", "channels")]
    networks = [(str(f), fixed(**f)) for f in forms] + [(f.__name__, beside(f)) for f in (many, table)]
    tables = (anchors, first_steps, pixel_centres, from_minus_one, three_parts, lines_apart)
    networks += [(f"{f.__name__}, {o}", beside(f, o)) for f in tables for o in ("Mul", "Sub")] + [("anchors of halves", beside(lambda h, w: as_half(anchors(h, w))))]
    networks += [(f"{n} of {r.__name__}", short(n, r)) for r in (as_half, as_bfloat) for n in ("1 / n", "2 / (n - 1)", "sqrt n", "log n")]
    for name, network in networks:
        found = case(1, folder, network, (37, 41), (61, 53)).outcome()
        assert found == "follows with --constant NODE=follow", f"{name}: {found}"
    own = [((37, 41), number) for number in (0, 1, 2, 3, 4, 6, 0.5, 0.7310001, -9.217)]
    own += [((256, 41), number) for number in (255, 127.5, 1 / 255, 1 / 127.5)] + [((100, 100), 1e4), ((100, 100), 1e-4)]
    for a, number in own:
        found = case(1, folder, fixed(names=["n", "n"], numbers=lambda h, w, number=number: [number] * 2), a, (61, 53)).outcome()
        assert found == "converts", f"{number} for {a}: {found}"
    for operator in ("Add", "Mul"):
        found = case(1, folder, beside(bias, operator), (37, 41), (61, 53)).outcome()
        assert found == "converts", f"3000 random numbers: {found}"
    c = case(1, folder, beside(anchors), (37, 41), (61, 53))
    c.make()
    said = c.convert().stderr
    assert "5 x (1 / 37)" in said and "; and 34 more numbers, for the lengths" in said and said.count(" may be ") == 6, said
    for name, made in OWN_TABLES.items():
        found = case(1, folder, beside(lambda h, w, made=made: made()), (37, 41), (61, 53)).outcome()
        assert found == "converts", f"{name}: {found}"
    print(f"{len(networks)} expressions and operators stop and follow, numbers of the network do not stop")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    counts, wrong, seed = {}, [], o.seed * 10**6
    with tempfile.TemporaryDirectory(prefix="nsk_sizes_") as name:
        rules(pathlib.Path(name))
        while sum(counts.values()) + len(wrong) < o.cases:
            seed += 1
            c = case(seed, pathlib.Path(name))
            if not c.counts:
                continue
            try:
                found = c.outcome()
                counts[found] = counts.get(found, 0) + 1
            except AssertionError as e:
                wrong.append(f"seed {seed}, {c.a} -> {c.b}, {c.network.operator}, {c.network.names}, {c.network.double}, / {c.network.part}, {c.network.place}, {c.network.form}: {e}")
                print(wrong[-1])
    print(f"{o.cases} random constants made of sizes, from seed {o.seed}: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())) + f", {len(wrong)} wrong")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
