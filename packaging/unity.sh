#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the package for Unity as an archive: Package Manager > Install package from tarball.
#
#   packaging/unity.sh [--output FOLDER] [--nsk PROGRAM] [--flatbuffers DIR] [--library TARGET=FILE] [TARGET...]
#
# TARGET is a native library of the archive, all five without: linux-x86_64 (c++), windows-x86_64 (mingw), windows-arm64, macos-x86_64 and macos-arm64
# (zig: pip install ziglang; NSK_ZIG names another). --library takes one that was built before. Android, iOS, WebGL and consoles compile the source
# plug-in, which is always there. --nsk is the converter (default: nsk), which makes the model of the package's tests; --flatbuffers the include
# folder of FlatBuffers (default: /usr/include). The archive and its unpacked form, package/, are in FOLDER (default: build/unity).
# The same inputs and compilers give the same bytes.
set -euo pipefail

. "$(dirname "$0")/common.sh"
nsk=nsk
declare -A built=()
own_option() {
  case $1 in
    --nsk) nsk=$2 ;;
    --library) built[${2%%=*}]=${2#*=}; targets+=("${2%%=*}") ;;
    *) false ;;
  esac
}
take_options "$@"
[ ${#targets[@]} -gt 0 ] || targets=(linux-x86_64 windows-x86_64 windows-arm64 macos-x86_64 macos-arm64)
find_licence

version=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' "$root/bindings/unity/com.netsuke.runtime/package.json")
package=$output/package
rm -rf "$package"
mkdir -p "$package"
cp -R "$root/bindings/unity/com.netsuke.runtime/." "$package"

# --- texts ---
without_links() { sed -E 's/\[([^]]*)\]\(([^h)][^)]*|h[^t)][^)]*)\)/\1/g' "$1"; }  # pages that are not in the archive
cp "$root/CHANGELOG.md" "$package/CHANGELOG.md"
{ printf '# Licence\n\n'; cat "$root/LICENSE"; } > "$package/LICENSE.md"
mkdir -p "$package/Documentation~"
without_links "$root/docs/guide/unity.md" > "$package/Documentation~/index.md"
for page in images batcher logs; do without_links "$root/docs/guide/$page.md" > "$package/Documentation~/$page.md"; done
{
  printf '# Third Party Notices\n\nThe source plug-in and the native libraries contain headers of FlatBuffers.\n\n'
  printf '## FlatBuffers\n\nCopyright 2014-2021 Google Inc. All rights reserved. Licensed under the Apache License, Version 2.0.\n\n```\n'
  cat "$licence"
  printf '```\n'
} > "$package/Third Party Notices.md"

# --- the source plug-in: everything in one file ---
mkdir -p "$package/Plugins/Source"
source=$package/Plugins/Source/netsuke.cpp
python3 "$root/tools/amalgamate.py" "$output/netsuke.hpp" --with c --flatbuffers "$flatbuffers" > /dev/null
{
  printf '// SPDX-License-Identifier: MIT\n// The C interface with every operator: nsk::all_settings. Settings of your own are put in further down.\n'
  printf '#if !defined(NSK_C_IMPLEMENTATION)\n#define NSK_C_IMPLEMENTATION nsk::all_settings\n#endif\n'
  sed -e '1d' -e '/^#pragma once$/d' "$output/netsuke.hpp"
} > "$source"
rm "$output/netsuke.hpp"

# --- libraries ---
flags=(-std=c++17 -O3 -DNDEBUG -DNSK_C_SHARED -fno-exceptions -fno-rtti -ffp-contract=off -fvisibility=hidden -fvisibility-inlines-hidden -shared)
library() {  # TARGET FILE COMPILER...
  local target=$1 file=$package/Plugins/$2
  shift 2
  mkdir -p "$(dirname "$file")"
  if [ -n "${built[$target]:-}" ]; then cp "${built[$target]}" "$file"; else "$@" "${flags[@]}" "$source" -o "$file"; fi
  printf '%s: %s bytes\n' "${file#"$package"/}" "$(stat -c %s "$file")"
}
for target in "${targets[@]}"; do
  case $target in
    linux-x86_64) library $target Linux/x86_64/libnetsuke_c.so "${CXX:-c++}" -fPIC -Wl,--as-needed -s ;;
    windows-x86_64)
      mingw=$(find_mingw)
      [ -n "$mingw${built[$target]:-}" ] || need_mingw $target
      library $target Windows/x86_64/netsuke_c.dll "$mingw" -static -s -Wl,--no-insert-timestamp ;;
    windows-arm64) library $target Windows/arm64/netsuke_c.dll $(find_zig $target) c++ -target aarch64-windows-gnu -s ;;
    macos-x86_64 | macos-arm64)
      processor=${target#macos-}
      library $target macOS/$processor/libnetsuke_c.dylib $(find_zig $target) c++ -target "${processor/arm64/aarch64}-macos" -s -Wl,-install_name,@rpath/libnetsuke_c.dylib ;;
    *) die "what is $target? See --help" ;;
  esac
done
delete_import_libraries "$package/Plugins"

# --- the model of the package's tests: a layer with a memory, and what it computes ---
"$nsk" convert "$root/examples/models/yard_agent.onnx" -o "$package/Tests/Editor/agent.nsk" --batch-max 8 --embed-check --quiet

# --- the archive ---
python3 "$root/tools/write_unity_metas.py" "$package"
pack package "com.netsuke.runtime-$version.tgz"
