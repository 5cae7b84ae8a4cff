# SPDX-License-Identifier: MIT
"""What guards share: the tree they look at, compiling, and seeding a violation in a copy of it.

A guard is a function check(tree) that returns a list of violations, and a list of seeds. A seed is (description, function): the
function plants one violation in a copy of the tree, after which check must report something. A guard that stays silent has failed.
"""
import concurrent.futures
import functools
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
GUARDS = pathlib.Path(__file__).resolve().parent
FOREIGN_MACROS = GUARDS / "foreign_macros.hpp"  # a program's macros
STRICT = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]

# clang's flag with which a precompiled header holds the instances of templates that it needs: programs that read it do not make them again.
READ_WHOLE = "-fpch-instantiate-templates"


class Skipped(Exception):
    """A guard cannot look, for the reason given."""


class Tree:
    """A checkout, or a copy of its include/ folder with something planted in it. `changed` restricts slow guards to those files."""

    def __init__(self, root, changed=None):
        self.root = pathlib.Path(root)
        self.include = self.root / "include"
        self.changed = changed

    def headers(self):
        found = sorted(self.include.rglob("*.hpp"))
        return [h for h in found if self.changed is None or self.name(h) in self.changed]

    def name(self, header):
        return header.relative_to(self.include).as_posix()

    # What seeds use.
    def plant(self, name, text):
        """Writes a new header."""
        path = self.include / "netsuke" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("// SPDX-License-Identifier: MIT\n#pragma once\n" + text)
        self.changed = (self.changed or []) + ["netsuke/" + name]

    def replace(self, name, pattern, replacement):
        """Changes existing headers (`name` may be a glob); a pattern that is found nowhere is an error of the seed."""
        count = 0
        for path in sorted((self.include / "netsuke").glob(name)):
            text, n = re.subn(pattern, replacement, path.read_text(), flags=re.MULTILINE)
            path.write_text(text)
            count += n
        if count == 0:
            raise RuntimeError(f"seed: nothing in {name} matches {pattern!r}")


def copy_tree(folder):
    shutil.copytree(REPOSITORY / "include", pathlib.Path(folder) / "include")
    return Tree(folder)


def without_comments(text):
    """The code of a C++ file: comments and the contents of literals are blanked, line numbers stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)

    def blank(match):
        token = match.group(0)
        if token.startswith("/"):
            return "\n" * token.count("\n") or " "
        return token[0] + token[-1]

    return pattern.sub(blank, text)


def compilers():
    """g++ and clang++, where they are installed."""
    found = []
    for name in (os.environ.get("NSK_GXX", "g++"), os.environ.get("NSK_CLANGXX", "clang++")):
        if shutil.which(name):
            found.append(name)
        else:
            note(f"{name} is not installed, so nothing is checked with it")
    return found


AARCH64_GXX = os.environ.get("NSK_AARCH64_GXX", "aarch64-linux-gnu-g++")
AARCH64_EMULATOR = [os.environ.get("NSK_QEMU_AARCH64", "qemu-aarch64"), "-cpu", "cortex-a72", "-L", "/usr/aarch64-linux-gnu"]


@functools.lru_cache
def note(text):
    """Says once what is missing here: never skipped silently."""
    print(f"note: {text}")


def on_aarch64():
    return platform.machine() in ("aarch64", "arm64")


def aarch64_compilers():
    """What compiles for AArch64: the machine's own compilers there, elsewhere cross compilers where they are installed."""
    if on_aarch64():
        return compilers()
    if not shutil.which(AARCH64_GXX):
        note(f"{AARCH64_GXX} is not installed, so nothing is compiled for NEON (apt install g++-aarch64-linux-gnu)")
        return []
    # clang needs no packages of its own: it uses the cross compiler's libraries.
    return [AARCH64_GXX] + [f"{c} --target=aarch64-linux-gnu" for c in compilers() if is_clang(c)]


def runs_aarch64():
    """Whether programs for AArch64 can be run here, by the processor or an emulator."""
    if on_aarch64() or shutil.which(AARCH64_EMULATOR[0]):
        return True
    note(f"{AARCH64_EMULATOR[0]} is not installed, so nothing runs on NEON (apt install qemu-user)")
    return False


def is_cross(compiler):
    return "aarch64" in compiler


def has_avx512():
    """Whether this processor, and its operating system, have what the AVX-512 build needs."""
    try:
        flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE).group(1).split())
    except (OSError, AttributeError):
        return False
    return {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags


def is_clang(compiler):
    return "clang" in os.path.basename(compiler)


def library_flags(compiler):
    """Where FlatBuffers' headers are. A cross compiler looks there after its own headers."""
    path = os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR", "")
    if path and path not in ("/usr/include", "/usr/local/include"):
        return ["-isystem", path]
    return ["-idirafter", "/usr/include"] if is_cross(compiler) else []


def run(command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def compile_file(compiler, source, output, tree, flags):
    """Compiles through ccache where there is one. Returns '' or what the compiler said."""
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree.root), CCACHE_NOHASHDIR="1", CCACHE_SLOPPINESS="pch_defines,time_macros")
    # Relative paths, seen from the tree's root, so that the cache also serves other checkouts.
    command = launcher + shlex.split(compiler) + ["-Iinclude"] + library_flags(compiler) + flags + ["-c", source, "-o", output]
    done = run(command, cwd=tree.root, env=environment)
    return "" if done.returncode == 0 else (done.stderr or done.stdout or "the compiler failed without a message")


def link(compiler, objects, output, flags=()):
    linker = [AARCH64_GXX] if is_cross(compiler) else shlex.split(compiler)
    done = run([*linker, *flags, *objects, "-o", output, "-pthread"])
    return "" if done.returncode == 0 else done.stderr


def run_program(compiler, program, *arguments, processor=None):
    """Runs what `compiler` made, on an emulator where it must be: of a processor without dot products, or of `processor`."""
    emulator = [AARCH64_EMULATOR[0], "-cpu", processor, *AARCH64_EMULATOR[3:]] if processor else AARCH64_EMULATOR
    return run([*(emulator if is_cross(compiler) else []), program, *arguments])


def parallel(function, items):
    """Results of function over items, two at a time, in order."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=int(os.environ.get("NSK_GUARD_JOBS", "2"))) as pool:
        return list(pool.map(function, items))


def scratch_folder():
    return tempfile.TemporaryDirectory(prefix="nsk_guard_")


def first_lines(text, count=6):
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n      ".join(lines[:count])
