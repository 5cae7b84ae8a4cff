#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The archive that packaging/unity.sh writes for Unity's package manager: it has what a package has to have, a .meta for everything that Unity looks at,
equal bytes in two runs, and its unpacked form runs on Mono, or .NET, with its own library and its own tests.

  unity_archive.py LIBRARY mono|dotnet           LIBRARY: netsuke_c of this machine, which the archive takes
  unity_archive.py LIBRARY seeded                archives with faults are found
"""
import json
import os
import pathlib
import re
import sys
import tarfile
import tempfile

from fixtures import REPOSITORY
from models import TOOL
from unity_package import command_of, missing, run

sys.path.insert(0, str(REPOSITORY / "tools"))
from write_unity_metas import LIBRARIES, SOURCES, wanted_in  # noqa: E402

# docs.unity3d.com, "Package layout" and "Legal": files that Unity, or its package manager, looks for.
FILES = ["package.json", "CHANGELOG.md", "LICENSE.md", "Third Party Notices.md", "Documentation~/index.md", "Runtime/Netsuke.Runtime.asmdef",
         "Editor/Netsuke.Editor.asmdef", "Tests/Editor/Netsuke.Tests.asmdef", "Tests/Editor/agent.nsk", "Plugins/Source/netsuke.cpp"]
LIBRARY = "Plugins/Linux/x86_64/libnetsuke_c.so"


def written(folder, library):
    """The archive."""
    flatbuffers = os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR") or "/usr/include"
    done = run(REPOSITORY / "packaging/unity.sh", "--output", folder, "--nsk", TOOL, "--flatbuffers", flatbuffers, "--library", f"linux-x86_64={library}")
    if done.returncode:
        raise SystemExit(f"unity.sh: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return next(folder.glob("*.tgz"))


def faults(package):
    """What an unpacked archive lacks."""
    wrong = [f"{name} is missing" for name in [*FILES, LIBRARY] if not (package / name).is_file()]
    described = json.loads((package / "package.json").read_text())
    wrong += [f"the sample {sample['path']} is missing" for sample in described["samples"] if not (package / sample["path"]).is_dir()]
    for path, text in wanted_in(package).items():
        if not path.is_file() or path.read_text() != text:
            wrong.append(f"{path.relative_to(package)} is missing or another")
    looked_at = [p for p in package.rglob("*") if "~" not in str(p.relative_to(package)) and p.suffix != ".meta"]
    wrong += [f"{p.relative_to(package)} has no .meta: Unity ignores it" for p in looked_at if not p.with_name(p.name + ".meta").exists()]
    guids = re.findall(r"^guid: (\w{32})$", "".join(p.read_text() for p in package.rglob("*.meta")), re.MULTILINE)
    wrong += ["a GUID occurs twice"] if len(set(guids)) != len(guids) else []
    source = package / "Plugins/Source/netsuke.cpp"
    if source.is_file() and re.search(r'^\s*#\s*include\s*["<](netsuke|flatbuffers)/', source.read_text(), re.MULTILINE):
        wrong.append("the source plug-in includes what the archive lacks")
    notices = package / "Third Party Notices.md"
    if notices.is_file() and "TERMS AND CONDITIONS" not in notices.read_text():
        wrong.append("the notices lack the licence of FlatBuffers")
    if any("](" in page.read_text() for page in (package / "Documentation~").glob("*.md")):
        wrong.append("a page links to what the archive lacks")
    return wrong


def unpacked(archive, folder):
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
        if any(not member.name.startswith("package") or not (member.isfile() or member.isdir()) for member in members):
            raise SystemExit("the archive has something else than files below package/")
        packed.extractall(folder, members, filter="data") if hasattr(tarfile, "data_filter") else packed.extractall(folder, members)
    print(f"{archive.name}: {archive.stat().st_size} bytes, {len(members)} entries")
    return folder / "package"


def own_tests(runtime, folder, package):
    """Compiles and runs what was unpacked, with its library."""
    name, command = command_of(runtime, folder, package)
    environment = dict(os.environ, LD_LIBRARY_PATH=str((package / LIBRARY).parent), ASSETS=str(package))
    done = run(*command, "--own-tests", env=environment, timeout=300)
    passed = re.findall(r"^passed (\w+)$", done.stdout, re.MULTILINE)
    wanted = re.findall(r"\[Test\]\s+public void (\w+)", (package / "Tests/Editor/PackageTests.cs").read_text())
    print(f"{name}: {', '.join(passed)}")
    return [] if done.returncode == 0 and sorted(passed) == sorted(wanted) else [f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}"]


def seeded(library, folder):
    """Each fault, planted in an unpacked archive, is found."""
    package = unpacked(written(folder / "out", library), folder)
    plants = {
        "a script without .meta": lambda: (package / "Runtime/Core/NskModel.cs.meta").unlink(),
        "another GUID": lambda: (package / "Editor.meta").write_text((package / "Editor.meta").read_text().replace("guid: ", "guid: 0")),
        "a library for another processor": lambda: (package / f"{LIBRARY}.meta").write_text((package / f"{LIBRARY}.meta").read_text().replace("x86_64", "ARM64")),
        "no licence": lambda: (package / "LICENSE.md").unlink(),
        "an include of the repository": lambda: (package / "Plugins/Source/netsuke.cpp").write_text("#include <netsuke/all_ops.hpp>\n"),
        "a file that Unity ignores": lambda: (package / "Runtime/notes.txt").write_text("x"),
    }
    wrong = [f"the archive is not whole before anything is planted: {faults(package)}"] if faults(package) else []
    for what, plant in plants.items():
        before = {p: p.read_bytes() for p in package.rglob("*") if p.is_file()}
        plant()
        found = faults(package)
        print(f"  {'fires' if found else 'SILENT'}: {what}" + (f"\n      {found[0]}" if found else ""))
        wrong += [] if found else [f"not found: {what}"]
        for path in package.rglob("*"):
            if path.is_file() and path not in before:
                path.unlink()
        for path, data in before.items():
            path.write_bytes(data)
    return wrong


def main():
    library, what = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    lacking = "the archive is made with the library of Linux on x86-64" if library.suffix != ".so" or os.uname().machine != "x86_64" else ""
    lacking = lacking or ("" if what == "seeded" else missing(what))
    if lacking:
        print(f"SKIPPED: {lacking}")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_unity_archive_") as folder:
        folder = pathlib.Path(folder)
        if what == "seeded":
            wrong = seeded(library, folder)
        else:
            first, second = (written(folder / name, library) for name in ("first", "second"))
            package = unpacked(first, folder)
            wrong = faults(package) + own_tests(what, folder, package)
            wrong += [] if first.read_bytes() == second.read_bytes() else ["two runs give other bytes"]
    print("\n".join(wrong + [f"the archive for Unity: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
