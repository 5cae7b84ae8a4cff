#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine's tests on WebAssembly's vectors, in node: tests/simd, math, format, kernels and image, and a network.

  run_wasm.py [--all]

Two modules: with relaxed SIMD, whose multiply-add an engine may fuse or not, and without. Both must have the bits of this machine.
Seeded: an engine that does not fuse, and sums that are rounded twice, must be reported. Kernels are the same in both but for the
multiply-add, which tests/simd judges: without relaxed SIMD they are tested with --all alone.
"""
import os
import pathlib
import shutil
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "guards"))
from common import STRICT, Skipped, Tree, compile_file, compilers, first_lines, link, note, parallel, run, scratch_folder  # noqa: E402
from engine_guards import OWN, converted, settings_flags  # noqa: E402
from target_guards import FLATBUFFERS, alone, zig_compiler  # noqa: E402

MODULES = {"relaxed": ["-msimd128", "-mrelaxed-simd", "-fno-vectorize", "-fno-slp-vectorize"], "exact": ["-msimd128"]}
FOLDERS = ("simd", "math", "format", "image", "kernels")  # tests/run starts threads, which the target lacks
DOCTEST = pathlib.Path(os.environ.get("NSK_DOCTEST_INCLUDE_DIR") or "/usr/include") / "doctest"
# Optimised just enough to run fast, as in run_engine.py. The target has neither exceptions, signals nor file streams.
FLAGS = ["-std=c++17", "-fno-exceptions", "-Iinclude", "-Itests", "-DNSK_KEEP_USER_OPT", '-DNSK_TEST_SOURCE_DIR="."', '-DNSK_TEST_BINARY_DIR="."',
         "-DDOCTEST_CONFIG_NO_EXCEPTIONS_BUT_WITH_ALL_ASSERTS", "-DDOCTEST_CONFIG_NO_POSIX_SIGNALS", "-D_WASI_EMULATED_SIGNAL"]
RUN_MODEL = ["tests/guards/two_isa.cpp", "tests/guards/run_model_main.cpp"]
# What a test program must say of rounded_twice.hpp.
SEEDED = {"relaxed": ("this machine runs the instruction set", "rounds once"), "exact": ("rounds once",)}


def must(command, what):
    done = run(command, cwd=REPOSITORY)
    if done.returncode != 0:
        raise SystemExit(f"{what}: {first_lines(done.stderr or done.stdout)}")
    return done.stdout


def units(module):
    """What is compiled together, by name: a folder's tests, those alone that choose an instruction set of their own."""
    found = {}
    for folder in FOLDERS if module == "relaxed" or "--all" in sys.argv else FOLDERS[:-1]:
        for source in sorted((REPOSITORY / "tests" / folder).glob("*.cpp")):
            name = source.stem if source.stem.startswith("equal_bits") else folder
            found.setdefault(name, []).append(source.relative_to(REPOSITORY).as_posix())
    return found


class Builder:
    """Compiles and links for the target in a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.compiler = zig_compiler("wasm32-wasi")
        if not self.compiler:
            raise Skipped("ziglang is not installed, so nothing is compiled for WebAssembly (tools/install_dependencies.sh)")
        headers = alone(folder, FLATBUFFERS)
        (headers / "doctest").symlink_to(DOCTEST)
        self.headers = ["-isystem", headers]

    def compiled(self, module, name, sources, more=()):
        output = self.folder / f"{module}.{name}.o"
        together = [flag for source in sources for flag in ("-include", source)]
        level = "-O0" if name.startswith("equal_bits") else "-O1"
        must([*self.compiler, *MODULES[module], level, *FLAGS, *self.headers, *more, *together, "-c", "tests/guards/empty.cpp", "-o", output], f"{module} {name}")
        return output

    def tests(self, module, name, objects):
        program = self.folder / f"{module}.{name}.wasm"
        must([*self.compiler, *objects, "-lwasi-emulated-signal", "-o", program], f"{module} {name}")
        return program

    def model_runner(self, module, settings):
        program = self.folder / f"{module}.model.wasm"
        must([*self.compiler, *MODULES[module], "-O1", *STRICT, "-Iinclude", *self.headers, "-DNSK_GUARD_FUNCTION=run_scalar", *settings, *RUN_MODEL,
              "-o", program], f"{module} model")
        return program


def runner_of(program):
    """The command that runs modules with relaxed SIMD, or None: versions of node before 21 ask for a flag."""
    node = os.environ.get("NSK_NODE", "node")
    for flags in ([], ["--experimental-wasm-relaxed-simd"]):
        command = [node, "--no-warnings", *flags, REPOSITORY / "tests/guards/run_wasm.mjs"]
        if "CompileError" not in run([*command, program]).stderr:
            return command
    note("this node has no relaxed SIMD: the module that uses it was compiled and not run")
    return None


def hash_on_this_machine(folder, model, settings):
    """What the scalar build says of a model."""
    flags = ["-std=c++17", "-O0", "-DNSK_KEEP_USER_OPT", "-DNSK_ISA_SCALAR", "-DNSK_GUARD_FUNCTION=run_scalar", *settings]
    objects = [pathlib.Path(folder) / f"here.{i}.o" for i in range(len(RUN_MODEL))]
    said = [compile_file(compilers()[0], s, o, Tree(REPOSITORY), flags) for s, o in zip(RUN_MODEL, objects)]
    why = "".join(said) or link(compilers()[0], objects, pathlib.Path(folder) / "here")
    if why:
        raise SystemExit(first_lines(why))
    return must([pathlib.Path(folder) / "here", model], "this machine").strip()


def judge(folder):
    """Returns what is wrong."""
    builder, violations, begin = Builder(folder), [], time.monotonic()
    model = converted(folder, OWN)
    settings = settings_flags(Tree(REPOSITORY), model)
    wanted = hash_on_this_machine(folder, model, settings)
    main = builder.compiled("exact", "main", ["tests/doctest_main.cpp"], ["-include", "tests/isa/wasi_fstream.hpp"])
    seed = ["-include", "tests/isa/rounded_twice.hpp"]
    for module in MODULES:
        found = units(module)
        jobs = [(name, name, sources, []) for name, sources in found.items()] + [("seeded", "simd", found["simd"], seed)]
        objects = dict(parallel(lambda job: (job[0], builder.compiled(module, job[0], job[2], job[3])), jobs))
        seeded = builder.tests(module, "seeded", [main, objects.pop("seeded")])
        program = builder.tests(module, "tests", [main, *objects.values()])
        command = runner_of(seeded)
        if not command:
            continue
        done = run([*command, program], cwd=REPOSITORY)
        print(f"{module}, {', '.join(found)}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        if done.returncode != 0:
            violations.append(f"{module}: tests failed")
        said = run([*command, seeded], cwd=REPOSITORY).stdout
        violations += [f"{module}: seeded, but not reported: {text}" for text in SEEDED[module] if text not in said]
        here = must([*command, builder.model_runner(module, settings), model], f"{module} model").strip()
        print(f"{module}: {model.name} {here}")
        if here != wanted:
            violations.append(f"{module}: {model.name} is {here}, on this machine {wanted}")
    print(f"built and ran in {time.monotonic() - begin:.0f} s")
    return violations


def main():
    try:
        if not shutil.which(os.environ.get("NSK_NODE", "node")):
            raise Skipped("node is not installed, so nothing runs as WebAssembly")
        with scratch_folder() as folder:
            violations = judge(folder)
    except Skipped as why:
        print(f"SKIPPED: {why}")
        return 0
    print("\n".join(violations))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
