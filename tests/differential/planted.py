#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants an error in every rule that folds, fuses, crops or recognises, or in the import of TensorFlow Lite files (--tflite), one at a time,
and expects that random models show it.

    planted.py [--tflite] [--count 1500] [--only PATTERN] WORK_FOLDER [--cmake OPTION...]

Copies the sources to WORK_FOLDER, builds the worker there, and for each error builds it again and runs the driver. Prints a table of
the first seed that showed each error; exit code 1 where one was not shown, or where a rule's text changed so that nothing was planted.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import tflite_errors

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PASSES = "passes/"
LAYERS = ["windows", "matrices", "patterns", "normalizations", "networks"]
CELLS = ["gru_cell", "lstm_cell"]
# (file, what is right, what is wrong, families that should show it)
ERRORS = [(PASSES + file, right, wrong, families) for file, right, wrong, families in (
    ("fuse/fold.cpp", "bias[n] = bias[n] * scale + offset;", "bias[n] = bias[n] + offset;", LAYERS),
    ("fuse/fold.cpp", "b->kind == binary_kind::sub ? -v : 0;", "b->kind == binary_kind::sub ? v : 0;", LAYERS),
    ("fuse/fold.cpp", "b->kind == binary_kind::div ? 1 / v : 1;", "b->kind == binary_kind::div ? v : 1;", LAYERS),
    ("fuse/fold.cpp", "operation* source = sole_producer(data);", "operation* source = producer(data);", LAYERS),
    ("fuse/fold.cpp", "per_channel(factor, shape, c ? 1 : shape.size() - 1)", "per_channel(factor, shape, shape.size() - 1)", LAYERS),
    ("fuse/fold.cpp", " || m_p.shape(data) != m_p.shape(o.output)) return false;", ") return false;", LAYERS),
    ("fuse/fold.cpp", "const bool swaps = (b->kind == binary_kind::add || b->kind == binary_kind::mul) && m_p.is_constant(o.inputs[0]);",
     "const bool swaps = m_p.is_constant(o.inputs[0]);", LAYERS),
    ("fuse/fold.cpp", "*offset / *factor)", "*offset * *factor)", ["patterns.scaled", "windows"]),
    ("fuse/fold.cpp", "std::swap(product->p, sum->p);", "", ["patterns.scaled", "windows"]),
    ("fuse/fold.cpp", "if (adds && c && window_overhang(c->w, shape, m_p.shape(o.output)).any()) return false;", "", LAYERS),
    ("fuse/fold.cpp", "c ? n / (outputs / static_cast<std::size_t>(c->groups)) : 0;", "c ? 0 : 0;", ["windows"]),
    ("fuse/fold.cpp", "(*values)[group * (depth / taps) + k / taps]", "(*values)[group * (depth / taps) + k % (depth / taps)]", ["windows"]),
    ("fuse/fold.cpp", "b->kind == binary_kind::mul ? weight * v : weight / v;", "weight * v;", LAYERS),
    ("fuse/fold.cpp", "b->kind == binary_kind::add ? v * weight : -v * weight;", "v * weight;", LAYERS),
    ("fuse/fuse.cpp", "o.inputs[0] = before->inputs[0];", "o.inputs[0] = at(i > 1 ? i - 1 : 0).inputs[0];", ["moves", "networks", "patterns"]),
    ("fuse/fuse.cpp", "m_p.shape(o.inputs[0]) != m_p.shape(o.output)) return false;\n    const int from", "false) return false;\n    const int from", ["moves", "networks"]),
    ("fuse/fuse.cpp", "|| pad->value != 0 ||", "||", ["windows"]),
    ("fuse/fuse.cpp", "|| (a < 2 && (pad->before[a] || pad->after[a]))) return false;", ") return false;", ["windows"]),
    ("fuse/fuse.cpp", "w.pad_top = sum(w.pad_top, pad.before[2]);", "w.pad_top = sum(w.pad_top, pad.after[2]);", ["windows"]),
    ("fuse/fuse.cpp", "- 1.0 / 6) <= 1e-7;", "- 1.0 / 6) <= 0.05;", ["patterns"]),
    ("fuse/fuse.cpp", "clip->post.fn != function::clip || clip->post.alpha != 0 ||", "clip->post.fn != function::clip ||", ["patterns.hard_swish"]),
    ("fuse/fuse.cpp", "clip->post.beta != 6)", "false)", ["patterns.hard_swish"]),
    ("fuse/fuse.cpp", "scalar(add->inputs[1]) == 3.0", "scalar(add->inputs[1])", ["patterns.hard_swish"]),
    ("fuse/fuse.cpp", "clipped_sum(product->inputs[1 - side]) == product->inputs[side]", "clipped_sum(product->inputs[1 - side]) != no_value", ["patterns.hard_swish"]),
    ("fuse/fuse.cpp", "o.post.beta = gate ? 0.5 : 0;", "o.post.beta = gate ? 0.25 : 0;", ["patterns.hard_swish"]),
    ("fuse/fuse.cpp", "|| gate->inputs[0] != x) continue;", ") continue;", ["patterns"]),
    ("fuse/fuse.cpp", "gate->post.beta == 0.5;", "true;", ["patterns", "windows"]),
    ("fuse/fuse.cpp", "c.weights[n * depth + k] = d->weights[k * outputs + n];", "c.weights[n * depth + k] = d->weights[(depth - 1 - k) * outputs + n];", ["matrices"]),
    ("fuse/fuse.cpp", "x[0] != m_p.shape(o.inputs[0])[0] ||", "", ["matrices", "networks"]),
    ("fuse/fuse.cpp", "|| source->post.fn != function::identity || source->post.activation_first) return false;", "|| source->post.activation_first) return false;", LAYERS),
    ("fuse/fuse.cpp", "source->as<conv_parameters>() ? 1 : shape.size() - 1);\n    if (!slopes)", "shape.size() - 1);\n    if (!slopes)", LAYERS),
    ("fuse/fuse.cpp", "if (const auto slope = scalar(o.inputs[1]); slope) {", "if (const auto slope = scalar(o.inputs[1]); true) {", LAYERS),
    ("fuse/fuse.cpp", "b->kind != binary_kind::add || !o.post.empty() || o.inputs[0] == o.inputs[1]", "b->kind > binary_kind::sub || !o.post.empty() || o.inputs[0] == o.inputs[1]", LAYERS),
    ("fuse/fuse.cpp", "operation* source = sole_producer(v);\n      if (!source || source->post.residual", "operation* source = producer(v);\n      if (!source || source->post.residual", LAYERS),
    ("fuse/fuse.cpp", "if (m_p.shape(v) != m_p.shape(o.output) || m_p.shape(other) != m_p.shape(o.output)) continue;", "", LAYERS),
    ("fuse/fuse.cpp", "source->post.activation_first = source->post.fn != function::identity;", "", LAYERS),
    ("fuse/crop.cpp", "return at >= input ||", "return at >= input - 1 ||", ["cut_windows", "windows"]),
    ("fuse/crop.cpp", "a.pad_before -= first * a.dilation;", "", ["cut_windows", "windows"]),
    ("fuse/crop.cpp", "static_cast<std::size_t>(length), inner, static_cast<std::size_t>(first),", "static_cast<std::size_t>(length), inner, std::size_t{0},", ["cut_windows", "windows"]),
    ("fuse/crop.cpp", "at + (output - 1) * stride < 0;", "at + (output - 1) * stride < 1;", ["cut_windows", "windows"]),
    ("recognise/recognise.cpp", "r->kind != reduce_kind::mean ||", "", ["spelled_out"]),
    ("recognise/recognise.cpp", "centred(term, axis) == x;", "centred(term, axis) != no_value;", ["spelled_out"]),
    ("recognise/recognise.cpp", "if (!l.centre && term != left) return false;", "", ["spelled_out"]),
    ("recognise/recognise.cpp", "return o && mean_of(o->inputs[1], x) == axis && x == o->inputs[0] ? x : no_value;", "return o && mean_of(o->inputs[1], x) >= 0 && x == o->inputs[0] ? x : no_value;", ["spelled_out"]),
    ("recognise/recognise.cpp", "near(scalar(quotient->inputs[0]), 1);", "scalar(quotient->inputs[0]).has_value();", ["spelled_out"]),
    ("recognise/recognise.cpp", "l->bias[k] = times(l->bias[k]);", "", ["spelled_out", "normalizations.layer"]),
    ("recognise/recognise.cpp", "if (a.shape[d] != 1 && d + shape.size() - a.shape.size() != axis) return nullptr;", "if (a.shape[d] != 1 && d + 1 != a.shape.size()) return nullptr;", ["spelled_out", "normalizations.layer"]),
    ("recognise/recognise.cpp", "if (error == no_value || !near(one, 1) ||", "if (error == no_value ||", ["patterns.gelu"]),
    ("recognise/recognise.cpp", "return near(root, std::sqrt(0.5)) ? x : no_value;", "return root ? x : no_value;", ["patterns.gelu"]),
    ("recognise/recognise.cpp", "[&](int f) { return near(scalar(f), 0.5); });", "[&](int f) { return scalar(f).has_value(); });", ["patterns.gelu"]),
    ("recognise/recognise.cpp", "std::count(factors.begin(), factors.end(), x) == 1 &&", "", ["patterns.gelu"]),
    ("recognise/cells.cpp", "return one.count() == 1 && one.number(0) == 1;", "return one.count() == 1;", CELLS),
    ("recognise/cells.cpp", "if (is_permutation(k.place, 4) &&", "if (", CELLS),
    ("recognise/cells.cpp", "k.place = {input, output, forget, value};", "k.place = {input, output, value, forget};", CELLS),
    ("recognise/cells.cpp", "if (fresh == reset_part && is_permutation(k.place, 3) &&", "if (fresh == reset_part &&", CELLS),
    ("recognise/cells.cpp", "&& of_h->inputs[0] == k.h &&", "&&", CELLS),
    ("recognise/cells.cpp", "(reset ? 0 : r.bias[n]);", "r.bias[n];", CELLS),
    ("recognise/cells.cpp", "if (own >= 0 && own == recurrent &&", "if (own >= 0 &&", CELLS),
)]

BEHIND = ["behind"]
# One for every kind of row in the table of bounded/rules.hpp.
ERRORS += [("bounded/" + file, right, wrong, BEHIND) for file, right, wrong in (
    ("rules_lines.cpp", "t[op] = {follow_reduction, fill_reduction};", "t[op] = {follow_reduction};"),
    ("rules_lines.cpp", "{follow_reduction, fill_mean}", "{follow_reduction, fill_reduction}"),
    ("rules_lines.cpp", "t[op] = {follow_lines, fill_lines};", "t[op] = {follow_lines};"),
    ("rules_lines.cpp", "{follow_top_k, fill_top_k}", "{follow_top_k, fill_with_constants}"),
    ("rules_lines.cpp", '{follow_mat_mul, fill_mat_mul}', '{follow_mat_mul}'),
    ("rules_moves.cpp", "{follow_concat, fill_concat}", "{follow_concat}"),
    ("rules_moves.cpp", "{follow_pad, fill_pad}", "{follow_pad, fill_with_constants}"),
    ("rules_places.cpp", "{follow_gather, fill_gather}", "{follow_gather}"),
    ("rules_places.cpp", "{follow_scatter_nd, fill_scatter}", "{follow_scatter_nd}"),
    ("rules_moves.cpp", "product_of(x, 0, from) != product_of(y, 0, to)", "false"),
    ("rules_moves.cpp", "axes[p.axis] = c.clamped(*taken, 0, std::numeric_limits<i64>::max());", "axes[p.axis] = *taken;"),
    ("amount.cpp", "a.plus + sign * b.plus", "a.plus"),
    ("numbers.cpp", "c.clamped(varying, c.low(varying), limit)", "varying"),
)]


def copy_sources(folder):
    for name in ("CMakeLists.txt", "include", "schema", "tools", "tests", "bindings", "shaders", "examples"):
        source, target = REPOSITORY / name, folder / name
        if target.exists():
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("corpus", "__pycache__"), copy_function=shutil.copy) if source.is_dir() else shutil.copy(source, target)


def build(folder):
    done = subprocess.run(["cmake", "--build", folder / "build", "--target", "differential_worker"], capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stdout + done.stderr)[-600:]


def first_sign(folder, families, options):
    """The first line of the driver that reports a finding, or None."""
    command = [sys.executable, folder / "tests/differential/driver.py", folder / "build/tests/differential/differential_worker", *options, "--seed", "1", "--first",
               "--family", *families]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if "families:" not in done.stdout and "seed" not in done.stdout:
        raise SystemExit(f"the driver failed: {done.stderr[-600:]}")
    return next((line for line in done.stdout.splitlines() if re.match(r"(wrong|disagree|apart|crashed|failed): seed", line)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tflite", action="store_true")
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--only", default="", help="errors whose file or text matches")
    parser.add_argument("--cmake", nargs=argparse.REMAINDER, default=[], help="options of cmake: the last of all")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    copy_sources(arguments.folder)
    build_options = ["-G", "Ninja", "-DNSK_BUILD_EXAMPLES=OFF", "-DNSK_BUILD_BENCH=OFF", *arguments.cmake]
    subprocess.run(["cmake", "-S", arguments.folder, "-B", arguments.folder / "build", *build_options], check=True, stdout=subprocess.DEVNULL)
    if said := build(arguments.folder):
        raise SystemExit(said)
    missed = shown = 0
    options = ["--count", str(arguments.count)] + ["--tflite"] * arguments.tflite
    for file, right, wrong, families in tflite_errors.ERRORS if arguments.tflite else ERRORS:
        if not re.search(arguments.only, file + " " + right):
            continue
        path = arguments.folder / "tools" / "nsk" / file
        text = path.read_text()
        if text.count(right) != 1:
            print(f"NOT PLANTED: {file}: {right!r} stands there {text.count(right)} times", flush=True)
            missed += 1
            continue
        path.write_text(text.replace(right, wrong))
        said = build(arguments.folder)
        sign = None if said else first_sign(arguments.folder, families, options)
        path.write_text(text)
        print(f"{pathlib.Path(file).name:24} {right.strip()[:70]!r:74} {'does not compile: ' + said if said else sign[:110] if sign else 'NOT SHOWN'}", flush=True)
        shown, missed = shown + bool(sign), missed + (not sign)
    print(f"{shown} errors shown, {missed} not")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
