#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Settings types that `nsk inspect --settings` prints, for several models in one program: linked in both orders, every model runs."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, must, nsk  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "tests" / "guards"))
from common import Tree, compile_file  # noqa: E402
from engine_guards import steady_file  # noqa: E402

COMPILER = os.environ.get("NSK_GXX", "g++")
# What each file becomes: a type's name must be an identifier that is not reserved.
NAMES = {"face": "face_settings", "voice v2.1": "voice_v2_1_settings", "3d-ball": "model_3d_ball_settings", "_Hidden__": "Hidden_settings",
         "größe": "gr_e_settings", "my_settings": "my_settings"}
PROGRAM = """#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "{header}"

int run_{number}(const char* path) {{
  constexpr std::size_t most = std::size_t{{1}} << 20;
  static auto* const bytes = static_cast<std::byte*>(std::aligned_alloc(64, most));
  static auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, most));
  std::FILE* const file = std::fopen(path, "rb");
  if (!file) return 1;
  nsk::model m;
  if (const nsk::status s = nsk::open({{bytes, std::fread(bytes, 1, most, file)}}, m); !s) return std::fprintf(stderr, "%s\\n", s.message()), 1;
  nsk::session<{type}> net(m, {{memory, most}});
  if (!net) return std::fprintf(stderr, "%s: %s\\n", path, net.status().message()), 1;
  std::memset(net.input_bytes(0).data(), 0, net.input_bytes(0).size());
  net.run();
  return 0;
}}
"""
MAIN = """int run_0(const char*);
int run_1(const char*);
int main(int, char** argv) { return run_0(argv[1]) + 2 * run_1(argv[2]); }
"""


def make(path, operator):
    """One node of one operator; graphs of one name, as torch exports them."""
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "torch_jit", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path.with_suffix(".onnx")))
    must("convert", path.with_suffix(".onnx"), "-o", path, "--quiet")
    return path


def printed(model, *options):
    text = must("inspect", model, "--settings", *options)
    return text, re.search(r"struct (\w+) ", text).group(1)


def names(folder):
    wrong = []
    for stem, wanted in NAMES.items():
        model = folder / f"{stem}.nsk"
        model.write_bytes((folder / "first.nsk").read_bytes())
        found = printed(model)[1]
        if found != wanted:
            wrong.append(f"{stem}.nsk: the type is called {found} instead of {wanted}")
    found = printed(folder / "first.nsk", "--name", "Enemy AI")[1]
    if found != "Enemy_AI_settings":
        wrong.append(f"--name 'Enemy AI': {found}")
    alone = nsk("inspect", folder / "first.nsk", "--name", "x")
    if alone.returncode != 1 or "--settings" not in alone.stderr:
        wrong.append(f"--name without --settings: {alone.stderr}")
    return wrong


def compiled(folder, name, text):
    source, output = steady_file(Tree(REPOSITORY), f"settings_{name}.cpp", text), folder / f"{name}.o"
    # Unoptimised, so that nothing is inlined and the linker has to choose.
    said = compile_file(COMPILER, source, output, Tree(REPOSITORY),
                        ["-std=c++17", "-O0", "-DNSK_ISA_SCALAR", "-DNSK_KEEP_USER_OPT", "-Wall", "-Wextra", "-Werror"])
    if said:
        raise SystemExit(f"{COMPILER} {source}\n{said[:2000]}")
    return output


def linked(folder, objects, models, order):
    program = folder / "both"
    subprocess.run([COMPILER, *[objects[i] for i in order], "-o", program], check=True)
    done = subprocess.run([program, *models], capture_output=True, text=True)
    return f"linked {order}: exit code {done.returncode}: {done.stderr.strip()}" if done.returncode else ""


def both_in_one_program(folder):
    models = [make(folder / "first.nsk", "Softmax"), make(folder / "second.nsk", "ReduceMean")]
    objects, lists = [], []
    for number, model in enumerate(models):
        text, name = printed(model)
        lists.append(re.findall(r"reduce_kind::(\w+)", text))
        header = steady_file(Tree(REPOSITORY), f"settings_{model.stem}.hpp", text)
        objects.append(compiled(folder, f"part{number}", f'#include "{header.name}"\n' + PROGRAM.format(header=header.name, number=number, type=name)))
    objects.append(compiled(folder, "main", MAIN))
    wrong = [] if lists == [[], ["mean"]] else [f"reductions that are printed: {lists}"]
    return wrong + [said for order in ((0, 1, 2), (1, 0, 2)) if (said := linked(folder, objects, models, order))]


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_settings_") as folder:
        folder = pathlib.Path(folder)
        wrong = both_in_one_program(folder) + names(folder)
    print("\n".join(wrong + [f"printed settings: {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
