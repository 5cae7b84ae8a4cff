#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/install_dependencies.sh on systems without apt-get: it names the package manager of each, and installs nothing.

The systems are folders of programs that only say who they are.
"""
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "install_dependencies.sh"
# What uname prints, the package managers there are, and the command that must be named.
SYSTEMS = [("Darwin", ["brew"], "brew install "), ("MINGW64_NT-10.0", ["pacman"], "pacman -S $MINGW_PACKAGE_PREFIX-"), ("Linux", ["dnf"], "dnf install "),
           ("Linux", ["pacman"], "pacman -S gcc"), ("Linux", ["zypper"], "zypper install "), ("Linux", [], "vcpkg install ")]
LIBRARIES = ("flatbuffers", "protozero", "cli11", "json")


def said_on(system, managers):
    """What the script says on a made-up system, or why it failed."""
    with tempfile.TemporaryDirectory(prefix="nsk_system_") as folder:
        folder = pathlib.Path(folder)
        programs = {"uname": f"echo {system}", "bash": 'exec /bin/bash "$@"', **{m: "echo installed > installed" for m in managers}}
        for name, body in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{body}\n")
            (folder / name).chmod(0o755)
        done = subprocess.run(["/bin/bash", SCRIPT], env={"PATH": str(folder)}, cwd=folder, capture_output=True, text=True)
        if done.returncode or (folder / "installed").exists():
            return f"exit code {done.returncode}, or something was installed: {done.stderr}"
        return done.stderr


def main():
    failures = []
    for system, managers, command in SYSTEMS:
        said = said_on(system, managers)
        failures += [f"{system} with {managers}: {word!r} is not named: {said}" for word in (command, *LIBRARIES) if word not in said]
    if "brew install" in said_on("Linux", ["brew", "dnf"]):
        failures.append("the system's own package manager is passed over")
    print("\n".join(failures) or f"{len(SYSTEMS)} systems: each is told its own command")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
