# SPDX-License-Identifier: MIT
"""Guards on configuring without FlatBuffers: one sentence with the cure where nothing can be fetched, the pinned archive where it can."""
import os
import pathlib
import shutil
import tarfile

from common import REPOSITORY, note, run, scratch_folder

CLOSED_PORT = "http://127.0.0.1:9"
CURES = ("FlatBuffers' headers are not on this machine", "apt-get install libflatbuffers-dev")
MAX_LINES = 14  # of CMake's report around one message
# The compiler of a machine without FlatBuffers: Meson asks it for the header by compiling a file.
WITHOUT_FLATBUFFERS = """#!/bin/sh
for word in "$@"; do
  if [ -f "$word" ] && grep -q flatbuffers/base.h "$word" 2>/dev/null; then exit 1; fi
done
exec g++ "$@"
"""


def offline():
    return dict(os.environ, https_proxy=CLOSED_PORT, http_proxy=CLOSED_PORT, HTTPS_PROXY=CLOSED_PORT, HTTP_PROXY=CLOSED_PORT)


def cmake(tree, build, *options):
    parts = [f"-DNSK_BUILD_{part}=OFF" for part in ("TOOLS", "EXAMPLES", "TESTS", "BENCH")]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []  # make need not be there
    ignored = "-DCMAKE_IGNORE_PATH=/usr/include;/usr/local/include"
    return run(["cmake", "-S", tree.root, "-B", build, *generator, ignored, *parts, *options], env=offline())


def words_of(text):
    return " ".join(text.split())


def stopped(what, done, said):
    """Violations of a run that must end in one message."""
    lines = [line for line in said.splitlines() if line.strip()]
    missing = [cure for cure in CURES if cure not in words_of(said)]
    if done.returncode == 0:
        return [f"{what} goes on without FlatBuffers"]
    if missing or len(lines) > MAX_LINES:
        return [f"{what} ends in {len(lines)} lines that lack {missing}: {' / '.join(lines[:6])}"]
    return []


def archive_of(folder):
    """An archive as GitHub makes it, of this machine's headers."""
    headers = pathlib.Path(os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR", "/usr/include")) / "flatbuffers"
    path = pathlib.Path(folder) / "flatbuffers.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(headers, "flatbuffers-0.0.0/include/flatbuffers")
    return path


def without_flatbuffers_cmake(tree):
    if not shutil.which("cmake"):
        note("cmake is not installed")
        return []
    with scratch_folder() as folder:
        folder = pathlib.Path(folder)
        done = cmake(tree, folder / "offline")
        violations = stopped("CMake", done, done.stderr)
        done = cmake(tree, folder / "fetched", f"-DNSK_FLATBUFFERS_URL={archive_of(folder)}")
        found = "\n".join(line for line in (folder / "fetched" / "CMakeCache.txt").read_text().splitlines() if line.startswith("NSK_FLATBUFFERS_INCLUDE_DIR"))
        if done.returncode != 0 or "flatbuffers-0.0.0/include" not in found:
            violations.append(f"CMake does not take the archive: {found} {done.stderr[:300]}")
    return violations


def without_flatbuffers_meson(tree):
    if not shutil.which("meson"):
        note("meson is not installed, so nothing is configured with it (apt install meson)")
        return []
    with scratch_folder() as folder:
        folder = pathlib.Path(folder)
        compiler = folder / "g++"
        compiler.write_text(WITHOUT_FLATBUFFERS)
        compiler.chmod(0o755)
        (folder / "native.ini").write_text(f"[binaries]\ncpp = '{compiler}'\npkgconfig = '/nowhere/pkg-config'\ncmake = '/nowhere/cmake'\n")
        parts = [f"-D{part}=disabled" for part in ("tools", "examples", "tests", "bench")]
        done = run(["meson", "setup", folder / "build", tree.root, "--native-file", folder / "native.ini", *parts], env=offline())
        errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
        return stopped("Meson", done, "\n".join(errors))


def without_flatbuffers(tree):
    """Offline and without FlatBuffers, CMake and Meson end in one sentence that names the cure; an archive that is there is taken."""
    return without_flatbuffers_cmake(tree) + without_flatbuffers_meson(tree)


def whole_copy(change):
    """A seed in the build files: the copy gets all that configuring reads."""
    def plant(tree):
        for name in ("CMakeLists.txt", "meson.build", "meson_options.txt", "tools", "schema"):
            source = REPOSITORY / name
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, tree.root / name)
        change(tree.root)
    return plant


def replaced(root, name, old, new):
    text = (root / name).read_text()
    if old not in text:
        raise RuntimeError(f"seed: {name} lacks {old!r}")
    (root / name).write_text(text.replace(old, new))


GUARDS = {
    "without_flatbuffers": (without_flatbuffers, [
        ("CMake goes on with what it could not fetch",
         whole_copy(lambda root: replaced(root, "tools/cmake/NetsukeDependencies.cmake", "if(NOT headers)", "if(FALSE)"))),
        ("Meson leaves the message to itself",
         whole_copy(lambda root: replaced(root, "meson.build", "'flatbuffers_dep'], required: false)", "'flatbuffers_dep'])"))),
    ]),
}
