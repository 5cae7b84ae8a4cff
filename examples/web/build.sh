#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the page into a folder: fetches the face detector and a photo, converts both networks, compiles two WebAssembly
# modules, and asks the CPU for the hashes that the page must show. Prints the bytes of the modules.
#   examples/web/build.sh [--serve] [FOLDER]      default: out/web; --serve shows it at http://localhost:8000
#   NSK_TOOL=build/nsk, NSK_ZIG=zig (or the package ziglang of NSK_PYTHON), CXX=g++: the programs
#   NSK_WEB_FACE=MODEL.onnx, NSK_WEB_PHOTO=PHOTO.png, NSK_FLATBUFFERS_INCLUDE_DIR    in place of what is fetched or found
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
serve=
if [ "${1:-}" = --serve ]; then serve=1; shift; fi
target=${1:-"$root/out/web"}
tool=${NSK_TOOL:-"$root/build/nsk"}
python=${NSK_PYTHON:-python3}
flatbuffers=${NSK_FLATBUFFERS_INCLUDE_DIR:-/usr/include}
mkdir -p "$target/include"

zig=("${NSK_ZIG:-zig}")
command -v "${zig[0]}" >/dev/null || zig=("$python" -m ziglang)
"${zig[@]}" version >/dev/null || { echo "zig is missing: $python -m pip install ziglang" >&2; exit 1; }
[ -x "$tool" ] || { echo "$tool is missing: build the converter, or name it in NSK_TOOL" >&2; exit 1; }

face=${NSK_WEB_FACE:-}
if [ -z "$face" ]; then
  "$root/examples/models/fetch_blazeface.sh" >/dev/null
  face=$root/out/models/face_detection_front_128x128_barracuda.onnx
fi
photo=${NSK_WEB_PHOTO:-}
if [ -z "$photo" ]; then
  "$root/examples/models/fetch_images.sh" >/dev/null
  photo=$root/out/images/astronaut.png
fi
"$tool" convert "$face" -o "$target/face.nsk" --quiet
"$tool" convert "$root/examples/models/upscaler_x2.onnx" -o "$target/upscaler.nsk" --input frame=1x3x180x320 --quiet
{ "$tool" inspect --settings "$target/face.nsk"; "$tool" inspect --settings "$target/upscaler.nsk"; } >"$target/include/settings.hpp"
cp "$photo" "$target/photo.png"
cp "$here/index.html" "$here"/*.mjs "$target"

# Headers of this system do not belong to the target, but for those of FlatBuffers.
ln -sfn "$flatbuffers/flatbuffers" "$target/include/flatbuffers"
includes=(-I"$root/include" -I"$target/include" -I"$root/examples")
compile() {
  local name=$1
  shift
  "${zig[@]}" c++ -target wasm32-wasi "$@" -std=c++17 -O3 -fno-exceptions -fno-rtti -DNDEBUG '-DNSK_STOP(text)=__builtin_trap()' \
    -mexec-model=reactor -Wl,--strip-all -Wl,--export=__heap_base "${includes[@]}" "$here/module.cpp" -o "$target/$name"
  echo "$name: $(wc -c <"$target/$name") bytes, $(gzip -9 -c "$target/$name" | wc -c) zipped"
}
compile networks.wasm -msimd128 -mrelaxed-simd -fno-vectorize -fno-slp-vectorize
compile networks_exact.wasm -msimd128

${CXX:-g++} -std=c++17 -O2 "${includes[@]}" "$here/hashes.cpp" -o "$target/include/hashes"
"$target/include/hashes" "$target/face.nsk" "$target/upscaler.nsk" "$target/photo.png" | tee "$target/expected.json"
if [ -n "$serve" ]; then exec "$python" -m http.server --bind 127.0.0.1 --directory "$target" 8000; fi
echo "$target: serve it, for example by $python -m http.server --directory $target"
