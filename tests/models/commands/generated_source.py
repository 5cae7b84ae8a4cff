#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Headers of `nsk codegen`: they compile without a warning, and compute the bits of the .nsk file on every instruction set.

  generated_source.py MODEL [STEPS]      a model of models.py: bits, and what its object holds
  generated_source.py agents             every agent of the shared models, instruction sets by turns
  generated_source.py tiny               networks of a few numbers: shapes of dense layers, functions, gru and lstm with states, arithmetic of every kind
  generated_source.py edits              a removed line changes the result; wrong memory, wrong weights and wrong options are refused

Programs are built with g++ and clang by turns; expected outputs are those of `nsk run`, whose numbers other tests compare with ONNX Runtime.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, SAID_SKIPPED, SHARED, file_name, must, nsk, path_of  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "tests" / "guards"))
from common import STRICT, compilers, has_avx512  # noqa: E402

TYPES = {"float": np.float32, "std::int8_t": np.int8, "std::uint8_t": np.uint8, "std::int16_t": np.int16, "std::int32_t": np.int32,
         "std::int64_t": np.int64, "bool": np.bool_}
PROGRAM = """#include <cstdio>
#include <cstdlib>
#include "{header}"

static std::byte* read_file(const char* path, std::size_t& bytes) {{
  std::FILE* const file = std::fopen(path, "rb");
  if (!file) return nullptr;
  std::fseek(file, 0, SEEK_END);
  bytes = static_cast<std::size_t>(std::ftell(file));
  std::rewind(file);
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  const bool all = std::fread(data, 1, bytes, file) == bytes;
  std::fclose(file);
  return all ? data : nullptr;
}}
int main(int argc, char** argv) {{
  std::size_t input_bytes = 0, weight_bytes = 0;
  const std::byte* from = read_file(argv[1], input_bytes);
  const std::byte* const weights = argc > 3 ? read_file(argv[3], weight_bytes) : nullptr;
  static_cast<void>(weights);
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, ({name}::required_bytes + 63) / 64 * 64));
  {name}::net net({{memory, {name}::required_bytes}}{weights});
  if (!net.status()) return std::puts(net.status().name()), 4;
  std::FILE* const to = std::fopen(argv[2], "wb");
  for (int step = 0; step < {steps}; ++step) {{
{reads}    net.run();
{writes}  }}
  std::fclose(to);
  return net.flags() == 0 ? 0 : 5;
}}
"""


def ports(header, group):
    """(identifier, numpy type, shape) of the ports of one group, in order."""
    body = re.search(rf"  struct {group} {{\n(.*?)  }};", header, re.DOTALL)
    found = re.findall(r"port<(?:const )?([\w:]+)((?:, \d+)*)> (\w+);", body.group(1)) if body else []
    return [(name, TYPES[kind], [int(n) for n in lengths.split(",")[1:]]) for kind, lengths, name in found]


def sets():
    return ["AVX2", "SCALAR"] + (["AVX512"] if has_avx512() else [])


def build(folder, header, compiler, isa, steps, name="tested", flags=()):
    """The path of a program that runs the header."""
    text = header.read_text()
    with_file = "weights_file" in text
    reads = "".join(f"    std::memcpy(net.in.{n}.data(), from, sizeof net.in.{n}[0] * net.in.{n}.size());\n    from += sizeof net.in.{n}[0] * net.in.{n}.size();\n"
                    for n, _, _ in ports(text, "inputs"))
    writes = "".join(f"    std::fwrite(net.out.{n}.data(), sizeof net.out.{n}[0], net.out.{n}.size(), to);\n" for n, _, _ in ports(text, "outputs"))
    source = folder / f"{header.stem}_{isa}_{pathlib.Path(compiler).name}.cpp"
    source.write_text(PROGRAM.format(header=header.name, name=name, steps=steps, reads=reads, writes=writes,
                                     weights=", {weights, weight_bytes}" if with_file else ""))
    program = source.with_suffix("")
    # Relative names, so that the cache of compilers knows the text again in another folder.
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    compiled = [*launcher, compiler, *STRICT, "-O2", f"-DNSK_ISA_{isa}", *flags, f"-I{REPOSITORY / 'include'}", "-c", source.name, "-o", f"{program.name}.o"]
    for command in (compiled, [compiler, f"{program.name}.o", "-o", program.name]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{compiler} {isa} {header.name}: {done.stderr[:2000]}")
    return program


def inputs_of(header, steps, seed=5):
    """Per input an array with an axis of steps in front."""
    generator = np.random.default_rng(seed)
    return {n: (generator.uniform(-1, 1, [steps, *shape]).astype(kind) if kind == np.float32 else np.ones([steps, *shape], kind))
            for n, kind, shape in ports(header.read_text(), "inputs")}


def run_program(program, folder, arrays, header):
    steps = len(next(iter(arrays.values()))) if arrays else 1
    (folder / "inputs.bin").write_bytes(b"".join(a[i].tobytes() for i in range(steps) for a in arrays.values()))
    weights = header.with_suffix(".weights")
    done = subprocess.run([program, folder / "inputs.bin", folder / "outputs.bin", *([weights] if weights.exists() else [])], capture_output=True, text=True)
    return done, (folder / "outputs.bin").read_bytes() if done.returncode == 0 else b""


def expected(model, folder, arrays, header, isa):
    """What `nsk run` gives, in the order in which the program writes."""
    given = json.loads(must("inspect", model, "--json"))["variants"][0]
    options = []
    steps = len(next(iter(arrays.values()))) if arrays else 1
    for port, array in zip(given["inputs"], arrays.values()):
        np.save(folder / f"{len(options)}.npy", array if steps > 1 else array[0])
        options += ["--input", f"{port['name']}={folder / f'{len(options)}.npy'}"]
    must("run", model, *options, "--nhwc", "--output-dir", folder / "out", "--isa", isa.lower(), "--quiet", *(["--steps", str(steps)] if steps > 1 else []))
    outputs = [np.load(folder / "out" / file_name(p["name"])) for p in given["outputs"]]
    if steps == 1:
        return b"".join(o.tobytes() for o in outputs)
    return b"".join(o[i].tobytes() for i in range(steps) for o in outputs)


def same_bits(model, folder, steps=2, options=(), every=True, chosen=None):
    """Writes the header of a model and compares its program with `nsk run`, on the `chosen` instruction sets or on all;
    returns the header."""
    chosen = chosen or sets()
    header = folder / f"{pathlib.Path(model).stem}.hpp"
    must("codegen", model, "-o", header, "--name", "tested", "--quiet", *options)
    arrays = inputs_of(header, steps)
    for isa in chosen:
        for compiler in compilers() if every else [compilers()[sets().index(isa) % len(compilers())]]:
            done, outputs = run_program(build(folder, header, compiler, isa, steps), folder, arrays, header)
            if done.returncode:
                raise SystemExit(f"{model} {compiler} {isa}: exit code {done.returncode} {done.stdout}{done.stderr}")
            if outputs != expected(model, folder, arrays, header, isa):
                raise SystemExit(f"{model} {compiler} {isa}: other bits than nsk run")
    print(f"same bits: {pathlib.Path(model).stem}, {steps} runs, {', '.join(chosen).lower()}")
    return header


def look_at_object(header, folder, maximum=None):
    """No FlatBuffers and no step table in what a header becomes; with `maximum`, its code and constants are so many bytes at most."""
    source = folder / "object.cpp"
    source.write_text(f'#include "{header}"\nvoid run(tested::net& net);\nvoid run(tested::net& net) {{ net.run(); }}\n')
    subprocess.run([compilers()[0], *STRICT, "-Os" if maximum else "-O2", "-ffunction-sections", f"-I{REPOSITORY / 'include'}", "-c", source, "-o",
                    folder / "object.o"], check=True)
    names = subprocess.run(["nm", "-C", folder / "object.o"], check=True, capture_output=True, text=True).stdout
    for word in ("flatbuffers", "step_view", "variant_view", "bound_step", "op_traits", "format::"):
        if word in names:
            raise SystemExit(f"{header.name}: its object has {word}: {[n for n in names.splitlines() if word in n][:3]}")
    text, data = map(int, subprocess.run(["size", folder / "object.o"], check=True, capture_output=True, text=True).stdout.splitlines()[1].split()[:2])
    if maximum and text + data > maximum:
        raise SystemExit(f"{header.name}: {text + data} bytes of program, more than {maximum}")
    print(f"object of {header.stem}: {text + data} bytes, no FlatBuffers, no step table")


def converted(path, folder, *options):
    model = folder / f"{pathlib.Path(path).stem.replace(' ', '_')}.nsk"
    must("convert", path, "-o", model, *options, "--no-check", "--quiet")
    return model


def whole_model(name, steps, folder):
    path = path_of(name)
    if path is None:
        return
    header = same_bits(converted(path, folder), folder, steps, ["--weights", "file"], every=False)
    look_at_object(header, folder, 80 * 1024 if name == "face_front" else None)


def agents(folder):
    found = sorted((SHARED / "agents").glob("*.onnx"))
    if not found:
        print(f"{SAID_SKIPPED} there are no agents in {SHARED}")
    for i, path in enumerate(found):
        same_bits(converted(path, folder), folder, 3, every=False, chosen=[sets()[i % len(sets())]])


def save(folder, name, nodes, inputs, outputs, constants):
    """A model of float tensors; returns its path."""
    values = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ports.items()] for ports in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *values, [numpy_helper.from_array(v.astype(np.float32), n) for n, v in constants.items()])
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def dense(folder, depth, channels, function):
    g = np.random.default_rng(depth * 1000 + channels)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["s" if function else "y"])] + ([helper.make_node(function, ["s"], ["y"])] if function else [])
    constants = {"w": g.standard_normal([depth, channels]) / depth ** 0.5, "b": g.standard_normal([channels])}
    return save(folder, f"dense_{depth}_{channels}_{function}", nodes, {"x": [1, depth]}, {"y": [1, channels]}, constants)


def memory(folder, kind, hidden, time_steps, after=1):
    """A recurrent layer of one row whose state is kept between runs."""
    g = np.random.default_rng(hidden)
    gates = {"GRU": 3, "LSTM": 4}[kind]
    constants = {"w": g.standard_normal([1, gates * hidden, 8]) / 3, "r": g.standard_normal([1, gates * hidden, hidden]) / hidden ** 0.5,
                 "b": g.standard_normal([1, 2 * gates * hidden])}
    states = ["h", "c"][:gates - 2]
    options = {"linear_before_reset": after} if kind == "GRU" else {}
    node = helper.make_node(kind, ["x", "w", "r", "b", "", *states], ["y", *(f"{s}_next" for s in states)], hidden_size=hidden, **options)
    shape = {s: [1, 1, hidden] for s in states}
    path = save(folder, f"{kind.lower()}_{hidden}_{time_steps}_{after}", [node], {"x": [time_steps, 1, 8], **shape},
                {"y": [time_steps, 1, 1, hidden], **{f"{s}_next": shape[s] for s in states}}, constants)
    return path, [o for s in states for o in ("--state", f"{s}={s}_next")]


def tiny(folder):
    for depth, channels, function in ((8, 8, "Tanh"), (3, 5, None), (17, 16, "Relu"), (40, 24, "Sigmoid"), (16, 40, "LeakyRelu"), (7, 130, "Elu"),
                                      (300, 3, "HardSwish"), (2, 1, "Softplus")):
        same_bits(converted(dense(folder, depth, channels, function), folder), folder, 2, every=False)
    for kind, hidden, time_steps, after in (("GRU", 16, 1, 0), ("GRU", 13, 3, 1), ("LSTM", 12, 2, 1), ("LSTM", 32, 1, 1)):
        path, options = memory(folder, kind, hidden, time_steps, after)
        header = same_bits(converted(path, folder, *options), folder, 4)
        if "std::memset" not in header.read_text():
            raise SystemExit(f"{header.name}: reset() sets no state")
    constant = np.linspace(-2, 2, 20).reshape(4, 5)
    nodes = [helper.make_node("Pow", ["x", "two"], ["a"]), helper.make_node("Max", ["a", "k"], ["b"]), helper.make_node("Transpose", ["b"], ["c"]),
             helper.make_node("Softmax", ["c"], ["y"], axis=0), helper.make_node("ArgMax", ["c"], ["i"], axis=1),
             helper.make_node("Cast", ["i"], ["z"], to=TensorProto.FLOAT), helper.make_node("ReduceMean", ["c"], ["m"], axes=[1])]
    same_bits(converted(save(folder, "operators", nodes, {"x": [4, 5]}, {"y": [5, 4], "z": [5, 1], "m": [5, 1]}, {"two": np.array(2.0), "k": constant}),
                        folder), folder, 2)
    every_kind(folder)


def every_kind(folder):
    """Binary steps of every kind that the schema has; ONNX has no name for some, so that they are put into the table."""
    kinds = re.findall(r"(\w+) = \d+", re.search(r"enum BinaryKind : ubyte {(.*?)\n}", (REPOSITORY / "schema/netsuke.fbs").read_text(), re.DOTALL).group(1))
    count = len(kinds) + 1
    nodes = [helper.make_node("Pow", [f"x{i}", f"x{i + 1}"], [f"y{i}"]) for i in range(count - 1)]
    path = save(folder, "kinds", nodes, {f"x{i}": [1, 21] for i in range(count)}, {f"y{i}": [1, 21] for i in range(count - 1)}, {})
    table = folder / "kinds.json"
    must("json", converted(path, folder), "-o", table)
    left = iter(kinds)
    table.write_text(re.sub(r'"kind": "pow"', lambda _: f'"kind": "{next(left)}"', table.read_text()))
    must("from-json", table, "-o", folder / "kinds.nsk", "--quiet")
    header = same_bits(folder / "kinds.nsk", folder, 1).read_text()
    missing = [kind for kind in kinds if f"combine<nsk::binary_kind::{kind}," not in header]
    if missing or len(kinds) < 11:
        raise SystemExit(f"kinds without a small form: {missing} of {kinds}")


def refused(wanted, *arguments):
    done = nsk(*arguments)
    if done.returncode == 0 or wanted not in done.stderr:
        raise SystemExit(f"nsk {' '.join(map(str, arguments))}: {done.returncode} {done.stderr}, wanted: {wanted}")


def edits(folder):
    """What a person changes in the header changes the program."""
    model = converted(dense(folder, 8, 8, "Tanh"), folder)
    path = save(folder, "chain", [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["y"])], {"x": [1, 8]},
                {"y": [1, 8]}, {"w": np.eye(8) * 3})
    chain = same_bits(converted(path, folder), folder, 1, every=False)
    arrays = inputs_of(chain, 1)
    three = np.float32(3)
    x = next(iter(arrays.values()))[0]
    text = chain.read_text()
    calls = [line for line in text.splitlines() if line.startswith("    nsk::codegen::dense<")]
    for removed, wanted in ((None, three * (three * x)), (calls[0], None)):
        edited = folder / "edited.hpp"
        edited.write_text(text if removed is None else text.replace(removed + "\n", "", 1))
        _, outputs = run_program(build(folder, edited, compilers()[0], "AVX2", 1), folder, arrays, edited)
        got = np.frombuffer(outputs, np.float32)
        if (wanted is not None and not np.array_equal(got, wanted.ravel())) or (wanted is None and np.array_equal(got, (three * (three * x)).ravel())):
            raise SystemExit(f"the edited chain gives {got}, without {removed}")
    clipped = folder / "clipped.hpp"
    clipped.write_text(re.sub(r"dense<8, 8>\((.*)\);", r"dense<8, 8, nsk::function::clip>(\1, 0.0f, 1.0f);", text))
    _, outputs = run_program(build(folder, clipped, compilers()[0], "AVX2", 1), folder, arrays, clipped)
    if not np.array_equal(np.frombuffer(outputs, np.float32), np.clip(three * np.clip(three * x, 0, 1), 0, 1).ravel()):
        raise SystemExit("a clip in two lines of the header does not clip")
    small = folder / "small_arena.hpp"
    small.write_text(re.sub(r"required_bytes = \d+", "required_bytes = 64", text))
    done = subprocess.run([compilers()[0], "-std=c++17", f"-I{REPOSITORY / 'include'}", "-fsyntax-only", small], capture_output=True, text=True)
    if "a tensor is outside the arena" not in done.stderr:
        raise SystemExit(f"an arena that is too small compiles: {done.stderr[:500]}")
    wrong_weights(model, folder)
    refused("is no name for a namespace", "codegen", model, "-o", folder / "n.hpp", "--name", "8 bit")
    refused("--weights is embed or file", "codegen", model, "-o", folder / "n.hpp", "--weights", "both")
    refused("the model has 'default'", "codegen", model, "-o", folder / "n.hpp", "--variant", "none")
    if (folder / "n.hpp").exists():
        raise SystemExit("a refused command left a file")
    print("edits and refusals as expected")


def wrong_weights(model, folder):
    """A file of weights that belongs to another header, or is short, is refused by status()."""
    header = folder / "own.hpp"
    must("codegen", model, "-o", header, "--name", "tested", "--weights", "file", "--quiet")
    program, arrays = build(folder, header, compilers()[0], "AVX2", 1), inputs_of(header, 1)
    weights = header.with_suffix(".weights")
    good = weights.read_bytes()
    for what, content in (("good", good), ("short", good[:-4]), ("other tag", good[:16] + bytes([good[16] ^ 1]) + good[17:]), ("empty", b"")):
        weights.write_bytes(content)
        done, _ = run_program(program, folder, arrays, header)
        if (done.returncode == 0) != (what == "good") or (what != "good" and done.stdout.strip() != "wrong_weights_file"):
            raise SystemExit(f"{what} weights: exit code {done.returncode}, {done.stdout}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_generated_") as name:
        folder = pathlib.Path(name)
        special = {"agents": agents, "tiny": tiny, "edits": edits}
        if sys.argv[1] in special:
            special[sys.argv[1]](folder)
        else:
            whole_model(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, folder)


if __name__ == "__main__":
    main()
