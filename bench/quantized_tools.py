# SPDX-License-Identifier: MIT
"""What tools that quantise make of the same float32 networks with the same samples: signal to noise on held-out samples, bytes, milliseconds by their own engine."""
import json
import math
import pathlib
import statistics
import tempfile

import numpy as np

from peer_process import PeerProcess, version_of
from peers import Refused, compiled_openvino
from quantized_samples import nncf_tool, nsk_tool, onnxruntime_tool, prepared, samples_of

from models import file_name, must, onnx_session

NETWORKS = ("mnist", "text_classifier", "ultraface", "squeezenet1_1", "mobilenet_v2", "resnet18")


def as_it_is(source, port, samples, target):
    return source


def float_nsk(source, port, samples, target):
    must("convert", source, "-o", target, "--quiet")
    return target


# Name in the table -> the engine that runs it, the suffix of its file, what makes it, and the arguments of that; and the package that it needs.
TOOLS = {
    "float32, netsuke": ("nsk", ".nsk", float_nsk, (), None),
    "float32, ONNX Runtime": ("onnxruntime", ".onnx", as_it_is, (), "onnxruntime"),
    "float32, OpenVINO": ("openvino", ".onnx", as_it_is, (), "openvino"),
    "nsk quantize --target size": ("nsk", ".nsk", nsk_tool, ("--target", "size"), None),
    "nsk quantize --target pc-vnni": ("nsk", ".nsk", nsk_tool, ("--target", "pc-vnni"), None),
    "nsk quantize --target size --full-range-weights": ("nsk", ".nsk", nsk_tool, ("--target", "size", "--full-range-weights"), None),
    "onnxruntime.quantization": ("onnxruntime", ".onnx", onnxruntime_tool, (False,), "onnxruntime"),
    "onnxruntime.quantization reduce_range": ("onnxruntime", ".onnx", onnxruntime_tool, (True,), "onnxruntime"),
    "nncf performance": ("openvino", ".xml", nncf_tool, ("performance",), "nncf"),
    "nncf mixed": ("openvino", ".xml", nncf_tool, ("mixed",), "nncf"),
}


def outputs_of(engine, path, port, samples, folder):
    """Every output for all samples, the samples along a new first axis."""
    if engine == "onnxruntime":
        session = onnx_session(path)
        made = [session.run(None, {port: sample}) for sample in samples]
    elif engine == "openvino":
        compiled = compiled_openvino(path, {port: samples[0]})
        made = [[np.copy(value) for value in compiled({port: sample}).values()] for sample in samples]
    else:
        names = [p["name"] for p in json.loads(must("inspect", path, "--json"))["variants"][0]["outputs"]]
        made = []
        for sample in samples:
            np.save(folder / "x.npy", sample)
            must("run", path, "--input", f"{port}={folder / 'x.npy'}", "--output-dir", folder / "out", "--quiet")
            made.append([np.load(folder / "out" / file_name(name)) for name in names])
    return [np.stack(column) for column in zip(*made)]


def signal_to_noise(wanted, got):
    """Decibels: the sum of squares of an output over that of its error."""
    signal, noise = float(np.sum(wanted.astype(np.float64) ** 2)), float(np.sum((wanted.astype(np.float64) - got.astype(np.float64)) ** 2))
    return math.inf if noise == 0 else 10 * math.log10(signal / noise)


def bytes_of(path):
    """OpenVINO's files are two."""
    return path.stat().st_size + (path.with_suffix(".bin").stat().st_size if path.suffix == ".xml" else 0)


class OurProcess:
    """netsuke with its fastest instruction set, in the shape of PeerProcess."""

    def __init__(self, path, port, sample, folder):
        np.save(folder / "timed.npy", sample)
        self.arguments = [path, "--input", f"{port}={folder / 'timed.npy'}", "--json"]

    def time(self, seconds):
        return json.loads(must("bench", *self.arguments, "--seconds", seconds))

    def close(self):
        pass


def row_of(tool, source, port, samples, held_out, wanted, folder):
    """The file that a tool makes, how far its outputs are from the float32 network's, and the process that measures it."""
    engine, suffix, make, arguments, package = TOOLS[tool]
    if package is not None and version_of(package) is None:
        raise Refused(f"{package} is not installed: pip install {package}")
    places = folder / tool.replace(" ", "_").replace(",", "")
    places.mkdir()
    try:
        path = make(source, port, samples, places / f"model{suffix}", *arguments)
        got = outputs_of(engine, path, port, held_out, places)
    except Refused:
        raise
    except (Exception, SystemExit) as error:  # tools of others raise anything; ours ends with the message of nsk
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise Refused(f"it failed: {lines[-1] if isinstance(error, SystemExit) else lines[0]}") from error
    if [a.shape for a in got] != [a.shape for a in wanted]:
        raise Refused(f"its outputs are {[list(a.shape[1:]) for a in got]}, not {[list(a.shape[1:]) for a in wanted]}")
    decibels = [signal_to_noise(a, b) for a, b in zip(wanted, got)]
    process = OurProcess(path, port, held_out[0], places) if engine == "nsk" else PeerProcess(engine, path, [{port: held_out[0]}], places)
    return {"tool": tool, "engine": engine, "decibels": decibels, "bytes": bytes_of(path)}, process


def network(name, options, folder):
    source, port = prepared(name, folder)
    samples, held_out = samples_of(name, options.samples, False), samples_of(name, options.samples, True)
    wanted = outputs_of("onnxruntime", source, port, held_out, folder)
    rows, processes, left_out = [], [], {}
    for tool in TOOLS:
        try:
            row, process = row_of(tool, source, port, samples, held_out, wanted, folder)
        except Refused as error:
            left_out[tool] = str(error)
            print(f"{name}: {tool} is left out: {error}", flush=True)
            continue
        rows.append(row)
        processes.append(process)
    rounds = [[] for _ in rows]
    for _ in range(options.rounds):
        for found, process in zip(rounds, processes):
            found.append(process.time(options.seconds))
    for row, found, process in zip(rows, rounds, processes):
        process.close()
        row.update(best_ms=min(f["min_ms"] for f in found), median_ms=statistics.median(f["median_ms"] for f in found))
    return {"model": name, "rows": rows, "left_out": left_out}


def tools_of(names, options):
    found = {"networks": [], "skipped": {}}
    for name in names:
        with tempfile.TemporaryDirectory(prefix="nsk_tools_") as folder:
            try:
                if version_of("onnxruntime") is None:
                    raise Refused("the float32 network is run by onnxruntime, which is not installed: pip install onnxruntime onnx")
                found["networks"].append(network(name, options, pathlib.Path(folder)))
            except Refused as error:
                found["skipped"][name] = str(error)
                print(f"skipped: {name}: {error}", flush=True)
    return found


def tables_of(found):
    lines = ["", "Signal to noise of each output on held-out samples, against the float32 network by ONNX Runtime; least (median) of the rounds, each file by the tool's own engine.", "",
             "| network | tool | dB | bytes | ms |", "| --- | --- | --- | ---: | ---: |"]
    for each in found["networks"]:
        for row in each["rows"]:
            decibels = ", ".join("exact" if math.isinf(d) else f"{d:.1f}" for d in row["decibels"])
            lines.append(f"| {each['model']} | {row['tool']} | {decibels} | {row['bytes']:,} | {row['best_ms']:.3f} ({row['median_ms']:.3f}) |")
        lines += [f"| {each['model']} | {tool} | left out: {why} | | |" for tool, why in each["left_out"].items()]
    return lines
