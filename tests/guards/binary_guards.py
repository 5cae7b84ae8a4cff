# SPDX-License-Identifier: MIT
"""Guards that build small programs and look at what they do: contraction."""
import pathlib

from common import GUARDS as FOLDER
from common import compile_file, compilers, first_lines, is_clang, link, parallel, run, scratch_folder

SAME, SAME_OR_REPORTED, REFUSED = "same bits", "same bits or cpu_supports() says no", "refused by the compiler"


def build_and_run(tree, folder, source, compiler, flags, tag, arguments=()):
    """Returns (what it printed, None) or (None, why not)."""
    base = pathlib.Path(folder) / f"{source.stem}.{tag}"
    said = compile_file(compiler, source, f"{base}.o", tree, ["-std=c++17", *flags])
    said = said or link(compiler, [f"{base}.o"], base)
    if said:
        return None, said
    done = run([base, *arguments])
    if done.returncode != 0:
        return None, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip(), None


def contraction(tree):
    """Products and sums are never fused behind the source's back, whatever the flags of the translation unit."""
    gnu = [(["-O2", "-mfma", "-mavx2", "-ffp-contract=fast"], SAME), (["-O3", "-march=haswell", "-ffast-math"], SAME),
           (["-O2"], SAME), (["-O0"], SAME), (["-O2", "-DNSK_KEEP_USER_OPT", "-mfma", "-mavx2"], SAME)]
    clang = [(["-O2", "-mfma", "-mavx2"], SAME), (["-O0"], SAME), (["-O2", "-mfma", "-mavx2", "-ffp-contract=on"], SAME),
             (["-O2", "-mfma", "-mavx2", "-ffp-contract=fast"], SAME_OR_REPORTED), (["-O2", "-ffast-math"], REFUSED)]
    with scratch_folder() as folder:
        jobs = []
        for compiler in compilers():
            for flags, wanted in clang if is_clang(compiler) else gnu:
                for isa in ("NSK_ISA_AVX2", "NSK_ISA_SCALAR"):
                    jobs.append((compiler, flags + [f"-D{isa}"], wanted))

        def attempt(job):
            compiler, flags, wanted = job
            tag = f"{pathlib.Path(compiler).name}{abs(hash(tuple(flags)))}"
            return job, build_and_run(tree, folder, FOLDER / "contraction.cpp", compiler, flags, tag)

        expected, why = build_and_run(tree, folder, FOLDER / "contraction.cpp", compilers()[0],
                                      ["-O0", "-ffp-contract=off", "-DNSK_ISA_SCALAR"], "reference")
        if why:
            return [f"the reference does not build or run: {first_lines(why)}"]
        violations = []
        for (compiler, flags, wanted), (hash_text, why) in parallel(attempt, jobs):
            label = f"{compiler} {' '.join(flags)}"
            if wanted == REFUSED:
                if why is None or "fast-math" not in why:
                    violations.append(f"{label}: should be refused with a message that names the cure, got {hash_text or first_lines(why)}")
            elif why:
                violations.append(f"{label}: {first_lines(why)}")
            elif hash_text != expected and not (wanted == SAME_OR_REPORTED and hash_text == "unsupported"):
                violations.append(f"{label}: {hash_text}, but {expected} without contraction ({wanted} wanted)")
        return violations


GUARDS = {
    "contraction": (contraction, [
        ("no optimize pragma in regions (g++)", lambda t: t.replace("simd/begin.hpp", r"^#pragma GCC optimize.*$", "")),
        ("fp-contract=off forgotten (g++)", lambda t: t.replace("simd/begin.hpp", r', "fp-contract=off"', "")),
        ("-ffast-math accepted (clang)", lambda t: t.replace("config.hpp", r"^#error .*$", "")),
    ]),
}
