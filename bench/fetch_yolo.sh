#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches a YOLOv8n of 320 x 320 as ONNX (MIT, a detector of nudity) from the PyPI package nudenet, and prints its path.
#   bench/fetch_yolo.sh [DIRECTORY]      default: out/models
set -euo pipefail
package="nudenet==3.4.2"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/examples/models/fetch_support.sh"
target=${1:-"$root/out/models"}
file=yolov8n_320.onnx

if [ ! -s "$target/$file" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  wheel=$(fetch_wheel "$package" "$work")
  python3 -m zipfile -e "$wheel" "$work/package"
  found="$work/package/nudenet/320n.onnx"
  [ -s "$found" ] || { echo "$package does not hold 320n.onnx" >&2; exit 1; }
  mkdir -p "$target"
  cp "$found" "$target/$file.part"
  mv "$target/$file.part" "$target/$file"
fi
echo "$target/$file"
