#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plug-in for Unreal, compiled strictly against stubs of Unreal's headers, linked with the shared library in place of its own copy of the
engine, and run: bits of the C++ engine on the game thread, in slices, as a task, and as a runtime of Unreal's neural network engine that runs cooked
assets; errors with their texts.

  unreal_plugin.py LIBRARY          the shared library netsuke_c
  unreal_plugin.py LIBRARY rules    the .Build.cs files alone, compiled and run
  unreal_plugin.py LIBRARY archive  what packaging/unreal.sh writes, compiled with its own files alone
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from fixtures import REPOSITORY, expected_hashes, make_models
from common import Tree, compile_file, compilers, link  # fixtures adds its folder

PLUGIN = REPOSITORY / "bindings/unreal/Netsuke"
MODULE = PLUGIN / "Source/Netsuke"
HERE = pathlib.Path(__file__).resolve().parent / "unreal"
STRICT = ["-std=c++17", "-O1", "-pthread", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
MODULES = ["Netsuke", "NetsukeNNE", "NetsukeEditor"]
RULES = {"Netsuke": "Core CoreUObject Engine Module/../ThirdParty/netsuke/include",
         "NetsukeNNE": "Core CoreUObject Engine NNE Netsuke Module/../ThirdParty/netsuke/include",
         "NetsukeEditor": "Core CoreUObject Engine UnrealEd NNE Netsuke"}


def includes(plugin):
    """Flags of the plug-in's own files; NSK_C_SHARED, because the engine is in the library."""
    own = [f"-I{plugin / 'Source' / folder}" for folder in ("Netsuke/Public", "NetsukeNNE/Public", "NetsukeEditor/Private")]
    return [*own, f"-isystem{HERE / 'stubs'}", "-DNSK_C_SHARED"]


def sources(plugin, modules=MODULES):
    """The .cpp files of modules, without the engine."""
    found = [path for module in modules for path in sorted((plugin / "Source" / module / "Private").glob("*.cpp"))]
    return [path for path in found if path.name != "NetsukeEngine.cpp"]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def plugin_files():
    """The description is JSON with the library's version, names the module that is there, and generated headers are included last."""
    described = json.loads((PLUGIN / "Netsuke.uplugin").read_text())
    version = re.search(r'NSK_VERSION_STRING "([^"]+)"', (REPOSITORY / "include/netsuke/version.hpp").read_text()).group(1)
    wrong = [] if described["VersionName"] == version else [f"Netsuke.uplugin has version {described['VersionName']}, the library {version}"]
    wrong += [f"there is no module {m['Name']}" for m in described["Modules"] if not (PLUGIN / "Source" / m["Name"] / f"{m['Name']}.Build.cs").exists()]
    for header in PLUGIN.glob("Source/*/*/*.h"):
        included = re.findall(r'#include "([^"]+)"', header.read_text())
        if "GENERATED_BODY" in header.read_text() and included[-1] != f"{header.stem}.generated.h":
            wrong.append(f"{header.name}: Unreal Header Tool wants {header.stem}.generated.h as the last include")
    return wrong


def code_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("//")]


def build_rules(folder):
    files = [PLUGIN / "Source" / module / f"{module}.Build.cs" for module in MODULES]
    done = run("mcs", "-warnaserror", "-nowarn:0414", *files, HERE / "UnrealBuildTool.cs", f"-out:{folder / 'rules.exe'}")
    said = done.stderr + done.stdout if done.returncode else run("mono", folder / "rules.exe", *MODULES).stdout
    return [] if said.splitlines() == [RULES[module] for module in MODULES] else [f"the .Build.cs files: {said}"]


def programs(compiler, library, folder):
    """Programs of main.cpp and nne.cpp."""
    objects = {}
    for source in [*sources(PLUGIN), HERE / "main.cpp", HERE / "nne.cpp"]:
        objects[source.stem] = folder / f"{source.stem}.{compiler}.o"
        said = compile_file(compiler, source, objects[source.stem], Tree(REPOSITORY), STRICT + includes(PLUGIN))
        if said:
            raise SystemExit(f"{compiler} {source.name}:\n{said}")
    shared = [output for name, output in objects.items() if name not in ("main", "nne")]
    for name in ("main", "nne"):
        said = link(compiler, [objects[name], *shared, library], folder / f"{name}_{compiler}", [f"-Wl,-rpath,{library.parent}"])
        if said:
            raise SystemExit(said)
    return [folder / f"{name}_{compiler}" for name in ("main", "nne")]


def plugin(library, folder):
    wrong = plugin_files()
    if code_of(MODULE / "Private/NetsukeEngine.cpp") != code_of(REPOSITORY / "bindings/c/netsuke_c.cpp"):
        wrong.append("NetsukeEngine.cpp is not what netsuke_c is made of")
    *models, agents = make_models(folder)
    hashes = {model: expected_hashes(model, folder) for model in models}
    for compiler in compilers():
        for made, ways in zip(programs(compiler, library, folder), (3, 1)):
            for model in models:
                wanted = [f"hash {way} {step} {value}" for way in range(ways) for step, value in enumerate(hashes[model])]
                done = run(made, model, agents, env=dict(os.environ), timeout=200)
                if done.returncode != 0 or [line for line in done.stdout.splitlines() if not line.startswith("log: ")] != wanted:
                    wrong.append(f"{made.name} {model.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}C++: {wanted}")
    return wrong


def archive(folder):
    """The archive has what it includes: its files compile without the repository."""
    flatbuffers = os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR") or "/usr/include"
    done = run(REPOSITORY / "packaging/unreal.sh", "--output", folder, "--flatbuffers", flatbuffers)
    print(done.stdout.strip())
    if done.returncode:
        return [done.stderr]
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        packed.extractall(folder / "out", filter="data") if hasattr(tarfile, "data_filter") else packed.extractall(folder / "out")
    plugin_there = folder / "out/Netsuke"
    third = plugin_there / "Source/ThirdParty/netsuke"
    wrong = [f"{path} is missing" for path in (plugin_there / "LICENSE", third / "FlatBuffers.LICENSE.txt") if not path.exists()]
    flags = [*STRICT, *includes(plugin_there), f"-isystem{third / 'include'}", "-fsyntax-only"]
    small = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-DNSK_C_IMPLEMENTATION=nsk::default_settings", f"-isystem{third / 'include'}", "-fsyntax-only"]
    engine = plugin_there / "Source/Netsuke/Private/NetsukeEngine.cpp"
    for path in [*sources(plugin_there), engine]:
        done = run(compilers()[0], *(small if path == engine else flags), path)
        wrong += [f"{path.name}: {done.stderr[:2000]}"] if done.returncode else []
    return wrong


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    rules = sys.argv[2:] == ["rules"]
    if rules and not (shutil.which("mcs") and shutil.which("mono")):
        print("SKIPPED: there is no C# compiler or no Mono (apt install mono-mcs mono-runtime)")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_unreal_") as folder:
        folder = pathlib.Path(folder)
        wrong = build_rules(folder) if rules else archive(folder) if sys.argv[2:] == ["archive"] else plugin(library, folder)
    print("\n".join(wrong + [f"the Unreal plug-in: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
