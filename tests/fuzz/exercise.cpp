// SPDX-License-Identifier: MIT
// Opens and runs on one instruction set. Compiled once for each, which gives NSK_ISA_* and the name of its function:
// NSK_FUZZ_ENTRY.
#include "exercise.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <netsuke/all_ops.hpp>
#include <netsuke/prepare.hpp>
#include "isolated_steps.hpp"

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

/// Appends the outputs; with `rows`, of those with rows as many of the `of` that they have.
void collect(const nsk::session<nsk::all_settings>& net, std::vector<std::byte>& results, int rows = 0, int of = 0) {
  for (int i = 0; i < net.output_count(); ++i) {
    const nsk::span<const std::byte> bytes = net.output_bytes(i);
    const bool part = rows > 0 && net.output_info(i).tensor().batch() != 0;
    const std::size_t n =
        part ? bytes.size() / static_cast<std::size_t>(of) * static_cast<std::size_t>(rows) : bytes.size();
    results.insert(results.end(), bytes.begin(), bytes.begin() + n);
  }
}

void set_inputs(nsk::session<nsk::all_settings>& net) {
  for (int i = 0; i < net.input_count(); ++i) {
    const nsk::span<std::byte> bytes = net.input_bytes(i);
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k % 4 == 3 ? 0x3f : k * 37);
  }
}

/// A session whose memory begins as `fill`.
class filled_session {
 public:
  filled_session(const nsk::model& m, int variant, int fill)
      : m_size(m.required_bytes(2, variant)), m_memory(m_size, nsk::arena_alignment) {
    std::memset(m_memory.data(), fill, m_size);
    net = nsk::session<nsk::all_settings>(m, {m_memory.data(), m_size}, variant);
  }

  nsk::session<nsk::all_settings> net;
  std::byte* memory() { return m_memory.data(); }
  std::size_t size() const { return m_size; }

 private:
  std::size_t m_size;
  exact_memory m_memory;
};

void run(nsk::session<nsk::all_settings>& net, bool on_lanes) {
  backwards_jobs jobs;
  set_inputs(net);
  if (on_lanes) {
    net.run(jobs);
  } else {
    net.run();
  }
}

/// Outputs of two runs from the same start, and of one of fewer rows from memory in which no other run left anything;
/// on one thread or on lanes, every byte of memory set to `fill` before.
std::vector<std::byte> results_of(const nsk::model& m, int variant, int fill, bool on_lanes) {
  std::vector<std::byte> results;
  filled_session whole(m, variant, fill);
  if (!whole.net) return results;
  for (int i = 0; i < 2; ++i) {
    run(whole.net, on_lanes);
    collect(whole.net, results);
  }
  const int rows = m.variant(variant).batch();
  for (const int fewer : {1, rows / 2, rows - 1}) {
    if (fewer < 1 || fewer >= rows) continue;
    filled_session part(m, variant, fill);
    if (!part.net.set_batch(fewer)) continue;
    run(part.net, on_lanes);
    collect(part.net, results, fewer, rows);
  }
  return results;
}

/// Runs with the lengths at their minima, with one step where that is none, and between: what is read and written then
/// is for the sanitizers to see.
void run_shorter(const nsk::model& m, int variant) {
  const nsk::variant_view v = m.variant(variant);
  for (const int part : {0, 1, 2}) {
    filled_session s(m, variant, 0);
    for (int i = 0; s.net && i < v.length_count(); ++i) {
      const nsk::length_view l = v.length(i);
      const std::int32_t between = (l.minimum() / 2 + l.bound() / 2) / l.step() * l.step();
      const std::int32_t values[] = {l.minimum(), l.minimum() == 0 ? l.step() : l.minimum(), between};
      if (l.is_chosen()) static_cast<void>(s.net.set_length(l.name(), values[part]));
    }
    if (s.net && s.net.lengths()) run(s.net, part == 2);
  }
}

/// Whether steps count lengths. A crafted file may read then what an earlier run has left beyond them.
bool counts_lengths(const nsk::variant_view& v) {
  for (int i = 0; i < v.length_count(); ++i) {
    if (v.length(i).is_counted()) return true;
  }
  return false;
}

/// Runs steps among poison, of all rows of the inputs and of fewer.
void isolate(const nsk::model& m, int variant) {
  constexpr std::size_t max_bytes = 1 << 16;
  const int rows = m.variant(variant).batch();
  if (m.required_bytes(2, variant) > max_bytes) return;
  for (const int fewer : {0, rows / 2}) {
    filled_session s(m, variant, 0);
    if (!s.net || (fewer > 0 && !s.net.set_batch(fewer))) continue;
    set_inputs(s.net);
    run_isolated(s.net, s.memory(), s.size(), fewer > 0 ? &fewer : nullptr);
  }
}

}

outcome NSK_FUZZ_ENTRY(const std::uint8_t* data, std::size_t size) {
  if (!nsk::cpu_supports()) return {"not run: this machine lacks the instruction set", false, {}};
  exact_memory block(size != 0 ? size : 1, 16);  // begins at a multiple of 16, ends where the bytes do
  std::byte* bytes = block.data();
  if (size != 0) std::memcpy(bytes, data, size);
  const std::size_t prepared = nsk::required_bytes({bytes, size});
  if (prepared > (std::size_t{16} << 20)) return {"too large to prepare", false, {}};
  exact_memory expanded(prepared != 0 ? prepared : 1, 64);
  if (prepared != 0) {  // a small file
    if (const nsk::status s = nsk::prepare({bytes, size}, {expanded.data(), prepared}); !s)
      return {s.name(), false, {}};
    bytes = expanded.data();
    size = prepared;
  }
  nsk::model m;
  const nsk::status s = nsk::open({bytes, size}, m);
  outcome result{s.name(), static_cast<bool>(s), {}};
  for (int v = 0; s && v < m.variant_count() && v < 4; ++v) {
    if (m.required_bytes(2, v) > (std::size_t{16} << 20) || cost_of(m.variant(v)) > 2000000) continue;
    const std::vector<std::byte> results = results_of(m, v, 0, false);
    const bool agrees = agree(results, results_of(m, v, 0xff, true)), counts = counts_lengths(m.variant(v));
    if (!agrees && !counts) {
      std::fprintf(stderr, "results depend on what was in memory before, or on who ran which tile\n");
      std::abort();
    }
    if (!counts) isolate(m, v);
    run_shorter(m, v);
    result.results.insert(result.results.end(), results.begin(), results.end());
  }
  return result;
}

}
