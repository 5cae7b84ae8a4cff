#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Entries of docs/decisions are short, and the index has every page."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER, LIMIT = ROOT / "docs" / "decisions", 60  # words of an entry, its title included


def long_entries(name, text):
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("**") and len(paragraph.split()) > LIMIT:
            yield f"{name}: {len(paragraph.split())} words, at most {LIMIT}: {paragraph[:60]}..."


def entries(text):
    return [paragraph for paragraph in text.split("\n\n") if paragraph.startswith("**")]


def main():
    pages = {page.name: page.read_text() for page in sorted(FOLDER.glob("*.md"))}
    listed = set(re.findall(r"\]\((\w+\.md)\)", pages["README.md"]))
    wrong = [f"docs/decisions/README.md does not list {name}, or it is missing" for name in sorted(listed ^ (set(pages) - {"README.md"}))]
    for name, text in pages.items():
        wrong += long_entries(name, text)
        if name != "README.md" and not entries(text):
            wrong.append(f"{name} has no entry")
    planted = "**A long entry.** " + "word " * (LIMIT - 2)
    if not list(long_entries("planted", planted)) or list(long_entries("planted", planted.removesuffix("word "))):
        wrong.append("a planted entry of one word too many is not told from one that fits")
    print("\n".join(wrong + [f"{sum(len(entries(text)) for text in pages.values())} decisions: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
