#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package for Unity, compiled with stubs of Unity's types and run as a program: bits of the C++ engine, no managed memory in 10,000 frames,
errors with their texts, the importer, both samples; the program of docs/unity.md compiles.

  unity_package.py LIBRARY        the shared library netsuke_c

The compiler is Mono's (mcs). What it makes runs on Mono and on .NET, where they are installed: the command dotnet, or the one of the Python
package dotnetcore2.
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from fixtures import REPOSITORY, expected_hashes, make_models

PACKAGE = REPOSITORY / "bindings/unity/com.netsuke.runtime"
STUBS = pathlib.Path(__file__).resolve().parent / "csharp"
FRAMES = 10000


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def package():
    """The package's files are whole: JSON, version, .meta files, native functions with the header's parameters."""
    described = json.loads((PACKAGE / "package.json").read_text())
    version = re.search(r'NSK_VERSION_STRING "([^"]+)"', (REPOSITORY / "include/netsuke/version.hpp").read_text()).group(1)
    wrong = [] if described["version"] == version else [f"package.json has version {described['version']}, the library {version}"]
    wrong += [f"{sample['path']} does not exist" for sample in described["samples"] if not (PACKAGE / sample["path"]).is_dir()]
    for path in PACKAGE.rglob("*.asmdef"):
        json.loads(path.read_text())
    metas = run(sys.executable, REPOSITORY / "tools/write_unity_metas.py", "--check")
    wrong += metas.stdout.splitlines()
    header = re.sub(r"/\*.*?\*/", "", (REPOSITORY / "include/netsuke/c/netsuke.h").read_text(), flags=re.DOTALL)
    native = (PACKAGE / "Runtime/Core/NskNative.cs").read_text()

    def parameters(text, pattern):
        lists = {name: inside.strip() for name, inside in re.findall(pattern, text)}
        return {name: 0 if inside in ("", "void") else inside.count(",") + 1 for name, inside in lists.items()}

    declared = parameters(header, r"\b(nsk_\w+)\(([^()]*)\)\s*NSK_C_NOEXCEPT")
    for name, count in parameters(native, r"\b(nsk_\w+)\(([^()]*)\);").items():
        if declared.get(name) != count:
            wrong.append(f"NskNative.cs: {name} has {count} parameters, the header's has {declared.get(name)}")
    code = re.search(r"WrongType = (\d+)", (PACKAGE / "Runtime/Core/NskSession.cs").read_text()).group(1)
    codes = re.findall(r"^  nsk_status_(\w+),", header, re.MULTILINE)
    return wrong if codes[int(code)] == "wrong_type" else wrong + ["NskSession.cs: WrongType is not nsk_status_wrong_type"]


def dotnet():
    """(program, folder of its framework, version), or None."""
    found = importlib.util.find_spec("dotnetcore2")
    candidates = [shutil.which("dotnet")] + ([pathlib.Path(found.origin).parent / "bin/dotnet"] if found else [])
    for program in filter(None, candidates):
        frameworks = re.findall(r"^Microsoft\.NETCore\.App (\S+) \[(.*)\]$", run(program, "--list-runtimes").stdout, re.MULTILINE)
        if frameworks:
            version, folder = frameworks[-1]
            return program, pathlib.Path(folder) / version, version
    return None


def compiled(folder, name, references=()):
    page = folder / "page.cs"
    page.write_text("\n".join(re.findall(r"^```csharp\n(.*?)^```$", (REPOSITORY / "docs/unity.md").read_text(), re.MULTILINE | re.DOTALL)))
    sources = [*PACKAGE.rglob("*.cs"), *STUBS.glob("*.cs"), page]
    output = folder / name
    done = run("mcs", "-unsafe", "-warn:4", "-warnaserror", "-nowarn:0649,0169,1685,1701,1702", *references, *sources, f"-out:{output}")
    if done.returncode != 0:
        raise SystemExit(f"{name}:\n{done.stdout}{done.stderr}")
    return output


def programs(folder):
    """(name, command) of the program on each runtime of this machine."""
    found = []
    if shutil.which("mono"):
        found.append(("Mono", ["mono", compiled(folder, "mono.exe")]))
    core = dotnet()
    if core:
        program, framework, version = core
        references = ["-nostdlib", "-noconfig", *(f"-r:{d}" for d in sorted(framework.glob("System.*.dll"))), f"-r:{framework / 'mscorlib.dll'}",
                      f"-r:{framework / 'netstandard.dll'}"]
        output = compiled(folder, "core.dll", references)
        options = {"framework": {"name": "Microsoft.NETCore.App", "version": version}, "configProperties": {"System.Globalization.Invariant": True}}
        (folder / "core.runtimeconfig.json").write_text(json.dumps({"runtimeOptions": options}))
        found.append((f".NET {version}", [program, output]))
    else:
        print("note: there is no .NET (pip install dotnetcore2), so the package runs on Mono alone")
    return found


def run_package(name, command, library, models, wanted):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library.parent), DYLD_LIBRARY_PATH=str(library.parent))
    done = run(*command, *models, env=environment, timeout=400)
    lines = done.stdout.splitlines()
    garbage = [line for line in lines if line.startswith("garbage")]
    print(f"{name}: {'; '.join(line for line in lines if line.startswith(('runtime', 'garbage')))}")
    wrong = [f"{name}: {line}" for line in lines if line.startswith("wrong")]
    if done.returncode != 0 or sorted(line for line in lines if line.startswith("hash")) != wanted:
        wrong.append(f"{name}: exit code {done.returncode}, or other hashes than C++\n{done.stdout[-1500:]}{done.stderr[-1500:]}\nC++: {wanted}")
    if [line.startswith(f"garbage 0 bytes, 0 collections in {FRAMES} frames") for line in garbage] != [True, True]:
        wrong.append(f"{name}: {garbage}")
    return wrong


def main():
    if not shutil.which("mcs") or not (shutil.which("mono") or dotnet()):
        print("SKIPPED: there is no C# compiler or no runtime (apt install mono-mcs mono-runtime)")
        return 0
    library = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="nsk_unity_") as folder:
        folder = pathlib.Path(folder)
        models = make_models(folder)
        hashes = {i: expected_hashes(model, folder) for i, model in enumerate(models[:2])}
        wanted = sorted(f"hash {way} {i} {step} {value}" for way in range(3) for i in hashes for step, value in enumerate(hashes[i]))
        wrong = package()
        for name, command in programs(folder):
            wrong += run_package(name, command, library, models, wanted)
    print("\n".join(wrong + [f"the Unity package: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
