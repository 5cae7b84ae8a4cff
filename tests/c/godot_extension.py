#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The extension for Godot, compiled strictly against Godot's own header, loaded by a program that plays Godot, and called as scripts call it: bits of the C++
engine whole, in slices and behind restored states; images; rows of many agents, logs and traces; errors with their texts; every value given back.

  godot_extension.py LIBRARY            the shared library netsuke_c, in place of the engine that packaging/godot.sh compiles in

NSK_GODOT_HEADER is the folder of gdextension_interface.h; tools/install_dependencies.sh --python build/venv puts it into build/godot_header.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from fixtures import REPOSITORY, expected_hashes, image_model, make_models, recurrent_model
from common import Tree, compile_file, compilers, link  # fixtures adds its folder

EXTENSION = REPOSITORY / "packaging" / "godot"
HOST = pathlib.Path(__file__).resolve().parent / "godot"
HEADER = pathlib.Path(os.environ.get("NSK_GODOT_HEADER") or REPOSITORY / "build" / "godot_header")
WAYS = 4
# Godot's header has void* for each of its types; copies of it for other languages have types of their own. The extension takes both.
OWN_TYPES = re.compile(r"\bstruct __Gdext\w+ \*")


def built(compiler, library, folder, header):
    """The extension and the program that plays Godot."""
    flags = ["-std=c++17", "-O1", "-fPIC", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-DNSK_C_SHARED", "-fvisibility=hidden", f"-isystem{header}"]
    objects = {EXTENSION / "src": [], HOST: []}
    for source in [path for sources in objects for path in sorted(sources.glob("*.cpp"))]:
        made = folder / f"{source.stem}.o"
        objects[source.parent].append(made)
        said = compile_file(compiler, source, made, Tree(REPOSITORY), flags)
        if said:
            raise SystemExit(f"{compiler} {source.name}:\n{said}")
    extension, host = folder / "extension.so", folder / "host"
    said = link(compiler, [*objects[EXTENSION / "src"], library], extension, ["-shared", f"-Wl,-rpath,{library.parent}"])
    said = said or link(compiler, [*objects[HOST], "-ldl"], host)
    if said:
        raise SystemExit(said)
    return extension, host


def description():
    """Faults of netsuke.gdextension: its entry point is the extension's, and its files are those that packaging/godot.sh writes."""
    text = (EXTENSION / "addons/netsuke/netsuke.gdextension").read_text()
    entry = re.search(r'entry_symbol = "(\w+)"', text).group(1)
    wrong = [] if f"GDExtensionBool {entry}(" in (EXTENSION / "src/extension.cpp").read_text() else [f"there is no {entry}"]
    script = (REPOSITORY / "packaging/godot.sh").read_text()
    for target, file in re.findall(r'^([\w.]+) = "([\w.]+)"$', text[text.index("[libraries]"):], re.MULTILINE):
        if target != "android.arm64" and file not in script.replace("$target", target):
            wrong.append(f"packaging/godot.sh does not write {file}")
    wrong += [f"packaging/godot.sh does not ship {licence}" for licence in ("$root/LICENSE", "FlatBuffers.LICENSE.txt") if f'{licence}"' not in script]
    return wrong


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    if not (HEADER / "gdextension_interface.h").exists():
        print(f"SKIPPED: there is no {HEADER / 'gdextension_interface.h'} (tools/install_dependencies.sh --python build/venv, or NSK_GODOT_HEADER)")
        return 0
    if library.suffix != ".so":
        print("SKIPPED: the program that plays Godot loads libraries of Linux")
        return 0
    wrong = description()
    with tempfile.TemporaryDirectory(prefix="nsk_godot_") as folder:
        folder = pathlib.Path(folder)
        *models, agents = make_models(folder)
        others = [image_model(folder), agents, recurrent_model(folder)]
        headers = {"with types": HEADER, "of Godot": folder / "header"}
        headers["of Godot"].mkdir()
        (headers["of Godot"] / "gdextension_interface.h").write_text(OWN_TYPES.sub("void *", (HEADER / "gdextension_interface.h").read_text()))
        for compiler, (name, header) in zip([*compilers(), *compilers()][:2], headers.items()):
            extension, host = built(compiler, library, folder, header)
            for model in models:
                hashes = expected_hashes(model, folder)
                wanted = [f"hash {way} {step} {value}" for way in range(WAYS) for step, value in enumerate(hashes)]
                done = subprocess.run([str(host), str(extension), str(model), *map(str, others)], capture_output=True, text=True, timeout=200)
                if done.returncode != 0 or done.stdout.splitlines() != wanted:
                    wrong.append(f"{compiler}, header {name}, {model.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}C++: {wanted}")
    print("\n".join(wrong + [f"the extension for Godot: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
