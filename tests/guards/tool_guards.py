# SPDX-License-Identifier: MIT
"""Guards on the sources of the converter."""
import re

from common import without_comments
from function_lengths import without_directives

MAX_MEMBERS = 40
NOT_MEMBERS = r"(class|struct|union|enum|using|typedef|friend|static_assert|template\s*<[^;{]*>\s*(class|struct))\b"


def declarations(body):
    """The statements of a class, without the bodies of its functions and nested classes."""
    depth, statement = 0, ""
    for position, character in enumerate(body):
        depth += (character in "{(") - (character in "})")
        if depth == 0 and character not in "})":
            statement += character
        # The body of a function ends a statement; braces that initialise a member go on to a semicolon or a comma.
        goes_on = re.match(r"\s*[;,={]", body[position + 1:position + 80])
        if depth == 0 and (character == ";" or (character == "}" and not goes_on)):
            yield re.sub(r"\b(public|private|protected)\s*:", "", statement).strip(" \n;")
            statement = ""


def members(statement):
    """How many members a statement of a class declares."""
    if not statement or re.match(NOT_MEMBERS, statement):
        return 0
    names = re.sub(r"<[^;]*>|=[^,]*", "", statement)
    return 1 if "(" in statement else 1 + names.count(",")


def classes(text):
    """(name, number of members) of each class of a C++ file."""
    code = without_directives(without_comments(text))
    for head in re.finditer(r"(?<!enum )\b(?:class|struct)\s+(\w+)(?:\s+final)?(?:\s*:\s*[^;{()]*)?\s*\{", code):
        end, depth = head.end(), 1
        while depth and end < len(code):
            depth += (code[end] == "{") - (code[end] == "}")
            end += 1
        yield head.group(1), sum(map(members, declarations(code[head.end():end - 1])))


def small_classes(tree):
    """No class of the converter has more than MAX_MEMBERS members: what it does can be distinguished, as functions of a small context."""
    violations = []
    for path in sorted((tree.root / "tools" / "nsk").rglob("*")):
        if path.suffix not in (".hpp", ".cpp", ".inc") or "generated" in path.parts:
            continue
        for name, count in classes(path.read_text()):
            if count > MAX_MEMBERS:
                violations.append(f"{path.relative_to(tree.root)}: {name} has {count} members, at most {MAX_MEMBERS}")
    return violations


def plant_class(body):
    def plant(tree):
        folder = tree.root / "tools" / "nsk"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "seeded.hpp").write_text("class seeded {\n public:\n" + body + "};\n")
    return plant


GUARDS = {
    "small_classes": (small_classes, [
        ("functions with a body", plant_class("".join(f"  int f{i}(int x) const {{ return x + {i}; }}\n" for i in range(MAX_MEMBERS + 1)))),
        ("functions and data", plant_class("".join(f"  void f{i}();\n  int a{i} = {{}}, b{i} = 0;\n" for i in range(MAX_MEMBERS // 3 + 1)))),
    ]),
}
