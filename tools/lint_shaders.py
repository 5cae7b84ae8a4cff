#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the texts of shaders/ to the subset that GLSL, ESSL, HLSL, Metal and C++ share.

usage: lint_shaders.py [FOLDER]      default: shaders/ of this checkout; exits with 1 where a rule is broken

portable.h alone may contain what depends on a language. RULES says what each rule wants; tests/gpu/lint_shaders.py breaks each on purpose.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PORTABLE, CONSTANTS_FILE = "portable.h", "bindings.h"
PERMUTATION = ("FUNCTION", "RESIDUAL", "INPUT4", "MODE", "OUTPUT4", "WINDOW", "HALVES")
EVERYDAY = {*range(33), 63, 64, 255, 65535}  # counts, widths of words, sizes of groups, masks of halves
MAX_PRIVATE_FLOATS, MAX_CONSTANTS, MAX_PIXELS = 64, 32, 8

RESERVED = set("""
  line lineadj point triangle triangleadj sample linear centroid nointerpolation noperspective buffer texture texture2D sampler sampler2D matrix vector
  row_major column_major packoffset register cbuffer tbuffer groupshared precise pass technique technique10 technique11 compile compile_fragment inline
  interface snorm unorm uniform volatile extern export string shared static class namespace stateblock stateblock_state discard asm asm_fragment
  fxgroup in out inout dword pixelfragment vertexfragment typedef struct unsigned
  attribute varying coherent restrict readonly writeonly flat smooth layout patch input output common partition active filter resource subroutine
  superp precision lowp mediump highp long short fixed template this using union enum goto sizeof cast public external noinline packed invariant image2D
  hvec2 hvec3 hvec4 fvec2 fvec3 fvec4 sampler3DRect
  device constant thread threadgroup vertex fragment threadgroup_imageblock ray_data object_data visible metal
  alignas alignof and and_eq auto bitand bitor catch char compl concept consteval constexpr const_cast constinit decltype default delete dynamic_cast
  explicit friend mutable new noexcept not not_eq nullptr operator or or_eq private protected reinterpret_cast requires signed static_assert static_cast
  throw try typeid typename virtual wchar_t xor xor_eq char8_t char16_t char32_t thread_local
""".split())
# `kernel` is reserved in Metal alone, and spirv-cross, which writes Metal, renames it.
NARROW = re.compile(r"(half\w*|double\w*|dmat\w*|[dbiuf]?vec\w*_?16|[iuf]16vec\w*|dvec\d|min(16|12|10)\w+|float16_t\w*|u?int(8|16|64)_t\w*|float64_t\w*|u?long\d?|u?short\d?|u?char\d)")
WAVE = re.compile(r"(Wave\w+|subgroup\w+|gl_Subgroup\w+|gl_NumSubgroups|gl_WarpID\w*|QuadRead\w+|QuadAny|QuadAll|simd_\w+|quad_(?:broadcast|shuffle)\w*|ballot\w*)")
ATOMIC = re.compile(r"(atomic\w*|Interlocked\w+)")
# Functions that all languages have, by one name and with one meaning. mad is FMA, asfloat AS_FLOAT, round ROUND_EVEN: macros of portable.h.
SHARED_FUNCTIONS = set("abs min max clamp floor ceil sqrt exp exp2 log log2 sin cos tan pow float float2 float4 int int2 uint uint2 uint3 uint4 bool "
                       "f16tof32 f32tof16".split())
STATEMENTS = set("if for while return else sizeof defined".split())
TYPE = r"(?:float[24]?|u?int[234]?|bool)"

RULES = {
    "reserved word": "no name that HLSL, GLSL, ESSL, Metal or C++ reserves",
    "narrow or wide type": "no 16-bit and no 64-bit types: halves are packed in words",
    "wave operation": "nothing that depends on how wide a wave is",
    "atomic operation": "no atomics: their order is not repeatable, and floats have none",
    "constants": "scalars uint, int and float alone in constants, at most 32: arrays and vectors have other strides in each language",
    "unnamed number": "a number beyond the everyday ones stands in a #define, or beside or below a comment that says what it is",
    "language": "#version, #extension, #pragma, [[...]], and conditions on the language in portable.h alone",
    "float literal": "floats have digits on both sides of the dot and no suffix",
    "unsigned literal": "a number that meets an unsigned one has a u",
    "paste": "no # and ## of the preprocessor in macros",
    "loop variable": "loops of one scope, and loops in loops, have variables of different names",
    "recursion": "no function calls itself",
    "switch": "no switch, goto, do: compilers of old drivers miscompile them",
    "private array": "no array of a thread with more than 16 float4",
    "function": "no function that is missing or means something else in one of the languages",
}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S))


def joined_lines(text):
    """(number of the first line, text) of every line, continued ones as one."""
    lines, number, part = [], 1, ""
    for at, line in enumerate(text.split("\n"), 1):
        part += line
        if line.endswith("\\"):
            part = part[:-1]
            continue
        lines.append((number, part))
        number, part = at + 1, ""
    return lines


class File:
    def __init__(self, path):
        self.name, self.raw = path.name, path.read_text()
        self.text = without_comments(self.raw)
        self.lines = joined_lines(self.text)
        self.raw_lines = self.raw.split("\n")
        # Code with directives blanked, for what reads whole functions.
        self.code = "\n".join("" if line.lstrip().startswith("#") else line for line in self.text.split("\n"))

    def line_of(self, position):
        return self.code.count("\n", 0, position) + 1


def words(f):
    """Reserved words, types, waves, atomics, switch: by name."""
    named = (("narrow or wide type", NARROW), ("wave operation", WAVE), ("atomic operation", ATOMIC), ("switch", re.compile(r"(switch|goto|do|case)")))
    for number, line in f.lines:
        if re.match(r"\s*#\s*include", line):
            continue
        for word in re.findall(r"[A-Za-z_]\w*", line):
            if word in RESERVED or "__" in word or word.startswith("gl_"):
                yield "reserved word", number, word
            for rule, pattern in named:
                if pattern.fullmatch(word):
                    yield rule, number, word


def languages(f):
    for number, line in f.lines:
        if match := re.search(r"#\s*(version|extension|pragma)\b|\[\[|#\s*(?:el)?if.*\bNSK_(?:GLSL|ESSL|HLSL|CPP)\w*", line):
            yield "language", number, match.group(0)
        if re.match(r"\s*#\s*define\b", line) and (match := re.search(r"#", re.sub(r"^\s*#", "", line))):
            yield "paste", number, line.strip()[:60]


def constants(f):
    for name, number, body in [(m.group(1), n, m.group(2)) for n, line in f.lines if (m := re.match(r"\s*#\s*define\s+NSK_(\w+)_CONSTANTS\s*(.*)", line))]:
        members = [member.strip() for member in body.split(";") if member.strip()]
        for member in members:
            if not re.fullmatch(r"(uint|int|float)\s+[A-Za-z_]\w*", member):
                yield "constants", number, f"{name}: {member}"
        if len(members) > MAX_CONSTANTS:
            yield "constants", number, f"{name}: {len(members)} members"


def is_explained(f, number):
    """Whether a comment stands on the line or above the function or statement that it belongs to."""
    return "//" in f.raw_lines[number - 1] or (number > 1 and "//" in f.raw_lines[number - 2])


def explained_functions(f):
    """Lines of functions below a comment: their numbers are coefficients that it names."""
    found = set()
    for name, begin, end in functions(f):
        first = f.line_of(begin)
        head = f.code.rfind("\n", 0, f.code.rfind(name, 0, begin)) + 1
        if is_explained(f, f.line_of(head)):
            found |= set(range(first, f.line_of(end) + 1)) if name != "KERNEL" else set()
    return found


def numbers(f):
    explained = explained_functions(f)
    integer, real = re.compile(r"(?<![\w.])(\d+)(u?)(?![\w.])"), re.compile(r"(?<![\w.])(\d*\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)([fFhHlL]*)(?![\w.])")
    for number, line in f.lines:
        if re.match(r"\s*#\s*(define|include)", line):
            continue
        free = number in explained or is_explained(f, number)
        bare = re.sub(rf"\b(?:{'|'.join(PERMUTATION)})\s*(?:==|!=|<=|>=|<|>)\s*\d+u", "", line)
        for match in integer.finditer(bare):
            if not free and int(match.group(1)) not in EVERYDAY:
                yield "unnamed number", number, match.group(0)
        for match in real.finditer(line):
            digits, suffix = match.groups()
            if suffix or not re.fullmatch(r"\d+\.\d+(e[+-]?\d+)?", digits):
                yield "float literal", number, match.group(0)
            elif not free and float(digits) not in (0.0, 0.25, 0.5, 1.0, 2.0, 255.0):
                yield "unnamed number", number, match.group(0)


def unsigned(f, of_constants):
    """A literal without u in an operation with something unsigned: ESSL has no conversion, HLSL converts silently."""
    names = set(re.findall(r"\buint\s+(\w+)", f.code)) | {m for more in re.findall(r"\buint\s+\w+\s*=[^;(]*;", f.code) for m in re.findall(r",\s*(\w+)\s*=", more)}
    known = "|".join([r"\d+u", *PERMUTATION, r"(?:GROUP|LOCAL)\.[xyz]", *(rf"pc\.{c}" for c in sorted(of_constants)), *sorted(rf"(?<!\.){n}" for n in names - {"i"})])
    operator = r"(?:[-+*/%&|^<>]|<=|>=|==|!=)"
    for number, line in f.lines:
        for pattern in (rf"(?<![\w.])(?:{known})\s*{operator}\s*(\d+)(?![\w.])", rf"(?<![\w.])(\d+)\s*{operator}\s*(?:{known})\b"):
            for match in re.finditer(pattern, line):
                yield "unsigned literal", number, match.group(0)


def loops(f):
    """Names of loop variables by scope."""
    scopes, number = [set()], 1
    for token in re.finditer(rf"\n|[{{}}]|\bfor\s*\(\s*{TYPE}\s+(\w+)", f.code):
        if token.group(0) == "\n":
            number += 1
        elif token.group(0) == "{":
            scopes.append(set())
        elif token.group(0) == "}":
            scopes.pop()
        else:
            if any(token.group(1) in scope for scope in scopes):
                yield "loop variable", number, token.group(1)
            scopes[-1].add(token.group(1))


def functions(f):
    """(name, begin, end) of every body; KERNEL is one."""
    for match in re.finditer(rf"(?:\b(?:{TYPE}|void)\s+(\w+)\s*\([^(){{}};]*\)|\b(KERNEL))\s*\{{", f.code):
        depth, at = 1, match.end()
        while depth and at < len(f.code):
            depth += {"{": 1, "}": -1}.get(f.code[at], 0)
            at += 1
        yield match.group(1) or match.group(2), match.end(), at


def calls(f):
    """Function -> the functions that it calls."""
    return {name: set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", f.code[begin:end])) for name, begin, end in functions(f)}


def recursion(files):
    graph = {}
    for f in files:
        for name, called in calls(f).items():
            graph.setdefault(name, set()).update(called)
    for f in files:
        for name, begin, _ in functions(f):
            reached, todo = set(), list(graph[name])
            while todo:
                other = todo.pop()
                if other not in reached:
                    reached.add(other)
                    todo += graph.get(other, ())
            if name in reached:
                yield f, ("recursion", f.line_of(begin), name)


def unknown_functions(f, defined):
    for number, line in f.lines:
        if re.match(r"\s*#", line):
            continue
        for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", line):
            if name not in defined and name not in SHARED_FUNCTIONS and name not in STATEMENTS:
                yield "function", number, name


def private_arrays(f):
    for match in re.finditer(r"(GROUP_SHARED\s+)?\b(float|u?int|bool)([234]?)\s+(\w+)\s*\[([^\]]*)\]\s*[;=]", f.code):
        length = match.group(5).replace("PIXELS", str(MAX_PIXELS)).replace("u", "")
        if not match.group(1) and re.fullmatch(r"[\d\s*+]+", length) and eval(length) * int(match.group(3) or 1) > MAX_PRIVATE_FLOATS:
            yield "private array", f.line_of(match.start()), match.group(0)


def violations_of(folder):
    """(rule, file, line, what) of everything in a folder that breaks a rule."""
    files = [File(path) for path in sorted(pathlib.Path(folder).iterdir()) if path.suffix in (".h", ".comp")]
    portable = [f for f in files if f.name == PORTABLE]
    others = [f for f in files if f.name != PORTABLE]
    defined = {"KERNEL"} | {name for f in files for name in re.findall(r"#\s*define\s+(\w+)\(", f.text)} | {name for f in others for name in calls(f)}
    of_constants = {name for f in others for name in re.findall(r"\buint (\w+);", f.text) if f.name == CONSTANTS_FILE}
    of_constants -= {name for f in others if f.name == CONSTANTS_FILE for name in re.findall(r"\b(?:int|float) (\w+);", f.text)}
    found = []
    for f in others:
        for check in (words(f), languages(f), constants(f), numbers(f), unsigned(f, of_constants), loops(f), unknown_functions(f, defined), private_arrays(f)):
            found += [(rule, f.name, line, what) for rule, line, what in check]
    found += [(rule, f.name, line, what) for f, (rule, line, what) in recursion(others)]
    if not portable:
        found.append(("language", PORTABLE, 1, "the file is missing"))
    return found


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "shaders"
    found = violations_of(folder)
    for rule, name, line, what in found:
        print(f"{folder / name}:{line}: {rule}: {what} ({RULES[rule]})")
    print(f"{folder}: {len(found)} violation(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
