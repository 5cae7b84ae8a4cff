#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example runs on a real model and says or draws something sensible.  examples.py DIRECTORY-OF-EXAMPLES"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

from models import REPOSITORY, SHARED, must

OWN = REPOSITORY / "examples" / "models" / "upscaler_x2.onnx"


def call(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{program.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{program.name}: {done.stdout.strip().splitlines()[-1] if done.stdout.strip() else 'good'}")
    return done.stdout


def picture(path, width, height):
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([x * 255 // width, y * 255 // height, (x // 8 + y // 8) % 2 * 255], -1).astype(np.uint8)
    Image.fromarray(pixels).save(path)


def choose(programs, model):
    chosen, *best = call(programs / "choose_isa", model).splitlines()
    named, *scalar = call(programs / "choose_isa", model, "scalar").splitlines()
    if named != "scalar" or not best or best != scalar:
        raise SystemExit(f"choose_isa: {chosen} gives {best}, {named} gives {scalar}")
    print(f"choose_isa: this machine runs {chosen}")


def upscale(programs, folder, model):
    picture(folder / "frame.png", 160, 90)
    call(programs / "upscale", model, folder / "frame.png", "-o", folder / "side_by_side.png", "--frame", folder / "sharp.png")
    sharp = np.asarray(Image.open(folder / "sharp.png").convert("RGB")).astype(float)
    plain = np.asarray(Image.open(folder / "frame.png").convert("RGB").resize((320, 180), Image.BICUBIC)).astype(float)
    if sharp.shape != plain.shape:
        raise SystemExit(f"upscale: {sharp.shape} instead of {plain.shape}")
    if np.abs(sharp - plain).mean() > 16:
        raise SystemExit(f"upscale: the picture differs from its bicubic enlargement by {np.abs(sharp - plain).mean():.1f} on average")


def detect(programs, folder):
    photo = SHARED.parent / "images" / "face.jpg"
    for name in ("front_128x128", "back_256x256"):
        source = SHARED / "face" / f"face_detection_{name}_barracuda.onnx"
        if not (source.exists() and photo.exists()):
            print(f"note: {source.name} or {photo.name} is not on this machine; detect_faces was not run on it")
            continue
        must("convert", source, "-o", folder / "face.nsk")
        call(programs / "detect_faces", folder / "face.nsk", photo, "-o", folder / "faces.png")
        drawn, plain = (np.asarray(Image.open(p).convert("RGB")).astype(int) for p in (folder / "faces.png", photo))
        if drawn.shape != plain.shape or (np.abs(drawn - plain).max(-1) > 60).sum() < 200:
            raise SystemExit("detect_faces: nothing was drawn")


def main(programs):
    with tempfile.TemporaryDirectory(prefix="nsk_examples_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "upscaler.nsk"
        must("convert", OWN, "-o", model, "--input", "frame=1x3x90x160")
        for name in ("hello", "own_memory", "frame_budget"):
            call(programs / name, model)
        choose(programs, model)
        upscale(programs, folder, model)
        detect(programs, folder)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
