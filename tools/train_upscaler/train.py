#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Train the x2 game-frame upscaler of examples/models and measure it on frames that it never saw.

    apt-get install python3-torch python3-pil python3-pip g++   # Debian 12: torch 1.13, numpy 1.24, Pillow 9.4
    /usr/bin/python3 tools/train_upscaler/train.py              # about 40 minutes on one core

Data: frames of rasteriser.cpp (built here), and photographs that the PyPI package scikit-image 0.26.0 ships, each in the
public domain or CC0 according to that package's documentation (skimage/data/_fetchers.py):
  training  astronaut (NASA, public domain), rocket (SpaceX, public domain), camera (CC0, Lav Varshney),
            brick and gravel (CC0Textures, CC0), grass (linolafett, CC0)
  held out  chelsea (CC0, Stefan van der Walt), coffee (CC0, Rachel Michetti)
Training scenes are seeds 0 to 159; held-out scenes are seeds 100000 to 100011.

Writes upscaler_x2.onnx (height and width are free) and the table of upscaler.md. The model that is exported is the running
average of the weights after the last step; nothing is chosen by looking at the held-out sets.
"""
import argparse
import math
import pathlib
import platform
import shutil
import subprocess
import sys
import time
import zipfile

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = "scikit-image==0.26.0"
TRAINING_SCENES = range(160)
HELD_OUT_SCENES = range(100000, 100012)
TRAINING_PHOTOS = ["astronaut.png", "rocket.jpg", "camera.png", "brick.png", "grass.png", "gravel.png"]
HELD_OUT_PHOTOS = ["chelsea.png", "coffee.png"]


class Upscaler(nn.Module):
    """Bilinear x2 plus a correction: 3x3 convolutions at low resolution, then depth to space. RGB in [0, 1]."""

    def __init__(self, channels, depth):
        super().__init__()
        self.head = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(depth))
        self.tail = nn.Conv2d(channels, 12, 3, padding=1)
        nn.init.zeros_(self.tail.bias)
        self.tail.weight.data *= 0.1

    def forward(self, frame):
        shallow = F.relu(self.head(frame))
        deep = shallow
        for layer in self.body:
            deep = F.relu(layer(deep))
        detail = F.pixel_shuffle(self.tail(deep + shallow), 2)
        smooth = F.interpolate(frame, scale_factor=2.0, mode="bilinear", align_corners=False)
        return smooth + detail


class Exported(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, frame):
        return torch.clamp(self.network(frame), 0.0, 1.0)


def fetch_photos(work):
    """Return the folder with scikit-image's images, downloading the wheel once."""
    folder = work / "photos"
    if not folder.exists():
        wheels = work / "wheels"
        pip = [shutil.which("pip") or shutil.which("pip3") or "pip"]
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            pip = [sys.executable, "-m", "pip"]
        subprocess.run([*pip, "download", "--quiet", "--no-deps", "--only-binary=:all:",
                        "--python-version", "3.11", "-d", str(wheels), PACKAGE], check=True)
        folder.mkdir(parents=True)
        with zipfile.ZipFile(next(wheels.glob("scikit_image-*.whl"))) as wheel:
            for name in TRAINING_PHOTOS + HELD_OUT_PHOTOS:
                (folder / name).write_bytes(wheel.read("skimage/data/" + name))
    return folder


def render_frames(work):
    """Return the folder of rendered frames, rendering those that are missing."""
    folder = work / "frames"
    folder.mkdir(parents=True, exist_ok=True)
    tool = work / "rasteriser"
    wide = ["-msse4.1"] if platform.machine() in ("x86_64", "AMD64") else []
    for seed in list(TRAINING_SCENES) + list(HELD_OUT_SCENES):
        paths = {kind: folder / f"{seed}.{kind}.ppm" for kind in ("high", "half", "jagged")}
        if all(p.exists() for p in paths.values()):
            continue
        if not tool.exists():
            subprocess.run(["g++", "-std=c++17", "-O3", *wide, "-ffp-contract=off", "-o", str(tool),
                            str(HERE / "rasteriser.cpp")], check=True)
        subprocess.run([str(tool), "--seed", str(seed), "--size", "640x360", "--samples", "3", "-o", str(paths["high"]),
                        "--half", str(paths["half"]), "--jagged", str(paths["jagged"])], check=True)
    return folder


def read(path):
    return np.asarray(Image.open(path).convert("RGB"))


def even(image):
    return image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]


def box_half(image):
    p = image.astype(np.float32)
    return np.rint((p[0::2, 0::2] + p[1::2, 0::2] + p[0::2, 1::2] + p[1::2, 1::2]) / 4).astype(np.uint8)


def bicubic_half(image):
    size = (image.shape[1] // 2, image.shape[0] // 2)
    return np.asarray(Image.fromarray(image).resize(size, Image.BICUBIC))


def double(image, kernel):
    """Enlarge x2 with a separable kernel on half-pixel centres, edges repeated; float result in [0, 255]."""
    def one_axis(p):
        out = np.zeros((p.shape[0] * 2,) + p.shape[1:])
        padded = np.pad(p, [(2, 2), (0, 0), (0, 0)], mode="edge")
        for phase, offset in ((0, -0.25), (1, 0.25)):
            for tap in range(-2, 3):
                out[phase::2] += kernel(abs(tap - offset)) * padded[2 + tap: 2 + tap + p.shape[0]]
        return out

    p = one_axis(image.astype(np.float64))
    return one_axis(p.transpose(1, 0, 2)).transpose(1, 0, 2)


def bilinear_kernel(x):
    return max(0.0, 1.0 - x)


def bicubic_kernel(x, a=-0.5):
    """Keys' cubic convolution; a = -0.5 is the sharpest that reproduces quadratics."""
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    if x < 2:
        return a * (x**3 - 5 * x**2 + 8 * x - 4)
    return 0.0


def psnr(image, truth):
    """PSNR in dB over RGB of the image rounded to 8 bits, no border left out."""
    rounded = np.clip(np.rint(image), 0, 255)
    return 10 * math.log10(255**2 / np.mean((rounded - truth.astype(np.float64)) ** 2))


def enlarge(network, image):
    x = torch.from_numpy(image.astype(np.float32) / 255).permute(2, 0, 1)[None]
    with torch.no_grad():
        return network(x)[0].permute(1, 2, 0).clamp(0, 1).numpy().astype(np.float64) * 255


class Data:
    def __init__(self, frames, photos):
        def pair(seed, kind):
            return read(frames / f"{seed}.{kind}.ppm"), read(frames / f"{seed}.high.ppm")

        self.pools = [[pair(s, "half") for s in TRAINING_SCENES], [pair(s, "jagged") for s in TRAINING_SCENES], []]
        for name in TRAINING_PHOTOS:
            image = even(read(photos / name))
            self.pools[2] += [(box_half(image), image), (bicubic_half(image), image)]
        self.held_out = {
            "rendered, antialiased": [pair(s, "half") for s in HELD_OUT_SCENES],
            "rendered, jagged": [pair(s, "jagged") for s in HELD_OUT_SCENES],
        }
        for name in HELD_OUT_PHOTOS:
            image = even(read(photos / name))
            stem = name.split(".")[0]
            self.held_out[f"photograph {stem}, box-filtered"] = [(box_half(image), image)]
            self.held_out[f"photograph {stem}, bicubic-filtered"] = [(bicubic_half(image), image)]

    def batch(self, rng, size, patch):
        """Half antialiased frames, a quarter jagged ones, a quarter photographs; flipped, rotated, channels permuted."""
        low = np.empty((size, 3, patch, patch), np.float32)
        high = np.empty((size, 3, 2 * patch, 2 * patch), np.float32)
        for i in range(size):
            pool = self.pools[(0, 0, 1, 2)[i % 4]]
            small, big = pool[rng.integers(len(pool))]
            y = rng.integers(small.shape[0] - patch + 1)
            x = rng.integers(small.shape[1] - patch + 1)
            a = small[y: y + patch, x: x + patch]
            b = big[2 * y: 2 * (y + patch), 2 * x: 2 * (x + patch)]
            turn, flip, order = rng.integers(4), rng.integers(2), rng.permutation(3)
            a, b = np.rot90(a, turn)[..., order], np.rot90(b, turn)[..., order]
            if flip:
                a, b = a[:, ::-1], b[:, ::-1]
            low[i] = a.transpose(2, 0, 1)
            high[i] = b.transpose(2, 0, 1)
        return torch.from_numpy(low / 255), torch.from_numpy(high / 255)


def measure(network, held_out):
    """Rows of (set, bilinear, bicubic, network), each the mean PSNR over the set's images."""
    rows = []
    for name, pairs in held_out.items():
        scores = [(psnr(double(low, bilinear_kernel), high), psnr(double(low, bicubic_kernel), high),
                   psnr(enlarge(network, low), high)) for low, high in pairs]
        rows.append((name, len(pairs), *np.mean(scores, axis=0)))
    return rows


def table(rows):
    lines = ["| held-out set | images | bilinear | bicubic | network | gain over bicubic |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {n} | {k} | {a:.2f} | {b:.2f} | {c:.2f} | {c - b:+.2f} dB |" for n, k, a, b, c in rows]
    return "\n".join(lines)


def export(network, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    torch.onnx.export(Exported(network).eval(), torch.rand(1, 3, 180, 320), str(part), opset_version=13, input_names=["frame"],
                      output_names=["upscaled"], dynamic_axes={"frame": {2: "height", 3: "width"}, "upscaled": {2: "height_x2", 3: "width_x2"}})
    # The exporter calls every graph torch_jit; the name shows in tools, so it gets a telling one of the same length.
    data = part.read_bytes()
    if data.count(b"\x12\x09torch_jit") == 1:
        part.write_bytes(data.replace(b"\x12\x09torch_jit", b"\x12\x09upscalex2"))
    part.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "out" / "train_upscaler", help="cache of frames and photographs")
    parser.add_argument("--onnx", type=pathlib.Path, default=ROOT / "examples" / "models" / "upscaler_x2.onnx")
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--patch", type=int, default=48, help="low-resolution pixels along an edge")
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report-every", type=int, default=1000)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    data = Data(render_frames(args.work), fetch_photos(args.work))
    network = Upscaler(args.channels, args.depth)
    average = Upscaler(args.channels, args.depth)
    average.load_state_dict(network.state_dict())
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    start = time.time()
    for step in range(1, args.steps + 1):
        progress = step / args.steps
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * min(1.0, step / 200) * (0.5 + 0.5 * math.cos(math.pi * progress)) + 2e-6
        low, high = data.batch(rng, args.batch, args.patch)
        error = network(low) - high
        # Absolute error first, which is robust against the jagged frames; squared error, which PSNR counts, at the end.
        loss = error.abs().mean() if progress < 0.7 else 20 * (error * error).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimiser.step()
        keep = min(0.998, 1 - 1 / step)
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), network.parameters()):
                slow.mul_(keep).add_(fast, alpha=1 - keep)
        if step % args.report_every == 0 or step == args.steps:
            print(f"step {step} of {args.steps}, {time.time() - start:.0f} s\n{table(measure(average, data.held_out))}", flush=True)
            export(average, args.onnx)
    count = sum(p.numel() for p in network.parameters())
    print(f"{count} weights, {count * 4 / 1024:.0f} KiB, {args.onnx}")


if __name__ == "__main__":
    main()
