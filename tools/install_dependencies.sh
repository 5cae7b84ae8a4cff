#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the build, the tests and the examples need on Debian or Ubuntu, and only what is missing. On other systems it says what installs it.
#   tools/install_dependencies.sh [--python DIR]     DIR: where to make the Python environment when the system's lacks the packages
# Prints the Python interpreter that has numpy, onnx, onnxruntime and pillow as its last line when --python is given.
set -euo pipefail

packages=(g++ clang cmake ninja-build meson ccache pkg-config libflatbuffers-dev flatbuffers-compiler libprotozero-dev libcli11-dev
          nlohmann-json3-dev libstb-dev libtbb-dev doctest-dev python3 python3-venv binutils ca-certificates)
# The NEON build is tested on an emulator, its inner loops by llvm-mca; layout by the version that wrote it; what is not there is skipped, and says so.
# Headers and programs of machines with 32-bit pointers and of Windows are tested with the other two compilers and zig.
# The GPU path is tested on Mesa's software drivers, with the compilers of shading languages; its window with SDL2, on a screen in memory.
# The package for Unity is compiled by Mono's compiler, and runs on Mono and on the .NET of a Python package.
optional_packages=(g++-aarch64-linux-gnu qemu-user llvm-19 clang-format-14 g++-arm-linux-gnueabihf g++-mingw-w64-x86-64-posix
                   mesa-vulkan-drivers libvulkan-dev vulkan-validationlayers glslang-tools glslc spirv-tools spirv-cross
                   libegl-dev libgl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri
                   libsdl2-dev xvfb xauth
                   mono-mcs mono-runtime)
python_packages=(numpy onnx onnxruntime pillow)
python_modules="numpy, onnx, onnxruntime, PIL"
# Tests of TensorFlow Lite models compare with these; without them they are skipped, and say so.
optional_python_packages=(ai-edge-litert flatbuffers)
# Tests of decision trees train and export with these; the same holds for them.
tree_python_packages=(lightgbm onnxmltools)
# Ids of tokenizers are compared with this one's; the same holds for it.
text_python_packages=(tokenizers)
# The newest FlatBuffers whose headers are tested, and the Rust package that carries them.
newest_flatbuffers_crate=flatc-fork newest_flatbuffers_version=0.5.0+25.12.19
# The Rust package that carries Godot's header.
godot_crate=gdextension-api godot_version=0.3.3

say() { printf '%s\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    say "Installing packages needs root. Run as root, or install by hand: ${missing[*]}"
    exit 1
  fi
}

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# Says which command installs the libraries of the converter on this system, which has no apt-get. The names are of its package lists; only apt-get's are tested.
say_how_to_install() {
  local command
  case "$(uname -s)" in
    Darwin) command="xcode-select --install; brew install cmake ninja ccache flatbuffers protozero cli11 nlohmann-json doctest tbb" ;;
    MINGW* | MSYS*) command="pacman -S \$MINGW_PACKAGE_PREFIX-{toolchain,cmake,ninja,ccache,flatbuffers,protozero,cli11,nlohmann-json,stb,doctest}" ;;
    *)
      if command -v dnf >/dev/null; then
        command="dnf install gcc-c++ cmake ninja-build ccache flatbuffers-devel flatbuffers-compiler protozero-devel cli11-devel json-devel stb-devel doctest-devel tbb-devel"
      elif command -v pacman >/dev/null; then
        command="pacman -S gcc cmake ninja ccache flatbuffers protozero cli11 nlohmann-json stb doctest tbb"
      elif command -v zypper >/dev/null; then
        command="zypper install gcc-c++ cmake ninja ccache flatbuffers-devel protozero-devel cli11-devel nlohmann_json-devel stb-devel doctest-devel tbb-devel"
      else
        command="vcpkg install flatbuffers protozero cli11 nlohmann-json stb doctest tbb"
      fi ;;
  esac
  say "There is no apt-get here. This installs what the converter needs: $command"
  say "What a package list lacks is found by its folder: cmake -DNSK_STB_INCLUDE_DIR=..., and the like for FLATBUFFERS, PROTOZERO, CLI11 and JSON"
}

install_packages() {
  command -v apt-get >/dev/null || { say_how_to_install; return 0; }
  missing=()
  for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
  # The sanitizer and fuzzer runtime follows clang's version.
  if command -v clang++ >/dev/null; then runtime="libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"; else runtime=""; fi
  if [ -n "$runtime" ]; then installed "$runtime" || missing+=("$runtime"); fi
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  say "Installing: ${missing[*]}"
  as_root apt-get update -qq >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  if [ -z "$runtime" ]; then
    runtime="libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$runtime" >&2
  fi
}

install_optional_packages() {
  command -v apt-get >/dev/null && [ "$(uname -m)" = x86_64 ] || return 0
  missing=()
  for package in "${optional_packages[@]}"; do installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  say "Installing, where it can be: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then say "not root: left out"; return 0; fi
  as_root apt-get update -qq >&2 || true
  for package in "${missing[@]}"; do
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >&2 ||
      say "not installed: $package; the tests that need it will be skipped"
  done
}

# Gives an interpreter the optional packages where it can take them.
install_optional_python() {
  "$1" -c "import ai_edge_litert, flatbuffers" 2>/dev/null ||
    "$1" -m pip install --quiet --disable-pip-version-check "${optional_python_packages[@]}" >&2 2>/dev/null ||
    say "not installed: ${optional_python_packages[*]}; tests of TensorFlow Lite models will be skipped"
  "$1" -c "import tokenizers" 2>/dev/null ||
    "$1" -m pip install --quiet --disable-pip-version-check "${text_python_packages[@]}" >&2 2>/dev/null ||
    say "not installed: ${text_python_packages[*]}; tests of tokenizers will be skipped"
  "$1" -c "import lightgbm, onnxmltools" 2>/dev/null ||
    "$1" -m pip install --quiet --disable-pip-version-check "${tree_python_packages[@]}" >&2 2>/dev/null ||
    say "not installed: ${tree_python_packages[*]}; tests of trees that LightGBM trains will be skipped"
  "$1" -c "import yaml" 2>/dev/null ||
    "$1" -m pip install --quiet --disable-pip-version-check pyyaml >&2 2>/dev/null ||
    say "not installed: pyyaml; the workflow of continuous integration will not be read"
  "$1" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("dotnetcore2") is None)' ||
    "$1" -m pip install --quiet --disable-pip-version-check --no-deps dotnetcore2 >&2 2>/dev/null ||
    say "not installed: dotnetcore2; the package for Unity will be run on Mono alone"
  "$1" -c "import ziglang" 2>/dev/null ||
    "$1" -m pip install --quiet --disable-pip-version-check ziglang >&2 2>/dev/null ||
    say "not installed: ziglang; nothing will be compiled for WebAssembly and macOS"
}

# Puts a file or folder of a Rust package into the folder given, where cargo can fetch it. The tests use it, nothing else does.
#   install_from_crate FOLDER CRATE VERSION PATH WHAT
install_from_crate() {
  local name project
  name=$(basename "$4")
  [ ! -e "$1/$name" ] || return 0
  command -v cargo >/dev/null || { say "no cargo: $5 will not be tested"; return 0; }
  project=$(mktemp -d)
  mkdir "$project/src"
  touch "$project/src/lib.rs"
  printf '[package]\nname = "headers"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n' "$2" "$3" > "$project/Cargo.toml"
  if (cd "$project" && cargo vendor --quiet vendor >/dev/null 2>&1); then
    mkdir -p "$1"
    cp -r "$project/vendor/$2/$4" "$1/"
  else
    say "not fetched: $2; $5 will not be tested"
  fi
  rm -rf "$project"
}

# Prints an interpreter with the modules: $NSK_PYTHON, the environment made earlier, the system's, or a new environment.
find_python() {
  local environment="$1" candidate
  for candidate in "${NSK_PYTHON:-}" "$environment/bin/python" python3; do
    [ -n "$candidate" ] || continue
    candidate=$(command -v "$candidate" 2>/dev/null) || continue
    if "$candidate" -c "import $python_modules" 2>/dev/null; then
      install_optional_python "$candidate"
      "$candidate" -c 'import sys; print(sys.executable)'
      return 0
    fi
  done
  say "Making a Python environment in $environment (${python_packages[*]})"
  python3 -m venv "$environment" >&2 || /usr/bin/python3 -m venv "$environment" >&2
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}" >&2
  install_optional_python "$environment/bin/python"
  printf '%s\n' "$environment/bin/python"
}

install_packages
install_optional_packages
if [ "${1:-}" = "--python" ]; then
  beside=$(dirname "${2:?--python needs a directory}")
  install_from_crate "$beside/flatbuffers_newest" "$newest_flatbuffers_crate" "$newest_flatbuffers_version" flatbuffers/include/flatbuffers "the newest FlatBuffers"
  install_from_crate "$beside/godot_header" "$godot_crate" "$godot_version" versions/4.2/res/gdextension_interface.h "the extension for Godot"
  find_python "$2"
fi
