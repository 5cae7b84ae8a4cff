#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one guard on the tree, or with --seeded proves that it fires: plants each of its violations in a copy and expects a report.

  guard.py NAME [--seeded]      guard.py --list      guard.py --list-fast (those that need no compiler)
"""
import sys

import aggregate_guards
import arm_guards
import assert_guards
import binary_guards
import compile_guards
import configure_guards
import debugger_guards
import engine_guards
import macro_guards
import op_guards
import path_guards
import project_guards
import sentence_guards
import source_guards
import structure_guards
import target_guards
import tool_guards
import visual_cpp_guards
import word_guards
from common import REPOSITORY, Skipped, Tree, copy_tree, scratch_folder

GUARDS = {**source_guards.GUARDS, **aggregate_guards.GUARDS, **arm_guards.GUARDS, **assert_guards.GUARDS, **compile_guards.GUARDS, **configure_guards.GUARDS,
          **binary_guards.GUARDS, **debugger_guards.GUARDS, **engine_guards.GUARDS, **macro_guards.GUARDS, **op_guards.GUARDS, **path_guards.GUARDS,
          **target_guards.GUARDS, **structure_guards.GUARDS, **sentence_guards.GUARDS, **project_guards.GUARDS, **tool_guards.GUARDS, **word_guards.GUARDS,
          **visual_cpp_guards.GUARDS}

FAST = {**source_guards.GUARDS, **structure_guards.GUARDS, **project_guards.GUARDS, **word_guards.GUARDS}


def check_tree(name):
    violations = GUARDS[name][0](Tree(REPOSITORY))
    for violation in violations:
        print(f"  {violation}")
    print(f"{name}: {len(violations)} violation(s)" if violations else f"{name}: clean")
    return 1 if violations else 0


def check_seeds(name):
    check, seeds = GUARDS[name]
    silent = 0
    # Only what the tree itself does not already violate counts. Guards that compile take too long to look at the tree once more:
    # they fail on it in a test of their own.
    known = set(check(Tree(REPOSITORY))) if name in {**source_guards.GUARDS, **structure_guards.GUARDS} else set()
    for description, plant in seeds:
        with scratch_folder() as folder:
            tree = copy_tree(folder)
            plant(tree)
            violations = [v for v in check(tree) if v not in known]
        print(f"  {'fires' if violations else 'SILENT'}: {description}" + (f"\n      {violations[0]}" if violations else ""))
        silent += not violations
    print(f"{name}: fires on {len(seeds) - silent} of {len(seeds)} planted violations")
    return 1 if silent or not seeds else 0


def main(arguments):
    if arguments in (["--list"], ["--list-fast"]):
        print("\n".join(GUARDS if arguments == ["--list"] else FAST))
        return 0
    if not arguments or arguments[0] not in GUARDS or arguments[1:] not in ([], ["--seeded"]):
        print(__doc__)
        return 2
    try:
        return check_seeds(arguments[0]) if arguments[1:] else check_tree(arguments[0])
    except Skipped as reason:
        print(f"SKIPPED: {reason}")
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
