#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches MediaPipe's networks for faces, hands, bodies and selfies as TensorFlow Lite (Apache-2.0) from the PyPI package
# mediapipe, and converts them where nsk is found (on the path, in build/, or NSK_TOOL).
#   examples/models/fetch_mediapipe.sh [DIRECTORY]      default: out/models
set -euo pipefail
package="mediapipe==0.10.14"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/examples/models/fetch_support.sh"
target=${1:-"$root/out/models"}
files=(face_detection/face_detection_short_range face_landmark/face_landmark face_landmark/face_landmark_with_attention
       palm_detection/palm_detection_lite palm_detection/palm_detection_full hand_landmark/hand_landmark_lite hand_landmark/hand_landmark_full
       pose_detection/pose_detection pose_landmark/pose_landmark_full selfie_segmentation/selfie_segmentation)

have=0
for file in "${files[@]}"; do if [ -s "$target/${file#*/}.tflite" ]; then have=$((have + 1)); fi; done
if [ "$have" -ne ${#files[@]} ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  wheel=$(fetch_wheel "$package" "$work")
  mkdir -p "$target"
  python3 - "$wheel" "$target" "${files[@]}" <<'END'
import os, pathlib, sys, zipfile
wheel, target, *files = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for file in files:
        path = pathlib.Path(target) / (file.split("/")[1] + ".tflite")
        part = path.with_suffix(".part")
        part.write_bytes(archive.read(f"mediapipe/modules/{file}.tflite"))
        os.replace(part, path)
END
fi

nsk=${NSK_TOOL:-$(command -v nsk || true)}
if [ -z "$nsk" ] && [ -x "$root/build/nsk" ]; then nsk="$root/build/nsk"; fi
for file in "${files[@]}"; do
  model="$target/${file#*/}"
  if [ -n "$nsk" ]; then
    if [ "$model.nsk" -ot "$model.tflite" ]; then "$nsk" convert "$model.tflite" -o "$model.nsk" --check --quiet; fi
    echo "$model.nsk"
  else
    echo "nsk convert $model.tflite -o $model.nsk --check"
  fi
done
