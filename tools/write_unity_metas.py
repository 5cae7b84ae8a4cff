#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the .meta file of every file and folder of the Unity package. Unity ignores what has none in a package that it may not write to, and
knows assets by the GUIDs in them: these are hashes of the paths, so that they stay.

usage: write_unity_metas.py [--check]
--check writes nothing and exits with 1 when a file is missing, differs, or belongs to nothing.
"""
import hashlib
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "bindings/unity/com.netsuke.runtime"
IMPORTERS = {".cs": "MonoImporter", ".asmdef": "AssemblyDefinitionImporter", ".json": "PackageManifestImporter", ".md": "TextScriptImporter"}


def text_of(path):
    guid = hashlib.md5(f"com.netsuke.runtime/{path.relative_to(PACKAGE).as_posix()}".encode()).hexdigest()
    head = f"fileFormatVersion: 2\nguid: {guid}\n"
    if path.is_dir():
        return head + "folderAsset: yes\nDefaultImporter:\n  externalObjects: {}\n"
    importer = IMPORTERS[path.suffix]
    return head + f"{importer}:\n  externalObjects: {{}}\n" + ("  serializedVersion: 2\n" if importer == "MonoImporter" else "")


def main():
    # Unity does not look into folders whose names end in ~, nor at native libraries that a user has put there.
    assets = [p for p in sorted(PACKAGE.rglob("*")) if "~" not in p.as_posix() and (p.is_dir() or p.suffix in IMPORTERS)]
    wanted = {path.with_name(path.name + ".meta"): text_of(path) for path in assets}
    there = {path: path.read_text() for path in PACKAGE.rglob("*.meta") if "~" not in path.as_posix()}
    if "--check" not in sys.argv[1:]:
        for path, text in wanted.items():
            path.write_text(text)
        return 0
    wrong = [path for path in sorted(wanted.keys() | there.keys()) if wanted.get(path) != there.get(path)]
    for path in wrong:
        print(f"{path.relative_to(PACKAGE)}: missing, different or superfluous: run tools/write_unity_metas.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
