#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of whole networks on AArch64, counted under the emulator: exact, the same on every machine, and independent of tables of processors.

  bench/arm_instructions.py [NAME ...]      names of tests/models/support/models.py; those of LIMITS when none is given

Prints millions of instructions and of vector multiply-adds of one run (two runs less one), and how many of those there are to each of these.
Fails where a network takes over one percent more than LIMITS. For a nightly job: it needs the nsk binary (NSK_TOOL, default build/nsk),
aarch64-linux-gnu-g++ (NSK_AARCH64_GXX), and qemu-aarch64 8.1 or older (NSK_QEMU_AARCH64), whose interface for plug-ins bench/arm/count_blocks.c
speaks; without one of them it says so and does nothing.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "models" / "support"))
from models import MODELS, SHARED, TOOL, convert_options, must, onnx_session  # noqa: E402

COMPILER = os.environ.get("NSK_AARCH64_GXX", "aarch64-linux-gnu-g++")
EMULATOR = [os.environ.get("NSK_QEMU_AARCH64", "qemu-aarch64"), "-cpu", "cortex-a76", "-L", "/usr/aarch64-linux-gnu"]
# Millions of instructions of one run, by g++ 12 at -O2.
LIMITS = {"mnist": 0.42, "face_front": 17.42, "squeezenet1_1": 116.04, "mobilenet_v2": 147.23}
# (mask, word) of FMLA by vector and by element: Arm Architecture Reference Manual, C4.1.
FUSED = ((0xBFA0FC00, 0x0E20CC00), (0xBF80F400, 0x0F801000))


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}: {done.stderr or done.stdout}")


def is_fused(word):
    return any(word & mask == pattern for mask, pattern in FUSED)


def counted(program, plugin, model, times, blocks):
    """(instructions, vector multiply-adds) of so many runs and of the program around them."""
    run([*EMULATOR, "-plugin", f"{plugin},out={blocks}", program, model, times])
    instructions = fused = 0
    for line in blocks.read_text().splitlines():
        runs, *words = line.split()
        instructions += int(runs) * len(words)
        fused += int(runs) * sum(is_fused(int(word, 16)) for word in words)
    return instructions, fused


def built(folder):
    """The program that runs networks, and the plug-in that counts."""
    program, plugin = folder / "network", folder / "count_blocks.so"
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    headers = os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR", "/usr/include")
    run([*launcher, COMPILER, "-std=c++17", "-O2", f"-I{REPOSITORY / 'include'}", "-idirafter", headers, "-c", HERE / "arm" / "network.cpp",
         "-o", folder / "network.o"])
    run([COMPILER, folder / "network.o", "-o", program])
    run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", HERE / "arm" / "count_blocks.c", "-o", plugin])
    return program, plugin


def main(names):
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}\n{__doc__}")
    missing = [what for what in (TOOL, COMPILER, EMULATOR[0]) if not shutil.which(what)]
    if missing:
        print(f"SKIPPED: {', '.join(missing)} not found")
        return 0
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, plugin = built(folder)
        for network in names or LIMITS:
            source, model = SHARED / MODELS[network], folder / f"{network}.nsk"
            if not source.exists():
                print(f"{network}: SKIPPED: there is no {source}")
                continue
            must("convert", source, "-o", model, "--quiet", "--no-check", *convert_options(onnx_session(source), network))
            one, two = (counted(program, plugin, model, times, folder / "blocks.txt") for times in (1, 2))
            instructions, fused = (1e-6 * (b - a) for a, b in zip(one, two))
            print(f"{network}: {instructions:.2f} M instructions, {fused:.2f} M multiply-adds of vectors, {instructions / max(fused, 1e-6):.2f} to each")
            if instructions > 1.01 * LIMITS.get(network, float("inf")):
                failures.append(f"{network}: {instructions:.2f} M instructions, not {LIMITS[network]}")
    print("\n".join(failures) or "no network takes more than it did")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
