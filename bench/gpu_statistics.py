#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What compilers of real GPUs make of the hot kernels, on a machine without a GPU.

  bench/gpu_statistics.py [KERNEL[:NAME=VALUE,...] ...] [--program FILE] [--shims FOLDER] [--devices NAME ...]
                          [--spirv FILE] [--markdown] [--json FILE]

Compares kernels; it measures no time. Kernels are those of HOT when none is given; NAME is a specialisation constant.
AMD needs Mesa's RADV driver alone (apt-get install mesa-vulkan-drivers): it compiles for a named GPU that is not there.
Intel and Adreno need fake kernel drivers in --shims, which `--build-shims FOLDER` makes from the distribution's own
source package of Mesa (12 minutes; apt-get install meson ninja-build python3-mako bison flex libdrm-dev libexpat1-dev
zlib1g-dev). Devices that cannot be opened are named and left out; exit code 77 where there is none at all, and 1 where
a kernel spills registers or is beyond LIMITS.

Columns: `madd` is the share of multiply-adds in the instructions of the basic block that has most of them (AMD only),
then registers of a thread, waves that fit a SIMD (AMD) or a core (Adreno), spills, instructions. Intel reports neither
waves nor registers: instructions, spills, and the compiler's estimate of cycles.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ICD = pathlib.Path("/usr/share/vulkan/icd.d")
WIDE = "FUNCTION=1,INPUT4=1,OUTPUT4=1"
HOT = [f"conv_2d_tiled:{WIDE},RESIDUAL=1", f"conv_2d_tiled:{WIDE}", f"conv_2d:{WIDE},RESIDUAL=1", f"conv_2d_one_pixel:{WIDE}",
       "conv_2d_tiled:INPUT4=1,OUTPUT4=1,MODE=1", "winograd2_input:INPUT4=1", "winograd4_input:INPUT4=1", f"winograd2_output:{WIDE},RESIDUAL=1",
       f"winograd4_output:{WIDE},RESIDUAL=1", "conv_2d_split:INPUT4=1", f"sum_slices:{WIDE}", f"depthwise_conv_2d:{WIDE}",
       *(f"depthwise_window:{WIDE},WINDOW={n}" for n in (1, 2, 3, 4)),
       *(f"separable_conv_2d:{WIDE},MODE=1,WINDOW={n}" for n in (1, 2, 3, 4)),
       "pool_2d:INPUT4=1,OUTPUT4=1", "elementwise:MODE=1,INPUT4=1,OUTPUT4=1",
       "resize_2d:INPUT4=1,OUTPUT4=1", "copy", "copy:INPUT4=1,OUTPUT4=1", "reduce",
       f"conv_2d_tiled:{WIDE},HALVES=3", f"conv_2d:{WIDE},HALVES=3", f"depthwise_window:{WIDE},WINDOW=1,HALVES=3",
       "elementwise:MODE=1,INPUT4=1,OUTPUT4=1,HALVES=11", f"conv_2d_tiled:{WIDE},HALVES=16", f"conv_2d_tiled:{WIDE},HALVES=19",
       f"conv_2d:{WIDE},HALVES=19", f"depthwise_window:{WIDE},WINDOW=1,HALVES=19"]
AMD = {"bonaire": "GCN 2", "polaris10": "GCN 4", "vega10": "GCN 5", "navi10": "RDNA 1", "navi21": "RDNA 2", "gfx1100": "RDNA 3"}
INTEL = {"skl": "Gen 9", "tgl": "Xe", "dg2": "Arc"}
ADRENO = {"630": "Adreno 630", "660": "Adreno 660"}
DEVICES = [*AMD, *INTEL, *ADRENO]
# (devices, beginning of a kernel's name, column, minimum)
LIMITS = [*((("navi21", "gfx1100"), kernel, "madd_percent", 80) for kernel in ("conv_2d_tiled", "separable_conv_2d")), (tuple(ADRENO), "conv_2d_tiled", "waves", 6)]
MULTIPLY_ADD = re.compile(r"v_(pk_|dual_)?(fma|fmac|fmamk|fmaak|mac|mad|madmk|madak)_(mix_)?f(16|32)")
SHIMS = """
set -e
cd {folder}
key=$(dpkg -L debian-archive-keyring | grep 'keyring.gpg$' | head -1)
echo "deb-src [signed-by=$(dirname "$key")/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" > src.list
mkdir -p lists/partial
apt="-o Dir::Etc::sourcelist=$PWD/src.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists"
apt-get $apt update
apt-get $apt source --download-only mesa
tar xf mesa_*.orig.tar.gz
cd mesa-*/
off="-Dgallium-drivers= -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dopengl=false -Dgles1=disabled -Dgles2=disabled -Dplatforms= -Dllvm=disabled
     -Dshared-glapi=disabled -Dvalgrind=disabled -Dlibunwind=disabled -Dzstd=disabled"
export PATH=/usr/bin:$PATH
meson setup intel -Dtools=drm-shim,intel -Dvulkan-drivers=intel $off
ninja -C intel src/intel/tools/libintel_noop_drm_shim.so
meson setup adreno -Dbuildtype=release -Dtools=drm-shim,freedreno -Dvulkan-drivers=freedreno $off
ninja -C adreno src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so src/freedreno/vulkan/libvulkan_freedreno.so
cp intel/src/intel/tools/libintel_noop_drm_shim.so adreno/src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so \\
   adreno/src/freedreno/vulkan/libvulkan_freedreno.so {folder}
"""


def build_shims(folder):
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["bash", "-c", SHIMS.format(folder=folder.resolve())], check=True)


def environment(device, shims):
    """The variables with which the loader finds `device`, or None where the shim for it is missing."""
    if device in AMD:
        return {"RADV_FORCE_FAMILY": device, "VK_ICD_FILENAMES": str(ICD / "radeon_icd.x86_64.json")}
    shim = shims / f"lib{'intel' if device in INTEL else 'freedreno'}_noop_drm_shim.so"
    if not shim.exists():
        return None
    if device in INTEL:
        return {"LD_PRELOAD": str(shim), "INTEL_STUB_GPU_PLATFORM": device, "VK_ICD_FILENAMES": str(ICD / "intel_icd.x86_64.json")}
    icd = shims / "freedreno_icd.json"
    icd.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"api_version": "1.3.230", "library_path": str(shims / "libvulkan_freedreno.so")}}))
    return {"LD_PRELOAD": str(shim), "FD_GPU_ID": device, "VK_ICD_FILENAMES": str(icd)}


def hottest_block(assembly):
    """(multiply-adds, instructions) of the basic block with most multiply-adds, of AMD's assembly."""
    best = (0, 1)
    for block in re.split(r"^BB\d+:", assembly, flags=re.M)[1:]:
        names = [name for line in block.splitlines() for name in re.findall(r"(?:^\s+|:: )([a-z]+_\w+)", line.split(";")[0])]
        best = max(best, (sum(1 for name in names if MULTIPLY_ADD.match(name)), len(names) or 1))
    return best


def parse(text):
    """One dictionary per kernel of the program's output."""
    found = []
    for part in re.split(r"^kernel ", text, flags=re.M)[1:]:
        kernel, rest = part.split("\n", 1)
        # Where a driver compiles a kernel for several widths, the widest is what it prefers.
        last = rest.split("executable ")[-1]
        numbers = {name: float(value) for name, value in re.findall(r"^([A-Za-z ]+): (-?[\d.e+]+)$", last, flags=re.M)}
        assembly = re.search(r"^text Assembly\n(.*?)^end of text", last, flags=re.M | re.S)
        if assembly:
            numbers["multiply_adds"], numbers["of"] = hottest_block(assembly.group(1))
        found.append((kernel, numbers))
    return found


def first(numbers, *names):
    return next((int(numbers[name]) for name in names if name in numbers), None)


def row_of(device, numbers):
    # Adreno calls what spills STP and LDP: private memory stored and loaded.
    spills = sum(int(v) for name, v in numbers.items() if "pill" in name or name in ("STP Count", "LDP Count"))
    row = {"instructions": first(numbers, "Instructions", "Instruction Count"), "spills": spills}
    if device in AMD:
        row |= {"registers": first(numbers, "VGPRs"), "waves": first(numbers, "Subgroups per SIMD"), "latency": first(numbers, "Latency"),
                "cycles": first(numbers, "Inverse Throughput"), "madd_percent": int(100 * numbers.get("multiply_adds", 0) / numbers.get("of", 1))}
    elif device in ADRENO:
        row |= {"registers": first(numbers, "Registers used"), "waves": first(numbers, "Max Waves Per Core")}
    else:
        row |= {"cycles": first(numbers, "Cycle Count"), "sends": first(numbers, "SEND Count")}
    return row


def measure(program, device, kernels, shims, spirv):
    variables = environment(device, shims)
    if variables is None:
        print(f"{device}: no shim in {shims}: --build-shims {shims} makes it", file=sys.stderr)
        return {}
    command = [program, *(["--assembly"] if device in AMD else []), *(["--spirv", spirv] if spirv else []), *kernels]
    run = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    if run.returncode:
        print(f"{device}: {run.stderr.strip()}", file=sys.stderr)
        return {}
    return {kernel: row_of(device, numbers) for kernel, numbers in parse(run.stdout)}


def violations(found):
    """What no kernel may do: spill, and be worse than LIMITS says."""
    for device, rows in found.items():
        for kernel, row in rows.items():
            if row["spills"]:
                yield f"{device}: {kernel} spills {row['spills']} registers"
            for name, pattern, column, minimum in LIMITS:
                if device in name and kernel.startswith(pattern) and row[column] < minimum:
                    yield f"{device}: {kernel}: {column} is {row[column]}, below {minimum}"


def cell(device, row):
    spilled = f", **{row['spills']} spills**" if row["spills"] else ""
    if device in AMD:
        madd = f"{row['madd_percent']} % / " if row["madd_percent"] else ""
        return f"{madd}{row['registers']} / {row['waves']}{spilled}"
    if device in ADRENO:
        return f"{row['registers']} / {row['waves']}{spilled}"
    return f"{row['instructions']}{spilled}"


def print_table(found, kernels, markdown):
    names = AMD | INTEL | ADRENO
    header = ["kernel"] + [f"{names[d]}" if d in ADRENO else f"{d} ({names[d]})" for d in found]
    rows = [[f"`{kernel}`"] + [cell(d, found[d][kernel]) for d in found] for kernel in kernels]
    if markdown:
        for line in [header, ["---"] * len(header), *rows]:
            print("| " + " | ".join(line) + " |")
        return
    for row in rows:
        print(row[0].strip("`"))
        for name, value in zip(header[1:], row[1:]):
            print(f"  {name:20} {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--program", default=str(ROOT / "build/bench/gpu_statistics"))
    parser.add_argument("--shims", type=pathlib.Path, default=pathlib.Path("/nonexistent"))
    parser.add_argument("--build-shims", type=pathlib.Path)
    parser.add_argument("--devices", nargs="+", choices=DEVICES, default=DEVICES)
    parser.add_argument("--spirv", help="compile this file in the place of the kernels' own SPIR-V")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.build_shims:
        build_shims(options.build_shims)
        return 0
    kernels = options.kernels or HOT
    found = {d: measure(options.program, d, kernels, options.shims, options.spirv) for d in options.devices}
    found = {d: rows for d, rows in found.items() if rows}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1))
    print_table(found, kernels, options.markdown)
    wrong = list(violations(found))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0 if found else 77


if __name__ == "__main__":
    sys.exit(main())
