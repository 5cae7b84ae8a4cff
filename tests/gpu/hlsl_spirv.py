#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every kernel as HLSL to SPIR-V, for the test that runs both forms.

  hlsl_spirv.py FOLDER      writes FOLDER/KERNEL.spv by glslang's front end of HLSL
"""
import pathlib
import shutil
import subprocess
import sys

import front_ends


def main():
    folder = pathlib.Path(sys.argv[1])
    if shutil.which("glslangValidator") is None:
        print("SKIPPED: glslangValidator is not here (Debian and Ubuntu: apt-get install glslang-tools)")
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, file, pixels in front_ends.regenerate_shaders.kernels():
        source = folder / f"{name}.hlsl"
        source.write_text(f"#define NSK_HLSL_VULKAN\n#define PIXELS {pixels}\n" + front_ends.text_of(front_ends.ROOT / "shaders", file))
        done = subprocess.run(["glslangValidator", "-D", "-V", *front_ends.VULKAN, "-S", "comp", "-e", "main", source, "-o", folder / f"{name}.spv"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{name}: {done.stdout}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
