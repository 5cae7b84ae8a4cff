#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pages and --help say of options, headers and files is what there is.

Options in code spans of README.md and docs/*.md belong to a command of nsk, to tests/run.sh, or to an example that examples/README.md lists; commands of
other programs are not read. docs/reference/options.md
has every option of every command. The list of public headers is complete. `nsk json` and `nsk codegen` write the files that their help names.
"""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "support"))
from commands import small_model  # noqa: E402
from models import REPOSITORY, nsk, told  # noqa: E402

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
ELSEWHERE = {"--all", "--whole", "--threads", "--families", "--peers", "--record"}  # of the bench scripts and tests
OTHER_PROGRAMS = {"cmake", "conan", "docker", "meson", "pip", "pkg-config", "python3", "vcpkg", "xmake"}


def options_of_commands():
    listed = re.findall(r"^  (\w[\w-]*) ", nsk("--help").stdout, re.MULTILINE)
    return set(OPTION.findall("".join(nsk(command, "--help").stdout for command in listed)))


def missing_options(page):
    """Options of a command that its section of docs/reference/options.md does not have; `quantize` refers to `convert`."""
    sections = dict(re.findall(r"^## ([\w-]+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for command in re.findall(r"^  (\w[\w-]*) ", nsk("--help").stdout.split("Example:")[0], re.MULTILINE):
        text = sections.get(command, "") + (sections.get("convert", "") if command == "quantize" else "")
        for option in sorted(set(OPTION.findall(nsk(command, "--help").stdout.split("Options:")[1].split("\n\n")[0])) - {"--help"} - set(OPTION.findall(text))):
            yield f"docs/reference/options.md: {option} of nsk {command} is missing in its section"


def unknown_options(name, text, known):
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        if span.split()[:1] and span.split()[0] in OTHER_PROGRAMS:
            continue
        for option in set(OPTION.findall(span)) - known:
            yield f"{name}: `{span}` has {option}, which no command and no example has"


def headers(page):
    """Headers that the page does not name as public, and names that are none."""
    line = next(paragraph for paragraph in page.split("\n- ") if paragraph.startswith("Public headers are"))
    named = {name.removeprefix("netsuke/") for name in re.findall(r"`([\w/]+\.hp?p?)`", line)}
    include = REPOSITORY / "include" / "netsuke"
    apart = {"c/netsuke.h", "gpu/hybrid.hpp", "gpu/generated/spirv.hpp", "gpu/generated/text.hpp"}  # gpu.hpp tells programs to include the last three
    there = {path.name for path in include.glob("*.hpp")} | {name for name in apart if (include / name).exists()}
    return [f"docs/reference/conventions.md: {name} is no public header, or is missing in the list" for name in sorted(named ^ there)]


def files_written(folder):
    small_model(folder / "model.onnx")
    failures = []
    for command, arguments, output, form in ((["convert"], [], "model.nsk", ""), (["json"], ["model.onnx"], "text.json", "TEXT"), (["json"], ["model.nsk"], "table.json", "TEXT"),
                                             (["codegen"], ["model.nsk", "--weights", "file"], "code.hpp", "CODE")):
        source = folder / (arguments[0] if arguments else "model.onnx")
        before = set(folder.iterdir())
        done = nsk(*command, source, "-o", folder / output, *arguments[1:])
        if done.returncode:
            failures.append(f"nsk {command[0]}: {done.stderr}")
        help_text = " ".join(nsk(*command, "--help").stdout.split())
        for path in set(folder.iterdir()) - before:
            said = path.name.replace(pathlib.Path(output).stem, form) if form else ""
            if said not in help_text:
                failures.append(f"nsk {command[0]} --help does not name {said}, though {path.name} was written")
    return failures


def main():
    others = [REPOSITORY / "examples" / "README.md", REPOSITORY / "tests" / "run.sh"]
    known = options_of_commands() | ELSEWHERE | {option for file in others for option in OPTION.findall(file.read_text())}
    failures = []
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        failures += unknown_options(page.name, page.read_text(), known)
    conventions = (REPOSITORY / "docs" / "reference" / "conventions.md").read_text()
    failures += headers(conventions)
    options = (REPOSITORY / "docs" / "reference" / "options.md").read_text()
    failures += missing_options(options)
    if not list(missing_options(options.replace("`--lanes N`", "`N`"))):
        failures.append("a planted page without an option is not reported")
    if not list(unknown_options("planted", "give `--bogus-option 3`", known)) or not headers(conventions.replace("`batcher.hpp`, ", "")):
        failures.append("planted claims are not reported")
    with tempfile.TemporaryDirectory(prefix="nsk_claims_") as folder:
        failures += files_written(pathlib.Path(folder))
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
