#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package for Unity, compiled with stubs of Unity's types and run as a program: bits of the C++ engine, no managed memory in 10,000 frames,
jobs, errors with their texts, the importer, both samples; the programs of docs/guide/unity.md compile.

  unity_package.py LIBRARY mono|dotnet        the shared library netsuke_c, and the runtime: of Mono, or of .NET

The compiler is Mono's (mcs). .NET is the command dotnet, or the one of the Python package dotnetcore2.
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

from fixtures import REPOSITORY, c_header, expected_hashes, image_model, make_models, status_codes

PACKAGE = REPOSITORY / "bindings/unity/com.netsuke.runtime"
STUBS = pathlib.Path(__file__).resolve().parent / "csharp"
FRAMES = 10000
WAYS = 7  # of running a time step, in Program.cs


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
    native = (PACKAGE / "Runtime/Core/NskNative.cs").read_text()

    def parameters(text, pattern):
        lists = {name: inside.strip() for name, inside in re.findall(pattern, text)}
        return {name: 0 if inside in ("", "void") else inside.count(",") + 1 for name, inside in lists.items()}

    declared = parameters(c_header(), r"\b(nsk_\w+)\(([^()]*)\)\s*NSK_C_NOEXCEPT")
    for name, count in parameters(native, r"\b(nsk_\w+)\(([^()]*)\);").items():
        if declared.get(name) != count:
            wrong.append(f"NskNative.cs: {name} has {count} parameters, the header's has {declared.get(name)}")
    sources = "".join(path.read_text() for path in (PACKAGE / "Runtime/Core").glob("*.cs"))
    for name, code in {"WrongType": "wrong_type", "QueueFull": "queue_full", "AlreadyWaiting": "already_waiting"}.items():
        if int(re.search(rf"\b{name} = (\d+)", sources).group(1)) != status_codes().index(code):
            wrong.append(f"{name} is not nsk_status_{code}")
    return wrong


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


def compiled(folder, name, references=(), package=PACKAGE):
    page = folder / "page.cs"
    blocks = "".join(re.findall(r"^```csharp\n(.*?)^```$", (REPOSITORY / "docs/guide/unity.md").read_text(), re.MULTILINE | re.DOTALL))
    imports = sorted(set(re.findall(r"^using [\w.]+;$", blocks, re.MULTILINE)))
    page.write_text("\n".join([*imports, re.sub(r"^using [\w.]+;$", "", blocks, flags=re.MULTILINE)]))
    sources = [*package.rglob("*.cs"), *STUBS.glob("*.cs"), page]
    output = folder / name
    done = run("mcs", "-unsafe", "-warn:4", "-warnaserror", "-nowarn:0649,0169,1685,1701,1702", *references, *sources, f"-out:{output}")
    if done.returncode != 0:
        raise SystemExit(f"{name}:\n{done.stdout}{done.stderr}")
    return output


def command_of(runtime, folder, package=PACKAGE):
    """Name and command of the program on a runtime of this machine."""
    if runtime == "mono":
        return "Mono", ["mono", compiled(folder, "mono.exe", package=package)]
    program, framework, version = dotnet()
    references = ["-nostdlib", "-noconfig", *(f"-r:{d}" for d in sorted(framework.glob("System.*.dll"))), f"-r:{framework / 'mscorlib.dll'}",
                  f"-r:{framework / 'netstandard.dll'}"]
    output = compiled(folder, "core.dll", references, package)
    options = {"framework": {"name": "Microsoft.NETCore.App", "version": version}, "configProperties": {"System.Globalization.Invariant": True}}
    (folder / "core.runtimeconfig.json").write_text(json.dumps({"runtimeOptions": options}))
    return f".NET {version}", [program, output]


def missing(runtime):
    """What the test needs and this machine lacks, '' where nothing is missing."""
    if not shutil.which("mcs"):
        return "there is no C# compiler (apt install mono-mcs)"
    if runtime == "mono" and not shutil.which("mono"):
        return "there is no Mono (apt install mono-runtime)"
    return "" if runtime == "mono" or dotnet() else "there is no .NET (pip install --no-deps dotnetcore2)"


def without_library(name, command):
    """A program that lacks the library goes on."""
    environment = {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")}
    done = run(*command, env=environment, timeout=100)
    if done.returncode == 0 and done.stdout.strip() == "no library, no harm":
        return []
    return [f"{name}: without the library, exit code {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}"]


def run_package(name, command, library, models, wanted):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library.parent), DYLD_LIBRARY_PATH=str(library.parent))
    done = run(*command, *models, env=environment, timeout=400)
    lines = done.stdout.splitlines()
    garbage = [line for line in lines if line.startswith("garbage")]
    print(f"{name}: {'; '.join(line for line in lines if line.startswith(('runtime', 'garbage')))}")
    wrong = [f"{name}: {line}" for line in lines if line.startswith("wrong")]
    if done.returncode != 0 or sorted(line for line in lines if line.startswith("hash")) != wanted:
        wrong.append(f"{name}: exit code {done.returncode}, or other hashes than C++\n{done.stdout[-1500:]}{done.stderr[-1500:]}\nC++: {wanted}")
    if [line.startswith(f"garbage 0 bytes, 0 collections in {FRAMES} frames") for line in garbage] != [True, True, True]:
        wrong.append(f"{name}: {garbage}")
    return wrong


def main():
    library, runtime = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    lacking = missing(runtime)
    if lacking:
        print(f"SKIPPED: {lacking}")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_unity_") as folder:
        folder = pathlib.Path(folder)
        models = make_models(folder) + [image_model(folder)]
        hashes = {i: expected_hashes(model, folder) for i, model in enumerate(models[:2])}
        wanted = sorted(f"hash {way} {i} {step} {value}" for way in range(WAYS) for i in hashes for step, value in enumerate(hashes[i]))
        name, command = command_of(runtime, folder)
        wrong = package() + run_package(name, command, library, models, wanted) + without_library(name, command)
    print("\n".join(wrong + [f"the Unity package: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
