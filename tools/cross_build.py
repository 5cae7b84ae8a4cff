#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the nsk converter for another system.

  cross_build.py TARGET FOLDER [--jobs N]

TARGET is windows-x86_64 (mingw: apt install g++-mingw-w64-x86-64-posix), or by zig (pip install ziglang) windows-aarch64, macos-aarch64 or macos-x86_64.
FOLDER holds the build; the program is FOLDER/nsk or FOLDER/nsk.exe, which needs no library beside it. Headers of libraries come from this machine
(tools/install_dependencies.sh): they are the same everywhere.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MINGW = ("x86_64-w64-mingw32-g++-posix", "x86_64-w64-mingw32-g++")
# TARGET -> (name of the system and of the processor as CMake has them, zig's name)
TARGETS = {
    "windows-x86_64": ("Windows", "x86_64", None),
    "windows-aarch64": ("Windows", "aarch64", "aarch64-windows-gnu"),
    "macos-aarch64": ("Darwin", "aarch64", "aarch64-macos"),
    "macos-x86_64": ("Darwin", "x86_64", "x86_64-macos"),
}
# What the converter includes of libraries, and where it may be.
HEADERS = {"flatbuffers": "flatbuffers/flatbuffers.h", "protozero": "protozero/pbf_reader.hpp", "CLI": "CLI/CLI.hpp", "nlohmann": "nlohmann/json.hpp", "stb": "stb/stb_image.h"}
PLACES = [pathlib.Path(p) for p in os.environ.get("NSK_LIBRARY_HEADERS", "/usr/include:/usr/local/include").split(":")]


class Missing(Exception):
    """This machine lacks a compiler or a header; says what to install."""


def zig():
    """zig as a list of words."""
    for command in ([os.environ["NSK_ZIG"]] if "NSK_ZIG" in os.environ else [], ["zig"] if shutil.which("zig") else [], [sys.executable, "-m", "ziglang"]):
        if command and subprocess.run([*command, "version"], capture_output=True).returncode == 0:
            return command
    raise Missing("ziglang is not installed (pip install ziglang)")


def compiler_of(target, folder):
    """A command of one word that compiles for the target."""
    name = TARGETS[target][2]
    if name is None:
        found = next((c for c in MINGW if shutil.which(c)), None)
        if not found:
            raise Missing("mingw is not installed (apt install g++-mingw-w64-x86-64-posix)")
        return found
    wrapper = folder / "compiler"
    wrapper.write_text(f"#!/bin/sh\nexec {shlex.join([*zig(), 'c++', '-target', name])} \"$@\"\n")
    wrapper.chmod(0o755)
    return str(wrapper)


def headers_in(folder):
    """A folder with the libraries' headers and no others: those of this system do not belong to the target."""
    folder = folder / "headers"
    folder.mkdir(exist_ok=True)
    for name, header in HEADERS.items():
        place = next((p for p in PLACES if (p / header).exists()), None)
        if place is None:
            raise Missing(f"{header} was found in none of {', '.join(map(str, PLACES))} (tools/install_dependencies.sh)")
        link = folder / name
        if not link.exists():
            link.symlink_to((place / header).parents[0] if name != "stb" else place / "stb")
    return folder


def build(target, folder, jobs=None):
    """Configures and builds. Returns the program. Raises Missing, or CalledProcessError with what was said."""
    system, processor, _ = TARGETS[target]
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    headers = headers_in(folder)
    finders = [f"-DNSK_{name}_INCLUDE_DIR={headers}" for name in ("FLATBUFFERS", "PROTOZERO", "CLI11", "JSON", "STB")]
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_SYSTEM_NAME={system}", f"-DCMAKE_SYSTEM_PROCESSOR={processor}",
                 f"-DCMAKE_CXX_COMPILER={compiler_of(target, folder)}", "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", *finders, *(f"-DNSK_BUILD_{part}=OFF" for part in ("EXAMPLES", "TESTS", "BENCH", "C")), "-DNSK_INSTALL=OFF"]
    if system == "Windows":
        configure += ["-DCMAKE_EXE_LINKER_FLAGS=-static"]
    environment = dict(os.environ, CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="1")
    for command in (configure, ["cmake", "--build", folder, *(["-j", str(jobs)] if jobs else [])]):
        subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    return folder / ("nsk.exe" if system == "Windows" else "nsk")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    try:
        print(build(options.target, options.folder, options.jobs))
    except Missing as e:
        sys.exit(f"cross_build.py: {e}")
    except subprocess.CalledProcessError as e:
        sys.exit(f"{shlex.join(map(str, e.cmd))}: exit code {e.returncode}\n{e.stdout[-4000:]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
