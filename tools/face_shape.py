#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the neutral face of examples/avatar from faces that the face mesh with attention has measured.

  face_shape.py POINTS.csv ... -o examples/avatar/face_shape.hpp     (of `face_mesh --points`; neutral faces that look ahead)

The faces and their mirror images are laid over each other (similarity transforms, least squares) and averaged, so the result is symmetric
and belongs to no person; the lips are closed. Outer corners of the eyes get a distance of 90 mm. Triangles are those of the mesh's net.
"""
import argparse
import csv
import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
POINTS, IRIS = 468, 5
NO_TRIANGLES = {(49, 64, 129), (279, 294, 358)}  # three points that are neighbours, with a fourth between them
CENTRE = [10, 151, 9, 8, 168, 6, 197, 195, 5, 4, 1, 19, 94, 2, 164, 0, 17, 18, 200, 199, 175, 152]
PAIRS = [(33, 263), (133, 362), (61, 291), (234, 454), (127, 356), (70, 300), (107, 336), (172, 397), (48, 278), (205, 425), (469, 476), (471, 474)]
LIPS = [(13, 14), (82, 87), (81, 178), (80, 88), (191, 95), (312, 317), (311, 402), (310, 318), (415, 324)]


def faces_of(path):
    """The faces of one table, each [478, 3]: x to the right of the image, y up, z towards the camera."""
    faces = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            faces.setdefault((row["image"], row["object"]), []).append([float(row["x"]), -float(row["y"]), -float(row["z"])])
    for points in faces.values():
        if len(points) != POINTS + 2 * IRIS:
            raise SystemExit(f"{path}: a face has {len(points)} points and should have {POINTS + 2 * IRIS}: use the mesh with attention")
    return [np.array(points) for points in faces.values()]


def laid_over(points, onto, of=slice(None)):
    """`points` after the similarity transform that brings points[of] nearest to onto[of]."""
    a, b = points[of] - points[of].mean(0), onto[of] - onto[of].mean(0)
    u, s, vt = np.linalg.svd(a.T @ b)
    flip = np.diag([1, 1, np.sign(np.linalg.det(u @ vt))])
    return (points - points[of].mean(0)) @ (u @ flip @ vt) * ((s * flip.diagonal()).sum() / (a ** 2).sum()) + onto[of].mean(0)


def mirror_table(face):
    """The number of each point's mirror image: a matching of the least total distance, checked to be its own inverse."""
    from scipy.optimize import linear_sum_assignment
    known = CENTRE + [p for pair in PAIRS for p in pair]
    partner = CENTRE + [p for a, b in PAIRS for p in (b, a)]
    flipped = face * [-1, 1, 1]
    target = flipped.copy()
    target[known] = face[partner]
    flipped = laid_over(flipped, target, known)
    distance = ((flipped[:, None] - face[None]) ** 2).sum(-1)
    distance[:POINTS, POINTS:] = distance[POINTS:, :POINTS] = 1e9
    distance[known, partner] = -1e3
    table = linear_sum_assignment(distance)[1]
    if (table[table] != np.arange(len(table))).any():
        raise SystemExit(f"points {np.flatnonzero(table[table] != np.arange(len(table)))} have no clear mirror image: use more faces")
    return table


def net_triangles():
    """Triangles of the net, counterclockwise as the camera sees a face."""
    text = (ROOT / "examples/support/face_net.hpp").read_text().split("k_net[")[1].split("{")[1]
    ends = [int(n) for n in re.findall(r"\d+", text)]
    near = [set() for _ in range(POINTS)]
    for a, b in zip(ends[::2], ends[1::2]):
        near[a].add(b)
        near[b].add(a)
    found = {tuple(sorted((a, b, c))) for a, b in zip(ends[::2], ends[1::2]) for c in near[a] & near[b]} - NO_TRIANGLES
    edges = {}
    for t in found:
        for i in range(3):
            edges.setdefault(frozenset((t[i], t[(i + 1) % 3])), []).append(t)
    start = next(t for t in found if 1 in t and 4 in t)
    return start, found, edges


def oriented(face):
    """All triangles in the direction of the one at the tip of the nose, which looks at the camera."""
    start, found, edges = net_triangles()
    a, b, c = face[list(start)]
    ahead = start if np.cross(b - a, c - a)[2] > 0 else start[::-1]
    done, waiting = {start: ahead}, [start]
    while waiting:
        t = waiting.pop()
        for i in range(3):
            a, b = done[t][i], done[t][(i + 1) % 3]
            for other in edges[frozenset((a, b))]:
                if other not in done:
                    third = next(p for p in other if p not in (a, b))
                    done[other] = (b, a, third)
                    waiting.append(other)
    if len(done) != len(found):
        raise SystemExit("the net has several parts")
    return sorted(tuple(np.roll(t, -int(np.argmin(t)))) for t in done.values())


def neutral(faces):
    mirror = mirror_table(np.mean([laid_over(f, faces[0]) for f in faces], axis=0))
    both = faces + [(f * [-1, 1, 1])[mirror] for f in faces]
    mean = both[0]
    for _ in range(10):
        mean = np.mean([laid_over(f, mean) for f in both], axis=0)
    # The mirror plane becomes x = 0, and the line between forehead and chin upright.
    x = (mean[263] - mean[33]) / np.linalg.norm(mean[263] - mean[33])
    y = mean[10] - mean[152]
    y -= x * (x @ y)
    y /= np.linalg.norm(y)
    mean = (mean - (mean[234] + mean[454]) / 2) @ np.array([x, y, np.cross(x, y)]).T
    mean *= 90 / np.linalg.norm(mean[263] - mean[33])
    for upper, lower in LIPS:
        mean[upper] = mean[lower] = (mean[upper] + mean[lower]) / 2
    return (mean + (mean * [-1, 1, 1])[mirror]) / 2, mirror


def rows(numbers, width=110):
    lines, line = [], "   "
    for n in numbers:
        if len(line) + len(str(n)) + 2 > width:
            lines.append(line)
            line = "   "
        line += f" {n},"
    return "\n".join([*lines, line])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("-o", dest="output", required=True)
    given = parser.parse_args()
    face, mirror = neutral([f for table in given.tables for f in faces_of(table)])
    triangles = oriented(face)
    tenths = np.rint(face * 10).astype(int)
    pathlib.Path(given.output).write_text(f"""// SPDX-License-Identifier: MIT
#pragma once
/// A neutral face with the numbering of MediaPipe's face mesh (support/face_points.hpp), symmetric, lips closed: an average
/// that tools/face_shape.py makes of measured faces and of their mirror images.
#include <cstddef>
#include <cstdint>

namespace example {{

/// The mesh and, behind it, five points of either iris: the right eye's first (the person's right).
inline constexpr std::size_t k_face_points = {len(face)};
inline constexpr std::size_t k_face_triangles = {len(triangles)};

// clang-format off
/// x, y, z of each point in tenths of a millimetre: x to the person's left (right of the image), y up, z to the camera.
/// The origin is in the middle of the head, between the points in front of the ears.
inline constexpr std::int16_t k_face_shape[3 * k_face_points] = {{
{rows(tenths.ravel())}
}};

/// The number of each point's mirror image.
inline constexpr std::uint16_t k_face_mirror[k_face_points] = {{
{rows(mirror)}
}};

/// Three points of each triangle, counterclockwise as the camera sees them. Eyes and mouth are holes.
inline constexpr std::uint16_t k_face_mesh[3 * k_face_triangles] = {{
{rows(p for t in triangles for p in t)}
}};
// clang-format on

}}  // namespace example
""")


if __name__ == "__main__":
    main()
