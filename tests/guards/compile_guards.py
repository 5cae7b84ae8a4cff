# SPDX-License-Identifier: MIT
"""Guards that compile: every header alone, the cost of including the umbrella, the C++ of the documents."""
import collections
import pathlib
import re

from common import GUARDS as GUARDS_FOLDER
from common import (REPOSITORY, FOREIGN_MACROS, READ_WHOLE, STRICT, Skipped, aarch64_compilers, compile_file, compilers, first_lines, is_clang, library_flags, on_aarch64,
                    parallel, run, scratch_folder)
from target_guards import FLATBUFFERS, MINGW_GXX, alone, compile_for, installed

REGION_FILES = ("netsuke/simd/begin.hpp", "netsuke/simd/end.hpp", "netsuke/core/hide_macros.hpp", "netsuke/core/restore_macros.hpp")
# Written for one instruction set: compiled for that one only. tests/isa/run_wasm.py compiles those of WebAssembly.
ONE_ISA = {f"netsuke/simd/{name}.hpp": f"NSK_ISA_{name.upper()}" for name in ("scalar", "avx2", "avx512", "neon")}
ONE_ISA.update({f"netsuke/simd/{name}.hpp": "NSK_ISA_WASM" for name in ("wasm", "wasm_fma", "wasm_probe")})
# They include nearly all others.
WHOLE = ("netsuke/netsuke.hpp", "netsuke/all_ops.hpp", "netsuke/image.hpp")
EMPTY = GUARDS_FOLDER / "empty.cpp"
# Preprocessed lines of the umbrella. clang reads all of immintrin.h, in a third of the time that g++ would take.
INCLUDE_LINES = {"g++": 62000, "clang++": 59020}


def builds_of(name):
    """(compiler, instruction set) of every build of one header. Alone, a header is compiled by one compiler on scalar, where no
    intrinsics' header brings in what was forgotten. Those of simd/ and the umbrella of everything, which instruction sets and
    compilers could see differently, are compiled in every combination."""
    scalar = [(c, "NSK_ISA_SCALAR") for c in compilers()]
    if not name.startswith("netsuke/simd/") and name not in WHOLE:
        return scalar[:1]
    found = scalar + [(c, "NSK_ISA_NEON" if on_aarch64() else "NSK_ISA_AVX2") for c in compilers()]
    if not on_aarch64():
        found += [(c, "NSK_ISA_AVX512") for c in compilers()] + [(c, "NSK_ISA_NEON") for c in aarch64_compilers()]
    return [(c, isa) for c, isa in found if ONE_ISA.get(name, isa) == isa]


def headers(tree):
    """Every header compiles alone, behind a program's macros, and all of them together, strictly, with g++ and clang++, for each
    instruction set."""
    with scratch_folder() as folder:
        names = [name for name in map(tree.name, tree.headers()) if name not in REGION_FILES]
        jobs = [(f"{name} alone", [name], *build) for name in names for build in builds_of(name)]
        if tree.changed is None:
            together = [name for name in names if name not in ONE_ISA]
            jobs += [("all headers together", together, c, "NSK_ISA_NEON" if on_aarch64() else "NSK_ISA_AVX2") for c in compilers()]

        def attempt(job):
            what, included, compiler, isa = job
            output = pathlib.Path(folder) / f"{jobs.index(job)}.o"
            # Twice, for the include guard; on the command line, so that the cache sees one source wherever the folder is.
            before = [FOREIGN_MACROS] if what.endswith("alone") else []
            twice = [flag for name in before + included * 2 for flag in ("-include", name)]
            said = compile_file(compiler, EMPTY, output, tree, STRICT + ["-O0", f"-D{isa}", *twice])
            return f"{what}, {compiler} {isa}:\n      {first_lines(said)}" if said else None

        return [v for v in parallel(attempt, jobs) if v]


def template_bodies(tree):
    """A compiler that reads templates at the end of the file, as clang-cl before C++20, is told which flag it needs; with the flag it compiles."""
    clang = next((c for c in compilers() if is_clang(c)), None)
    if clang is None:
        raise Skipped("clang++ is not installed")
    violations = []
    for flag, refused in (("-fdelayed-template-parsing", True), ("-fno-delayed-template-parsing", False)):
        said = run([clang, f"-I{tree.include}", *library_flags(clang), "-std=c++17", "-fsyntax-only", flag, "-include", "netsuke/netsuke.hpp", EMPTY]).stderr
        if ("/Zc:twoPhase" in said) != refused:
            violations.append(f"{flag}: {first_lines(said) or 'nothing is said'}")
    return violations


def weight(tree):
    """Including the umbrella stays cheap, in preprocessed lines."""
    violations = []
    with scratch_folder() as folder:
        source = pathlib.Path(folder) / "umbrella.cpp"
        source.write_text("#include <netsuke/netsuke.hpp>\n")
        for compiler in compilers():
            done = run([compiler, "-std=c++17", f"-I{tree.include}", *library_flags(compiler), "-E", "-P", source])
            if done.returncode != 0:
                return [f"{compiler}: {first_lines(done.stderr)}"]
            lines, maximum = done.stdout.count("\n"), INCLUDE_LINES["clang++" if "clang" in str(compiler) else "g++"]
            print(f"  {compiler}: {lines} preprocessed lines")
            if lines > maximum:
                violations.append(f"{compiler}: the umbrella is {lines} preprocessed lines, at most {maximum}")
    return violations


def own_includes(block):
    """The library's headers that a block includes, unless macros before them may change what they hold."""
    lines = re.findall(r"^#include <netsuke/.*>$", block, re.MULTILINE)
    before = block[:block.rfind("#include <netsuke/")]
    return () if re.search(r"^#\s*(define|undef|if)", before, re.MULTILINE) else tuple(lines)


def precompiled(tree, folder, compiler, blocks):
    """For each list of includes that several blocks have, the flags that give them to clang in one piece. It holds what those blocks
    include themselves, so that a forgotten include is still seen."""
    found = {}
    for lines, count in collections.Counter(map(own_includes, blocks)).items():
        if not lines or count < 3 or not is_clang(compiler):
            continue
        header = pathlib.Path(folder) / f"read_once_{len(found)}.hpp"
        header.write_text("\n".join(lines) + "\n")
        done = run([compiler, f"-I{tree.include}", *library_flags(compiler), *STRICT, READ_WHOLE, "-x", "c++-header", header, "-o", f"{header}.pch"])
        if done.returncode == 0:
            found[lines] = ["-include-pch", f"{header}.pch"]
    return found


def documents(tree):
    """Every C++ block of the documents is a translation unit that compiles strictly, here and for Windows."""
    jobs = []
    for document in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        for number, block in enumerate(re.findall(r"^```cpp\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL), 1):
            # A planted violation needs the blocks that it breaks, not all.
            if tree.root == REPOSITORY or "run_tile" in block:
                jobs.append((f"{document.name}, block {number}", block))
    compiler = compilers()[-1]  # one: what differs between compilers is checked header by header
    mingw = installed(MINGW_GXX, "g++-mingw-w64-x86-64-posix") if tree.root == REPOSITORY else None
    with scratch_folder() as folder:
        read_once = precompiled(tree, folder, compiler, [block for _, block in jobs])
        headers_alone = alone(folder, FLATBUFFERS)

        def attempt(job):
            name, block = job
            source = pathlib.Path(folder) / (re.sub(r"\W+", "_", name) + ".cpp")
            source.write_text(block)
            done = run([compiler, f"-I{tree.include}", *library_flags(compiler), *STRICT, "-fsyntax-only", *read_once.get(own_includes(block), []), source])
            if done.returncode:
                return f"{name}:\n      {first_lines(done.stderr)}"
            said = compile_for(tree, headers_alone, mingw, [source], ["-fsyntax-only"]) if mingw else ""
            return f"{name}, {mingw[0]}:\n      {first_lines(said)}" if said else None

        return [v for v in parallel(attempt, jobs) if v] if jobs else ["no C++ block was found"]


def seed_heavy(tree):
    tree.replace("netsuke.hpp", r"#pragma once", "#pragma once\n#include <regex>\n#include <iostream>\n#include <functional>\n#include <filesystem>")


GUARDS = {
    "template_bodies": (template_bodies, [
        ("a reader at the end of the file that is not noticed", lambda t: t.replace("simd/isa.hpp", r"^  static_assert\(sizeof\(which_is_found.*$", "")),
    ]),
    "headers": (headers, [
        ("a missing include", lambda t: t.plant("seeded.hpp", "inline std::uint32_t f() { return 1; }\n")),
        ("an exception", lambda t: t.plant("seeded.hpp", "inline void f() { throw 1; }\n")),
        ("run-time type information", lambda t: t.plant(
            "seeded.hpp", "struct a { virtual ~a(); };\nstruct b : a {};\ninline b* f(a* p) { return dynamic_cast<b*>(p); }\n")),
        ("a conversion", lambda t: t.plant("seeded.hpp", "inline int f(long x) { return x; }\n")),
        ("a shadowed name", lambda t: t.plant("seeded.hpp", "inline int f(int x) { { int x = 2; return x; } }\n")),
        ("no include guard", lambda t: (t.plant("seeded.hpp", ""), (t.include / "netsuke/seeded.hpp").write_text("struct a {};\n"))),
    ]),
    "documents": (documents, [
        ("a function that was renamed", lambda t: t.replace("run/session.hpp", r"\bvoid run_tile\(", "void run_one_tile("))]),
    "weight": (weight, [("heavy standard headers", seed_heavy)]),
}
