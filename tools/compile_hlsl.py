#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a header with one blob for every pipeline that models need: Direct3D has no specialisation constants, so each permutation is compiled.

usage: compile_hlsl.py dxbc|dxil HEADER LIST.json...

LIST is what `nsk inspect --gpu --json MODEL.nsk` prints, or any JSON that has objects with "kernel" and "permutation"; pipelines that several models
share are compiled once, equal blobs are stored once. The header has nsk::gpu::dxbc_of(key) or nsk::gpu::dxil_of(key), empty for a key that is not in it.
Compilers: dxbc needs NSK_FXC, a command that takes the arguments of fxc.exe; dxil needs NSK_DXC_LIBRARY (tools/hlsl_compilers.py fetches both). Blobs
of a DXC without its dxil.dll are not signed: they run in the developer mode of Windows alone. Exits with 1, and writes nothing, where a text is refused.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import dxc
import regenerate_shaders

NAMES = re.findall(r'"(\w+)"', re.search(r"specialization_names\[\w+\] = \{(.*?)\}",
                                         (regenerate_shaders.ROOT / "include/netsuke/gpu/pipeline.hpp").read_text(), re.S).group(1))
FXC_ARGUMENTS = ["/nologo", "/E", "main", "/O3", "/Gis", "/WX"]
DXC_ARGUMENTS = ["-E", "main", "-O3", "-Gis", "-WX"]


class Refused(Exception):
    """A text was not compiled, for the reason given."""


def pipelines_in(value):
    """Every (kernel, permutation) in a JSON value; a permutation is a tuple of numbers."""
    if isinstance(value, dict) and "kernel" in value and "permutation" in value:
        return {(value["kernel"], tuple(int(value["permutation"].get(name, 0)) for name in NAMES))}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set().union(*map(pipelines_in, inner))


def text_of(kernel, permutation):
    """The text of a permutation: its numbers as macros, then the kernel."""
    known = {name: (file, pixels) for name, file, pixels in regenerate_shaders.kernels()}
    if kernel not in known:
        raise Refused(f"there is no kernel {kernel}: the list was made by another version of nsk")
    file, pixels = known[kernel]
    heading = "#define NSK_HLSL\n" + "".join(f"#define {name} {number}u\n" for name, number in zip(NAMES, permutation)) + f"#define PIXELS {pixels}\n"
    return heading + "".join("\n".join(lines) + "\n" for _, lines in regenerate_shaders.pieces(f"{file}.comp", set()))


def name_of(pipeline):
    kernel, permutation = pipeline
    return "_".join([kernel, *map(str, permutation)])


def fxc(command, pipelines, profile="cs_5_1"):
    """Blobs by FXC, in the order of the pipelines. The program of tools/fxc.cpp takes several texts at once; fxc.exe takes one."""
    at_once = 32 if pathlib.Path(shlex.split(command)[-1]).with_name("nsk_fxc.exe").exists() else 1
    with tempfile.TemporaryDirectory(prefix="nsk_hlsl_") as folder:
        objections = []
        for start in range(0, len(pipelines), at_once):
            arguments = []
            for pipeline in pipelines[start:start + at_once]:
                name = name_of(pipeline)
                (pathlib.Path(folder) / f"{name}.hlsl").write_text(text_of(*pipeline))
                arguments += ["/Fo", f"{name}.blob", f"{name}.hlsl"]
            # Into a file: programs that Wine starts, and that outlive the command, would keep a pipe open.
            said = pathlib.Path(folder) / "said.txt"
            with said.open("w") as log:
                done = subprocess.run([*shlex.split(command), *FXC_ARGUMENTS, "/T", profile, *arguments], cwd=folder, stdout=log, stderr=log)
            if done.returncode != 0:
                objections.append(said.read_text(errors="replace").strip())
        if objections:
            raise Refused("FXC: " + "\n".join(objections))
        return [(pathlib.Path(folder) / f"{name_of(p)}.blob").read_bytes() for p in pipelines]


def dxil(compiler, pipelines):
    blobs = []
    for pipeline in pipelines:
        blob, said = compiler.compile(text_of(*pipeline), ["-T", "cs_6_0", *DXC_ARGUMENTS])
        if blob is None:
            raise Refused(f"DXC: {name_of(pipeline)}: {said}")
        blobs.append(blob)
    return blobs


def header(kind, pipelines, blobs):
    first, arrays, rows = {}, "", ""
    for pipeline, blob in zip(pipelines, blobs):
        if blob not in first:
            first[blob] = name_of(pipeline)
            lines = "".join("    " + ",".join(map(str, blob[i:i + 32])) + ",\n" for i in range(0, len(blob), 32))
            arrays += f"inline constexpr unsigned char {first[blob]}[] = {{\n{lines}}};\n"
        kernel, permutation = pipeline
        rows += f"    {{{{kernel::{kernel}, {{{', '.join(map(str, permutation))}}}}}, {kind}::{first[blob]}}},\n"
    body = (f"namespace {kind} {{\n{arrays}\nstruct entry {{\n  pipeline_key key;\n  span<const unsigned char> blob;\n}};\n"
            f"inline constexpr entry table[] = {{\n{rows}}};\n}}\n\n/// Returns the blob of a pipeline, empty where it is not here.\n"
            f"constexpr span<const unsigned char> {kind}_of(const pipeline_key& key) {{\n  for (const {kind}::entry& e : {kind}::table) {{\n"
            "    if (e.key == key) return e.blob;\n  }\n  return {};\n}\n")
    return regenerate_shaders.OPENING.format(
        about=f"{kind.upper()} of {len(pipelines)} pipelines, {len(first)} blobs.", made="Generated by tools/compile_hlsl.py from shaders/: do not edit.", more="",
        includes="#include <netsuke/core/span.hpp>\n#include <netsuke/gpu/pipeline.hpp>\n") + body.rstrip() + "\n" + regenerate_shaders.CLOSING


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("dxbc", "dxil"):
        print(__doc__)
        return 2
    kind, target, *lists = sys.argv[1:]
    tool = "NSK_FXC" if kind == "dxbc" else "NSK_DXC_LIBRARY"
    try:
        if tool not in os.environ:
            raise Refused(f"{tool} is not set, so nothing can compile {kind.upper()}: see tools/hlsl_compilers.py")
        pipelines = sorted(set().union(*(pipelines_in(json.loads(pathlib.Path(name).read_text())) for name in lists)))
        if not pipelines:
            raise Refused('the lists name no pipeline: they must come from nsk inspect --gpu --json, whose "refused" says why a model has none')
        blobs = fxc(os.environ[tool], pipelines) if kind == "dxbc" else dxil(dxc.Compiler(os.environ[tool]), pipelines)
        pathlib.Path(target).write_text(header(kind, pipelines, blobs))
    except (Refused, OSError, ValueError) as error:
        print(f"compile_hlsl.py: {error}", file=sys.stderr)
        return 1
    print(f"{target}: {len(pipelines)} pipelines, {len(set(blobs))} blobs, {sum(map(len, set(blobs)))} bytes")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the destructors of DXC's library do not survive the interpreter's
