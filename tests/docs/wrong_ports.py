#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every documented program and example with a model that has other inputs and outputs, with NDEBUG: a message and exit code 1.

  wrong_ports.py pages                    the C++ of README.md and docs/
  wrong_ports.py DIRECTORY-OF-EXAMPLES    the programs of examples/, as they were built

A block that touches inputs or outputs has a driver here, or a reason why it has none; another one fails the test.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("models/support", "guards")]
from common import Tree, compile_file, link  # noqa: E402
from engine_guards import steady_file  # noqa: E402
from models import REPOSITORY, must  # noqa: E402

COMPILER = next(c for c in (os.environ.get("NSK_CLANGXX", "clang++"), os.environ.get("NSK_GXX", "g++")) if shutil.which(c))
TOUCHES_PORTS = re.compile(r"(?<!:)\b(?:input|output|write|read|input_bytes|output_bytes)(?:<[\w:]+>)?\((?!\))")
# (page, number of the block) -> the body of a function that calls it; `m` is the model, `file` its bytes, `memory` its arena.
DRIVERS = {
    ("README.md", 1): "const std::vector<float> seen(12); std::vector<float> scores(4); return said(classify(file, memory, seen, scores));",
    ("docs/guide/agents.md", 1): """nsk::session<nsk::all_settings> net(m, memory); std::vector<float> seen(13 * 3), chosen(2 * 3);
  return decide(net, seen.data(), chosen.data(), 3, 1) ? 0 : 1;""",
    ("docs/guide/batcher.md", 1): """network net(m, memory); const nsk::batcher_options how{2, 2, {}};
  static block space[1024]; nsk::batcher crowd(net.variant(), how, {space[0].bytes, sizeof space});
  if (!crowd) return said(crowd.status());
  const std::vector<float> seen(13); std::vector<float> actions(2);
  if (nsk::status s = think(crowd, 1, seen.data(), seen.size()); !s) return said(s);
  if (nsk::status s = answer(crowd, net); !s) return said(s);
  return act(crowd, 1, actions.data(), actions.size()) ? 0 : 1;""",
    ("docs/guide/embedding.md", 1): "const std::vector<float> pixels(12); return classify(file, memory, pixels) < 0 ? 1 : 0;",
    ("docs/guide/embedding.md", 4): """nsk::session<> net(m, memory); static block in[8], out[8];
  return said(bind(net, {in[0].bytes, m.input(0).bytes() + nsk::over_read}, {out[0].bytes, m.output(0).bytes() + nsk::over_read}));""",
    ("docs/guide/images.md", 1): """nsk::session<> net(m, memory); std::vector<std::uint8_t> frame(4 * 16 * 16); nsk::image_point wrist;
  if (nsk::status s = find_wrist(net, frame.data(), 16, 16, {8, 8, 8, 0}, wrist); !s) return said(s);
  return said(draw(net, {frame.data(), 2, 2, 8, nsk::pixel_format::rgba8}));""",
    ("docs/guide/logs.md", 1): """nsk::session<traced_settings> net(m, memory); one_thread jobs; const std::vector<float> pixels(12);
  static char text[65536]; nsk::span<const char> json; return said(trace_frame(net, jobs, pixels, text, json));""",
}
NOT_RUN = {
    ("docs/reference/gpu.md", 1): "a device and its drivers: tests/gpu runs them",
    ("docs/reference/gpu.md", 3): "a device and its drivers: tests/gpu runs them",
    ("docs/guide/quick_start.md", 1): "a program of its own: run by main() below",
    ("docs/guide/lengths.md", 2): "what a caller asks for its size: models.counted_lengths runs such files",
    ("docs/guide/streaming.md", 1): "a signal in chunks: models.stream runs such files",
}
FRAME = """#include <cstdio>
#include <cstring>
#include <vector>
#include <netsuke/all_ops.hpp>
#include <netsuke/batcher.hpp>
#include <netsuke/image.hpp>
#include <netsuke/log.hpp>
{includes}
struct alignas(64) block {{
  std::byte bytes[64];
}};
struct one_thread {{
  template <class F>
  void parallel_for(int count, F&& f) {{
    for (int i = 0; i < count; ++i) f(i);
  }}
}};
static int said(nsk::status s) {{
  if (!s) std::fprintf(stderr, "%s\\n", s.message());
  return s ? 0 : 1;
}}
{blocks}
int main(int, char** argv) {{
  static block content[4096], arena[65536];
  std::FILE* const from = std::fopen(argv[1], "rb");
  const nsk::span<const std::byte> file(content[0].bytes, std::fread(content, 1, sizeof content, from));
  nsk::model m;
  if (nsk::status s = nsk::open(file, m); !s) return 9;
  const nsk::span<std::byte> memory(arena[0].bytes, m.required_bytes());
  switch (std::atoi(argv[2])) {{
{cases}  }}
  return 8;
}}
"""
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def blocks_of(page):
    return re.findall(r"^```cpp\n(.*?)^```$", (REPOSITORY / page).read_text(), re.MULTILINE | re.DOTALL)


def pages():
    return ["README.md", *(str(p.relative_to(REPOSITORY)) for p in sorted((REPOSITORY / "docs").rglob("*.md")))]


def program():
    """One program that has every block with a driver, each in a namespace of its own."""
    includes, blocks, cases = set(), "", ""
    for number, (key, driver) in enumerate(DRIVERS.items()):
        found = blocks_of(key[0])
        text = found[key[1] - 1] if key[1] <= len(found) else ""
        includes |= set(re.findall(r"^#include .*$", text, re.MULTILINE))
        body = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
        blocks += (f"namespace block_{number} {{\n{body}\nstatic int run([[maybe_unused]] nsk::span<const std::byte> file, [[maybe_unused]] const nsk::model& m, "
                   f"nsk::span<std::byte> memory) {{\n  {driver}\n}}\n}}\n")
        cases += f"    case {number}: return block_{number}::run(file, m, memory);\n"
    return FRAME.format(includes="\n".join(sorted(includes)), blocks=blocks, cases=cases)


def dense(path, given, taken, rows, channels, outputs, kind=TensorProto.FLOAT):
    """A dense layer with ports of these names; of integers it has a cast at both ends."""
    w = numpy_helper.from_array(np.full([channels, outputs], 0.25, np.float32), "w")
    nodes = [helper.make_node("Cast", [given], ["a"], to=TensorProto.FLOAT), helper.make_node("MatMul", ["a", "w"], ["b"]),
             helper.make_node("Cast", ["b"], [taken], to=kind)]
    graph = helper.make_graph(nodes, "dense", [helper.make_tensor_value_info(given, kind, [rows, channels])],
                              [helper.make_tensor_value_info(taken, kind, [rows, outputs])], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def image_network(path, kind=TensorProto.FLOAT):
    """[1, 3, 224, 224] -> [1, 3, 2, 2]."""
    nodes = [helper.make_node("Cast", ["x"], ["a"], to=TensorProto.FLOAT), helper.make_node("AveragePool", ["a"], ["b"], kernel_shape=[112, 112], strides=[112, 112]),
             helper.make_node("Cast", ["b"], ["y"], to=kind)]
    graph = helper.make_graph(nodes, "image", [helper.make_tensor_value_info("x", kind, [1, 3, 224, 224])], [helper.make_tensor_value_info("y", kind, [1, 3, 2, 2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def models(folder):
    """(right, wrong ones) per driver."""
    integers = TensorProto.INT32
    dense(folder / "scores.onnx", "image", "scores", 1, 12, 4)
    dense(folder / "other_input.onnx", "picture", "scores", 1, 12, 4)
    dense(folder / "other_output.onnx", "image", "classes", 1, 12, 4)
    dense(folder / "integers.onnx", "image", "scores", 1, 12, 4, integers)
    dense(folder / "large.onnx", "image", "scores", 1, 13, 4)
    dense(folder / "agent.onnx", "obs_0", "continuous_actions", "n", 13, 2)
    dense(folder / "other_seen.onnx", "seen", "continuous_actions", "n", 13, 2)
    dense(folder / "other_actions.onnx", "obs_0", "actions", "n", 13, 2)
    dense(folder / "wide_agent.onnx", "obs_0", "continuous_actions", "n", 14, 2)
    image_network(folder / "hand.onnx")
    image_network(folder / "hand_integers.onnx", integers)
    for source in folder.glob("*.onnx"):
        batch = ["--batch-max", "4"] if "n" in (d.dim_param for d in onnx.load(source).graph.input[0].type.tensor_type.shape.dim) else []
        must("convert", source, "-o", source.with_suffix(".nsk"), "--no-check", "--quiet", *batch)
    named = ("scores", ["other_input", "other_output", "integers"])
    agent = ("agent", ["other_seen", "other_actions", "wide_agent"])
    numbered = ("scores", ["integers", "large"])
    return [named, agent, agent, numbered, ("scores", []), ("hand", ["hand_integers"]), numbered]


def run_pages(folder):
    for page in pages():
        for number, block in enumerate(blocks_of(page), 1):
            key = (page, number)
            expect(key in DRIVERS or key in NOT_RUN or not TOUCHES_PORTS.search(block), f"{page}, block {number}: touches inputs or outputs and is not run here")
    text = program()
    source = steady_file(Tree(REPOSITORY), "pages.cpp", text)
    flags = ["-std=c++17", "-O0", "-DNDEBUG", "-DNSK_ISA_SCALAR", "-DNSK_KEEP_USER_OPT", "-Wall", "-Wextra"]
    binary = folder / "pages"
    wrong = compile_file(COMPILER, source, f"{binary}.o", Tree(REPOSITORY), flags) or link(COMPILER, [f"{binary}.o"], binary)
    if wrong:
        raise SystemExit(f"{COMPILER} {' '.join(flags)}\n{wrong[:3000]}")
    for number, (key, (right, others)) in enumerate(zip(DRIVERS, models(folder), strict=True)):
        for model in [right, *others]:
            done = subprocess.run([binary, folder / f"{model}.nsk", str(number)], capture_output=True, text=True)
            code = int(model != right)
            expect(done.returncode == code and bool(done.stderr.strip()) == bool(code), f"{key} with {model}: exit code {done.returncode}, says {done.stderr.strip()!r}")
    print(f"{len(DRIVERS)} programs of the pages; not run: {len(NOT_RUN)}")


def run_quick_start(folder):
    from programs import compiled, program_of
    source = steady_file(Tree(REPOSITORY), "quick_start.cpp", program_of("docs/guide/quick_start.md"))
    binary = compiled(folder, source, "-DNDEBUG")
    for model, code in (("scores", 0), ("integers", 1)):
        shutil.copy(folder / f"{model}.nsk", folder / "model.nsk")
        done = subprocess.run([binary], cwd=folder, capture_output=True, text=True)
        expect(done.returncode == code and bool(done.stderr.strip()) == bool(code), f"quick start with {model}: {done.returncode}, {done.stderr!r}")


# Program -> (models that it refuses, what it says of the first, arguments behind the model; "@" is the model again).
FIRST, IMAGE, AGENT = ["moved"], ["moved", "image"], ["other_seen", "other_actions", "wide", "moved"]
TYPE, FACES, YARD = "element type", "should take one RGB image", "not the policy of the yard"
EXAMPLES = {**{name: (FIRST, TYPE, []) for name in ("hello", "frame_budget", "own_memory", "choose_isa", "job_pool", "job_tbb", "job_fibers", "job_graph")},
            "built_network": (IMAGE, "does not list the step's operator", []), "hot_reload": (FIRST, TYPE, ["0"]), "agents": (AGENT, YARD, []), "crowd": (AGENT, YARD, []), "upscale": (IMAGE, "not one RGB image in", ["photo.png"]),
            "voice_activity": (FIRST, "not Silero VAD", ["sound.wav"]), "detect_faces": (IMAGE, FACES, ["photo.png"]), "face_mesh": (IMAGE, FACES, ["@", "photo.png"]),
            "hands": (IMAGE, FACES, ["@", "photo.png"]), "body": (IMAGE, FACES, ["@", "photo.png"]), "selfie": (IMAGE, FACES, ["photo.png"])}
EXAMPLES_NOT_RUN = {"avatar": "clips of several images", "pose_tracking": "clips of several images", "compare_formats": "the detector of detect_faces",
                    "gpu_faces": "a device", "gpu_upscale": "a device and a window"}


def example_models(folder):
    """An image network, agents whose names or sizes are others, and integers that are only moved, which every settings type can do."""
    ports = [helper.make_tensor_value_info(name, TensorProto.INT32, shape) for name, shape in (("x", [1, 3, 4]), ("y", [1, 4, 3]))]
    graph = helper.make_graph([helper.make_node("Transpose", ["x"], ["y"], perm=[0, 2, 1])], "moved", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(folder / "moved.onnx"))
    image_network(folder / "image.onnx")
    dense(folder / "other_seen.onnx", "seen", "deterministic_continuous_actions", "n", 13, 2)
    dense(folder / "other_actions.onnx", "obs_0", "actions", "n", 13, 2)
    dense(folder / "wide.onnx", "obs_0", "deterministic_continuous_actions", "n", 14, 2)
    for name in {name for models, *_ in EXAMPLES.values() for name in models}:
        batch = [] if name in IMAGE else ["--batch-max", "256"]
        must("convert", folder / f"{name}.onnx", "-o", folder / f"{name}.nsk", "--no-check", "--quiet", *batch)


def run_examples(folder, built):
    example_models(folder)
    Image.fromarray(np.zeros([16, 16, 3], np.uint8)).save(folder / "photo.png")
    ran = 0
    for name in sorted(p.name for p in built.iterdir() if p.is_file() and os.access(p, os.X_OK)):
        if name in EXAMPLES_NOT_RUN:
            continue
        expect(name in EXAMPLES, f"{name}: neither run here nor listed with a reason")
        models, words, behind = EXAMPLES.get(name, ([], "", []))
        for model in models:
            arguments = [f"{model}.nsk" if a == "@" else a for a in behind]
            done = subprocess.run([built / name, f"{model}.nsk", *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
            good = done.returncode == 1 and done.stderr.strip() and (words in done.stderr or model != models[0])
            expect(good, f"{name} with {model}: exit code {done.returncode}, says {done.stderr.strip()[:200]!r}")
        ran += 1
    expect(ran > 10, f"{built} has {ran} examples")
    print(f"{ran} examples; not run: {', '.join(f'{k} ({v})' for k, v in EXAMPLES_NOT_RUN.items())}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_wrong_ports_") as folder:
        folder = pathlib.Path(folder)
        if sys.argv[1] == "pages":
            run_pages(folder)
            run_quick_start(folder)
        else:
            run_examples(folder, pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(failures + [f"other inputs and outputs: {len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
