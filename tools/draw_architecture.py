#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/images/architecture.svg: the folders of the converter and of the engine, and which may include which.

The arrows are the tables that the guard `arrows` holds (tests/guards/structure_guards.py), so the image cannot say anything else than the
tree. Only the places are chosen here: a folder without a place, or an arrow that would cross a box, is an error.

usage: draw_architecture.py [--check]
--check writes nothing and exits with 1 when the committed image differs.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE = ROOT / "docs/images/architecture.svg"
sys.path.insert(0, str(ROOT / "tests/guards"))
from structure_guards import ENGINE_ARROWS, TOOL_ARROWS  # noqa: E402

WIDTH, HEIGHT = 1180, 690
BOX = (142, 42)
LEFT, TOP, COLUMN, ROW = 36, 84, 186, 62
# Folder: column, row, and what it is for.
TOOL = {
    "cli": (2, 0, "commands"), "check": (2, 1, "compares with double"), "profile": (2, 2, "expected times"), "compile": (2, 3, "drives the stages"),
    "planner": (2, 4, "tiles, memory"), "ops": (2, 5, "one file per operator"), "passes": (2, 6, "rewrite, fuse, lower"), "program": (2, 7, "network and plan"),
    "import": (1, 4, "ONNX, TFLite"), "resolve": (1, 5, "shapes, folding, loops"), "bounded": (1, 6, "rows of detections"),
    "reference": (1, 7, "double precision"), "graph": (1, 8, "typed nodes"), "spell": (0, 5, "operators of other makers"),
    "inspect": (1, 1, "what a file holds"), "chunks": (3, 0, "signals in chunks"), "draw": (1, 3, "SVG"), "gpu": (0, 1, "plans, devices"), "engine": (0, 4, "runs the engine"), "io": (0, 7, "files, arrays, text"),
    "codegen": (1, 0, "C++ source"), "quantize": (3, 1, "ranges, integers"), "shrink": (3, 2, "small files"), "lengths": (3, 3, "one plan of many"), "edit": (3, 4, "file as JSON"), "pack": (3, 5, "weights"), "write": (3, 6, "the file"), "text": (3, 7, "tokenizers"),
}
ENGINE = {
    "gpu": (4, 0, "command lists"), "c": (4, 1, "C interface"), "log": (4, 2, "traces, run times"), "image": (5, 0, "framebuffers"), "run": (5, 1, "sessions, lanes"),
    "codegen": (4, 8, "generated headers"), "text": (4, 5, "words, ids, sampling"), "model": (5, 2, "open, verify"), "ops": (5, 3, "one file per operator"),
    "kernels": (5, 4, "the loops"), "math": (5, 5, "exp, tanh, ..."), "simd": (5, 6, "vectors"), "format": (5, 7, "the contract"), "core": (5, 8, "status, span, view"),
}


def centre(place):
    return LEFT + place[0] * COLUMN + BOX[0] / 2, TOP + place[1] * ROW + BOX[1] / 2


def sides(place):
    """left, top, right, bottom of a box."""
    x, y = centre(place)
    return x - BOX[0] / 2, y - BOX[1] / 2, x + BOX[0] / 2, y + BOX[1] / 2


def routes():
    """Arrows that would cross a box, as points."""
    t, s = {n: centre(p) for n, p in TOOL.items()}, {n: sides(p) for n, p in TOOL.items()}
    e, f = ENGINE["codegen"], ENGINE["kernels"]
    between_engines = (sides(e)[2] + sides(f)[0]) / 2
    lane, right, below = s["profile"][0] - 22, s["edit"][2] + 12, s["graph"][3] + 18
    return {
        ("cli", "import"): [(s["cli"][0], t["cli"][1] + 8), (s["cli"][0] - 10, t["cli"][1] + 8), (s["cli"][0] - 10, t["import"][1] - 8), (s["import"][2], t["import"][1] - 8)],
        ("chunks", "resolve"): [(t["chunks"][0], s["chunks"][1]), (t["chunks"][0], s["chunks"][1] - 16), (s["resolve"][0] - 8, s["chunks"][1] - 16), (s["resolve"][0] - 8, t["resolve"][1] - 12), (s["resolve"][0], t["resolve"][1] - 12)],
        ("cli", "gpu"): [(t["cli"][0] - 20, s["cli"][1]), (t["cli"][0] - 20, s["cli"][1] - 10), (t["gpu"][0], s["cli"][1] - 10), (t["gpu"][0], s["gpu"][1])],
        ("gpu", "check"): [(t["gpu"][0], s["gpu"][3]), (t["gpu"][0], s["gpu"][3] + 10), (s["check"][0] - 18, s["gpu"][3] + 10), (s["check"][0] - 18, t["check"][1] + 8), (s["check"][0], t["check"][1] + 8)],
        ("check", "draw"): [(s["check"][0], t["check"][1] + 14), (s["check"][0] - 34, t["check"][1] + 14), (s["check"][0] - 34, t["draw"][1]), (s["draw"][2], t["draw"][1])],
        ("draw", "io"): [(s["draw"][0], t["draw"][1]), (s["draw"][0] - 22, t["draw"][1]), (s["draw"][0] - 22, t["io"][1]), (s["io"][2], t["io"][1])],
        ("cli", "edit"): [(t["cli"][0], s["cli"][1]), (t["cli"][0], s["cli"][1] - 10), (right, s["cli"][1] - 10), (right, t["edit"][1] - 14), (s["edit"][2], t["edit"][1] - 14)],
        ("lengths", "ops"): [(s["lengths"][0], t["lengths"][1] + 10), (s["lengths"][0] - 16, t["lengths"][1] + 10), (s["lengths"][0] - 16, t["ops"][1] - 10), (s["ops"][2], t["ops"][1] - 10)],
        ("cli", "lengths"): [(t["cli"][0], s["cli"][1]), (t["cli"][0], s["cli"][1] - 10), (right, s["cli"][1] - 10), (right, t["lengths"][1] - 10), (s["lengths"][2], t["lengths"][1] - 10)],
        ("import", "io"): [(s["import"][0], t["import"][1]), (s["import"][0] - 22, t["import"][1]), (s["import"][0] - 22, t["io"][1]), (s["io"][2], t["io"][1])],
        ("engine", "io"): [(s["engine"][0], t["engine"][1]), (s["engine"][0] - 14, t["engine"][1]), (s["engine"][0] - 14, t["io"][1]), (s["io"][0], t["io"][1])],
        ("spell", "graph"): [(s["spell"][2], t["spell"][1] + 8), (s["spell"][2] + 12, t["spell"][1] + 8), (s["spell"][2] + 12, t["graph"][1]), (s["graph"][0], t["graph"][1])],
        ("compile", "bounded"): [(s["compile"][0], t["compile"][1] + 8), (lane + 8, t["compile"][1] + 8), (lane + 8, t["bounded"][1]), (s["bounded"][2], t["bounded"][1])],
        ("codegen", "kernels"): [(sides(e)[2], centre(e)[1]), (between_engines, centre(e)[1]), (between_engines, centre(f)[1]), (sides(f)[0], centre(f)[1])],
        ("profile", "engine"): [(s["profile"][0], t["profile"][1] - 8), (t["engine"][0], t["profile"][1] - 8), (t["engine"][0], s["engine"][1])],
        ("profile", "resolve"): [(s["profile"][0], t["profile"][1] + 8), (lane, t["profile"][1] + 8), (lane, t["resolve"][1]), (s["resolve"][2], t["resolve"][1])],
        ("cli", "shrink"): [(s["cli"][2], t["cli"][1] + 8), (s["cli"][2] + 16, t["cli"][1] + 8), (s["cli"][2] + 16, t["shrink"][1] - 8), (s["shrink"][0], t["shrink"][1] - 8)],
        ("shrink", "engine"): [(t["shrink"][0], s["shrink"][3]), (t["shrink"][0], s["shrink"][3] + 10), (t["engine"][0] + 40, s["shrink"][3] + 10), (t["engine"][0] + 40, s["engine"][1])],
        ("shrink", "program"): [(s["shrink"][0], t["shrink"][1] + 8), (s["program"][2] + 12, t["shrink"][1] + 8), (s["program"][2] + 12, t["program"][1]), (s["program"][2], t["program"][1])],
        ("edit", "write"): [(s["edit"][2], t["edit"][1] - 7), (right, t["edit"][1] - 7), (right, t["write"][1] - 8), (s["write"][2], t["write"][1] - 8)],
        ("text", "write"): [(t["text"][0], s["text"][1]), (t["text"][0], s["write"][3])],
        ("text", "io"): [(t["text"][0], s["text"][3]), (t["text"][0], below), (t["io"][0], below), (t["io"][0], s["io"][3])],
        ("cli", "text"): [(t["cli"][0], s["cli"][1]), (t["cli"][0], s["cli"][1] - 10), (right, s["cli"][1] - 10), (right, t["text"][1]), (s["text"][2], t["text"][1])],
        ("edit", "io"): [(s["edit"][2], t["edit"][1] + 7), (right + 12, t["edit"][1] + 7), (right + 12, below), (t["io"][0], below), (t["io"][0], s["io"][3])],
    }


def straight(a, b):
    """From box a to box b in another row, or beside it."""
    la, ta, ra, ba = sides(a)
    lb, tb, rb, _ = sides(b)
    (xa, ya), (xb, yb) = centre(a), centre(b)
    if ya == yb:
        return [(ra, ya), (lb, yb)] if xa < xb else [(la, ya), (rb, yb)]
    if xa == xb:
        return [(xa, ba), (xb, tb)]
    return [(la + 14, ba), (rb - 14, tb)] if xb < xa else [(ra - 14, ba), (lb + 14, tb)]


def crossed(points, places, ends):
    """A box that a line runs through, but those at its ends."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        for i in range(101):
            x, y = x0 + (x1 - x0) * i / 100, y0 + (y1 - y0) * i / 100
            for name, place in places.items():
                left, top, right, bottom = sides(place)
                if name not in ends and left - 2 < x < right + 2 and top - 2 < y < bottom + 2:
                    return name
    return None


def arrow(points, kind=""):
    line = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path class="arrow {kind}" d="{line}" marker-end="url(#head{kind})"/>'


def arrows(table, places, detours):
    if set(table) != set(places):
        raise SystemExit(f"folders and places differ: {sorted(set(table) ^ set(places))}")
    for name, below in table.items():
        for other in below:
            points = detours.get((name, other)) or straight(places[name], places[other])
            hit = crossed(points, places, (name, other))
            if hit:
                raise SystemExit(f"the arrow from {name} to {other} crosses {hit}: give it a route")
            yield arrow(points)


def box(name, place, kind):
    left, top, _, _ = sides(place)
    x, y = centre(place)
    return (f'<rect class="{kind}" x="{left:g}" y="{top:g}" width="{BOX[0]}" height="{BOX[1]}" rx="5"/>'
            f'<text class="name" x="{x:g}" y="{y - 3:g}">{name}</text><text class="what" x="{x:g}" y="{y + 13:g}">{place[2]}</text>')


def between():
    """What passes from the converter to the engine: the file, and the headers that both include."""
    left, top, right, bottom = sides((4, 3.5))
    x, y = centre((4, 3.5))
    write, model, program, contract = sides(TOOL["write"]), sides(ENGINE["model"]), sides(TOOL["program"]), sides(ENGINE["format"])
    row = centre(TOOL["program"])[1]
    yield f'<rect class="file" x="{left:g}" y="{top:g}" width="{BOX[0]}" height="{BOX[1]}"/><text class="name" x="{x:g}" y="{y + 5:g}">model.nsk</text>'
    yield arrow([(write[2], centre(TOOL["write"])[1] + 8), (x, centre(TOOL["write"])[1] + 8), (x, bottom)], "data")
    beside = (right + model[0]) / 2, centre(ENGINE["model"])[1] + 9
    yield arrow([(right, y), (beside[0], y), beside, (model[0], beside[1])], "data")
    yield arrow([(program[2], row), (contract[0], row)], "shared")
    yield f'<text class="note" x="{x:g}" y="{row - 8:g}">operators, parameters,</text><text class="note" x="{x:g}" y="{row + 17:g}">tiles, packing</text>'


STYLE = """
  text { font-family: Helvetica, Arial, sans-serif; text-anchor: middle; fill: #1a2733 }
  .name { font-size: 15px; font-weight: bold }
  .what, .note { font-size: 11px; fill: #40505c }
  .title { font-size: 17px; font-weight: bold; text-anchor: start }
  .legend { font-size: 12px; text-anchor: start; fill: #40505c }
  .tool { fill: #e3eefa; stroke: #3d77b0 }
  .engine { fill: #e5f4e6; stroke: #3f8a48 }
  .file { fill: #fff3d6; stroke: #b98418 }
  .arrow { fill: none; stroke: #66757f; stroke-width: 1.3 }
  .data { stroke: #b98418; stroke-width: 2.2 }
  .shared { stroke: #3f8a48; stroke-width: 1.6; stroke-dasharray: 6 4 }
"""
COLOURS = {"": "#66757f", "data": "#b98418", "shared": "#3f8a48"}


def image():
    heads = "".join(f'<marker id="head{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">'
                    f'<path d="M0 0 L8 4 L0 8 z" fill="{colour}"/></marker>' for kind, colour in COLOURS.items())
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
             "<!-- SPDX-License-Identifier: MIT. Written by tools/draw_architecture.py: do not edit. -->",
             f"<style>{STYLE}</style><defs>{heads}</defs>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             f'<text class="title" x="{LEFT}" y="46">tools/nsk: the converter, offline</text>',
             f'<text class="title" x="{sides(ENGINE["gpu"])[0]:g}" y="46">include/netsuke: the engine</text>']
    lines += [*arrows(TOOL_ARROWS, TOOL, routes()), *arrows(ENGINE_ARROWS, ENGINE, routes()), *between()]
    lines += [box(name, place, "tool") for name, place in TOOL.items()] + [box(name, place, "engine") for name, place in ENGINE.items()]
    lines += [f'<text class="legend" x="{LEFT}" y="{HEIGHT - 16}">A folder includes the folders that its arrows lead to, and those below them. The converter also includes the '
              "engine: program and write its format, ops its ops, engine its run, gpu its gpu.</text>", "</svg>"]
    return "\n".join(lines) + "\n"


def main():
    text = image()
    if sys.argv[1:] != ["--check"]:
        IMAGE.write_text(text)
        return 0
    if not IMAGE.exists() or IMAGE.read_text() != text:
        print(f"{IMAGE.relative_to(ROOT)} is not what the arrows give: run tools/draw_architecture.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
