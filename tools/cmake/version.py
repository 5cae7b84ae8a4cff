# SPDX-License-Identifier: MIT
"""Prints the version that include/netsuke/version.hpp says, for Meson."""
import pathlib
import re

print(re.search(r'NSK_VERSION_STRING "([^"]+)"', (pathlib.Path(__file__).resolve().parents[2] / "include/netsuke/version.hpp").read_text()).group(1))
