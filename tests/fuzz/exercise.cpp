// SPDX-License-Identifier: MIT
#include "exercise.hpp"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <netsuke/all_ops.hpp>
#include <netsuke/prepare.hpp>

namespace fuzz {
namespace {

/// Memory whose end is the end: a byte further is seen by the address sanitizer.
class exact_memory {
 public:
  exact_memory(std::size_t size, std::size_t alignment) : m_data(nullptr) {
    void* p = nullptr;
    if (posix_memalign(&p, alignment, size) != 0) std::abort();
    m_data = static_cast<std::byte*>(p);
  }
  ~exact_memory() { std::free(m_data); }
  exact_memory(const exact_memory&) = delete;
  exact_memory& operator=(const exact_memory&) = delete;
  std::byte* data() { return m_data; }

 private:
  std::byte* m_data;
};

struct backwards_jobs {
  template <class F>
  void parallel_for(int count, F&& f) {
    for (int i = count; i-- > 0;) f(i);
  }
};

/// Rows and columns of a step's window.
std::uint64_t edges_of(const nsk::step_view& s) {
  nsk::window w;
  if (s.op() == nsk::op::conv_2d) w = s.params<nsk::op::conv_2d>().w;
  if (s.op() == nsk::op::depthwise_conv_2d) w = s.params<nsk::op::depthwise_conv_2d>().w;
  if (s.op() == nsk::op::pool_2d) w = s.params<nsk::op::pool_2d>().w;
  return static_cast<std::uint64_t>(w.kernel_h) + static_cast<std::uint64_t>(w.kernel_w);
}

/// An upper bound on what a run computes; hostile files may ask for days.
std::uint64_t cost_of(const nsk::variant_view& v) {
  std::uint64_t sum = 0;
  for (int i = 0; i < v.step_count(); ++i) {
    const nsk::step_view s = v.step(i);
    std::uint64_t cost = nsk::impl::work_of(s);
    if (s.op() == nsk::op::resize_2d) {
      const auto taps = static_cast<std::uint64_t>(s.params<nsk::op::resize_2d>().row_taps);
      cost = nsk::impl::saturating_multiply(cost, 1 + taps);
    }
    cost += nsk::impl::saturating_multiply(static_cast<std::uint64_t>(s.output().elements()), edges_of(s));
    const std::uint64_t total = sum + cost + static_cast<std::uint64_t>(s.tile_count());
    if (total < sum) return ~std::uint64_t{0};
    sum = total;
  }
  return sum;
}

void collect(const nsk::session<nsk::all_settings>& net, std::vector<std::byte>& results) {
  for (int i = 0; i < net.output_count(); ++i) {
    const nsk::span<const std::byte> bytes = net.output_bytes(i);
    results.insert(results.end(), bytes.begin(), bytes.end());
  }
}

void set_inputs(nsk::session<nsk::all_settings>& net) {
  for (int i = 0; i < net.input_count(); ++i) {
    const nsk::span<std::byte> bytes = net.input_bytes(i);
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k % 4 == 3 ? 0x3f : k * 37);
  }
}

/// Outputs of two runs from the same start, on one thread or on lanes, every byte of memory set to `fill` before.
std::vector<std::byte> results_of(const nsk::model& m, int variant, int fill, bool on_lanes) {
  std::vector<std::byte> results;
  const std::size_t size = m.arena_bytes(2, variant);
  exact_memory memory(size, nsk::arena_alignment);
  std::memset(memory.data(), fill, size);
  nsk::session<nsk::all_settings> net(m, {memory.data(), size}, variant);
  if (!net) return results;
  backwards_jobs jobs;
  for (int run = 0; run < 2; ++run) {
    set_inputs(net);
    if (on_lanes) {
      net.run(jobs);
    } else {
      net.run();
    }
    collect(net, results);
  }
  const int rows = m.variant(variant).batch();
  for (const int fewer : {1, rows / 2, rows - 1}) {  // rows behind the last one keep what memory had: not compared
    if (net.set_batch(fewer)) on_lanes ? net.run(jobs) : net.run();
  }
  return results;
}

/// Equal bytes, except that any NaN equals any other: their payloads are not promised.
bool agree(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); i += 4) {
    const std::size_t n = a.size() - i < 4 ? a.size() - i : 4;
    if (std::memcmp(a.data() + i, b.data() + i, n) == 0) continue;
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, n);
    std::memcpy(&y, b.data() + i, n);
    if (n < 4 || !std::isnan(x) || !std::isnan(y)) return false;
  }
  return true;
}

}

nsk::status exercise(const std::uint8_t* data, std::size_t size) {
  exact_memory block(size != 0 ? size : 1, 16);  // begins at a multiple of 16, ends where the bytes do
  std::byte* bytes = block.data();
  if (size != 0) std::memcpy(bytes, data, size);
  const std::size_t prepared = nsk::prepared_bytes({bytes, size});
  if (prepared > (std::size_t{16} << 20)) return nsk::status_code::too_little_memory;
  exact_memory expanded(prepared != 0 ? prepared : 1, 64);
  if (prepared != 0) {  // a small file
    if (const nsk::status s = nsk::prepare({bytes, size}, {expanded.data(), prepared}); !s) return s;
    bytes = expanded.data();
    size = prepared;
  }
  nsk::model m;
  const nsk::status s = nsk::open({bytes, size}, m);
  if (!s) return s;
  for (int v = 0; v < m.variant_count() && v < 4; ++v) {
    if (m.arena_bytes(2, v) > (std::size_t{16} << 20) || cost_of(m.variant(v)) > 2000000) continue;
    if (!agree(results_of(m, v, 0, false), results_of(m, v, 0xff, true))) {
      std::fprintf(stderr, "results depend on what was in memory before, or on who ran which tile\n");
      std::abort();
    }
  }
  return s;
}

}
