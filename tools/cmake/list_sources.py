# SPDX-License-Identifier: MIT
"""Prints the .cpp files of folders and of those inside them, one per line, in a stable order: what nsk_sources() finds, for Meson."""
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
for folder in sys.argv[2:]:
    for file in sorted((root / folder).rglob("*.cpp")):
        print(file.relative_to(root).as_posix())
