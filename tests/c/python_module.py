#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module over the C interface: bits of the C++ engine, slices, snapshots, batches, and errors with their texts.

  python_module.py LIBRARY        the shared library netsuke_c
"""
import ctypes
import pathlib
import sys
import tempfile

import numpy as np

from fixtures import REPOSITORY, TIME_STEPS, expected_hashes, fnv1a, input_numbers, make_models, memory_model, must

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


def main():
    library = netsuke.Library(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="nsk_python_") as folder:
        folder = pathlib.Path(folder)
        conv, memory, agents = make_models(folder)
        wrong = [*results(library, [conv, memory], folder), *batch(library, agents), *errors(library, conv), *other_state(library, memory, folder)]
    print("\n".join(wrong + [f"the Python module: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
