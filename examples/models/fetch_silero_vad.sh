#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches Silero VAD as ONNX (MIT) from the PyPI package silero-vad.
#   examples/models/fetch_silero_vad.sh [DIRECTORY]      default: out/models
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/examples/models/fetch_support.sh"
target=${1:-"$root/out/models"}
file=silero_vad_16k_op15.onnx

fetch_file silero-vad==6.0.0 "$file" "$target/$file"
echo "nsk convert $target/$file -o out/voice.nsk --input input=1x576 --input state=2x1x128 --set sr=16000 --check"
