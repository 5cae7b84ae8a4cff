#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs appear together or not at all, and leave nothing else: full disks, signals, renames that fail, two commands at once. Permissions
of replaced files stay, links are followed. Every command that writes is tried (command_files.py)."""
import hashlib
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_files import Scene, difference, make_stock, read_commands, snapshot  # noqa: E402
from models import TOOL, must, nsk  # noqa: E402

REFUSED, USAGE = 2, 1
OTHER_USER = 65534
SLOW = ("profile", "bench")  # they measure for half a minute where other programs run
failures = []
count = 0


def expect(what, good, said=""):
    global count
    count += 1
    if not good:
        failures.append(f"{what}\n    {said.strip()[:300]}")


def expect_nothing(what, scene, codes=(REFUSED,), words=(), **options):
    """The command fails and changes nothing."""
    before = snapshot(scene.folder)
    done = scene.run(**options)
    problems = difference(before, snapshot(scene.folder)) + [f"the message lacks '{w}'" for w in words if w not in done.stderr]
    problems += [] if done.returncode in codes else [f"exit code {done.returncode}"]
    expect(f"{scene.command.name}: {what}: {'; '.join(problems)}", not problems, done.stderr)


def as_other_user():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(OTHER_USER)
        os.setuid(OTHER_USER)


def small_files_only():
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


def put_older(scene, mode=0o644):
    for o in scene.command.outputs:
        path = scene.folder / o.place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"older")
        path.chmod(mode)


def permissions(make, command):
    for mode in (0o600, 0o754)[:1 if command.name in SLOW else 2]:
        scene = make(command)
        put_older(scene, mode)
        if os.getuid() == 0:
            for o in command.outputs:
                os.chown(scene.folder / o.place, 1234, 4321)
                (scene.folder / o.place).chmod(mode)
        done = scene.run()
        for o in command.outputs:
            path = scene.folder / o.place
            s = path.stat()
            expect(f"{command.name}: {o.place}: permissions {oct(mode)} became {oct(s.st_mode)}", s.st_mode & 0o7777 == mode, done.stderr)
            expect(f"{command.name}: {o.place}: the owner is {s.st_uid}:{s.st_gid}", os.getuid() != 0 or (s.st_uid, s.st_gid) == (1234, 4321))
            expect(f"{command.name}: {o.place} was not written", path.read_bytes() != b"older", done.stderr)
    for mask in (0o027, 0o077)[:1 if command.name in SLOW else 2]:
        scene = make(command)
        scene.run(preexec_fn=lambda: os.umask(mask))
        for o in command.outputs:
            mode = (scene.folder / o.place).stat().st_mode & 0o7777
            expect(f"{command.name}: {o.place}: umask {oct(mask)} gives {oct(mode)}", mode == 0o666 & ~mask)


def links(make, command):
    for older in (True, False):
        scene = make(command)
        for n, o in enumerate(command.outputs):
            target, link = scene.folder / "side" / f"target{n}", scene.folder / o.place
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(os.path.relpath(target, link.parent))
            if older:
                target.write_bytes(b"older")
        done = scene.run()
        for n, o in enumerate(command.outputs):
            target, link = scene.folder / "side" / f"target{n}", scene.folder / o.place
            expect(f"{command.name}: {o.place}: the link is followed", link.is_symlink() and target.is_file() and target.read_bytes() != b"older", done.stderr)


def disks(make, command):
    for older in (True, False):
        scene = make(command)
        if older:
            put_older(scene)
        expect_nothing("a full disk", scene, preexec_fn=small_files_only)
        for option in {o.option: 0 for o in command.outputs if "/" not in o.place}:
            scene = make(command)
            if older:
                put_older(scene)
            scene.given[option] = "/dev/full"
            beside = any(o.extension for o in command.outputs if o.option == option)
            expect_nothing(f"{option} /dev/full", scene, (USAGE,) if beside else (REFUSED,), ["/dev/full"])


def places(make, command):
    for option, argument in {o.option: o.argument for o in command.outputs}.items():
        inside = argument == "out"
        for what, path, words in (("no name", "", ["empty"]), ("a file in the way", "side/file/x", []), ("an endless link", "loop", []),
                                  ("a file in a directory that is not there", "no/x", ["no/x"]), ("a directory", "side", ["directory"]), ("a new directory", "new/", [])):
            if inside and what in ("a directory", "a file in a directory that is not there", "a new directory"):
                continue
            scene = make(command)
            (scene.folder / "side" / "file").write_bytes(b"")
            (scene.folder / "loop").symlink_to("loop")
            scene.given[option] = path
            expect_nothing(f"{option}: {what}", scene, (USAGE, REFUSED), words)
        scene = make(command)
        (scene.folder / "side" / "locked").mkdir()
        (scene.folder / "side" / "locked").chmod(0o555)
        scene.folder.chmod(0o777)
        scene.given[option] = "side/locked" if inside else "side/locked/x.y"
        expect_nothing(f"{option}: a locked directory", scene, words=["side/locked"], preexec_fn=as_other_user)
        scene = make(command)
        put_older(scene, 0o444)
        for o in command.outputs:
            (scene.folder / o.place).parent.chmod(0o777)
        expect_nothing(f"{option}: read-only files", scene, words=["read-only"], preexec_fn=as_other_user)


def failing_renames(make, command):
    """In a directory with the sticky bit no user may replace another's file, though it may be written to."""
    if os.getuid() != 0 or not command.outputs:
        return
    for blocked in range(len(command.outputs)):
        for older in (True, False):
            scene = make(command)
            if older:
                put_older(scene, 0o666)
            for n, o in enumerate(command.outputs):
                path = scene.folder / o.place
                path.parent.mkdir(exist_ok=True)
                path.parent.chmod(0o1777)
                if n == blocked:
                    path.write_bytes(b"older")
                    path.chmod(0o666)
                elif older:
                    os.chown(path, OTHER_USER, OTHER_USER)
            expect_nothing(f"{command.outputs[blocked].place} cannot be replaced", scene, words=["cannot write"], preexec_fn=as_other_user)


def pipes(make, command):
    for option in {o.option: 0 for o in command.outputs if "/" not in o.place}:
        if any(o.extension for o in command.outputs if o.option == option):
            continue
        scene = make(command)
        os.mkfifo(scene.folder / "pipe")
        scene.given[option] = "pipe"
        got = []
        reader = threading.Thread(target=lambda: got.append((scene.folder / "pipe").read_bytes()))
        reader.start()
        done = scene.run()
        reader.join(60)
        expect(f"{command.name}: {option}: a pipe gets nothing", done.returncode == 0 and got and got[0], done.stderr)
        scene = make(command)
        os.mkfifo(scene.folder / "pipe")
        scene.given[option] = "pipe"
        before = snapshot(scene.folder)
        child = subprocess.Popen([TOOL, *scene.arguments()], cwd=scene.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        child.terminate()
        code = child.wait(60)
        expect(f"{command.name}: {option}: waiting for a reader, it was not ended: {code}", code == -signal.SIGTERM)
        expect(f"{command.name}: {option}: {difference(before, snapshot(scene.folder))}", before == snapshot(scene.folder))
    devices = {o.option: 0 for o in command.outputs if "/" not in o.place and not any(x.extension for x in command.outputs if x.option == o.option)}
    scene = make(command)
    scene.given.update({option: "/dev/null" for option in devices})
    done = scene.run()
    expect(f"{command.name}: all to /dev/null", done.returncode == 0, done.stderr)


def large_model(path, seed):
    w = np.random.default_rng(seed).standard_normal((2048, 2048)).astype(np.float32)
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2048]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "large", values[:1], values[1:], [numpy_helper.from_array(w, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    must("convert", path, "-o", path.with_suffix(".nsk"), "--quiet")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def signals(folder):
    """Signals at any moment leave both outputs as they were, or both new."""
    out, texts, rng = folder / "killed", {}, random.Random(5)
    out.mkdir()
    for name in ("a", "b"):
        large_model(folder / f"{name}.onnx", ord(name))
        start = time.monotonic()
        must("json", folder / f"{name}.nsk", "-o", out / "m.json")
        took = time.monotonic() - start
        texts[name] = (digest(out / "m.json"), digest(out / "m.weights"))
    ended = 0
    for n in range(60):
        kind = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[n % 3]
        child = subprocess.Popen([TOOL, "json", folder / f"{'ab'[n % 2]}.nsk", "-o", out / "m.json"], stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, 1.2 * took))
        child.send_signal(kind)
        code = child.wait(20)
        ended += code != 0
        expect(f"{kind.name}: exit code {code}", code in (0, -kind))
        names = sorted(p.name for p in out.iterdir())
        expect(f"{kind.name}: there are {names}", names == ["m.json", "m.weights"])
        expect(f"{kind.name}: a file is in pieces, or one is new, the other old", (digest(out / "m.json"), digest(out / "m.weights")) in texts.values())
    expect("no signal came in time", ended > 10)
    child = subprocess.Popen([TOOL, "json", folder / "a.nsk", "-o", out / "m.json"], preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    for _ in range(50):
        child.send_signal(signal.SIGHUP)
        time.sleep(0.005)
    expect("an ignored signal ends the command", child.wait(20) == 0)


def open_without_name(pid, folder):
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith(f"{folder}/#") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def killed(folder):
    """What is killed while it writes leaves nothing, where the file system knows files without names."""
    out = folder / "killed"
    try:
        os.close(os.open(out, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except (AttributeError, OSError):
        return print("files without names are not known here")
    before, met = snapshot(out), 0
    for _ in range(40):
        child = subprocess.Popen([TOOL, "json", folder / "a.nsk", "-o", out / "m.json"])
        while child.poll() is None and not open_without_name(child.pid, out):
            pass
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.02)
        if child.poll() is None and open_without_name(child.pid, out) and len(list(out.iterdir())) == len(before):
            met += 1
            child.kill()
            child.wait()
            expect(f"SIGKILL: {difference(before, snapshot(out))}", before == snapshot(out))
        else:
            child.send_signal(signal.SIGCONT)
            child.wait()
            before = snapshot(out)
        if met == 8:
            break
    expect("SIGKILL never came while it wrote", met > 0)


def two_at_once(folder):
    out = folder / "together"
    out.mkdir()
    children = [subprocess.Popen([TOOL, "convert", folder / f"{name}.onnx", "-o", out / "m.nsk", "--quiet"]) for name in "abababab"]
    expect("two at once: one failed", all(child.wait(60) == 0 for child in children))
    expect("two at once: something else is there", [p.name for p in out.iterdir()] == ["m.nsk"])
    expect("two at once: neither's file", (out / "m.nsk").read_bytes() in [(folder / f"{name}.nsk").read_bytes() for name in "ab"])


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_writes_") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        (folder / "stock").mkdir()
        stock = make_stock(folder / "stock")

        def make(command):
            shutil.rmtree(folder / "scene", ignore_errors=True)
            (folder / "scene").mkdir()
            scene = Scene(folder / "scene", command, stock)
            scene.put_inputs()
            return scene

        if nsk("--version", preexec_fn=as_other_user).returncode != 0:
            raise SystemExit(f"the user 'nobody' may not run {TOOL}")
        for command in read_commands():
            for group in () if not command.outputs else (permissions, places) if command.name in SLOW else (permissions, links, disks, places, failing_renames, pipes):
                group(make, command)
        signals(folder)
        killed(folder)
        two_at_once(folder)
    print("\n".join(failures + [f"{count} expectations, {len(failures)} not met"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
