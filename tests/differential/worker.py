# SPDX-License-Identifier: MIT
"""The worker program (worker.cpp) as drivers see it, and a folder in memory for what travels in files."""
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile

import numpy as np


def folder_in_memory():
    """A temporary folder, on a file system in memory where there is one; the caller removes it."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return pathlib.Path(tempfile.mkdtemp(prefix="nsk_differential_", dir=place))


class Crashed(Exception):
    """The worker ended, or did not answer in time; the message says how."""


class Worker:
    """A worker process; started when it is needed, and again after a crash. Use it in a with statement."""

    def __init__(self, program, seconds=120):
        self.program, self.seconds, self.process = str(program), seconds, None
        self.folder = folder_in_memory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, model, feeds, request, suffix=".onnx"):
        """Returns the answer for a model's bytes; its lists of arrays have become {name: [array of every run]}.

        `feeds` is {name: [array of every run]}. Raises Crashed.
        """
        paths = {key: str(self.folder / key) for key in ("result", "data")}
        source = self.folder / ("model" + suffix)
        source.write_bytes(model)
        with open(paths["data"], "wb") as file:
            for runs in feeds.values():
                for array in runs:
                    file.write(np.ascontiguousarray(array).tobytes())
        arrays = [{"name": name, "type": runs[0].dtype.name, "shape": list(runs[0].shape)} for name, runs in feeds.items()]
        runs = len(next(iter(feeds.values()))) if feeds else request.get("runs", 1)
        answer = self._exchange({**request, **paths, "model": str(source), "arrays": arrays, "runs": runs})
        if answer["status"] == "converted":
            numbers = pathlib.Path(paths["result"]).read_bytes()
            for key in ("engine", "reference", "rows"):
                if key in answer:
                    answer[key] = _arrays(answer[key], numbers)
            answer["disturbed"] = [_arrays(d, numbers) for d in answer.get("disturbed", [])]
        return answer

    def _exchange(self, request):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], self.seconds)[0]:
                self.stop()
                raise Crashed(f"no answer within {self.seconds} s")
            line = self.process.stdout.readline()
            while line and not line.startswith("{"):  # the command's own tables
                line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.process = None
            raise Crashed(f"the worker ended with code {code}")
        return json.loads(line)


def _arrays(described, numbers):
    result = {}
    for name, _, type_name, shape, offset in described:
        count = int(np.prod(shape, dtype=np.int64))
        result.setdefault(name, []).append(np.frombuffer(numbers, np.dtype(type_name), count, offset).reshape(shape))
    return result
