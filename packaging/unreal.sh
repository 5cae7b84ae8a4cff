#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the plug-in for Unreal Engine 5.5 and newer as an archive: unpack it into the Plugins folder of a project.
#
#   packaging/unreal.sh [--output FOLDER] [--flatbuffers DIR]
#
# --flatbuffers is the include folder of FlatBuffers (default: /usr/include). The archive and its unpacked form, Netsuke/, are in FOLDER (default:
# build/unreal). The engine is in it as one file, which Unreal Build Tool compiles for every platform.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
output=$root/build/unreal flatbuffers=/usr/include
die() { printf 'unreal.sh: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --output) output=$2; shift ;;
    --flatbuffers) flatbuffers=$2; shift ;;
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) die "what is $1? See --help" ;;
  esac
  shift
done

[ -f "$flatbuffers/flatbuffers/base.h" ] || die "$flatbuffers has no flatbuffers/base.h: install libflatbuffers-dev, or name its folder with --flatbuffers"
licence=/usr/share/common-licenses/Apache-2.0  # Debian has it; a source or package of FlatBuffers has it beside its include folder
[ -f "$flatbuffers/../LICENSE" ] && licence=$flatbuffers/../LICENSE
[ -f "$licence" ] || die "the licence of FlatBuffers is not found: put it at $flatbuffers/../LICENSE"
version=$(sed -n 's/.*"VersionName": "\(.*\)".*/\1/p' "$root/bindings/unreal/Netsuke/Netsuke.uplugin")
plugin=$output/Netsuke
rm -rf "$plugin"
mkdir -p "$output"
cp -R "$root/bindings/unreal/Netsuke" "$plugin"
cp "$root/LICENSE" "$plugin/LICENSE"

third=$plugin/Source/ThirdParty/netsuke
mkdir -p "$third/include/netsuke/c" "$third/include/netsuke/core"
cp "$root"/include/netsuke/c/*.h "$third/include/netsuke/c/"
cp "$root/include/netsuke/core/status_list.h" "$third/include/netsuke/core/"
python3 "$root/tools/amalgamate.py" "$third/include/netsuke.hpp" --with c --flatbuffers "$flatbuffers" > /dev/null
cp "$licence" "$third/FlatBuffers.LICENSE.txt"
cat > "$plugin/Source/Netsuke/Private/NetsukeEngine.cpp" << 'END'
// SPDX-License-Identifier: MIT
// The engine's code is in this file alone. A settings type of your models, which netsuke.hpp has a place for, takes the place of nsk::all_settings.
#if !defined(NSK_C_IMPLEMENTATION)
#define NSK_C_IMPLEMENTATION nsk::all_settings
#endif
#include <netsuke.hpp>
END

archive=$output/Netsuke-$version.tgz
tar --create --directory "$output" --sort=name --mtime='2026-01-01 00:00:00Z' --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar Netsuke | gzip -n -9 > "$archive"
printf '%s: %s bytes\n' "$archive" "$(stat -c %s "$archive")"
