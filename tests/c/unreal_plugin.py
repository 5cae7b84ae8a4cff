#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plug-in for Unreal, compiled strictly against stubs of Unreal's headers, linked with the shared library in place of its own copy of the
engine, and run: bits of the C++ engine on the game thread, in slices and as a task; errors with their texts.

  unreal_plugin.py LIBRARY        the shared library netsuke_c
  unreal_plugin.py LIBRARY rules  Netsuke.Build.cs alone, compiled and run
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from fixtures import REPOSITORY, expected_hashes, make_models
from common import Tree, compile_file, compilers, link  # fixtures adds its folder

PLUGIN = REPOSITORY / "bindings/unreal/Netsuke"
MODULE = PLUGIN / "Source/Netsuke"
HERE = pathlib.Path(__file__).resolve().parent / "unreal"
STRICT = ["-std=c++17", "-O1", "-pthread", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
INCLUDES = [f"-I{MODULE / 'Public'}", f"-isystem{HERE / 'stubs'}", "-DNSK_C_SHARED"]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def plugin_files():
    """The description is JSON with the library's version, names the module that is there, and generated headers are included last."""
    described = json.loads((PLUGIN / "Netsuke.uplugin").read_text())
    version = re.search(r'NSK_VERSION_STRING "([^"]+)"', (REPOSITORY / "include/netsuke/version.hpp").read_text()).group(1)
    wrong = [] if described["VersionName"] == version else [f"Netsuke.uplugin has version {described['VersionName']}, the library {version}"]
    wrong += [f"there is no module {m['Name']}" for m in described["Modules"] if not (PLUGIN / "Source" / m["Name"] / f"{m['Name']}.Build.cs").exists()]
    for header in (MODULE / "Public").glob("*.h"):
        included = re.findall(r'#include "([^"]+)"', header.read_text())
        if included[-1] != f"{header.stem}.generated.h":
            wrong.append(f"{header.name}: Unreal Header Tool wants {header.stem}.generated.h as the last include")
    return wrong


def code_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("//")]


def build_rules(folder):
    done = run("mcs", "-warnaserror", "-nowarn:0414", MODULE / "Netsuke.Build.cs", HERE / "UnrealBuildTool.cs", f"-out:{folder / 'rules.exe'}")
    said = done.stderr + done.stdout if done.returncode else run("mono", folder / "rules.exe").stdout.strip()
    return [] if said == "Core CoreUObject Engine Module/../ThirdParty/netsuke/include" else [f"Netsuke.Build.cs: {said}"]


def program(compiler, library, folder):
    sources = [MODULE / f"Private/{name}.cpp" for name in ("NetsukeModule", "NetsukeModel", "NetsukeSession")] + [HERE / "main.cpp"]
    objects = [folder / f"{source.stem}.{compiler}.o" for source in sources]
    for source, output in zip(sources, objects):
        said = compile_file(compiler, source, output, Tree(REPOSITORY), STRICT + INCLUDES)
        if said:
            raise SystemExit(f"{compiler} {source.name}:\n{said}")
    said = link(compiler, [*objects, library], folder / compiler, [f"-Wl,-rpath,{library.parent}"])
    if said:
        raise SystemExit(said)
    return folder / compiler


def plugin(library, folder):
    wrong = plugin_files()
    if code_of(MODULE / "Private/NetsukeEngine.cpp") != code_of(REPOSITORY / "bindings/c/netsuke_c.cpp"):
        wrong.append("NetsukeEngine.cpp is not what netsuke_c is made of")
    models = make_models(folder)[:2]
    for compiler in compilers():
        made = program(compiler, library, folder)
        for model in models:
            wanted = [f"hash {way} {step} {value}" for value_list in [expected_hashes(model, folder)] for way in range(3)
                      for step, value in enumerate(value_list)]
            done = run(made, model, env=dict(os.environ), timeout=200)
            if done.returncode != 0 or done.stdout.splitlines() != wanted:
                wrong.append(f"{compiler} {model.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}C++: {wanted}")
    return wrong


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    rules = sys.argv[2:] == ["rules"]
    if rules and not (shutil.which("mcs") and shutil.which("mono")):
        print("SKIPPED: there is no C# compiler or no Mono (apt install mono-mcs mono-runtime)")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_unreal_") as folder:
        wrong = build_rules(pathlib.Path(folder)) if rules else plugin(library, pathlib.Path(folder))
    print("\n".join(wrong + [f"the Unreal plug-in: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
