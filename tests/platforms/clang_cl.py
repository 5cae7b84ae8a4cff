#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-cl makes code of the library: what a program sees of Visual Studio is compiled, with all warnings as errors. Nothing is linked or run.

  clang_cl.py on|off FOLDER     FOLDER: of the objects; off says that it is switched off

Code matters: while a file is only read, the bodies of templates are not, and faults of regions of one instruction set are not seen. Headers are those of
Microsoft's public library (NSK_MSVC_STL: the folder stl/inc of https://github.com/microsoft/STL, of a version that this clang-cl can read: 19 reads
vs-2022-17.14), Wine's of the C library (libwine-dev), and visual_cpp/ for what both ask of Visual C++ itself.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from windows import OFF

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "support"))
from models import OWN, REPOSITORY, TOOL  # noqa: E402

OWN_HEADERS = pathlib.Path(__file__).resolve().parent / "visual_cpp"
EXAMPLES = REPOSITORY / "examples"
LIBRARY = pathlib.Path(os.environ.get("NSK_MSVC_STL", "/usr/share/msvc-stl/stl/inc"))
WINE = pathlib.Path("/usr/include/wine/wine")
FLATBUFFERS = os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR", "/usr/include")
COMPILER = next((c for c in (os.environ.get("NSK_CLANG_CL", "clang-cl"), *(f"clang-cl-{n}" for n in range(30, 15, -1))) if shutil.which(c)), None)
# What the targets of CMake and Meson give to clang-cl, and what a game without exceptions may add.
FLAGS = ["/W4", "/WX", "/Zc:twoPhase", "/EHs-c-", "/GR-", "/MD"]
# Fibers of POSIX, oneTBB, and devices of GPUs, whose headers are those of this machine.
NOT_ON_WINDOWS = ("job_fibers", "job_tbb", "gpu_")


def said(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def sources(folder):
    """(name, source, how often it is compiled: in every way, or in one)."""
    def written(name, text):
        (folder / name).write_text(text)
        return folder / name

    yield "default session", written("default.cpp", "#include <netsuke/netsuke.hpp>\ntemplate class nsk::session<nsk::default_settings>;\n"), True
    model = folder / "upscaler.nsk"
    subprocess.run([TOOL, "convert", OWN[-1], "-o", model, "--quiet", "--no-check", "--input", "frame=1x3x16x24"], check=True)
    printed = subprocess.run([TOOL, "inspect", "--settings", "--name", "printed", model], check=True, capture_output=True, text=True).stdout
    yield "printed session", written("printed.cpp", printed + "template class nsk::session<printed_settings>;\n"), True
    subprocess.run([TOOL, "codegen", model, "-o", folder / "network.hpp", "--name", "network", "--quiet"], check=True)
    yield "network as source", written("network.cpp", '#include "network.hpp"\nvoid run(network::net& net) { net.run(); }\n'), True
    write_network(folder)
    yield "C interface", REPOSITORY / "bindings" / "c" / "netsuke_c.cpp", False
    yield "kernels of the examples", EXAMPLES / "support" / "vision_engine.cpp", False
    for path in sorted([*EXAMPLES.glob("*.cpp"), *EXAMPLES.glob("*/main.cpp")]):
        name = path.parent.name if path.name == "main.cpp" else path.stem
        if not name.startswith(NOT_ON_WINDOWS):
            yield f"example {name}", path, False


def write_network(folder):
    """The header that nsk_add_network() of CMake makes for the example built_network."""
    model = folder / "yard_policy.nsk"
    subprocess.run([TOOL, "convert", EXAMPLES / "models" / "yard_agent.onnx", "-o", model, "--quiet", "--no-check", "--batch-max", "16", "--output-value", "deterministic_continuous_actions"], check=True)
    printed = subprocess.run([TOOL, "inspect", "--settings", "--name", "yard_policy", model], check=True, capture_output=True, text=True).stdout
    session = "using yard_policy_session = nsk::session<yard_policy_settings>;\nNSK_KERNELS(extern, yard_policy_settings)\n"
    (folder / "yard_policy.hpp").write_text(printed + session)


def ways(every):
    """(target, standard, optimisation)."""
    if every:
        return [*(("x86_64", standard, level) for standard in ("c++17", "c++20") for level in ("/Od", "/O2")), ("aarch64", "c++17", "/O2")]
    return [("x86_64", "c++17", "/Od"), ("x86_64", "c++20", "/O2")]


def compile_one(folder, source, target, standard, level):
    """'' or what clang-cl says."""
    resource = said(COMPILER, "/clang:-print-resource-dir")[1].strip()
    system = [f"{resource}/include", OWN_HEADERS, LIBRARY, WINE / "msvcrt", WINE / "windows", folder / "headers"]
    command = [COMPILER, f"--target={target}-pc-windows-msvc", "-fms-compatibility-version=19.44", "/X", *(f"/imsvc{path}" for path in system), "-D_UCRT",
               "/FIbefore.h", f"/std:{standard}", level, *FLAGS, f"/I{REPOSITORY / 'include'}", f"/I{EXAMPLES}", f"/I{folder}", "/c",
               f"/Fo{folder / 'object.obj'}", "--", source]
    if source.is_relative_to(EXAMPLES) and source.parent.name != "support":  # as CMake does: kernels are compiled once
        command.insert(command.index("/c"), "/FIsupport/vision_engine.hpp")
    code, text = said(*command)
    return "" if code == 0 else "\n".join(re.findall(r"^.*(?:error|fatal).*$", text, re.MULTILINE)[:5]) or text[-2000:]


def missing():
    if COMPILER is None:
        return "there is no clang-cl (Debian and Ubuntu: apt-get install clang-tools)"
    if not (WINE / "msvcrt" / "corecrt.h").exists():
        return "there are no headers of Wine (Debian and Ubuntu: apt-get install libwine-dev)"
    if not (LIBRARY / "yvals_core.h").exists():
        return "there are no headers of Microsoft's public library: set NSK_MSVC_STL to stl/inc of https://github.com/microsoft/STL"
    return None


def main():
    switch, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if switch == "off" or missing():
        print(OFF if switch == "off" else f"SKIPPED: {missing()}")
        return 0
    (folder / "headers").mkdir(parents=True, exist_ok=True)
    for name, place in (("flatbuffers", FLATBUFFERS), ("stb", "/usr/include")):  # alone: the other headers there are of this system
        (folder / "headers" / name).unlink(missing_ok=True)
        (folder / "headers" / name).symlink_to(pathlib.Path(place) / name)
    failures = 0
    for name, source, every in sources(folder):
        for way in ways(every):
            why = compile_one(folder, source, *way)
            print(f"{name}, {' '.join(way)}: {why or 'clean'}", flush=True)
            failures += bool(why)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
