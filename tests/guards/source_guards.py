# SPDX-License-Identifier: MIT
"""Guards that read the sources: include allow-list, forbidden words, regions, length, licence line."""
import fnmatch
import pathlib
import re
import shutil
import subprocess

from common import REPOSITORY, Skipped, without_comments
from function_lengths import functions

STANDARD = {"cstddef", "cstdint", "cstring", "type_traits", "limits", "utility"}
INTRINSICS = {"immintrin.h", "xmmintrin.h", "smmintrin.h", "avxintrin.h", "avx2intrin.h", "f16cintrin.h", "fmaintrin.h", "arm_neon.h",
              "wasm_simd128.h", "intrin.h"}
INTRINSIC_PLACES = ("netsuke/simd/", "netsuke/core/atomic.hpp")
PROCESSOR, PROCESSOR_PLACE = "sys/auxv.h", "netsuke/simd/isa.hpp"  # what an AArch64 processor can do, on Linux and Android
LONGEST_FILE = 450
LONGEST_FUNCTION = 60
# They stand around other code, as often as it needs them.
WITHOUT_GUARD = ("begin.hpp", "end.hpp", "hide_macros.hpp", "restore_macros.hpp")

FORBIDDEN = {
    r"\bvirtual\b": "dynamic dispatch",
    r"\bstd\s*::\s*function\b": "dynamic dispatch",
    r"\bnew\b": "allocation",
    r"(?<!=)(?<!= )\bdelete\b": "allocation",
    r"\b(malloc|calloc|realloc|free|aligned_alloc|alloca)\s*\(": "allocation",
    r"\b(unique_ptr|shared_ptr|make_unique|make_shared)\b": "allocation",
    r"\b(throw|try|catch)\b": "exceptions",
    r"\b(dynamic_cast|typeid)\b": "run-time type information",
    r"\b(thread_local|std\s*::\s*(thread|mutex|atomic|async))\b": "threads",
    r"\b(sleep|usleep|nanosleep)\s*\(": "sleeping",
    r"\b(std\s*::\s*|::\s*)?(expf|sinf|cosf|logf|powf|tanhf|fmaf|sqrtf|floorf)\s*\(": "libm",
    r"\bstd\s*::\s*(exp|sin|cos|log|pow|tanh|fma|sqrt|floor|ceil|round)\s*\(": "libm",
    r"\b_mm\w*_(rsqrt|rcp)\w*|\bv(rsqrte|recpe)q?_f32\b": "an estimate whose bits differ between makers",
    r"(?<!return)(?<!return )[\w>&*]\s*\(\s*[*&]\s*(?!this\b)(const\s+)?\w*\s*\)\s*\(": "function pointer",
}


def includes(tree):
    """Only the allowed standard headers, intrinsics in simd/ and the one atomic, FlatBuffers in format/."""
    violations = []
    for header in tree.headers():
        name = tree.name(header)
        for number, line in enumerate(header.read_text().splitlines(), 1):
            match = re.match(r"\s*#\s*include\s*(\S+)", line)
            if not match:
                continue
            target = match.group(1)
            allowed = target == "NSK_USER_CONFIG"
            if target.startswith("<") and target.endswith(">"):
                wanted = target[1:-1]
                allowed = (wanted in STANDARD
                           or (wanted.startswith("netsuke/") and (tree.include / wanted).exists())
                           or (wanted in INTRINSICS and name.startswith(INTRINSIC_PLACES)) or (wanted == PROCESSOR and name == PROCESSOR_PLACE)
                           or (wanted.startswith("flatbuffers/") and name.startswith("netsuke/format/")))
            if not allowed:
                violations.append(f"{name}:{number}: includes {target}")
    return violations


def words(tree):
    """No dispatch, allocation, exceptions, RTTI, threads, libm or estimates in include/."""
    violations = []
    for header in tree.headers():
        for number, line in enumerate(without_comments(header.read_text()).splitlines(), 1):
            if line.lstrip().startswith("#"):
                continue
            for pattern, reason in FORBIDDEN.items():
                match = re.search(pattern, line)
                if match:
                    violations.append(f"{tree.name(header)}:{number}: '{match.group(0).strip()}' ({reason})")
    return violations


def regions(tree):
    """Target and float pragmas only in simd/begin.hpp and end.hpp; regions pair up and include nothing."""
    violations = []
    pragma = re.compile(r"#\s*pragma\s+(GCC\s+(target|optimize|push_options|pop_options)|clang\s+(fp|attribute)|float_control|fp_contract|STDC)")
    for header in tree.headers():
        name, is_open = tree.name(header), False
        if name in ("netsuke/simd/begin.hpp", "netsuke/simd/end.hpp"):
            continue
        for number, line in enumerate(header.read_text().splitlines(), 1):
            if pragma.match(line.strip()):
                violations.append(f"{name}:{number}: {line.strip()} outside simd/begin.hpp and end.hpp")
            include = re.match(r"\s*#\s*include\s*<(\S+)>", line)
            if include and include.group(1) == "netsuke/simd/begin.hpp":
                is_open = True
            elif include and include.group(1) == "netsuke/simd/end.hpp":
                is_open = False
            elif include and is_open:
                violations.append(f"{name}:{number}: includes {include.group(1)} inside a region")
        if is_open:
            violations.append(f"{name}: the region is not closed")
    return violations


def house_files(tree):
    patterns = [("include", "*.hpp"), ("include", "*.h"), ("tools", "*.hpp"), ("tools", "*.cpp"), ("tests", "*.hpp"), ("tests", "*.cpp"), ("tests", "*.c"), ("tests", "*.h"), ("tests", "*.cs"), ("tests", "*.py"),
                ("tests", "*.sh"), ("bench", "*.cpp"), ("bench", "*.hpp"), ("bench", "*.py"), ("bench", "*.sh"), ("examples", "*.cpp"), ("examples", "*.hpp"),
                ("examples", "*.c"), ("examples", "*.py"), ("examples", "*.sh"), ("tools", "*.py"), ("tools", "*.sh"), ("schema", "*.fbs"), ("bindings", "*.cpp"), ("bindings", "*.h"), ("bindings", "*.cs"), ("bindings", "*.py")]
    for folder, pattern in patterns:
        yield from sorted((tree.root / folder).rglob(pattern))


def is_generated(path):
    """Whether a script of the repository wrote the file."""
    return "Generated by" in path.read_text(errors="replace")[:600]


def generated(tree):
    """.gitattributes marks every generated file, so that reviews show what people wrote."""
    rows = [line.split() for line in (REPOSITORY / ".gitattributes").read_text().splitlines() if line and not line.startswith("#")]
    marked = [pattern for pattern, *attributes in rows if {"linguist-generated", "-diff"} <= set(attributes)]
    names = [path.relative_to(tree.root).as_posix() for path in house_files(tree) if path.suffix == ".hpp" and is_generated(path)]
    return [f"{name}: generated, but .gitattributes does not mark it" for name in names if not any(fnmatch.fnmatch(name, p) for p in marked)]


def length(tree):
    """No file that people write is longer than LONGEST_FILE lines."""
    violations = []
    for path in house_files(tree):
        lines = path.read_text(errors="replace").count("\n")
        if lines > LONGEST_FILE and not is_generated(path):
            violations.append(f"{path.relative_to(tree.root)}: {lines} lines, at most {LONGEST_FILE}")
    return violations


def function_length(tree):
    """No function in include/ outgrows a screen."""
    violations = []
    for header in tree.headers():
        text = header.read_text()
        for first, last, signature in functions(text) if "Generated by" not in text[:600] else []:
            if last - first + 1 > LONGEST_FUNCTION:
                violations.append(f"{tree.name(header)}:{first}: {last - first + 1} lines, at most {LONGEST_FUNCTION}: {signature[:80]}")
    return violations


def licence(tree):
    """Every file names its licence in the first two lines, every header has #pragma once (what stands around code excepted)."""
    violations = []
    for path in house_files(tree):
        lines = path.read_text(errors="replace").splitlines()
        if not any("SPDX-License-Identifier: MIT" in line for line in lines[:2]):
            violations.append(f"{path.relative_to(tree.root)}: no SPDX-License-Identifier in its first two lines")
        if path.suffix == ".hpp" and path.name not in WITHOUT_GUARD and not any(l.startswith("#pragma once") for l in lines[:40]):
            violations.append(f"{path.relative_to(tree.root)}: no #pragma once")
    return violations


def formatter():
    """clang-format 14: other versions lay out differently."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    return None


def layout(tree):
    """.clang-format decides layout."""
    program = formatter()
    if program is None:
        raise Skipped("there is no clang-format 14; tools/install_dependencies.sh installs it where it can")
    files = [p for p in house_files(tree) if p.suffix in (".hpp", ".cpp", ".h", ".c") and not is_generated(p)]
    said = subprocess.run([program, f"--style=file:{REPOSITORY / '.clang-format'}", "--dry-run", "-Werror", *files], capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(.*?):\d+:\d+: error: code should be clang-formatted", said.stderr, re.MULTILINE)))
    if not wrong and said.returncode != 0:
        return [f"{program}: {said.stderr[:300]}"]
    return [f"{pathlib.Path(name).relative_to(tree.root)}: not laid out by .clang-format; clang-format-14 -i does it" for name in wrong]


def version(tree):
    """The version is written once: version.hpp's numbers and its text agree."""
    text = (tree.include / "netsuke" / "version.hpp").read_text()
    numbers = re.findall(r"#define NSK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    written = re.search(r'#define NSK_VERSION_STRING "([^"]+)"', text)
    if written and ".".join(numbers) == written.group(1):
        return []
    return [f"version.hpp: numbers {numbers}, text {written.group(1) if written else None}"]


def shown_programs(tree):
    """(where, text) of the C++ that users copy: blocks of the documents, and the examples."""
    for document in [tree.root / "README.md", *sorted((tree.root / "docs").rglob("*.md"))]:
        blocks = re.findall(r"^```cpp\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL) if document.exists() else []
        yield from ((f"{document.name}, block {i}", block) for i, block in enumerate(blocks, 1))
    for path in sorted((tree.root / "examples").rglob("*")):
        if path.suffix in (".cpp", ".hpp", ".inc"):
            yield path.relative_to(tree.root).as_posix(), path.read_text()


def asked(tree):
    """Where a session is made in what users copy, it is asked whether it can run, as the model is whether it opened."""
    violations = []
    for where, text in shown_programs(tree):
        for made in re.finditer(r"\bnsk::session<[^;()]*> (\w+)\(|\b(\w+) = nsk::session<[^;()]*>\(", text):
            name = made.group(1) or made.group(2)
            if not re.search(rf"!{name}\b|\b{name}\.status\(\)", text[made.end():]):
                violations.append(f"{where}: the session '{name}' is not asked whether it can run")
        for line in re.findall(r"^.*\bnsk::open\(.*$", text, re.MULTILINE):
            if not re.search(r"\bif \(|\bmust\(|\bs(tatus)? = ", line):
                violations.append(f"{where}: what open returns is ignored: {line.strip()}")
    return violations


def plant_example(text):
    def plant(tree):
        (tree.root / "examples").mkdir(exist_ok=True)
        (tree.root / "examples" / "seeded.cpp").write_text(text)
    return plant


def long_function(before, after=""):
    return f"{before} {{\n" + "  static_cast<void>(0);\n" * (LONGEST_FUNCTION - 1) + f"}}{after}\n"


def word_seed(line):
    return (line, lambda tree: tree.plant("seeded.hpp", line + "\n"))


def contract(tree):
    """FlatBuffers ends in include/netsuke/format/ and in the converter's writer: nothing else names it, or a table of the format."""
    violations = []
    places = [(tree.include / "netsuke", ("format",)), (tree.root / "tools" / "nsk", ("write", "import/tflite"))]
    for base, own in places:
        for path in sorted(base.rglob("*")):
            name = path.relative_to(base).as_posix()
            if path.suffix not in (".hpp", ".cpp", ".inc") or name.startswith(tuple(f"{folder}/" for folder in own)):
                continue
            for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
                if re.search(r"\bflatbuffers\s*::|(?<![\w])format\s*::\s*[A-Z]|[<\"]flatbuffers/", line):
                    violations.append(f"{path.relative_to(tree.root)}:{number}: {line.strip()}")
    return violations


GUARDS = {
    "contract": (contract, [
        ("a table of the format in an operator file", lambda t: t.plant("ops/seeded.hpp", "int seeded(const format::Step* s);\n")),
        ("FlatBuffers in the verifier", lambda t: t.plant("model/seeded.hpp", "int seeded(flatbuffers::uoffset_t s);\n")),
    ]),
    "includes": (includes, [
        ("a standard header outside the list", lambda t: t.plant("core/seeded.hpp", "#include <vector>\n")),
        ("FlatBuffers outside format/", lambda t: t.plant("model/seeded.hpp", "#include <flatbuffers/flatbuffers.h>\n")),
        ("intrinsics outside simd/", lambda t: t.plant("kernels/seeded.hpp", "#include <immintrin.h>\n")),
        ("the header that tells what a processor can do elsewhere", lambda t: t.plant("simd/seeded.hpp", "#include <sys/auxv.h>\n")),
        ("a header that does not exist", lambda t: t.plant("kernels/seeded.hpp", "#include <netsuke/core/no_such.hpp>\n")),
        ("a quoted include", lambda t: t.plant("kernels/seeded.hpp", '#include "args.hpp"\n')),
    ]),
    "words": (words, [word_seed(line) for line in (
        "struct a { virtual void f(); };", "std::function<void()> f;", "inline int* f() { return new int; }",
        "inline void f(int* p) { delete p; }", "inline void* f() { return malloc(4); }", "inline void f() { throw 1; }",
        "inline auto f(b* p) { return dynamic_cast<a*>(p); }", "inline auto f(int p) { return typeid(p).name(); }",
        "using table = void (*)(int);", "struct a { int (*f)(float); };", "inline float f(float x) { return std::exp(x); }",
        "inline float f(float x, float y, float z) { return fmaf(x, y, z); }", "inline auto f(__m256 x) { return _mm256_rsqrt_ps(x); }",
        "inline thread_local int lane;")]),
    "regions": (regions, [
        ("a target pragma elsewhere", lambda t: t.plant("kernels/seeded.hpp", '#pragma GCC target("avx2")\n')),
        ("an include inside a region", lambda t: t.plant(
            "kernels/seeded.hpp", "#include <netsuke/simd/begin.hpp>\n#include <cstring>\n#include <netsuke/simd/end.hpp>\n")),
        ("a region left open", lambda t: t.plant("kernels/seeded.hpp", "#include <netsuke/simd/begin.hpp>\n")),
    ]),
    "length": (length, [("451 lines", lambda t: t.plant("seeded.hpp", "\n" * (LONGEST_FILE + 1)))]),
    "generated": (generated, [
        ("a generated file that is not marked", lambda t: t.plant("seeded.hpp", "/// Generated by tools/seeded.py: do not edit.\n"))]),
    "function_length": (function_length, [
        ("a function of 61 lines", lambda t: t.plant("seeded.hpp", long_function("inline void f(int)"))),
        ("a member function", lambda t: t.plant("seeded.hpp", long_function("template <class T>\nstruct a {\n  auto f(T) const -> int", "\n};"))),
        ("a constructor", lambda t: t.plant("seeded.hpp", long_function("struct a {\n  int m, n;\n  a() : m{1}, n{2}", "\n};"))),
        ("a function behind a type and a list", lambda t: t.plant(
            "seeded.hpp", "enum class e { x, y };\nconstexpr int list[] = {1, 2};\n" + long_function("NSK_INLINE void f(e (&)[2])"))),
    ]),
    "licence": (licence, [
        ("no licence line", lambda t: (t.include / "netsuke" / "seeded.hpp").write_text("#pragma once\n")),
        ("no #pragma once", lambda t: (t.include / "netsuke" / "seeded.hpp").write_text("// SPDX-License-Identifier: MIT\n")),
    ]),
    "layout": (layout, [("a line out of place", lambda t: t.plant("seeded.hpp", "inline int  f( ) {return 1 ;}\n"))]),
    "asked": (asked, [
        ("a session that is not asked", plant_example("nsk::session<> net(model, memory);\nnet.run();\n")),
        ("a session of a member that is not asked", plant_example("m_net = nsk::session<my_settings>(model, memory);\n")),
        ("a model that is not asked", plant_example("static_cast<void>(nsk::open(file, model));\n")),
    ]),
    "version": (version, [("a text that disagrees", lambda t: t.replace("version.hpp", r'(NSK_VERSION_STRING) ".*"', r'\1 "9.9.9"'))]),
}
