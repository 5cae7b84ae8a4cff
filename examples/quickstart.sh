#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From a fresh clone to a sharper frame: installs what is missing, builds the converter and one example, converts the upscaler
# with a numeric check, renders a game frame and enlarges it.
#   examples/quickstart.sh              writes out/upscale.png: low resolution | bicubic | netsuke
#   NSK_SKIP_INSTALL=1, NSK_JOBS=N, NSK_QUICKSTART_BUILD=DIR    leave packages alone; parallel compilers; where to build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${NSK_QUICKSTART_BUILD:-build/quickstart}
jobs=${NSK_JOBS:-$(nproc)}
seed=100004 # a scene that the training never saw
mkdir -p out

say() { printf '\n== %s\n' "$*"; }

if [ -z "${NSK_SKIP_INSTALL:-}" ]; then
  say "packages"
  bash tools/install_dependencies.sh
fi

say "build: the converter and the upscale example"
generator=()
if command -v ninja >/dev/null && [ ! -e "$build/CMakeCache.txt" ]; then generator=(-G Ninja); fi
cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DNSK_BUILD_TESTS=OFF -DNSK_BUILD_BENCH=OFF >"out/quickstart_configure.log" ||
  { cat out/quickstart_configure.log; exit 1; }
cmake --build "$build" --target nsk example_upscale -j "$jobs"
nsk=$(find "$build" -name nsk -type f -perm -u+x -print -quit)

say "convert examples/models/upscaler_x2.onnx, checked against the reference evaluator"
"$nsk" convert examples/models/upscaler_x2.onnx -o out/upscaler_x2.nsk --input frame=1x3x180x320 --check

say "render a frame at 320 x 180, and at 640 x 360 to compare with"
rasteriser="$build/rasteriser"
if [ "$rasteriser" -ot tools/train_upscaler/rasteriser.cpp ]; then
  g++ -std=c++17 -O2 -ffp-contract=off -o "$rasteriser" tools/train_upscaler/rasteriser.cpp
fi
"$rasteriser" --seed "$seed" --size 640x360 --samples 3 -o out/frame_full.ppm --half out/frame.ppm

say "enlarge it"
"$build/examples/upscale" out/upscaler_x2.nsk out/frame.ppm --truth out/frame_full.ppm -o out/upscale.png
echo "the image is $PWD/out/upscale.png"
