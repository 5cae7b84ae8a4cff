# SPDX-License-Identifier: MIT
"""Guards that build small programs and look at what they do, or at what is in them: contraction, symbols."""
import os
import pathlib
import re

from common import GUARDS as FOLDER
from common import (REPOSITORY, aarch64_compilers, compile_file, compilers, first_lines, has_avx512, is_clang, is_cross, link, on_aarch64,
                    parallel, run, run_program, runs_aarch64, scratch_folder)

SAME, SAME_OR_REPORTED, REFUSED = "same bits", "same bits or cpu_supports() says no", "refused by the compiler"


def build_and_run(tree, folder, source, compiler, flags, tag, arguments=()):
    """Returns (what it printed, None) or (None, why not)."""
    base = pathlib.Path(folder) / f"{source.stem}.{tag}"
    said = compile_file(compiler, source, f"{base}.o", tree, ["-std=c++17", *flags])
    said = said or link(compiler, [f"{base}.o"], base)
    if said:
        return None, said
    done = run_program(compiler, base, *arguments)
    if done.returncode != 0:
        return None, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip(), None


def contraction_flags(compiler):
    """Flags that could fuse a product and a sum, with what must come of them."""
    x86 = not (is_cross(compiler) or on_aarch64())
    fma, processor = (["-mfma", "-mavx2"], ["-march=haswell"]) if x86 else ([], [])
    if is_clang(compiler):
        return [(["-O2", *fma], SAME), (["-O0"], SAME), (["-O2", *fma, "-ffp-contract=on"], SAME),
                (["-O2", *fma, "-ffp-contract=fast"], SAME_OR_REPORTED), (["-O2", "-ffast-math"], REFUSED)]
    return [(["-O2", *fma, "-ffp-contract=fast"], SAME), (["-O3", *processor, "-ffast-math"], SAME), (["-O2"], SAME), (["-O0"], SAME),
            (["-O2", "-DNSK_KEEP_USER_OPT", *fma], SAME)]


def contraction_builds():
    """(compiler, instruction set, whether its programs run here)."""
    if on_aarch64():
        return [(c, isa, True) for c in compilers() for isa in ("NEON", "SCALAR")]
    found = [(c, isa, isa != "AVX512" or has_avx512()) for c in compilers() for isa in ("AVX2", "SCALAR", "AVX512")]
    return found + [(c, "NEON", runs_aarch64()) for c in aarch64_compilers()]


def fused_instructions(tree, folder, compiler, flags, tag):
    """Where a program cannot run: ('', None) when its object holds no fused multiply-add, as its source holds none."""
    output = pathlib.Path(folder) / f"contraction.{tag}.o"
    said = compile_file(compiler, FOLDER / "contraction.cpp", output, tree, ["-std=c++17", *flags])
    if said:
        return None, said
    tool = "aarch64-linux-gnu-objdump" if is_cross(compiler) else "objdump"
    fused = re.findall(r"\b(?:vfn?m(?:add|sub)\w*ps|fml[as])\b.*", run([tool, "-d", output]).stdout)
    return (None, f"fuses: {fused[0]}") if fused else ("", None)


def contraction(tree):
    """Products and sums are never fused behind the source's back, whatever the flags of the translation unit."""
    with scratch_folder() as folder:
        # A planted violation needs one instruction set that fuses.
        builds = [b for b in contraction_builds() if tree.root == REPOSITORY or b[1] in ("AVX2", "NEON") and not is_cross(b[0])]
        jobs = [(compiler, flags + [f"-DNSK_ISA_{isa}"], wanted, runs) for compiler, isa, runs in builds
                for flags, wanted in contraction_flags(compiler) if runs or wanted != SAME_OR_REPORTED]

        def attempt(job):
            compiler, flags, _, runs = job
            tag = f"{jobs.index(job)}"
            if not runs:
                return job, fused_instructions(tree, folder, compiler, flags, tag)
            return job, build_and_run(tree, folder, FOLDER / "contraction.cpp", compiler, flags, tag)

        expected, why = build_and_run(tree, folder, FOLDER / "contraction.cpp", compilers()[0],
                                      ["-O0", "-ffp-contract=off", "-DNSK_ISA_SCALAR"], "reference")
        if why:
            return [f"the reference does not build or run: {first_lines(why)}"]
        violations = []
        for (compiler, flags, wanted, runs), (hash_text, why) in parallel(attempt, jobs):
            label = f"{compiler} {' '.join(flags)}"
            if wanted == REFUSED:
                if why is None or "fast-math" not in why:
                    violations.append(f"{label}: should be refused with a message that names the cure, got {hash_text or first_lines(why)}")
            elif why:
                violations.append(f"{label}: {first_lines(why)}")
            elif runs and hash_text != expected and not (wanted == SAME_OR_REPORTED and hash_text == "unsupported"):
                violations.append(f"{label}: {hash_text}, but {expected} without contraction ({wanted} wanted)")
        return violations


LONGEST_SYMBOL = 512
LONGEST_DEMANGLED = 512  # of what is optimised; one that repeats its arguments is much longer than when mangled
TOOL = pathlib.Path(os.environ.get("NSK_TOOL", REPOSITORY / "build" / "nsk"))


def long_symbols(what, path, maximum=LONGEST_SYMBOL, nm=()):
    """A violation where the file has symbols that linkers, debuggers and profilers choke on; with nm's "-C" as a reader sees them."""
    columns = re.compile(r"^\S+: *$|^[0-9a-f]* +\w ")
    names = {columns.sub("", line) for line in run(["nm", *nm, path]).stdout.splitlines() if line.strip()}
    long_names = sorted((n for n in names if len(n) > maximum), key=len)
    print(f"  {what}: the longest of {len(names)} symbols has {max(map(len, names), default=0)} characters")
    if not names:
        return [f"{what}: no symbols"]
    return [f"{what}: {len(long_names)} symbols over {maximum} characters, up to {len(long_names[-1])}: "
            f"{long_names[-1][:200]}"] if long_names else []


def engine_symbols(tree):
    """Of a program with a session of every operator. Unoptimised, every inline function is a symbol; optimised, clones have longer names."""
    builds = [(compiler, flags) for compiler in compilers() for flags in (["-O0", "-DNSK_KEEP_USER_OPT"], ["-O2"])]
    violations = []
    with scratch_folder() as folder:
        # Optimised names of the second compiler are its unoptimised ones; a planted violation is seen in the first build.
        for compiler, flags in builds[:3] if tree.root == REPOSITORY else builds[:1]:
            output = pathlib.Path(folder) / "engine.o"
            strict = ["-fno-exceptions", "-fno-rtti"] if flags == ["-O2"] else []  # as other guards compile it: once for all
            said = compile_file(compiler, FOLDER / "two_isa.cpp", output, tree,
                                ["-std=c++17", *flags, *strict, "-DNSK_ISA_AVX2", "-DNSK_GUARD_FUNCTION=run_avx2"])
            what = f"{compiler} {flags[0]}"
            violations += [f"{compiler}: {first_lines(said)}"] if said else long_symbols(what, output)
            if not said and flags == ["-O2"]:
                violations += long_symbols(f"{what}, demangled", output, LONGEST_DEMANGLED, ["-C"])
    return violations


def symbols(tree):
    """No symbol of the engine or of the converter is longer than 512 characters, nor one of an optimised engine when demangled."""
    planted = tree.root / "seeded.o"
    if planted.exists():
        return long_symbols("a planted file", planted) + long_symbols("a planted file, demangled", planted, LONGEST_DEMANGLED, ["-C"])
    violations = engine_symbols(tree)
    built = [f for f in (TOOL, TOOL.parent / "tools/nsk/libnsk_tool.a") if f.exists()] if tree.root == REPOSITORY else []
    for path in built:
        violations += long_symbols(path.name, path)
    return violations


def plant_variant(tree):
    """An object file with a std::variant of thirty types, as a program's operations once were."""
    source, types = tree.root / "seeded.cpp", [f"parameters_of_operation_{i}" for i in range(30)]
    source.write_text("#include <string>\n#include <variant>\n" + "".join(f"struct {t} {{ std::string s; }};\n" for t in types) +
                      f"using all = std::variant<{', '.join(types)}>;\nall copy(const all& a) {{ return a; }}\n")
    said = run([compilers()[0], "-std=c++17", "-c", source, "-o", tree.root / "seeded.o"])
    if said.returncode != 0:
        raise RuntimeError(f"seed: {said.stderr}")


def plant_repetition(tree):
    """An object file with a type that names itself in each of its arguments: short when mangled."""
    source = tree.root / "seeded.cpp"
    source.write_text("template <class A, class B> struct two {};\nusing t0 = two<int, long>;\n" +
                      "".join(f"using t{i} = two<t{i - 1}, t{i - 1}>;\n" for i in range(1, 7)) + "void f(t6) {}\n")
    run([compilers()[0], "-std=c++17", "-c", source, "-o", tree.root / "seeded.o"])


def plant_long_name(tree):
    name = "x" * 520
    tree.replace("run/session.hpp", r"^template <class Settings = default_settings>$",
                 f"inline void {name}() {{}}\ntemplate <class Settings = default_settings>")
    tree.replace("run/session.hpp", r"^  void run\(\) \{$", f"  void run() {{\n    {name}();")


GUARDS = {
    "symbols": (symbols, [("a function with a long name", plant_long_name), ("a variant of thirty types", plant_variant),
                          ("a type that repeats itself", plant_repetition)]),
    "contraction": (contraction, [
        ("no optimize pragma in regions (g++)", lambda t: t.replace("simd/begin.hpp", r"^#pragma GCC optimize.*$", "")),
        ("fp-contract=off forgotten (g++)", lambda t: t.replace("simd/begin.hpp", r', "fp-contract=off"', "")),
        ("-ffast-math accepted (clang)", lambda t: t.replace("config.hpp", r"^#error .*$", "")),
    ]),
}
