# SPDX-License-Identifier: MIT
"""Guards on programs that run a whole model: heap, float environment, two instruction sets in one program, indirect calls, size."""
import math
import os
import pathlib
import re
import struct
import zlib

from binary_guards import build_and_run
from common import GUARDS as FOLDER
from common import REPOSITORY, compile_file, compilers, first_lines, has_avx512, link, parallel, run, scratch_folder

SIZE_LIMIT = 140 * 1024
INTEGER_LIMIT = 40 * 1024
DEFAULT_LIMIT = 410_000
TOOL = os.environ.get("NSK_TOOL", str(REPOSITORY / "build" / "nsk"))
SHARED = pathlib.Path(os.environ.get("NSK_MODELS", REPOSITORY.parent / "shared" / "models"))
# A model that is always there, converted for a small image; and the face detector, whose program size is promised.
OWN = (REPOSITORY / "examples" / "models" / "upscaler_x2.onnx", ["--input", "frame=1x3x16x24"])
FACE = (SHARED / "face" / "face_detection_front_128x128_barracuda.onnx", [])
# What a build of two_isa.cpp answers where cpu_supports() says no.
UNSUPPORTED = f"{1:016x}"
PROBE = REPOSITORY / "tests" / "models" / "commands" / "same_bits.cpp"


def converted(folder, model):
    source, options = model
    target = pathlib.Path(folder) / f"{source.stem}.nsk"
    done = run([TOOL, "convert", source, "-o", target, "--quiet", *options])
    if done.returncode != 0:
        raise SystemExit(f"cannot convert {source}: {done.stderr}")
    return target


def guard_files(tree):
    """A folder whose name below the tree's root is the same in every run, so that the compiler cache knows what is there."""
    folder = (pathlib.Path(TOOL).resolve().parent if tree.root == REPOSITORY else tree.root) / "guard_files"
    folder.mkdir(exist_ok=True)
    return folder


def steady_file(tree, name, text):
    """A file of guard_files. Several tests may write the same one."""
    path = guard_files(tree) / name
    if not path.exists() or path.read_text() != text:
        complete = path.with_name(f"{name}.{os.getpid()}")
        complete.write_text(text)
        complete.replace(path)
    return path


def settings_flags(tree, model):
    """What gives a program the settings that `nsk inspect` prints for a model."""
    text = run([TOOL, "inspect", model, "--settings"]).stdout
    name = re.search(r"struct (\w+)", text).group(1)
    return ["-include", steady_file(tree, f"{name}.hpp", text), f"-DNSK_SETTINGS={name}"]


def joint_settings_flags(tree, models):
    """What gives a program settings with all that several models need together."""
    texts = [run([TOOL, "inspect", model, "--settings"]).stdout for model in models]
    lists = [f"  using {kind} = nsk::{name}_list<{', '.join(sorted(set(re.findall(rf'nsk::{name}::[a-z0-9_]+', ' '.join(texts)))))}>;\n"
             for kind, name in (("ops", "op"), ("functions", "function"))]
    lists += [f"  static constexpr bool {weights} = true;\n" for weights in ("half_weights", "int8_weights") if any(f"{weights} = true" in t for t in texts)]
    text = "#pragma once\n#include <netsuke/netsuke.hpp>\nstruct joint_settings : nsk::default_settings {\n" + "".join(lists) + "};\n"
    name = f"joint_settings_{zlib.crc32(text.encode()):08x}.hpp"
    return ["-include", steady_file(tree, name, text), "-DNSK_SETTINGS=joint_settings"]


def planted_settings(tree, folder):
    """A planted violation needs the operators of one model, not all."""
    return [] if tree.root == REPOSITORY else settings_flags(tree, converted(folder, OWN))


def probe(tree, folder, compiler):
    """Output of same_bits on a small model, as {what: value}; or a violation."""
    model = converted(folder, OWN)
    flags = ["-O0", "-DNSK_ISA_AVX2", "-DNSK_KEEP_USER_OPT", *settings_flags(tree, model)]
    printed, why = build_and_run(tree, folder, PROBE, compiler, flags, pathlib.Path(compiler).name, arguments=[model])
    if why:
        return None, f"{compiler}: {first_lines(why)}"
    return dict(line.split()[1:3] for line in printed.splitlines()), None


def heap(tree):
    """Not one heap call from open to the end of the second run."""
    with scratch_folder() as folder:
        said, why = probe(tree, folder, compilers()[0])
    return [why] if why else [] if said.get("heap") == "0" else [f"{said.get('heap')} heap calls between open and the end of the second run"]


def environment(tree):
    """The caller's rounding and flush-to-zero modes change nothing, and are restored."""
    with scratch_folder() as folder:
        said, why = probe(tree, folder, compilers()[0])
    if why:
        return [why]
    violations = [] if said.get("environment") == "kept" else ["the caller's floating-point mode is not restored"]
    if said.get("flush-to-zero") != said.get("run"):
        violations.append(f"flush-to-zero and upward rounding set by the caller change the result: {said}")
    return violations


ISAS = ("avx2", "scalar", "avx512")


def two_isa_objects(tree, folder, compiler, flags):
    """Object files of all builds, or a violation."""
    objects = [pathlib.Path(folder) / f"{isa}.o" for isa in ISAS]

    def compiled(job):
        isa, output = job
        return compile_file(compiler, FOLDER / "two_isa.cpp", output, tree,
                            ["-std=c++17", *flags, f"-DNSK_ISA_{isa.upper()}", f"-DNSK_GUARD_FUNCTION=run_{isa}"])

    for said in parallel(compiled, list(zip(ISAS, objects))):
        if said:
            return None, f"{compiler}: {first_lines(said)}"
    return objects, None


def shared_symbols(objects):
    """(Two instruction sets, symbols of the engine that both objects define) where there are any, or none at all in one object."""
    symbols = [set(re.findall(r"^\S+ [VWu] (.*nsk::.*)$", run(["nm", "-C", o]).stdout, re.MULTILINE)) for o in objects]
    return [(f"{ISAS[i]} and {ISAS[j]}", sorted(symbols[i] & symbols[j])) for i in range(len(ISAS)) for j in range(i)
            if symbols[i] & symbols[j] or not symbols[i] or not symbols[j]]


def two_isa(tree):
    """Builds of the engine for several instruction sets live in one program: they share no symbol, and run where they are supported."""
    compiler = compilers()[0]  # symbols have the source's names with every compiler
    with scratch_folder() as folder:
        # Unoptimised, so that every inline function is a symbol.
        objects, why = two_isa_objects(tree, folder, compiler, ["-O0", "-DNSK_KEEP_USER_OPT", *planted_settings(tree, folder)])
        if why:
            return [why]
        shared = shared_symbols(objects)
        if shared:
            return [f"{compiler}: {shared[0][0]} share {len(shared[0][1])} symbols, such as {shared[0][1][:1]}"]
        main, program = pathlib.Path(folder) / "main.o", pathlib.Path(folder) / "two_isa"
        why = compile_file(compiler, FOLDER / "two_isa_main.cpp", main, tree, ["-std=c++17"]) or link(compiler, [*objects, main], program)
        if why:
            return [f"{compiler}: {first_lines(why)}"]
        hashes = run([program, converted(folder, OWN)]).stdout.split()
        wanted = [hashes[:1], hashes[:1], hashes[:1] if has_avx512() else [UNSUPPORTED]]
        if not hashes or [[h] for h in hashes] != wanted:
            return [f"{compiler}: the builds in one program give {hashes} for {', '.join(ISAS)}"]
    return []


def indirect_calls(tree):
    """No dynamic dispatch survives in the optimised engine: not one call through a register or memory (jump tables are jumps)."""
    violations = []
    with scratch_folder() as folder:
        output = pathlib.Path(folder) / "engine.o"
        said = compile_file(compilers()[0], FOLDER / "two_isa.cpp", output, tree,
                            ["-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-DNSK_ISA_AVX2", "-DNSK_GUARD_FUNCTION=run_avx2",
                             *planted_settings(tree, folder)])
        if said:
            return [first_lines(said)]
        function = ""
        for line in run(["objdump", "-d", "-C", "--no-show-raw-insn", output]).stdout.splitlines():
            heading = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
            function = heading.group(1) if heading else function
            if re.search(r"\bcall\s+\*", line):
                violations.append(f"{function[:90]}: {line.strip()}")
    return violations


def size(tree):
    """A program with the face detector's printed settings, -Os, sections collected, stripped, dynamic libc: at most 140 KiB."""
    if not FACE[0].exists():
        print(f"note: {FACE[0]} is not on this machine; measured with the repository's own model")
    with scratch_folder() as folder:
        model = converted(folder, FACE if FACE[0].exists() else OWN)
        flags = ["-Os", "-DNDEBUG", "-fno-exceptions", "-fno-rtti", "-ffunction-sections", "-fdata-sections", *settings_flags(tree, model)]
        violations = []

        def attempt(compiler):
            base = pathlib.Path(folder) / f"size.{pathlib.Path(compiler).name}"
            said = compile_file(compiler, FOLDER / "size.cpp", f"{base}.o", tree, ["-std=c++17", *flags])
            said = said or link(compiler, [f"{base}.o"], base, ["-Wl,--gc-sections", "-s"])
            ran = run([base, model]) if not said else None
            return compiler, said or (ran.stderr + f"exit code {ran.returncode}" if ran.returncode else ""), base

        # A planted violation needs one compiler.
        for compiler, why, program in parallel(attempt, compilers() if tree.root == REPOSITORY else compilers()[:1]):
            if why:
                violations.append(f"{compiler}: {first_lines(why)}")
                continue
            print(f"  {compiler}: {program.stat().st_size} bytes")
            if program.stat().st_size > SIZE_LIMIT:
                violations.append(f"{compiler}: {program.stat().st_size} bytes, at most {SIZE_LIMIT}")
    return violations


def quantised(folder, model, shape):
    """The model in int8, all of its layers, their ranges from one sample that has every number of a range."""
    samples = pathlib.Path(folder) / "samples"
    samples.mkdir()
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    numbers = [(i * 37 % 1009) / 504.5 - 1 for i in range(math.prod(shape))]
    (samples / "0.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}f", *numbers))
    source, options = model
    target = pathlib.Path(folder) / f"{source.stem}_integers.nsk"
    done = run([TOOL, "quantize", source, "-o", target, "--calibrate", samples, "--target", "size", "--no-check", "--quiet", *options])
    if done.returncode != 0:
        raise SystemExit(f"cannot quantise {source}: {done.stderr}")
    return target


def code_bytes(tree, folder, compiler, model, flags):
    """Bytes of code and constants of the program with a model's printed settings, and its kernels that compute with bytes; or a violation."""
    base = pathlib.Path(folder) / f"{model.stem}.{pathlib.Path(compiler).name}"
    said = compile_file(compiler, FOLDER / "size.cpp", f"{base}.o", tree, ["-std=c++17", *flags, *settings_flags(tree, model)])
    said = said or link(compiler, [f"{base}.o"], base, ["-Wl,--gc-sections"])
    if said:
        return 0, [], first_lines(said)
    kernels = re.findall(r"^\S+ \S (.*kernels::.*(?:quad|quantize|look_up|max_bytes).*)$", run(["nm", "-C", base]).stdout, re.MULTILINE)
    return int(run(["size", base]).stdout.splitlines()[1].split()[0]), kernels, ""


def integer_size(tree):
    """The face detector in int8 needs at most 40 KiB more code than in float32, which has none of the kernels of integers."""
    model, shape = (FACE, (1, 128, 128, 3)) if FACE[0].exists() else (OWN, (1, 3, 16, 24))
    flags = ["-O2", "-DNDEBUG", "-fno-exceptions", "-fno-rtti", "-ffunction-sections", "-fdata-sections"]
    violations = []
    with scratch_folder() as folder:
        models = converted(folder, model), quantised(folder, model, shape)
        # A planted violation needs one compiler.
        for compiler in compilers() if tree.root == REPOSITORY else compilers()[:1]:
            floats, integers = parallel(lambda m, compiler=compiler: code_bytes(tree, folder, compiler, m, flags), models)
            if floats[2] or integers[2]:
                violations.append(f"{compiler}: {floats[2] or integers[2]}")
                continue
            print(f"  {compiler}: {floats[0]} bytes in float32, {integers[0] - floats[0]} more in int8")
            if not integers[1]:
                violations.append(f"{compiler}: the program in int8 has no kernel of integers: this guard reads their names wrongly")
            if floats[1]:
                violations.append(f"{compiler}: the program in float32 has {len(floats[1])} kernels of integers, such as {floats[1][0][:90]}")
            if integers[0] - floats[0] > INTEGER_LIMIT:
                violations.append(f"{compiler}: int8 needs {integers[0] - floats[0]} bytes more than float32, at most {INTEGER_LIMIT}")
    return violations


def default_size(tree):
    """The default session stays small: it is in programs that do not say which operators they need. Time to compile goes with it (bench/compile_times.py)."""
    compiler = compilers()[0]
    with scratch_folder() as folder:
        source = steady_file(tree, "default_session.cpp", "#include <netsuke/netsuke.hpp>\ntemplate class nsk::session<nsk::default_settings>;\n")
        output = pathlib.Path(folder) / "session.o"
        said = compile_file(compiler, source, output, tree, ["-std=c++17", "-O2", "-DNDEBUG", "-fno-exceptions", "-fno-rtti"])
        if said:
            return [first_lines(said)]
        found = int(run(["size", output]).stdout.splitlines()[1].split()[3])
    print(f"  {compiler}: {found} bytes")
    return [f"{compiler}: the default session has {found} bytes, at most {DEFAULT_LIMIT}"] if found > DEFAULT_LIMIT else []


def seed_heap(tree):
    tree.replace("run/session.hpp", r"^  void run\(\) \{$", "  void run() {\n    { void* volatile p = __builtin_malloc(64); __builtin_free(p); }")


def seed_size(tree):
    table = "{ static const volatile char table[300000] = {1}; static_cast<void>(table[0]); }"
    tree.replace("run/session.hpp", r"^  void run\(\) \{$", "  void run() {\n    " + table)


def seed_call(tree):
    tree.replace("run/session.hpp", r"^  void run\(\) \{$", "  void run() {\n    { void (*volatile f)(session*) = [](session*) {}; f(this); }")


GUARDS = {
    "heap": (heap, [("an allocation in run()", seed_heap)]),
    "environment": (environment, [
        ("the mode is not restored", lambda t: t.replace("simd/float_env.hpp", r"~float_environment\(\) \{.*\}", "~float_environment() {}")),
        ("the mode is not set", lambda t: t.replace("simd/float_env.hpp", r"write\(\s*0x1f80\);", "")),
    ]),
    "two_isa": (two_isa, [
        ("the instruction set is not in the namespace",
         lambda t: t.replace("version.hpp", r"v##a##_##b##_##c##_##d", "v##a##_##b##_##c"))]),
    "indirect_calls": (indirect_calls, [("a call through a pointer in run()", seed_call)]),
    "size": (size, [("a table of 300 kB", seed_size)]),
    "default_size": (default_size, [("a table of 300 kB", seed_size)]),
    "integer_size": (integer_size, [
        ("code for weights that the model does not have",
         lambda t: t.replace("ops/impl/quad_rules.hpp", r"<runs_unsafe_quads<Settings>, runs_weight_offsets<Settings>>", "<true, true>")),
        ("pools of bytes in a program of floats",
         lambda t: t.replace("ops/pool_2d.hpp", r"if constexpr \(impl::has_int8_layers<Settings>\)", "if constexpr (true)")),
    ]),
}
