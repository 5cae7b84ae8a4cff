#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The inner loops of AArch64, judged without a processor: spills, products, and cycles by the tables of llvm-mca.

  arm_loops.py               compiles arm_loops.cpp with each compiler, finds the innermost loop of each tile, and fails where it spills, has
                             another number of products than the tile, or makes fewer of them a cycle than it did
  arm_loops.py --seeded      plants violations in a copy of the headers; each must be reported
  arm_loops.py --show        prints the loops too

NSK_LLVM_MCA names the program; 19 and 22 were tried. Loads hit the nearest cache there, and no branch is missed: what it says holds for
comparisons. LLVM's table of Cortex-A78 is that of the A57, so that the A78 is cortex-a710 here, six instructions wide.
"""
import os
import pathlib
import re
import shutil
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "guards"))
from common import Tree, aarch64_compilers, compile_file, copy_tree, first_lines, is_cross, note, run, scratch_folder  # noqa: E402

SOURCE = "tests/isa/arm_loops.cpp"
# name: (what llvm-mca calls it, how many instructions begin in a cycle where its table is another core's)
CORES = {"A57": ("cortex-a57", None), "A76": ("neoverse-n1", 4), "A78": ("cortex-a710", 6)}
ATTRIBUTES = "-mattr=+dotprod,+fullfp16,+i8mm,+bf16"
FUSED, DOTS, WIDENED = r"fmla|fmadd", r"sdot|\.inst", r"smull2?"
# (tile, its function, products of a register by a register that instructions make, spills that are allowed, products a cycle on each core)
TILES = [
    ("float32, 16 columns", r"gemm_tiles<(\d+), (16), false, .*, float>", FUSED, 1, 0, {"A57": 0.98, "A76": 1.8, "A78": 1.95}),
    ("float32, 16 columns, prefetching", r"gemm_tiles<(\d+), (16), true, .*, float>", FUSED, 1, 0, {"A57": 0.98, "A76": 1.7, "A78": 1.95}),
    ("float32, 24 columns", r"gemm_tiles<(\d+), (24), false, .*, float>", FUSED, 1, 0, {"A57": 0.98, "A76": 1.6, "A78": 1.95}),
    ("float32, 8 columns", r"gemm_tiles<(\d+), (8), false, .*, float>", FUSED, 1, 0, {"A57": 0.98, "A76": 1.45, "A78": 1.8}),
    ("float16 weights, 16 columns", r"gemm_tiles<(\d+), (16), false, .*, unsigned short>", FUSED, 1, 0, {"A57": 0.75, "A78": 1.0}),
    ("bytes by dot products, 16 columns", r"quad_tiles<.*dot4_native, (\d+), (4)>", DOTS, 1, 0, {"A76": 1.65, "A78": 1.9}),
    ("bytes by dot products, 8 columns", r"quad_tiles<.*dot4_native, (\d+), (2)>", DOTS, 1, 0, {"A76": 1.2, "A78": 1.55}),
    ("pair-safe bytes, 16 columns", r"quad_tiles<.*dot4_narrow, (\d+), (4)>", WIDENED, 2, 0, {"A57": 0.42, "A76": 0.45, "A78": 0.45}),
    ("pair-safe bytes, 8 columns", r"quad_tiles<.*dot4_narrow, (\d+), (2)>", WIDENED, 2, 2, {"A57": 0.35, "A76": 0.45, "A78": 0.45}),
    ("any bytes, 16 columns", r"quad_tiles<.*exact_quads, (\d+), (4)>", WIDENED, 2, 6, {"A57": 0.28, "A76": 0.28, "A78": 0.3}),
]
BRANCH = re.compile(r"(b\.\w+|b|cbn?z|tbn?z)$")


def llvm_mca():
    names = [os.environ["NSK_LLVM_MCA"]] if "NSK_LLVM_MCA" in os.environ else [f"llvm-mca-{version}" for version in (22, 21, 20, 19)]
    return next((name for name in names if shutil.which(name)), None)


def functions(listing):
    """Names of objdump's functions, and (address, operation, operands) of their instructions."""
    name, body = None, []
    for line in listing.splitlines():
        begins = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if begins:
            if name:
                yield name, body
            name, body = begins.group(1), []
            continue
        found = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*?)\s*(?://.*)?$", line)
        if found:
            body.append((int(found.group(1), 16), found.group(2), found.group(3)))
    if name:
        yield name, body


def target_of(operation, operands):
    """Where a branch goes; None for other instructions."""
    to = re.search(r"([0-9a-f]+) <", operands) if BRANCH.match(operation) else None
    return int(to.group(1), 16) if to else None


def hottest_loop(body, product):
    """Of the loops without a loop inside, the one with most products."""
    ends = [(target_of(operation, operands), address) for address, operation, operands in body]
    loops = [(first, last) for first, last in ends if first is not None and body[0][0] <= first <= last]
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    texts = [[i for i in body if first <= i[0] <= last] for first, last in inner]
    return max(texts, key=lambda text: (products_in(text, product), -len(text)), default=[])


def products_in(loop, product):
    return sum(re.fullmatch(product, operation) is not None for _, operation, _ in loop)


def spills_in(loop):
    """Loads and stores of vectors on the stack."""
    return sum(re.match(r"(ld|st)[pu]?r?$", operation) is not None and re.match(r"[qds]\d", operands) is not None
               and re.search(r"\[(sp|x29)", operands) is not None for _, operation, operands in loop)


def cycles_of(mca, loop, core):
    """How long the loop takes once it runs steadily."""
    processor, width = CORES[core]
    lines = []
    for _, operation, operands in loop:
        operands = operands.split(" ;")[0] if operation == ".inst" else operands
        lines.append(f"{operation} {'0' if target_of(operation, operands) is not None and operation.startswith('b') else operands}")
        if operation.startswith(("cb", "tb")):
            lines[-1] = f"{operation} {re.sub(r'[0-9a-f]+ <.*', '0', operands)}"
    text = "\n".join(lines) + "\n"
    if core == "A78":
        # This table gives a duplicate of a general register three cycles; Arm's guides, and tables of its relatives, one.
        text = re.sub(r"(?m)^dup v(\d+)\.\w+, w\d+", r"ldr s\1, [sp]", text)
        text = re.sub(r"(?m)^fmov ([sd]\d+), [wx]\d+", r"ldr \1, [sp]", text)
    taken = []
    for iterations in (200, 400):
        done = run([mca, "-march=aarch64", f"-mcpu={processor}", ATTRIBUTES, *([f"-dispatch={width}"] if width else []), f"-iterations={iterations}"],
                   input=text)
        found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
        if not found:
            raise SystemExit(f"{mca}: {first_lines(done.stderr)}")
        taken.append(int(found.group(1)))
    return (taken[1] - taken[0]) / 200


def judged(mca, tile, name, body, show):
    """(a line, what is wrong with it) of one tile."""
    what, pattern, product, instructions, allowed, rates = tile
    rows, columns = map(int, re.search(pattern, name).groups())
    loop = hottest_loop(body, product)
    products = rows * (columns // 4 if "gemm" in pattern else columns)
    spills, found = spills_in(loop), products_in(loop, product)
    wrong = [f"{spills} spills, {allowed} allowed"] if spills > allowed else []
    if found == 0 or found % (products * instructions):
        wrong.append(f"{found} products in the loop of a tile of {products}")
    said = []
    for core, minimum in rates.items() if found else ():
        rate = found / instructions / cycles_of(mca, loop, core)
        said.append(f"{core} {rate:.2f}")
        if rate < minimum:
            wrong.append(f"{rate:.2f} products a cycle on {core}, not {minimum}")
    if show:
        print("\n".join(f"    {operation} {operands}" for _, operation, operands in loop))
    return f"{what}: {rows} rows, {len(loop)} instructions, {spills} spills, products a cycle {', '.join(said)}", wrong


def violations_of(mca, tree, compiler, show=False):
    """What is wrong with the loops that one compiler makes. Prints them where they are the tree's own."""
    with scratch_folder() as folder:
        output = pathlib.Path(folder) / "arm_loops.o"
        said = compile_file(compiler, REPOSITORY / SOURCE, output, tree, ["-std=c++17", "-O2", "-DNSK_ISA_NEON"])
        if said:
            return [f"{compiler}: {first_lines(said)}"]
        listing = run(["aarch64-linux-gnu-objdump" if is_cross(compiler) else "objdump", "-dC", "--no-show-raw-insn", output]).stdout
    found = list(functions(listing))
    violations = []
    for tile in TILES:
        matching = [(name, body) for name, body in found if re.search(tile[1] + r"\(", name)]
        if len(matching) != 1:
            violations.append(f"{compiler}, {tile[0]}: {len(matching)} functions match")
            continue
        line, wrong = judged(mca, tile, *matching[0], show)
        if tree.root == REPOSITORY:
            print(f"  {line}")
        violations += [f"{compiler}, {tile[0]}: {w}" for w in wrong]
    return violations


SEEDS = [
    ("tiles of bytes that spill", lambda t: t.replace("simd/neon.hpp", r"max_widened_sums = \d+", "max_widened_sums = 24")),
    ("tiles of floats that spill", lambda t: t.replace("simd/neon.hpp", "loads_inputs_first = true", "loads_inputs_first = false")),
    ("a slower way to the same products", lambda t: t.replace("kernels/int8/quantized_gemm.hpp", r"return simd::dot4_native\(sum, a, w\)",
                                                             "return simd::dot4_native(sum, simd::i32{vreinterpretq_s32_s8(a.v)}, w)")),
]


def seeded(mca, compiler):
    silent = 0
    for what, plant in SEEDS:
        with scratch_folder() as folder:
            tree = copy_tree(folder)
            plant(tree)
            violations = violations_of(mca, tree, compiler)
        print(f"  {'fires' if violations else 'SILENT'}: {what}" + (f"\n      {violations[0]}" if violations else ""))
        silent += not violations
    return 1 if silent else 0


def main(arguments):
    if arguments not in ([], ["--seeded"], ["--show"]):
        raise SystemExit(__doc__)
    mca, found = llvm_mca(), aarch64_compilers()
    if not mca or not found:
        print(f"SKIPPED: {'a compiler for AArch64' if not found else 'llvm-mca 19 or newer'} is not installed (tools/install_dependencies.sh)")
        return 0
    if arguments == ["--seeded"]:
        return seeded(mca, found[0])
    violations = []
    for compiler in found:
        print(f"{compiler}, {mca}:")
        violations += violations_of(mca, Tree(REPOSITORY), compiler, arguments == ["--show"])
    if len(found) == 1:
        note("one compiler for AArch64 is installed: loops of others are not judged")
    print("\n".join(violations) or "all loops are as good as they were")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
