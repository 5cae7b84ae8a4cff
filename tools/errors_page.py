#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of statuses in docs/reference/errors.md from include/netsuke/core/status_list.h.

usage: errors_page.py [--check]
--check writes nothing and exits with 1 when the page has other tables.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST, PAGE = ROOT / "include/netsuke/core/status_list.h", ROOT / "docs/reference/errors.md"
STATUSES = {"engine": r"X\((?P<code>\w+), (?P<place>\w+),(?P<text>(?:\s*\\?\s*\"[^\"]*\")+)\)",
            "c": r"X\((?P<code>\w+), (?P<number>\d+), (?P<place>\w+),(?P<text>(?:\s*\\?\s*\"[^\"]*\")+)\)"}


def rows(pattern, text):
    """(code, number, place, cause, cure) of each status, in order."""
    for index, found in enumerate(re.finditer(pattern, text)):
        sentence = "".join(re.findall(r'"([^"]*)"', found["text"]))
        cause, _, cure = sentence.partition(": ")
        number = found.groupdict().get("number") or str(index)
        yield found["code"], number, found["place"].replace("_", " ").replace("none", ""), cause, cure


def table(pattern, text):
    lines = ["| status | number | `where()` counts | cause | cure |", "| --- | ---: | --- | --- | --- |"]
    found = list(rows(pattern, text))
    if not found:
        raise SystemExit(f"{LIST.relative_to(ROOT)} has no statuses of the form that this script reads")
    lines += [f"| `{code}` | {number} | {place} | {cause} | {cure} |" for code, number, place, cause, cure in found]
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines)


def page(text):
    """The page with the tables of today."""
    statuses = LIST.read_text()
    for name, pattern in STATUSES.items():
        begin, end = f"<!-- statuses: {name}, written by tools/errors_page.py -->\n", "<!-- end -->"
        if begin not in text:
            raise SystemExit(f"{PAGE.relative_to(ROOT)}: there is no line {begin.strip()}")
        head, rest = text.split(begin, 1)
        text = head + begin + table(pattern, statuses) + "\n" + end + rest.split(end, 1)[1]
    return text


def main(arguments):
    text = PAGE.read_text()
    if arguments == ["--check"]:
        return int(page(text) != text)
    PAGE.write_text(page(text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
