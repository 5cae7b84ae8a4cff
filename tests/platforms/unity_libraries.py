#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The native libraries of the archive for Unity, built for every system that packaging/unity.sh knows.

  unity_libraries.py on|off FOLDER     FOLDER: of the archive; off says that it is switched off

Each is a library of its system and processor. The one for Windows x64 runs two models under Wine with the hashes of C++; the source plug-in, compiled on
this machine alone, does so too, and compiles to WebAssembly. Those of macOS and Windows on Arm are linked: nothing here runs them.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "c"), str(ROOT / "tools")]
import cross_build  # noqa: E402
from windows import OFF, WINE  # noqa: E402
from fixtures import expected_hashes, make_models  # noqa: E402

TARGETS = ["linux-x86_64", "windows-x86_64", "windows-arm64", "macos-x86_64", "macos-arm64"]
# Machine of PE files; type of processor of Mach-O files.
PROCESSORS = {"Windows/x86_64/netsuke_c.dll": 0x8664, "Windows/arm64/netsuke_c.dll": 0xaa64, "macOS/x86_64/libnetsuke_c.dylib": 0x1000007,
              "macOS/arm64/libnetsuke_c.dylib": 0x100000c}


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def processor_of(path):
    """The number of the processor in a PE or 64-bit Mach-O file; None for others."""
    data = path.read_bytes()
    if data[:2] == b"MZ":
        at = struct.unpack_from("<I", data, 0x3c)[0]
        return struct.unpack_from("<H", data, at + 4)[0] if data[at:at + 4] == b"PE\0\0" else None
    return struct.unpack_from("<I", data, 4)[0] if data[:4] == b"\xcf\xfa\xed\xfe" else None


def computes(what, done, wanted):
    lines = sorted(done.stdout.replace("\r", "").split("\n")[:-1])
    return [] if done.returncode == 0 and lines == wanted else [f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}\nC++: {wanted}"]


def on_windows(plugins, folder, models, wanted):
    """two_models.c, built by mingw, with the library beside it."""
    mingw = next((c for c in ("x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-gcc") if shutil.which(c)), None)
    if not (WINE and mingw):
        print("note: Wine or mingw is not installed, so the library for Windows was not run")
        return []
    library, program = plugins / "Windows/x86_64/netsuke_c.dll", folder / "two_models.exe"
    shutil.copy(library, folder)
    built = run(mingw, "-std=c99", "-static", "-DNSK_C_SHARED", f"-I{ROOT / 'include'}", ROOT / "tests/c/two_models.c", library, "-o", program)
    if built.returncode:
        return [built.stderr]
    environment = dict(os.environ, WINEPREFIX=str(folder / "prefix"), WINEDEBUG="-all", WINEDLLOVERRIDES="mscoree,mshtml=")
    return computes("Windows x64", run(WINE, program, *(m.name for m in models), cwd=folder, env=environment, timeout=600), wanted)


def from_source(source, folder, models, wanted):
    """The source plug-in as IL2CPP takes it: one file, linked with the program."""
    objects = [folder / "plugin.o", folder / "two_models.o"]
    for compiler, flags, file, output in (("g++", ["-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"], source, objects[0]),
                                          ("gcc", ["-std=c99", f"-I{ROOT / 'include'}"], ROOT / "tests/c/two_models.c", objects[1])):
        built = run(compiler, *flags, "-c", file, "-o", output)
        if built.returncode:
            return [built.stderr]
    run("g++", *objects, "-o", folder / "linked")
    wrong = computes("the source plug-in", run(folder / "linked", *models), wanted)
    small = ["-DNSK_C_IMPLEMENTATION=nsk::default_settings", "-std=c++17", "-O1", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"]
    built = run(*cross_build.zig(), "c++", "-target", "wasm32-wasi", *small, "-c", source, "-o", folder / "plugin.wasm.o")
    if built.returncode or (folder / "plugin.wasm.o").read_bytes()[:4] != b"\0asm":
        wrong.append(f"WebAssembly: {built.stderr[-3000:]}")
    return wrong


def main():
    switch, output = sys.argv[1], pathlib.Path(sys.argv[2])
    if switch == "off":
        print(OFF)
        return 0
    try:
        zig = cross_build.zig()
    except cross_build.Missing as e:
        print(f"SKIPPED: {e}")
        return 0
    made = run(ROOT / "packaging/unity.sh", "--output", output, "--nsk", os.environ["NSK_TOOL"], *TARGETS, env=dict(os.environ, NSK_ZIG=" ".join(map(str, zig))))
    if made.returncode:
        print(made.stdout + made.stderr[-4000:])
        return 1
    print(made.stdout.strip())
    plugins = output / "package/Plugins"
    wrong = [f"{name} is for processor {processor_of(plugins / name)}" for name, number in PROCESSORS.items() if processor_of(plugins / name) != number]
    with tempfile.TemporaryDirectory(prefix="nsk_unity_libraries_") as folder:
        folder = pathlib.Path(folder)
        models = make_models(folder)[:2]
        wanted = [f"{i} {step} {value}" for i, model in enumerate(models) for step, value in enumerate(expected_hashes(model, folder))]
        wrong += on_windows(plugins, folder, models, wanted) + from_source(plugins / "Source/netsuke.cpp", folder, models, wanted)
    print("\n".join(wrong + [f"libraries for Unity: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
