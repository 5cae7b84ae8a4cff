// SPDX-License-Identifier: MIT
#pragma once
/// A model on the CPU and on a device, on equal inputs: a step at a time, or whole.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <netsuke/gpu.hpp>
#include <netsuke/netsuke.hpp>

#include "../model/sample_plans.hpp"
#include "cpu_session.hpp"
#include "devices/headless.hpp"

namespace test {

/// A device whose pipelines are made once and live as long as it: the same permutation is compiled once per process.
template <class Device>
class shared_pipelines : public Device {
 public:
  using pipeline = typename Device::pipeline;
  using status = nsk::gpu::status;

  ~shared_pipelines() {
    for (const entry& e : m_made) Device::destroy_pipeline(e.made);
  }
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) {
    for (const entry& e : m_made) {
      if (e.key == key) return made = e.made, status();
    }
    if (const status s = Device::create_pipeline(key, made); !s) return s;
    m_made.push_back({key, made});
    return {};
  }
  void destroy_pipeline(pipeline) {}
  void bind(typename Device::list& l, const nsk::gpu::bindings<shared_pipelines>& b) {
    Device::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
  std::size_t pipeline_count() const { return m_made.size(); }

 private:
  struct entry {
    nsk::gpu::pipeline_key key;
    pipeline made;
  };
  std::vector<entry> m_made;
};

/// How far two tensors are apart: the largest difference, and the largest number of the first.
struct distance {
  double difference = 0, largest = 0;
  double relative() const { return difference == 0 ? 0 : largest > 0 ? difference / largest : difference; }
  void add(double wanted, double got) {
    if (std::isnan(wanted) && std::isnan(got)) return;
    if (wanted == got)
      difference = std::max(difference, 0.0);
    else if (!(std::fabs(wanted - got) <= difference))
      difference = std::fabs(wanted - got);
    if (std::isnan(wanted) != std::isnan(got)) difference = INFINITY;
    if (std::isfinite(wanted)) largest = std::max(largest, std::fabs(wanted));
  }
};

/// Calls f(byte offset in the arena) for every element of a tensor that is there.
template <class F>
void for_each_element(const nsk::tensor_info& t, F&& f, nsk::length_values lengths = nullptr) {
  if (t.elements(lengths) == 0) return;
  const nsk::tensor_view v = t.view(nullptr, lengths);
  std::int32_t index[nsk::max_rank] = {};
  const auto base = static_cast<std::ptrdiff_t>(t.buffer_offset() + t.offset(lengths));
  for (;;) {
    std::ptrdiff_t at = 0;
    for (int d = 0; d < v.rank; ++d) at += index[d] * v.stride[d];
    f(base + at * nsk::size_of(v.type));
    int d = v.rank - 1;
    for (; d >= 0 && ++index[d] == v.shape[d]; --d) index[d] = 0;
    if (d < 0) return;
  }
}

/// How far a tensor is from another: numbers where they are floats; elements of other types are equal, or infinitely
/// far from each other.
inline distance distance_of(const nsk::tensor_info& t, const std::byte* wanted, const std::byte* got,
                            nsk::length_values lengths = nullptr) {
  distance d;
  const auto size = static_cast<std::size_t>(nsk::size_of(t.type()));
  const auto number = [](const std::byte* at) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return static_cast<double>(x);
  };
  for_each_element(
      t,
      [&](std::ptrdiff_t at) {
        if (t.type() == nsk::dtype::float32)
          d.add(number(wanted + at), number(got + at));
        else if (std::memcmp(wanted + at, got + at, size) != 0)
          d.difference = INFINITY;
        else
          d.largest = 1;
      },
      lengths);
  return d;
}

/// Adds a hash of what a device computed to the file that NSK_TEST_TRACE names: two runs with equal files had equal
/// bits.
inline void write_trace(const aligned_bytes& arena) {
  const char* const name = std::getenv("NSK_TEST_TRACE");
  std::FILE* const file = name ? std::fopen(name, "a") : nullptr;
  if (!file) return;
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < arena.size(); ++i)
    hash = (hash ^ static_cast<unsigned char>(arena.data()[i])) * 1099511628211u;
  std::fprintf(file, "%s: %zu bytes, %016llx\n", doctest::getContextOptions()->currentTest->m_name, arena.size(),
               static_cast<unsigned long long>(hash));
  std::fclose(file);
}

/// One model, its CPU session and its session on a device. The CPU's memory is the oracle.
template <class Device>
class both {
 public:
  explicit both(Device& device) : m_device(device), m_gpu(device) {}

  /// Returns what is wrong; "" where both sessions are ready.
  std::string open(const plan_spec& p, const nsk::gpu::plan_settings& how = {}, bool half_weights = false) {
    return open(p.write(), how, half_weights);
  }
  std::string open(const aligned_bytes& file, nsk::gpu::plan_settings how = {}, bool half_weights = false) {
    m_file = file;
    if (const nsk::status s = nsk::open({m_file.data(), m_file.size()}, m_model); !s) return s.message();
    if (half_weights) how.half_weights = m_model.weights();
    m_memory = aligned_bytes(m_model.required_bytes(1));
    m_cpu = {m_model, m_memory.span()};
    if (!m_cpu) return m_cpu.status().message();
    const nsk::gpu::status s = m_gpu.open(m_model, 0, how);
    if (s) return keep_scratch();
    const char* const why = s.code() == nsk::gpu::status_code::no_shader && s.where() < m_model.variant().step_count()
                                ? nsk::gpu::why_no_shader(m_model.variant(), s.where(), how)
                                : nullptr;
    return std::string(s.message()) + " (" + std::to_string(s.where()) + ")" + (why ? std::string(": ") + why : "");
  }

  cpu_session& cpu() { return m_cpu; }
  headless<Device>& gpu() { return m_gpu; }
  const nsk::gpu::plan& plan() const { return m_gpu.plan(); }
  nsk::variant_view variant() const { return m_model.variant(); }
  const std::byte* cpu_arena() const { return m_memory.data(); }
  std::size_t arena_bytes() const { return m_gpu.plan().required_arena_bytes(); }

  /// Fills all float inputs with numbers in [-1, 1), on the CPU.
  void fill_inputs(std::uint32_t seed) {
    noise random(seed);
    for (int i = 0; i < m_cpu.input_count(); ++i) {
      const nsk::tensor_info t = m_cpu.input_info(i).tensor();
      if (t.type() != nsk::dtype::float32) continue;
      for_each_element(t, [&](std::ptrdiff_t at) {
        const float x = random();
        std::memcpy(m_memory.data() + at, &x, sizeof x);
      });
    }
  }
  /// Gives the device the CPU's arena.
  void copy_arena() { REQUIRE(m_device.write(m_gpu.arena(), 0, m_memory.data(), arena_bytes())); }
  aligned_bytes device_arena() {
    aligned_bytes got(arena_bytes());
    REQUIRE(m_device.read(m_gpu.arena(), 0, got.data(), got.size()));
    write_trace(got);
    return got;
  }

  /// What a step did on the device: how far its outputs are from the CPU's, and how many bytes beside them it changed.
  struct step_result {
    distance apart;
    std::size_t stray_bytes = 0;
  };
  /// Runs a step on both, on the CPU's inputs. `first` is its first dispatch; set to the first of the next step.
  step_result run_step(int& first) {
    const int step = plan().dispatch(first).step;
    int end = first + 1;
    while (end < plan().dispatch_count() && plan().dispatch(end).step == step) ++end;
    if (const int merged = plan().dispatch(first).merged; merged >= 0) run_on_cpu(merged);
    copy_arena();
    aligned_bytes expected(arena_bytes());
    std::memcpy(expected.data(), m_memory.data(), arena_bytes());
    REQUIRE(m_gpu.session().record(m_device.begin(), first, end - first));
    REQUIRE(m_device.submit());
    first = end;
    const aligned_bytes got = device_arena();
    const nsk::step_view s = variant().step(step);
    run_on_cpu(step);
    step_result r;
    for (int o = 0; o < s.output_count(); ++o) {
      const nsk::tensor_info t = s.output(o);
      const distance d = distance_of(t, m_memory.data(), got.data());
      if (d.relative() >= r.apart.relative()) r.apart = d;
      for_each_element(t, [&](std::ptrdiff_t at) {
        std::memcpy(expected.data() + at, got.data() + at, static_cast<std::size_t>(nsk::size_of(t.type())));
      });
    }
    for (std::size_t i = 0; i < variant().shared_bytes(); ++i)
      r.stray_bytes += expected.data()[i] != got.data()[i] ? 1 : 0;
    return r;
  }

  /// Runs a whole inference on both; returns how far the outputs are apart, the worst of them.
  distance run() {
    copy_arena();
    m_cpu.run();
    REQUIRE(m_gpu.run());
    const aligned_bytes got = device_arena();
    distance worst;
    for (int i = 0; i < m_cpu.output_count(); ++i) {
      const distance d =
          distance_of(m_cpu.output_info(i).tensor(), m_memory.data(), got.data(), plan().settings().lengths());
      if (i == 0 || d.relative() > worst.relative()) worst = d;
    }
    return worst;
  }

 private:
  void run_on_cpu(int step) {
    for (int t = 0; t < m_cpu.tile_count(step); ++t) m_cpu.run_tile(step, t, 0);
  }
  /// The device's arena may be longer than the CPU's memory, by its scratch.
  std::string keep_scratch() {
    if (m_memory.size() >= arena_bytes()) return {};
    m_memory = aligned_bytes(arena_bytes());
    m_cpu = {m_model, m_memory.span()};
    return m_cpu ? std::string() : m_cpu.status().message();
  }
  Device& m_device;
  aligned_bytes m_file, m_memory;
  nsk::model m_model;
  cpu_session m_cpu;
  headless<Device> m_gpu;
};

}
