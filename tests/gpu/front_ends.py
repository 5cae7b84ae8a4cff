#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the text of every kernel with every front end, and says which tool is not here.

  front_ends.py [--seeded]      with --seeded: plants an error that one front end alone finds; each must be reported

GLSL and HLSL become SPIR-V (glslc, glslang, DXC), which spirv-val checks and spirv-cross turns into GLSL 430, ESSL 310, HLSL 5.0 and Metal;
GLSL 430, ESSL 310 and HLSL for Direct3D are compiled as devices have them, after a heading with macros, by glslang, and HLSL by DXC to DXIL.
DXC is a library that Linux distributions do not have: the environment variable NSK_DXC_LIBRARY names it, tools/dxc.py calls it.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import regenerate_shaders  # noqa: E402

NAMES = re.findall(r'"(\w+)"', re.search(r"specialization_names\[\w+\] = \{(.*?)\}", (ROOT / "include/netsuke/gpu/pipeline.hpp").read_text(), re.S).group(1))
PACKAGES = {"glslc": "glslc", "glslangValidator": "glslang-tools", "spirv-val": "spirv-tools", "spirv-cross": "spirv-cross"}
VULKAN = ["--target-env", "vulkan1.1"]
# What spirv-cross writes, and how glslang compiles that once more.
CROSS = {
    "GLSL 430": (["--version", "430", "--no-es", "--glsl-emit-push-constant-as-ubo"], "comp", []),
    "ESSL 310": (["--version", "310", "--es", "--glsl-emit-push-constant-as-ubo"], "comp", []),
    "HLSL 5.0": (["--hlsl", "--shader-model", "50"], "hlsl", ["-D", "-V", *VULKAN, "-S", "comp", "-e", "main"]),
    "Metal": (["--msl"], "metal", None),
}


def text_of(shaders, file):
    """The text of a kernel as gpu/generated/text.hpp has it."""
    regenerate_shaders.SHADERS = shaders
    return "".join("\n".join(lines) + "\n" for _, lines in regenerate_shaders.pieces(f"{file}.comp", set()))


class Compilations:
    """Runs tools, and keeps what they object to."""

    def __init__(self, folder):
        self.folder, self.errors, self.count, self.absent = folder, [], 0, set()

    def run(self, what, command):
        """Whether the tool was content; None where it is not here."""
        if shutil.which(str(command[0])) is None:
            self.absent.add(str(command[0]))
            return None
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=self.folder)
        self.count += 1
        said = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if re.search(r"error|warning", line, re.I) and "DXIL.dll not found" not in line)
        if done.returncode != 0 or said:
            self.errors.append(f"{what}: {(said or done.stdout + done.stderr).strip()[:400]}")
        return done.returncode == 0

    def spirv(self, what, spv):
        """Checks SPIR-V, and what other languages make of it."""
        if not self.run(f"{what}, spirv-val", ["spirv-val", *VULKAN, spv]):
            return
        for language, (arguments, extension, again) in CROSS.items():
            made = spv.with_suffix(f".{language.replace(' ', '_')}.{extension}")
            if self.run(f"{what}, spirv-cross to {language}", ["spirv-cross", *arguments, "--output", made, spv]) and again is not None:
                self.run(f"{what}, spirv-cross to {language}, glslang", ["glslangValidator", *again, made, *(["-o", made.with_suffix(".spv")] if again else [])])

    def dxc(self, what, source, made, arguments):
        """Whether DXC compiled the text; None where there is none."""
        library, program = os.environ.get("NSK_DXC_LIBRARY"), ROOT / "tools/dxc.py"
        if not library or not program.exists():
            self.absent.add("dxc")
            return None
        return self.run(what, [sys.executable, program, library, source, made, *arguments])


def heading(value, pixels):
    return "".join(f"#define {name} {value}u\n" for name in NAMES) + f"#define PIXELS {pixels}\n"


def compile_kernel(run, shaders, name, file, pixels):
    source, pixel_macro = shaders / f"{file}.comp", f"-DPIXELS={pixels}"
    spv = run.folder / f"{name}.glslc.spv"
    if run.run(f"{name}, glslc", ["glslc", "-Werror", "-std=450core", "--target-env=vulkan1.1", "-fshader-stage=compute", "-DNSK_GLSL_VULKAN", pixel_macro,
                                  f"-I{shaders}", source, "-o", spv]):
        run.spirv(f"{name}, glslc", spv)
    text = text_of(shaders, file)
    hlsl, spv = run.folder / f"{name}.vulkan.hlsl", run.folder / f"{name}.hlsl.spv"
    hlsl.write_text(f"#define NSK_HLSL_VULKAN\n#define PIXELS {pixels}\n" + text)
    if run.run(f"{name}, glslang's HLSL", ["glslangValidator", "-D", "-V", *VULKAN, "-S", "comp", "-e", "main", hlsl, "-o", spv]):
        run.spirv(f"{name}, glslang's HLSL", spv)
    spv = run.folder / f"{name}.dxc.spv"
    if run.dxc(f"{name}, DXC to SPIR-V", hlsl, spv, ["-T", "cs_6_0", "-E", "main", "-spirv", "-fspv-target-env=vulkan1.1"]):
        run.spirv(f"{name}, DXC", spv)
    # Branches that are not taken are compiled too: two values of the permutation show both sides of preprocessing.
    for value in (0, 1):
        for language, version, macro in (("GLSL 430", "#version 430 core", "NSK_GLSL"), ("ESSL 310", "#version 310 es", "NSK_ESSL")):
            made = run.folder / f"{name}.{macro}.{value}.comp"
            made.write_text(f"{version}\n#define {macro}\n{heading(value, pixels)}{text}")
            run.run(f"{name}, {language}, permutation {value}", ["glslangValidator", made])
        made = run.folder / f"{name}.direct.{value}.hlsl"
        made.write_text(f"#define NSK_HLSL\n{heading(value, pixels)}{text}")
        run.run(f"{name}, HLSL for Direct3D, permutation {value}", ["glslangValidator", "-D", "-V", *VULKAN, "-S", "comp", "-e", "main", made, "-o", made.with_suffix(".spv")])
        run.dxc(f"{name}, DXC to DXIL, permutation {value}", made, made.with_suffix(".dxil"), ["-T", "cs_6_0", "-E", "main"])


def compile_all(shaders, names=None):
    """Compiles every kernel, or those of the names; returns what was run."""
    with tempfile.TemporaryDirectory(prefix="nsk_front_ends_") as folder:
        run = Compilations(pathlib.Path(folder))
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for done in [pool.submit(compile_kernel, run, shaders, *kernel) for kernel in regenerate_shaders.kernels() if names is None or kernel[0] in names]:
                done.result()
    return run


# A line added to the beginning of softmax.comp's kernel, and what the front end that objects to it is called.
SEEDS = [
    ("a word that HLSL reserves", "float line = 0.0;", "HLSL"),
    ("a word that GLSL reserves", "float output = 0.0; float buffer = 0.0;", "GLSL"),
    ("an implicit conversion that ESSL has not", "uint n = 1;", "ESSL 310"),
    ("a function that ESSL 310 has not", "float z = fma(1.0, 2.0, 3.0);", "ESSL 310"),
]


def check_seeds():
    silent = 0
    for description, line, language in SEEDS:
        with tempfile.TemporaryDirectory(prefix="nsk_shaders_") as folder:
            copy = pathlib.Path(folder) / "shaders"
            shutil.copytree(ROOT / "shaders", copy)
            path = copy / "softmax.comp"
            path.write_text(path.read_text().replace("KERNEL {\n", f"KERNEL {{\n  {line}\n", 1))
            reports = [error for error in compile_all(copy, {"softmax"}).errors if language in error.split(":")[0]]
        print(f"  {'fires' if reports else 'SILENT'}: {description}" + (f"\n      {reports[0][:200]}" if reports else ""))
        silent += not reports
    return 1 if silent else 0


def main():
    if shutil.which("glslangValidator") is None and shutil.which("glslc") is None:
        print("SKIPPED: neither glslc nor glslangValidator is here (Debian and Ubuntu: apt-get install glslc glslang-tools spirv-tools spirv-cross)")
        return 0
    if sys.argv[1:] == ["--seeded"]:
        if shutil.which("glslangValidator") is None:
            print("SKIPPED: glslangValidator is not here (Debian and Ubuntu: apt-get install glslang-tools)")
            return 0
        return check_seeds()
    run = compile_all(ROOT / "shaders")
    for tool in sorted(run.absent):
        print(f"note: {tool} is not here, so nothing was compiled with it ({'apt-get install ' + PACKAGES[tool] if tool in PACKAGES else 'tools/hlsl_compilers.py fetches it, NSK_DXC_LIBRARY names it'})")
    for error in run.errors:
        print(f"  {error}")
    print(f"{len(regenerate_shaders.kernels())} kernels, {run.count} compilations, {len(run.errors)} error(s)")
    return 1 if run.errors else 0


if __name__ == "__main__":
    sys.exit(main())
