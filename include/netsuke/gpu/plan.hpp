// SPDX-License-Identifier: MIT
#pragma once
/// A plan: the dispatches of a variant, made once, in memory of the caller. Sessions replay it; it knows no device.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/impl/choose_halves.hpp>
#include <netsuke/gpu/impl/hazard.hpp>
#include <netsuke/gpu/impl/lower_every_op.hpp>
#include <netsuke/gpu/impl/traffic.hpp>
#include <netsuke/gpu/settings.hpp>
#include <netsuke/gpu/status.hpp>
#include <netsuke/ops/every_op.hpp>

NSK_BEGIN
namespace gpu {

/// One dispatch of a plan.
struct dispatch_view {
  int step = 0;          ///< of the variant; -1 where it makes a state current at the end of an inference
  bool on_cpu = false;   ///< the step runs on the CPU; it has no pipeline
  bool barrier = false;  ///< before it
  int pipeline = 0;      ///< in pipelines()
  span<const std::uint32_t> constants{};
  std::uint32_t groups[3] = {1, 1, 1};
  bool seeded = false;  ///< its first four constants are the session's random source: key (low, high), run, first row
};

namespace impl {

/// Lowers a whole variant; returns the first step that is refused, -1 where none is.
struct lowering_result {
  int refused_step = -1;
  refusal why = nullptr;
  int inference = 0;  ///< dispatches of an inference; those that reset states come after them
};
NSK_COLD inline lowering_result lower_variant(const variant_view& v, dispatch_writer& to) {
  lowering_result r;
  if (to.settings().half_activations) choose_halves(v, to);
  if (to.settings().texture_inputs) to.number_of({kernel::texture_to_tensor, {}});
  if (to.settings().texture_outputs) to.number_of({kernel::tensor_to_texture, {}});
  for (int i = 0; i < v.step_count(); ++i) {
    to.begin_step(i, halves_of_step(v.step(i), to));
    if (const refusal why = lower_step(v.step(i), to)) {
      if (!to.settings().hybrid) return {i, why, 0};
      to.add_cpu_step();
    }
  }
  for (int i = 0; i < v.state_count(); ++i) {
    const state_view state = v.state(i);
    to.begin_step(-1 - i);
    const bool in_place = state.next().buffer_offset() + state.next().offset() ==
                          state.tensor().buffer_offset() + state.tensor().offset();
    if (in_place) continue;
    if (const refusal why = lower_copy(state.next(), state.tensor(), to)) return {v.step_count(), why, 0};
  }
  r.inference = to.dispatches();
  for (int i = 0; i < v.state_count(); ++i) {
    const state_view state = v.state(i);
    to.begin_step(-1 - i);
    if (const refusal why =
            state.has_initial() ? lower_copy(state.initial(), state.tensor(), to) : lower_zeros(state.tensor(), to))
      return {v.step_count(), why, 0};
  }
  return r;
}

}

/// Returns why a step has no shader, null where it has one.
NSK_COLD inline const char* why_no_shader(const variant_view& v, int step, const plan_settings& how = {}) {
  impl::dispatch_writer counting(how);
  counting.begin_step(step);
  return impl::lower_step(v.step(step), counting);
}

class plan {
 public:
  plan() = default;

  /// Lowers a variant into `memory`, plan_bytes(v, how) bytes at a multiple of 8, which must outlive the plan, as must
  /// the file. no_shader names the first step that has none.
  NSK_COLD static status make(const variant_view& v, const plan_settings& how, span<std::byte> memory, plan& made) {
    impl::dispatch_writer count(how);
    if (const impl::lowering_result r = impl::lower_variant(v, count); r.why)
      return {status_code::no_shader, r.refused_step};
    if (count.too_many_pipelines()) return status_code::too_many_pipelines;
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % 8 != 0) return status_code::misaligned_memory;
    if (memory.size() < bytes_of(count)) return status_code::too_little_memory;

    plan p;
    p.m_variant = v;
    p.m_settings = how;
    p.m_keys = reinterpret_cast<pipeline_key*>(memory.data());
    p.m_records = reinterpret_cast<impl::dispatch_record*>(memory.data() + keys_bytes(count));
    p.m_words = reinterpret_cast<std::uint32_t*>(p.m_records + count.dispatches());
    impl::dispatch_writer write(how);
    write.write_to(p.m_records, p.m_words);
    p.m_inference = impl::lower_variant(v, write).inference;
    p.m_dispatches = write.dispatches();
    p.m_pipelines = write.pipelines();
    for (int i = 0; i < p.m_pipelines; ++i) p.m_keys[i] = write.pipeline_keys()[i];
    impl::place_barriers(v, p.m_records, p.m_inference);
    made = p;
    return {};
  }

  bool is_ready() const { return m_records != nullptr; }
  const variant_view& variant() const { return m_variant; }
  const plan_settings& settings() const { return m_settings; }
  /// Bytes of the arena buffer; weights are the model's weights section as it is.
  std::size_t arena_bytes() const { return m_variant.shared_bytes(); }

  /// Dispatches of one inference, in the order in which they run.
  int dispatch_count() const { return m_inference; }
  dispatch_view dispatch(int i) const { return view(m_records[i]); }
  /// Dispatches that give the states their initial values; no two of them touch the same bytes.
  int reset_count() const { return m_dispatches - m_inference; }
  dispatch_view reset_dispatch(int i) const { return view(m_records[m_inference + i]); }
  /// Barriers between the dispatches of one inference; recording adds one before the first.
  int barrier_count() const {
    int n = 0;
    for (int i = 0; i < m_inference; ++i) n += m_records[i].barrier ? 1 : 0;
    return n;
  }
  /// Steps that run on the CPU.
  int cpu_step_count() const {
    int n = 0;
    for (int i = 0; i < m_inference; ++i) n += m_records[i].pipeline == impl::dispatch_record::on_cpu ? 1 : 0;
    return n;
  }
  /// Bytes that dispatch `i` reads and writes. Those of a step are counted with its first dispatch.
  gpu::traffic traffic(int i) const {
    const impl::dispatch_record& r = m_records[i];
    if (i > 0 && m_records[i - 1].step == r.step) return {};
    if (r.step >= 0) return impl::traffic_of_step(m_variant.step(r.step), r.halves, m_settings.rows);
    const state_view state = m_variant.state(-1 - r.step);
    const std::uint64_t bytes = impl::distinct_bytes(state.tensor(), m_settings.rows, false);
    return {bytes, bytes, 0};
  }
  /// The same of a whole inference.
  gpu::traffic traffic() const {
    gpu::traffic sum;
    for (int i = 0; i < m_inference; ++i) sum.add(traffic(i));
    return sum;
  }
  /// Everything that has to be compiled.
  span<const pipeline_key> pipelines() const { return {m_keys, static_cast<std::size_t>(m_pipelines)}; }
  /// The dispatch that has these constants, null where it is none of this plan; for checked_device.
  const impl::dispatch_record* find_record(const std::uint32_t* constants) const {
    const auto address = reinterpret_cast<std::uintptr_t>(constants);
    const auto address_of = [&](int i) { return reinterpret_cast<std::uintptr_t>(m_words + m_records[i].first_word); };
    int begin = 0;
    for (int end = m_dispatches; begin < end;) {
      const int middle = begin + (end - begin) / 2;
      if (address_of(middle) < address)
        begin = middle + 1;
      else
        end = middle;
    }
    while (begin < m_dispatches && m_records[begin].pipeline == impl::dispatch_record::on_cpu) ++begin;
    return begin < m_dispatches && address_of(begin) == address ? &m_records[begin] : nullptr;
  }
  /// Number of a dispatch that find_record() found; those that reset states follow those of an inference.
  int number_of(const impl::dispatch_record& r) const { return static_cast<int>(&r - m_records); }
  /// Number of a pipeline in pipelines(), -1 where the plan does not have it.
  int find_pipeline(kernel k) const {
    for (int i = 0; i < m_pipelines; ++i) {
      if (m_keys[i].kernel == k) return i;
    }
    return -1;
  }

 private:
  friend std::size_t plan_bytes(const variant_view& v, const plan_settings& how);
  static constexpr std::size_t padded(std::size_t n) { return (n + 7) / 8 * 8; }
  static std::size_t keys_bytes(const impl::dispatch_writer& w) {
    return padded(static_cast<std::size_t>(w.pipelines()) * sizeof(pipeline_key));
  }
  static std::size_t bytes_of(const impl::dispatch_writer& w) {
    return keys_bytes(w) + static_cast<std::size_t>(w.dispatches()) * sizeof(impl::dispatch_record) +
           std::size_t{w.words()} * 4;
  }
  dispatch_view view(const impl::dispatch_record& r) const {
    return {r.step < 0 ? -1 : r.step,
            r.pipeline == impl::dispatch_record::on_cpu,
            r.barrier,
            r.pipeline,
            {m_words + r.first_word, r.word_count},
            {r.groups[0], r.groups[1], r.groups[2]},
            r.seeded};
  }
  variant_view m_variant;
  plan_settings m_settings;
  pipeline_key* m_keys = nullptr;
  impl::dispatch_record* m_records = nullptr;
  std::uint32_t* m_words = nullptr;
  int m_dispatches = 0, m_inference = 0, m_pipelines = 0;
};

/// Returns the bytes of memory that plan::make needs for a variant, exactly; those of what can be lowered, where a step
/// has no shader.
NSK_COLD inline std::size_t plan_bytes(const variant_view& v, const plan_settings& how = {}) {
  impl::dispatch_writer count(how);
  static_cast<void>(impl::lower_variant(v, count));
  return plan::bytes_of(count);
}

/// Writes what has to be compiled for a variant, as far as `to` has space, and returns how many there are: for a cache
/// of pipelines that is filled before any session is made. 0 where a step has no shader.
NSK_COLD inline int required_pipelines(const variant_view& v, span<pipeline_key> to, const plan_settings& how = {}) {
  impl::dispatch_writer count(how);
  if (impl::lower_variant(v, count).why || count.too_many_pipelines()) return 0;
  for (int i = 0; i < count.pipelines() && static_cast<std::size_t>(i) < to.size(); ++i)
    to[static_cast<std::size_t>(i)] = count.pipeline_keys()[i];
  return count.pipelines();
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
