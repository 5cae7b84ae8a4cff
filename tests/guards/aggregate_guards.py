# SPDX-License-Identifier: MIT
"""A guard on aggregates: a struct of more than six fields is set by name, field by field or in a function that does so."""
import re

from common import without_comments
from function_lengths import functions

MAXIMUM = 6
PLACES = ("include/netsuke", "tools/nsk")
STRUCT = re.compile(r"\bstruct\s+(\w+)(?:\s*<[^;{}]*>)?\s*(?:final\s*)?(?::[^{;]*)?\{")


def closing(text, opening):
    """The offset of the brace that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


def pieces(text):
    """What is between the commas of a list, those inside of other brackets left out."""
    depth, found, begin = 0, [], 0
    for i, c in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, "<": 0, ")": -1, "]": -1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            found.append(text[begin:i])
            begin = i + 1
    return [*found, text[begin:]] if text.strip() else []


def fields(body):
    """The number of data members of a struct's body; 0 where it has a constructor or hidden members, and is no aggregate."""
    flat, depth = "", 0
    for c in body:
        depth += c == "{"
        if depth == 0:
            flat += c
        elif c == "}" and depth == 1:
            flat += ";"
        depth -= c == "}"
    if re.search(r"\b(private|protected|virtual|explicit)\b", flat):
        return 0
    count = 0
    for member in flat.split(";"):
        member = re.sub(r"=[^,]*", "", member.strip())
        if member and "(" not in member and not re.match(r"(using|static|friend|template|enum|struct|class|typedef)\b", member):
            count += len(pieces(re.sub(r"<[^<>]*>", "", member)))
    return count


def sources(tree):
    for place in PLACES:
        for path in sorted((tree.root / place).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".inc") and "generated" not in path.parts:
                yield path, without_comments(path.read_text())


def aggregates(tree):
    """No list in braces sets more than six fields of a struct by their positions."""
    texts, large, violations = list(sources(tree)), set(), []
    for _, text in texts:
        for found in STRUCT.finditer(text):
            opening = found.end() - 1
            if fields(text[opening + 1:closing(text, opening)]) > MAXIMUM:
                large.add(found.group(1))
    if not large:
        return []
    named = re.compile(r"\b(" + "|".join(sorted(large)) + r")(?:<[^;{}()]*>)?(?:\s+\w+)?\s*\{")
    for path, text in texts:
        name = path.relative_to(tree.root).as_posix()
        starts = [(m.end() - 1, m.group(1)) for m in named.finditer(text) if not re.search(r"\bstruct\s*$", text[:m.start()])]
        lines = text.splitlines(keepends=True)
        for first, last, signature in functions(text):
            signature = re.sub(r"^template\s*<[^()]*?>\s*(?=[\w\[])", "", signature)
            result = re.match(r"(?:[\w\[\]]+\s+)*?(?:\w+::)*(" + "|".join(sorted(large)) + r")\b(?:<[^()]*>)?\s+[\w:]+\(", signature)
            if result:
                offset = sum(map(len, lines[:first - 1]))
                body = "".join(lines[first - 1:last])
                starts += [(offset + m.end() - 1, result.group(1)) for m in re.finditer(r"\breturn\s*\{", body)]
        for opening, struct in sorted(set(starts)):
            count = len(pieces(text[opening + 1:closing(text, opening)]))
            if count > MAXIMUM:
                violations.append(f"{name}:{text.count(chr(10), 0, opening) + 1}: {count} fields of {struct} are set by their positions; set them by name")
    return violations


SEEDED = "struct seeded_shape {\n  int n, c, h, w;\n  bool padded, strided, dense;\n};\n"
GUARDS = {
    "aggregates": (aggregates, [
        ("a variable of seven fields", lambda t: t.plant("ops/seeded.hpp", SEEDED + "inline seeded_shape seeded{1, 2, 3, 4, true, false, true};\n")),
        ("a result of seven fields", lambda t: t.plant("ops/seeded.hpp", SEEDED + "inline seeded_shape seeded() {\n  return {1, 2, 3, 4, true, false, true};\n}\n")),
    ]),
}
