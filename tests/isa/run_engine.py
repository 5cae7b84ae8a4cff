#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine's tests on an instruction set that this processor may lack.

  run_engine.py neon       compiles tests/simd, math, format, kernels, run and image for AArch64 and runs them, on an emulator where it must be;
                           tests/simd also with clang, which knows other instructions for the same source
  run_engine.py avx512     compiles the whole engine strictly with clang (g++ does in the tool); runs the same tests where the processor has AVX-512,
                           and elsewhere most of them on intrinsics written out in emulated_avx512/
"""
import os
import pathlib
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "guards"))
from common import (STRICT, Tree, aarch64_compilers, compile_file, compilers, first_lines, has_avx512, link, on_aarch64, parallel,  # noqa: E402
                    run_program, runs_aarch64, scratch_folder)

FOLDERS = ("simd", "math", "format", "kernels", "run", "image")
# Optimised just enough to run fast: kernels at their own level would take minutes to compile.
FLAGS = ["-std=c++17", "-Itests", "-DNSK_KEEP_USER_OPT", '-DNSK_TEST_SOURCE_DIR="."', '-DNSK_TEST_BINARY_DIR="."']
EMPTY = "tests/guards/empty.cpp"
HERE = pathlib.Path(__file__).resolve().parent


def doctest_flags():
    path = os.environ.get("NSK_DOCTEST_INCLUDE_DIR", "")
    return ["-isystem", path] if path and path not in ("/usr/include", "/usr/local/include") else []


def units(folders):
    """Lists of sources that are compiled together: a folder's, but for those that choose an instruction set of their own."""
    found = [["tests/doctest_main.cpp"]]
    for folder in folders:
        sources = [s.relative_to(REPOSITORY).as_posix() for s in sorted((REPOSITORY / "tests" / folder).glob("*.cpp"))]
        alone = [s for s in sources if "/equal_bits" in s]
        found += [[s] for s in alone] + [[s for s in sources if s not in alone]]
    return sorted(found, key=len, reverse=True)


def build(folder, compiler, flags, folders):
    """Compiles and links the engine's tests. Returns the program."""
    tree = Tree(REPOSITORY)
    jobs = list(enumerate(units(folders)))

    def compiled(job):
        number, sources = job
        output = pathlib.Path(folder) / f"{number}.o"
        together = [flag for source in sources for flag in ("-include", source)]
        said = compile_file(compiler, EMPTY, output, tree, FLAGS + doctest_flags() + flags + together)
        if said:
            raise SystemExit(f"{compiler} {' '.join(sources)}: {first_lines(said)}")
        return output

    program = pathlib.Path(folder) / "test_engine"
    said = link(compiler, parallel(compiled, jobs), program)
    if said:
        raise SystemExit(f"{compiler}: {first_lines(said)}")
    return program


def run_tests(what, compiler, flags, *arguments, folders=FOLDERS):
    """Builds and runs the tests, and says how long both took. Returns the exit code."""
    with scratch_folder() as folder:
        begin = time.monotonic()
        program = build(folder, compiler, flags, folders)
        built = time.monotonic()
        done = run_program(compiler, program, *arguments)
        print(done.stdout[-4000:] + done.stderr[-4000:])
        print(f"{what}: built in {built - begin:.0f} s, ran in {time.monotonic() - built:.0f} s")
        return done.returncode


def neon():
    found = aarch64_compilers()
    if not found or not runs_aarch64():
        print("SKIPPED: NEON needs AArch64, or a cross compiler and an emulator (tools/install_dependencies.sh)")
        return 0
    failed = run_tests("NEON", found[0], ["-O1", "-DNSK_ISA_NEON"])
    for clang in found[1:]:
        failed |= run_tests("NEON by clang", clang, ["-O2", "-DNSK_ISA_NEON"], folders=("simd",))
    return failed


def compile_engine(compiler, isa):
    with scratch_folder() as folder:
        said = compile_file(compiler, HERE / "engine.cpp", pathlib.Path(folder) / "engine.o", Tree(REPOSITORY), STRICT + ["-O2", f"-D{isa}"])
    return f"{compiler} {isa}: {first_lines(said)}" if said else None


def avx512():
    if on_aarch64():
        print("SKIPPED: AVX-512 needs x86-64")
        return 0
    violations = [v for v in parallel(lambda c: compile_engine(c, "NSK_ISA_AVX512"), compilers()[-1:]) if v]
    print("\n".join(violations))
    if has_avx512():
        failed = run_tests("AVX-512", compilers()[0], ["-O1", "-DNSK_ISA_AVX512"])
    else:
        print("note: this processor has no AVX-512: the vocabulary runs on emulated intrinsics")
        # Not optimised: a kernel whose every lane is inlined takes minutes to compile. Its stack is judged elsewhere.
        # Its headers come before the library's, so they belong to the compiler.
        compiler = f"{compilers()[0]} -Itests/isa/emulated_avx512"
        flags = ["-O0", "-mavx2", "-mfma", "-mf16c", "-ffp-contract=off", "-DNSK_ISA_AVX512"]
        failed = run_tests("emulated AVX-512", compiler, flags, "--test-case-exclude=*this machine runs*,*of stack*",
                           folders=("simd", "kernels"))
    return 1 if violations or failed else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["neon"], ["avx512"]):
        sys.exit(__doc__)
    sys.exit(neon() if sys.argv[1] == "neon" else avx512())
