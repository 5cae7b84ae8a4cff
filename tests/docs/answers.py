#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A new user finds ten answers from README.md by at most three links each, and every page of docs/ by as many.

An answer is a text that must be on a page, or a heading of it. Prints the way to each.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLICKS = 3
ANSWERS = {
    "How much memory does a network need?": "is exact: one byte less is refused",
    "How does it run on my job system?": "`jobs.parallel_for(count, f)`",
    "How do I keep it within a frame?": "It computes at least one tile",
    "Which exporter and which opset do I take?": "## Which exporter",
    "What does too_little_memory mean, and what helps?": "| `too_little_memory` |",
    "Is my operator supported?": "| Conv |",
    "How do I make int8, and is it still right?": "## Is it still right?",
    "How fast is it beside MNN and ncnn?": "## Beside MNN and ncnn",
    "What if a file is damaged or hostile?": "## What `open` guarantees",
    "What must a private console have?": "## What the platform must have",
}


def read(page):
    return re.sub(r"<!--.*?-->", "", page.read_text(), flags=re.DOTALL)


def linked(page, text):
    """Pages of this repository that a page links to."""
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", text):
        other = (page.parent / target).resolve()
        if "://" not in target and other.exists():
            yield other


def ways(start, text):
    """The shortest way to every page within CLICKS links of `start`, which says `text`."""
    found, edge = {start: [start]}, [start]
    for _ in range(CLICKS):
        following = []
        for page in edge:
            for other in linked(page, text if page == start else read(page)):
                if other not in found:
                    found[other] = [*found[page], other]
                    following.append(other)
        edge = following
    return found


def look(readme):
    """(ways to the answers, failures) for a README.md that says `readme`."""
    found, shown, wrong = ways(ROOT / "README.md", readme), [], []
    for question, answer in ANSWERS.items():
        page = next((page for page in found if answer in read(page)), None)
        if page is None:
            wrong.append(f"{question} {answer!r} is on no page within {CLICKS} links of README.md")
        else:
            shown.append(f"{question} {' > '.join(p.relative_to(ROOT).as_posix() for p in found[page])}")
    wrong += [f"{page.relative_to(ROOT)}: README.md does not lead there within {CLICKS} links"
              for page in sorted((ROOT / "docs").rglob("*.md")) if page not in found]
    return shown, wrong


def main():
    shown, wrong = look(read(ROOT / "README.md"))
    if len(look("# A README without links\n")[1]) < len(ANSWERS):
        wrong.append("a README without links is not reported")
    print("\n".join([*shown, *wrong, f"{len(ANSWERS)} answers: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
