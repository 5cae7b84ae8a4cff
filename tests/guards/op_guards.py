# SPDX-License-Identifier: MIT
"""Guards on the list of operators: what is forgotten for a new one does not compile, and nothing answers for operators that it does not know."""
import pathlib
import re
import shutil

from common import REPOSITORY, STRICT, Skipped, compilers, is_clang, library_flags, run, scratch_folder, without_comments

SWITCH = re.compile(r"\bswitch\s*\([^{}]*\)\s*\{")
OVER_OP = re.compile(r"\bcase\s+(nsk\s*::\s*)?(op|format\s*::\s*Operator)\s*::|\bNSK_OP_LIST\s*\(")


def sources(tree):
    for folder, suffixes in (("include", (".hpp",)), ("tools/nsk", (".hpp", ".cpp", ".inc"))):
        yield from (p for p in sorted((tree.root / folder).rglob("*")) if p.suffix in suffixes and "generated" not in p.parts)


def body_of(code, begin):
    """The text behind an opening brace, up to its own closing one."""
    depth = 1
    for end in range(begin, len(code)):
        depth += (code[end] == "{") - (code[end] == "}")
        if depth == 0:
            return code[begin:end]
    return code[begin:]


def without_inner(body):
    """The text of a switch without the switches inside it."""
    inner = SWITCH.search(body)
    while inner:
        body = body[:inner.start()] + body[inner.end() + len(body_of(body, inner.end())) + 1:]
        inner = SWITCH.search(body)
    return body


def op_switches(tree):
    """No switch over operators has a default: an operator that it does not name must be an error of the compiler."""
    violations = []
    for path in sources(tree):
        code = without_comments(path.read_text())
        for found in SWITCH.finditer(code):
            body = without_inner(body_of(code, found.end()))
            if OVER_OP.search(body) and re.search(r"\bdefault\s*:", body):
                line = code.count("\n", 0, found.start()) + 1
                violations.append(f"{path.relative_to(tree.root).as_posix()}:{line}: a switch over operators has a default")
    return violations


# What is planted: an operator of the schema, then its parameters, then files that say nothing of it.
TABLE = "/// Planted.\ntable Seeded { axis: ubyte; }\n\n/// Append-only. The order gives nsk::op its values.\nunion Operator {\n"
PARAMETERS = """struct seeded_params {
  std::int32_t axis = 0;
  template <class Table>
  static seeded_params of(const Table& t) {
    return {t.axis()};
  }
};

/// The struct of an operator's parameters.
"""
# Files of the operator, with as many of its duties as are known.
ENGINE_FILE = "#pragma once\n#include <netsuke/ops/op_traits.hpp>\nNSK_BEGIN\n{any}template <>\nstruct op_traits<op::seeded> {{\n{duties}}};\nNSK_END\n"
TOOL_FILE = '#pragma once\n#include "ops/op_rules.hpp"\nnamespace nsk::tool {{\n{any}template <>\nstruct op_rules<op::seeded> {{\n{duties}}};\n}}\n'
ANY = "struct seeded_any {\n  template <class T>\n  operator T() const;\n};\n"
WHOLE_ENGINE = "#include <netsuke/all_ops.hpp>\ntemplate class nsk::session<nsk::all_settings>;\n"


def duties(header):
    """The duties that a header's first comment lists, one per line: name, and a definition that satisfies the compiler."""
    found = {}
    for item in re.findall(r"^/// - ((?:`[^`]*`(?:, )?)+)", header.read_text().split("#include")[0], re.MULTILINE):
        for code in re.findall(r"`([^`]*)`", item):
            name = re.search(r"(\w+)(?:<\w+>)?(?:\(|$)", code).group(1)
            if "(" in code:
                found[name] = f"  template <class... T, class... A>\n  static seeded_any {name}(A&&...);\n"
            elif " " in code:
                found[name] = f"  static constexpr {code} = {{}};\n"
            else:
                found[name] = f"  using {name} = seeded_params;\n"
    return found


class planted:
    """A copy of the tree whose schema has one more operator."""

    def __init__(self, tree, folder):
        self.root = pathlib.Path(folder) / "planted"
        for name in ("include", "schema", "tools"):
            origin = tree.root / name if (tree.root / name).exists() else REPOSITORY / name
            shutil.copytree(origin, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        if (tree.root / "tools").exists() and not (tree.root / "tools/regenerate_schema.py").exists():
            shutil.copy(REPOSITORY / "tools/regenerate_schema.py", self.root / "tools")
        self.edit("schema/netsuke.fbs", r"/// Append-only\. The order gives nsk::op its values\.\nunion Operator \{\n", TABLE)
        self.edit("schema/netsuke.fbs", r"(union Operator \{[^}]*?)\n\}", r"\1,\n  Seeded\n}")
        done = run(["python3", self.root / "tools/regenerate_schema.py"])
        if done.returncode:
            raise RuntimeError(f"the schema with one more operator is not accepted: {done.stderr}")

    def edit(self, name, pattern, replacement):
        text, count = re.subn(pattern, replacement, (self.root / name).read_text(), count=1)
        if count == 0:
            raise RuntimeError(f"{name}: nothing matches {pattern!r}")
        (self.root / name).write_text(text)

    def said(self, source):
        """All that the compiler says of a source; '' where it compiles."""
        clang = next(c for c in compilers() if is_clang(c))
        flags = [f for f in STRICT if f.startswith("-std")] + ["-w", "-fsyntax-only", "-ferror-limit=0", "-ftemplate-backtrace-limit=1", "-Iinclude", "-Itools/nsk"]
        done = run([clang, *library_flags(clang), *flags, source], cwd=self.root)
        return done.stderr if done.returncode else ""


def missing(said):
    """Members that the compiler did not find."""
    return set(re.findall(r"no (?:member|type|template) named '(\w+)'", said))


def asked(copy, name, text, source, wanted):
    """The duties that the compiler asks for, until it has all: of one expression it names the first that is missing."""
    found, new = set(), True
    while new:
        write(copy, name, text.format(any=ANY, duties="".join(wanted[d] for d in wanted if d in found)))
        new = missing(copy.said(source)) & set(wanted) - found
        found |= new
    return found


def missing_files(said):
    return set(re.findall(r"'([\w/.]+)' file not found", said))


def expect(where, wanted, found):
    return [f"{where}: an operator without {name} compiles" for name in wanted if name not in found]


def engine_duties(tree, copy):
    params = copy.said(write(copy, "seeded.cpp", "#include <netsuke/format/params.hpp>\n"))
    violations = expect("include/netsuke/format/params.hpp", ["seeded_params"], params)
    add_parameters(copy)
    whole = write(copy, "seeded.cpp", WHOLE_ENGINE)
    violations += expect("include/netsuke/ops/", ["netsuke/ops/seeded.hpp"], missing_files(copy.said(whole)))
    wanted = duties(REPOSITORY / "include/netsuke/ops/op_traits.hpp")
    found = asked(copy, "include/netsuke/ops/seeded.hpp", ENGINE_FILE, whole, wanted)
    print(f"  the engine asks a new operator for: {', '.join(name for name in wanted if name in found)}")
    return violations + expect("include/netsuke/ops/op_traits.hpp", wanted, found)


def tool_duties(tree, copy):
    add_parameters(copy)
    engine = duties(REPOSITORY / "include/netsuke/ops/op_traits.hpp")
    write(copy, "include/netsuke/ops/seeded.hpp", ENGINE_FILE.format(any=ANY, duties="".join(engine.values())))
    violations = expect("tools/nsk/ops/", ["ops/seeded.hpp"], missing_files(copy.said("tools/nsk/ops/every_op.cpp")))
    wanted = duties(REPOSITORY / "tools/nsk/ops/op_rules.hpp")
    found = asked(copy, "tools/nsk/ops/seeded.hpp", TOOL_FILE, "tools/nsk/ops/every_op.cpp", wanted)
    written = copy.said("tools/nsk/write/params.cpp")
    print(f"  the converter asks a new operator for: {', '.join(name for name in wanted if name in found)}" + (", write" if "seeded_params" in written else ""))
    violations += expect("tools/nsk/ops/op_rules.hpp", wanted, found)
    return violations + expect("tools/nsk/write/params.cpp", ["seeded_params"], written)


def write(copy, name, text):
    (copy.root / name).write_text(text)
    return name


def add_parameters(copy):
    if "seeded_params" not in (copy.root / "include/netsuke/format/params.hpp").read_text():
        copy.edit("include/netsuke/format/params.hpp", r"/// The struct of an operator's parameters\.\n", PARAMETERS)


def op_duties(tree):
    """A new operator of the schema compiles nowhere until everything that is owed is there. The list of duties is that of the headers' comments."""
    if not shutil.which("flatc"):
        raise Skipped("there is no flatc: the schema cannot be regenerated with one more operator")
    if not any(is_clang(c) for c in compilers()):
        raise Skipped("there is no clang++, which tells everything that is missing at once")
    violations = []
    # A violation in the converter leaves the engine alone, and the other way round.
    seeded_tool = tree.root != REPOSITORY and (tree.root / "tools").exists()
    parts = [engine_duties, tool_duties] if tree.root == REPOSITORY else [tool_duties] if seeded_tool else [engine_duties]
    for part in parts:
        with scratch_folder() as folder:
            violations += part(tree, planted(tree, folder))
    return violations


def plant_tool(name, pattern, replacement):
    """Changes a file of the converter."""
    def plant(tree):
        shutil.copytree(REPOSITORY / "tools", tree.root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        path = tree.root / "tools/nsk" / name
        text, count = re.subn(pattern, replacement, path.read_text())
        if count == 0:
            raise RuntimeError(f"seed: nothing in {name} matches {pattern!r}")
        path.write_text(text)
    return plant


def plant_switch(text):
    return lambda tree: tree.plant("seeded.hpp", text)


GUARDS = {
    "op_switches": (op_switches, [
        ("a default behind operators", plant_switch("inline int f(nsk::op o) {\n  switch (o) {\n    case op::copy: return 1;\n    default: return 0;\n  }\n}\n")),
        ("a default behind the list", plant_switch("inline int f(nsk::op o) {\n  switch (o) {\n    NSK_OP_LIST(NSK_CASE)\n    default: return 0;\n  }\n}\n")),
        ("a default inside another switch", plant_switch(
            "inline int f(int i, nsk::op o) {\n  switch (i) {\n    case 1:\n      switch (o) {\n        case nsk::op::copy: return 1;\n        default: break;\n      }\n  }\n  return 0;\n}\n")),
        ("a default in the converter", plant_tool("write/params.cpp", r"case op::none: break;", "default: break;")),
    ]),
    "op_duties": (op_duties, [
        ("taps that nothing needs to state", lambda t: t.replace(
            "ops/every_op.hpp", r"case op::name: return op_traits<op::name>::taps\(s, s.params<op::name>\(\)\);", "case op::name: return 1;")),
        ("parameters that need not be written", plant_tool(
            "write/params.cpp", r"if constexpr \(std::is_empty_v<Params>\)", "if constexpr (true)")),
    ]),
}
