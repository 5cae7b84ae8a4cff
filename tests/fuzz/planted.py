#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Leaves rules of the verifier out, one at a time, and expects that the mutator notices: that a sanitizer, or a check of its own, ends it.

    planted.py [--count 60000] [--only PATTERN] WORK_FOLDER [--cmake OPTION...]

Copies the sources to WORK_FOLDER and builds the program once, with all rules made so that the environment variable NSK_PLANTED leaves one out.
Prints a line for each; exit code 1 where one was not noticed, or where a rule's text changed so that it could not be left out.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MODEL, OPS = "model/impl/", "ops/impl/"
# (file, the rule, the rule that can be left out: PLANTED is true where it is)
RULES = [
    (MODEL + "verify_tensors.hpp", "return t.rank() >= 3 && is_float_lines(t);", "return PLANTED || (t.rank() >= 3 && is_float_lines(t));"),
    (MODEL + "verify_tensors.hpp", "if (stride > maximum || stride < -maximum) return false;", "if (!PLANTED && (stride > maximum || stride < -maximum)) return false;"),
    (MODEL + "verify_tensors.hpp", "if (group.meets(b)) return", "if (!PLANTED && group.meets(b)) return"),
    (MODEL + "verify_written.hpp", "return rows_are_in(writer, bytes) && rows_are_in(t, bytes);", "return PLANTED || (rows_are_in(writer, bytes) && rows_are_in(t, bytes));"),
    (MODEL + "verify_written.hpp", "if (inner.top > h.top ||", "if (!PLANTED) if (inner.top > h.top ||"),
    (MODEL + "verify_written.hpp", "if (is_covered(c, t, wanted, end, 2)) return {};", "if (PLANTED || is_covered(c, t, wanted, end, 2)) return {};"),
    (MODEL + "verify_written.hpp", "if (works_in_place(writer)) continue;\n    if (!rows_agree", "if (!PLANTED && works_in_place(writer)) continue;\n    if (!rows_agree"),
    (MODEL + "verify_flow.hpp", "if (may_work_in_place(s, i) &&", "if ((PLANTED || may_work_in_place(s, i)) &&"),
    (MODEL + "verify_flow.hpp", "&& same_view(input, output)) {", "&& (PLANTED || same_view(input, output))) {"),
    (MODEL + "verify_flow.hpp", "} else if (shared_bytes(", "} else if (!PLANTED && shared_bytes("),
    (MODEL + "verify_flow.hpp", "return in_place || output.where()", "return PLANTED || in_place || output.where()"),
    (MODEL + "verify_steps.hpp", "accepted(operands_agree(s, own) &&", "accepted((PLANTED || operands_agree(s, own)) &&"),
    (MODEL + "verify_steps.hpp", "&& epilogue_agrees(s, e) &&", "&& (PLANTED || epilogue_agrees(s, e)) &&"),
    (MODEL + "verify_steps.hpp", "&& output_is_writable(s));", "&& (PLANTED || output_is_writable(s)));"),
    (MODEL + "verify_steps.hpp", "return (!whole.rows || grid.rows == 1) &&", "return PLANTED || (!whole.rows || grid.rows == 1) &&"),
    (MODEL + "verify_batch.hpp", "if (!rule.apart) return false;", "if (!PLANTED && !rule.apart) return false;"),
    (MODEL + "verify_batch.hpp", "if (!good) return false;", "if (!PLANTED && !good) return false;"),
    (OPS + "operands.hpp", "(!o.lines || t.strides()", "(PLANTED || !o.lines || t.strides()"),
    (OPS + "operands.hpp", "(has_border(y) && !table.output.border)", "(!PLANTED && has_border(y) && !table.output.border)"),
    (OPS + "operands.hpp", "(o.rank == 0 || t.rank() == o.rank)", "(PLANTED || o.rank == 0 || t.rank() == o.rank)"),
    (OPS + "operands.hpp", "(!o.same_shape || same_shape(t, y))", "(PLANTED || !o.same_shape || same_shape(t, y))"),
    (OPS + "quad_rules.hpp", "return sum <= INT32_MAX &&", "return PLANTED || sum <= INT32_MAX &&"),
    (OPS + "quad_rules.hpp", "if (quad[k] != std::byte{0}) return", "if (!PLANTED && quad[k] != std::byte{0}) return"),
]
SWITCH = """#include <cstdlib>
inline int nsk_planted() { static const int rule = std::atoi(std::getenv("NSK_PLANTED") ? std::getenv("NSK_PLANTED") : "-1"); return rule; }
"""


def plant(include):
    """Makes every rule one that can be left out; returns those whose text is not there."""
    missing = []
    for i, (file, rule, without) in enumerate(RULES):
        path = include / "netsuke" / file
        text = path.read_text()
        if text.count(rule) != 1:
            missing.append(i)
            continue
        path.write_text(text.replace(rule, without.replace("PLANTED", f"(::nsk_planted() == {i})")))
    return missing


def build(folder, options):
    for name in ("include", "schema", "tests", "tools", "examples", "bindings", "shaders", "CMakeLists.txt"):
        source, target = REPOSITORY / name, folder / name
        if target.is_dir():
            shutil.rmtree(target)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    missing = plant(folder / "include")
    (folder / "planted.hpp").write_text(SWITCH)
    off = [f"-DNSK_BUILD_{part}=OFF" for part in ("TOOLS", "EXAMPLES", "BENCH")]
    subprocess.run(["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", *off, f"-DCMAKE_CXX_FLAGS=-include {folder / 'planted.hpp'} -w", *options],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder / "build", "--target", "corrupt"], check=True, stdout=subprocess.DEVNULL)
    return missing


def sign_of(done):
    """The line that says what was noticed."""
    lines = [line for line in done.stderr.splitlines() if re.search(r"ERROR: |runtime error|depend|writes what|differ", line)]
    return lines[0].strip()[:110] if lines else f"ended with {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60000)
    parser.add_argument("--only", default="", help="rules whose file or text matches")
    parser.add_argument("--cmake", nargs=argparse.REMAINDER, default=[], help="options of cmake: the last of all")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    missing = build(folder, arguments.cmake)
    command = [folder / "build/tests/fuzz/corrupt", "--plausible", arguments.count, "--layouts", arguments.count // 10, "--plans", arguments.count // 2]
    unnoticed = 0
    for i, (file, rule, _) in enumerate(RULES):
        if not re.search(arguments.only, file + " " + rule):
            continue
        if i in missing:
            said = "NOT LEFT OUT: its text has changed"
        else:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, "NSK_PLANTED": str(i)})
            said = sign_of(done) if done.returncode else "NOT NOTICED"
        unnoticed += said.startswith("NOT")
        print(f"{pathlib.Path(file).name:20} {rule[:58]!r:62} {said}", flush=True)
    print(f"{unnoticed} rules left out without a sign")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
