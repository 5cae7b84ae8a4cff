# SPDX-License-Identifier: MIT
"""Guards on what a caller's mistake does: text first, then the end of the program; with NDEBUG nothing, unless it would write through nothing."""
import pathlib
import re
import shlex
import shutil

from common import GUARDS as FOLDER
from common import STRICT, compile_file, compilers, first_lines, library_flags, link, note, parallel, run, scratch_folder

SOURCE = FOLDER / "asserts.cpp"
SYSTEM_HEADERS = ("<unistd.h>", "<assert.h>", "<cstdio>", "<flatbuffers/flatbuffers.h>")
WINDOWS_GXX = "x86_64-w64-mingw32-g++"
# What program argument makes the mistake, and what must be said of it. FlatBuffers' own words follow its version.
MISTAKES = {"1": r"core/span\.hpp:\d+: netsuke: span: index past the end$",
            "2": r"model/model\.hpp:\d+: netsuke: model::variant: no such variant, or the model is not open",
            "3": r"flatbuffers/vector\.h:\d+: netsuke: FlatBuffers: i < size\(\)$",
            "4": r"run/session\.hpp:\d+: netsuke: session: it cannot run"}
SILENT, HOST = "silent", "the host's"
# Mistakes that every build reports: something was refused, and is used nevertheless.
ALWAYS = dict.fromkeys("567", r"core/checked_span\.hpp:\d+: netsuke: no model is open: call nsk::open and check its status before making a session$")
USER_MACRO = "-DNSK_ASSERT(condition,text)=((condition)?(void)0:__builtin_exit(9))"


def builds():
    """(what, flags, what becomes of mistakes)."""
    yield "as it is", [], MISTAKES
    yield "with NDEBUG", ["-DNDEBUG"], SILENT
    yield "with a macro of the user's own", [USER_MACRO], HOST
    yield "in a host that included FlatBuffers first", ["-DBEFORE=<flatbuffers/flatbuffers.h>"], {**MISTAKES, "3": "Assertion.*i < size"}


def problem_of(program, expected):
    """'' or what is wrong with what the program says of mistakes."""
    if run([program]).returncode != 0:
        return "a program without a mistake does not end well"
    for mistake, words in MISTAKES.items():
        done = run([program, mistake])
        if expected is SILENT:
            wrong = done.returncode != 0 or done.stderr
        elif expected is HOST:
            wrong = done.returncode != 9 or done.stderr
        else:
            wrong = done.returncode >= 0 or not re.search(expected[mistake], done.stderr, re.MULTILINE)
        if wrong:
            return f"mistake {mistake}: exit code {done.returncode}, {done.stderr.strip()!r}"
    for mistake, words in ALWAYS.items():
        done = run([program, mistake])
        if done.returncode >= 0 or not re.search(words, done.stderr, re.MULTILINE):
            return f"mistake {mistake}: exit code {done.returncode}, {done.stderr.strip()!r}"
    return ""


def asserts(tree):
    """The default assertion says file, line and text, FlatBuffers' too; NDEBUG removes it; users and hosts have their own."""
    with scratch_folder() as folder:

        def attempt(job):
            number, compiler, (what, flags, expected) = job
            program = pathlib.Path(folder) / f"asserts{number}"
            said = compile_file(compiler, SOURCE, f"{program}.o", tree, [*STRICT, "-O1", "-DNSK_ISA_SCALAR", *flags])
            said = said or link(compiler, [f"{program}.o"], program) or problem_of(program, expected)
            return f"{compiler} {what}: {first_lines(said)}" if said else None

        wanted = list(builds()) if tree.changed is None else list(builds())[:2]
        jobs = [(number, *job) for number, job in enumerate((c, b) for c in compilers()[:1] for b in wanted)]
        return [v for v in parallel(attempt, jobs) if v]


def assert_headers(tree):
    """What the assertion declares for itself agrees with the system's headers, before and after it, with every compiler."""
    jobs = [(c, side, header) for c in compilers() for header in SYSTEM_HEADERS for side in ("BEFORE", "AFTER")]
    if shutil.which(WINDOWS_GXX):
        jobs += [(WINDOWS_GXX, side, "<windows.h>") for side in ("BEFORE", "AFTER")]
    else:
        note(f"{WINDOWS_GXX} is not installed, so nothing is compiled for Windows (apt install g++-mingw-w64-x86-64)")

    def attempt(job):
        compiler, side, header = job
        libraries = library_flags(compiler) or ["-idirafter", "/usr/include"]
        done = run([*shlex.split(compiler), *STRICT, "-fsyntax-only", "-DNSK_ISA_SCALAR", f"-I{tree.include}", *libraries, f"-D{side}={header}",
                    "-x", "c++", FOLDER / "assert_headers.cpp"])
        return f"{compiler}, {header} {side.lower()}: {first_lines(done.stderr)}" if done.returncode else None

    return [v for v in parallel(attempt, jobs) if v]


GUARDS = {
    "asserts": (asserts, [
        ("an assertion that prints nothing", lambda t: t.replace("core/assert.hpp", r"^  print\(block.*$", "")),
        ("an assertion that forgets its text", lambda t: t.replace("core/assert.hpp", r"^\s*message\.add\(text\);$", "static_cast<void>(text);")),
        ("FlatBuffers' assertions left alone", lambda t: t.replace("format/impl/flatbuffers_assert.hpp", r"^#define FLATBUFFERS_ASSERT.*$",
                                                                   "#include <cassert>\n#define FLATBUFFERS_ASSERT assert")),
        ("elements that are not there, and are written", lambda t: t.replace("core/checked_span.hpp", r"^\s*if \(!m_status\) impl::stop.*$", "")),
        ("assertions that stay with NDEBUG", lambda t: t.replace("core/assert.hpp", r"#if defined\(NDEBUG\)", "#if 0")),
    ]),
    "assert_headers": (assert_headers, [
        ("a declaration that disagrees", lambda t: t.replace("core/assert.hpp", r"write\(int file, const void\* bytes", "write(int file, void* bytes"))]),
}
