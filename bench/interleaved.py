# SPDX-License-Identifier: MIT
"""netsuke and its peers on one network: outputs are compared, then all are measured in turn in short rounds, each in a process of its own, as many threads each."""
import json
import math
import pathlib
import platform
import statistics
import sys

import numpy as np

from peer_process import PACKAGES, PeerProcess, version_of
from peers import Refused

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / "support"))
from models import TOOL, file_name, nsk  # noqa: E402

FLAGS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "amx_int8")


def said(*arguments):
    done = nsk(*arguments)
    if done.returncode != 0:
        raise Refused(f"nsk {arguments[0]}: {(done.stderr.strip() or done.stdout.strip() or 'no message').splitlines()[0]}")
    return done.stdout


def cpu_flags():
    path = pathlib.Path("/proc/cpuinfo")
    here = set(path.read_text().split()) if path.exists() else set()
    return [flag for flag in FLAGS if flag in here]


def machine():
    versions = {package: version_of(engine) for engine, package in PACKAGES.items()}
    return {"processor": platform.processor() or platform.machine(), "flags": cpu_flags(), "versions": versions, "nsk": said("--version").strip()}


def instruction_sets_here():
    """AVX2, and AVX-512 where there is one; None, which is the fastest, on machines with neither."""
    flags, built = cpu_flags(), said("run", "--help")
    return [isa for isa, flag in (("avx2", "avx2"), ("avx512", "avx512f")) if flag in flags and isa in built] or [None]


def require_tool():
    if not pathlib.Path(TOOL).exists():
        raise SystemExit(f"{TOOL} does not exist: build nsk, or set NSK_TOOL to it")


def isa_option(isa):
    return ["--isa", isa] if isa else []


def figures(rounds):
    return {"best_ms": min(r["min_ms"] for r in rounds), "median_ms": statistics.median(r["median_ms"] for r in rounds)}


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


class Ours:
    """The file that nsk makes of a source, its outputs for each set of inputs, and its times with the last one. A file that is there is taken as it is."""

    def __init__(self, source, sets, model, folder, instruction_sets, convert_options=()):
        self.model, self.folder = model, folder
        shapes = [o for key, value in sets[0].items() for o in ("--input", f"{key}=" + ("x".join(map(str, value.shape)) or "scalar"))]
        if not model.exists():
            said("convert", source, "-o", model, "--quiet", *convert_options, *shapes)
        self.plan = json.loads(said("inspect", model, "--json"))["variants"][0]
        self.outputs = [self.run(inputs, instruction_sets) for inputs in sets]

    def run(self, inputs, instruction_sets):
        self.arguments, made = [], {}
        for n, port in enumerate(self.plan["inputs"]):
            np.save(self.folder / f"in{n}.npy", inputs[port["name"]])
            self.arguments += ["--input", f"{port['name']}={self.folder / f'in{n}.npy'}"]
        for isa in instruction_sets:
            place = self.folder / (isa or "fastest")
            said("run", self.model, *self.arguments, *isa_option(isa), "--output-dir", place, "--quiet")
            made[isa] = [np.load(place / file_name(port["name"])) for port in self.plan["outputs"]]
            if any(a.tobytes() != b.tobytes() for a, b in zip(made[instruction_sets[0]], made[isa])):
                raise Refused(f"netsuke's outputs with {isa} are not those with {instruction_sets[0]}")
        return made[instruction_sets[0]]

    def time(self, isa, seconds, threads=1):
        return json.loads(said("bench", self.model, *self.arguments, *isa_option(isa), "--lanes", threads, "--seconds", seconds, "--json"))


class Interleaved:
    """One network: netsuke, and the peers whose outputs agree with it. A subclass has `agreement(process)`, which returns how far a
    peer's outputs are from netsuke's and, where that is too far, a text that says so, and `row(isa, ours, theirs)`, which makes figures of the times of all rounds."""

    told = set()  # what was said of any network, once

    def __init__(self, name, source, sets, options, folder, model=None):
        self.name, self.source, self.options = name, source, options
        self.peers, self.left_out, self.differences = {}, {}, {}
        self.threads = getattr(options, "threads", 1)
        target = getattr(options, "target", None)
        self.ours = Ours(source, sets, model or folder / "model.nsk", folder, options.isa, ["--target", target] if target else ())
        for state in set(sets[0]) - {port["name"] for port in self.ours.plan["inputs"]}:
            for inputs in sets:
                inputs[state].fill(0)  # what netsuke keeps itself begins at zero
        for peer in options.peers:
            try:
                self.add(peer, sets, folder)
            except Refused as error:
                self.leave_out(peer, error)

    def add(self, peer, sets, folder):
        process = PeerProcess(peer, self.source, sets, folder, self.threads)
        try:
            self.differences[peer], refusal = self.agreement(process)
            if refusal:
                raise Refused(f"{refusal}: its time does not count")
        except Refused:
            process.close()
            raise
        self.peers[peer] = process

    def leave_out(self, peer, error):
        self.left_out[peer] = str(error)
        line = f"{self.name}: {peer} is left out: {error}"
        if line not in self.told:
            print(line, flush=True)
        self.told.add(line)

    def measure(self):
        ours, theirs = {isa: [] for isa in self.options.isa}, {peer: [] for peer in self.peers}
        for _ in range(self.options.rounds):
            for isa, rounds in ours.items():
                rounds.append(self.ours.time(isa, self.options.seconds, self.threads))
            for peer in list(theirs):
                try:
                    theirs[peer].append(self.peers[peer].time(self.options.seconds))
                except Refused as error:
                    del theirs[peer]
                    self.leave_out(peer, error)
        return [self.row(isa, rounds, theirs) for isa, rounds in ours.items()]

    def close(self):
        for process in self.peers.values():
            process.close()
