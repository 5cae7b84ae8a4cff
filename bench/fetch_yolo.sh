#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches a YOLOv8n of 320 x 320 as ONNX (MIT, a detector of nudity) from the PyPI package nudenet, and prints its path.
#   bench/fetch_yolo.sh [DIRECTORY]      default: out/models
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/examples/models/fetch_support.sh"
fetch_file nudenet==3.4.2 320n.onnx "${1:-"$root/out/models"}/yolov8n_320.onnx"
