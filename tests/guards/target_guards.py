# SPDX-License-Identifier: MIT
"""Guards on machines that are not this one: Windows with its headers first, WebAssembly, Arm, and both ends of FlatBuffers' versions."""
import os
import pathlib
import re
import shutil
import sys

from common import GUARDS as GUARDS_FOLDER
from common import REPOSITORY, STRICT, Skipped, compile_file, compilers, first_lines, is_clang, link, note, parallel, run, scratch_folder
from engine_guards import OWN, TOOL, converted, guard_files, planted_settings
from macro_guards import PROGRAM

MINGW_GXX = ("x86_64-w64-mingw32-g++-posix", "x86_64-w64-mingw32-g++")
ARM_GXX = "arm-linux-gnueabihf-g++"
# Every operator, with all that a session instantiates.
SESSION = PROGRAM + "template class nsk::session<nsk::all_settings>;\n"
# What two_isa.cpp answers where a model cannot be opened.
NOT_OPENED = f"{2:016x}"
# Files that must not be opened: kernels would leave their memory, or overflow. Some only where pointers have 32 bits.
HOSTILE = sorted((REPOSITORY / "tests/fuzz/corpus").glob("hostile_*"))
WINDOWS = "#include <windows.h>\n"
FLATBUFFERS = pathlib.Path(os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR") or "/usr/include") / "flatbuffers"
# Where tools/install_dependencies.sh puts the newest FlatBuffers headers that were tested.
NEWEST_FLATBUFFERS = pathlib.Path(os.environ.get("NSK_NEWEST_FLATBUFFERS", REPOSITORY / "build" / "flatbuffers_newest")) / "flatbuffers"
OLDEST, NEWEST, VERSION_PARTS = (2, 0, 8), (25, 12, 19), ("MAJOR", "MINOR", "REVISION")


def zig():
    """zig as a list, from NSK_ZIG, the path, or the package ziglang of this Python; None where there is none."""
    named = os.environ.get("NSK_ZIG", "zig")
    for command in ([named] if shutil.which(named) else [], [sys.executable, "-m", "ziglang"]):
        if command and run([*command, "version"]).returncode == 0:
            return command
    note("ziglang is not installed, so nothing is compiled for WebAssembly and with clang for Windows and macOS (pip install ziglang)")
    return None


def zig_compiler(target):
    found = zig()
    return [*found, "c++", "-target", target, "-g0", "-fno-sanitize=undefined"] if found else None


def installed(names, package):
    for name in names:
        if shutil.which(name):
            return [name]
    note(f"{names[-1]} is not installed, so nothing is compiled with it (apt install {package})")
    return None


def arm():
    return installed([ARM_GXX], "g++-arm-linux-gnueabihf")


def builds():
    """(what, compiler, source, flags) of all that is compiled and not run. zig always makes an object; the others only look."""
    look = ["-fsyntax-only"]
    mingw = installed(MINGW_GXX, "g++-mingw-w64-x86-64-posix")
    found = [("mingw, windows.h first", mingw, WINDOWS + SESSION, look)]
    # clang uses the cross compiler's libraries.
    found += [("32-bit Arm", [c, "--target=arm-linux-gnueabihf"] if arm() else None, SESSION, look) for c in compilers() if is_clang(c)]
    found += [(f"zig {target}", zig_compiler(target), (WINDOWS if "windows" in target else "") + PROGRAM, ["-O0"])
              for target in ("x86_64-windows-gnu", "aarch64-windows-gnu", "aarch64-macos", "arm-linux-gnueabihf", "x86-linux-gnu")]
    return [b for b in found if b[1]]


def alone(folder, flatbuffers_headers):
    """A folder that holds FlatBuffers' headers and no others: those of this system do not belong to the target."""
    headers = pathlib.Path(folder) / "flatbuffers_headers"
    headers.mkdir(exist_ok=True)
    if not (headers / "flatbuffers").exists():
        (headers / "flatbuffers").symlink_to(flatbuffers_headers)
    return headers


def compile_for(tree, headers, compiler, sources, flags):
    """Compiles for another machine. Returns '' or the compiler's errors."""
    return said_by(run([*compiler, *STRICT, f"-I{tree.include}", "-isystem", headers, *flags, *sources]))


def program_for(tree, headers, compiler, sources, flags, program):
    """Compiles for another machine through the compiler cache, where it knows that compiler, and links. Returns '' or what was said."""
    if len(compiler) > 1:
        return compile_for(tree, headers, compiler, sources, [*flags, "-o", program])
    objects = [program.with_suffix(f".{i}.o") for i in range(len(sources))]
    said = [compile_file(compiler[0], s, o, tree, [*STRICT, "-isystem", headers, *flags]) for s, o in zip(sources, objects)]
    return "".join(said) or said_by(run([*compiler, *flags, *objects, "-o", program]))


def said_by(done):
    errors = "\n".join(line for line in done.stderr.splitlines() if "error" in line)
    return "" if done.returncode == 0 else errors or done.stderr or "the compiler failed without a message"


def targets(tree):
    """The headers compile strictly for Windows behind windows.h, for macOS, and for 32-bit Arm."""
    found = builds()
    if not found:
        raise Skipped("no compiler for another machine is installed (tools/install_dependencies.sh)")
    if tree.root != REPOSITORY:
        found = found[:2]  # enough to see what was planted
    with scratch_folder() as folder:
        headers = alone(folder, FLATBUFFERS)

        def attempt(numbered):
            number, (what, compiler, text, flags) = numbered
            source = pathlib.Path(folder) / f"{number}.cpp"
            source.write_text(text)
            output = [] if "-fsyntax-only" in flags else ["-c", "-o", pathlib.Path(folder) / f"{number}.o"]
            said = compile_for(tree, headers, compiler, [source], flags + output)
            return f"{what}:\n      {first_lines(said)}" if said else None

        print("  " + ", ".join(what for what, *_ in found))
        return [v for v in parallel(attempt, list(enumerate(found))) if v]


def runners():
    """(what, compiler, flags, command that runs a program on a model) of machines with 32-bit pointers."""
    emulator = os.environ.get("NSK_QEMU_ARM", "qemu-arm")
    if arm() and shutil.which(emulator):
        yield "32-bit Arm", arm(), ["-static"], lambda program, model: [emulator, program, model]
    elif arm():
        note(f"{emulator} is not installed, so nothing runs on 32-bit Arm (apt install qemu-user)")
    node = os.environ.get("NSK_NODE", "node")
    if zig() and shutil.which(node):
        script = GUARDS_FOLDER / "run_wasm.mjs"
        yield "wasm32", zig_compiler("wasm32-wasi"), [], lambda program, model: [node, "--no-warnings", script, program, model]
    elif zig():
        note(f"{node} is not installed, so nothing runs as WebAssembly")


def unreachable(model):
    """The model with an arena of 4 GiB and its own bytes: 32 bits of that number are the model's own."""
    text, other = model.with_name("unreachable.json"), model.with_name("unreachable.nsk")
    run([TOOL, "json", model, "-o", text])
    text.write_text(re.sub(r'("arena_bytes": *)(\d+)', lambda m: m.group(1) + str((1 << 32) + int(m.group(2))), text.read_text()))
    run([TOOL, "from-json", text, "-o", other])
    return other


def hash_of(command, model):
    """What run_model prints of a model, or why it prints nothing."""
    done = run(command(model))
    return (done.stdout.strip(), None) if done.returncode == 0 else (None, f"exit code {done.returncode} {first_lines(done.stderr)}")


def pointers_32(tree):
    """Machines with 32-bit pointers compile every operator strictly, give the bits that this machine gives, and refuse an arena that
    their pointers do not reach."""
    found = list(runners())
    if not found:
        raise Skipped("neither a compiler for 32-bit Arm with qemu-arm nor ziglang with node is installed (tools/install_dependencies.sh)")
    planted = tree.root != REPOSITORY
    sources = [GUARDS_FOLDER / "two_isa.cpp", GUARDS_FOLDER / "run_model_main.cpp"]
    flags = ["-std=c++17", "-O0", "-DNSK_KEEP_USER_OPT", "-DNSK_ISA_SCALAR", "-DNSK_GUARD_FUNCTION=run_scalar"]
    with scratch_folder() as folder:
        # A name that is the same in every run, so that the compiler cache knows it.
        model, headers = converted(folder, OWN), alone(guard_files(tree), FLATBUFFERS)
        flags += planted_settings(tree, folder)
        large, here = unreachable(model), pathlib.Path(folder) / "this_machine"

        def on_this_machine():
            objects = [here.with_suffix(f".{i}.o") for i in range(len(sources))]
            said = [compile_file(compilers()[0], s, o, tree, flags) for s, o in zip(sources, objects)]  # which the guard two_isa has cached
            why = "".join(said) or link(compilers()[0], objects, here)
            return (None, first_lines(why)) if why else hash_of(lambda m: [here, m], model)

        def elsewhere(runner):
            what, compiler, more, command = runner
            program = pathlib.Path(folder) / re.sub(r"\W", "_", what)
            said = program_for(tree, headers, compiler, sources, [*flags, *more], program)
            if said:
                return None, first_lines(said)
            if hash_of(lambda m: command(program, m), large)[0] != NOT_OPENED:
                return None, "a model whose arena has more than 4 GiB is not refused"
            accepted = [f.name for f in HOSTILE if hash_of(lambda m: command(program, m), f)[0] != NOT_OPENED]
            if accepted:
                return None, f"opens {', '.join(accepted)}"
            return hash_of(lambda m: command(program, m), model)

        # A planted violation needs one machine, and nothing to compare with.
        jobs = [(found[0][0], lambda: elsewhere(found[0]))] if planted else [
            ("this machine", on_this_machine), *((r[0], lambda r=r: elsewhere(r)) for r in found)]
        results = dict(zip((what for what, _ in jobs), parallel(lambda job: job[1](), jobs)))
    hashes = {what: value for what, (value, _) in results.items() if value}
    print("  " + ", ".join(f"{what} {value}" for what, value in hashes.items()))
    violations = [f"{what}: {why}" for what, (_, why) in results.items() if why]
    return violations + ([f"the bits differ: {hashes}"] if len(set(hashes.values())) > 1 else [])


def version_of(headers):
    """The version that FlatBuffers' headers state, or None where there are none."""
    try:
        text = (headers / "base.h").read_text()
    except OSError:
        return None
    return tuple(int(re.search(rf"#define FLATBUFFERS_VERSION_{part} (\d+)", text).group(1)) for part in VERSION_PARTS)


def written(version):
    return ".".join(map(str, version))


def flatbuffers(tree):
    """The oldest and the newest FlatBuffers compile strictly, and what is older is refused in a sentence."""
    violations, seen = [], []
    with scratch_folder() as folder:
        folder = pathlib.Path(folder)
        source, old = folder / "program.cpp", folder / "old" / "flatbuffers"
        source.write_text(SESSION + f'\n#include "{REPOSITORY}/tools/nsk/write/generated/netsuke_builders.hpp"\n')  # in this order: the refusal comes first
        old.mkdir(parents=True)
        (old / "base.h").write_text("".join(f"#define FLATBUFFERS_VERSION_{part} {n}\n" for part, n in zip(VERSION_PARTS, (2, 0, 7))))
        for number, headers in enumerate((FLATBUFFERS, NEWEST_FLATBUFFERS, old)):
            version = version_of(headers)
            if version is None:
                note(f"there is no {headers}, so nothing is compiled with it (tools/install_dependencies.sh brings it where there is cargo)")
                continue
            seen.append(version)
            (folder / str(number)).mkdir()
            include = alone(folder / str(number), headers)
            for compiler in compilers() if tree.root == REPOSITORY else compilers()[-1:]:
                said = compile_for(tree, include, [compiler], [source], ["-fsyntax-only"])
                if version < OLDEST:
                    said = "" if "2.0.8 or newer" in said else "not refused with a sentence that names 2.0.8"
                if said:
                    violations.append(f"{compiler}, FlatBuffers {written(version)}: {first_lines(said)}")
    print("  " + ", ".join(map(written, seen)))
    stated = (tree.include / "netsuke/format/impl/flatbuffers.hpp").read_text()
    for end in (OLDEST, NEWEST):
        if end not in seen:
            note(f"FlatBuffers {written(end)} is not here: this end of the range is not tested")
        if written(end) not in stated:
            violations.append(f"format/impl/flatbuffers.hpp does not state {written(end)}")
    return violations


def plant_conversion(tree):
    tree.replace("run/session.hpp", r"^NSK_BEGIN$", "NSK_BEGIN\ninline std::ptrdiff_t seeded(std::int64_t x) { return x; }")


GUARDS = {
    "targets": (targets, [
        ("a conversion that loses bits where pointers have 32", plant_conversion),
        ("a name that windows.h takes away", lambda t: t.replace(
            "image.hpp", r"^(#include <netsuke/core/restore_macros.hpp>)$", r"\1\ninline int far() { return 1; }")),
    ]),
    "pointers_32": (pointers_32, [
        ("a conversion that loses bits where pointers have 32", plant_conversion),
        ("an arena that pointers do not reach", lambda t: t.replace(
            "format/limits.hpp", r"sizeof\(void\*\) >= 8 \? max_extent : .*;", "max_extent;")),
    ]),
    "flatbuffers": (flatbuffers, [
        ("a name that the oldest version lacks", lambda t: t.replace(
            "format/impl/table_verifier.hpp", "Verifier::Options limits", "SizeVerifier::Options limits")),
        ("an old version that is let in", lambda t: t.replace("format/impl/flatbuffers.hpp", "^#error.*$", "")),
    ]),
}
