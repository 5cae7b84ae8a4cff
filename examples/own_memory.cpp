// SPDX-License-Identifier: MIT
// A network in static storage: no heap, neither while opening nor while running.
//   own_memory MODEL.nsk
// The sizes below fit examples/models/upscaler_x2.onnx converted with --input frame=1x3x90x160; `nsk convert` prints
// the arena's.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <netsuke/netsuke.hpp>

namespace {

constexpr std::size_t k_file_bytes = 1024 * 1024;
constexpr std::size_t k_arena_bytes = 8 * 1024 * 1024;

/// The network's place in the program: put them in the section, the heap or the console memory that you like.
alignas(64) std::byte s_file[k_file_bytes];
alignas(nsk::arena_alignment) std::byte s_arena[k_arena_bytes];

/// Ends the program with a reason.
[[noreturn]] void stop(const char* reason) {
  std::fprintf(stderr, "own_memory: %s\n", reason);
  std::exit(1);
}

}  // namespace

/// Every allocation of C++ in this program ends it: the proof that there is none.
void* operator new(std::size_t) { stop("something allocated"); }
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}

int main(int argc, char** argv) {
  if (argc != 2) stop("usage: own_memory MODEL.nsk");
  std::FILE* stream = std::fopen(argv[1], "rb");
  if (stream == nullptr) stop("cannot open the model");
  const std::size_t bytes = std::fread(s_file, 1, sizeof s_file, stream);
  const bool all = std::feof(stream) != 0;
  std::fclose(stream);
  if (!all) stop("the file is larger than k_file_bytes");

  nsk::model model;
  if (nsk::status s = nsk::open({s_file, bytes}, model); !s) stop(s.message());
  std::printf("file %zu of %zu bytes, arena %zu of %zu bytes\n", bytes, k_file_bytes, model.required_bytes(),
              k_arena_bytes);
  if (model.required_bytes() > k_arena_bytes) stop("the arena is larger than k_arena_bytes");

  static nsk::session<> net(model, {s_arena, model.required_bytes()});
  if (!net.status()) stop(net.status().message());
  nsk::span<float> input;
  nsk::span<const float> output;
  if (nsk::status s = net.input(0, input); !s) stop(s.message());
  if (nsk::status s = net.output(0, output); !s) stop(s.message());
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 256) / 255;
  net.run();
  double sum = 0;
  for (const float y : output) sum += static_cast<double>(y);
  std::printf("ran %d steps, mean of the output %.6f\n", model.variant().step_count(),
              sum / static_cast<double>(output.size()));
}
