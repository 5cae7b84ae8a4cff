# SPDX-License-Identifier: MIT
"""Finds the functions of a C++ file and how many lines each one has, signature and closing brace included."""
import re

from common import without_comments

TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:class|struct|union)\b(?!.*\)\s*(?:const|noexcept|override|\s)*$)", re.DOTALL)


def without_directives(code):
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*", lambda m: "\n" * m.group(0).count("\n"), code, flags=re.MULTILINE)


def kind_of(head, after_body):
    """What an opening brace begins at namespace or class scope: a 'scope', the 'body' of a function, or an 'other' list."""
    if re.match(r"(?:inline\s+)?(?:namespace|extern)\b", head):
        return "scope"
    if TYPE.match(head):
        return "scope"
    if "(" in head or (after_body and (not head or head.startswith(","))):
        return "body"
    return "other"


def functions(text):
    """(first line, last line, signature) of each function at namespace or class scope. Lambdas belong to the function around them."""
    code = without_directives(without_comments(text))
    found, stack, begin = [], [], 0
    for position, character in enumerate(code):
        if character not in "{};":
            continue
        if character == "{":
            head = code[begin:position]
            head = re.sub(r"^(?:\s|public:|private:|protected:|NSK_BEGIN|NSK_END)*", "", head)
            if stack and stack[-1][0] != "scope":
                stack.append(("inner", 0, ""))
            else:
                # The body behind a member that is initialised with braces belongs to the same constructor.
                follows = bool(found) and found[-1][1] == code.count("\n", 0, begin) + 1 and begin > 0 and code[begin - 1] == "}"
                kind = kind_of(head.strip(), follows)
                first = position - len(head)
                stack.append((kind, first, head.strip()))
        elif character == "}" and stack:
            kind, first, head = stack.pop()
            if kind == "body":
                lines = [code.count("\n", 0, at) + 1 for at in (first, position)]
                if found and (not head or head.startswith(",")):
                    lines[0], _, head = found.pop()
                found.append((lines[0], lines[1], " ".join(head.split())))
        begin = position + 1
    return found
