#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program of the quick start, compiled as it stands, with and without asserts: it runs a network, or says why not with exit code 1."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("models/support", "models/examples", "guards")]
from common import Tree, compile_file, link  # noqa: E402
from engine_guards import steady_file  # noqa: E402
from examples import lstm  # noqa: E402
from models import REPOSITORY, must  # noqa: E402

# Unoptimised clang takes a third of the time of g++.
COMPILER = next(c for c in (os.environ.get("NSK_CLANGXX", "clang++"), os.environ.get("NSK_GXX", "g++")) if shutil.which(c))


def program_of(page):
    blocks = re.findall(r"^```cpp\n(.*?)^```$", (REPOSITORY / page).read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "int main()" in block)


def compiled(folder, source, asserts):
    program = folder / f"program_{asserts.strip('-')}"
    flags = ["-std=c++17", "-O0", "-DNSK_ISA_SCALAR", "-DNSK_KEEP_USER_OPT", "-Wall", "-Wextra", "-Werror", asserts]
    said = compile_file(COMPILER, source, f"{program}.o", Tree(REPOSITORY), flags) or link(COMPILER, [f"{program}.o"], program)
    if said:
        raise SystemExit(f"{COMPILER} {' '.join(flags)} {source}\n{said[:2000]}")
    return program


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_programs_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "model.nsk"
        source = steady_file(Tree(REPOSITORY), "quick_start.cpp", program_of("docs/guide/quick_start.md"))
        lstm(folder / "lstm.onnx")
        must("convert", folder / "lstm.onnx", "-o", folder / "lstm.nsk", "--quiet")
        good = (folder / "lstm.nsk").read_bytes()
        files = {"a recurrent model": (good, 0), "no file": (None, 1), "an empty file": (b"", 1), "half a file": (good[:len(good) // 2], 1),
                 "a damaged file": (good[:500] + bytes(200) + good[700:], 1)}
        for asserts in ("-UNDEBUG", "-DNDEBUG"):
            program = compiled(folder, source, asserts)
            for what, (content, code) in files.items():
                model.unlink(missing_ok=True)
                if content is not None:
                    model.write_bytes(content)
                done = subprocess.run([program], cwd=folder, capture_output=True, text=True)
                if done.returncode != code or bool(done.stderr.strip()) != (code == 1) or bool(done.stdout) != (code == 0):
                    wrong.append(f"{what}, {asserts}: exit code {done.returncode}, says {done.stderr.strip()!r}")
    print("\n".join(wrong + [f"the program of the quick start: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
