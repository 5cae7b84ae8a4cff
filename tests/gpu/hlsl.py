#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles permutations of every kernel as Direct3D 12 devices have them, with warnings as errors.

  hlsl.py dxc|fxc FOLDER [--seeded]      FOLDER: where tools/hlsl_compilers.py put the compilers, unless NSK_DXC_LIBRARY or NSK_FXC names another
                                         with --seeded: plants what the compiler must object to

dxc makes DXIL (cs_6_0), fxc DXBC (cs_5_0 and cs_5_1). A permutation's numbers are those that the text compares with: each alone, upon zeros and upon
the vector forms, and residual and vector forms in every combination. With NSK_FETCH_COMPILERS=1 what is missing is fetched first (67 and 51 MB).
"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import compile_hlsl  # noqa: E402
import dxc  # noqa: E402
import regenerate_shaders  # noqa: E402

# Compiler -> the variable that names it, its file in FOLDER.
COMPILERS = {"dxc": ("NSK_DXC_LIBRARY", "libdxcompiler.so"), "fxc": ("NSK_FXC", "fxc")}
VECTORS = ("RESIDUAL", "INPUT4", "OUTPUT4")
# A line for the beginning of softmax's kernel, and the compilers that object to it.
SEEDS = [
    ("a variable that is read before it is set", "float never; A[LOCAL.x] = AS_UINT(never);", ("dxc", "fxc")),
    ("an attribute of SPIR-V", "[[vk::binding(0)]] float binding = 0.0; A[LOCAL.x] = AS_UINT(binding);", ("fxc",)),
    ("a loop that cannot be unrolled", "float never[2]; [unroll] for (uint i = 0u; i < pc.count; ++i) A[i] = 0u;", ("fxc",)),
    ("a division by zero", "A[LOCAL.x] = AS_UINT(1.0 / 0.0);", ("fxc",)),
    ("a store of all threads to one place of group memory", "shared_word = LOCAL.x; BARRIER; A[LOCAL.x] = shared_word;", ("fxc",)),
]


def numbers_of(text, name):
    """What the permutation's number is compared with in the text."""
    found = {0, 1} if re.search(rf"\b{name}\b", text) else {0}
    for operator, number in re.findall(rf"\b{name} (==|!=|<=|>=|<|>) (\d+)", text):
        found |= {int(number), int(number) + (operator in ("!=", ">", "<="))}
    return sorted(found)


def pipelines_of(kernel, file):
    text = "".join("\n".join(lines) + "\n" for source, lines in regenerate_shaders.pieces(f"{file}.comp", set()) if source != "portable.h")
    numbers = {name: numbers_of(text, name) for name in compile_hlsl.NAMES}
    bases = [{name: 0 for name in numbers}, {name: int(name in VECTORS and 1 in numbers[name]) for name in numbers}]
    found = {tuple({**base, name: number}.values()) for base in bases for name in numbers for number in numbers[name]}
    for chosen in itertools.product(*(numbers[name] for name in VECTORS)):
        found.add(tuple({**bases[0], **dict(zip(VECTORS, chosen))}.values()))
    return [(kernel, permutation) for permutation in sorted(found)]


def compiler_in(which, folder):
    """(compiler, "") or (None, why there is none)."""
    variable, file = COMPILERS[which]
    if os.environ.get("NSK_FETCH_COMPILERS") == "1" and variable not in os.environ:
        done = subprocess.run([sys.executable, ROOT / "tools/hlsl_compilers.py", folder, which], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return None, f"{which} cannot be fetched: {done.stderr.strip()[-200:]}"
    named = os.environ.get(variable, str(folder / file))
    if variable not in os.environ and not pathlib.Path(named).exists():
        return None, f"there is no {which}: tools/hlsl_compilers.py {folder} {which} fetches it, or {variable} names one"
    if which == "fxc" and pathlib.Path(named) == folder / file and shutil.which("wine") is None:
        return None, "FXC needs Wine (Debian and Ubuntu: apt-get install wine64 wine)"
    return named, ""


def compile_all(which, named, pipelines):
    """Returns how many blobs were made."""
    if which == "dxc":
        return len(compile_hlsl.dxil(dxc.Compiler(named), pipelines))
    return sum(len(compile_hlsl.fxc(named, pipelines, profile)) for profile in ("cs_5_0", "cs_5_1"))


def check_seeds(which, named):
    silent = 0
    original = regenerate_shaders.SHADERS
    for description, line, found_by in SEEDS:
        if which not in found_by:
            continue
        with tempfile.TemporaryDirectory(prefix="nsk_shaders_") as folder:
            regenerate_shaders.SHADERS = pathlib.Path(folder) / "shaders"
            shutil.copytree(original, regenerate_shaders.SHADERS)
            path = regenerate_shaders.SHADERS / "softmax.comp"
            path.write_text(path.read_text().replace("KERNEL {\n", f"GROUP_SHARED uint shared_word;\nKERNEL {{\n  {line}\n", 1))
            try:
                compile_all(which, named, [("softmax", (0,) * len(compile_hlsl.NAMES))])
                said = ""
            except compile_hlsl.Refused as refused:
                said = next((row for row in str(refused).splitlines() if "error" in row), str(refused))
        print(f"  {'fires' if said else 'SILENT'}: {description}" + (f"\n      {said[:200]}" if said else ""))
        silent += not said
    return 1 if silent else 0


def main():
    which, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    named, why = compiler_in(which, folder)
    if named is None:
        print(f"SKIPPED: {why}")
        return 0
    if sys.argv[3:] == ["--seeded"]:
        return check_seeds(which, named)
    pipelines = [p for kernel, file, _ in regenerate_shaders.kernels() for p in pipelines_of(kernel, file)]
    try:
        count = compile_all(which, named, pipelines)
    except compile_hlsl.Refused as refused:
        print(f"  {refused}")
        return 1
    print(f"{len(pipelines)} permutations of {len(regenerate_shaders.kernels())} kernels, {count} blobs")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the destructors of DXC's library do not survive the interpreter's
