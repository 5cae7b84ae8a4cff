#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same bits everywhere: builds same_bits.cpp with g++ and clang, -O0 and -O2, scalar and AVX2, and with g++ for AVX-512
(where the processor has it, models of stored integers also without VNNI) and NEON (where a cross compiler and an emulator are installed, models of stored
integers also with dot products), runs it, compares all hashes.

  same_bits.py [--all] [--stored] [MODEL ...]    --all: every build, and every model that is not too slow for it (a minute each), or the named ones;
                                                 otherwise half of the builds and the small models
                                                 --stored: networks of stored integers alone; with --all those that nsk quantize makes of known ones too

Ways compared within one build: one thread, 2 and 7 lanes on threads, lanes in a shuffled order, tiles backwards, budgets of one tile, of a
million MACs and of time, and a caller with flush-to-zero and upward rounding; and the same network in bands of rows (--target pc). Heap calls (none), stack at -O2 (32 KiB) and the exactness of the
arena are checked on the way. Also compares each row of a batch of 5 with a batch of 1.
"""
import argparse
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnx.compose

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("support", "onnx", "quantize")]
import int8_weights  # noqa: E402
import dynamic_forms  # noqa: E402
import exported_forms  # noqa: E402
import forms  # noqa: E402
import quantize_flow  # noqa: E402
import window_forms  # noqa: E402
from models import MODELS, REPOSITORY, SHARED, convert_options, file_name, must, nsk, onnx_session, path_of, random_inputs  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "tests" / "guards"))
from common import (Tree, aarch64_compilers, compile_file, compilers, has_avx512, is_cross, link, note, on_aarch64, parallel, run_program,  # noqa: E402
                    runs_aarch64)
from engine_guards import joint_settings_flags  # noqa: E402

BOUNDED = {}
for bounded, text in {"chosen_places": "(float[9,31] x) => (int64[2,n] y) { y = NonZero(x) }", "chosen_elements": "(float[9,31] x, bool[200] c) => (float[n] y) { y = Compress(x, c) }",
                      "chosen_rows": "(float[31,40] x, bool[31] c) => (float[n,40] y) { y = Compress<axis=0>(x, c) }",
                      "chosen_columns": "(int64[31,40] x, bool[40] c) => (int64[31,n] y) { y = Compress<axis=1>(x, c) }",
                      "unique_integers": "(int64[90] x) => (int64[n] y) { y = Unique(x) }", "unique_floats": "(float[90] x) => (float[n] y) { y = Unique<sorted=0>(x) }"}.items():
    forms.case(BOUNDED, bounded, *text.replace("}", "").split(" { "))
SMALL = ["mnist", "policy_mlp", "upscaler_x2"]
BATCHED = ["mobilenet_v3_small"]  # whose batches are compared in every run: means of large images are taken in two steps
# Slow builds (unoptimised, or without vector instructions) run models up to this many MACs; -O0 without either, far fewer.
MAX_MACS = {("-O2", "NSK_ISA_AVX2"): 1e12, ("-O0", "NSK_ISA_AVX2"): 1e9, ("-O2", "NSK_ISA_SCALAR"): 5e9, ("-O0", "NSK_ISA_SCALAR"): 4e7,
             ("-O2", "NSK_ISA_AVX512"): 1e12, ("-O2", "NSK_ISA_NEON"): 2e9, ("-O0", "NSK_ISA_NEON"): 4e7}
MAX_MACS_QUICK = 1e7
# Forms of operators that have no model of their own: all that match are compared, those of one opset in one file.
FORMS = re.compile(r"a?(sin|cos|tan)h?|angles?_.*|remainder.*|integer_.*|powers_.*|determinant.*|inverse.*|first_maximum.*|fold.*|unit_matrix|.*_at_computed_places_.*"
                   r"|rows_.*|running_sum.*|rolled_windows|.*_dimensions_reversed|.*_by_computed_.*|adaptive_.*|modulated_conv|pool_with_.*|unpool.*|volume_resized_.*|roi_align.*"
                   r"|conv_transpose_of_volume.*|grid_sample.*|affine_grid.*|spatial_transformer|deform_conv.*|chosen_.*|unique_.*")
# Networks that --all quantises, beside those of this folder.
QUANTISED = ("face_front", "face_back", "ultraface", "mobilenet_v2", "resnet18")
# What same_bits prints besides hashes, and what it must be.
WANTED = {"heap": "0", "environment": "kept", "arena": "exact"}
MAX_STACK = 32 * 1024
VECTORS = "NSK_ISA_NEON" if on_aarch64() else "NSK_ISA_AVX2"


def builds(quick):
    """(compiler, optimisation level, instruction set) of every program; quick: each compiler, level and set in half of the pairings."""
    jobs = [(c, level, isa) for c in compilers() for level in ("-O0", "-O2") for isa in (VECTORS, "NSK_ISA_SCALAR")]
    if quick:
        first = compilers()[0]
        jobs = [(c, level, isa) for c, level, isa in jobs if ((level == "-O2") == (isa == VECTORS)) == (c == first)]
    if on_aarch64():
        return jobs
    jobs.append((compilers()[0], "-O2 -DNSK_NO_VNNI", "NSK_ISA_AVX2"))
    if has_avx512():
        jobs += [(c, "-O2", "NSK_ISA_AVX512") for c in compilers()]
        jobs += [] if quick else [(compilers()[0], "-O2 -DNSK_NO_VNNI", "NSK_ISA_AVX512")]
    else:
        note("this processor has no AVX-512, so nothing runs on it")
    return jobs + [(c, "-O2", "NSK_ISA_NEON") for c in aarch64_compilers()[:1] if runs_aarch64()]


def build(folder, job, settings):
    compiler, level, isa = job
    base = pathlib.Path(folder) / f"same_bits.{compiler}{level.replace(' ', '')}.{isa}"
    flags = ["-std=c++17", *level.split(), f"-D{isa}", *settings]
    said = compile_file(compiler, REPOSITORY / "tests" / "models" / "commands" / "same_bits.cpp", f"{base}.o", Tree(REPOSITORY), flags)
    said = said or link(compiler, [f"{base}.o"], base)
    if said:
        raise SystemExit(f"{job}: {said}")
    return base


def without_vnni(job):
    """Whether a build does without VNNI: it runs models of stored integers alone."""
    return "NO_VNNI" in job[1]


def settings_of(models):
    """Settings of a build with the operators of its models, by without_vnni."""
    stored = [model for name, model in models.items() if name.startswith("stored_")]
    return {only_stored: joint_settings_flags(Tree(REPOSITORY), chosen) for only_stored, chosen in ((False, list(models.values())), (True, stored)) if chosen}


def bands_of(model):
    """The file of the same network in bands of rows, where something of it is streamed: it has the hash of the file without."""
    return model.with_suffix(".bands.nsk")


def make_bands(source, model, options):
    must("convert", source, "-o", bands_of(model), *options, "--target", "pc", "--no-check", "--quiet")
    if "\nstreamed " not in must("inspect", bands_of(model)):
        bands_of(model).unlink()


def macs_of(model):
    import json
    return json.loads(must("inspect", model, "--json"))["variants"][0]["macs"]


def hashes_of(job, program, model, name, plain, processor):
    """What one run of one build prints: (way, hash) of each way, and the stack in bytes. What it prints besides must be what is WANTED."""
    done = run_program(job[0], program, *(["--plain"] if plain else []), model, processor=processor)
    if done.returncode != 0:
        raise SystemExit(f"{program} {model}: exit code {done.returncode} {done.stdout}{done.stderr}")
    found = [line.split()[1:3] for line in done.stdout.splitlines()]
    stack = max(int(value) for way, value in found if way == "stack") if job[1] == "-O2" else 0
    if stack > MAX_STACK:
        raise SystemExit(f"{name} {job}: {stack} bytes of stack")
    for way, value in found:
        if value != WANTED.get(way, value):
            raise SystemExit(f"{name} {job}: {way} {value}")
    return [(way, value) for way, value in found if way != "stack" and way not in WANTED], stack


def compare_builds(programs, models, quick):
    """Prints a table; returns the number of models whose hashes differ."""
    different = 0
    for name, model in models.items():
        macs, hashes, ran, stack = macs_of(model), {}, [], 0
        for job, program in programs.items():
            if without_vnni(job) and not name.startswith("stored_"):
                continue
            limit = MAX_MACS[job[1].split()[0], job[2]] if not quick or job[1] == "-O2" else MAX_MACS_QUICK
            if macs > limit:
                continue
            plain = job[1:] != ("-O2", "NSK_ISA_AVX2") and macs > MAX_MACS_QUICK
            for processor in [None, "max"] if is_cross(job[0]) and name.startswith("stored_") else [None]:
                for path in filter(pathlib.Path.exists, (model, bands_of(model))):
                    found, used = hashes_of(job, program, path, path.stem, plain or processor, processor)
                    stack = max(stack, used)
                    for way, value in found:
                        hashes.setdefault(value, []).append(f"{'/'.join(job)}:{path.stem}:{way}")
                ran.append(f"{job[0]}{job[1]} {job[2][8:].lower()}" + (" with dot products" if processor else "") + (" (once)" if plain or processor else ""))
        same = len(hashes) == 1
        different += not same
        print(f"{'same' if same else 'DIFFERENT':10}{name:20} {next(iter(hashes))}  {stack / 1024:.1f} KiB of stack, "
              f"{sum(map(len, hashes.values()))} runs on: {', '.join(ran)}")
        if not same:
            for value, where in hashes.items():
                print(f"    {value}: {', '.join(where[:6])}")
    return different


def form_models(folder):
    """Models of many forms, {name: source}: their graphs side by side, one file for each opset. Bounded operators are among them."""
    cases = {**exported_forms.CASES, **window_forms.CASES, **BOUNDED}
    merged = {}
    for name, spec in cases.items():
        if not FORMS.fullmatch(name):
            continue
        model = onnx.compose.add_prefix(forms.build(spec), f"{name}/")
        key = "_".join(str(i.version) for i in sorted(model.opset_import, key=lambda i: i.domain))
        whole = merged.setdefault(key, onnx.helper.make_model(onnx.helper.make_graph([], "forms", [], []), opset_imports=model.opset_import, ir_version=model.ir_version))
        for field in ("node", "input", "output", "initializer"):
            getattr(whole.graph, field).extend(getattr(model.graph, field))
    for key, model in merged.items():
        onnx.save(model, folder / f"forms_{key}.onnx")
    return {f"forms_{key}": folder / f"forms_{key}.onnx" for key in merged}


def quantised(source, name, folder):
    """All layers of a network as int8, by samples at random: what its bits are does not ask what it finds."""
    session, samples = onnx_session(source), folder / f"{name}_samples"
    samples.mkdir()
    for seed in range(4):
        for port, value in random_inputs(session, seed, name).items():
            np.save(samples / f"{seed}.npy", value)
    must("quantize", "--target", "size", source, "-o", folder / f"{name}.int8.nsk", "--calibrate", samples, "--no-check", "--quiet")
    return folder / f"{name}.int8.nsk"


def stored_models(folder, every):
    """Models of stored integers, {name: path}: three that nsk quantize makes, one with scales that are found at run time, TensorFlow Lite's; and one whose
    weights have 16 and 8 bits."""
    samples = folder / "samples"
    samples.mkdir()
    random = np.random.default_rng(3)
    for i in range(6):
        np.save(samples / f"{i}.npy", random.standard_normal((1, 16, 12, 12)).astype(np.float32))
    models = {}
    for name, make in quantize_flow.NETWORKS.items():
        models[f"stored_{name}"] = folder / f"{name}.nsk"
        must("quantize", "--target", "size", make(folder / f"{name}.onnx"), "-o", models[f"stored_{name}"], "--calibrate", samples, "--quiet")
    models["stored_dynamic"] = folder / "dynamic.nsk"
    must("convert", dynamic_forms.quantised(dynamic_forms.network(folder / "network.onnx"), folder / "dynamic.onnx", True), "-o", models["stored_dynamic"], "--quiet")
    for kind in ("fp16", "w8"):
        models[f"weights_{kind}"] = folder / f"weights_{kind}.nsk"
        must("convert", int8_weights.network(folder / "weights.onnx"), "-o", models[f"weights_{kind}"], "--weights", kind, "--quiet")
    for name in QUANTISED if every else ():
        if source := path_of(name):
            models[f"stored_{name}"] = quantised(source, name, folder)
    if every and (source := path_of("gru")):
        for kind in ("fp16", "w8"):
            models[f"weights_gru_{kind}"] = folder / f"gru_{kind}.nsk"
            must("quantize", source, "-o", models[f"weights_gru_{kind}"], "--format", kind, "--quiet")
    for source in sorted((SHARED / "quantized").glob("*.tflite")) if SHARED.exists() else []:
        if "int8" in source.name or every and ("quant" in source.name or "ref_model.t" in source.name):
            models[f"stored_{source.stem}"] = folder / f"{source.stem}.nsk"
            must("convert", source, "-o", models[f"stored_{source.stem}"], "--no-check", "--quiet")
    return models


def compare_batch(name, source, folder):
    """A batch of 5 gives each row the bits that it has alone. Returns True, False, or None where the model cannot be batched."""
    import onnx
    model = onnx.load(str(source))
    constants = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constants]
    for value in [*inputs, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].Clear()
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    open_batch = folder / "batch.onnx"
    onnx.save(model, str(open_batch))
    rows = 5
    data = {n: np.concatenate([random_inputs(onnx_session(source), seed, name)[n] for seed in range(rows)]) for n in (i.name for i in inputs)}

    def run_batch(values, tag):
        shapes = [o for n, v in values.items() for o in ("--input", f"{n}=" + "x".join(map(str, v.shape)))]
        done = nsk("convert", open_batch, "-o", folder / f"{tag}.nsk", *shapes)
        if done.returncode != 0:
            return None
        arguments = []
        for index, (n, v) in enumerate(values.items()):
            np.save(folder / f"{tag}{index}.npy", v)
            arguments += ["--input", f"{n}={folder / f'{tag}{index}.npy'}"]
        must("run", folder / f"{tag}.nsk", *arguments, "--output-dir", folder / tag)
        return [np.load(folder / tag / file_name(o.name)) for o in model.graph.output]

    whole = run_batch(data, "whole")
    if whole is None or any(w.shape[0] != rows for w in whole):
        print(f"batch: {name} has its batch written into the graph; not compared")
        return None
    for row in range(rows):
        alone = run_batch({n: v[row:row + 1] for n, v in data.items()}, "alone")
        if any(a[0].tobytes() != w[row].tobytes() for a, w in zip(alone, whole)):
            print(f"DIFFERENT {name}: row {row} of a batch of {rows} differs from the same row alone")
            return False
    print(f"same      {name}: every row of a batch of {rows}, and the same row alone")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("models", nargs="*", choices=[[], *MODELS])
    options = parser.parse_args()
    jobs = builds(not options.all)
    with tempfile.TemporaryDirectory(prefix="nsk_same_bits_") as folder:
        folder = pathlib.Path(folder)
        sources = {name: path_of(name) for name in (options.models or ([] if options.stored else MODELS if options.all else SMALL))}
        sources = {name: source for name, source in sources.items() if source}
        models = {}
        for name, source in sources.items():
            models[name] = folder / f"{name}.nsk"
            given = convert_options(onnx_session(source), name)
            must("convert", source, "-o", models[name], *given)
            make_bands(source, models[name], given)
        for name, source in ({} if options.models or options.stored else form_models(folder)).items():
            models[name] = folder / f"{name}.nsk"
            must("convert", source, "-o", models[name], "--no-check", "--no-states", "--quiet")
        models.update({} if options.models else stored_models(folder, options.all))
        # In quick runs the builds for this platform's vectors have every operator, the others what their models need.
        settings = {} if options.all else settings_of(models)
        programs = dict(zip(jobs, parallel(lambda job: build(folder, job, [] if job[1:] in (("-O0", VECTORS), ("-O2", VECTORS)) else settings.get(without_vnni(job), [])), jobs)))
        wrong = compare_builds(programs, models, not options.all)
        for name in [] if options.all or options.stored or options.models else BATCHED:
            sources[name] = path_of(name)
        batched = [compare_batch(name, source, folder) for name, source in sources.items() if source]
    if not any(batched) and not options.stored:
        print("no model could be batched: nothing was compared")
    return 1 if wrong or False in batched or not (any(batched) or options.stored) else 0


if __name__ == "__main__":
    sys.exit(main())
