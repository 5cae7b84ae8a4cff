#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, configures, builds everything, runs every test. The exit code is ctest's.
#   tests/run.sh [ctest arguments]          for example: tests/run.sh -R guard
#   tests/run.sh --quick [--base REF]       a minute: guards that need no compiler, unit tests of the folders that were touched (quick.py)
#   tests/run.sh --platforms [ctest arguments]   the converter for Windows and macOS too, which takes about ten minutes more to build
# NSK_BUILD_DIR (default: build) and NSK_JOBS (default: number of cores) may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

build="${NSK_BUILD_DIR:-build}"
jobs="${NSK_JOBS:-$(nproc)}"
export CCACHE_BASEDIR="$PWD"

mkdir -p "$build"
python=$(tools/install_dependencies.sh --python "$PWD/$build/venv" | tail -n 1)

if [ "${1:-}" = --quick ] && [ -f "$build/build.ninja" ]; then
  shift
  exec "$python" tests/quick.py "$build" "$@"
fi
platforms=OFF
if [ "${1:-}" = --platforms ]; then
  shift
  platforms=ON
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNSK_TEST_PLATFORMS=$platforms -DNSK_PYTHON="$python" -DPython3_EXECUTABLE="$python"
if [ "${1:-}" = --quick ]; then
  shift
  exec "$python" tests/quick.py "$build" "$@"
fi
cmake --build "$build" -j "$jobs"
exec ctest --test-dir "$build" -j "$jobs" --output-on-failure "$@"
