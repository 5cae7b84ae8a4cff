#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of a minute: guards that need no compiler, and the unit tests of the folders that were touched.

  quick.py BUILD [--base REF]     runs them; touched is what differs from the merge base with REF (default: main), and what git does not know yet
  quick.py --self-test            every folder of the sources selects tests, and only a touched one does
"""
import argparse
import concurrent.futures
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARDS = ROOT / "tests" / "guards" / "guard.py"
ENGINE = "test_engine_neon" if platform.machine() in ("aarch64", "arm64") else "test_engine_avx2"
# A folder below include/netsuke or tests -> what tests it: (program, folder of tests/); None: the whole program.
ENGINE_FOLDERS = ("simd", "math", "format", "kernels", "image")
UNIT_TESTS = {folder: [(ENGINE, folder)] for folder in ENGINE_FOLDERS}
UNIT_TESTS |= {"run": [("test_run", None)], "ops": [(ENGINE, "kernels"), ("test_model", None)], "model": [("test_model", None)], "oracle": [("test_model", None)], "core": [("test_model", None)],
               "log": [("test_tools", "log")], "text": [(ENGINE, "text"), ("test_tools", None)], "tools": [("test_tools", None)], "gpu": [("test_gpu_unit", None)], "avatar": [("test_avatar", None)],
               "codegen": [("test_run", None)], "c": []}  # the interfaces of other languages have programs of their own: ctest -L bindings


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")


def touched(base):
    """Paths that differ from the merge base with `base`, or that git does not know."""
    start = git("merge-base", "HEAD", base)[0] or "HEAD"
    return sorted({name for name in git("diff", "--name-only", start) + git("ls-files", "--others", "--exclude-standard") if name})


def selected(paths):
    """{program: folders of tests/ whose cases run, or None for all of them}."""
    found = {}
    for path in paths:
        parts = pathlib.PurePosixPath(path).parts
        if parts[:2] == ("tools", "nsk"):
            tests = UNIT_TESTS["tools"]
        elif parts[:2] == ("include", "netsuke"):
            tests = UNIT_TESTS.get(parts[2], UNIT_TESTS["core"] + UNIT_TESTS["run"])  # headers beside the folders: what a program includes
        elif parts[0] == "tests" and len(parts) > 2 and path.endswith((".cpp", ".hpp")):
            tests = UNIT_TESTS.get(parts[1], [])
        elif parts[:2] == ("examples", "avatar"):
            tests = UNIT_TESTS["avatar"]
        else:
            continue
        for program, folder in tests:
            if folder is None or found.get(program, set()) is None:
                found[program] = None
            else:
                found.setdefault(program, set()).add(folder)
    return found


def fast_guards():
    return subprocess.run([sys.executable, str(GUARDS), "--list-fast"], capture_output=True, text=True, check=True).stdout.split()


def run(command):
    """(seconds, exit code, output) of a command."""
    start = time.monotonic()
    done = subprocess.run([str(c) for c in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return time.monotonic() - start, done.returncode, done.stdout


def commands_of(build, tests):
    """{name: command} of the guards and the unit tests."""
    commands = {f"guard {name}": [sys.executable, GUARDS, name] for name in fast_guards()}
    for program, folders in tests.items():
        path = next((p for p in (build / "tests" / program, build / "tests" / "gpu" / program) if p.exists()), None)
        if path:
            commands[program] = [path, *(["--source-file=" + ",".join(f"*tests/{folder}/*" for folder in sorted(folders))] if folders else [])]
    return commands


def self_test():
    """Every folder that has sources selects a test or says why not; what was not touched selects none."""
    folders = {p.name for p in (ROOT / "include" / "netsuke").iterdir() if p.is_dir()}
    wrong = [f"include/netsuke/{folder} has no unit tests in quick.py" for folder in sorted(folders - set(UNIT_TESTS))]
    for program, folder in (test for tests in UNIT_TESTS.values() for test in tests):
        if folder and not list((ROOT / "tests" / folder).glob("*_test.cpp")):
            wrong.append(f"tests/{folder}, for {program}, has no test")
    for paths, expected in ((["include/netsuke/kernels/a/b.hpp"], {ENGINE: {"kernels"}}), (["tools/nsk/passes/a.cpp"], {"test_tools": None}),
                            (["include/netsuke/log/a.hpp", "tools/nsk/a.cpp"], {"test_tools": None}), (["README.md", "tests/models/onnx/a.py"], {})):
        if selected(paths) != expected:
            wrong.append(f"{paths} selects {selected(paths)}, {expected} expected")
    guards = set(fast_guards())
    wrong += [f"the guard {name} is not among the quick ones" for name in ("layout", "includes", "words", "plain_words", "arrows") if name not in guards]
    wrong += [f"the guard {name} compiles, and is among the quick ones" for name in ("headers", "sentences", "macros") if name in guards]
    print("\n".join(wrong) or f"{len(guards)} guards, {len(UNIT_TESTS)} folders with their tests")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--base", default="main")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    start, tests = time.monotonic(), selected(touched(options.base))
    if tests:
        seconds, code, output = run(["cmake", "--build", options.build, "--target", *tests])
        if code:
            print(output)
            return 1
        print(f"{seconds:5.1f} s  built {', '.join(tests)}")
    failed = []
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        commands = commands_of(options.build.resolve(), tests)
        for name, (seconds, code, output) in zip(commands, pool.map(run, commands.values())):
            print(f"{seconds:5.1f} s  {'FAILED' if code else 'passed'}  {name}", flush=True)
            if code:
                failed.append(name)
                print(output)
    print(f"{len(failed)} of {len(commands)} failed in {time.monotonic() - start:.0f} s" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
