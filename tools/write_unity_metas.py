#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the .meta file of every file and folder of the Unity package. Unity ignores what has none in a package that it may not write to, and
knows assets by the GUIDs in them: these are hashes of the paths, so that they stay. Native plug-ins say in theirs which platforms load them.

usage: write_unity_metas.py [--check] [FOLDER]
FOLDER is the package, by default that of the repository. --check writes nothing and exits with 1 when a file is missing, differs, or belongs to nothing.
"""
import hashlib
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "bindings/unity/com.netsuke.runtime"
IMPORTERS = {".cs": "MonoImporter", ".asmdef": "AssemblyDefinitionImporter", ".json": "PackageManifestImporter", ".md": "TextScriptImporter"}
# Folder of a library -> (build targets of players, the editor's system or None, processor), as Unity's plug-in importer names them.
LIBRARIES = {
    "Plugins/Linux/x86_64": (["Linux64"], "Linux", "x86_64"),
    "Plugins/Windows/x86_64": (["Win64"], "Windows", "x86_64"),
    "Plugins/Windows/arm64": (["Win64"], "Windows", "ARM64"),
    "Plugins/macOS/x86_64": (["OSXUniversal"], "OSX", "x86_64"),
    "Plugins/macOS/arm64": (["OSXUniversal"], "OSX", "ARM64"),
}
# Players that compile the source plug-in: those that IL2CPP links statically.
SOURCES = {"Plugins/Source": ["Android", "iPhone", "tvOS", "WebGL", "GameCoreScarlett", "GameCoreXboxOne", "PS4", "PS5", "Switch"]}
TARGET_GROUPS = {"iPhone": "iPhone", "Linux64": "Standalone", "Win64": "Standalone", "OSXUniversal": "Standalone"}
TARGET_NAMES = {"iPhone": "iOS"}
PLUGIN = """PluginImporter:
  externalObjects: {}
  serializedVersion: 2
  iconMap: {}
  executionOrder: {}
  defineConstraints: []
  isPreloaded: 0
  isOverridable: 0
  isExplicitlyReferenced: 0
  validateReferences: 1
  platformData:
  - first:
      Any: 
    second:
      enabled: 0
      settings: {}
"""


def platform(group, name, settings):
    lines = [f"  - first:\n      {group}: {name}\n    second:\n      enabled: 1\n"]
    lines.append("      settings:\n" + "".join(f"        {key}: {value}\n" for key, value in settings.items()) if settings else "      settings: {}\n")
    return "".join(lines)


def plugin(folder):
    """The importer's part of the .meta of a plug-in in this folder."""
    text = PLUGIN
    if folder in LIBRARIES:
        targets, system, processor = LIBRARIES[folder]
        text += platform("Editor", "Editor", {"CPU": processor, "DefaultValueInitialized": "true", "OS": system})
        text += "".join(platform(TARGET_GROUPS[target], target, {"CPU": processor}) for target in targets)
    else:
        text += "".join(platform(TARGET_GROUPS.get(target, target), TARGET_NAMES.get(target, target), {}) for target in SOURCES[folder])
    return text + "  userData: \n  assetBundleName: \n  assetBundleVariant: \n"


def is_plugin(package, path):
    folder = path.parent.relative_to(package).as_posix()
    return path.suffix != ".md" and path.suffix != ".meta" and (folder in LIBRARIES or folder in SOURCES)


def text_of(package, path):
    guid = hashlib.md5(f"com.netsuke.runtime/{path.relative_to(package).as_posix()}".encode()).hexdigest()
    head = f"fileFormatVersion: 2\nguid: {guid}\n"
    if path.is_dir():
        return head + "folderAsset: yes\nDefaultImporter:\n  externalObjects: {}\n"
    if is_plugin(package, path):
        return head + plugin(path.parent.relative_to(package).as_posix())
    if path.suffix == ".nsk":  # the package's own importer, Editor/NskImporter.cs
        script = hashlib.md5(b"com.netsuke.runtime/Editor/NskImporter.cs").hexdigest()
        return head + f"ScriptedImporter:\n  externalObjects: {{}}\n  script: {{fileID: 11500000, guid: {script}, type: 3}}\n"
    importer = IMPORTERS[path.suffix]
    return head + f"{importer}:\n  externalObjects: {{}}\n" + ("  serializedVersion: 2\n" if importer == "MonoImporter" else "")


def wanted_in(package):
    """The .meta files that the package has to have, with their texts."""
    assets = [p for p in sorted(package.rglob("*")) if "~" not in p.relative_to(package).as_posix()]  # Unity does not look into folders whose names end in ~
    kept = [p for p in assets if p.is_dir() or is_plugin(package, p) or p.suffix in {*IMPORTERS, ".nsk"}]
    return {path.with_name(path.name + ".meta"): text_of(package, path) for path in kept}


def main():
    folders = [argument for argument in sys.argv[1:] if argument != "--check"]
    package = pathlib.Path(folders[0]).resolve() if folders else PACKAGE
    wanted = wanted_in(package)
    there = {path: path.read_text() for path in package.rglob("*.meta") if "~" not in path.relative_to(package).as_posix()}
    if "--check" not in sys.argv[1:]:
        for path, text in wanted.items():
            path.write_text(text)
        return 0
    wrong = [path for path in sorted(wanted.keys() | there.keys()) if wanted.get(path) != there.get(path)]
    for path in wrong:
        print(f"{path.relative_to(package)}: missing, different or superfluous: run tools/write_unity_metas.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
