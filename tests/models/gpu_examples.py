#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples on a GPU, or on a program that plays one, against the examples on the CPU.

  gpu_examples.py CASE DIRECTORY-OF-EXAMPLES      (cases: faces)
Every device that opens here is compared; a case without any is skipped. Mesa's software driver of Vulkan is taken where
VK_ICD_FILENAMES names no other.
"""
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

from models import SAID_SKIPPED, SHARED, must

DEVICES = ("vulkan",)
# Model -> dispatches and barriers between them, where they are known; bytes of its boxes and scores.
DETECTORS = {"front_128x128": (51, 33, 60928), "back_256x256": (None, None, 60928)}
PIXELS = 0.1 + 1e-6  # coordinates are printed with one digit
NO_DEVICE = re.compile(r"there is no |Vulkan has no |is not installed|EGL ")


class Skipped(Exception):
    pass


def on_devices(program, *arguments):
    """(device, what the program says) of every device that opens here; the program is run as each is asked for."""
    environment = dict(os.environ)
    drivers = sorted(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json"))
    if drivers:
        environment.setdefault("VK_ICD_FILENAMES", drivers[0])
    reasons = []
    for device in DEVICES:
        done = subprocess.run([program, *map(str, arguments), "--device", device], capture_output=True, text=True, timeout=600, env=environment)
        if done.returncode == 0:
            yield device, done.stdout
        elif done.returncode == 1 and NO_DEVICE.search(done.stderr):
            reasons.append(done.stderr.strip())
            print(f"note: {device}: {reasons[-1]}")
        else:
            raise SystemExit(f"{program.name} --device {device}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if len(reasons) == len(DEVICES):
        raise Skipped("; ".join(reasons))


def largest_difference(one, other):
    """In 8-bit levels; images of different sizes differ by all of them."""
    a, b = (np.asarray(Image.open(path).convert("RGB")).astype(int) for path in (one, other))
    return np.abs(a - b).max() if a.shape == b.shape else 255


def faces_of(said):
    """[faces, 2 + 6 points, 2], and the scores."""
    lines = [line for line in said.splitlines() if line.startswith("face ")]
    return (np.array([re.findall(r"\((-?[\d.]+), (-?[\d.]+)\)", line) for line in lines], float),
            np.array([line.split()[1].rstrip(":") for line in lines], float))


def faces(programs, folder):
    photo = SHARED.parent / "images" / "face.jpg"
    compared = 0
    for name, (dispatches, barriers, read_back) in DETECTORS.items():
        source = SHARED / "face" / f"face_detection_{name}_barracuda.onnx"
        if not (source.exists() and photo.exists()):
            print(f"note: {source.name} or {photo.name} is not on this machine")
            continue
        model, wanted = folder / "face.nsk", folder / "cpu.png"
        must("convert", source, "-o", model, "--quiet")
        on_cpu = subprocess.run([programs / "detect_faces", model, photo, "-o", wanted], capture_output=True, text=True, check=True)
        points, scores = faces_of(on_cpu.stdout)
        for device, said in on_devices(programs / "gpu_faces", model, photo, "-o", folder / "gpu.png"):
            compared += 1
            found, certain = faces_of(said)
            if found.shape != points.shape or len(points) == 0:
                raise SystemExit(f"{name}, {device}: {len(found)} faces, {len(points)} on the CPU\n{said}")
            off, score, level = np.abs(found - points).max(), np.abs(certain - scores).max(), largest_difference(folder / "gpu.png", wanted)
            print(f"{name}, {device}: {len(found)} faces, points off by {off:.1f} pixels, scores by {score:.4f}, the image by {level} levels\n{said}")
            if not (off <= PIXELS and score <= 2e-4 and level <= 1):
                raise SystemExit(f"{name}, {device}: other boxes, or another image, than on the CPU")
            counted = re.search(r"1 dispatch samples the texture, (\d+) are the network, with (\d+) barriers", said)
            moved = re.search(r"1 upload of \d+ bytes: the texture; 1 submit; 1 read-back of (\d+) bytes: the boxes", said)
            if not counted or not moved or int(moved[1]) != read_back or (dispatches and counted.groups() != (str(dispatches), str(barriers))):
                raise SystemExit(f"{name}, {device}: the texture goes in, the boxes come out, and nothing else is moved:\n{said}")
    if not compared:
        raise Skipped("the face detectors or the photo are not on this machine")


CASES = {f.__name__: f for f in (faces,)}


def main(name, programs):
    with tempfile.TemporaryDirectory(prefix="nsk_gpu_") as folder:
        try:
            CASES[name](pathlib.Path(programs), pathlib.Path(folder))
        except Skipped as reason:
            print(f"{SAID_SKIPPED} {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
