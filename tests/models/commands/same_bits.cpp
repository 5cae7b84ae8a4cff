// SPDX-License-Identifier: MIT
// Runs models in every way that must give the same bits and prints a hash of all outputs for each:
//   same_bits [--plain] MODEL.nsk...      ->  "<file name> <way> <hash>" per line
// --plain runs once and prints one line: enough to compare builds. Built once per compiler, optimisation level and
// instruction set. Also prints "<file name> heap <calls>" and "<file name> stack <bytes>" from open to the end of the
// second run, "<file name> arena exact" when one byte less is refused, and "<file name> environment kept|changed".
#include "../../resources.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netsuke/all_ops.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

struct block {
  std::byte* data;
  std::size_t size;
  explicit block(std::size_t n) : data(static_cast<std::byte*>(std::aligned_alloc(64, (n + 127) / 64 * 64))), size(n) {}
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  ~block() { std::free(data); }
};

std::vector<char> read(const char* path) {
  std::vector<char> bytes;
  if (std::FILE* file = std::fopen(path, "rb")) {
    char chunk[65536];
    for (std::size_t n; (n = std::fread(chunk, 1, sizeof chunk, file)) > 0;)
      bytes.insert(bytes.end(), chunk, chunk + n);
    std::fclose(file);
  }
  return bytes;
}

#if !defined(NSK_SETTINGS)  // or what a header names that is included on the command line
#define NSK_SETTINGS nsk::all_settings
#endif
using session = nsk::session<NSK_SETTINGS>;

void fill_inputs(session& net) {
  std::mt19937 generator(7);
  for (int i = 0; i < net.input_count(); ++i) {
    const nsk::span<std::byte> bytes = net.input_bytes(i);
    std::memset(bytes.data(), 0, bytes.size());
    switch (net.input_info(i).type()) {
      case nsk::dtype::float32:
        for (float& x : net.input<float>(i))
          x = static_cast<float>(static_cast<int>(generator() >> 8) - (1 << 23)) / 8388608.0f;
        break;
      case nsk::dtype::int32:  // some are outside where they are indices, and divisors are 0: that has its bits too
        for (std::int32_t& x : net.input<std::int32_t>(i)) x = static_cast<std::int32_t>(generator() % 9) - 4;
        break;
      case nsk::dtype::int64:
        for (std::int64_t& x : net.input<std::int64_t>(i)) x = static_cast<std::int64_t>(generator() % 9) - 4;
        break;
      case nsk::dtype::boolean:
        for (std::byte& x : bytes) x = static_cast<std::byte>(generator() % 2);
        break;
      default: break;
    }
  }
}

unsigned long long hash_outputs(const session& net) {
  unsigned long long hash = 1469598103934665603u;
  const auto add = [&hash](std::byte b) { hash = (hash ^ static_cast<unsigned long long>(b)) * 1099511628211u; };
  for (int i = 0; i < net.output_count(); ++i) {
    const nsk::span<const std::byte> bytes = net.output_bytes(i);
    if (net.output_info(i).type() != nsk::dtype::float32) {
      for (const std::byte b : bytes) add(b);
      continue;
    }
    for (float x : net.output<float>(i)) {
      if (x != x) x = 0;  // the payload of what is no number is not promised; that it is none is hashed below
      std::byte element[sizeof x];
      std::memcpy(element, &x, sizeof x);
      for (const std::byte b : element) add(b);
    }
    for (const float x : net.output<float>(i)) add(x != x ? std::byte{1} : std::byte{0});
  }
  return hash;
}

/// Calls lanes on threads, or one after the other in a shuffled order.
struct jobs {
  bool threads;
  std::mt19937 order{3};
  template <class F>
  void parallel_for(int count, F&& f) {
    if (threads) {
      std::vector<std::thread> workers;
      for (int i = 1; i < count; ++i) workers.emplace_back([&f, i] { f(i); });
      f(0);
      for (std::thread& worker : workers) worker.join();
      return;
    }
    std::vector<int> lanes;
    for (int i = 0; i < count; ++i) lanes.insert(lanes.begin() + static_cast<long>(order() % (lanes.size() + 1)), i);
    for (const int i : lanes) f(i);
  }
};

void report(const std::string& name, const char* way, const session& net) {
  std::printf("%s %s %016llx\n", name.c_str(), way, hash_outputs(net));
}

void run_tiles_backwards(session& net) {
  net.restart();
  for (int step = 0; step < net.step_count(); ++step)
    for (int tile = net.tile_count(step); tile-- > 0;) net.run_tile(step, tile, tile % net.lanes());
  net.finish();
}

#if defined(__SSE__)
// MXCSR: flush to zero, denormals are zero, round up; what is no sticky flag.
constexpr unsigned long hostile_mode = 0x8040 | 0x4000 | 0x1f80, mode_bits = 0xffc0;
unsigned long float_mode() { return _mm_getcsr(); }
void set_float_mode(unsigned long mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
// FPCR: flush to zero, default NaN, round up.
constexpr unsigned long hostile_mode = 1ul << 24 | 1ul << 25 | 1ul << 22, mode_bits = ~0ul;
unsigned long float_mode() {
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void set_float_mode(unsigned long mode) { __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory"); }
#endif
#if defined(__SSE__) || defined(__aarch64__)
void run_in_hostile_mode(const std::string& name, session& net) {
  const unsigned long before = float_mode();
  set_float_mode(hostile_mode);
  const unsigned long mode = float_mode();
  net.run();
  const unsigned long after = float_mode();
  set_float_mode(before);
  report(name, "flush-to-zero", net);
  std::printf("%s environment %s\n", name.c_str(), (after & mode_bits) == (mode & mode_bits) ? "kept" : "changed");
}
#endif

/// A model's bytes, its memory, and what became of them on the thread that used them.
struct use {
  const block& file;
  block& memory;
  long heap_calls = 0;
};
/// From open to the end of the second run.
void* open_and_run(void* argument) {
  use& u = *static_cast<use*>(argument);
  const long before = test::heap_calls;
  nsk::model m;
  if (!nsk::open({u.file.data, u.file.size}, m)) return nullptr;
  session net(m, {u.memory.data, u.memory.size});
  fill_inputs(net);
  net.run();
  net.run();
  u.heap_calls = test::heap_calls - before;
  return nullptr;
}

bool run_model(const char* path, bool plain) {
  const std::string name = std::string(path).substr(std::string(path).find_last_of('/') + 1);
  const std::vector<char> bytes = read(path);
  block file(bytes.size());
  std::memcpy(file.data, bytes.data(), bytes.size());
  constexpr int max_lanes = 7;
  nsk::model m;
  if (const nsk::status s = nsk::open({file.data, file.size}, m); !s) {
    std::printf("%s refused %s\n", name.c_str(), s.name());
    return false;
  }
  block memory(m.required_bytes(max_lanes));
  use u{file, memory};
  const std::size_t stack = test::own_stack_of(open_and_run, &u);
  std::printf("%s heap %ld\n%s stack %zu\n", name.c_str(), u.heap_calls, name.c_str(), stack);
  const session tight(m, {memory.data, m.required_bytes(1)}), short_of_one(m, {memory.data, m.required_bytes(1) - 1});
  std::printf("%s arena %s\n", name.c_str(), tight && !short_of_one ? "exact" : "inexact");
  session net(m, {memory.data, memory.size});
  if (!net) return false;
  fill_inputs(net);
  net.run();
  report(name, "run", net);
  if (plain) return true;
  net.run(jobs{true}, 2);
  report(name, "lanes-2", net);
  net.run(jobs{true}, 7);
  report(name, "lanes-7", net);
  net.run(jobs{false}, 7);
  report(name, "shuffled", net);
  run_tiles_backwards(net);
  report(name, "backwards", net);
  while (!net.run_for(nsk::work{1})) {
  }
  report(name, "one-tile-budget", net);
  while (!net.run_for(nsk::work{1000000}, jobs{true}, 2)) {
  }
  report(name, "megamac-budget", net);
  long now = 0;
  while (!net.run_for(nsk::microseconds{5}, [&now] { return ++now; })) {
  }
  report(name, "time-budget", net);
#if defined(__SSE__) || defined(__aarch64__)
  run_in_hostile_mode(name, net);
#endif
  return true;
}

}

int main(int argc, char** argv) {
  if (!nsk::cpu_supports()) {
    std::puts("unsupported");
    return 0;
  }
  const bool plain = argc > 1 && std::strcmp(argv[1], "--plain") == 0;
  bool good = true;
  for (int i = plain ? 2 : 1; i < argc; ++i) good = run_model(argv[i], plain) && good;
  return good ? 0 : 1;
}
