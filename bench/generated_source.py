#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny networks: a session against the header of `nsk codegen`, in turns, in one program; RTNeural and onnx2c too where
they are given.

  generated_source.py [--rtneural FOLDER] [--eigen FOLDER] [--onnx2c PROGRAM] [--isa AVX2]

Prints nanoseconds per call, input copy included: the median of 41 turns, each as many calls as fit in a millisecond. RTNeural runs the same
shapes with weights of zero through its templates (ModelT), compiled with its Eigen backend where --eigen is given, else with its plain one. onnx2c's C is compiled with -O3
-ffast-math for the same instruction set; it has no GRU.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import onnx

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "tests" / "models" / folder) for folder in ("support", "commands")]
sys.argv, arguments = sys.argv[:1], sys.argv[1:]
from generated_source import converted, dense, memory  # noqa: E402
from models import must, path_of  # noqa: E402

CASE = """#include "{name}.hpp"
namespace {{
struct session_{name} {{
  static std::byte *file, *memory;
  nsk::model model;
  nsk::session<small_settings> net;
  static nsk::model opened() {{
    nsk::model m;
    std::FILE* const f = std::fopen("{model}", "rb");
    file = static_cast<std::byte*>(std::aligned_alloc(64, 1 << 21));
    memory = static_cast<std::byte*>(std::aligned_alloc(64, 1 << 16));
    static_cast<void>(!nsk::open({{file, std::fread(file, 1, 1 << 21, f)}}, m));
    std::fclose(f);
    return m;
  }}
  session_{name}() : model(opened()), net(model, {{memory, 1 << 16}}) {{}}
  void operator()(const float* x) {{
    std::memcpy(net.input<float>(0).data(), x, net.input<float>(0).size() * sizeof(float));
    net.run();
    sink = net.output<float>(0)[0];
  }}
}};
std::byte *session_{name}::file, *session_{name}::memory;
alignas(64) std::byte memory_{name}[bench_{name}::required_bytes];
struct source_{name} {{
  bench_{name}::net net{{{{memory_{name}, sizeof memory_{name}}}}};
  void operator()(const float* x) {{
    std::memcpy(net.in.{port}.data(), x, net.in.{port}.size() * sizeof(float));
    net.run();
    sink = net.out.{output}[0];
  }}
}};
}}
"""
PROGRAM = """#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <netsuke/all_ops.hpp>
static volatile float sink;
struct small_settings : nsk::default_settings {{
  using ops = nsk::op_list<nsk::op::fully_connected, nsk::op::recurrent, nsk::op::copy, nsk::op::unary, nsk::op::binary>;
}};
{rtneural}
{cases}
static float x[256];
/// In the place of a peer that lacks the network.
struct nothing {{
  void operator()(const float*) {{}}
}};
/// Nanoseconds of one call, over a millisecond of calls.
template <class F>
static double turn(F& f) {{
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  long calls = 0;
  double ns = 0;
  for (; ns < 1e6; ns = std::chrono::duration<double, std::nano>(clock::now() - start).count())
    for (int i = 0; i < 64; ++i, ++calls) f(x);
  return ns / static_cast<double>(calls);
}}
template <class... F>
static void compare(const char* name, F&&... f) {{
  double times[sizeof...(F)][41];
  for (int t = 0; t < 41; ++t) {{
    int i = 0;
    ((times[i++][t] = turn(f)), ...);
  }}
  std::printf("%-12s", name);
  const bool there[] = {{!std::is_same_v<F, nothing>...}};
  int i = 0;
  for (auto& t : times) {{
    std::sort(t, t + 41);
    there[i++] ? std::printf("%10.1f", t[20]) : std::printf("%10s", "-");
  }}
  std::printf("\\n");
}}
int main() {{
  for (int i = 0; i < 256; ++i) x[i] = static_cast<float>(i % 7 - 3) / 8;
  std::printf("%-12s%s\\n", "ns per call", "{columns}");
{calls}}}
"""
RTNEURAL = """#define RTNEURAL_NAMESPACE RTNeural
#include "RTNeural/RTNeural.h"
template <class Model>
struct rtneural {
  Model* model = new Model;
  void operator()(const float* x) {
    alignas(64) float input[64];
    std::memcpy(input, x, sizeof(float) * 8);
    sink = model->forward(input);
  }
};
"""
PEERS = {"dense_8": "rtneural<RTNeural::ModelT<float, 8, 8, RTNeural::DenseT<float, 8, 8>>>{}",
         "gru_16": "rtneural<RTNeural::ModelT<float, 8, 16, RTNeural::GRULayerT<float, 8, 16>>>{}",
         "lstm_16": "rtneural<RTNeural::ModelT<float, 8, 16, RTNeural::LSTMLayerT<float, 8, 16>>>{}"}
# C of onnx2c, whose entry takes the inputs, then the outputs, all as arrays: states first go in, and come out where they went in.
ONNX2C = {"dense_8": ["x", "y"], "lstm_16": ["x", "h", "c", "y", "h", "c"], "policy_mlp": ["x", "y"]}
ONNX2C_CASE = """extern "C" void onnx2c_{name}({types});
struct c_of_{name} {{
  alignas(64) float in[256] = {{}}, y[256] = {{}}, h[256] = {{}}, c[256] = {{}};
  void operator()(const float* x) {{
    std::memcpy(in, x, sizeof(float) * {count});
    onnx2c_{name}({names});
    sink = y[0];
  }}
}};
"""


def compiled_by_onnx2c(program, name, path, folder, flags):
    """Translates a model to C and compiles it. Returns the object's path and the C++ that calls it."""
    source, target = folder / f"onnx2c_{name}.c", folder / f"onnx2c_{name}.o"
    source.write_text(subprocess.run([program, path, "-f", f"onnx2c_{name}"], check=True, capture_output=True, text=True).stdout)
    subprocess.run(["gcc", "-O3", "-ffast-math", *flags, "-c", source, "-o", target], check=True)
    arrays = ONNX2C[name]
    count = onnx.load(path).graph.input[0].type.tensor_type.shape.dim[-1].dim_value
    call = ONNX2C_CASE.format(name=name, types=", ".join("float*" for _ in arrays), count=count, names=", ".join("in" if a == "x" else a for a in arrays))
    return target, call


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rtneural")
    parser.add_argument("--eigen")
    parser.add_argument("--onnx2c")
    parser.add_argument("--isa", default="AVX2")
    o = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        folder, cases, calls, objects = pathlib.Path(folder), "", "", []
        machine = ["-mavx2", "-mfma"]
        gru, gru_states = memory(folder, "GRU", 16, 1)
        lstm, lstm_states = memory(folder, "LSTM", 16, 1)
        found = {"dense_8": (dense(folder, 8, 8, None), [], "x", "y"), "gru_16": (gru, gru_states, "x", "y"), "lstm_16": (lstm, lstm_states, "x", "y"),
                 "policy_mlp": (path_of("policy_mlp"), [], "input", "output")}
        for name, (path, options, port, output) in found.items():
            if path is None:
                continue
            model = converted(path, folder, *options)
            must("codegen", model, "-o", folder / f"{name}.hpp", "--name", f"bench_{name}", "--quiet")
            cases += CASE.format(name=name, model=model, port=port, output=output)
            others = [PEERS[name] if name in PEERS else "nothing()"] if o.rtneural else []
            if o.onnx2c and name in ONNX2C:
                target, call = compiled_by_onnx2c(o.onnx2c, name, path, folder, machine)
                objects, cases, others = [*objects, target], cases + call, [*others, f"c_of_{name}()"]
            elif o.onnx2c:
                others.append("nothing()")
            calls += f'  compare({", ".join([chr(34) + name + chr(34), f"session_{name}()", f"source_{name}()", *others])});\n'
        source = folder / "bench.cpp"
        columns = "".join(f"{c:>10}" for c in ["session", "source"] + (["RTNeural"] if o.rtneural else []) + (["onnx2c"] if o.onnx2c else []))
        source.write_text(PROGRAM.format(rtneural=RTNEURAL if o.rtneural else "", cases=cases, calls=calls, columns=columns))
        flags = ["-std=c++17", "-O2", "-DNDEBUG", *machine, f"-DNSK_ISA_{o.isa}", f"-I{REPOSITORY / 'include'}"]
        flags += [f"-I{o.rtneural}", f"-I{o.rtneural}/modules/json"] if o.rtneural else []
        flags += ["-DRTNEURAL_USE_EIGEN=1", "-DRTNEURAL_DEFAULT_ALIGNMENT=32", f"-I{o.eigen}"] if o.eigen else ["-DRTNEURAL_USE_STL=1", "-DRTNEURAL_DEFAULT_ALIGNMENT=32"]
        subprocess.run(["g++", *flags, source, *objects, "-o", folder / "bench"], check=True)
        subprocess.run([folder / "bench"], check=True)


main()
