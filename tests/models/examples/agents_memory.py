#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Policies with a memory through the command line, against ONNX Runtime: recurrent_in and recurrent_out become a state, and fifty steps in a row
agree; a thousand agents in batches of any size, whose memories the caller keeps, each have the bits that they have alone.

  agents_memory.py [FOLDER]      (default: agents/ among the models, models.py)
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from agents import RECURRENT, SEED, noise_widths, outputs_of, random_inputs, run_nsk, with_noise_as_input  # noqa: E402
from models import SAID_SKIPPED, SHARED, error_of, must  # noqa: E402

TOLERANCE = 1e-4
STEPS, AGENTS, TICKS, LARGEST, WATCHED = 50, 1000, 100, 512, (0, 417, 999)
BEFORE, AFTER = "recurrent_in", "recurrent_out"


def one_thread(model):
    """A session whose other threads do not spin between runs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options)


def shapes_of(inputs):
    return [w for n, x in inputs.items() for w in ("--input", f"{n}={'x'.join(map(str, x.shape))}")]


def check_steps(path, folder):
    """One agent, its memory a state."""
    model, target = onnx.load(path), folder / "one.nsk"
    first = random_inputs(model, 1, 0)
    said = must("convert", path, "-o", target, *shapes_of(first), "--check")
    if f"from {AFTER}" not in said:
        raise SystemExit(f"{path.name}: {BEFORE} is no state\n{said}")
    steps = [{n: x for n, x in random_inputs(model, 1, 100 + t).items() if n != BEFORE} for t in range(STEPS)]
    run_nsk(target, {n: np.stack([s[n] for s in steps]) for n in steps[0]}, folder, "--steps", STEPS)
    names = [o.name for o in model.graph.output]
    got = outputs_of([n for n in names if n != AFTER], folder)
    noisy, noises = with_noise_as_input(model)
    session = one_thread(noisy.SerializeToString())
    memory, worst = np.zeros_like(first[BEFORE]), 0.0
    widths = noise_widths(model, noises, {**steps[0], BEFORE: memory})
    for t, seen in enumerate(steps):
        sampled = {name: sample(shape, stream, SEED, t).astype(np.float32) for stream, ((name, sample), shape) in enumerate(zip(noises, widths))}
        wanted = dict(zip(names, session.run(names, {**seen, BEFORE: memory, **sampled})))
        worst = max([worst] + [error_of(got[n][t], wanted[n]) for n in got])
        memory = wanted[AFTER]
    return worst


class Crowd:
    """Agents whose memories the caller keeps, in one batched model."""

    def __init__(self, model, folder, agents):
        self.model, self.folder = model, folder
        self.memory = None
        self.agents = agents

    def tick(self, seen, sizes):
        """All agents once, in batches of these sizes; rows behind a batch are not numbers."""
        inputs = {n: x[self.agents] for n, x in seen.items()}
        if self.memory is None:
            self.memory = np.zeros_like(inputs[BEFORE])
        inputs[BEFORE], at, after = self.memory, 0, []
        for size in sizes:
            rows = {n: np.full((LARGEST,) + x.shape[1:], np.nan, x.dtype) for n, x in inputs.items()}
            for n, x in inputs.items():
                rows[n][:size] = x[at:at + size]
            run_nsk(self.model, rows, self.folder, "--batch", size)
            after.append(np.load(self.folder / "out" / f"{AFTER}.npy")[:size])
            at += size
        self.memory = np.concatenate(after)


def sizes_of(generator, count):
    sizes = []
    while sum(sizes) < count:
        sizes.append(int(min(generator.integers(300, LARGEST + 1), count - sum(sizes))))
    return sizes


def check_crowd(path, folder):
    model, target = onnx.load(path), folder / "many.nsk"
    must("convert", path, "-o", target, "--batch-max", LARGEST, "--no-states", "--output-value", AFTER, "--check")
    generator = np.random.default_rng(9)
    everyone, alone = Crowd(target, folder, np.arange(AGENTS)), [Crowd(target, folder, np.array([a])) for a in WATCHED]
    session, kept = one_thread(str(path)), None
    for t in range(TICKS):
        seen = random_inputs(model, AGENTS, 1000 + t)
        everyone.tick(seen, sizes_of(generator, AGENTS))
        for agent in alone:
            agent.tick(seen, [1])
        kept = session.run([AFTER], {**seen, BEFORE: np.zeros_like(seen[BEFORE]) if kept is None else kept})[0]
    for agent, place in zip(alone, WATCHED):
        if agent.memory.tobytes() != everyone.memory[place:place + 1].tobytes():
            raise SystemExit(f"{path.name}: agent {place} has another memory alone than in a crowd")
    if len(np.unique(everyone.memory[:, 0], axis=0)) != AGENTS:
        raise SystemExit(f"{path.name}: agents share a memory")
    return error_of(everyone.memory, kept)


def main(folder):
    files = [p for p in sorted(pathlib.Path(folder).glob("*.onnx")) if RECURRENT & {n.op_type for n in onnx.load(p).graph.node}]
    if not files:
        print(f"{SAID_SKIPPED} no policies with a memory in {folder}; set NSK_MODELS")
        return 0
    failed = 0
    for path in files:
        with tempfile.TemporaryDirectory(prefix="nsk_memory_") as work:
            steps, crowd = check_steps(path, pathlib.Path(work)), check_crowd(path, pathlib.Path(work))
        print(f"{path.name}: {STEPS} steps with state within {steps:.1e} of ONNX Runtime; {AGENTS} agents, {TICKS} ticks in batches within {crowd:.1e}, "
              f"{len(WATCHED)} of them bit-equal alone")
        failed += max(steps, crowd) > TOLERANCE
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else SHARED / "agents"))
