# SPDX-License-Identifier: MIT
"""The files of every command, as `nsk COMMAND --help` lists them, and files with which the commands succeed. A new command or option that
names a file is found here, and fails until it has a recipe."""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import stat
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from models import TOOL, must

NOT_FILES = {"COMMAND", "HOW", "", "N", "NAME", "S", "US", "X", "NAME=N", "NAME=SHAPE", "NAME=VALUE", "NAME=COUNT", "NAME=CHUNK", "NAME:INPUT=SHAPE,..", "NODE=HOW", "NAME=LO..HI", "NAME=TYPE", "INPUT=OUTPUT", "OLD=NEW"}  # other values
EXTRA = {"convert": ["--check"], "bench": ["--seconds", "0.02"], "profile": ["--seconds", "0.02"], "quantize": ["--target", "size"]}
MAY_BE_FILES = {"--set"}  # numbers, or an array: models.output_values reads some, and damaged ones
SUFFIXES = {("convert", "source"): ".onnx", ("check", "source"): ".onnx", ("from-json", "source"): ".json",
            ("tokenizer", "source"): ".txt"}
# Input -> where its content comes from, and what stands before its path.
RECIPES = {"source": ("model.onnx", ""), "model": ("model.nsk", ""), "--override": ("choices.json", ""), "--profile": ("machine.json", ""),
           "--input": ("x.npy", "x="), "--calibrate": ("x.npy", "x="), "--replace": ("w.npy", "W="),
           ("quantize", "--override"): ("chosen.json", ""), ("from-json", "source"): ("model.json", ""), ("prepare", "model"): ("small.nsk", ""),
           ("tokenizer", "source"): ("vocab.txt", ""), ("tokenize", "words"): ("words.nskt", "")}
# What a command finds out itself: note of the help -> content, whether it must be beside the option's file under a plain name.
BESIDE = {"and its external data": ("data.bin", False), "and the .weights that it names": ("model.weights", True)}
INSIDE = {("run", "the files in it"): "y.npy"}


@dataclasses.dataclass
class Input:
    option: str
    note: str      # of what belongs to the option's file; empty for the file itself
    stock: str
    prefix: str
    place: str     # where it is unless a test says otherwise
    plain: bool


@dataclasses.dataclass
class Output:
    option: str
    argument: str
    place: str     # where it lands
    extension: str  # of a file beside the option's; empty for the file itself


@dataclasses.dataclass
class Command:
    name: str
    inputs: list
    outputs: list


def listed(text, word):
    """'Writes: --report (and .svg beside it), --json' -> [("--report", "and .svg beside it"), ("--json", "")]."""
    line = re.search(rf"^{word}: *(.*)$", text, re.MULTILINE)
    return [(name, note or "") for name, note in re.findall(r"([\w-]+)(?: \(([^)]*)\))?(?:, |$)", line[1])] if line else []


def types_of(text):
    """Option -> the form of its value, for positional ones too."""
    found = {}
    for line in text.splitlines():
        option = re.match(r"^  (?:(?:-\w,)?(--[\w-]+)|(\w+))(?: (\S+))?", line)
        if option and (option[1] or (option[3] or "").startswith("FILE")):
            form = re.sub(r"=[-\d.e+]+$", "", option[3] or "")  # without the value when left out
            found[option[1] or option[2]] = form if re.fullmatch(r"[A-Z].*[^:]|[A-Z]", form) else ""  # not "Excludes:"
    return found


def read_command(name):
    text = must(name, "--help")
    reads, writes, types = listed(text, "Reads"), listed(text, "Writes"), types_of(text.split("\nExamples:")[0])
    reads = [(option, note) for option, note in reads if option not in MAY_BE_FILES]
    declared = {option for option, _ in reads + writes}
    for option, form in types.items():
        names_file = any(word in form for word in ("FILE", "DIRECTORY", "TEXT.", "CODE."))
        if names_file != (option in declared) or not names_file and form not in NOT_FILES:
            raise SystemExit(f"nsk {name} --help: {option} takes '{form}': is it read or written? Make it with cli/file_options.hpp")
    if declared - set(types):
        raise SystemExit(f"nsk {name} --help lists {declared - set(types)}, which are no options")
    inputs = []
    for option, note in reads:
        if (name, option) not in RECIPES and option not in RECIPES:
            raise SystemExit(f"nsk {name} {option}: give a recipe for the file that it reads (RECIPES)")
        stock, prefix = RECIPES.get((name, option)) or RECIPES[option]
        inputs.append(Input(option, "", stock, prefix, stock, False))
        if note:
            if note not in BESIDE:
                raise SystemExit(f"nsk {name} {option} ({note}): give a recipe (BESIDE)")
            inputs.append(Input(option, note, BESIDE[note][0], "", BESIDE[note][0], BESIDE[note][1]))
    outputs = []
    for n, (option, note) in enumerate(writes):
        if types[option] == "DIRECTORY":
            outputs.append(Output(option, "out", f"out/{INSIDE[name, note]}", ""))
            continue
        suffix = pathlib.Path(types[option]).suffix or ".out"
        outputs.append(Output(option, f"result{n}{suffix}", f"result{n}{suffix}", ""))
        beside = re.fullmatch(r"and ((?:\.[\w.]+(?:, | and )?)+) beside it", note)
        if note and not beside:
            raise SystemExit(f"nsk {name} {option} ({note}): what does that write?")
        for extension in re.split(", | and ", beside[1]) if beside else ():
            outputs.append(Output(option, f"result{n}{suffix}", f"result{n}{extension}", extension))
    return Command(name, inputs, outputs)


def read_commands():
    names = re.findall(r"^  ([a-z][\w-]*) ", must("--help").split("Subcommands:")[1].split("Example")[0], re.MULTILINE)
    if len(names) < 10:
        raise SystemExit(f"nsk --help lists {len(names)} commands only")
    return [read_command(name) for name in names]


def onnx_model(location):
    """A convolution whose weights are in a file of that name."""
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 3, 3, 3], data_location=TensorProto.EXTERNAL)
    w.external_data.add(key="location", value=location)
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 3, 8, 8]), ("y", [1, 4, 8, 8]))]
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1] * 4)], "files", values[:1], values[1:], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def make_stock(folder):
    """Name -> content of everything that commands read."""
    (folder / "model.onnx").write_bytes(onnx_model("data.bin"))
    (folder / "data.bin").write_bytes(np.linspace(-1, 1, 108).astype(np.float32).tobytes())
    (folder / "choices.json").write_text('{"conv": {"algorithm": "direct"}}')
    np.save(folder / "x.npy", np.linspace(0, 1, 192).astype(np.float32).reshape(1, 3, 8, 8))
    np.save(folder / "w.npy", np.linspace(1, -1, 108).astype(np.float32).reshape(4, 3, 3, 3))
    must("profile", "-o", folder / "machine.json", "--seconds", "0.02", "--quiet")
    must("quantize", folder / "model.onnx", "-o", folder / "quantised.nsk", "--target", "size", "--quiet", "--calibrate", f"x={folder / 'x.npy'}",
         "--save-calibration", folder / "seen.json", "--save-overrides", folder / "chosen.json")
    must("convert", folder / "model.onnx", "-o", folder / "model.nsk", "--embed-check", "--quiet")
    must("convert", folder / "model.onnx", "-o", folder / "small.nsk", "--small", "--quiet")
    must("json", folder / "model.nsk", "-o", folder / "model.json")
    variant = json.loads((folder / "model.json").read_text())["table"]["variants"][0]
    weights = next(t for t in variant["tensors"] if t.get("packing") == "panels")["name"]
    must("from-json", folder / "model.json", "-o", folder / "named.nsk", "--rename", f"{weights}=W", "--quiet")
    must("json", folder / "named.nsk", "-o", folder / "model.json")
    np.save(folder / "w.npy", np.load(folder / "w.npy").transpose(0, 2, 3, 1).copy())
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "gate"]) + "\n")
    must("tokenizer", folder / "vocab.txt", "-o", folder / "words.nskt", "--quiet")
    return {p.name: p.read_bytes() for p in folder.iterdir()}


class Scene:
    """A folder with the inputs of a command, and its command line. Paths are relative to the folder."""

    def __init__(self, folder, command, stock):
        self.folder, self.command, self.stock = folder, command, stock
        self.spelled = {(i.option, i.note): i.place for i in command.inputs}
        self.given = {o.option: o.argument for o in command.outputs}
        self.places = dict(self.spelled)
        (folder / "side").mkdir()
        (folder / "linked").symlink_to(".")

    def put_inputs(self):
        for i in self.command.inputs:
            place = self.folder / self.places[i.option, i.note]
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(self.content_of(i))

    def content_of(self, i):
        for other in self.command.inputs:  # files name those that belong to them
            if other.option == i.option and other.note and not i.note:
                spelled = self.spelled[other.option, other.note]
                if other.plain:
                    return json.dumps({**json.loads(self.stock[i.stock]), "weights": spelled}).encode()
                return onnx_model(spelled)
        return self.stock[i.stock]

    def arguments(self):
        words = [self.command.name, *EXTRA.get(self.command.name, [])]
        for i in self.command.inputs:
            if not i.note:
                spelled = i.prefix + self.spelled[i.option, ""]
                words += [i.option, spelled] if i.option.startswith("-") else [spelled]
        return words + [word for option, path in self.given.items() for word in (option, path)]

    def run(self, **options):
        options = {"stdout": subprocess.PIPE, "timeout": 600, **options}
        return subprocess.run([TOOL, *self.arguments()], cwd=self.folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)


def snapshot(folder):
    """What is in a folder: names, kinds, permissions, links and content."""
    result = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = pathlib.Path(root) / name
            s = path.lstat()
            content = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(s.st_mode) else ""
            result[str(path.relative_to(folder))] = (oct(s.st_mode), s.st_ino, s.st_nlink if content else 0, s.st_uid, content)
    return result


def difference(before, after):
    return [f"{name} {'changed' if name in before and name in after else 'is new' if name in after else 'is removed'}"
            for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
