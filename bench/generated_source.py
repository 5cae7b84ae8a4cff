#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny networks: a session against the header of `nsk codegen`, in turns, in one program; RTNeural too where its folder is given.

  generated_source.py [--rtneural FOLDER] [--eigen FOLDER] [--isa AVX2]

Prints nanoseconds per call, input copy included: the median of 41 turns, each as many calls as fit in a millisecond. RTNeural runs the same
shapes with weights of zero through its templates (ModelT), compiled with its Eigen backend where --eigen is given, else with its plain one.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "models"))
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
alignas(64) std::byte memory_{name}[bench_{name}::arena_bytes];
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
static float x[64];
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
  for (auto& t : times) std::sort(t, t + 41), std::printf(" %9.1f", t[20]);
  std::printf("\\n");
}}
int main() {{
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i % 7 - 3) / 8;
  std::printf("%-12s %9s %9s %9s\\n", "ns per call", "session", "source", "RTNeural");
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rtneural")
    parser.add_argument("--eigen")
    parser.add_argument("--isa", default="AVX2")
    o = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        folder, cases, calls = pathlib.Path(folder), "", ""
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
            peer = f", {PEERS[name]}" if o.rtneural and name in PEERS else ""
            calls += f'  compare("{name}", session_{name}(), source_{name}(){peer});\n'
        source = folder / "bench.cpp"
        source.write_text(PROGRAM.format(rtneural=RTNEURAL if o.rtneural else "", cases=cases, calls=calls))
        flags = ["-std=c++17", "-O2", "-DNDEBUG", "-mavx2", "-mfma", f"-DNSK_ISA_{o.isa}", f"-I{REPOSITORY / 'include'}"]
        flags += [f"-I{o.rtneural}", f"-I{o.rtneural}/modules/json"] if o.rtneural else []
        flags += ["-DRTNEURAL_USE_EIGEN=1", "-DRTNEURAL_DEFAULT_ALIGNMENT=32", f"-I{o.eigen}"] if o.eigen else ["-DRTNEURAL_USE_STL=1", "-DRTNEURAL_DEFAULT_ALIGNMENT=32"]
        subprocess.run(["g++", *flags, source, "-o", folder / "bench"], check=True)
        subprocess.run([folder / "bench"], check=True)


main()
