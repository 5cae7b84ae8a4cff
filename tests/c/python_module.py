#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module over the C interface: bits of the C++ engine, slices, snapshots, batches, images, many callers, logs and traces, and errors with
their texts.

  python_module.py LIBRARY        the shared library netsuke_c
"""
import ctypes
import json
import pathlib
import sys
import tempfile

import numpy as np

from fixtures import REPOSITORY, TIME_STEPS, expected_hashes, fnv1a, image_model, input_numbers, make_models, memory_model, must

sys.path.insert(0, str(REPOSITORY / "bindings" / "python"))
import netsuke  # noqa: E402


def error_of(function, *arguments):
    try:
        function(*arguments)
    except netsuke.Error as error:
        return error
    return None


def run_model(net, sliced):
    """Hashes of TIME_STEPS runs."""
    hashes = []
    for step in range(TIME_STEPS):
        for i, port in enumerate(net.inputs):
            net.write(i, input_numbers(1000 * step + i, port.elements))
        if sliced:
            while not net.run_for(1):
                pass
        else:
            net.run()
        value = fnv1a(b"")
        for i, port in enumerate(net.outputs):
            output = np.asarray(net.read(i))
            assert list(output.shape) == port.shape_list() and output.nbytes == port.bytes, output.shape
            value = fnv1a(output.tobytes(), value)
        hashes.append(f"{value:016x}")
    return hashes


def results(library, models, folder):
    for path in models:
        net = library.open(path).session()
        expected = expected_hashes(path, folder)
        for sliced in (False, True):
            net.reset()
            if run_model(net, sliced) != expected:
                yield f"{path.name}, sliced: {sliced}: other bits than C++"
        snapshot = net.save()
        after = run_model(net, False)
        net.load(snapshot)
        if run_model(net, True) != after:
            yield f"{path.name}: a snapshot does not bring the states back"
        net.selftest()


def batch(library, path):
    """Rows of a batch are those of single runs."""
    model = library.open(path)
    rows, one = model.session(), model.session()
    rows.set_batch(3)
    one.set_batch(1)
    inputs = [input_numbers(7 * i, port.elements).reshape(port.shape_list()) for i, port in enumerate(rows.inputs)]
    for i, array in enumerate(inputs):
        rows.write(i, array)
    rows.seed(5)
    rows.run()
    for row in range(3):
        for i, array in enumerate(inputs):
            one.write(i, np.roll(array, -row, axis=0))
        one.seed(5, row)
        one.run()
        for i, port in enumerate(rows.outputs):
            has_rows = port.shape[0] == inputs[0].shape[0]  # others are constants of the agent
            if has_rows and np.asarray(rows.read(i))[row].tobytes() != np.asarray(one.read(i))[0].tobytes():
                yield f"row {row} of output {i} differs from a single run"


def errors(library, path):
    data = bytearray(path.read_bytes())
    data[8] += 1
    net = library.open(path).session()
    cases = {"wrong_version": (library.open, data), "bad_magic": (library.open, b"x" * 100), "wrong_size": (net.write, 0, b"x"),
             "no_such_port": (net.read, 9), "rows_out_of_range": (net.set_batch, 3)}
    # Behind the names of the codes.
    begins = {"wrong_size": "port 0 (input 'image' or output 'scores'): the block", "no_such_port": "port 9: the model", "rows_out_of_range": "rows 3: "}
    for name, (function, *arguments) in cases.items():
        error = error_of(function, *arguments)
        if error is None or error.name != name or len(str(error)) < 40:
            yield f"expected {name}, got {error}"
        elif not str(error).startswith(f"{name}: {begins.get(name, '')}"):
            yield f"{name} says {error}"
    if not str(error_of(net.read, 9)).endswith("(inputs: 0 'image'; outputs: 0 'scores')"):
        yield f"no names behind {error_of(net.read, 9)}"
    if not str(error_of(library.call, "nsk_session_read", net.handle, 9, None, ctypes.c_uint64(0))).startswith("no_such_port: port 9: the model"):
        yield "no text without a model"
    if error_of(library.call, "nsk_session_run", ctypes.c_void_p(), None).name != "bad_handle":
        yield "a null handle is not refused"


def other_state(library, path, folder):
    """A state at fault is no port: the number, which would be taken for that of an input, is left out."""
    memory_model(folder / "renamed.onnx", "g")
    must("convert", folder / "renamed.onnx", "-o", folder / "renamed.nsk", "--state", "g=g_next", "--quiet")
    net, other = library.open(path).session(), library.open(folder / "renamed.nsk")
    size = ctypes.c_uint64()
    library.call("nsk_arena_required_bytes", other.handle, 0, 1, ctypes.byref(size))
    _owner, arena = netsuke.block_of(size.value)
    snapshot = (ctypes.c_char * len(net.save()))()
    error = error_of(net.call, "nsk_session_rebind", net.handle, other.handle, 0, ctypes.c_void_p(arena), ctypes.c_size_t(size.value), snapshot,
                     ctypes.c_uint64(len(snapshot)))
    if error is None or error.where != -1 or not str(error).startswith("other_ports: inputs, outputs, states"):
        yield f"another state: {error}"


def images(library, path):
    """A frame as the model wants it, and its answer as an image, are what numpy makes of them where nothing is sampled between pixels."""
    net = library.open(path).session()
    _, height, width, _ = net.inputs[0].shape_list()
    frame = np.random.default_rng(1).integers(0, 256, (height, width, 4)).astype(np.uint8)
    where = net.write_image(0, frame, width, height, "bgra")
    given = np.empty(net.inputs[0].shape_list(), np.float32)
    data, size = ctypes.c_void_p(), ctypes.c_uint64()
    net.call("nsk_session_input", net.handle, 0, ctypes.byref(data), ctypes.byref(size))
    ctypes.memmove(given.ctypes.data, data.value, size.value)
    if not np.allclose(given[0], frame[..., 2::-1] / 255, rtol=0, atol=1e-6) or where.to_image(3, 4) != (3, 4):
        yield "write_image gives other numbers"
    how = net.model.image_settings()
    how.order, how.mirrored = netsuke.ORDERS.index("bgr"), 1
    net.write_image(0, bytes(frame), width, height, "rgba", settings=how)
    ctypes.memmove(given.ctypes.data, data.value, size.value)
    if not np.allclose(given[0], frame[:, ::-1, 2::-1] / 255, rtol=0, atol=1e-6):
        yield "write_image with settings gives other numbers"
    net.run()
    pixels, wide, high = net.read_image(0, "rgb")
    levels = np.rint(np.clip(np.asarray(net.read(0))[0].astype(np.float64) * 255, 0, 255))
    if np.abs(np.frombuffer(pixels, np.uint8).reshape(high, wide, 3) - levels).max() > 1:
        yield "read_image gives other levels"
    if error_of(net.write_image, 0, frame, width, height, "bgra", None, None, 1).name != "bad_argument":
        yield "row 1 of one image is written"
    try:
        net.write_image(0, frame, width, height + 1, "bgra")
        yield "an image without its last row is read"
    except ValueError:
        pass


def batchers(library, path):
    """Rows of many agents are answered in the order of asking, with the bits of single runs; recurrent states are copies of an output."""
    model = library.open(path)
    crowd, net, one = netsuke.Batcher(model, 20, 20), model.session(), model.session()
    one.set_batch(1)
    rows = np.random.default_rng(2).standard_normal((20, 13)).astype(np.float32)
    for agent in reversed(range(20)):
        crowd.ask(agent, rows[agent])
    if error_of(crowd.ask, 3, rows[3]).name != "already_waiting" or crowd.standing(3) != "waiting" or crowd.standing(20) is not None:
        yield "an agent asks twice"
    served = crowd.run(net) + crowd.run(net) + crowd.run(net)
    if served != list(reversed(range(20))) or crowd.run(net):
        yield f"served: {served}"
    for agent in range(20):
        one.write(0, np.concatenate([rows[agent:agent + 1], np.zeros((7, 13), np.float32)]))
        one.run()
        if crowd.standing(agent) != "answered" or crowd.read(agent, 4).tobytes() != np.asarray(one.read(4))[0].tobytes():
            yield f"agent {agent} has another answer than a single run"
    if error_of(netsuke.Batcher, model, 0, 1).name != "no_rows" or error_of(netsuke.Batcher, model, 1, 1, 0, [("obs_0", "no such")]).name != "no_such_port":
        yield "options of a batcher"


def logs(library, path):
    """The line of a log and the trace of a session are JSON; times of steps are those of the clock, and bits stay."""
    model = library.open(path)
    net, log, trace = model.session(), netsuke.RunLog(library, 8), netsuke.Trace(library, 1 << 16, "test")
    net.run()
    before = net.read(0).tobytes()
    sums = net.watch(trace)
    net.run()
    net.unwatch()
    if net.read(0).tobytes() != before or not all(0 < time < 1e9 for time in sums):
        yield f"a watched session: {list(sums)}"
    once = list(sums)
    net.run()
    trace.stage("output", 5, 9)
    bars = [bar for bar in json.loads(trace.finish())["traceEvents"] if bar["ph"] == "X"]
    steps = model.steps()
    if list(sums) != once or [bar["args"]["operator"] for bar in bars[:-1]] != [step.op_name.decode() for step in steps] or bars[-1]["name"] != "output":
        yield f"the trace has {bars}"
    if sum(step.macs for step in steps) == 0 or len(json.loads(trace.finish())["traceEvents"]) != 1:
        yield "steps, or the trace that begins anew"
    log.describe(model)
    for number in range(1, 11):
        log.slice(1000 * number, number != 10)
    said = json.loads(log.line())
    if said["model"] != model.name or said["runs"] != 9 or said["p50_us"] != 5 or log.percentile(100) != 9000:
        yield f"the line says {said}"


def main():
    library = netsuke.Library(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="nsk_python_") as folder:
        folder = pathlib.Path(folder)
        conv, memory, agents = make_models(folder)
        wrong = [*results(library, [conv, memory], folder), *batch(library, agents), *errors(library, conv), *other_state(library, memory, folder)]
        wrong += [*images(library, image_model(folder)), *batchers(library, agents), *logs(library, conv)]
    print("\n".join(wrong + [f"the Python module: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
