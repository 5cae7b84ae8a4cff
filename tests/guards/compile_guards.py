# SPDX-License-Identifier: MIT
"""Guards that compile: every header alone, the cost of including the umbrella, the code in the manuals."""
import pathlib
import re

from common import GUARDS as GUARDS_FOLDER
from common import STRICT, compile_file, compilers, first_lines, flatbuffers_flags, parallel, run, scratch_folder

REGION_FILES = ("netsuke/simd/begin.hpp", "netsuke/simd/end.hpp")
# Written for one instruction set: compiled for that one only.
ONE_ISA = {"netsuke/simd/avx2.hpp": ["NSK_ISA_AVX2"], "netsuke/simd/scalar.hpp": ["NSK_ISA_SCALAR"]}
EMPTY = GUARDS_FOLDER / "empty.cpp"
INCLUDE_LINES = 90000


def headers(tree):
    """Every header compiles alone, strictly, with g++ and clang++, for each instruction set."""
    with scratch_folder() as folder:
        jobs = []
        for header in tree.headers():
            name = tree.name(header)
            if name in REGION_FILES:
                continue
            for compiler in compilers():
                for isa in ONE_ISA.get(name, ["NSK_ISA_AVX2", "NSK_ISA_SCALAR"]):
                    jobs.append((name, compiler, isa))

        def attempt(job):
            name, compiler, isa = job
            output = pathlib.Path(folder) / f"{name.replace('/', '__')}.{isa}.{pathlib.Path(compiler).name}.o"
            # Twice, for the include guard; on the command line, so that the cache sees one source wherever the folder is.
            twice = ["-include", name] * 2
            said = compile_file(compiler, EMPTY, output, tree, STRICT + ["-O0", f"-D{isa}", *twice])
            return f"{name} alone, {compiler} {isa}:\n      {first_lines(said)}" if said else None

        return [v for v in parallel(attempt, jobs) if v]


def weight(tree):
    """Including the umbrella stays cheap: preprocessed lines; the best of three compilations is printed, not judged."""
    violations = []
    with scratch_folder() as folder:
        source = pathlib.Path(folder) / "umbrella.cpp"
        source.write_text("#include <netsuke/netsuke.hpp>\n")
        for compiler in compilers():
            flags = ["-std=c++17", f"-I{tree.include}"] + flatbuffers_flags()
            lines = run([compiler, *flags, "-E", "-P", source]).stdout.count("\n")
            seconds = []
            for _ in range(3):
                done = run(["bash", "-c", 'TIMEFORMAT="%U %S"; time "$@"', "-", compiler, *flags, "-O2", "-c", source, "-o", f"{source}.o"])
                if done.returncode != 0:
                    return [f"{compiler}: {first_lines(done.stderr)}"]
                user, system = done.stderr.split()[-2:]
                seconds.append(float(user) + float(system))
            print(f"  {compiler}: {lines} preprocessed lines, {min(seconds):.2f} s of processor time")
            if lines > INCLUDE_LINES:
                violations.append(f"{compiler}: the umbrella is {lines} preprocessed lines, at most {INCLUDE_LINES}")
    return violations


def snippets(tree):
    """Every C++ block of README.md and docs/ is a translation unit that compiles strictly, with g++ and clang++."""
    with scratch_folder() as folder:
        jobs = []
        for page in [tree.root / "README.md", *sorted((tree.root / "docs").glob("*.md"))]:
            text = page.read_text() if page.exists() else ""
            for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
                where = f"{page.relative_to(tree.root)}:{text.count(chr(10), 0, block.start()) + 1}"
                source = pathlib.Path(folder) / f"{len(jobs)}.cpp"
                source.write_text(block.group(1))
                jobs += [(where, source, compiler) for compiler in compilers()]

        def attempt(job):
            where, source, compiler = job
            said = compile_file(compiler, source, f"{source}.{pathlib.Path(compiler).name}.o", tree, STRICT + ["-fsyntax-only"])
            return f"{where}, {compiler}:\n      {first_lines(said)}" if said else None

        return [v for v in parallel(attempt, jobs) if v]


def seed_snippet(tree):
    (tree.root / "docs").mkdir()
    (tree.root / "docs" / "seeded.md").write_text("# Seeded\n```cpp\n#include <netsuke/image.hpp>\nint f() { return nsk::no_such; }\n```\n")


def seed_heavy(tree):
    tree.replace("netsuke.hpp", r"#pragma once", "#pragma once\n#include <regex>\n#include <iostream>\n#include <functional>\n#include <filesystem>")


GUARDS = {
    "headers": (headers, [
        ("a missing include", lambda t: t.plant("seeded.hpp", "inline std::uint32_t f() { return 1; }\n")),
        ("an exception", lambda t: t.plant("seeded.hpp", "inline void f() { throw 1; }\n")),
        ("run-time type information", lambda t: t.plant(
            "seeded.hpp", "struct a { virtual ~a(); };\nstruct b : a {};\ninline b* f(a* p) { return dynamic_cast<b*>(p); }\n")),
        ("a conversion", lambda t: t.plant("seeded.hpp", "inline int f(long x) { return x; }\n")),
        ("a shadowed name", lambda t: t.plant("seeded.hpp", "inline int f(int x) { { int x = 2; return x; } }\n")),
        ("no include guard", lambda t: (t.plant("seeded.hpp", ""), (t.include / "netsuke/seeded.hpp").write_text("struct a {};\n"))),
    ]),
    "snippets": (snippets, [("a block that does not compile", seed_snippet)]),
    "weight": (weight, [("heavy standard headers", seed_heavy)]),
}
