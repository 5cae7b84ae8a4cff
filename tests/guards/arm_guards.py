# SPDX-License-Identifier: MIT
"""Guards on what AArch64 chooses, on systems that are not here: their functions are answered by the test."""
import pathlib

from common import GUARDS as FOLDER
from common import REPOSITORY, Skipped, aarch64_compilers, compile_file, first_lines, is_clang, is_cross, link, run_program, runs_aarch64, scratch_folder

WITH, WITHOUT = "cortex-a76", "cortex-a72"  # processors that the emulator knows, with dot products and without
UNKNOWN = ["-U__linux__", "-U__gnu_linux__", "-Ulinux"]
WINDOWS = [*UNKNOWN, "-D_WIN32", "-D__declspec(what)=", "-D__stdcall="]
APPLE = [*UNKNOWN, "-D__APPLE__"]


def asked(answer):
    return [f"-DNSK_GUARD_ANSWER={answer}"]


# (what, flags, processor or None where it is not asked, whether dot products are chosen)
CASES = [
    ("Linux, processor with them", [], WITH, True),
    ("Linux, processor without", [], WITHOUT, False),
    ("compiled for a processor with them", ["-march=armv8.2-a+dotprod"], WITH, True),
    ("an unknown system", UNKNOWN, None, False),
    ("an unknown system with NSK_HAS_DOT_PRODUCT", [*UNKNOWN, "-DNSK_HAS_DOT_PRODUCT"], None, True),
    ("an unknown system, compiled for a processor with them", [*UNKNOWN, "-mcpu=cortex-a76"], WITH, True),
    ("NSK_NO_VNNI above all", ["-DNSK_NO_VNNI", "-DNSK_HAS_DOT_PRODUCT"], None, False),
    ("Windows that has them", [*WINDOWS, *asked(1)], None, True),
    ("Windows that has none", [*WINDOWS, *asked(0)], None, False),
    ("Apple that has them", [*APPLE, *asked(1)], None, True),
    ("Apple that has none", [*APPLE, *asked(0)], None, False),
    ("Apple that does not know the question", [*APPLE, *asked(-1)], None, False),
]


def dot_product(tree):
    """AArch64 multiplies bytes by dot products where the system, the compiler's target or the program says that they are there."""
    found = [c for c in aarch64_compilers() if not is_clang(c)]
    if not found or not runs_aarch64():
        raise Skipped("a compiler for AArch64, or an emulator, is not installed (tools/install_dependencies.sh)")
    compiler, violations = found[0], []
    with scratch_folder() as folder:
        for number, (what, flags, processor, expected) in enumerate(CASES):
            if processor and not is_cross(compiler):
                continue  # this machine has one processor
            base = pathlib.Path(folder) / f"{number}"
            said = compile_file(compiler, FOLDER / "dot_product.cpp", f"{base}.o", tree,
                                ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-DNSK_KEEP_USER_OPT", *flags])
            said = said or link(compiler, [f"{base}.o"], base)
            if said:
                violations.append(f"{what}: {first_lines(said)}")
                continue
            done = run_program(compiler, base, processor=processor or WITHOUT)
            if done.stdout.strip() != str(int(expected)):
                violations.append(f"{what}: answers {done.stdout.strip() or done.stderr}, {int(expected)} expected")
    if tree.root == REPOSITORY:
        print(f"  {len(CASES)} ways to ask, by {compiler}")
    return violations


GUARDS = {
    "dot_product": (dot_product, [
        ("another question to Windows", lambda t: t.replace("simd/isa.hpp", "dot_products = 43;", "dot_products = 44;")),
        ("another question to Apple", lambda t: t.replace("simd/isa.hpp", "FEAT_DotProd", "FEAT_DotProducts")),
        ("a macro that is not heard", lambda t: t.replace("simd/isa.hpp", r" \|\| defined\(NSK_HAS_DOT_PRODUCT\)", "")),
    ]),
}
