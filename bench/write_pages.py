#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of docs/measurements/ from bench/results/, and adds tables there.

  bench/write_pages.py [--check]          --check writes nothing and exits with 1 where a page is not what the results say

A page has `<!-- table: MACHINE NAME -->` and `<!-- end -->`; what is between them is written from bench/results/MACHINE.json, which says in
"machine" what was measured on, and for each of "tables" its command, commit, date, compiler, the versions of peers, columns and rows of texts.
Benches add a table by add_table. A table that no page has is an error, as it would be forgotten.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS, PAGES = pathlib.Path("bench/results"), pathlib.Path("docs/measurements")
MARKED = re.compile(r"(<!-- table: (\w+) (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FIELDS = ("command", "commit", "date", "compiler", "versions", "columns", "rows")
TEXT = re.compile(r"[A-Za-z]{3}")


def save(path, found):
    """A row of a table is a line of the file."""
    tables = []
    for name, table in sorted(found["tables"].items()):
        fields = [f'   "{key}": {json.dumps(table[key], ensure_ascii=False)}' for key in FIELDS[:-1]]
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in table["rows"])
        tables.append(f'  "{name}": {{\n' + ",\n".join(fields) + f',\n   "rows": [\n{rows}\n   ]\n  }}')
    text = f'{{\n "machine": {json.dumps(found["machine"], ensure_ascii=False)},\n "tables": {{\n' + ",\n".join(tables) + "\n }\n}\n"
    path.write_text(text)


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def cell_of(what):
    return str(what).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def add_table(machine, name, columns, rows, versions, command="", folder=ROOT / RESULTS):
    """Adds or replaces a table of a machine's results; commit, date and compiler are those of now. Cells become text."""
    path = folder / f"{machine}.json"
    found = json.loads(path.read_text()) if path.exists() else {"machine": machine, "tables": {}}
    found["tables"][name] = {"command": command or " ".join(["bench/" + pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]), "commit": said("git", "rev-parse", "--short", "HEAD"),
                             "date": datetime.date.today().isoformat(), "compiler": said("c++", "--version"), "versions": versions,
                             "columns": columns, "rows": [[cell_of(cell) for cell in row] for row in rows]}
    save(path, found)


def source_of(found, table):
    """The line below a table: what it was measured on and how to repeat it."""
    parts = [found["machine"], f"commit {table['commit']}", table["date"], table["compiler"], *(f"{name} {version}" for name, version in sorted(table["versions"].items()))]
    return "<sub>" + ", ".join(part for part in parts if part) + (f": `{table['command']}`" if table["command"] else "") + "</sub>"


def text_of(found, table):
    """The table as Markdown: columns of numbers to the right."""
    cells = list(zip(*table["rows"]))
    rule = ["---" if n == 0 or any(TEXT.search(cell) for cell in column) else "---:" for n, column in enumerate(cells)]
    lines = [table["columns"], rule, *table["rows"]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{source_of(found, table)}\n"


def written(root):
    """{page: its text with the tables of now}, and what is wrong."""
    machines = {path.stem: json.loads(path.read_text()) for path in sorted((root / RESULTS).glob("*.json"))}
    left, wrong, pages = {(machine, name) for machine, found in machines.items() for name in found["tables"]}, [], {}

    def replaced(match):
        machine, name = match[2], match[3]
        if name not in machines.get(machine, {"tables": {}})["tables"]:
            wrong.append(f"bench/results/{machine}.json has no table {name}")
            return match[0]
        left.discard((machine, name))
        return match[1] + text_of(machines[machine], machines[machine]["tables"][name]) + match[4]

    for page in sorted((root / PAGES).glob("*.md")):
        pages[page] = MARKED.sub(replaced, page.read_text())
    for machine, found in machines.items():
        for name, table in found["tables"].items():
            if any(len(row) != len(table["columns"]) for row in table["rows"]) or set(table) != set(FIELDS):
                wrong.append(f"bench/results/{machine}.json: {name} has rows of another length than its columns, or other fields than {', '.join(FIELDS)}")
    return pages, wrong + [f"no page of {PAGES} has the table {name} of bench/results/{machine}.json" for machine, name in sorted(left)]


def main(root=ROOT):
    pages, wrong = written(root)
    for page, text in pages.items():
        if sys.argv[1:] != ["--check"]:
            page.write_text(text)
        elif page.read_text() != text:
            wrong.append(f"{page.relative_to(root)} is not what {RESULTS} says: run bench/write_pages.py")
    print("\n".join(wrong + [f"{len(pages)} pages of measurements: {len(wrong)} failures"]), file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
