// SPDX-License-Identifier: MIT
// Microseconds that the GPU path takes on the CPU, on a device that does nothing: making a plan, recording an
// inference. usage: bench_gpu_recording MODEL.nsk ... (converted with --no-winograd or --gpu)
#include <chrono>
#include <cstdio>
#include <fstream>
#include <vector>

#include <netsuke/netsuke.hpp>

#include "../examples/devices/headless.hpp"
#include "../examples/devices/null.hpp"

namespace {

/// The null device, except that it copies constants, as every device has to: so that the compiler cannot leave
/// recording out.
class copying_device : public null_device {
 public:
  void bind(list& l, const nsk::gpu::bindings<copying_device>& b) {
    null_device::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
  void dispatch(list&, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    std::uint32_t* const to = m_ring[counts.dispatches++ % 64];
    std::memcpy(to, constants, static_cast<std::size_t>(count) * 4);
    to[32] = static_cast<std::uint32_t>(p) + groups[0] + groups[1] + groups[2];
  }
  std::uint32_t sum() const {
    std::uint32_t s = 0;
    for (const auto& words : m_ring) s += words[0] + words[32];
    return s;
  }

 private:
  std::uint32_t m_ring[64][33] = {};
};

/// The fastest of `count` runs, in microseconds.
template <class F>
double fastest(int count, F&& f) {
  double best = 1e30;
  for (int i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = took.count() < best ? took.count() : best;
  }
  return best;
}

int measure(const char* path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::size_t>(in ? static_cast<std::streamoff>(in.tellg()) : 0);
  std::vector<std::byte> memory(size + 64);
  std::byte* const file = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  in.seekg(0);
  in.read(reinterpret_cast<char*>(file), static_cast<std::streamsize>(size));
  nsk::model model;
  if (const nsk::status s = nsk::open({file, size}, model); !s) return std::printf("%s: %s\n", path, s.message()), 1;
  copying_device device;
  headless<copying_device> net(device);
  if (const nsk::gpu::status s = net.open(model); !s) return std::printf("%s: %s\n", path, s.message()), 1;
  std::vector<std::byte> space(nsk::gpu::plan::required_bytes(model.variant()));
  bool good = true;
  const double planning = fastest(50, [&] {
    nsk::gpu::plan plan;
    good = nsk::gpu::plan::make(model.variant(), {}, {space.data(), space.size()}, plan) && good;
  });
  const double recording = fastest(1000, [&] { good = net.session().record(device.begin()) && good; });
  std::printf("%-60s %4d dispatches, plan %8.1f us, recording %6.2f us, %.2f us per 60 dispatches%s\n", path,
              net.plan().dispatch_count(), planning, recording, recording * 60 / net.plan().dispatch_count(),
              good ? "" : " (failed)");
  return good && device.sum() != 0 ? 0 : 1;
}

}

int main(int count, char** arguments) {
  if (count < 2) return std::printf("usage: bench_gpu_recording MODEL.nsk ...\n"), 1;
  int failed = 0;
  for (int i = 1; i < count; ++i) failed |= measure(arguments[i]);
  return failed;
}
