# SPDX-License-Identifier: MIT
"""What debuggers know about our types: every type and member that tools/debug names exists, and gdb shows what it should."""
import pathlib
import re
import shutil
import xml.etree.ElementTree

from common import GUARDS as FOLDER
from common import REPOSITORY, Skipped, compilers, first_lines, library_flags, run, scratch_folder, without_comments

NATVIS, GDB_SCRIPT = REPOSITORY / "tools/debug/netsuke.natvis", REPOSITORY / "tools/debug/netsuke_gdb.py"
ISAS = ("avx2", "avx512", "neon", "scalar")
# Words of natvis expressions that are no members: C++ types, casts and format specifiers.
OTHER_WORDS = {"float", "unsigned", "signed", "short", "char", "int", "long", "bool", "en"}


def namespaces(tree):
    """The inline namespaces that version.hpp makes."""
    numbers = re.findall(r"#define NSK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (tree.include / "netsuke/version.hpp").read_text())
    return [f"v{'_'.join(numbers)}_{isa}" for isa in ISAS]


def declared(tree):
    """The body of every struct and class of include/, by name; those of nsk::gpu share names with others, and have no views."""
    found = {}
    for header in tree.headers():
        if tree.name(header).startswith("netsuke/gpu"):
            continue
        code = without_comments(header.read_text())
        for match in re.finditer(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)\s*(?::[^;{}()]*)?\{", code):
            depth, end = 1, match.end()
            while depth and end < len(code):
                depth += {"{": 1, "}": -1}.get(code[end], 0)
                end += 1
            found.setdefault(match.group(1), code[match.end():end])
    return found


def members(body):
    """Names of the data members in the body of a class."""
    outside, depth = "", 0
    for character in body:
        depth -= character == "}"
        outside += ";" if character == "}" and depth == 0 else character if depth == 0 and character != "{" else ""
        depth += character == "{"
    found = set()
    for statement in outside.split(";"):
        if "(" not in statement:
            found.update(re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=[^,]*)?(?:,|$)", statement.strip()))
    return found


def expressions(element):
    """Everything that the debugger evaluates."""
    for part in element.iter():
        if "Condition" in part.attrib:
            yield part.attrib["Condition"]
        if part.tag.endswith("DisplayString"):
            yield from re.findall(r"\{([^{}]*)\}", part.text or "")
        elif part.tag.endswith(("Item", "Size", "ValuePointer")):
            yield part.text or ""


def member_faults(name, text, classes):
    """Words of a natvis expression that are no members of the type, nor of a member's type behind a dot."""
    for word in re.findall(r"(?<![\w.])([A-Za-z_]\w*)", text):
        if word not in OTHER_WORDS and word not in members(classes[name]):
            yield f"{name} has no member {word} ({text})"
    for word in re.findall(r"\.([A-Za-z_]\w*)", text):
        if not any(word in members(body) for body in classes.values()):
            yield f"no class has a member {word} ({name}: {text})"


def element_faults(element, tree):
    """Items called after an element type that ask for another number than the enumerator's."""
    text = "".join(header.read_text() for header in tree.headers())
    body = re.search(r"enum class dtype[^{]*\{([^}]*)\}", text).group(1)
    enumerators = [name.strip() for name in body.split(",")]
    asked = {}
    for item in element.iter():
        match = re.search(r"\(int\)type == (\d+)", item.attrib.get("Condition", ""))
        if match:
            asked[item.attrib["Name"].rsplit(" ", 1)[-1]] = int(match.group(1))
    if asked and asked != {name: i for i, name in enumerate(enumerators)}:
        yield f"element types are {enumerators}, natvis has {asked}"


def natvis(tree):
    """netsuke.natvis is XML, in the namespaces of this version, and names types and members that exist."""
    try:
        root = xml.etree.ElementTree.parse(NATVIS).getroot()
    except xml.etree.ElementTree.ParseError as error:
        return [f"{NATVIS.name}: {error}"]
    classes, violations = declared(tree), []
    types = [e for e in root if e.tag.endswith("}Type")]
    for element in types:
        names = [element.attrib["Name"], *(e.attrib["Name"] for e in element if e.tag.endswith("AlternativeType"))]
        name = re.sub(r"<.*", "", names[0].rsplit("::", 1)[-1])
        wanted = {f"nsk::{space}::{names[0].rsplit('::', 1)[-1]}" for space in namespaces(tree)}
        if set(names) != wanted:
            violations.append(f"{name}: its names are {names}, not {sorted(wanted)}")
        if name not in classes:
            violations.append(f"there is no class {name}")
            continue
        violations += [f for text in expressions(element) for f in member_faults(name, text, classes)]
        violations += element_faults(element, tree)
    for build_file in ("tools/cmake/NetsukeInstall.cmake", "meson.build"):
        text = (REPOSITORY / build_file).read_text()
        violations += [f"{build_file} does not install {f.name}" for f in (NATVIS, GDB_SCRIPT) if f"tools/debug/{f.name}" not in text]
    return violations if types else ["no type at all"]


# What gdb prints at the breakpoint, command by command.
SHOWN = [
    ("print numbers", "= span of 3 = {1, 2, 3}"),
    ("print nothing", "= span of 0"),
    ("print good", "= ok"),
    ("print bad", "= bad_tile at 7"),
    ("print around", "= top 1, left 2, bottom 3, right 4"),
    ("print image", '= float32 [1, 2, 3] = {data = 0x'),
    ("print image.stride", "{6, 3, 1, "),
    ("print image", 'stride = [6, 3, 1], border = top 1, left 2, bottom 3, right 4, fill = 0, first_line = {0.5, 1.5, 2.5}}'),
    ("print labels", "= int8 [2] = {"),
    ("print closed", "= not open"),
    ("print net", "= cannot run: not_open = {status = not_open, arena = 0x0"),
]


def gdb(tree):
    """gdb with tools/debug/netsuke_gdb.py shows spans, statuses, tensors, models and sessions as what they mean."""
    program = shutil.which("gdb")
    if program is None:
        raise Skipped("gdb is not installed (apt install gdb)")
    if "yes" not in run([program, "-batch", "-nx", "-ex", "python print('yes')"]).stdout:
        raise Skipped("this gdb was built without Python")
    with scratch_folder() as folder:
        built, source = pathlib.Path(folder) / "debugged", FOLDER / "debugged.cpp"
        said = run([compilers()[0], "-std=c++17", "-g", "-O0", "-DNSK_KEEP_USER_OPT", f"-I{tree.include}", *library_flags(compilers()[0]),
                    source, "-o", built])
        if said.returncode != 0:
            return [first_lines(said.stderr)]
        commands = [f"source {GDB_SCRIPT}", "break stop_here", "run", "up", *(command for command, _ in SHOWN)]
        done = run([program, "-batch", "-nx", *(word for c in commands for word in ("-ex", c)), built])
    answers = re.findall(r"^\$\d+ (.*)$", done.stdout, re.MULTILINE)
    if len(answers) != len(SHOWN):
        if "Couldn't get registers" in done.stderr or "Cannot PTRACE" in done.stderr or "ptrace" in done.stderr.lower():
            raise Skipped("gdb may not trace programs here")
        return [f"gdb answered {len(answers)} of {len(SHOWN)} questions: {first_lines(done.stderr)}"]
    return [f"{command}: {answer[:200]}, not '{wanted}'" for (command, wanted), answer in zip(SHOWN, answers) if wanted not in answer]


GUARDS = {
    "natvis": (natvis, [
        ("a member that has another name", lambda t: t.replace("*/span.hpp", r"\bm_size\b", "m_count")),
        ("a member of a member", lambda t: t.replace("*/status.hpp", r"\bm_code\b", "m_number")),
        ("a class that has another name", lambda t: t.replace("*/tensor.hpp", r"\btensor_view\b", "tensor_of_bytes")),
        ("another version", lambda t: t.replace("version.hpp", r"(NSK_VERSION_MINOR) \d+", r"\1 77")),
        ("element types in another order", lambda t: t.replace("*/tensor.hpp", "float32, float16,", "float16, float32,")),
    ]),
    "gdb": (gdb, [
        ("a member that has another name", lambda t: t.replace("*/span.hpp", r"\bm_size\b", "m_count")),
        ("a namespace that is not ours", lambda t: t.replace("version.hpp", r"v##a##_##b##_##c##_##d", "x##a##_##b##_##c##_##d")),
    ]),
}
