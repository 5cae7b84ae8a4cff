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

. "$(dirname "$0")/common.sh"
header=$root/build/godot_header
own_option() {
  case $1 in
    --header) header=$2 ;;
    *) false ;;
  esac
}
take_options "$@"
[ ${#targets[@]} -gt 0 ] || targets=(linux.x86_64)
[ -f "$header/gdextension_interface.h" ] || die "$header has no gdextension_interface.h: name its folder with --header"

find_licence
addon=$output/addons/netsuke
mkdir -p "$addon"
cp "$root/packaging/godot/addons/netsuke/netsuke.gdextension" "$root/LICENSE" "$addon"
cp "$licence" "$addon/FlatBuffers.LICENSE.txt"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/headers"
cp "$header/gdextension_interface.h" "$scratch/headers"
{
  printf '#define NSK_C_IMPLEMENTATION nsk::all_settings\n'
  python3 "$root/tools/amalgamate.py" "$scratch/one.hpp" --with c --flatbuffers "$flatbuffers" > /dev/null
  sed '/^#pragma once$/d' "$scratch/one.hpp"
} > "$scratch/engine.cpp"

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
      mingw=$(find_mingw)
      [ -n "$mingw" ] || need_mingw $target
      build netsuke_godot.$target.dll "$mingw" -static ;;
    windows.arm64) build netsuke_godot.$target.dll $(find_zig $target) c++ -target aarch64-windows-gnu ;;
    macos) build libnetsuke_godot.macos.dylib $(find_zig $target) c++ -target aarch64-macos ;;
    *) die "what is $target? See --help" ;;
  esac
done
delete_import_libraries "$addon"
