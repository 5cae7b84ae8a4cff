#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that take the library as users do, each in a folder of its own: they build, run, and get no warning of ours.

  consumers.py KIND     moved_prefix, pkg_config, subdirectory, fetch_content, meson, conan, presets, network, meson_network
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "packaging" / "conan" / "test_package" / "consumer.cpp"
VERSION = re.search(r'NSK_VERSION_STRING "([^"]+)"', (ROOT / "include" / "netsuke" / "version.hpp").read_text()).group(1)
FLATBUFFERS = os.environ.get("NSK_FLATBUFFERS_INCLUDE_DIR", "/usr/include")
# Warnings that a game may ask for: those of our headers would be shown here.
FLAGS = "-Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Werror"
ENGINE = [f"-DNSK_BUILD_{part}=OFF" for part in ("TOOLS", "EXAMPLES", "TESTS", "BENCH", "C")] + [f"-DNSK_FLATBUFFERS_INCLUDE_DIR={FLATBUFFERS}"]
CMAKE = """cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
{how}
add_executable(consumer "{source}")
target_link_libraries(consumer PRIVATE netsuke::netsuke)
"""
# A game with the network of a file, which replays what the converter recorded.
NETWORK = r"""#include <cstdio>
#include "doubled.hpp"

alignas(64) static std::byte file[1 << 20], memory[4 << 20];

int main(int, char** arguments) {
  std::FILE* const stream = std::fopen(arguments[1], "rb");
  const std::size_t bytes = std::fread(file, 1, sizeof file, stream);
  std::fclose(stream);
  nsk::model model;
  if (!nsk::open<doubled_settings>({file, bytes}, model)) return 1;
  doubled_session net(model, memory);
  if (!net) return 2;
  const nsk::status done = nsk::selftest(net);
  std::puts(done ? "equal" : done.message());
}
"""
MESON_NETWORK = """project('game', 'cpp', default_options: ['cpp_std=c++17', 'buildtype=debug'])
netsuke = subproject('netsuke')
netsuke_dep = dependency('netsuke')
doubled_name = {{'NSK_NETWORK': 'doubled'}}
doubled_settings = custom_target(input: 'x2.nsk', output: 'doubled_settings.hpp', capture: true,
                                 command: ['{tool}', 'inspect', '--settings', '--name', 'doubled', '@INPUT@'])
configure_file(input: netsuke.get_variable('network_hpp'), output: 'doubled.hpp', configuration: doubled_name)
doubled_cpp = configure_file(input: netsuke.get_variable('network_cpp'), output: 'doubled.cpp', configuration: doubled_name)
doubled = static_library('doubled', doubled_cpp, doubled_settings, dependencies: netsuke_dep, override_options: ['optimization=2'])
executable('game', 'main.cpp', doubled_settings, link_with: doubled, dependencies: netsuke_dep)
"""


class Skipped(Exception):
    """The reason why a kind cannot be tried here."""


def must(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def says_version(program):
    said = must(program)
    if not said.startswith(f"netsuke {VERSION}: "):
        raise SystemExit(f"the consumer says {said!r}, not version {VERSION}")
    print(said.strip())


def cmake_consumer(folder, how, *options):
    project, build = folder / "game", folder / "game build"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(CMAKE.format(how=how, source=SOURCE))
    must("cmake", "-S", project, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-DNSK_FLATBUFFERS_INCLUDE_DIR={FLATBUFFERS}", *options)
    must("cmake", "--build", build)
    says_version(build / "consumer")


def installed(folder):
    """A prefix that was moved behind the installation."""
    must("cmake", "-S", ROOT, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_INSTALL_PREFIX={folder / 'first'}", *ENGINE)
    must("cmake", "--install", folder / "build")
    return (folder / "first").rename(folder / "a moved prefix")


def moved_prefix(folder):
    prefix = installed(folder)
    for name in ("LICENSE",):
        if not list(prefix.rglob(name)):
            raise SystemExit(f"the installation has no {name}")
    cmake_consumer(folder, f"find_package(netsuke {VERSION} CONFIG REQUIRED)", f"-DCMAKE_PREFIX_PATH={prefix}")


def pkg_config(folder):
    if not shutil.which("pkg-config"):
        raise Skipped("pkg-config is not installed")
    prefix = installed(folder).rename(folder / "moved")
    flags = must("pkg-config", "--cflags", "netsuke", env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "share" / "pkgconfig")}).split()
    must("c++", "-std=c++17", *flags, SOURCE, "-o", folder / "consumer")
    if must("pkg-config", "--modversion", "netsuke", env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "share" / "pkgconfig")}).strip() != VERSION:
        raise SystemExit("netsuke.pc has another version")
    says_version(folder / "consumer")


def subdirectory(folder):
    cmake_consumer(folder, f'add_subdirectory("{ROOT}" netsuke)')


def fetch_content(folder):
    cmake_consumer(folder, "include(FetchContent)\nFetchContent_Declare(netsuke URL https://example.com/never)\nFetchContent_MakeAvailable(netsuke)",
                   f"-DFETCHCONTENT_SOURCE_DIR_NETSUKE={ROOT}", "-DFETCHCONTENT_FULLY_DISCONNECTED=ON")


def meson(folder):
    if not shutil.which("meson"):
        raise Skipped("Meson is not installed")
    project = folder / "game"
    (project / "subprojects").mkdir(parents=True)
    (project / "subprojects" / "netsuke").symlink_to(ROOT)
    shutil.copy(SOURCE, project / "consumer.cpp")
    (project / "meson.build").write_text("project('game', 'cpp', default_options: ['cpp_std=c++17', 'warning_level=3', 'werror=true'])\n"
                                         "executable('consumer', 'consumer.cpp', dependencies: dependency('netsuke', fallback: ['netsuke', 'netsuke_dep']))\n")
    include = [] if FLATBUFFERS == "/usr/include" else [f"-Dcpp_args=-isystem{FLATBUFFERS}"]
    must("meson", "setup", folder / "build", project, *include)
    must("meson", "compile", "-C", folder / "build")
    says_version(folder / "build" / "consumer")


def conan(folder):
    if not shutil.which("conan"):
        raise Skipped("Conan is not installed (pip install conan)")
    environment = {**os.environ, "CONAN_HOME": str(folder / "conan")}
    must("conan", "profile", "detect", env=environment)
    # Its server is not asked: the headers of FlatBuffers are this machine's.
    # Conan builds its test where that is: a copy keeps the checkout clean.
    shutil.copytree(ROOT / "packaging" / "conan" / "test_package", folder / "test_package")
    log = folder / "log"
    with log.open("w") as said:
        done = subprocess.run(["conan", "create", ROOT / "packaging" / "conan", "-tf", folder / "test_package", "-o", "netsuke/*:system_flatbuffers=True", "--no-remote"],
                              stdout=said, stderr=said, env=environment)
    line = next((text for text in log.read_text().splitlines() if text.startswith(f"netsuke {VERSION}: ")), None)
    if done.returncode or line is None:
        raise SystemExit(f"conan create: exit code {done.returncode}\n{log.read_text()[-3000:]}")
    print(line)


def presets(folder):
    text = json.loads((ROOT / "CMakePresets.json").read_text())
    listed = must("cmake", "--list-presets", cwd=ROOT)
    for preset in text["configurePresets"]:
        if f'"{preset["name"]}"' not in listed:
            raise SystemExit(f"cmake does not list the preset {preset['name']}")
    must("cmake", "--preset", "engine", "-B", folder / "build", *ENGINE, cwd=ROOT)
    print(f"{len(text['configurePresets'])} presets; engine configures")


def game_of_network(folder):
    """A game that does not optimise, with a network made of a model."""
    project = folder / "game"
    project.mkdir()
    (project / "main.cpp").write_text(NETWORK)
    must(os.environ["NSK_TOOL"], "convert", ROOT / "examples" / "models" / "upscaler_x2.onnx", "-o", project / "x2.nsk", "--input", "frame=1x3x16x24",
         "--embed-check", "--quiet")
    return project


def says_equal(build):
    """The game computes what the converter recorded, its kernels were compiled with -O2, and it was not."""
    said = must(build / "game", build.parent / "game" / "x2.nsk").strip()
    if said != "equal":
        raise SystemExit(f"the game says {said!r}")
    for command in json.loads((build / "compile_commands.json").read_text()):
        if ("doubled.cpp" in command["file"]) != bool(re.search(r" -O2\b", command["command"])):
            raise SystemExit(f"flags of {command['file']}: {command['command']}")
    print(f"{said}: a debug build with optimised kernels")


def network(folder):
    project, build = game_of_network(folder), folder / "build"
    (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(game LANGUAGES CXX)\nfind_package(netsuke CONFIG REQUIRED)\n"
                                            "add_executable(game main.cpp)\nnsk_add_network(game x2.nsk NAME doubled)\n")
    clang = [f"-DCMAKE_CXX_COMPILER={shutil.which('clang++')}"] if shutil.which("clang++") else []
    must("cmake", "-S", project, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
         f"-DCMAKE_PREFIX_PATH={installed(folder / 'netsuke')}", f"-DNSK_PROGRAM={os.environ['NSK_TOOL']}", f"-DNSK_FLATBUFFERS_INCLUDE_DIR={FLATBUFFERS}", *clang)
    must("cmake", "--build", build)
    says_equal(build)


def meson_network(folder):
    if not shutil.which("meson"):
        raise Skipped("Meson is not installed")
    project, build = game_of_network(folder), folder / "build"
    (project / "subprojects").mkdir()
    (project / "subprojects" / "netsuke").symlink_to(ROOT)
    (project / "meson.build").write_text(MESON_NETWORK.format(tool=os.environ["NSK_TOOL"]))
    include = [] if FLATBUFFERS == "/usr/include" else [f"-Dcpp_args=-isystem{FLATBUFFERS}"]
    must("meson", "setup", build, project, *include)
    must("meson", "compile", "-C", build)
    says_equal(build)


KINDS = {f.__name__: f for f in (moved_prefix, pkg_config, subdirectory, fetch_content, meson, conan, presets, network, meson_network)}


def main():
    kind = KINDS[sys.argv[1]]
    with tempfile.TemporaryDirectory(prefix="nsk_consumer_") as folder:
        try:
            kind(pathlib.Path(folder))
        except Skipped as why:
            print(f"SKIPPED: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
