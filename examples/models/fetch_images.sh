#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches two photos of people to try networks on, from the PyPI package scikit-image: astronaut.png (NASA's portrait of
# Eileen Collins, public domain) and camera.png (a photographer at work, by Lav Varshney, CC0).
#   examples/models/fetch_images.sh [DIRECTORY]      default: out/images
set -euo pipefail
package="scikit-image==0.24.0"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/examples/models/fetch_support.sh"
target=${1:-"$root/out/images"}
files=(astronaut.png camera.png)

have=0
for file in "${files[@]}"; do if [ -s "$target/$file" ]; then have=$((have + 1)); fi; done
if [ "$have" -ne ${#files[@]} ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  wheel=$(fetch_wheel "$package" "$work")
  python3 -m zipfile -e "$wheel" "$work/package"
  mkdir -p "$target"
  for file in "${files[@]}"; do
    cp "$work/package/skimage/data/$file" "$target/$file.part"
    mv "$target/$file.part" "$target/$file"
  done
fi
for file in "${files[@]}"; do echo "$target/$file"; done
