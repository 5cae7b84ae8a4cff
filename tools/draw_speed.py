#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/images/speed.svg, how many times as fast as ONNX Runtime networks are, and peers.svg, how long engines take beside netsuke.

usage: draw_speed.py [--check]
Figures are those of bench/results/. --check writes nothing and exits with 1 when a committed image differs.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGES, RESULTS = ROOT / "docs/images", ROOT / "bench/results"
LEFT, TOP, SCALE, BAR = 210, 62, 260, 9  # pixels; SCALE: of a ratio of 1
COLOURS = ("#3d77b0", "#c9822b", "#4f9a63", "#8d5fa8")
LONGEST = 2.6  # a longer bar is cut, its number stays


def columns_of(machine, table, first, *names):
    """(first column, numbers of the named columns) of each row; None where a cell is empty."""
    found = json.loads((RESULTS / f"{machine}.json").read_text())["tables"][table]
    places = [found["columns"].index(name) for name in (first, *names)]
    return [(row[places[0]], *(float(row[n]) if row[n] else None for n in places[1:])) for row in found["rows"]]


def speeds():
    rows = columns_of("zen4", "networks", "model", "ONNX Runtime / AVX2", "ONNX Runtime / AVX-512")
    return sorted(rows, key=lambda row: row[1] + row[2])


def peers():
    """Times of four engines over netsuke's with its faster instruction set."""
    names = ("ONNX Runtime", "OpenVINO", "MNN", "ncnn")
    rows = columns_of("xeon", "phone_engines", "model", "AVX2, ms", "AVX-512, ms", *(f"{name}, ms" for name in names))
    found = [(name, *(time and time / min(avx2, avx512) for time in times)) for name, avx2, avx512, *times in rows]
    return sorted(found, key=lambda row: min(filter(None, row[1:])))


def text(x, y, what, anchor="start", extra=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{extra}>{what}</text>'


def image(title, series, rows):
    row_height = (BAR + 1) * len(series) + 5
    width, bottom = LEFT + int(SCALE * (LONGEST + 0.35)), TOP + row_height * len(rows)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 34}" width="{width}" height="{bottom + 34}">',
             "<!-- SPDX-License-Identifier: MIT. Written by tools/draw_speed.py: do not edit. -->",
             "<style>text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #1a2733 }</style>",
             f'<rect width="{width}" height="{bottom + 34}" fill="#ffffff"/>',
             text(16, 24, title, extra=' font-weight="bold" style="font-size: 15px"')]
    for i, name in enumerate(series):
        lines += [f'<rect x="{LEFT + 120 * i}" y="35" width="12" height="9" fill="{COLOURS[i]}"/>', text(LEFT + 18 + 120 * i, 44, name)]
    for tick in (0, 0.5, 1, 1.5, 2, 2.5):
        x = LEFT + SCALE * tick
        lines.append(f'<line x1="{x:g}" y1="{TOP - 6}" x2="{x:g}" y2="{bottom}" stroke="{"#1a2733" if tick == 1 else "#d5dce1"}"/>')
        lines.append(text(x, bottom + 18, f"{tick:g}", "middle"))
    for i, (name, *values) in enumerate(rows):
        y = TOP + row_height * i
        lines.append(text(LEFT - 10, y + row_height / 2 + 1, name, "end"))
        for k, value in enumerate(values):
            if value is not None:
                length = SCALE * min(value, LONGEST)
                lines.append(f'<rect x="{LEFT}" y="{y + 1 + k * (BAR + 1)}" width="{length:g}" height="{BAR}" fill="{COLOURS[k]}"/>')
                lines.append(text(LEFT + length + 5, y + BAR + k * (BAR + 1), f"{value:.2f}", extra=' style="font-size: 10px"'))
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    rendered = {"speed.svg": image("Speed on one core, as a multiple of ONNX Runtime's", ("AVX2", "AVX-512"), speeds()),
                "peers.svg": image("Time on one core, as a multiple of netsuke's", ("ONNX Runtime", "OpenVINO", "MNN", "ncnn"), peers())}
    stale = [name for name, svg in rendered.items() if not (IMAGES / name).exists() or (IMAGES / name).read_text() != svg]
    if sys.argv[1:] == ["--check"]:
        if stale:
            print(f"{', '.join(stale)}: not what bench/results says: run tools/draw_speed.py", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (IMAGES / name).write_text(rendered[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
