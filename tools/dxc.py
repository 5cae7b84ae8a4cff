#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles HLSL with the library of DirectX Shader Compiler, for machines that have the library and not its program.

usage: dxc.py LIBRARY INPUT.hlsl OUTPUT ARGUMENTS...      the arguments are dxc's: -T cs_6_0 -E main -WX [-spirv ...]

LIBRARY is libdxcompiler.so or dxcompiler.dll; tools/hlsl_compilers.py fetches one. Builds for Linux before version 1.8 have two entries more at the
beginning of each table of methods; NSK_DXC_EXTRA_METHODS=0 says that a library has none. Exits with 1 where the text is refused.
"""
import ctypes
import os
import pathlib
import sys
import uuid

POINTER = ctypes.c_void_p
UTF_8 = 65001
COMPILER, COMPILER_3 = "73e22d93-e6ce-47f3-b5bf-f0664f39c1b0", "228b4687-5a6a-4730-900c-9702b2203f54"
UTILITIES, UTILITIES_1 = "6245d6af-66e0-48fd-80b4-4d271796748c", "4605c4cb-2019-492a-ada4-65f20bb7d67f"
RESULT, BLOB = "58346cda-dde7-4497-9461-6f87af5e0659", "8ba5fb08-5195-40e2-ac58-0d989c3a0102"
# Methods by their place after those of IUnknown's table.
COMPILE, DEFAULT_INCLUDES, STATUS, OUTPUT, BLOB_POINTER, BLOB_SIZE = 3, 9, 3, 7, 3, 4
OBJECT, ERRORS = 1, 2
UNSIGNED = "DXIL.dll not found"  # said of every blob that is not signed


class Buffer(ctypes.Structure):
    _fields_ = [("bytes", POINTER), ("size", ctypes.c_size_t), ("encoding", ctypes.c_uint)]


def guid(text):
    return (ctypes.c_ubyte * 16).from_buffer_copy(uuid.UUID(text).bytes_le)


class Compiler:
    """DXC in this process."""

    def __init__(self, library):
        self.extra = int(os.environ.get("NSK_DXC_EXTRA_METHODS", "0" if os.name == "nt" else "2"))
        self.library = ctypes.CDLL(str(pathlib.Path(library).resolve()))
        self.compiler, self.includes = self.create(COMPILER, COMPILER_3), POINTER()
        self.call(self.create(UTILITIES, UTILITIES_1), DEFAULT_INCLUDES, (POINTER, ctypes.byref(self.includes)))

    def create(self, what, interface):
        made = POINTER()
        if self.library.DxcCreateInstance(guid(what), guid(interface), ctypes.byref(made)) != 0:
            raise OSError("the library is no DXC that has IDxcCompiler3: take version 1.6 or later")
        return made

    def call(self, thing, number, *arguments, result=ctypes.c_long):
        table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(POINTER)))[0]
        method = ctypes.CFUNCTYPE(result, POINTER, *[kind for kind, _ in arguments])
        return method(table[number + self.extra])(thing, *[value for _, value in arguments])

    def output(self, result, kind):
        blob = POINTER()
        self.call(result, OUTPUT, (ctypes.c_int, kind), (POINTER, ctypes.cast(guid(BLOB), POINTER)), (POINTER, ctypes.byref(blob)), (POINTER, None))
        if not blob:
            return b""
        return ctypes.string_at(self.call(blob, BLOB_POINTER, result=POINTER), self.call(blob, BLOB_SIZE, result=ctypes.c_size_t))

    def compile(self, text, arguments):
        """Returns the blob, None where the text is refused, and what the compiler says."""
        source = text.encode()
        buffer = Buffer(ctypes.cast(ctypes.c_char_p(source), POINTER), len(source), UTF_8)
        wide = (ctypes.c_wchar_p * len(arguments))(*arguments)
        result, status = POINTER(), ctypes.c_int()
        self.call(self.compiler, COMPILE, (POINTER, ctypes.byref(buffer)), (POINTER, ctypes.cast(wide, POINTER)), (ctypes.c_uint, len(arguments)),
                  (POINTER, self.includes), (POINTER, ctypes.cast(guid(RESULT), POINTER)), (POINTER, ctypes.byref(result)))
        self.call(result, STATUS, (POINTER, ctypes.byref(status)))
        said = self.output(result, ERRORS).rstrip(b"\0").decode(errors="replace")
        said = "\n".join(line for line in said.splitlines() if line and UNSIGNED not in line)
        return (self.output(result, OBJECT) if status.value == 0 else None), said


def main():
    if len(sys.argv) < 5:
        print(__doc__)
        return 2
    library, source, target, *arguments = sys.argv[1:]
    try:
        blob, said = Compiler(library).compile(pathlib.Path(source).read_text(), arguments)
    except OSError as error:
        print(f"{library}: {error}", file=sys.stderr)
        return 1
    if said:
        print(said, file=sys.stderr)
    if blob is None:
        return 1
    pathlib.Path(target).write_bytes(blob)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the library's destructors do not survive the interpreter's
