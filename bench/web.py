#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""netsuke against onnxruntime-web: the same networks as WebAssembly in node, one thread on one core, in turn in short rounds, outputs compared.

  bench/web.py [MODEL ...] [--rounds 21] [--core 0] [--folder DIR] [--exact] [--json FILE]

MODEL is a name of the list below; all when none is given. Times are processor time per inference, medians of the rounds; the ratio is the median
of the rounds' own, above 1 where netsuke is faster. --exact takes the module without relaxed SIMD. Needs the nsk binary (NSK_TOOL, default
build/nsk), ziglang, npm, and a node with relaxed SIMD (NSK_NODE; npm install node@24). DIR, by default out/web_bench, keeps what npm brings.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "tests" / folder) for folder in ("guards", "models/support")]
from models import MODELS, TOOL, path_of  # noqa: E402
from target_guards import FLATBUFFERS, alone, zig_compiler  # noqa: E402

MODELS["upscaler"] = str(REPOSITORY / "examples/models/upscaler_x2.onnx")
OPTIONS = {"upscaler": ["--input", "frame=1x3x180x320"]}
NAMES = ("face_front", "mnist", "mobilenet_v2", "upscaler", "gru")
PACKAGE = "onnxruntime-web@1.30.0"
MAX_ERROR = 1e-4  # of the largest magnitude


def must(command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(str(c) for c in command)}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


def layout_of(source, options):
    """Inputs and outputs of the source as compare.mjs wants them; images are permuted."""
    import onnx
    fixed = dict(text.split("=") for text in options if "=" in text)
    model = onnx.load(str(source))
    if fixed:
        from onnx.tools.update_model_dims import update_inputs_outputs_dims
        inputs = {name: [int(n) for n in shape.split("x")] for name, shape in fixed.items()}
        outputs = {o.name: [1, 3, 2 * shape[2], 2 * shape[3]] for o in model.graph.output for shape in inputs.values()}  # an upscaler's
        model = update_inputs_outputs_dims(model, inputs, outputs)
    stored = {t.name for t in model.graph.initializer}

    def ports(values):
        shapes = [(v.name, [d.dim_value for d in v.type.tensor_type.shape.dim]) for v in values if v.name not in stored]
        return [{"name": name, "shape": shape, "permute": len(shape) == 4 and shape[1] == 3} for name, shape in shapes]

    return {"inputs": ports(model.graph.input), "outputs": ports(model.graph.output)}


def compiled(folder, name, source, options, exact):
    """Converts a network and compiles its module."""
    model, header, module = (folder / f"{name}.{ending}" for ending in ("nsk", "hpp", "exact.wasm" if exact else "wasm"))
    must([TOOL, "convert", source, "-o", model, "--quiet", *options])
    header.write_text(must([TOOL, "inspect", "--settings", model]))
    vectors = ["-msimd128"] if exact else ["-msimd128", "-mrelaxed-simd", "-fno-vectorize", "-fno-slp-vectorize"]
    must([*zig_compiler("wasm32-wasi"), *vectors, "-std=c++17", "-O3", "-fno-exceptions", "-fno-rtti", "-DNDEBUG", "-DNSK_STOP(text)=__builtin_trap()",
          f'-DNSK_SETTINGS_HEADER="{header}"', f"-DNSK_SETTINGS={name}_settings", f"-I{REPOSITORY / 'include'}", "-isystem", alone(folder, FLATBUFFERS),
          "-mexec-model=reactor", "-Wl,--strip-all", REPOSITORY / "bench/web/network.cpp", "-o", module])
    return model, module


def compared(args, folder, name, package):
    """Figures of one network, or None where it is not here."""
    source, options = path_of(name), OPTIONS.get(name, [])
    if not source:
        return None
    model, module = compiled(folder, name, source, options, args.exact)
    layout = json.dumps(layout_of(source, options))
    node = os.environ.get("NSK_NODE", "node")
    said = must(["taskset", "-c", args.core, node, REPOSITORY / "bench/web/compare.mjs", module, model, source, package, layout, args.rounds])
    return {"model": name, "module_bytes": module.stat().st_size, **json.loads(said.strip().splitlines()[-1])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=NAMES, metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--folder", type=pathlib.Path, default=REPOSITORY / "out/web_bench")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    package = folder / "node_modules/onnxruntime-web"
    if not package.exists():
        must(["npm", "install", "--silent", "--no-save", "--prefix", folder, PACKAGE])
    rows = list(filter(None, (compared(args, folder, name, package) for name in args.models)))
    print("| network | netsuke, ms | onnxruntime-web, ms | ratio | largest difference |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row['model']} | {row['netsuke_ms']:.3g} | {row['onnxruntime_ms']:.3g} | {row['ratio']:.2f} | {row['error']:.0e} |")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["error"] > MAX_ERROR for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
