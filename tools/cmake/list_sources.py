# SPDX-License-Identifier: MIT
"""Prints the .cpp files of folders, one per line, in a stable order: what CMake's glob sees, for Meson. "tools/**" takes the folders inside too."""
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
for folder in sys.argv[2:]:
    for file in sorted(root.glob(folder + "/*.cpp")):
        print(file.relative_to(root).as_posix())
