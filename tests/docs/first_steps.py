#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The first steps of a new user: a fresh clone of the last commit, quickstart, then every guide with what that clone has built.

Nothing comes from the checkout that runs this test but its history, and the compiler cache where there is one. What is not committed is not
seen.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PANEL = (640, 360)  # of three, 8 pixels apart, below a line of text
GAP, TEXT = 8, 28


def run(what, arguments, folder, **environment):
    done = subprocess.run([str(a) for a in arguments], cwd=folder, env=dict(os.environ, **environment), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{what}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def look_at(path):
    """Three panels of one scene; netsuke's is near bicubic's, and not the same."""
    image = np.asarray(Image.open(path).convert("RGB")).astype(float)
    height, width = image.shape[:2]
    if width != 3 * (PANEL[0] + GAP) + GAP or height < TEXT + PANEL[1]:
        raise SystemExit(f"{path.name} is {width}x{height}: not three panels of {PANEL[0]}x{PANEL[1]}")
    panels = [image[TEXT:TEXT + PANEL[1], GAP + i * (PANEL[0] + GAP):][:, :PANEL[0]] for i in range(3)]
    if panels[0].std() < 10:
        raise SystemExit(f"{path.name}: there is no scene")
    difference = np.abs(panels[1] - panels[2]).mean()
    if not 0.1 < difference < 10:
        raise SystemExit(f"{path.name}: bicubic and netsuke differ by {difference:.2f} grey levels on average")
    return f"{width}x{height}, netsuke and bicubic differ by {difference:.2f} grey levels on average"


def main():
    if shutil.which("git") is None:
        print("SKIPPED: there is no git, a fresh clone cannot be made")
        return 0
    if not (REPOSITORY / ".git").exists():
        print(f"SKIPPED: {REPOSITORY} is no git checkout, there is nothing to clone")
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nsk_first_steps_"))
    try:
        clone = folder / "netsuke"
        cloned = subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(REPOSITORY), str(clone)], capture_output=True, text=True)
        if cloned.returncode:
            print(f"SKIPPED: git cannot clone {REPOSITORY}: {cloned.stderr.strip()}")
            return 0
        readme = (clone / "README.md").read_text()
        for command in ("./examples/quickstart.sh", "./tests/run.sh"):
            if command not in readme:
                raise SystemExit(f"README.md does not show {command}")
        # The folder is where the cache's entries of other builds were made from.
        cached = {"CCACHE_BASEDIR": str(clone), "NSK_QUICKSTART_BUILD": "build"}
        run("quickstart", ["bash", "./examples/quickstart.sh"], clone, **cached)
        print("quickstart:", look_at(clone / "out" / "upscale.png"))
        run("examples", ["cmake", "--build", "build"], clone, **cached)
        guides = run("guides", [sys.executable, "tests/docs/commands.py"], clone, NSK_TOOL=str(clone / "build" / "nsk"))
        print("guides:", guides.strip().splitlines()[-1])
        left = run("status", ["git", "status", "--porcelain"], clone)
        if left:
            raise SystemExit(f"following the guides leaves files that git does not ignore:\n{left}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
