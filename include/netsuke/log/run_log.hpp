// SPDX-License-Identifier: MIT
#pragma once
/// What the last runs of a network took, as a line of JSON for the game's log.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/log/impl/json_text.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
/// Times of the last runs, in nanoseconds: percentiles, and the longest slice of a run that took several frames. Adding
/// a run moves at most 8 bytes per run of the window; reading a percentile costs nothing. One thread at a time.
class run_log {
 public:
  /// Bytes of memory for a window of so many runs.
  static constexpr std::size_t required_bytes(int window) {
    return static_cast<std::size_t>(window < 1 ? 1 : window) * 3 * sizeof(std::int64_t);
  }
  /// A block of this size takes any line.
  static constexpr std::size_t max_line_bytes = 2048;

  /// Keeps a window of as many runs as `memory` has space for, aligned to 8 bytes; none, where it has space for none.
  explicit run_log(span<std::byte> memory) {
    NSK_ASSERT(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(std::int64_t) == 0,
               "run_log: memory must start at a multiple of 8");
    const std::size_t fit = memory.size() / required_bytes(1);
    m_capacity = fit < max_window ? static_cast<int>(fit) : max_window;
    m_totals = reinterpret_cast<std::int64_t*>(memory.data());
    m_sorted = m_totals + m_capacity;
    m_slices = m_sorted + m_capacity;
  }
  run_log(const run_log&) = delete;
  run_log& operator=(const run_log&) = delete;

  /// Adds name and bytes of a model to the line; `m` must outlive it.
  void describe(const model& m, int lanes = 1, int variant = 0) {
    m_name = m.name();
    m_arena_bytes = m.required_bytes(lanes, variant);
    m_weight_bytes = m.weights().size();
    m_state_bytes = 0;
    const variant_view v = m.variant(variant);
    for (int i = 0; i < v.state_count(); ++i) m_state_bytes += v.state(i).tensor().bytes();
  }

  /// Adds one part of a run; `complete`: the last one, what session::run_for() returned.
  void slice(std::int64_t nanoseconds, bool complete) {
    const std::int64_t time = nanoseconds > 0 ? nanoseconds : 0;
    m_total += time;
    if (time > m_longest) m_longest = time;
    if (complete) finish_run();
  }
  /// Adds a run that was not divided.
  void run(std::int64_t nanoseconds) { slice(nanoseconds, true); }

  /// Complete runs since the beginning, and those in the window.
  std::uint64_t runs() const { return m_runs; }
  int window() const { return m_count; }
  /// Returns the shortest time that `percent` percent of the runs in the window do not exceed, 1 to 100; 0 without
  /// runs.
  std::int64_t percentile(int percent) const {
    if (m_count == 0) return 0;
    const std::int64_t wanted = percent < 1 ? 1 : percent > 100 ? 100 : percent;
    return m_sorted[(wanted * m_count + 99) / 100 - 1];
  }
  /// Returns the longest slice of the runs in the window.
  std::int64_t worst_slice() const {
    std::int64_t worst = 0;
    for (int i = 0; i < m_count; ++i)
      if (m_slices[i] > worst) worst = m_slices[i];
    return worst;
  }

  /// Writes a line of JSON, a new line behind it, and returns it; an empty text where `to` has no space for all of it.
  /// Times are microseconds: {"model":"face","runs":1200,"window":256,"p50_us":812.125,...}
  span<const char> line(span<char> to) const {
    impl::json_text t(to);
    t.raw("{\"model\":").string(m_name).raw(",\"runs\":").number(m_runs);
    t.raw(",\"window\":").number(static_cast<std::uint64_t>(m_count));
    t.raw(",\"p50_us\":").microseconds(percentile(50)).raw(",\"p95_us\":").microseconds(percentile(95));
    t.raw(",\"p99_us\":").microseconds(percentile(99)).raw(",\"max_us\":").microseconds(percentile(100));
    t.raw(",\"worst_slice_us\":").microseconds(worst_slice()).raw(",\"arena_bytes\":").number(m_arena_bytes);
    t.raw(",\"weight_bytes\":").number(m_weight_bytes).raw(",\"state_bytes\":").number(m_state_bytes).raw("}\n");
    return t.fits() ? span<const char>(to.data(), t.size()) : span<const char>();
  }
  /// Forgets all runs, and the slices of one that is not complete.
  void clear() {
    m_runs = 0;
    m_count = m_next = 0;
    m_total = m_longest = 0;
  }

 private:
  static constexpr int max_window = 1 << 20;

  void finish_run() {
    ++m_runs;
    if (m_capacity > 0) {
      if (m_count == m_capacity) take_out(m_totals[m_next]);
      put_in(m_total);
      m_totals[m_next] = m_total;
      m_slices[m_next] = m_longest;
      m_next = m_next + 1 == m_capacity ? 0 : m_next + 1;
    }
    m_total = m_longest = 0;
  }
  /// Number of times in the window that are less than `time`.
  int below(std::int64_t time) const {
    int begin = 0, end = m_count;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      m_sorted[middle] < time ? begin = middle + 1 : end = middle;
    }
    return begin;
  }
  void take_out(std::int64_t time) {
    std::int64_t* const at = m_sorted + below(time);
    std::memmove(at, at + 1, static_cast<std::size_t>(m_sorted + m_count - at - 1) * sizeof(std::int64_t));
    --m_count;
  }
  void put_in(std::int64_t time) {
    std::int64_t* const at = m_sorted + below(time);
    std::memmove(at + 1, at, static_cast<std::size_t>(m_sorted + m_count - at) * sizeof(std::int64_t));
    *at = time;
    ++m_count;
  }

  const char* m_name = "";
  std::uint64_t m_arena_bytes = 0, m_weight_bytes = 0, m_state_bytes = 0, m_runs = 0;
  std::int64_t *m_totals = nullptr, *m_sorted = nullptr, *m_slices = nullptr;
  std::int64_t m_total = 0, m_longest = 0;  ///< of the run that is not complete
  int m_capacity = 0, m_count = 0, m_next = 0;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
