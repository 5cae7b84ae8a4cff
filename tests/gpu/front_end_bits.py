#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of a program on Vulkan with the SPIR-V of another front end: what the device computes must have the bits that glslc's has.

  front_end_bits.py glslang|dxc PROGRAM [--seeded] [ARGUMENTS...]      ARGUMENTS go to the program, to choose test cases

glslang and DXC compile the texts as HLSL. With --seeded the text of softmax adds in another order, which must be seen.
DXC is named by NSK_DXC_LIBRARY, or is where tools/hlsl_compilers.py put it: in hlsl_compilers of the build that the program belongs to.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import dxc  # noqa: E402
import regenerate_shaders  # noqa: E402

DECORATE, NO_CONTRACTION, HEADER_WORDS = 71, 42, 5
SEED = ("sum += exp(", "sum = sum * 1.0000001 + exp(")


class Missing(Exception):
    """Something is not here, for the reason given."""


def without_exactness(spirv):
    """SPIR-V without NoContraction, which DXC sets on every multiply-add: drivers may rewrite the others, by a unit in the last place here and there."""
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    kept, at = list(words[:HEADER_WORDS]), HEADER_WORDS
    while at < len(words):
        opcode, count = words[at] & 0xffff, words[at] >> 16
        if opcode != DECORATE or words[at + 2] != NO_CONTRACTION:
            kept += words[at:at + count]
        at += count
    return struct.pack(f"<{len(kept)}I", *kept)


def compile_all(front_end, library, folder, change):
    compiler = dxc.Compiler(library) if front_end == "dxc" else None
    for kernel, file, pixels in regenerate_shaders.kernels():
        text = f"#define NSK_HLSL_VULKAN\n#define PIXELS {pixels}\n" + "".join(
            "\n".join(lines) + "\n" for _, lines in regenerate_shaders.pieces(f"{file}.comp", set())).replace(*change)
        spv = folder / f"{kernel}.spv"
        if compiler:
            blob, said = compiler.compile(text, ["-T", "cs_6_0", "-E", "main", "-spirv", "-fspv-target-env=vulkan1.1", "-WX"])
            if blob is None:
                raise SystemExit(f"DXC refuses {kernel}: {said}")
            spv.write_bytes(without_exactness(blob))
            continue
        source = folder / f"{kernel}.hlsl"
        source.write_text(text)
        command = ["glslangValidator", "-D", "-V", "--target-env", "vulkan1.1", "-S", "comp", "-e", "main", source, "-o", spv]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"glslang refuses {kernel}: {done.stdout}{done.stderr}")


def trace_of(program, arguments, file, **variables):
    """What the program computed, a line for each time that it read the arena back."""
    done = subprocess.run([program, *arguments], env=dict(os.environ, NSK_TEST_TRACE=str(file), **variables), capture_output=True, text=True)
    if "SKIPPED:" in done.stdout:
        raise Missing(done.stdout[done.stdout.index("SKIPPED:") + 9:].split("\n")[0])
    if done.returncode != 0 and not variables:
        raise SystemExit(f"the tests fail:\n{done.stdout[-2000:]}")
    return file.read_text().splitlines()


def main():
    front_end, program, *arguments = sys.argv[1:]
    seeded = "--seeded" in arguments
    arguments = [a for a in arguments if a != "--seeded"]
    fetched = (folder / "hlsl_compilers/libdxcompiler.so" for folder in pathlib.Path(program).resolve().parents)
    library = os.environ.get("NSK_DXC_LIBRARY") or next((path for path in fetched if path.exists()), None)
    if front_end == "dxc" and not library:
        raise Missing("there is no DXC: tools/hlsl_compilers.py fetches it, or NSK_DXC_LIBRARY names one")
    if front_end == "glslang" and shutil.which("glslangValidator") is None:
        raise Missing("glslangValidator is not here (Debian and Ubuntu: apt-get install glslang-tools)")
    with tempfile.TemporaryDirectory(prefix="nsk_front_end_") as name:
        folder = pathlib.Path(name)
        compile_all(front_end, library, folder, SEED if seeded else ("", ""))
        wanted = trace_of(program, arguments, folder / "glslc.txt")
        got = trace_of(program, arguments, folder / "other.txt", NSK_TEST_SPIRV=str(folder))
    found = [a for a, b in zip(wanted, got) if a != b]
    different = len(found) + abs(len(wanted) - len(got))
    print(f"{len(wanted)} arenas compared, {different} differ")
    for case in sorted({line.rpartition(":")[0] for line in found}):
        print(f"  {case}")
    if not wanted:
        print("nothing was computed: no test case was chosen")
        return 1
    return int(different == 0) if seeded else int(different != 0)


if __name__ == "__main__":
    try:
        code = main()
    except Missing as reason:
        print(f"SKIPPED: {reason}")
        code = 0
    except SystemExit as stop:
        print(stop)
        code = 1
    sys.stdout.flush()
    os._exit(code)  # the destructors of DXC's library do not survive the interpreter's
