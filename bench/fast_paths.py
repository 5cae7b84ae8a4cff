#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each fast path gains: networks that take it, with it and without it, in turns on one core.

  fast_paths.py [--rounds N] [--path NAME ...] [MODEL ...]      default: every path, the networks of tests/models

A path stays where it gains 3 % by geometric mean over the networks that take it, on one instruction set at least (CONTRIBUTING.md). Both
programs of a network have the settings that `nsk inspect` prints, one less the path; they give the same outputs, which is checked. Prints a line for each
network and instruction set: time without the path over time with it, the median of the rounds.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from interleaved import cpu_flags, geometric_mean, require_tool, said
from peers import Refused

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / "support"))
from models import MODELS, REPOSITORY, path_of  # noqa: E402

PROGRAM = """#include "settings.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace {
std::vector<std::byte> read(const char* path) {
  std::vector<std::byte> bytes;
  std::FILE* const f = std::fopen(path, "rb");
  for (int c; (c = std::fgetc(f)) != EOF;) bytes.push_back(static_cast<std::byte>(c));
  std::fclose(f);
  return bytes;
}
struct block {
  explicit block(std::size_t n) : bytes(n), data(static_cast<std::byte*>(std::aligned_alloc(64, (n + 64) / 64 * 64))) {}
  nsk::span<std::byte> span() { return {data, bytes}; }
  std::size_t bytes;
  std::byte* data;
};
}
int main(int, char** argv) {
  const std::vector<std::byte> file = read(argv[1]);
  block stored(file.size());
  std::memcpy(stored.data, file.data(), file.size());
  nsk::model model;
  if (!nsk::open<SETTINGS>({stored.data, file.size()}, model)) return 1;
  block memory(model.required_bytes());
  nsk::session<SETTINGS> net(model, memory.span());
  for (int i = 0; i < model.input_count(); ++i)
    if (model.input(i).type() == nsk::dtype::float32) {
      unsigned state = 1;
      for (float& x : net.input<float>(i)) x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
    }
  using clock = std::chrono::steady_clock;
  const auto run = [&](int times) {
    const auto begin = clock::now();
    for (int i = 0; i < times; ++i) net.run();
    return std::chrono::duration<double>(clock::now() - begin).count();
  };
  const double once = run(1) + run(1);
  const int times = 1 + static_cast<int>(0.1 / once);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) best = std::min(best, run(times) / times);
  std::uint64_t hash = 1469598103934665603ull;
  for (int o = 0; o < model.output_count(); ++o)
    if (model.output(o).type() == nsk::dtype::float32)
      for (const float x : net.output<float>(o)) {
        std::uint32_t bits;
        std::memcpy(&bits, &x, 4);
        hash = (hash ^ bits) * 1099511628211ull;
      }
  std::printf("%.9f %llx\\n", best, static_cast<unsigned long long>(hash));
}
"""


def build(folder, name, settings, isa):
    where = folder / name
    where.mkdir()
    (where / "settings.hpp").write_text(settings)
    (where / "program.cpp").write_text(PROGRAM)
    which = re.search(r"struct (\w+)", settings).group(1)
    subprocess.run(["g++", "-std=c++17", "-O2", "-DNDEBUG", f"-DNSK_ISA_{isa}", f"-DSETTINGS={which}", f"-I{REPOSITORY / 'include'}", "program.cpp", "-o", "program"], cwd=where, check=True)
    return where / "program"


def measured(program, model):
    seconds, bits = subprocess.run([program, model], capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), bits


def compare(folder, model, settings, path, isa, rounds):
    """Time without the path over time with it, the median of the rounds."""
    key = f"{model.stem}_{path}_{isa}"
    rest = re.sub(rf"nsk::fast_path::{path}\b(, )?", "", settings).replace(", >", ">")
    pair = [build(folder, f"{key}_{i}", text, isa) for i, text in enumerate((settings, rest))]
    ratios = []
    for _ in range(rounds):
        (with_it, bits), (without, other) = (measured(program, model) for program in pair)
        if bits != other:
            raise SystemExit(f"{key}: outputs differ with and without the path")
        ratios.append(without / with_it)
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--path", action="append")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    require_tool()
    isas = ["AVX2", *(["AVX512"] if "avx512f" in cpu_flags() else [])]
    gains = {}
    with tempfile.TemporaryDirectory(prefix="nsk_fast_paths_") as folder:
        folder = pathlib.Path(folder)
        for source in [pathlib.Path(m) for m in options.models] or [p for p in map(path_of, MODELS) if p]:
            model = folder / f"{source.stem}.nsk"
            try:
                said("convert", source, "-o", model, "--no-check", "--quiet")
                settings = said("inspect", model, "--settings")
            except Refused:
                continue  # it needs shapes, which a user would give
            for path in re.findall(r"nsk::fast_path::(\w+)", settings):
                for isa in isas if not options.path or path in options.path else ():
                    gains.setdefault((path, isa), []).append(compare(folder, model, settings, path, isa, options.rounds))
                    print(f"{path:20} {isa:8} {source.stem:28} {gains[path, isa][-1]:.3f}", flush=True)
    for (path, isa), ratios in sorted(gains.items()):
        print(f"{path:20} {isa:8} {'geometric mean':28} {geometric_mean(ratios):.3f} of {len(ratios)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
