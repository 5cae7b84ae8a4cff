# SPDX-License-Identifier: MIT
"""A program's macros do not reach into the library, and the program has them back afterwards.

core/hide_macros.hpp hides them. That no macro of foreign_macros.hpp is expanded is seen in the preprocessed text: it is the same with
them, one by one and together, as without them. What compiles with them: every header alone, in the guard `headers`.
"""
import pathlib
import re
import shlex

from common import REPOSITORY, FOREIGN_MACROS, compilers, library_flags, parallel, run, scratch_folder

HIDE, RESTORE = "netsuke/core/hide_macros.hpp", "netsuke/core/restore_macros.hpp"
# They hold preprocessor directives alone, or stand inside other headers.
UNHIDDEN = {HIDE, RESTORE, "netsuke/config.hpp", "netsuke/version.hpp", "netsuke/simd/begin.hpp", "netsuke/simd/end.hpp",
            "netsuke/format/generated/lists.hpp"}
PROGRAM = "#include <netsuke/all_ops.hpp>\n#include <netsuke/image.hpp>\n"


def names_in(tree, header, directive):
    return re.findall(rf'^#\s*{directive}\W+(\w+)', (tree.include / header).read_text(), re.MULTILINE)


def hidden_names(tree):
    return [name for name in names_in(tree, HIDE, "pragma push_macro") if name != "NSK_IMPL_OUTERMOST"]


def lists(tree):
    """What is hidden is what is restored, and every header does both."""
    pushed, popped = (sorted(names_in(tree, h, f"pragma {d}")) for h, d in ((HIDE, "push_macro"), (RESTORE, "pop_macro")))
    undefined = sorted(names_in(tree, HIDE, "undef"))
    violations = [f"{HIDE} and {RESTORE} differ on {name}" for name in sorted(set(pushed) ^ set(popped) | set(pushed) ^ set(undefined))]
    for header in tree.headers():
        name = tree.name(header)
        if name in UNHIDDEN:
            continue
        lines = [line for line in header.read_text().splitlines() if line.strip()]
        included = [line for line in lines if line.startswith("#include")]
        if not included or included[0] != f"#include <{HIDE}>":
            violations.append(f"{name}: its first include is not <{HIDE}>")
        if lines[-1] != f"#include <{RESTORE}>":
            violations.append(f"{name}: its last line does not include <{RESTORE}>")
    return violations


def definitions():
    """The macros of foreign_macros.hpp, as -D takes them."""
    found = re.findall(r"^#define (\w+(?:\([^)]*\))?)[ ]?(.*)$", FOREIGN_MACROS.read_text(), re.MULTILINE)
    return [f"-D{head}={body}" for head, body in found]


def name_of(definition):
    return re.match(r"-D(\w+)", definition).group(1)


def flag_sets(tree, one_by_one):
    """(description, compiler flags): each macro as its header writes it, all of them, and every hidden name as something that
    nothing compiles with."""
    if one_by_one:
        yield from ((name_of(d), [d]) for d in definitions())
    yield "all macros of foreign_macros.hpp", ["-include", FOREIGN_MACROS]
    yield "every hidden name as an object", [f"-D{name}=stranger" for name in hidden_names(tree)]
    yield "every hidden name as a function", [f"-D{name}(...)=stranger" for name in hidden_names(tree)]


def preprocess(compiler, tree, source, flags):
    command = [*shlex.split(compiler), "-std=c++17", f"-I{tree.include}", *library_flags(compiler), "-E", "-P", *flags, source]
    done = run(command)
    if done.returncode != 0:
        return "", done.stderr.strip() or "no message"
    return "\n".join(line for line in done.stdout.splitlines() if line.strip()), ""


def first_difference(expected, text):
    for number, (a, b) in enumerate(zip(expected.splitlines(), text.splitlines())):
        if a != b:
            return f"line {number}: {b.strip()[:120]}"
    return "one text is longer"


def expansions(tree, source):
    """What a macro of the program changes in the text that the compiler sees."""
    violations = []
    for compiler in compilers():
        # One by one with one compiler: all of them together are the same proof, shorter.
        one_by_one = tree.root == REPOSITORY and compiler == compilers()[0]
        expected, said = preprocess(compiler, tree, source, [])
        if said:
            return [f"{compiler}: {said}"]

        def attempt(case):
            text, error = preprocess(compiler, tree, source, case[1])
            if error:
                return f"{compiler}, {case[0]}: {error[:300]}"
            return None if text == expected else f"{compiler}, {case[0]}: {first_difference(expected, text)}"

        violations += [v for v in parallel(attempt, list(flag_sets(tree, one_by_one))) if v]
    return violations


def losses(tree, source):
    """Macros of the program that are gone, or others, after the library's headers."""
    violations = []
    for compiler in compilers():
        def macros(flags, file):
            text, _ = preprocess(compiler, tree, file, ["-dM", "-include", FOREIGN_MACROS, *flags])
            return dict(re.findall(r"^#define (\w+)(.*)$", text, re.MULTILINE))

        before, after = macros([], FOREIGN_MACROS), macros([], source)
        wanted = {name_of(d) for d in definitions()} - {"assert"}  # <cassert> defines its own, as the standard asks
        violations += [f"{compiler}: {name} is not what it was before the library was included"
                       for name in sorted(wanted) if before.get(name) != after.get(name)]
    return violations


def macros(tree):
    """No macro of a program is expanded in the library, and none is lost."""
    violations = lists(tree)
    with scratch_folder() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(PROGRAM)
        if tree.changed is None:
            violations += expansions(tree, source) + losses(tree, source)
    return violations


GUARDS = {
    "macros": (macros, [
        ("a header that hides nothing", lambda t: t.plant("seeded.hpp", "#include <cstdint>\ninline int near() { return 1; }\n")),
        ("a name that is hidden and not restored", lambda t: t.replace("core/restore_macros.hpp", r'^#pragma pop_macro\("near"\)\n', "")),
        ("a name that nothing hides", lambda t: t.replace("core/*_macros.hpp", r'^#(pragma \w+_macro\("near"\)|undef near)\n', "")),
        ("a macro that is lost", lambda t: t.replace("core/restore_macros.hpp", r"^#endif\n", "#endif\n#undef I\n")),
    ]),
}
