#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lengths that steps count: what is behind results whose number is data has as many rows as there are, and is what ONNX Runtime gives for them;
on one lane, and on two. Then random lines of the rows that a mask chooses, and what `nsk check` and a wrong number say.

    counted_lengths.py [--first SEED] [--count N]
"""
import argparse
import collections
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from models import error_of, nsk, plain_session, told  # noqa: E402
from random_lengths import Lines  # noqa: E402

onnxruntime.set_default_logger_severity(4)
TOLERANCE = 1e-4  # of the largest magnitude
ROWS = 12
failures = []
counts = collections.Counter()
random = np.random.default_rng(54)


def floats(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(np.float32)


def mask(rows, chosen):
    result = np.zeros(rows, bool)
    result[random.permutation(rows)[:chosen]] = True
    return result


def masked(width, rows=ROWS, chosen=(0, 1, 2, 5, ROWS - 1, ROWS)):
    return [{"x": floats(rows, width), "m": mask(rows, n)} for n in chosen]


def run(file, given, folder, lanes):
    arguments = []
    for name, x in given.items():
        np.save(folder / f"{name}.npy", x)
        arguments += ["--input", f"{name}={folder / f'{name}.npy'}"]
    return nsk("run", file, *arguments, "--lanes", str(lanes), "--output-dir", folder / "out")


def wanted_of(session, given):
    """What ONNX Runtime gives; None where it has no result."""
    try:
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, given)))
    except Exception:  # noqa: BLE001 - several classes of its own
        return None


def compare(name, file, session, given, folder, tolerance=TOLERANCE, may_clamp=False):
    wanted = wanted_of(session, given)
    for lanes in (1, 2):
        done = run(file, given, folder, lanes)
        if done.returncode:
            failures.append(f"{name}: {done.stderr}")
            return
        if wanted is None:
            counts["no result"] += 1
            return
        if "not the model's" in done.stderr and may_clamp:
            counts["clamped"] += 1
            return
        for output, expected in wanted.items():
            got = np.load(folder / "out" / f"{output}.npy")
            if "not the model's" in done.stderr or got.shape != expected.shape or error_of(got, expected) > tolerance:
                failures.append(f"{name}, {output}: {got.shape} for {expected.shape} {done.stderr} {error_of(got, expected) if got.shape == expected.shape else ''}")
    counts["compared"] += 1


def case(name, text, inputs, options=(), opset=17, **constants):
    """Converts a model, compares it on `inputs`, and asks `nsk check`."""
    with tempfile.TemporaryDirectory(prefix="nsk_counted_") as folder:
        folder = pathlib.Path(folder)
        model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {text}')
        model.graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(x), n) for n, x in constants.items())
        source, file = folder / "model.onnx", folder / "model.nsk"
        onnx.save(model, source)
        done = nsk("convert", source, "-o", file, "--no-states", *options)
        if done.returncode:
            failures.append(f"{name}: {done.stderr}")
            return
        session = plain_session(source)
        for given in inputs:
            compare(name, file, session, given, folder)
        done = nsk("check", source, file)
        if done.returncode:
            failures.append(f"{name}: check: {done.stdout}{done.stderr}")


def rows():
    """Rows that a mask chooses."""
    choose = "(float[12,8] x, bool[12] m) => "
    bound = ["--bound", "a=12"]
    zero = np.array([0])
    case("convolution", choose + "(float[1,3,n] y) { a = Compress<axis=0>(x,m) t = Transpose<perm=[1,0]>(a) u = Unsqueeze(t,zero) y = Conv<pads=[1,1]>(u,w) }",
         masked(8), zero=zero, w=floats(3, 8, 3))
    case("attention", choose + "(float[n,8] y) { a = Compress<axis=0>(x,m) q = MatMul(a,wq) k = MatMul(a,wk) v = MatMul(a,wv) kt = Transpose<perm=[1,0]>(k) "
         "s = MatMul(q,kt) p = Softmax<axis=-1>(s) y = MatMul(p,v) }", masked(8), bound, wq=floats(8, 8), wk=floats(8, 8), wv=floats(8, 8))
    case("recurrence", choose + "(float[n,1,1,5] y) { a = Compress<axis=0>(x,m) u = Unsqueeze(a,one) y = GRU<hidden_size=5,direction=\"reverse\">(u,w,r) }",
         masked(8, chosen=(1, 2, 7, 12)), bound, one=np.array([1]), w=floats(1, 15, 8), r=floats(1, 15, 5))
    case("sums, means, extremes", choose + "(float[8] s, float[8] y, float[8] z, float[1,3,n] c) { a = Compress<axis=0>(x,m) s = ReduceSum<keepdims=0>(a,zero) "
         "y = ReduceMean<axes=[0],keepdims=0>(a) z = ReduceMax<axes=[0],keepdims=0>(a) t = Transpose<perm=[1,0]>(a) u = Unsqueeze(t,zero) c = Conv<pads=[1,1]>(u,w) }",
         masked(8, chosen=(1, 2, 7, 12)), bound, zero=zero, w=floats(3, 8, 3))
    case("a sum over nothing", choose + "(float[8] s, float[n,8] c) { a = Compress<axis=0>(x,m) s = ReduceSum<keepdims=0>(a,zero) c = Softmax<axis=0>(a) }",
         masked(8), bound, zero=zero)
    case("the best three", "(float[12] x, bool[12] m) => (float[3] y, float[1,2,n] z) { a = Compress<axis=0>(x,m) y,i = TopK(a,three) b = Reshape(a,line) "
         "z = Conv<pads=[1,1]>(b,w) }", [{"x": floats(12), "m": mask(12, n)} for n in (0, 2, 3, 4, 12)], three=np.array([3]), line=np.array([1, 1, -1]), w=floats(2, 1, 3))
    case("one mask twice", "(float[12,8] x, float[12,8] z, bool[12] m) => (float[1,8,n] y) { a = Compress<axis=0>(x,m) b = Compress<axis=0>(z,m) s = Add(a,b) "
         "t = Transpose<perm=[1,0]>(s) u = Unsqueeze(t,zero) y = Conv<pads=[2,0]>(u,w) }", [{**g, "z": floats(12, 8)} for g in masked(8)], zero=zero, w=floats(8, 8, 3))
    case("two masks", "(float[12,8] x, bool[12] m, float[9,8] z, bool[9] o) => (float[n,8] y) { a = Compress<axis=0>(x,m) b = Compress<axis=0>(z,o) "
         "t = Transpose<perm=[1,0]>(b) s = MatMul(a,t) p = Softmax<axis=-1>(s) y = MatMul(p,b) }",
         [{**g, "z": floats(9, 8), "o": mask(9, n)} for g, n in zip(masked(8), (3, 0, 2, 1, 9, 4))], ["--bound", "a=12", "--bound", "b=9"])
    case("chosen among the chosen", "(float[12] x, bool[12] m) => (float[1,2,n] y) { a = Compress<axis=0>(x,m) g = Greater(a,half) f = Cast<to=1>(g) i = NonZero(f) "
         "b = Gather(a,i) l = Reshape(b,line) y = Conv<pads=[1,1]>(l,w) }", [{"x": floats(12), "m": mask(12, n)} for n in (0, 1, 3, 8, 12)],
         half=np.float32(0.2), line=np.array([1, 1, -1]), w=floats(2, 1, 3))
    case("groups", "(int64[12] x) => (float[1,2,n] z, int64[12] r, int64[n] c) { a,i,r,c = Unique(x) f = Cast<to=1>(a) b = Reshape(f,line) z = Conv<pads=[1,1]>(b,w) }",
         [{"x": random.integers(0, n, 12)} for n in (1, 2, 5, 40)], line=np.array([1, 1, -1]), w=floats(2, 1, 3))


def networks():
    """What people build of it."""
    durations = {"zero": np.array(0), "one": np.array(1), "column": np.array([1, -1, 1]), "row": np.array([1, 1, -1]), "first": np.array([0]), "last": np.array([-1]),
                 "axis": np.array([2]), "pads": np.array([0, 0, 1, 0, 0, 0])}
    case("durations decide the length of speech", "(float[1,6,8] x) => (float[1,4,n] y, int64 total) { l = MatMul(x,w) e = Exp(l) d = Ceil(e) c = CumSum(d,one) "
         "t = ReduceMax<keepdims=0>(c) total = Cast<to=7>(t) frames = Range(zero,total,one) f = Cast<to=1>(frames) fc = Reshape(f,column) cc = Reshape(c,row) "
         "b = Less(fc,cc) p = Cast<to=1>(b) q = Slice(p,first,last,axis) r = Pad(q,pads) path = Sub(p,r) u = MatMul(path,x) v = Transpose<perm=[0,2,1]>(u) "
         "z = Conv<pads=[2,2]>(v,k) o = ConvTranspose<strides=[2]>(z,k2) y = Tanh(o) }", [{"x": floats(1, 6, 8, scale=s)} for s in (0.1, 1, 2, 3)], ["--bound", "frames=400"],
         w=floats(8, 1, scale=0.3), k=floats(4, 8, 5), k2=floats(4, 4, 2), **durations)
    case("experts", "(float[10,8] x) => (float[10,8] y) { l = MatMul(x,g) e = ArgMax<axis=1,keepdims=0>(l) b0 = Equal(e,i0) b1 = Equal(e,i1) x0 = Compress<axis=0>(x,b0) "
         "x1 = Compress<axis=0>(x,b1) h0 = MatMul(x0,w0) h1 = MatMul(x1,w1) n0 = NonZero(b0) n1 = NonZero(b1) p0 = Transpose<perm=[1,0]>(n0) p1 = Transpose<perm=[1,0]>(n1) "
         "y0 = ScatterND(none,p0,h0) y = ScatterND(y0,p1,h1) }", [{"x": floats(10, 8) + s} for s in (0, 0, 3, -3)], ["--bound", "x0=10", "--bound", "x1=10"],
         g=np.abs(floats(8, 2)) * np.array([1, -1], np.float32), w0=floats(8, 8), w1=floats(8, 8), i0=np.array(0), i1=np.array(1), none=np.zeros((10, 8), np.float32))

    def boxes(scale):
        corner, size = random.random((1, 40, 2)) * 80, random.random((1, 40, 2)) * 20 + 4
        return {"x": np.concatenate([corner, corner + size, random.random((1, 40, 3)) * scale], 2).astype(np.float32)}

    case("attention between detections", "(float[1,40,7] x) => (float[n,4] y, int64[n,3] chosen) { b,c = Split<axis=2>(x,parts) s = Transpose<perm=[0,2,1]>(c) "
         "chosen = NonMaxSuppression(b,s,maximum,overlap,threshold) j = Gather<axis=1>(chosen,two) r = Squeeze(b,first) k = Gather<axis=0>(r,j) q = Mul(k,small) "
         "t = Transpose<perm=[1,0]>(q) e = MatMul(q,t) p = Softmax<axis=-1>(e) y = MatMul(p,q) }", [boxes(s) for s in (0.9, 0.7, 0.65, 0.1)], ["--bound", "chosen=60"],
         parts=np.array([4, 3]), maximum=np.array([20]), overlap=np.array([0.45], np.float32), threshold=np.array([0.6], np.float32), two=np.array(2), first=np.array([0]),
         small=np.float32(0.01))
    case("a chosen length beside a counted one", "(float[time,8] x, float[time] s) => (float[1,3,n] y) { g = Greater(s,none) a = Compress<axis=0>(x,g) "
         "t = Transpose<perm=[1,0]>(a) u = Unsqueeze(t,zero) y = Conv<pads=[1,1]>(u,w) }", [{"x": floats(9, 8), "s": floats(9)} for _ in range(3)], ["--bound", "time=9"],
         none=np.float32(0), zero=np.array([0]), w=floats(3, 8, 3))


class Chosen(Lines):
    """Lines of the rows that a mask chooses."""

    def __init__(self, seed):
        super().__init__(seed)
        self.inputs.clear()
        self.input("all", [1, ROWS, self.given])
        self.inputs.append(onnx.helper.make_tensor_value_info("m", onnx.TensorProto.BOOL, [ROWS]))
        self.nodes.append(onnx.helper.make_node("Compress", ["all", "m"], ["x"], name="x", axis=1))

    def draw(self):
        x = "x"
        for _ in range(int(self.random.integers(2, 7))):
            x = self.layer(str(self.random.choice(self.LAYERS)), x)
        return x


def lines(seed, folder):
    net = Chosen(seed)
    source, file = folder / "source.onnx", folder / "lines.nsk"
    result = net.draw()
    net.save(source, result)
    done = nsk("convert", source, "-o", file, "--bound", f"x={ROWS}")
    if done.returncode:
        counts["refused"] += 1
        if done.returncode != 2 or "report" in done.stderr:
            failures.append(f"line {seed}: exit code {done.returncode}, {done.stderr}")
        return
    counts["converted"] += 1
    session = plain_session(source)
    recurs = any(n.op_type in ("GRU", "LSTM") for n in net.nodes)  # ONNX Runtime ends the program where there is nothing
    for chosen in (*(() if recurs else (0, 1, 2)), net.minimum, ROWS - 1, ROWS):
        compare(f"line {seed} of {chosen}", file, session, {"all": floats(1, ROWS, net.given), "m": mask(ROWS, min(chosen, ROWS))}, folder, 2e-3, chosen < net.minimum)


def wrong_numbers(folder):
    """More results than --bound says are told of."""
    source, file = folder / "model.onnx", folder / "model.nsk"
    onnx.save(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> g (float[12,8] x, bool[12] m) => (float[n,8] y) '
                                      "{ a = Compress<axis=0>(x,m) y = Softmax<axis=0>(a) }"), source)
    nsk("convert", source, "-o", file, "--bound", "a=5")
    for chosen, is_told in ((5, False), (6, True)):
        done = run(file, masked(8, chosen=(chosen,))[0], folder, 1)
        if ("not the model's" in done.stderr) != is_told or np.load(folder / "out" / "y.npy").shape[0] != 5:
            failures.append(f"{chosen} results of at most 5: {done.stderr}")
    for arguments, part in ((("inspect", file, "--length", "a.count=3"), "--length"), (("convert", source, "-o", file, "--bound", "a=5", "--embed-check"), "--embed-check"),
                            (("convert", source, "-o", file, "--bound", "b=5"), "'b'")):
        done = nsk(*arguments)
        if done.returncode == 0 or part not in done.stderr:
            failures.append(f"{arguments}: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    options = parser.parse_args()
    rows()
    networks()
    with tempfile.TemporaryDirectory(prefix="nsk_counted_") as name:
        wrong_numbers(pathlib.Path(name))
        for seed in range(options.first, options.first + options.count):
            lines(seed, pathlib.Path(name))
    print(dict(counts))
    if counts["converted"] * 2 < options.count:
        failures.append("fewer than half of the networks convert")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
