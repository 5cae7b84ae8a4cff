#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the plug-in for Unreal Engine 5.5 and newer as an archive: unpack it into the Plugins folder of a project.
#
#   packaging/unreal.sh [--output FOLDER] [--flatbuffers DIR]
#
# --flatbuffers is the include folder of FlatBuffers (default: /usr/include). The archive and its unpacked form, Netsuke/, are in FOLDER (default:
# build/unreal). The engine is in it as one file, which Unreal Build Tool compiles for every platform.
set -euo pipefail

. "$(dirname "$0")/common.sh"
own_option() { false; }
take_options "$@"
[ ${#targets[@]} -eq 0 ] || die "what is ${targets[0]}? See --help"
find_licence

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

pack Netsuke "Netsuke-$version.tgz"
