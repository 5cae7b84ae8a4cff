#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs without end or beyond all measure are refused in bounded time and memory: devices, pipes that say nothing or never stop, files
of a terabyte, JSON that explodes; every input of every command (command_files.py). --embed-check records a bounded amount."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import time

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_files import Scene, difference, make_stock, read_commands, snapshot  # noqa: E402
from models import TOOL, must, nsk  # noqa: E402

REFUSED = 2
MEMORY = 1 << 30   # bytes
SECONDS = 5        # of processor time; what has no end takes more
failures = []
count = 0


def expect(what, problems, said=""):
    global count
    count += 1
    if problems:
        failures.append(f"{what}: {'; '.join(problems)}\n    {said.strip()[:300]}")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def endless(path):
    """Writes to a pipe until its reader has enough."""
    def write():
        block = b"[" * (1 << 20)
        try:
            with open(path, "wb", buffering=0) as pipe:
                while True:
                    pipe.write(block)
        except OSError:
            pass
    threading.Thread(target=write, daemon=True).start()


def to_device(place, name):
    place.symlink_to(name)


def to_sparse(place, _):
    with open(place, "wb") as file:
        file.truncate(1 << 40)


def to_pipe(place, talks):
    os.mkfifo(place)
    if talks:
        endless(place)


KINDS = [("/dev/zero", to_device, "/dev/zero", ["device"]), ("/dev/random", to_device, "/dev/urandom", ["device"]), ("a terabyte", to_sparse, None, ["MiB"]),
         ("a pipe without end", to_pipe, True, ["MiB"]), ("a pipe that says nothing", to_pipe, False, ["nothing for 10 seconds"])]


def every_input(folder, stock):
    """All at once, because those that say nothing take ten seconds."""
    running = []
    for command in read_commands():
        for i in command.inputs:
            for kind, put, argument, words in KINDS:
                if i.note and not i.plain and kind == "a terabyte":
                    continue  # the model says which part of it is wanted
                scene_folder = folder / f"scene{len(running)}"
                scene_folder.mkdir()
                scene = Scene(scene_folder, command, stock)
                scene.put_inputs()
                place = scene_folder / scene.places[i.option, i.note]
                place.unlink()
                put(place, argument)
                if i.note and not i.plain:
                    words = ["data.bin"]
                before = {p.name for p in scene_folder.iterdir()}
                child = subprocess.Popen([TOOL, *scene.arguments()], cwd=scene_folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limited)
                running.append((f"{command.name} {i.option} {i.note}: {kind}", child, words, scene_folder, before))
                if len(running) % 4 == 0:
                    time.sleep(0.2)
    for what, child, words, scene_folder, before in running:
        try:
            said = child.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            child.kill()
            said = child.communicate()[1]
        problems = [] if child.returncode == REFUSED else [f"exit code {child.returncode}"]
        problems += [f"the message lacks '{w}'" for w in words if w not in said]
        problems += [f"there are {sorted(p.name for p in scene_folder.iterdir())}"] if before != {p.name for p in scene_folder.iterdir()} else []
        expect(what, problems, said)
    return len(running)


def exploding_json(folder, stock):
    """Choices and profiles: deep, wide, long."""
    for name, content in stock.items():
        (folder / name).write_bytes(content)
    texts = [("lists a million deep", "[" * 1000000, ["deeper than 32"]), ("lists a million deep, closed", "[" * 1000000 + "]" * 1000000, ["deeper than 32"]),
             ("choices a million deep", '{"conv": ' + '{"algorithm":' * 1000000, ["deeper than 32"]), ("a version a million deep", '{"profile_version":' + "[" * 1000000, ["deeper than 32"]),
             ("five million numbers", "[" + ",".join(["0"] * 5000000) + "]", ["numbers"]), ("two million lists", "[" + ",".join(["[]"] * 2000000) + "]", ["lists"]),
             ("a million keys", "{" + ",".join(f'"k{i}":0' for i in range(1000000)) + "}", []),
             ("a million layers", '{"layers": {' + ",".join(f'"k{i}":0' for i in range(1000000)) + "}}", []), ("17 MB", " " * (17 << 20) + "{}", ["16 MiB"]),
             ("no JSON", "{ not", ["is not JSON"]), ("a long name", '{"' + "n" * 1000000 + '": 5}', []), ("a long choice", '{"conv": "' + "n" * 1000000 + '"}', [])]
    for what, text, words in texts:
        (folder / "bad.json").write_text(text)
        for arguments in (["convert", "model.onnx", "-o", "out.nsk", "--override", "bad.json"], ["convert", "model.onnx", "-o", "out.nsk", "--profile", "bad.json"],
                          ["inspect", "model.nsk", "--profile", "bad.json"]):
            done = subprocess.run([TOOL, *arguments], cwd=folder, capture_output=True, text=True, preexec_fn=limited)
            problems = [] if done.returncode == REFUSED else [f"exit code {done.returncode}"]
            problems += [f"the message lacks '{w}'" for w in words if w not in done.stderr]
            problems += ["the message does not name the file"] if "bad.json" not in done.stderr and "long name" not in what else []
            problems += [f"the message has {len(done.stderr)} characters"] if len(done.stderr) > 1000 else []
            expect(f"{' '.join(arguments)}: {what}", problems + [f"{p} was written" for p in ("out.nsk",) if (folder / p).exists()], done.stderr)


def recorded(folder):
    """A file of 150 bytes can describe inputs of any size."""
    def model(length):
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, length]) for n in "xy"]
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "recorded", values[:1], values[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(folder / "r.onnx"))
        start = os.times()
        done = nsk("convert", folder / "r.onnx", "-o", folder / "r.nsk", "--embed-check", preexec_fn=limited)
        end = os.times()
        return done, end.children_user + end.children_system - start.children_user - start.children_system

    maximum = (1 << 24) // 8
    for length in (maximum + 1, 10 * maximum, 40 * maximum):
        done, took = model(length)
        expect(f"--embed-check of {8 * length} bytes", ([] if done.returncode == REFUSED else [f"exit code {done.returncode}"]) +
               [f"the message lacks '{w}'" for w in ("--embed-check", "16.8 MB") if w not in done.stderr] + (["it was written"] if (folder / "r.nsk").exists() else []), done.stderr)
    done, took = model(maximum)
    print(f"--embed-check of {8 * maximum} bytes: {took:.1f} s")
    expect("--embed-check of the maximum size", [] if done.returncode == 0 and nsk("selftest", folder / "r.nsk").returncode == 0 else [f"exit code {done.returncode}"], done.stderr)
    must("json", folder / "r.nsk", "-o", folder / "r.json")
    must("from-json", folder / "r.json", "-o", folder / "again.nsk", "--quiet")
    expect("the maximum size as JSON and back", [] if (folder / "r.nsk").read_bytes() == (folder / "again.nsk").read_bytes() else ["other bytes"])


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_limits_") as folder:
        folder = pathlib.Path(folder)
        for name in ("stock", "scenes", "json", "recorded"):
            (folder / name).mkdir()
        stock = make_stock(folder / "stock")
        every_input(folder / "scenes", stock)
        exploding_json(folder / "json", stock)
        recorded(folder / "recorded")
    print("\n".join(failures + [f"{count} inputs, {len(failures)} handled badly"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
