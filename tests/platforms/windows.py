#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The converter on Windows: nsk.exe, built by mingw and run by Wine, beside the nsk of this machine.

  windows.py on|off FOLDER     FOLDER: of the build (tools/cross_build.py); off says that it is switched off

Every model that converts gives the same bytes, every refusal the same words and exit code. Paths may have spaces, letters that are not ASCII and more than
260 characters; a read-only file is refused and stays; a file that another program holds open is replaced, or refused with its reason.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import cross_build  # noqa: E402
from models import AGENTS, OWN, SHARED, TOOL, told  # noqa: E402

OFF = "SKIPPED: builds for other systems take minutes: tests/run.sh --platforms makes them"

WINE = next((w for w in (os.environ.get("NSK_WINE", "wine64"), "/usr/lib/wine/wine64") if shutil.which(w)), None)
LETTERS = "Mödel ñ 模型"


class Windows:
    """Runs nsk.exe in a prefix of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.environment = dict(os.environ, WINEPREFIX=str(folder / "prefix"), WINEDEBUG="-all", WINEDLLOVERRIDES="mscoree,mshtml=", LC_ALL="C.UTF-8")
        self("--version", cwd=folder)  # makes the prefix, and says so

    def __call__(self, *arguments, cwd):
        done = subprocess.run([WINE, str(self.program), *map(str, arguments)], cwd=cwd, capture_output=True, env=self.environment, timeout=600)
        return done.returncode, done.stdout, done.stderr

    def hold(self, name, cwd):
        """Starts a program of Windows that writes to a file for some seconds. Returns it when the file is there."""
        holder = subprocess.Popen([WINE, "cmd", "/c", f"ping -n 20 127.0.0.1 > {name}"], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
        for _ in range(100):
            if (cwd / name).exists():
                break
            time.sleep(0.1)
        return holder


def here(*arguments, cwd):
    done = subprocess.run([TOOL, *map(str, arguments)], cwd=cwd, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def compare(windows, folder, arguments, outputs):
    """What differs between the two programs: exit code, words, bytes of the outputs."""
    results, files = [], []
    for program in (here, windows):
        for name in outputs:
            (folder / name).unlink(missing_ok=True)
        results.append(program(*arguments, cwd=folder))
        files.append([(folder / name).read_bytes() if (folder / name).exists() else None for name in outputs])
    what = " ".join(map(str, arguments))
    found = [f"{what}: {kind} is {ours!r} here and {theirs!r} on Windows" for kind, ours, theirs in zip(("exit code", "output", "error"), *results) if ours != theirs]
    return found + [f"{what}: {name} has other bytes" for name, ours, theirs in zip(outputs, *files) if ours != theirs]


def models():
    found = [*OWN, *AGENTS]
    if SHARED.exists():
        found += sorted(p for ending in ("onnx", "tflite") for p in SHARED.rglob(f"*.{ending}") if p.stat().st_size < 100 << 20)
    return found


def conversions(windows, folder, sources):
    failures, good = [], 0
    for source in sources:
        shutil.copy(source, folder / source.name)
        differences = compare(windows, folder, ["convert", source.name, "-o", "model.nsk", "--no-check", "--quiet"], ["model.nsk"])
        failures += differences
        good += not differences and (folder / "model.nsk").exists()
        if not differences and (folder / "model.nsk").exists() and source in AGENTS:
            failures += compare(windows, folder, ["inspect", "model.nsk"], [])
            failures += compare(windows, folder, ["json", "model.nsk", "-o", "model.json"], ["model.json", "model.weights"])
        (folder / source.name).unlink()
    print(f"{len(sources)} models, {good} convert to the same bytes, {len(failures)} differences")
    return failures


def messages(windows, folder):
    """Words of the command line, and files that cannot be read."""
    (folder / "damaged.onnx").write_bytes(b"\x08\x07\x12" + bytes(40))
    (folder / "folder").mkdir(exist_ok=True)
    cases = [["--version"], ["--help"], ["convert", "--help"], [], ["convert"], ["convert", "none.onnx", "-o", "x.nsk"], ["convert", "damaged.onnx", "-o", "x.nsk"],
             ["convert", "folder", "-o", "x.nsk"], ["convert", "damaged.onnx", "-o", "folder"], ["convert", "damaged.onnx", "-o", "damaged.onnx"], ["inspect", "damaged.onnx"],
             ["convert", "damaged.onnx", "-o", "none/x.nsk"], ["convert", "--nonsense"], ["operators"]]
    return [d for case in cases for d in compare(windows, folder, case, ["x.nsk"])]


def paths(windows, folder):
    """Spaces, other letters, long paths."""
    failures = []
    long = pathlib.Path(*["a folder of fifty characters, or not many fewer" for _ in range(6)])
    for place in (pathlib.Path(LETTERS), long):
        (folder / place).mkdir(parents=True, exist_ok=True)
        source, target = place / f"{LETTERS}.onnx", place / f"{LETTERS} out.nsk"
        shutil.copy(AGENTS[0], folder / source)
        failures += compare(windows, folder, ["convert", source, "-o", target, "--no-check", "--quiet"], [target])
        if not (folder / target).exists():
            failures.append(f"{target} was not written")
        failures += compare(windows, folder, ["inspect", target, "--settings"], [])
    return failures


def protected(windows, folder):
    """A read-only file stays as it is, and so does what a failed command would have replaced."""
    shutil.copy(AGENTS[0], folder / "source.onnx")
    kept = folder / "kept.nsk"
    kept.write_bytes(b"kept")
    kept.chmod(0o444)
    code, _, error = windows("convert", "source.onnx", "-o", "kept.nsk", "--quiet", cwd=folder)
    failures = [] if code == 2 and b"read-only" in error and kept.read_bytes() == b"kept" else [f"a read-only file: exit code {code}, {error!r}"]
    kept.chmod(0o644)
    code, _, error = windows("convert", "source.onnx", "-o", "kept.nsk", "--quiet", "--no-check", cwd=folder)
    if code != 0 or kept.read_bytes() == b"kept":
        failures.append(f"a file is not replaced: exit code {code}, {error!r}")
    return failures + left_behind(folder)


def left_behind(folder):
    left = [p.name for p in folder.iterdir() if p.name.startswith(".nsk-")]
    return [f"left behind: {left}"] if left else []


def locked(windows, folder):
    """A file that another program writes is replaced, or refused with the reason."""
    shutil.copy(AGENTS[0], folder / "source.onnx")
    holder = windows.hold("held.nsk", folder)
    try:
        code, _, error = windows("convert", "source.onnx", "-o", "held.nsk", "--quiet", "--no-check", cwd=folder)
    finally:
        holder.kill()
    good = code == 0 or (code == 2 and b"another program uses it" in error and b"end that program" in error)
    return ([] if good else [f"a file that another program writes: exit code {code}, {error!r}"]) + left_behind(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("switch", choices=("on", "off"))
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if options.switch == "off":
        print(OFF)
        return 0
    if WINE is None:
        print("SKIPPED: there is no Wine to run nsk.exe (Debian and Ubuntu: apt-get install wine64)")
        return 0
    try:
        program = cross_build.build("windows-x86_64", options.folder)
    except cross_build.Missing as e:
        print(f"SKIPPED: {e}")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_windows_") as folder:
        folder = pathlib.Path(folder)
        windows = Windows(program, folder)
        work = folder / "work"
        work.mkdir()
        failures = messages(windows, work) + paths(windows, work) + protected(windows, work) + locked(windows, work) + conversions(windows, work, models())
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
