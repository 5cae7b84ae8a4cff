#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tools/lint_shaders.py on the shaders.

  lint_shaders.py [--seeded]      with --seeded: breaks every rule in a copy, each of which must be reported by that rule
"""
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import lint_shaders  # noqa: E402

IN_KERNEL = "KERNEL {\n"
BEFORE_KERNEL = "KERNEL"


def in_kernel(line):
    return "softmax.comp", IN_KERNEL, f"{IN_KERNEL}  {line}\n"


def before_kernel(line):
    return "softmax.comp", BEFORE_KERNEL, f"{line}\n{BEFORE_KERNEL}"


def in_constants(member):
    return "bindings.h", "uint count; uint x; int x_b;", f"uint count; {member} uint x; int x_b;"


# (rule, what is planted, (file, text, its replacement))
SEEDS = [
    ("reserved word", "a keyword of HLSL", in_kernel("float point = 0.0;")),
    ("reserved word", "a keyword of HLSL for textures", in_kernel("uint sample = 0u;")),
    ("reserved word", "a keyword of GLSL", in_kernel("float filter = 0.0;")),
    ("reserved word", "a keyword of ESSL", in_kernel("highp float x = 0.0;")),
    ("reserved word", "a keyword of Metal", in_kernel("uint thread = 0u;")),
    ("reserved word", "a keyword of C++", in_kernel("float new = 0.0;")),
    ("reserved word", "a member of the constants", in_constants("uint linear;")),
    ("narrow or wide type", "half", in_kernel("half x = 0.0;")),
    ("narrow or wide type", "a type of 16 bits", in_kernel("min16float x = 0.0;")),
    ("narrow or wide type", "double", in_kernel("double x = 0.0;")),
    ("narrow or wide type", "64-bit integers", in_kernel("uint64_t x = 0u;")),
    ("wave operation", "a wave operation of HLSL", in_kernel("float x = WaveActiveSum(1.0);")),
    ("wave operation", "a subgroup operation of GLSL", in_kernel("float x = subgroupAdd(1.0);")),
    ("atomic operation", "an atomic of GLSL", in_kernel("atomicAdd(A[0], 1u);")),
    ("atomic operation", "an atomic of HLSL", in_kernel("InterlockedAdd(A[0], 1u);")),
    ("constants", "a vector in the constants", in_constants("float4 scale;")),
    ("constants", "an array in the constants", in_constants("uint more[4];")),
    ("constants", "33 constants", in_constants(" ".join(f"uint more{i};" for i in range(33)))),
    ("unnamed number", "an integer", in_kernel("uint x = 4711u;")),
    ("unnamed number", "a float", in_kernel("float x = 1.70158;")),
    ("language", "a version", before_kernel("#version 450")),
    ("language", "an extension", before_kernel("#extension GL_EXT_shader_16bit_storage : require")),
    ("language", "an attribute of HLSL", in_kernel("[[unroll]] for (int v = 0; v < 4; ++v) {}")),
    ("language", "a condition on the language", before_kernel("#if defined(NSK_HLSL)\n#endif")),
    ("float literal", "no digits behind the dot", in_kernel("float x = 1.;")),
    ("float literal", "no digits before the dot", in_kernel("float x = .5;")),
    ("float literal", "no dot", in_kernel("float x = 1e5;")),
    ("float literal", "a suffix", in_kernel("float x = 1.0f;")),
    ("unsigned literal", "a variable and a number", in_kernel("uint q = THREAD; uint x = q + 1;")),
    ("unsigned literal", "a constant and a number", in_kernel("if (pc.count == 3) return;")),
    ("unsigned literal", "a permutation and a number", in_kernel("if (MODE == 1) return;")),
    ("paste", "pasted names", before_kernel("#define JOIN(a, b) a ## b")),
    ("loop variable", "two loops of one scope", in_kernel("for (int v = 0; v < 4; ++v) {}\n  for (int v = 0; v < 4; ++v) {}")),
    ("loop variable", "a loop in a loop", in_kernel("for (int v = 0; v < 4; ++v) {\n    for (int v = 0; v < 4; ++v) {}\n  }")),
    ("recursion", "a function that calls itself", before_kernel("float again(float x) { return x > 0.0 ? again(x - 1.0) : x; }")),
    ("recursion", "two functions that call each other",
     before_kernel("float there(float x) { return back(x); }\nfloat back(float x) { return there(x); }")),
    ("switch", "switch", in_kernel("switch (pc.count) { default: break; }")),
    ("private array", "17 float4", in_kernel("float4 many[17];")),
    ("private array", "65 floats", in_kernel("float many[64 + 1];")),
    ("function", "a function of HLSL", in_kernel("float x = saturate(0.5);")),
    ("function", "a function of GLSL", in_kernel("float x = mix(0.0, 1.0, 0.5);")),
    ("function", "a function that ESSL 310 has not", in_kernel("float x = fma(1.0, 1.0, 1.0);")),
]


def check_seeds():
    silent, missing = 0, set(lint_shaders.RULES) - {rule for rule, _, _ in SEEDS}
    known = set(lint_shaders.violations_of(ROOT / "shaders"))
    for rule, description, (name, before, after) in SEEDS:
        with tempfile.TemporaryDirectory(prefix="nsk_shaders_") as folder:
            copy = pathlib.Path(folder) / "shaders"
            shutil.copytree(ROOT / "shaders", copy)
            text = (copy / name).read_text()
            if before not in text:
                raise RuntimeError(f"seed: {name} has no {before!r}")
            (copy / name).write_text(text.replace(before, after, 1))
            reports = [what for what in lint_shaders.violations_of(copy) if what not in known and what[0] == rule]
        print(f"  {'fires' if reports else 'SILENT'}: {rule}: {description}" + (f" ({reports[0][3]})" if reports else ""))
        silent += not reports
    for rule in sorted(missing):
        print(f"  no planted violation: {rule}")
    print(f"{len(SEEDS) - silent} of {len(SEEDS)} planted violations found, {len(missing)} rule(s) without one")
    return 1 if silent or missing else 0


if __name__ == "__main__":
    sys.exit(check_seeds() if sys.argv[1:] == ["--seeded"] else lint_shaders.main())
