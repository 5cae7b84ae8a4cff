#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rebuilds the generated headers of the GPU path and compares them with the committed ones.

  generated.py [--seeded]      with --seeded: changes a copy of the shaders and of the headers; each change must be reported
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OTHER_VERSIONS = 77
SEEDS = {
    "a line of a kernel": ("shaders/softmax.comp", "1.0 / sum", "2.0 / sum"),
    "a line of a shared text": ("shaders/window.h", "quads >= 8u", "quads > 8u"),
    "a constant of a kernel": ("shaders/bindings.h", "float alpha; float beta; uint fill;", "float beta; float alpha; uint fill;"),
    "a word of a kernel's SPIR-V": ("include/netsuke/gpu/generated/spirv/softmax.hpp", "0x7230203,", "0x7230204,"),
    "a kernel of another name": ("include/netsuke/gpu/generated/spirv.hpp", "{spirv::softmax}", "{spirv::reduce}"),
    "SPIR-V of a kernel that there is not": ("include/netsuke/gpu/generated/spirv/none.hpp", None, "// SPDX-License-Identifier: MIT\n"),
    "no SPIR-V of a kernel": ("include/netsuke/gpu/generated/spirv/softmax.hpp", None, None),
    "a line of a generated text": ("include/netsuke/gpu/generated/text.hpp", "precision highp float;", "precision lowp float;"),
}


def compare(root):
    done = subprocess.run([sys.executable, root / "tools/regenerate_shaders.py", "--check"], capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    return done.returncode


def change(path, before, after):
    """Replaces a text in a file; without one writes the file, or removes it where there is nothing to write. Whether that could be done."""
    if before is None and after is None:
        path.unlink()
    elif before is None:
        path.write_text(after)
    elif before in (text := path.read_text()):
        path.write_text(text.replace(before, after, 1))
    else:
        return False
    return True


def main():
    if sys.argv[1:] != ["--seeded"]:
        result = compare(ROOT)
        if result == OTHER_VERSIONS:
            print("SKIPPED: the tools that make SPIR-V have other versions here")
        return 0 if result == OTHER_VERSIONS else result
    if not (shutil.which("glslc") and shutil.which("spirv-opt")):
        print("SKIPPED: glslc or spirv-opt is missing (Debian and Ubuntu: apt-get install glslc spirv-tools)")
        return 0
    silent = 0
    for description, (name, before, after) in SEEDS.items():
        with tempfile.TemporaryDirectory(prefix="nsk_generated_") as folder:
            copy = pathlib.Path(folder)
            for part in ("tools/regenerate_shaders.py", "shaders", "include/netsuke/gpu"):
                if (ROOT / part).is_dir():
                    shutil.copytree(ROOT / part, copy / part)
                else:
                    (copy / part).parent.mkdir(parents=True)
                    shutil.copy(ROOT / part, copy / part)
            if not change(copy / name, before, after):
                print(f"seed: {name} has no {before!r}")
                return 1
            result = compare(copy)
        if result == OTHER_VERSIONS and "/spirv" in name:
            print(f"  not tried, the tools have other versions here: {description}")
            continue
        print(f"  {'fires' if result == 1 else 'SILENT'}: {description}")
        silent += result != 1
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
