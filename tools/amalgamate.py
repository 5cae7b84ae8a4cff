#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the library as one header.

  amalgamate.py FILE [--with gpu] [--with c] [--flatbuffers DIR]

FILE then stands for <netsuke/netsuke.hpp>, all_ops.hpp, image.hpp, batcher.hpp, prepare.hpp and log.hpp; --with adds a part that programs seldom use:
gpu, or c, the C interface, which a .cpp file compiles behind #define NSK_C_IMPLEMENTATION nsk::all_settings. FlatBuffers' headers are asked for;
--flatbuffers copies them from the include folder DIR, with their licence (Apache 2.0), for places that have no include path. Code, macros and settings are those of include/: a program gives the same bits with either.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
PUBLIC = ["netsuke/netsuke.hpp", "netsuke/all_ops.hpp", "netsuke/image.hpp", "netsuke/batcher.hpp", "netsuke/prepare.hpp", "netsuke/log.hpp"]
PARTS = {"gpu": "netsuke/gpu.hpp", "c": "netsuke/c/netsuke.h"}
OWN = re.compile(r"^\s*#\s*include\s*<(netsuke/[^>]+)>.*$")
FOREIGN = re.compile(r'^\s*#\s*include\s*["<](flatbuffers/[^">]+)[">].*$')
SYSTEM = re.compile(r"^\s*#\s*include\s*<[^>]+>.*$")
OPENS, CLOSES = re.compile(r"^\s*#\s*if"), re.compile(r"^\s*#\s*endif")
# They bracket every header; in one header they bracket it once.
HIDE, RESTORE = "netsuke/core/hide_macros.hpp", "netsuke/core/restore_macros.hpp"
HEAD = """// SPDX-License-Identifier: MIT
// netsuke {version}: the whole library as one header, written by tools/amalgamate.py. {needs}
{licence}
#pragma once
{asks}"""
NEEDS = """Needs FlatBuffers' headers (2.0.8 or newer, MIT or
// Apache licence): Debian and Ubuntu: libflatbuffers-dev; vcpkg and Conan: flatbuffers; or the folder include/ of its source."""
HOLDS = """Holds the headers of FlatBuffers that it needs,
// under the Apache licence 2.0: their notices stand in front of them."""
ASKS = """#if defined(__has_include)
#if !__has_include(<flatbuffers/base.h>)
#error "netsuke: FlatBuffers' headers are not found. Add the folder that holds flatbuffers/base.h to the include path."
#endif
#endif
"""
SETTINGS = """// Settings of your own for the C interface: put the struct that `nsk inspect --settings` prints here, and define NSK_C_IMPLEMENTATION as its name."""


class Writer:
    def __init__(self, flatbuffers=None):
        self.lines, self.whole, self.system, self.around, self.flatbuffers = [], set(), set(), [], flatbuffers

    def add(self, name, depth=0):
        """Puts a header of the library where it is included. One that is in a conditional branch may be needed again outside of it: it then has a guard of
        its own; one that is outside is there for all that follow. One that includes itself by way of others is there already."""
        if name in self.whole or name in self.around or name in (HIDE, RESTORE):
            return
        self.around.append(name)
        text = (INCLUDE / name).read_text()
        once = "#pragma once" in text
        guard = "NSK_ONE_HEADER_" + re.sub(r"\W", "_", name[len("netsuke/"):])
        if once:
            self.lines += [f"#if !defined({guard})", f"#define {guard}"]
            if depth == 0:
                self.whole.add(name)
        nesting = depth
        for line in text.split("\n"):
            found = OWN.match(line)
            if found:
                self.add(found.group(1), nesting)
                continue
            foreign = FOREIGN.match(line)
            if foreign and self.flatbuffers:
                self.copy(foreign.group(1))
                continue
            nesting += bool(OPENS.match(line)) - bool(CLOSES.match(line))
            if line.strip() == "#pragma once" or line.startswith("// SPDX-License-Identifier"):
                continue
            if SYSTEM.match(line) and nesting == depth == 0:
                if line.strip() in self.system:
                    continue
                self.system.add(line.strip())
            self.lines.append(line)
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        if once:
            self.lines.append("#endif")
        self.around.pop()

    def copy(self, name):
        """Puts a header of FlatBuffers, which has a guard of its own, where it is first included."""
        if name in self.whole:
            return
        self.whole.add(name)
        for line in (self.flatbuffers / name).read_text().split("\n"):
            found = FOREIGN.match(line)
            if found:
                self.copy(found.group(1))
            else:
                self.lines.append(line)


def amalgamated(parts=(), flatbuffers=None):
    """The text of the one header; FlatBuffers' headers are copied from the include folder `flatbuffers`, where it is one."""
    version = re.search(r'NSK_VERSION_STRING "([^"]+)"', (INCLUDE / "netsuke/version.hpp").read_text()).group(1)
    licence = "//\n" + "\n".join(f"// {line}".rstrip() for line in (ROOT / "LICENSE").read_text().strip().split("\n"))
    writer = Writer(flatbuffers)
    writer.add("netsuke/config.hpp")
    macros = [(INCLUDE / name).read_text().replace("#include <netsuke/config.hpp>", "//") for name in (HIDE, RESTORE)]
    writer.lines.append(macros[0])
    for name in [*PUBLIC, *(PARTS[part] for part in parts)]:
        writer.lines += [SETTINGS] if name == PARTS["c"] else []
        writer.add(name)
    head = HEAD.format(version=version, licence=licence, needs=HOLDS if flatbuffers else NEEDS, asks="" if flatbuffers else ASKS)
    return head + "\n".join(writer.lines) + "\n" + macros[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--with", dest="parts", action="append", choices=PARTS, default=[])
    parser.add_argument("--flatbuffers", type=pathlib.Path)
    options = parser.parse_args()
    text = amalgamated(options.parts, options.flatbuffers)
    options.file.write_text(text)
    print(f"{options.file}: {text.count(chr(10))} lines, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
