#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples on a GPU, or on a program that plays one, against the examples on the CPU.

  gpu_examples.py CASE DIRECTORY-OF-EXAMPLES      (cases: faces, upscale)
Every device that opens here is compared; a case without any is skipped. Mesa's software drivers are taken where the environment
names no others.
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, SAID_SKIPPED, SHARED, must  # noqa: E402

# Model -> dispatches and barriers between them, where they are known; bytes of its boxes and scores.
DETECTORS = {"front_128x128": (48, 30, 60928), "back_256x256": (None, None, 60928)}
PIXELS = 0.1 + 1e-6  # coordinates are printed with one digit
NO_DEVICE = re.compile(r"there is no |Vulkan has no |is not installed|EGL |the context ")
FRAME = (48, 64)  # height and width of the scene
BUDGET = 40       # million multiply-accumulates per frame, of the 126 of an inference


class Skipped(Exception):
    pass


def software():
    """The environment in which Mesa's software drivers are the ones that open."""
    environment = dict(os.environ)
    environment.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
    drivers = sorted(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json"))
    if drivers:
        environment.setdefault("VK_ICD_FILENAMES", drivers[0])
    return environment


def call(program, *arguments):
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=600, env=software())


def on_devices(devices, program, *arguments):
    """(device, what the program says) of every device that opens here; the program is run as each is asked for."""
    reasons = []
    for device in devices:
        done = call([program], *arguments, "--device", device)
        if done.returncode == 0:
            yield device, done.stdout
        elif done.returncode == 1 and NO_DEVICE.search(done.stderr):
            reasons.append(done.stderr.strip())
            print(f"note: {device}: {reasons[-1]}")
        else:
            raise SystemExit(f"{program.name} --device {device}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if len(reasons) == len(devices):
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
        for device, said in on_devices(("vulkan", "gl", "gles"), programs / "gpu_faces", model, photo, "-o", folder / "gpu.png"):
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


def enlarged_on_cpu(programs, folder, model, low):
    call([programs / "upscale"], model, low, "-o", folder / "sheet.png", "--frame", folder / "cpu.png").check_returncode()
    return folder / "cpu.png"


def window(programs, model):
    """A few frames in a window on a screen that is not shown."""
    if shutil.which("xvfb-run") is None:
        return print("note: there is no xvfb-run; the window was not opened")
    done = call(["xvfb-run", "-a", programs / "gpu_upscale"], model, "--frames", 4)
    if "built without SDL2" in done.stderr or "there is no window with" in done.stderr:
        return print(f"note: {done.stderr.strip()}")
    if done.returncode != 0 or not re.search(r": [1-9]\d* dispatches, 0 uploads, 0 read-backs$", done.stdout.strip()):
        raise SystemExit(f"the window: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return print(f"the window: {done.stdout.strip()}")


def upscale(programs, folder):
    """Frames of the scene enlarged on the device, whole or over several frames, are what the CPU makes of the same pixels."""
    model, (height, width) = folder / "upscaler.nsk", FRAME
    must("convert", REPOSITORY / "examples/models/upscaler_x2.onnx", "-o", model, "--gpu", "--input", f"frame=1x3x{height}x{width}", "--quiet")
    for device, said in on_devices(("gl", "gles"), programs / "gpu_upscale", model, "--frames", 2, "-o", folder / "whole"):
        if not re.search(r": 2 frames of 64 x 48, 2 of them enlarged; between the textures [1-9]\d* dispatches, 0 uploads, 0 read-backs$", said.strip()):
            raise SystemExit(f"{device}: pixels pass through the CPU, or frames are missing:\n{said}")
        off = [largest_difference(folder / f"whole_{n:04}.png", enlarged_on_cpu(programs, folder, model, folder / f"whole_low_{n:04}.png")) for n in (1, 2)]
        print(f"{device}: off by {max(off)} levels at most\n{said.strip()}")
        if max(off) > 1:
            raise SystemExit(f"{device}: another image than on the CPU")
        if largest_difference(folder / "whole_low_0001.png", folder / "whole_low_0002.png") < 64:
            raise SystemExit(f"{device}: nothing moves")
        sliced = call([programs / "gpu_upscale"], model, "--frames", 12, "--budget", BUDGET, "-o", folder / "sliced", "--device", device).stdout
        results = sorted(folder.glob("sliced_0*.png"))
        print(sliced.strip())
        if not 2 <= len(results) <= 6 or f"12 frames of 64 x 48, {len(results)} of them enlarged" not in sliced:
            raise SystemExit(f"{device}: {len(results)} results of 12 frames with {BUDGET} million multiply-accumulates each")
        for result in results:
            if largest_difference(result, enlarged_on_cpu(programs, folder, model, folder / result.name.replace("sliced_", "sliced_low_"))) > 1:
                raise SystemExit(f"{device}: {result.name}, made over several frames, is another image than on the CPU")
            result.unlink()
    window(programs, model)


CASES = {f.__name__: f for f in (faces, upscale)}


def main(name, programs):
    with tempfile.TemporaryDirectory(prefix="nsk_gpu_") as folder:
        try:
            CASES[name](pathlib.Path(programs), pathlib.Path(folder))
        except Skipped as reason:
            print(f"{SAID_SKIPPED} {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
