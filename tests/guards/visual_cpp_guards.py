# SPDX-License-Identifier: MIT
"""Guards on what Visual C++ will see, which does not run here: g++ and clang++ play it, with its macros, its words and its vectors of NEON.

They show which branch is taken, and that it is C++ without the words of GNU compilers. They do not show what is Visual C++'s own.
"""
import pathlib
import re

from common import GUARDS as GUARDS_FOLDER
from common import REPOSITORY, STRICT, compilers, first_lines, is_clang, library_flags, parallel, run, scratch_folder, without_comments
from compile_guards import ONE_ISA, REGION_FILES
from target_guards import said_by

STAGE = GUARDS_FOLDER / "visual_cpp"
SESSION = "template class nsk::session<nsk::all_settings>;\n"
# Flags by which a compiler plays Visual C++ for a processor. Of its words, those that only give advice are unknown.
PROCESSORS = {"x64": ["-mavx2", "-mfma", "-mf16c"], "ARM64": ["-DNSK_GUARD_ARM64"]}
# Constants of functions: those of classes are static.
CONSTANTS = re.compile(r"^[ \t]+(?:constexpr|const) [^;{}()]*?=[^;]*;", re.MULTILINE)
GNU_WORDS = re.compile(r"\b(__attribute(?:__)?|__asm(?:__)?|__extension__|__restrict__|__typeof(?:__)?|__(?:builtin|atomic|sync)_\w+)\b|\(\{[^{}]*;")
# The intrinsics of NEON that simd/neon.hpp uses, by what they take and give: q is a register of 128 bits, d one of 64.
NEON = {
    "q q": """vabsq_f32 vcvtnq_s32_f32 vcvtq_f32_s32 vcvtq_f32_u32 vmvnq_u32 vnegq_f32 vpaddlq_s16 vpaddlq_s8 vpaddlq_u16 vpaddlq_u8
        vreinterpretq_f32_f64 vreinterpretq_f32_s32 vreinterpretq_f64_f32 vreinterpretq_s32_f32 vreinterpretq_s32_s8 vreinterpretq_s32_u16
        vreinterpretq_s32_u32 vreinterpretq_s8_s32 vreinterpretq_s8_u32 vreinterpretq_u16_u8 vreinterpretq_u32_s32 vrndmq_f32 vrndnq_f32 vrndpq_f32 vrndq_f32 vsqrtq_f32""",
    "q q q": """vaddq_f32 vaddq_f64 vaddq_s32 vandq_s32 vandq_u32 vceqq_f32 vceqq_s32 vcgtq_f32 vcleq_f32 vcltq_f32 vcltq_s32 vdivq_f32 veorq_s32
        vmaxnmq_f32 vmaxq_u8 vminnmq_f32 vminq_u8 vmull_high_s8 vmulq_f32 vmulq_f64 vorrq_s32 vorrq_u32 vorrq_u8 vpadalq_s16 vpaddq_s16 vpaddq_s32 vqaddq_s16 vsubq_f32
        vsubq_f64 vsubq_s32 vsubq_u8 vtrn1q_f32 vtrn1q_f64 vtrn2q_f32 vtrn2q_f64 vzip1q_f32 vzip1q_u8 vzip2q_f32 vzip2q_u8""",
    "q q q q": "vbslq_f32 vbslq_s32 vdotq_s32 vfmaq_f32 vfmsq_f32",
    "q d d": "vcombine_s16 vcombine_u8 vmull_s8",
    "q d": "vcvt_f32_f16 vcvt_f64_f32 vmovl_s16 vmovl_s8 vmovl_u16 vmovl_u8",
    "d q": "vcvt_f16_f32 vcvt_f32_f64 vget_high_u8 vget_low_s16 vget_low_s8 vget_low_u16 vget_low_u8 vqmovn_s32 vqmovun_s16",
    "d d": "vreinterpret_f16_u16 vreinterpret_s8_u64 vreinterpret_u16_f16",
    "d std::uint64_t": "vcreate_u64 vcreate_u8",
    "q2 q q": "vzipq_u16 vzipq_u8",
    "q q4 q": "vqtbl4q_u8",
    "std::uint32_t q": "vmaxvq_u32",
    "q float": "vdupq_n_f32", "q double": "vdupq_n_f64", "q std::int16_t": "vdupq_n_s16", "q std::int32_t": "vdupq_n_s32", "q std::uint8_t": "vdupq_n_u8",
    "q std::uint32_t": "vdupq_n_u32",
    "d const-float*": "vld1_f32", "d const-std::uint16_t*": "vld1_u16", "d const-std::uint8_t*": "vld1_u8",
    "q const-float*": "vld1q_f32 vld1q_dup_f32", "q const-std::int32_t*": "vld1q_s32", "q const-std::int8_t*": "vld1q_s8", "q const-std::uint8_t*": "vld1q_u8",
    "void float* d": "vst1_f32", "void std::uint16_t* d": "vst1_u16", "void std::uint8_t* d": "vst1_u8",
    "void float* q": "vst1q_f32", "void std::int32_t* q": "vst1q_s32", "void std::uint8_t* q": "vst1q_u8", "void float* q3": "vst3q_f32",
    # # is a constant of the instruction.
    "q q #": "vshlq_n_s32 vshrq_n_s32 vshrq_n_u32", "q q q #": "vextq_f32", "float q #": "vgetq_lane_f32",
}
ELEMENTS = [("float16", 16), ("float32", 32), ("float64", 64), *((f"{kind}{bits}", bits) for kind in ("int", "uint") for bits in (8, 16, 32, 64))]


def neon_header():
    """arm_neon.h as Visual C++ has it: every vector of one size is one union, every intrinsic a macro."""
    lines = ["#pragma once", "union q { std::uint64_t words[2]; float floats[4]; };", "union d { std::uint64_t words[1]; float floats[2]; };"]
    lines += [f"struct q{n} {{ q val[{n}]; }};" for n in (2, 3, 4)]
    for element, bits in ELEMENTS:
        lines += [f"typedef d {element}x{64 // bits}_t;", f"typedef q {element}x{128 // bits}_t;"]
        lines += [f"typedef q{n} {element}x{128 // bits}x{n}_t;" for n in (2, 3, 4)]
    for shape, names in NEON.items():
        result, *takes = shape.replace("const-", "const ").replace("const ", "const@").split()
        result, takes = result, [t.replace("@", " ") for t in takes]
        values = [t for t in takes if t != "#"]
        arguments = ", ".join(f"a{i}" for i in range(len(takes)))
        passed = ", ".join(f"a{i}" for i in range(len(values)))
        for name in names.split():
            lines.append(("template <int> " if "#" in takes else "") + f"{result} of_{name}({', '.join(values)});")
            lines.append(f"#define {name}({arguments}) of_{name}{f'<(a{len(takes) - 1})>' if '#' in takes else ''}({passed})")
    return "\n".join(lines) + "\n"


def stage(tree, folder, processor):
    """A source that holds every header, and the flags with which g++ and clang++ read it as Visual C++ would."""
    folder = pathlib.Path(folder)
    (folder / "arm_neon.h").write_text(neon_header())
    names = [n for n in map(tree.name, tree.headers()) if n not in REGION_FILES and n not in ONE_ISA]
    source = folder / "program.cpp"
    source.write_text("".join(f"#include <{name}>\n" for name in names) + SESSION)
    flags = [*STRICT, "-Wno-unknown-pragmas", f"-I{tree.include}", f"-I{STAGE}", f"-I{folder}", *PROCESSORS[processor], "-include", "before.hpp"]
    return source, flags


def advice(compiler):
    return ["-Wno-unknown-attributes", "-Wno-keyword-macro"] if is_clang(compiler) else ["-Wno-attributes"]


def visual_cpp(tree):
    """The branches for Visual C++ of all headers compile strictly, for both processors, with every operator."""
    with scratch_folder() as folder:
        jobs = [(c, p) for p in PROCESSORS for c in (compilers() if tree.root == REPOSITORY else compilers()[:1])]

        def attempt(job):
            compiler, processor = job
            source, flags = stage(tree, folder, processor)
            said = said_by(run([compiler, *flags, *advice(compiler), *library_flags(compiler), "-fsyntax-only", source]))
            return f"{compiler} as Visual C++ for {processor}:\n      {first_lines(said)}" if said else None

        return [v for v in parallel(attempt, jobs) if v]


def gnu_words(tree):
    """No word of GNU compilers is left where Visual C++ reads: in attributes, builtins, assembly and statement expressions."""
    violations = []
    with scratch_folder() as folder:
        for name in ("immintrin.h", "xmmintrin.h"):  # whose macros name builtins
            (pathlib.Path(folder) / name).write_text("#pragma once\n")
        for processor in PROCESSORS:
            source, flags = stage(tree, folder, processor)
            done = run([compilers()[0], *flags, *library_flags(compilers()[0]), "-E", source])
            if done.returncode:
                return [first_lines(done.stderr)]
            place, number = "", 0
            for line in done.stdout.splitlines():
                marker = re.match(r'# (\d+) "([^"]*)"', line)
                if marker:
                    number, place = int(marker.group(1)), marker.group(2)
                    continue
                word = GNU_WORDS.search(line) if place.startswith(f"{tree.include}/") else None
                if word:
                    violations.append(f"{place[len(str(tree.include)) + 1:]}:{number}: {word.group()} for {processor}")
                number += 1
    return sorted(set(violations))


def lambdas(tree):
    """A lambda that names a constant of the function around it captures by default: Visual C++'s older reader of lambdas wants it (error C3493)."""
    violations = []
    sources = [*tree.headers(), *(p for folder in ("examples", "bindings") for p in sorted((tree.root / folder).rglob("*.[ch]pp")))]
    for path in sources:
        code = without_comments(path.read_text())
        constants = [(m.start(), name) for m in re.finditer(CONSTANTS, code) for name in re.findall(r"(\w+) =[^=]", m.group())]
        for made in re.finditer(r"(?<![\w)\]])\[(?![&=\[])([^\[\]\n]*)\]\s*\([^{;]*\{", code):
            body = inside(code, made.end())
            own = {*re.findall(r"\w+", made.group()), *re.findall(r"(\w+) =[^=]", body)}
            for at, name in constants:
                if at < made.start() and name not in own and encloses(code[at:made.start()]) and re.search(rf"(?<![\w:.>]){name}\b", body):
                    violations.append(f"{path.relative_to(tree.root)}:{code.count(chr(10), 0, made.start()) + 1}: the lambda names '{name}'; capture by [&]")
    return violations


def inside(code, at):
    """The text from `at`, which is behind an opening brace, to its closing one."""
    depth = 1
    for end in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        if depth == 0:
            return code[at:end]
    return code[at:]


def encloses(between):
    """Whether what is declared at the start of a text is in scope at its end."""
    depth = 0
    for letter in between:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth < 0:
            return False
    return True


GUARDS = {
    "visual_cpp": (visual_cpp, [
        ("vectors of two kinds, which are one type", lambda t: t.replace(
            "simd/neon.hpp", r"^NSK_INLINE f32 zero\(\)", "inline int kind(float32x4_t) { return 1; }\ninline int kind(int32x4_t) { return 2; }\n\\g<0>")),
        ("a vector made of its elements", lambda t: t.replace("simd/neon.hpp", r"return \{vdupq_n_f32\(0\)\};", "return {float32x4_t{0.0f, 0.0f, 0.0f, 0.0f}};")),
        ("an error in a branch for Visual C++", lambda t: t.replace("core/atomic.hpp", r"_InterlockedExchangeAdd\(&m_next, 1\)", "_InterlockedExchangeAdd(&m_next)")),
    ]),
    "gnu_words": (gnu_words, [
        ("an attribute", lambda t: t.replace("run/session.hpp", r"^NSK_BEGIN$", "NSK_BEGIN\n__attribute__((cold)) inline int seeded() { return 1; }")),
        ("a builtin", lambda t: t.replace("simd/neon.hpp", r"__prefetch\(p\)", "__builtin_prefetch(p)")),
        ("a statement expression", lambda t: t.replace("run/session.hpp", r"^NSK_BEGIN$", "NSK_BEGIN\ninline int seeded() { return ({ int x = 1; x; }); }")),
    ]),
    "lambdas": (lambdas, [
        ("a constant in a lambda that captures nothing", lambda t: t.replace("ops/quantized_binary.hpp", r"fits = \[&\]", "fits = []")),
        ("a constant beside what a lambda captures", lambda t: t.plant(
            "seeded.hpp", "inline int f(int x) {\n  constexpr int limit = 2;\n  return [x](int y) { return x + y + limit; }(1);\n}\n")),
    ]),
}
