#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantised networks: netsuke against other engines, and nsk quantize against other tools.

  bench/quantized_peers.py [speed] [tools] [--models NAME ...] [--peers litert onnxruntime openvino openvino-avx2] [--isa NAME ...] [--rounds 10]
                           [--seconds 0.5] [--samples 32] [--core N] [--json FILE] [--record MACHINE]

speed: TensorFlow Lite files of integers, and QDQ files that onnxruntime.quantization makes of float32 networks, each engine with one thread in a process of
its own, all on one core, alternately in short rounds. Outputs are compared first: where they differ by more steps of the stored integers than --max-steps
no time is shown. Each of netsuke's instruction sets has a line; `best peer` is the fastest one that is held to the same instruction set.

tools: one float32 network, the same samples to each tool, the same held-out samples to what it made: signal to noise of each output, bytes, milliseconds.

MODEL is a name of the lists below or the path of a .tflite or .onnx file of integers. Packages (pip install ai-edge-litert onnxruntime onnx openvino nncf pillow) and
models that are missing are left out with the reason. Needs the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import functools
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

from interleaved import Interleaved, cpu_flags, figures, geometric_mean, instruction_sets_here, machine, require_tool
from peer_process import ENGINES, NAMES, version_of
from peers import Refused, inputs_of
from quantized_samples import RENDERED, PHOTOS, onnxruntime_tool, prepared, samples_of

from models import SHARED  # noqa: E402, of tests/models, which quantized_samples finds
from quantized_tools import NETWORKS, tables_of, tools_of  # noqa: E402
from write_pages import add_table  # noqa: E402

LITE = ("ad01_int8", "kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant")
QDQ = ("mobilenet_v2", "resnet18")
# The engine whose rounding a file means. netsuke has to agree with it; the others may compute parts in float32.
REFERENCES = {".tflite": "litert", ".onnx": "onnxruntime"}
SETS = 4  # of inputs, whose outputs are compared


def steps_of(source, outputs):
    """What one step of the stored integers is worth in each output: 1 for integers, the scale of DequantizeLinear, else a 255th of the largest magnitude."""
    scales = {}
    if source.suffix == ".onnx":
        import onnx
        graph = onnx.load(source).graph
        constants = {c.name: onnx.numpy_helper.to_array(c) for c in graph.initializer}
        made = {node.output[0]: constants[node.input[1]] for node in graph.node if node.op_type == "DequantizeLinear" and node.input[1] in constants}
        scales = {n: float(made[o.name]) for n, o in enumerate(graph.output) if o.name in made and made[o.name].size == 1}
    return [1.0 if np.issubdtype(o.dtype, np.integer) else scales.get(n) or float(np.abs(o).max()) / 255 or 1.0 for n, o in enumerate(outputs)]


def difference(got, wanted, steps):
    """How many elements of all sets differ by half a step or more, of how many, and the largest difference in steps."""
    got, wanted, steps = [a for outputs in got for a in outputs], [a for outputs in wanted for a in outputs], [s for each in steps for s in each]
    if [a.shape for a in got] != [a.shape for a in wanted] or [a.dtype for a in got] != [a.dtype for a in wanted]:
        raise Refused(f"gives {[f'{a.dtype}{list(a.shape)}' for a in wanted]}, and netsuke {[f'{a.dtype}{list(a.shape)}' for a in got]}")
    apart = [np.abs(a.astype(np.float64) - b.astype(np.float64)) / step for a, b, step in zip(got, wanted, steps)]
    return {"differ": int(sum(np.sum(a >= 0.5) for a in apart)), "elements": sum(a.size for a in apart), "steps": max(float(a.max(initial=0)) for a in apart)}


def source_of(name, options, folder):
    """The file of integers that a name stands for, and sets of its inputs."""
    lite = SHARED / "quantized" / f"{name}.tflite"
    if name in QDQ or name in PHOTOS or name in RENDERED:
        if version_of("onnxruntime") is None:
            raise Refused("made by onnxruntime.quantization, which is not installed: pip install onnxruntime onnx")
        source, port = prepared(name, folder)
        return onnxruntime_tool(source, port, samples_of(name, options.samples, False), folder / f"{name}.qdq.onnx", False), [{port: x} for x in samples_of(name, SETS, True)]
    source = lite if name in LITE else pathlib.Path(name)
    if not source.exists():
        raise Refused(f"{source} does not exist; set NSK_MODELS to a folder with quantized/{source.name}")
    engine = REFERENCES.get(source.suffix)
    if engine is None or version_of(engine) is None:
        raise Refused(f"is no .tflite or .onnx file, or {engine}, which tells its inputs, is not installed")
    return source, [inputs_of(source, seed, -1, 1, {}, [1, 3, 90, 122]) for seed in range(SETS)]


class Comparison(Interleaved):
    """Networks of integers, whose outputs may differ by a few steps of the stored ones."""

    def __init__(self, name, options, folder):
        super().__init__(name, *source_of(name, options, folder), options, folder)

    @functools.cached_property
    def steps(self):
        return [steps_of(self.source, outputs) for outputs in self.ours.outputs]

    def agreement(self, process):
        found = difference(self.ours.outputs, process.outputs, self.steps)
        too_far = found["steps"] > self.options.max_steps + 1e-3
        return found, f"{found['differ']} of {found['elements']} elements differ, by {found['steps']:.1f} steps at most" if too_far else ""

    def row(self, isa, ours, theirs):
        peers = {peer: {**figures(rounds), **self.differences[peer], "kernels": self.peers[peer].kernels, "held": held(peer, isa, self.peers[peer].kernels)} for peer, rounds in theirs.items()}
        row = {"model": self.name, "isa": isa, **figures(ours), "peers": peers, "left_out": self.left_out, "best": {}}
        for which, allowed in (("same isa", [p for p in peers if peers[p]["held"]]), ("any isa", list(peers))):
            if allowed:
                best = min(allowed, key=lambda p: peers[p]["best_ms"])
                row["best"][which] = {"peer": best, "ratio": peers[best]["best_ms"] / row["best_ms"],
                                      "median_ratio": min(peers[p]["median_ms"] for p in allowed) / row["median_ms"]}
        return row


def held(peer, isa, kernels):
    """Whether a peer uses no more than netsuke does with `isa`, as far as it tells its kernels."""
    if any("amx" in kernel for kernel in kernels):
        return False
    return isa == "avx512" or ENGINES[peer][2] == isa or "avx512f" not in cpu_flags()


def speed_table(rows, options):
    """Markdown: least (median) of the rounds in milliseconds, elements that differ and by how many steps at most."""
    lines = ["| model | netsuke | " + " | ".join(options.peers) + " | best peer / netsuke | by medians |", "| --- " * (len(options.peers) + 4) + "|"]
    for row in rows:
        cells = [f"{row['model']}, {row['isa']}", f"{row['best_ms']:.3f} ({row['median_ms']:.3f})"]
        for peer in options.peers:
            found = row["peers"].get(peer)
            cells.append(f"{found['best_ms']:.3f} ({found['median_ms']:.3f}); {found['differ']} of {found['elements']} by {found['steps']:.0f}" if found else "no")
        best = row["best"].get("same isa")
        cells += [f"**{best['ratio']:.2f}** {best['peer']}", f"{best['median_ratio']:.2f}"] if best else ["no peer", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def means_of(rows, options):
    """Geometric means of the ratios, by instruction set, and against which peers."""
    found = {}
    for isa in options.isa:
        for which in ("same isa", "any isa"):
            best = [row["best"][which] for row in rows if row["isa"] == isa and which in row["best"]]
            if best:
                found[f"{isa}, peers with {'the ' if which == 'same isa' else ''}{which}"] = {
                    "models": len(best), "ratio": geometric_mean([b["ratio"] for b in best]), "median_ratio": geometric_mean([b["median_ratio"] for b in best])}
    return found


def instruction_sets(rows):
    """Lines that say what each engine computes with."""
    flags = cpu_flags()
    lines = [f"This machine: {' '.join(flags)}.",
             f"- netsuke: as each line says; VNNI with avx512{' and' if 'avx_vnni' in flags else ', and not'} with avx2 here, and never in a build with NSK_NO_VNNI.",
             "- litert, onnxruntime: what they find by CPUID; neither can be held to less."]
    for peer in ("openvino", "openvino-vnni", "openvino-avx2"):
        used = {kernel for row in rows for kernel in row["peers"].get(peer, {}).get("kernels", {})}
        if used:
            lines.append(f"- {peer}: layers by {', '.join(sorted(used))}.")
    return lines


def speed(options):
    rows, skipped, wrong = [], {}, []
    for name in options.models or [*LITE, *QDQ]:
        with tempfile.TemporaryDirectory(prefix="nsk_peers_") as folder:
            try:
                comparison = Comparison(name, options, pathlib.Path(folder))
            except Refused as error:
                skipped[name] = str(error)
                print(f"skipped: {name}: {error}", flush=True)
                continue
            try:
                reference = REFERENCES[comparison.source.suffix]
                wrong += [f"{name} ({reference})"] if reference in comparison.left_out and reference in comparison.differences else []
                rows += comparison.measure()
                print("\n".join(speed_table(rows[-len(options.isa):], options)[2:]), flush=True)
            finally:
                comparison.close()
    means = means_of(rows, options)
    lines = ["", "Milliseconds, least (median) of the rounds; elements of the outputs that differ from netsuke's, and by how many steps at most.", "",
             *speed_table(rows, options), "", *(f"- geometric mean of best peer / netsuke, {which}: {m['ratio']:.2f} (by medians {m['median_ratio']:.2f}), {m['models']} networks"
                                                for which, m in means.items()), "", *instruction_sets(rows)]
    return {"rows": rows, "means": means, "skipped": skipped, "wrong": wrong}, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="speed, tools; both when left out")
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--peers", nargs="+", choices=ENGINES, default=[peer for peer in ENGINES if peer not in ("mnn", "ncnn", "tract")])
    parser.add_argument("--isa", nargs="+", help="netsuke's instruction sets; avx2, and avx512 where there is one")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each engine in each round")
    parser.add_argument("--samples", type=int, default=32, help="shown to tools; as many are held out")
    parser.add_argument("--max-steps", type=float, default=3, help="by which outputs may differ for a time to count")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--json")
    parser.add_argument("--record", metavar="MACHINE", help="add the table of speed to bench/results/MACHINE.json")
    options = parser.parse_args()
    unknown = set(options.parts) - {"speed", "tools"}
    if unknown or options.rounds < 1 or options.seconds <= 0 or options.samples < 1:
        parser.error(f"no such part: {', '.join(sorted(unknown))}" if unknown else "--rounds, --seconds and --samples are above 0")
    require_tool()
    options.isa = options.isa or instruction_sets_here()
    os.sched_setaffinity(0, {options.core})  # child processes inherit it

    results, lines = {"machine": machine(), "rounds": options.rounds, "seconds": options.seconds, "samples": options.samples}, []
    if not options.parts or "speed" in options.parts:
        results["speed"], said_of_speed = speed(options)
        lines += said_of_speed
    if not options.parts or "tools" in options.parts:
        results["tools"] = tools_of(options.models or NETWORKS, options)
        lines += tables_of(results["tools"])
    print("\n".join(lines))
    if options.record and "speed" in results:
        columns, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in speed_table(results["speed"]["rows"], options)]
        versions = {engine: version_of(engine) for engine in sorted({ENGINES[peer][0] for peer in options.peers})}
        add_table(options.record, "integers_of_peers", columns, rows, {NAMES.get(engine, engine): version for engine, version in versions.items() if version})
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=2) + "\n")
    wrong = results.get("speed", {}).get("wrong", [])
    if wrong:
        print("netsuke differs from the engine whose rounding the file means: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
