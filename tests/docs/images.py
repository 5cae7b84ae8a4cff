#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Images and tables that scripts make of other files are what those give now, and a changed source is noticed; links of the documents lead somewhere."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RENDERED = {  # script: (file that it reads, text in it, text that changes the image)
    "tools/draw_architecture.py": ("tests/guards/structure_guards.py", '"image": ["run"]', '"image": ["simd"]'),
    "tools/draw_gpu.py": ("docs/reference/gpu.md", "| game | render the scene |", "| game | render the level |"),
    "tools/draw_speed.py": ("bench/results/zen4.json", '"1.35", "1.63"', '"1.35", "1.93"'),
    "bench/write_pages.py": ("bench/results/h100.json", '"0.049"', '"0.047"'),
    "tools/errors_page.py": ("include/netsuke/core/status_list.h", "this is not a .nsk file", "this is no .nsk file"),
}
SHORT = ("README.md", 200)  # lines


def stale(root, script):
    return subprocess.run([sys.executable, root / script, "--check"], capture_output=True, text=True).returncode != 0


def images():
    for script, (table, old, new) in RENDERED.items():
        if stale(ROOT, script):
            yield f"an image or a page is older than {table}: run {script}"
        with tempfile.TemporaryDirectory(prefix="nsk_images_") as folder:
            copy = pathlib.Path(folder)
            for name in ("bench", "docs", "tools", "tests/guards", "include/netsuke/core"):
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            text = (copy / table).read_text()
            if old not in text:
                yield f"{table} has no {old!r} to change"
            (copy / table).write_text(text.replace(old, new))
            if old in text and not stale(copy, script):
                yield f"{script} --check does not notice another {table}"


def links():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: there is no {target}"
        for path in re.findall(r"`((?:include/netsuke|tools/nsk|tools|tests|schema|docs|examples|bench)/[\w./-]*)`", page.read_text()):
            programs = list((ROOT / path).parent.glob(pathlib.PurePath(path).name + ".*"))  # `bench/kernels` is built of bench/kernels.cpp
            if not (ROOT / path).exists() and not programs and "*" not in path:
                yield f"{page.relative_to(ROOT)}: there is no {path}"


def main():
    wrong = [*images(), *links()]
    lines = len((ROOT / SHORT[0]).read_text().splitlines())
    if lines > SHORT[1]:
        wrong.append(f"{SHORT[0]}: {lines} lines, at most {SHORT[1]}")
    print("\n".join(wrong + [f"images and links of the documents: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
