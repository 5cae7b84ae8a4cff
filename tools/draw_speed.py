#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/images/speed.svg: how many times as fast as ONNX Runtime the networks of the table in docs/measurements/speed.md are.

usage: draw_speed.py [--check]
--check writes nothing and exits with 1 when the committed image differs.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE, PAGE = ROOT / "docs/images/speed.svg", ROOT / "docs/measurements/speed.md"
LEFT, TOP, SCALE, ROW, BAR = 210, 62, 260, 25, 9  # pixels; SCALE: of a ratio of 1
SERIES = (("AVX2", "#3d77b0"), ("AVX-512", "#c9822b"))


def ratios():
    """(network, ratio with AVX2, ratio with AVX-512), the slowest first."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    found = [(r[0], float(r[5]), float(r[6])) for r in rows if len(r) == 11 and re.fullmatch(r"[\d.]+", r[5])]
    if len(found) < 10:
        raise SystemExit(f"{PAGE.relative_to(ROOT)}: there is no table of networks with eleven columns")
    return sorted(found, key=lambda row: row[1] + row[2])


def text(x, y, what, anchor="start", extra=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{extra}>{what}</text>'


def image():
    rows = ratios()
    width, bottom = LEFT + int(SCALE * 2.75), TOP + ROW * len(rows)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 34}" width="{width}" height="{bottom + 34}">',
             "<!-- SPDX-License-Identifier: MIT. Written by tools/draw_speed.py: do not edit. -->",
             "<style>text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #1a2733 }</style>",
             f'<rect width="{width}" height="{bottom + 34}" fill="#ffffff"/>',
             text(16, 24, "Speed on one core, as a multiple of ONNX Runtime's", extra=' font-weight="bold" style="font-size: 15px"')]
    for i, (name, colour) in enumerate(SERIES):
        lines += [f'<rect x="{LEFT + 240 + i * 90}" y="35" width="12" height="9" fill="{colour}"/>', text(LEFT + 258 + i * 90, 44, name)]
    for tick in (0, 0.5, 1, 1.5, 2):
        x = LEFT + SCALE * tick
        lines.append(f'<line x1="{x:g}" y1="{TOP - 6}" x2="{x:g}" y2="{bottom}" stroke="{"#1a2733" if tick == 1 else "#d5dce1"}"/>')
        lines.append(text(x, bottom + 18, f"{tick:g}", "middle"))
    for i, (name, *values) in enumerate(rows):
        y = TOP + ROW * i
        lines.append(text(LEFT - 10, y + 14, name, "end"))
        for k, value in enumerate(values):
            lines.append(f'<rect x="{LEFT}" y="{y + 1 + k * (BAR + 1)}" width="{SCALE * value:g}" height="{BAR}" fill="{SERIES[k][1]}"/>')
        lines.append(text(LEFT + SCALE * max(values) + 6, y + 14, f"{values[0]:.2f}, {values[1]:.2f}"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    rendered = image()
    if sys.argv[1:] != ["--check"]:
        IMAGE.write_text(rendered)
        return 0
    if not IMAGE.exists() or IMAGE.read_text() != rendered:
        print(f"{IMAGE.relative_to(ROOT)} is not what {PAGE.relative_to(ROOT)} says: run tools/draw_speed.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
