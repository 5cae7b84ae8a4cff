#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package for Python in a fresh environment: pip install ./packaging/python gives the command nsk and the module netsuke, which runs what nsk converts.

  python_package.py on|off FOLDER     FOLDER: of the environment; off says that it is switched off
"""
import os
import pathlib
import shutil
import subprocess
import sys
import venv

from windows import OFF

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "support"))
from models import OWN, REPOSITORY, nsk  # noqa: E402

PROGRAM = """import netsuke, sys
net = netsuke.Library().open("model.nsk").session()
net.run()
sys.stdout.buffer.write(bytes(net.read(0)))
"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, **options)


def main():
    switch, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if switch == "off":
        print(OFF)
        return 0
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    environment = dict(os.environ, CCACHE_BASEDIR=str(REPOSITORY), CCACHE_NOHASHDIR="1")
    done = run(python, "-m", "pip", "install", "--quiet", REPOSITORY / "packaging" / "python", env=environment, text=True)
    if done.returncode:
        print(f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return 1
    here, there = folder / "here.nsk", folder / "model.nsk"
    shape = ["--input", "frame=1x3x16x24"] if OWN[0].stem.startswith("upscaler") else []
    nsk("convert", OWN[0], "-o", here, "--quiet", *shape)
    made = run(folder / "bin" / "nsk", "convert", OWN[0], "-o", there, "--quiet", *shape, text=True)
    if made.returncode or here.read_bytes() != there.read_bytes():
        print(f"the package's nsk gives other bytes, exit code {made.returncode}: {made.stderr}")
        return 1
    answer = run(python, "-c", PROGRAM, cwd=folder)
    if answer.returncode or not answer.stdout:
        print(answer.stderr.decode())
        return 1
    print(f"installed; nsk gives the same bytes, the module gives {len(answer.stdout)} bytes of outputs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
