#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/images/gpu.svg: a frame's command list and the resources that its commands use, from the table in docs/reference/gpu.md.

usage: draw_gpu.py [--check]
--check writes nothing and exits with 1 when the committed image differs.
"""
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE, PAGE = ROOT / "docs/images/gpu.svg", ROOT / "docs/reference/gpu.md"
HEADING = "| recorded by | command | reads | writes |"
LEFT, COLUMN, BOX, COMMANDS = 40, 212, (178, 74), 158  # pixels; COMMANDS: y of the row of commands
RESOURCE = (150, 40)
# Resource: column of its middle, y of its upper side. Those above the commands have a smaller one.
PLACES = {"weights": (2, 62), "low-resolution texture": (0.5, 304), "arena": (2, 304), "sharp texture": (3.5, 304)}
COLOURS = {"game": ("#e3eefa", "#3d77b0"), "session": ("#e5f4e6", "#3f8a48"), "resource": ("#fff3d6", "#b98418")}


def commands():
    """(who, command, resources read, resources written) of each row, in order."""
    lines = PAGE.read_text().splitlines()
    if HEADING not in lines:
        raise SystemExit(f"{PAGE.relative_to(ROOT)}: there is no table with the heading {HEADING}")
    rows = []
    for line in lines[lines.index(HEADING) + 2:]:
        if not line.startswith("|"):
            break
        who, what, reads, writes = (cell.strip() for cell in line.split("|")[1:-1])
        used = [[name.strip() for name in cell.split(",") if name.strip()] for cell in (reads, writes)]
        unknown = [name for name in used[0] + used[1] if name not in PLACES]
        if unknown or who not in COLOURS:
            raise SystemExit(f"{PAGE.relative_to(ROOT)}: no place for {', '.join(unknown) or who}: give it one in PLACES or COLOURS")
        rows.append((who, what, *used))
    return rows


def centre(column):
    return LEFT + column * COLUMN + BOX[0] / 2


def box(column, top, size, kind, text):
    fill, line = COLOURS[kind]
    x, rows = centre(column), textwrap.wrap(text, 22)
    yield f'<rect x="{x - size[0] / 2:g}" y="{top:g}" width="{size[0]}" height="{size[1]}" rx="{0 if kind == "resource" else 5}" fill="{fill}" stroke="{line}"/>'
    for i, row in enumerate(rows):
        yield f'<text x="{x:g}" y="{top + size[1] / 2 + 4 + 15 * (i - (len(rows) - 1) / 2):g}" text-anchor="middle">{row}</text>'


def arrow(column, resource, writes):
    """Between a command and a resource, beside the middle of the command where the resource is beside it."""
    at, top = PLACES[resource]
    x = centre(column) + (0 if at == column else 34 if at > column else -34)
    end = centre(at) + (0 if at == column else -34 if at > column else 34)
    ends = [(x, COMMANDS + BOX[1]), (end, top)] if top > COMMANDS else [(x, COMMANDS), (end, top + RESOURCE[1])]
    if at == column and resource == "arena":  # read and written: two arrows side by side
        ends = [(px + (12 if writes else -12), py) for px, py in ends]
    (x0, y0), (x1, y1) = ends if writes else reversed(ends)
    return f'<path d="M{x0:g} {y0:g} L{x1:g} {y1:g}" stroke="#66757f" stroke-width="1.4" marker-end="url(#head)"/>'


def image():
    rows = commands()
    width, height = 2 * LEFT + (len(rows) - 1) * COLUMN + BOX[0], 400
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             "<!-- SPDX-License-Identifier: MIT. Written by tools/draw_gpu.py: do not edit. -->",
             "<style>text { font-family: Helvetica, Arial, sans-serif; font-size: 13px; fill: #1a2733 }</style>",
             '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">'
             '<path d="M0 0 L8 4 L0 8 z" fill="#66757f"/></marker></defs>', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="30" font-weight="bold" style="font-size: 16px">One command list of the game, in the order of recording</text>',
             f'<rect x="{LEFT - 20}" y="{COMMANDS - 20}" width="{width - 2 * LEFT + 40}" height="{BOX[1] + 40}" rx="8" fill="none" stroke="#c3ccd2"/>']
    for i, (kind, what) in enumerate((("game", "recorded by the game"), ("session", "recorded by nsk::gpu::session"), ("resource", "made by the game"))):
        x = LEFT + (0, 200, 440)[i]
        lines.append(f'<rect x="{x}" y="{height - 30}" width="13" height="13" fill="{COLOURS[kind][0]}" stroke="{COLOURS[kind][1]}"/><text x="{x + 19}" y="{height - 19}">{what}</text>')
    for column, (who, what, reads, writes) in enumerate(rows):
        lines += [arrow(column, name, False) for name in reads] + [arrow(column, name, True) for name in writes]
        lines += box(column, COMMANDS, BOX, who, what)
    for name, (column, top) in PLACES.items():
        lines += box(column, top, RESOURCE, "resource", name)
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    rendered = image()
    if sys.argv[1:] != ["--check"]:
        IMAGE.write_text(rendered)
        return 0
    if not IMAGE.exists() or IMAGE.read_text() != rendered:
        print(f"{IMAGE.relative_to(ROOT)} is not what {PAGE.relative_to(ROOT)} says: run tools/draw_gpu.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
