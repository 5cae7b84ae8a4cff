# SPDX-License-Identifier: MIT
"""Guards on fast paths (kernels/path.hpp): op_traits<op>::path() is asked, and what decides it is known to kernels alone."""
import re

from structure_guards import plant_tool

# Functions that decide a path: each is called by path_of of its kernel only.
CONDITION = re.compile(r"^(?:constexpr|inline)\s+bool\s+(suits_\w+|is_wide_window)\(", re.MULTILINE)


def conditions(tree):
    """The names of the functions in kernels/**/paths/ that decide a path."""
    return {name for path in (tree.include / "netsuke/kernels").rglob("paths/*.hpp") for name in CONDITION.findall(path.read_text())}


def paths(tree):
    """The converter asks path_of() and names nothing of kernels::impl; nothing outside kernels/ derives the condition of a path."""
    violations = []
    names = conditions(tree)
    deciding = re.compile(r"\b(" + "|".join(sorted(names)) + r")\(") if names else None
    for base in (tree.include / "netsuke", tree.root / "tools/nsk"):
        for path in sorted(p for p in base.rglob("*") if p.suffix in (".hpp", ".cpp", ".inc")):
            name = path.relative_to(tree.root).as_posix()
            if name.startswith("include/netsuke/kernels/"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if name.startswith("tools/") and "kernels::impl" in line:
                    violations.append(f"{name}:{number}: kernels::impl is not for the converter: ask path_of(step), or make the function public")
                if deciding and deciding.search(line):
                    violations.append(f"{name}:{number}: derives the path of a step: ask path_of(step)")
    return violations


GUARDS = {
    "paths": (paths, [
        ("a tool that knows a kernel's inside", plant_tool("profile/seeded.cpp", "int seeded = kernels::impl::strip_floats;\n")),
        ("an operator that derives a path", lambda t: t.plant("ops/seeded.hpp", "inline bool seeded() { return kernels::impl::suits_few_outputs({}, {}); }\n")),
    ]),
}
