#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the extension for Godot 4.2 and newer: copy FOLDER/addons into a project.
#
#   packaging/godot.sh [--output FOLDER] [--header DIR] [--flatbuffers DIR] [TARGET...]
#
# TARGET is linux.x86_64 (c++; the default), linux.arm64 (aarch64-linux-gnu-g++), windows.x86_64 (mingw), or by zig (pip install ziglang; NSK_ZIG names
# another) windows.arm64 and macos (arm64). --header is the folder of Godot's gdextension_interface.h, which `godot --dump-gdextension-interface`
# writes (default: build/godot_header, where tools/install_dependencies.sh --python build/venv puts it); --flatbuffers the include folder of
# FlatBuffers (default: /usr/include). FOLDER is build/godot without --output.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
output=$root/build/godot header=$root/build/godot_header flatbuffers=/usr/include
targets=()
die() { printf 'godot.sh: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --output) output=$2; shift ;;
    --header) header=$2; shift ;;
    --flatbuffers) flatbuffers=$2; shift ;;
    -h | --help) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) die "what is $1? See --help" ;;
    *) targets+=("$1") ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=(linux.x86_64)
[ -f "$header/gdextension_interface.h" ] || die "$header has no gdextension_interface.h: name its folder with --header"

addon=$output/addons/netsuke
mkdir -p "$addon"
cp "$root/packaging/godot/addons/netsuke/netsuke.gdextension" "$root/LICENSE" "$addon"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/headers"
cp "$header/gdextension_interface.h" "$scratch/headers"
{
  printf '#define NSK_C_IMPLEMENTATION nsk::all_settings\n'
  python3 "$root/tools/amalgamate.py" "$scratch/one.hpp" --with c --flatbuffers "$flatbuffers" > /dev/null
  sed '/^#pragma once$/d' "$scratch/one.hpp"
} > "$scratch/engine.cpp"

find_zig() {
  if [ -n "${NSK_ZIG:-}" ]; then echo "$NSK_ZIG"
  elif command -v zig > /dev/null; then echo zig
  elif python3 -m ziglang version > /dev/null 2>&1; then echo python3 -m ziglang
  else die "$1 needs zig (pip install ziglang)"; fi
}
flags=(-std=c++17 -O3 -DNDEBUG -ffp-contract=off -fvisibility=hidden -fvisibility-inlines-hidden -shared -s)
build() {  # FILE COMPILER...
  local file=$addon/$1
  shift
  "$@" "${flags[@]}" -isystem "$scratch/headers" -I"$root/include" "$scratch/engine.cpp" "$root"/packaging/godot/src/*.cpp -o "$file"
  printf '%s: %s bytes\n' "$file" "$(stat -c %s "$file")"
}
for target in "${targets[@]}"; do
  case $target in
    linux.x86_64) build libnetsuke_godot.$target.so "${CXX:-c++}" -fPIC -static-libstdc++ -static-libgcc ;;
    linux.arm64) build libnetsuke_godot.$target.so aarch64-linux-gnu-g++ -fPIC -static-libstdc++ -static-libgcc ;;
    windows.x86_64)
      mingw=$(command -v x86_64-w64-mingw32-g++-posix || command -v x86_64-w64-mingw32-g++) || die "$target needs mingw (apt install g++-mingw-w64-x86-64-posix)"
      build netsuke_godot.$target.dll "$mingw" -static ;;
    windows.arm64) build netsuke_godot.$target.dll $(find_zig $target) c++ -target aarch64-windows-gnu ;;
    macos) build libnetsuke_godot.macos.dylib $(find_zig $target) c++ -target aarch64-macos ;;
    *) die "what is $target? See --help" ;;
  esac
done
find "$addon" \( -name '*.lib' -o -name '*.pdb' \) -delete
