#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, configures, builds everything, runs every test. The exit code is ctest's.
#   tests/run.sh [ctest arguments]          for example: tests/run.sh -R guard
# NSK_BUILD_DIR (default: build) and NSK_JOBS (default: number of cores) may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

build="${NSK_BUILD_DIR:-build}"
jobs="${NSK_JOBS:-$(nproc)}"
export CCACHE_BASEDIR="$PWD"

mkdir -p "$build"
python=$(tools/install_dependencies.sh --python "$PWD/$build/venv" | tail -n 1)

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNSK_PYTHON="$python" -DPython3_EXECUTABLE="$python"
cmake --build "$build" -j "$jobs"
exec ctest --test-dir "$build" -j "$jobs" --output-on-failure "$@"
