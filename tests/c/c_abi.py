#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C interface: netsuke/c/netsuke.h is C99 and C++, the library exports its functions and nothing else and calls nothing that allocates or
throws, programs in C run two models with the bits of the C++ engine, images, batches, logs and traces are those of the C++ library, and every misuse
has its status and text.

  c_abi.py LIBRARY        the shared library netsuke_c
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from fixtures import REPOSITORY, c_header, expected_hashes, image_model, make_models, status_codes
from common import Tree, compile_file, compilers, link  # fixtures adds its folder

HERE = pathlib.Path(__file__).resolve().parent
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror"]
LANGUAGES = [("gcc", ["-std=c99"]), ("clang", ["-std=c99"]), ("g++", ["-x", "c++", "-std=c++17"]), ("clang++", ["-x", "c++", "-std=c++11"])]
# What the library may take from others: bytes are copied and compared, NSK_STOP writes its text, and the linker's own hooks.
TAKES = {"memcpy", "memset", "memcmp", "memmove", "strcmp", "write", "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable",
         "_ITM_registerTMCloneTable"}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def names(library, which):
    """Names in the dynamic symbol table, without versions."""
    lines = run("nm", "-D", f"--{which}-only", library).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.strip()}


def symbols(library):
    """The library has the header's functions and no other names, and takes nothing that could allocate or throw."""
    declared = set(re.findall(r"\b(nsk_\w+)\(", c_header()))
    exported, taken = names(library, "defined"), names(library, "undefined")
    sizes = {"declared": len(declared), "exported": len(exported)}
    print(f"symbols: {sizes}, taken from others: {', '.join(sorted(taken))}")
    wrong = [f"{name} is exported, but no function of the header" for name in sorted(exported - declared)]
    wrong += [f"{name} is declared, but not exported" for name in sorted(declared - exported)]
    return wrong + [f"the library calls {name}" for name in sorted(taken - TAKES)]


def numbers_of_codes(library):
    """The library numbers the codes of the C++ library in the order of their list, and knows no more below 1000."""
    name_of = ctypes.CDLL(str(library)).nsk_status_name
    name_of.restype = ctypes.c_char_p
    known = [name_of(i).decode() for i in range(1000)]
    listed = status_codes()
    return [] if len(listed) > 50 and known == listed + ["unknown"] * (1000 - len(listed)) else ["the library's codes are not those of status_list.h"]


def guard_can_fail(folder):
    """A library with a foreign name and an allocation is found."""
    source, library = folder / "planted.cpp", folder / "planted.so"
    source.write_text('#include <vector>\nextern "C" void* nsk_planted(int n) { return new std::vector<int>(n); }\nint leaked;\n')
    done = run("g++", "-shared", "-fPIC", source, "-o", library)
    found = " ".join(symbols(library))
    wanted = ("leaked is exported", "nsk_planted is exported", "the library calls _Znwm", "nsk_model_open is declared")
    return [f"a planted fault is not found: {w}" for w in wanted if w not in found] if done.returncode == 0 else [done.stderr]


def programs(library, folder, source):
    """One program per language and compiler; those in C are linked by the C compiler, so that no C++ runtime is there."""
    made = []
    for compiler, flags in LANGUAGES:
        if not shutil.which(compiler):
            print(f"note: {compiler} is not installed, so nothing is checked with it")
            continue
        made.append(folder / f"{source}_{compiler}")
        done = run(compiler, *flags, *STRICT, "-DNSK_C_SHARED", f"-I{REPOSITORY / 'include'}", HERE / f"{source}.c", "-o", made[-1], "-x", "none",
                   library, f"-Wl,-rpath,{library.parent}")
        if done.returncode != 0:
            raise SystemExit(f"{compiler} {source}.c:\n{done.stderr}")
    return made


def two_models(library, folder, models):
    wanted = [f"{i} {step} {value}" for i, model in enumerate(models) for step, value in enumerate(expected_hashes(model, folder))]
    wrong = []
    for program in programs(library, folder, "two_models"):
        done = run(program, *models)
        if done.returncode != 0 or sorted(done.stdout.split("\n")[:-1]) != wanted:
            wrong.append(f"{program.name}: exit code {done.returncode}, {done.stderr.strip()}\n  it computes {done.stdout.split()}\n  C++ computes {wanted}")
    print(f"two models in turns, 7 ways, 3 time steps: {len(wanted)} hashes equal to those of C++" if not wrong else "hashes differ")
    return wrong


def parts(library, folder, models):
    """Images, batches, logs and traces; what the program prints is the trace of a session."""
    wrong = []
    for compiler in compilers():
        flags = ["-std=c++17", "-O1", "-ffp-contract=off", *STRICT[1:], "-DNSK_C_SHARED"]
        said = compile_file(compiler, HERE / "parts.cpp", folder / f"parts.{compiler}.o", Tree(REPOSITORY), flags)
        said = said or link(compiler, [folder / f"parts.{compiler}.o", library], folder / f"parts_{compiler}", [f"-Wl,-rpath,{library.parent}"])
        if said:
            raise SystemExit(f"{compiler} parts.cpp:\n{said}")
        done = run(folder / f"parts_{compiler}", *models)
        bars = [bar for bar in json.loads(done.stdout)["traceEvents"] if bar["ph"] == "X"] if done.returncode == 0 else []
        steps = {bar["args"]["step"] for bar in bars if bar["tid"] == 1}
        lanes = {bar["tid"] for bar in bars if "args" in bar and bar["tid"] > 1}
        if done.returncode != 0 or steps != set(range(len(steps))) or len(steps) < 5 or lanes != {2, 3}:
            wrong.append(f"{compiler} parts.cpp: exit code {done.returncode}, steps {steps}, lanes {lanes}\n{done.stderr}")
    return wrong


def misuse(library, folder, source, models):
    wrong = []
    for program in programs(library, folder, source):
        done = run(program, *models)
        if done.returncode != 0:
            wrong.append(f"{program.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return wrong


def implementation_in_c(folder):
    """A C compiler that is asked for the implementation says in one sentence that it belongs into a .cpp file."""
    source = folder / "wrong.c"
    source.write_text("#define NSK_C_IMPLEMENTATION nsk::all_settings\n#include <netsuke/c/netsuke.h>\n")
    done = run("cc", f"-I{REPOSITORY / 'include'}", "-c", source, "-o", os.devnull)
    return [] if done.returncode != 0 and "belongs into a .cpp file" in done.stderr else [f"the implementation in C: {done.stderr}"]


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="nsk_c_") as folder:
        folder = pathlib.Path(folder)
        conv, memory, agents = make_models(folder)
        wrong = numbers_of_codes(library) + symbols(library) + guard_can_fail(folder) + implementation_in_c(folder)
        wrong += two_models(library, folder, [conv, memory])
        image = image_model(folder)
        wrong += misuse(library, folder, "misuse", [conv, memory, agents]) + misuse(library, folder, "misuse_parts", [image, agents])
        wrong += parts(library, folder, [image, agents])
    print("\n".join(wrong + [f"the C interface: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
