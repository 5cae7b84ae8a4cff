// SPDX-License-Identifier: MIT
#pragma once
/// A plan: the dispatches of a variant, made once, in memory of the caller. Sessions replay it; it knows no device.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/cpu_part.hpp>
#include <netsuke/gpu/impl/choose_halves.hpp>
#include <netsuke/gpu/impl/cpu_part.hpp>
#include <netsuke/gpu/impl/hazard.hpp>
#include <netsuke/gpu/impl/lower_every_op.hpp>
#include <netsuke/gpu/impl/lower_separable.hpp>
#include <netsuke/gpu/impl/traffic.hpp>
#include <netsuke/gpu/settings.hpp>
#include <netsuke/gpu/status.hpp>
#include <netsuke/model/model.hpp>
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
  int merged = -1;      ///< an earlier step that it computes as well and that has no dispatch of its own
  bool seeded = false;  ///< its first four constants are the session's random source: key (low, high), run, first row
};

namespace impl {

/// Lowers a whole variant; returns the first step that is refused, -1 where none is.
struct lowering_result {
  int refused_step = -1;
  refusal why = nullptr;
  int inference = 0;  ///< dispatches of an inference; those that reset states come after them
};
/// Whether every buffer is within the words that a shader can count to.
NSK_COLD inline bool reaches_all(const variant_view& v) {
  constexpr std::uint64_t reachable = std::uint64_t{4} << 32;
  if (v.stored_shared_bytes() > reachable) return false;
  for (int i = 0; i < v.buffer_count(); ++i) {
    if (v.buffer(i).bytes() > reachable || v.buffer(i).offset() > reachable - v.buffer(i).bytes()) return false;
  }
  return true;
}
/// The first step that counts a length, whose reading is the work of a session of the CPU; -1 where there is none.
NSK_COLD inline int first_counting_step(const variant_view& v) {
  for (int i = 0; i < v.length_count(); ++i) {
    if (v.length(i).is_counted()) return v.tensor(static_cast<int>(v.length(i).counted_tensor())).first_step();
  }
  return -1;
}
/// Lowers the steps; those without a shader become parts on the CPU where the settings allow it.
NSK_COLD inline lowering_result lower_steps(const variant_view& v, dispatch_writer& to) {
  int part = -1, part_dispatch = 0;
  const auto end_part = [&](int end) {
    if (part >= 0) add_cpu_part({v, part, end, to.lengths()}, part_dispatch, to);
    part = -1;
  };
  for (int i = 0; i < v.step_count(); ++i) {
    const int before = to.dispatches();
    if (to.lengths() && v.step(i).does_nothing(to.lengths())) {  // it has no dispatch, and no part of the CPU goes on
      end_part(i);
      continue;
    }
    if (reader_merged_with(v, i, to) >= 0) {
      end_part(i);
      continue;
    }
    to.begin_step(i, halves_of_step(v.step(i), to));
    const int merged = step_merged_into(v, i, to);
    const refusal why = merged >= 0 ? lower_separable(v, merged, i, to) : lower_on_device(v.step(i), to);
    if (!why) {
      end_part(i);
      continue;
    }
    if (!to.settings().hybrid) return {i, why, 0};
    to.add_cpu_step();
    if (part < 0) {
      part = i;
      part_dispatch = before;
    }
  }
  end_part(v.step_count());
  return {};
}
NSK_COLD inline lowering_result lower_variant(const variant_view& v, dispatch_writer& to) {
  to.set_scratch_begin(scratch_begin(v));
  choose_half_panels(v, to);
  if (to.settings().half_activations) choose_halves(v, to);
  if (to.settings().texture_inputs) to.number_of({kernel::texture_to_tensor, {}});
  if (to.settings().texture_outputs) to.number_of({kernel::tensor_to_texture, {}});
  lowering_result r = lower_steps(v, to);
  if (r.why) return r;
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
  return impl::lower_on_device(v.step(step), counting);
}

class plan {
 public:
  plan() = default;

  /// Returns the bytes of memory that make() needs for a variant, exactly; those of what can be lowered, where a step
  /// has no shader.
  NSK_COLD static std::size_t required_bytes(const variant_view& v, const plan_settings& how = {}) {
    impl::dispatch_writer count(how);
    static_cast<void>(impl::lower_variant(v, count));
    return bytes_of(count);
  }
  /// For a variant of a model, as a session of the CPU is made; 0 for a number that it does not have.
  static std::size_t required_bytes(const model& m, const plan_settings& how = {}, int variant = 0) {
    return m.check_variant(variant) ? required_bytes(m.variant(variant), how) : 0;
  }
  /// Lowers a variant into `memory`, required_bytes(v, how) bytes at a multiple of 8, which must outlive the plan, as
  /// must the file. no_shader names the first step that has none.
  NSK_COLD static status make(const variant_view& v, const plan_settings& how, span<std::byte> memory, plan& made) {
    if (how.rows < 0 || how.rows > v.batch()) return {status_code::rows_out_of_range, how.rows};
    if (!impl::reaches_all(v)) return status_code::too_large;
    if (const int step = impl::first_counting_step(v); step >= 0) return {status_code::no_shader, step};
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
    p.m_ranges = reinterpret_cast<arena_range*>(memory.data() + keys_bytes(count));
    p.m_records = reinterpret_cast<impl::dispatch_record*>(p.m_ranges + count.ranges());
    p.m_parts = reinterpret_cast<impl::cpu_part_record*>(p.m_records + count.dispatches());
    p.m_words = reinterpret_cast<std::uint32_t*>(p.m_parts + count.parts());
    impl::dispatch_writer write(how);
    write.write_to(p.m_records, p.m_words, p.m_parts, p.m_ranges);
    p.m_inference = impl::lower_variant(v, write).inference;
    p.m_dispatches = write.dispatches();
    p.m_scratch_bytes = write.scratch_bytes();
    p.m_weight_bytes = static_cast<std::size_t>(write.panels().all_bytes());
    p.m_pipelines = write.pipelines();
    p.m_part_count = write.parts();
    for (int i = 0; i < p.m_pipelines; ++i) p.m_keys[i] = write.pipeline_keys()[i];
    impl::place_barriers(v, how.choosing_lengths(), p.m_records, p.m_inference);
    made = p;
    return {};
  }
  /// For a variant of a model; not_open and bad_variant too.
  static status make(const model& m, const plan_settings& how, span<std::byte> memory, plan& made, int variant = 0) {
    if (const status s = m.check_variant(variant); !s) return s;
    return make(m.variant(variant), how, memory, made).in_variant(variant);
  }

  bool is_ready() const { return m_records != nullptr; }
  const variant_view& variant() const { return m_variant; }
  const plan_settings& settings() const { return m_settings; }
  /// Bytes of the arena buffer, with the scratch behind it that only dispatches of one step share; weights are the
  /// model's weights section as it is.
  std::size_t required_arena_bytes() const {
    if (m_scratch_bytes == 0) return m_variant.shared_bytes();
    return static_cast<std::size_t>(impl::scratch_begin(m_variant)) + m_scratch_bytes;
  }

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
  /// Bytes of the weights that sessions bind, where they are 16-bit floats (gpu/half_weights.hpp); 0: the weights
  /// section as it is.
  std::size_t weight_bytes() const { return m_weight_bytes; }
  /// Steps that run on the CPU.
  int cpu_step_count() const {
    int n = 0;
    for (int i = 0; i < m_inference; ++i) n += m_records[i].pipeline == impl::dispatch_record::on_cpu ? 1 : 0;
    return n;
  }
  /// Bytes of scratch alone that dispatch `i` reads and writes.
  gpu::traffic scratch_traffic(int i) const {
    return {m_records[i].scratch_read.bytes, m_records[i].scratch_written.bytes, 0};
  }
  /// Bytes that dispatch `i` reads and writes. Operands of a step are counted with its first dispatch, scratch with the
  /// one that uses it.
  gpu::traffic traffic(int i) const {
    const impl::dispatch_record& r = m_records[i];
    gpu::traffic found = scratch_traffic(i);
    if (i > 0 && m_records[i - 1].step == r.step) return found;
    if (r.merged >= 0) {
      found.add(impl::traffic_of_merged(m_variant, r, m_settings.lengths()));
    } else if (r.step >= 0) {
      found.add(impl::traffic_of_step(m_variant.step(r.step), r.halves, m_settings.lengths()));
    } else {
      const std::uint64_t bytes =
          impl::distinct_bytes(m_variant.state(-1 - r.step).tensor(), m_settings.lengths(), false);
      found.add({bytes, bytes, 0});
    }
    return found;
  }
  /// Bytes that a whole inference reads and writes.
  gpu::traffic traffic() const {
    gpu::traffic sum;
    for (int i = 0; i < m_inference; ++i) sum.add(traffic(i));
    return sum;
  }
  /// Parts of steps without a shader, between which and around which there are parts of dispatches: one more than
  /// these. Both kinds have numbers of their own: part 0 of the dispatches, part 0 of the CPU, part 1 of the
  /// dispatches.
  int cpu_part_count() const { return m_part_count; }
  cpu_part_view cpu_part(int i) const {
    const impl::cpu_part_record& r = m_parts[i];
    const arena_range* const first = m_ranges + r.first_range;
    return {r.first_step,
            r.steps,
            {first, static_cast<std::size_t>(r.read_backs)},
            {first + r.read_backs, static_cast<std::size_t>(r.uploads)}};
  }
  /// The dispatches between two parts of the CPU: number of the first one, and of the one behind the last one.
  int part_begin(int part) const { return part == 0 ? 0 : m_parts[part - 1].first_dispatch + m_parts[part - 1].steps; }
  int part_end(int part) const { return part == m_part_count ? m_inference : m_parts[part].first_dispatch; }
  /// Bytes of the largest read-back and of the largest upload: what the renderer's buffers must hold.
  std::size_t required_read_back_bytes() const {
    return largest_part([](const cpu_part_view& p) { return p.read_back_bytes(); });
  }
  std::size_t required_upload_bytes() const {
    return largest_part([](const cpu_part_view& p) { return p.upload_bytes(); });
  }
  /// Everything that has to be compiled.
  span<const pipeline_key> pipelines() const { return {m_keys, static_cast<std::size_t>(m_pipelines)}; }
  /// The dispatch that has these constants, null where it is none of this plan; for checked_device.
  const impl::dispatch_record* find_record(const std::uint32_t* constants, int count) const {
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
    return begin < m_dispatches && address_of(begin) == address ? &m_records[begin] : find_seeded(constants, count);
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
  /// The constants of a seeded dispatch are a copy with a random source in it: it is found by the others.
  const impl::dispatch_record* find_seeded(const std::uint32_t* constants, int count) const {
    constexpr int source_words = 4;
    for (int i = 0; i < m_dispatches; ++i) {
      const impl::dispatch_record& r = m_records[i];
      if (!r.seeded || r.word_count != count || count < source_words) continue;
      const std::size_t bytes = static_cast<std::size_t>(count - source_words) * sizeof *constants;
      if (std::memcmp(constants + source_words, m_words + r.first_word + source_words, bytes) == 0) return &r;
    }
    return nullptr;
  }
  static constexpr std::size_t padded(std::size_t n) { return (n + 7) / 8 * 8; }
  static std::size_t keys_bytes(const impl::dispatch_writer& w) {
    return padded(static_cast<std::size_t>(w.pipelines()) * sizeof(pipeline_key));
  }
  static std::size_t bytes_of(const impl::dispatch_writer& w) {
    return keys_bytes(w) + static_cast<std::size_t>(w.dispatches()) * sizeof(impl::dispatch_record) +
           static_cast<std::size_t>(w.ranges()) * sizeof(arena_range) +
           static_cast<std::size_t>(w.parts()) * sizeof(impl::cpu_part_record) + std::size_t{w.words()} * 4;
  }
  template <class Bytes>
  std::size_t largest_part(Bytes bytes) const {
    std::size_t largest = 0;
    for (int i = 0; i < m_part_count; ++i) {
      if (const std::size_t n = bytes(cpu_part(i)); n > largest) largest = n;
    }
    return largest;
  }
  dispatch_view view(const impl::dispatch_record& r) const {
    dispatch_view d;
    d.step = r.step < 0 ? -1 : r.step;
    d.on_cpu = r.pipeline == impl::dispatch_record::on_cpu;
    d.barrier = r.barrier;
    d.pipeline = r.pipeline;
    d.constants = {m_words + r.first_word, r.word_count};
    for (int i = 0; i < 3; ++i) d.groups[i] = r.groups[i];
    d.merged = r.merged;
    d.seeded = r.seeded;
    return d;
  }
  variant_view m_variant;
  plan_settings m_settings;
  pipeline_key* m_keys = nullptr;
  impl::dispatch_record* m_records = nullptr;
  std::uint32_t* m_words = nullptr;
  impl::cpu_part_record* m_parts = nullptr;
  arena_range* m_ranges = nullptr;
  std::uint32_t m_scratch_bytes = 0;
  std::size_t m_weight_bytes = 0;
  int m_dispatches = 0, m_inference = 0, m_pipelines = 0, m_part_count = 0;
};

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
