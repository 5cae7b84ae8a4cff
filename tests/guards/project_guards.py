# SPDX-License-Identifier: MIT
"""Guards on what stands around the code: continuous integration and the changelogs."""
import json
import os
import re
import shutil
import sys

from common import REPOSITORY, Skipped, run

WORKFLOW = ".github/workflows/ci.yml"
COMMANDS = ("./examples/quickstart.sh", "./tests/run.sh")
# What the workflow runs somewhere, as its text says it.
MATRIX = [f"g++-{n}" for n in range(9, 14)] + [f"clang++-{n}" for n in range(10, 18)] + ["v143", "msys2", "macos-14", "ubuntu-24.04-arm"]
WITH_YAML = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin.read())))"


def file_of(tree, name):
    """A file of the tree; a copy that lacks it takes the repository's."""
    path = tree.root / name
    return path if path.exists() else REPOSITORY / name


def parsed(text):
    """The document, by any Python with PyYAML; or a violation."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if shutil.which(python) and run([python, "-c", "import yaml"]).returncode == 0:
            done = run([python, "-c", WITH_YAML], input=text)
            if done.returncode != 0:
                return None, f"{WORKFLOW} is no YAML: {done.stderr.strip().splitlines()[-1]}"
            return json.loads(done.stdout), None
    raise Skipped("no Python here has PyYAML (pip install pyyaml)")


def step_faults(job, step):
    """What is wrong with one step."""
    if not ("run" in step) ^ ("uses" in step):
        yield f"{job}: a step neither runs nor uses anything, or does both: {step}"
    if "uses" in step and not re.search(r"@v\d+$", step["uses"]):
        yield f"{job}: {step['uses']} has no version"
    for path in re.findall(r"(?<![\w/.-])(?:\./)?((?:\.ci|examples|tests|tools)/[\w./-]+)", step.get("run", "")):
        if not os.access(REPOSITORY / path, os.X_OK):
            yield f"{job}: {path} is no program of the repository"


def workflow(tree):
    """The workflow is YAML, its steps run programs that exist, and it has the compilers and systems that the README promises."""
    text = file_of(tree, WORKFLOW).read_text()
    document, violation = parsed(text)
    if violation:
        return [violation]
    jobs = document.get("jobs") or {}
    # YAML 1.1 reads the key `on` as true.
    violations = [] if jobs and (document.get("on") or document.get("true") or document.get(True)) else ["it has no jobs, or nothing starts it"]
    for name, job in jobs.items():
        if not job.get("runs-on") or not job.get("timeout-minutes") or not job.get("steps"):
            violations.append(f"{name} has no machine, no limit of time, or no steps")
        violations += [fault for step in job.get("steps") or [] for fault in step_faults(name, step)]
    ran = " ".join(step.get("run", "") for job in jobs.values() for step in job.get("steps") or [])
    violations += [f"nothing runs {command}" for command in COMMANDS if command not in ran]
    said = json.dumps(jobs)
    return violations + [f"{what} is not in the matrix" for what in MATRIX if not re.search(rf"(?<!\w){re.escape(what)}(?!\d)", said)]


def changelogs(tree):
    """CHANGELOG.md has a section for this version, schema/CHANGES.md an entry for this format, and every entry says whom it breaks."""
    version_header = (tree.include / "netsuke/version.hpp").read_text()
    version = re.search(r'NSK_VERSION_STRING "([^"]+)"', version_header).group(1)
    format_version = re.search(r"#define NSK_FORMAT_VERSION (\d+)", version_header).group(1)
    library, schema = file_of(tree, "CHANGELOG.md").read_text(), file_of(tree, "schema/CHANGES.md").read_text()
    violations = []
    sections = re.findall(r"^## (\S+?),? ", library, re.MULTILINE)
    if sections[:1] != [version]:
        violations.append(f"CHANGELOG.md begins with {sections[:1]}, not with {version}")
    if not re.search(rf"^- {format_version}\b", schema, re.MULTILINE):
        violations.append(f"schema/CHANGES.md says nothing of format {format_version}")
    for line in re.findall(r"^- .*", library, re.MULTILINE):
        if not re.match(r"- (\*\*(breaks callers|compatible|fixed)\*\*: |First version)", line):
            violations.append(f"CHANGELOG.md does not say whom this breaks: {line[:80]}")
    for line in re.findall(r"^- .*", schema, re.MULTILINE):
        if not re.match(r"- \d+(: first version|, \*\*(breaks files|compatible)\*\*: )", line):
            violations.append(f"schema/CHANGES.md does not say whether this breaks files: {line[:80]}")
    return violations


def edited(name, old, new):
    """A seed: a file beside include/ with other text."""
    def plant(tree):
        text = (REPOSITORY / name).read_text()
        if old not in text:
            raise RuntimeError(f"seed: {name} lacks {old!r}")
        path = tree.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new))
    return plant


GUARDS = {
    "workflow": (workflow, [
        ("a file that is no YAML", edited(WORKFLOW, "permissions:\n", "permissions: {\n")),
        ("a script that does not exist", edited(WORKFLOW, "./tests/run.sh", "./tests/run_all.sh")),
        ("a compiler that is left out", edited(WORKFLOW, "{compiler: g++-10, package: g++-10, machine: ubuntu-22.04}", "{compiler: g++-12}")),
        ("a job without a limit", edited(WORKFLOW, "    timeout-minutes: 120\n", "")),
        ("a step that does nothing", edited(WORKFLOW, "        run: ./examples/quickstart.sh\n", "")),
        ("an action of any version", edited(WORKFLOW, "msys2/setup-msys2@v2", "msys2/setup-msys2@main")),
    ]),
    "changelogs": (changelogs, [
        ("a new version", lambda t: t.replace("version.hpp", r'(NSK_VERSION_STRING) ".*"', r'\1 "9.9.9"')),
        ("a new format", lambda t: t.replace("version.hpp", r"(define NSK_FORMAT_VERSION) \d+", r"\1 99")),
        ("a change of the library that says nothing of callers", edited("CHANGELOG.md", "- **compatible**: `session::flags`", "- `session::flags`")),
        ("a change of the format that says nothing of files", edited("schema/CHANGES.md", "- 1, **compatible**: operator Recurrent", "- 1: operator Recurrent")),
    ]),
}
