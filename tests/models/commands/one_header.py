#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library as one header (tools/amalgamate.py): it compiles alone, strictly, with g++ and clang, says what is missing without FlatBuffers, and gives
the bits of include/. With the C interface and FlatBuffers in it, it needs nothing else."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support"), str(pathlib.Path(__file__).resolve().parents[2] / "guards"),
                str(pathlib.Path(__file__).resolve().parents[3] / "tools")]
from amalgamate import INCLUDE, PUBLIC, amalgamated  # noqa: E402
from common import STRICT, Tree, compilers, first_lines, library_flags, run  # noqa: E402
from engine_guards import OWN, converted, settings_flags  # noqa: E402
from models import REPOSITORY  # noqa: E402

PROBE = REPOSITORY / "tests" / "models" / "commands" / "same_bits.cpp"


def compiled(compiler, include, flags, source, output):
    return run([compiler, f"-I{include}", *library_flags(compiler), *flags, source, "-o", output, "-pthread"])


def flatbuffers_folder():
    return pathlib.Path(os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR", "/usr/include"))


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_one_header_") as folder:
        folder = pathlib.Path(folder)
        place = folder / "netsuke"
        place.mkdir()
        (folder / "netsuke.hpp").write_text(amalgamated())
        (folder / "with_gpu.hpp").write_text(amalgamated(["gpu"]))
        for name in PUBLIC:  # programs that include parts of include/ compile with it too
            (folder / name).write_text('#include "../netsuke.hpp"\n')
        program = folder / "program.cpp"
        program.write_text('#include "netsuke.hpp"\n#include "netsuke.hpp"\nint main() { return nsk::cpu_supports() ? 0 : 1; }\n')
        gpu = folder / "gpu.cpp"
        gpu.write_text('#include "with_gpu.hpp"\nint main() { return 0; }\n')
        c = folder / "c.cpp"
        c.write_text('#define NSK_C_IMPLEMENTATION nsk::default_settings\n#include "with_c.hpp"\n')
        (folder / "with_c.hpp").write_text(amalgamated(["c"], flatbuffers_folder()))
        failures = ["the header with FlatBuffers includes FlatBuffers"] if re.search(r'^\s*#\s*include\s*["<]flatbuffers/', (folder / "with_c.hpp").read_text(), re.MULTILINE) else []
        for compiler in compilers():
            for source in (program, gpu, c):  # FlatBuffers' own code is not strict
                flags = [*STRICT, "-c"] if source != c else ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
                said = compiled(compiler, folder, flags, source, folder / "program.o")
                failures += [f"{compiler} {source.name}: {first_lines(said.stderr)}"] if said.returncode else []
        missing = subprocess.run([compilers()[0], "-std=c++17", "-fsyntax-only", "-nostdinc", f"-I{folder}", program], capture_output=True, text=True)
        if "flatbuffers/base.h" not in missing.stderr:
            failures.append(f"without FlatBuffers nothing says so: {first_lines(missing.stderr)}")
        model = converted(folder, OWN)
        hashes = []
        for include in (INCLUDE, folder):
            said = compiled(compilers()[0], include, ["-std=c++17", "-O1", "-DNSK_KEEP_USER_OPT", *settings_flags(Tree(REPOSITORY), model)], PROBE, folder / "probe")
            if said.returncode:
                failures.append(f"{include}: {first_lines(said.stderr)}")
                break
            hashes.append([line for line in run([folder / "probe", model]).stdout.splitlines() if "stack" not in line])
        if len(hashes) == 2 and (hashes[0] != hashes[1] or not hashes[0]):
            failures.append(f"other bits: {hashes}")
        print("\n".join(failures) or f"one header of {(folder / 'netsuke.hpp').stat().st_size} bytes; {len(hashes[0])} lines of hashes are the same")
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
