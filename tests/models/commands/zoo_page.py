#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/zoo.py on a list of its own, without a network: right, refused, wrong and changed models are told apart, and recorded so."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import parsed  # noqa: E402
from models import REPOSITORY, TOOL, told  # noqa: E402

failures = []
MODELS = {
    "right.onnx": ("(float[1,4] x) => (float[1,4] y) { y = Softmax (x) }", []),
    "state.onnx": ('(float["n",4] x, float["n",4] h) => (float[m,4] y, float[m,4] hn) { hn = Add (x, h)  y = Tanh (hn) }', ["--input", "x=2x4", "--input", "h=2x4"]),
    "set.onnx": ("(float[1,6] x, int64[2] size) => (float[a,b] y) { r = Reshape (x, size)  y = Exp (r) }", ["--set", "size=2,3"]),
    "refused.onnx": ("(float[1,4] x) => (float[1,4] y) { y = MaxRoiPool (x, x) }", []),
    "wrong.onnx": ("(float[1,4] x) => (float[1,4] y) { y = Tanh (x) }", []),
    "other.onnx": ("(float[1,4] x) => (float[1,4] y) <float k = {1.01}> { t = Tanh (x)  y = Mul (t, k) }", []),
}
# Converts another model in place of wrong.onnx: what a defect of the converter that its check does not see would be.
FAULTY = """#!/bin/sh
case "$1 $2" in "convert "*/wrong.onnx) shift 2; exec "{tool}" convert "{other}" "$@" --no-check ;; esac
exec "{tool}" "$@"
"""


def expect(condition, what):
    if not condition:
        failures.append(what)


def entry(folder, name, **changes):
    content = (folder / "models" / name).read_bytes()
    return {"path": name, "sha256": hashlib.sha256(content).hexdigest(), "what": f"what {name} is", "options": MODELS[name][1]} | changes


def zoo(folder, entries, *options):
    """(exit code, what was said, rows, recorded tables) of a list."""
    for made in ("here.json", "rows.json"):
        (folder / made).unlink(missing_ok=True)
    package = {"registry": "folder", "name": "models", "version": "1", "licence": "MIT | Apache-2.0", "models": entries}
    (folder / "list.json").write_text(json.dumps({"packages": [package]}))
    done = subprocess.run([sys.executable, REPOSITORY / "tools" / "zoo.py", "--list", folder / "list.json", "--cache", folder / "cache", "--record", "here", "--results", folder, "--json", folder / "rows.json", *options],
                          env=os.environ | {"NSK_TOOL": str(folder / "faulty")}, capture_output=True, text=True)
    tables = json.loads((folder / "here.json").read_text())["tables"] if (folder / "here.json").exists() else {}
    rows = {r["model"]: r for r in json.loads((folder / "rows.json").read_text())} if (folder / "rows.json").exists() else {}
    return done.returncode, done.stdout + done.stderr, rows, tables


def verdicts(folder):
    code, said, rows, tables = zoo(folder, [entry(folder, name) for name in MODELS if name not in ("other.onnx", "wrong.onnx")])
    expect(code == 0 and {name: r["verdict"] for name, r in rows.items()} == {"right.onnx": "right", "state.onnx": "right", "set.onnx": "right", "refused.onnx": "refused"}, f"right and refused: {code} {said}")
    expect("4 models of 1 packages: 3 convert and are right, 1 are refused, 0 are wrong" in said, said)
    expect(tables["zoo_count"]["rows"] == [["4", "1", "3", "1", "0", "0"]], f"{tables['zoo_count']}")
    expect(tables["zoo"]["rows"][0][:5] == ["right.onnx", "what right.onnx is", "models 1, a folder", "MIT \\| Apache-2.0", "`nsk convert right.onnx -o zoo.nsk`"], f"{tables['zoo']}")
    expect("convert state.onnx -o zoo.nsk --input x=2x4 --input h=2x4" in str(tables["zoo"]) and "this operator is not supported" in str(tables["zoo_refused"]), f"{tables}")
    expect(rows["right.onnx"]["error"] < 1e-6 and rows["right.onnx"]["ms"] > 0 and rows["state.onnx"]["error"] < 1e-6, f"{rows}")
    code, said, rows, tables = zoo(folder, [entry(folder, "right.onnx"), entry(folder, "wrong.onnx")])
    expect(code == 1 and rows["wrong.onnx"]["verdict"] == "wrong" and "**wrong**" in str(tables["zoo"]) and "1 are wrong" in said, f"a wrong model: {code} {said}")


def files(folder):
    for what, changes in (("another file", {"sha256": "0" * 64}), ("no such file", {"path": "none.onnx"})):
        code, said, rows, tables = zoo(folder, [entry(folder, "right.onnx"), entry(folder, "set.onnx", **changes)])
        expect(code == 1 and "NOT FETCHED" in said and set(rows) == {"right.onnx"} and not tables, f"{what}: {code} {said}")
    code, said, rows, tables = zoo(folder, [entry(folder, "right.onnx"), entry(folder, "wrong.onnx")], "--only", "right")
    expect(code == 0 and set(rows) == {"right.onnx"} and not tables, f"--only: {code} {said}")


def the_list():
    """The committed list is complete: no file twice, a hash and a licence for each."""
    packages = json.loads((REPOSITORY / "tools" / "zoo.json").read_text())["packages"]
    models = [m for p in packages for m in p["models"]]
    expect(len(models) >= 60 and len({m["sha256"] for m in models}) == len(models), f"{len(models)} models, some twice or too few")
    expect(all(p["registry"] in ("pip", "npm") and p["version"] and p["licence"] for p in packages), "a package without a registry, version or licence")
    expect(all(len(m["sha256"]) == 64 and m["what"] for m in models), "a model without a hash, or nothing that says what it is")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_zoo_page_") as name:
        folder = pathlib.Path(name)
        (folder / "models").mkdir()
        for model, (text, _) in MODELS.items():
            onnx.save(parsed(text), folder / "models" / model)
        (folder / "faulty").write_text(FAULTY.format(tool=TOOL, other=folder / "models" / "other.onnx"))
        (folder / "faulty").chmod(0o755)
        verdicts(folder)
        files(folder)
    the_list()
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
