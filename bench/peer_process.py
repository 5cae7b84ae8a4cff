# SPDX-License-Identifier: MIT
"""One engine in a process of its own, so that engines share no threads, allocator or environment. Run as a program it is the process; it writes the outputs
of a model for each set of inputs, and then runs it with the last set for as many seconds as each line of its standard input says.

  bench/peer_process.py ENGINE MODEL INPUTS.npz OUTPUTS.npz      (arrays of inputs: "set|place|name", of outputs: "set|place")
"""
import importlib.metadata
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

from peers import PEERS, Refused, openvino_kernels

# Name of a peer here -> its engine in peers.py, variables of its environment, and the instruction sets that it is held to.
ENGINES = {
    "litert": ("litert", {}, "any"),
    "mnn": ("mnn", {}, "any"),
    "ncnn": ("ncnn", {}, "any"),
    "onnxruntime": ("onnxruntime", {}, "any"),
    "openvino": ("openvino", {}, "any"),
    "openvino-vnni": ("openvino", {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}, "avx512"),
    "openvino-avx2": ("openvino", {"ONEDNN_MAX_CPU_ISA": "AVX2"}, "avx2"),
    "tract": ("tract", {}, "any"),
}
NAMES = {"litert": "LiteRT", "mnn": "MNN", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}  # in tables
# Large blocks of memory in large pages, as nsk bench has them (Linux, glibc 2.35).
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
PACKAGES = {"litert": "ai-edge-litert", "mnn": "MNN", "ncnn": "ncnn", "nncf": "nncf", "onnxruntime": "onnxruntime", "openvino": "openvino",
            "tract": "tract"}


def version_of(engine):
    """Version of the package of an engine or a tool, or None where it is not installed."""
    try:
        return importlib.metadata.version(PACKAGES[engine])
    except importlib.metadata.PackageNotFoundError:
        return None


class PeerProcess:
    """A peer that has loaded a model: `outputs` for each set of inputs, in the order of the model's, `repeats`, which
    says of each output whether a second run with the last set gives it again (random ones differ), `kernels` where it tells, and times. Raises Refused."""

    def __init__(self, name, source, sets, folder, threads=1):
        engine, variables, _ = ENGINES[name]
        if version_of(engine) is None:
            raise Refused(f"not installed: pip install {PACKAGES[engine]}")
        given, made = folder / f"{name}.in.npz", folder / f"{name}.out.npz"
        np.savez(given, **{f"{k:04}|{n:04}|{key}": value for k, inputs in enumerate(sets) for n, (key, value) in enumerate(inputs.items())})
        self.said = open(folder / f"{name}.txt", "w+")
        self.process = subprocess.Popen([sys.executable, __file__, engine, source, given, made], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.said, env={**os.environ, **LARGE_PAGES, **variables, "NSK_BENCH_THREADS": str(threads)})
        answer = self.answer()
        if "refused" in answer:
            self.close()
            raise Refused(answer["refused"])
        self.kernels, self.repeats = answer["kernels"], answer["repeats"]
        with np.load(made) as arrays:
            self.outputs = [[arrays[key] for key in sorted(arrays.files) if key.startswith(f"{k:04}|")] for k in range(len(sets))]

    def answer(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.said.seek(0)
        return {"refused": f"its process ended with code {code}: {(self.said.read().strip().splitlines() or ['it said nothing'])[-1]}"}

    def time(self, seconds):
        """{"min_ms", "median_ms", "runs"} of the runs within `seconds`."""
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        answer = self.answer()
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.said.close()


def timed(run, seconds):
    times = []
    run()
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return {"min_ms": min(times), "median_ms": statistics.median(times), "runs": len(times)}


def main(engine, source, given, made):
    # Engines print to standard output as they like: answers keep the first one, and what they print goes to the error stream.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer):
        print(json.dumps(answer), file=answers, flush=True)

    source = pathlib.Path(source)
    sets, outputs = {}, {}
    with np.load(given) as arrays:
        for key in sorted(arrays.files):
            number, _, name = key.split("|", 2)
            sets.setdefault(number, {})[name] = arrays[key]
    try:
        for number, inputs in sets.items():
            run, read = PEERS[engine](source, inputs)
            outputs.update({f"{number}|{n:04}": np.array(output) for n, output in enumerate(read(run()))})
        repeats = [np.array(output).tobytes() == outputs[f"{number}|{n:04}"].tobytes() for n, output in enumerate(read(run()))]
        kernels = openvino_kernels(source, inputs) if engine == "openvino" else {}
    except Refused as error:
        say({"refused": str(error)})
        return
    except Exception as error:  # whatever an engine raises, the process that asked has to know
        say({"refused": f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no message'])[0]}"})
        return
    np.savez(made, **outputs)
    say({"kernels": kernels, "repeats": repeats})
    for line in sys.stdin:
        say(timed(run, float(line)))


if __name__ == "__main__":
    main(*sys.argv[1:])
