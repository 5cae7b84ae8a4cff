#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The converter for a system that nothing here runs: it compiles and links.

  linked.py on|off TARGET FOLDER     TARGET and FOLDER: as tools/cross_build.py has them; off says that it is switched off
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import cross_build  # noqa: E402
from windows import OFF  # noqa: E402

# The first bytes of a program: PE for Windows, 64-bit Mach-O for macOS.
MAGIC = {"windows": b"MZ", "macos": b"\xcf\xfa\xed\xfe"}


def main():
    switch, target, folder = sys.argv[1:]
    if switch == "off":
        print(OFF)
        return 0
    try:
        program = cross_build.build(target, folder)
    except cross_build.Missing as e:
        print(f"SKIPPED: {e}")
        return 0
    except subprocess.CalledProcessError as e:
        print(e.stdout[-4000:])
        return 1
    head = program.read_bytes()[:4]
    if not head.startswith(MAGIC[target.split("-")[0]]):
        print(f"{program} begins with {head!r}: it is no program of {target}")
        return 1
    print(f"{target}: linked, {program.stat().st_size} bytes; not run, nothing here can")
    return 0


if __name__ == "__main__":
    sys.exit(main())
