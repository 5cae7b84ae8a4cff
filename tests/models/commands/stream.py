#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that take a signal in chunks (--stream): in chunks of any lengths they give the bits that the file for the whole signal gives, and what
ONNX Runtime does.

    stream.py LIBRARY [--first SEED] [--count N]        LIBRARY: netsuke_c
"""
import argparse
import collections
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, error_of, nsk, plain_session, told  # noqa: E402
from signals import NETWORKS, Random, Signal  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "bindings" / "python"))
import netsuke  # noqa: E402

failures = []
counts = collections.Counter()


def run(session, arrays, samples):
    """The outputs of a run with so many samples, by name."""
    if session.model.lengths():
        session.set_length("samples", samples)
    for i, port in enumerate(session.inputs):
        session.write(i, np.ascontiguousarray(arrays[port.name.decode()]))
    session.run()
    return {port.name.decode(): np.asarray(session.read(i)).ravel().copy() for i, port in enumerate(session.outputs)}


def lengths_of(random, samples, chunk, step):
    """Lengths of chunks that are a signal together."""
    while samples > 0:
        n = int(min(samples, random.choice([chunk, step, step * random.integers(1, chunk // step + 1)])))
        yield n
        samples -= n


def converted(source, file, *options):
    return nsk("convert", source, "-o", file, "--no-winograd", "--keep-layout", "x", *options)


def compare(library, name, net, outputs, chunk, folder, repeats=2):
    """What the tool says where the file is refused."""
    source, file, all_of = folder / "source.onnx", folder / "chunks.nsk", folder / "whole.nsk"
    net.save(source, *outputs)
    session = plain_session(source)
    samples = net.step * int(np.ceil((chunk * 3.4 + 120) / net.step))
    kept = [o for output in outputs for o in ("--keep-layout", output)]
    late = f"+{net.late}" if net.late else ""
    done = converted(source, file, "--stream", f"samples={chunk}{late}", *kept)
    if done.returncode:
        return done.stdout + done.stderr
    late = {output: int(n) for output, n in re.findall(r"output '([^']*)' is late: the elements before number (\d+)", done.stdout)}
    said = re.search(r"in chunks (.*) differ by|in chunks it has the bits", done.stdout)
    others = re.findall(r"'([^']*)'", said[1] or "") if said else failures.append(f"{name}: nothing is said of bits: {done.stdout}") or []
    done = converted(source, all_of, "--bound", f"samples={samples - net.step}..{samples}/{net.step}", "--no-check", *kept)
    if done.returncode:
        return failures.append(f"{name}: {done.stdout}{done.stderr}")
    if (done := nsk("check", source, file)).returncode:
        failures.append(f"{name}: nsk check: {done.stdout}{done.stderr}")
    chunks, whole = (library.open(f).session() for f in (file, all_of))
    axis = net.shape.index(None)
    for _ in range(repeats):
        x = net.random.normal(0, 1, [n or samples for n in net.shape]).astype(np.float32)
        expected, wanted = run(whole, {"x": x}, samples), dict(zip(outputs, session.run(None, {"x": x})))
        chunks.reset()
        at, got = 0, collections.defaultdict(list)
        for n in lengths_of(net.random, samples, chunk, net.step):
            for output, values in run(chunks, {"x": np.take(x, range(at, at + n), axis)}, n).items():
                got[output].append(values)
            at += n
        for output in outputs:
            time = time_axis(session, output, x, axis, net.step)
            failures.extend(f"{name}: output '{output}' {what}" for what in
                            differences(got[output], expected[output], wanted[output], time, late.get(output, 0), output in others or adds_channels(net)))
    counts["compared"] += 1
    counts["other digits"] += bool(others)
    counts["late"] += bool(late)
    return ""


def adds_channels(net):
    """Whether lines over channels are added up, which of one sample alone are in one piece."""
    return any(n.op_type in ("ReduceMean", "Softmax") for n in net.nodes)


def time_axis(session, output, x, axis, step):
    """The axis of an output that follows the signal; None where there is none."""
    longer = np.concatenate([x, np.take(x, range(step), axis)], axis)
    a, b = (session.run([output], {"x": given})[0].shape for given in (x, longer))
    return next((d for d in range(len(a)) if a[d] != b[d]), None)


def differences(parts, whole, wanted, axis, late, other_digits):
    """What is wrong with the parts of an output; `whole` has the elements in the order of `wanted`, maybe with `other_digits`."""
    whole = whole.reshape(wanted.shape)
    if axis is None:
        got = parts[-1].reshape(wanted.shape)
    else:
        shape = list(wanted.shape)
        shape[axis] = -1
        got = np.concatenate([part.reshape(shape) for part in parts], axis)
        got = np.take(got, range(late, got.shape[axis]), axis)
        whole, wanted = (np.take(a, range(got.shape[axis]), axis) for a in (whole, wanted))
    if not np.array_equal(got, whole) and not (other_digits and error_of(got, whole) < 2e-6):
        yield f"has other bits than for the whole signal, by {np.abs(got - whole).max()}"
    if error_of(got, wanted) > max(1e-5, 1.5 * error_of(whole, wanted)):
        yield f"is {error_of(got, wanted)} from ONNX Runtime, late {late}"


def random_networks(library, folder, first, count):
    for seed in range(first, first + count):
        net = Random(seed)
        outputs = net.make()
        net.late = 999 * net.ahead
        chunk = net.step * int(np.ceil(int(net.random.choice([1, 5, 16, 40])) / net.step))
        if said := compare(library, f"random {seed}", net, outputs, chunk, folder, 1):
            counts["refused"] += 1
            known = net.ahead and any(text in said for text in ("the signal is late here", "elements more than the signal", "-1 cannot be resolved"))
            if not known:
                failures.append(f"random {seed}: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    options = parser.parse_args()
    library = netsuke.Library(options.library)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for network, channels, rows, chunk in NETWORKS:
            net = Signal(chunk, channels, rows)
            if said := compare(library, network.__name__, net, network(net), chunk, folder):
                failures.append(f"{network.__name__}: {said}")
        random_networks(library, folder, options.first, options.count)
    print(dict(counts))
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
