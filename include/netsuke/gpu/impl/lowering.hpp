// SPDX-License-Identifier: MIT
#pragma once
/// From steps to dispatches: `lowering<op>`, one specialisation per operator that has a shader (gpu/impl/lower_*.hpp),
/// and where the dispatches go.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/cpu_part.hpp>
#include <netsuke/gpu/impl/draft.hpp>
#include <netsuke/gpu/impl/halves.hpp>

NSK_BEGIN
namespace gpu::impl {

/// `refusal lower(step, dispatch_writer&)`: adds the dispatches of a step in order, or says why it cannot. An operator
/// without a specialisation has no shader: the CPU computes it, and refusing it is always right.
template <op>
struct lowering {
  template <class Writer>
  static refusal lower(const step_view&, Writer&) {
    return "its operator has no shader";
  }
};

/// A dispatch as a plan stores it.
struct dispatch_record {
  std::uint32_t groups[3] = {1, 1, 1};
  std::uint32_t first_word = 0;  ///< of its constants
  std::int32_t step = 0;         ///< -1 - i: the end of an inference, for state i
  std::uint16_t pipeline = 0;    ///< on_cpu: the step runs on the CPU
  std::uint8_t word_count = 0;
  bool barrier = false;           ///< before it
  bool seeded = false;            ///< its first four constants are the session's random source
  bool beside = false;            ///< it needs no barrier to the dispatch before it, of the same step
  operand_set halves = 0;         ///< of its step: those that are 16-bit floats
  operand_set merged_halves = 0;  ///< the same of step `merged`
  std::int32_t merged = -1;       ///< an earlier step that it computes as well, whose output is input 0 of its own
  /// Of a step of several dispatches: the first reads the inputs and writes scratch, the last reads scratch and writes
  /// the outputs; one that does both touches nothing else.
  scratch_range scratch_read{}, scratch_written{};

  static constexpr std::uint16_t on_cpu = 0xffff;
};

/// HALVES of a kernel (shaders/portable.h).
inline constexpr std::uint8_t half_input = 1, half_output = 2, half_residual = 4, half_second_input = 8,
                              half_weights = 16;
/// A part of a hybrid plan that runs on the CPU, as a plan stores it: its steps are as many dispatches, one after the
/// other. Its ranges are those to read back, then those to upload.
struct cpu_part_record {
  std::int32_t first_step = 0, steps = 0, first_dispatch = 0, first_range = 0, read_backs = 0, uploads = 0;
};

/// Collects dispatches: counts them, and writes them where it was given memory.
class dispatch_writer {
 public:
  static constexpr int max_pipelines = 256;

  explicit dispatch_writer(const plan_settings& how) : m_settings(how) {}
  void write_to(dispatch_record* records, std::uint32_t* words, cpu_part_record* parts, arena_range* ranges) {
    m_records = records;
    m_words = words;
    m_part = parts;
    m_range = ranges;
  }

  const plan_settings& settings() const { return m_settings; }
  length_values lengths() const { return m_settings.lengths(); }
  length_values choosing_lengths() const { return m_settings.choosing_lengths(); }
  int dispatches() const { return m_dispatches; }
  std::uint32_t words() const { return m_word_count; }
  int pipelines() const { return m_pipelines; }
  const pipeline_key* pipeline_keys() const { return m_key; }
  bool too_many_pipelines() const { return m_overflow; }
  int parts() const { return m_parts; }
  int ranges() const { return m_ranges; }

  /// Dispatches added from here on belong to this step, of which these operands are 16-bit floats.
  void begin_step(std::int32_t step, operand_set halves = 0) {
    m_step = step;
    m_halves = halves;
    m_merged = -1;
    m_merged_halves = 0;
    m_step_dispatches = m_dispatches;
    m_step_words = m_word_count;
  }
  /// They compute an earlier step as well, of which these operands are 16-bit floats.
  void merge_step(std::int32_t step, operand_set halves) {
    m_merged = step;
    m_merged_halves = halves;
  }
  /// Buffers that hold 16-bit floats.
  half_buffers& halves() { return m_half_buffers; }
  bool is_half(const tensor_info& t) const { return m_half_buffers.has(t); }
  /// Panels that are 16-bit floats, and where constants then are.
  half_panels& panels() { return m_half_panels; }
  const half_panels& panels() const { return m_half_panels; }
  /// Byte at which a buffer begins, in the arena or in the weights that are bound.
  std::uint64_t buffer_place(const tensor_info& t) const {
    return is_constant(t) ? m_half_panels.place_of(t) : t.buffer_offset();
  }
  /// Bytes behind the arena that steps of several dispatches share, and the word at which they begin.
  std::uint32_t scratch_bytes() const { return m_scratch_bytes; }
  std::uint32_t scratch_word() const { return m_scratch_word; }
  void set_scratch_begin(std::uint64_t byte) { m_scratch_word = static_cast<std::uint32_t>(byte / 4); }
  /// Adds a dispatch of the current step.
  refusal add(const draft& d) {
    if (!d.fits()) return "it needs more groups than a dispatch may have";
    dispatch_record r;
    for (int i = 0; i < 3; ++i) r.groups[i] = d.groups[i];
    r.first_word = m_word_count;
    r.step = m_step;
    r.halves = m_halves;
    r.merged = m_merged;
    r.merged_halves = m_merged_halves;
    r.scratch_read = d.scratch_read;
    r.scratch_written = d.scratch_written;
    for (const scratch_range& used : {d.scratch_read, d.scratch_written})
      if (used.end() > m_scratch_bytes) m_scratch_bytes = used.end();
    r.pipeline = static_cast<std::uint16_t>(number_of(d.key));
    r.word_count = static_cast<std::uint8_t>(d.word_count);
    r.seeded = d.seeded;
    r.beside = d.beside;
    if (m_words) std::memcpy(m_words + m_word_count, d.words, static_cast<std::size_t>(d.word_count) * 4);
    m_word_count += static_cast<std::uint32_t>(d.word_count);
    push(r);
    return nullptr;
  }
  /// Leaves the current step to the CPU, with what its lowering added before it refused.
  void add_cpu_step() {
    m_dispatches = m_step_dispatches;
    m_word_count = m_step_words;
    dispatch_record r;
    r.first_word = m_word_count;
    r.step = m_step;
    r.pipeline = dispatch_record::on_cpu;
    push(r);
  }
  void add_part(const cpu_part_record& p) {
    if (m_part) m_part[m_parts] = p;
    ++m_parts;
  }
  void add_range(const arena_range& r) {
    if (m_range) m_range[m_ranges] = r;
    ++m_ranges;
  }
  /// Adds a pipeline that no dispatch of the plan uses.
  int number_of(const pipeline_key& key) {
    for (int i = 0; i < m_pipelines; ++i) {
      if (m_key[i] == key) return i;
    }
    if (m_pipelines == max_pipelines) {
      m_overflow = true;
      return 0;
    }
    m_key[m_pipelines] = key;
    return m_pipelines++;
  }

 private:
  void push(const dispatch_record& r) {
    if (m_records) m_records[m_dispatches] = r;
    ++m_dispatches;
  }
  plan_settings m_settings;
  dispatch_record* m_records = nullptr;
  std::uint32_t* m_words = nullptr;
  cpu_part_record* m_part = nullptr;
  arena_range* m_range = nullptr;
  std::int32_t m_step = 0, m_merged = -1;
  operand_set m_halves = 0, m_merged_halves = 0;
  half_buffers m_half_buffers;
  half_panels m_half_panels;
  int m_dispatches = 0, m_step_dispatches = 0, m_pipelines = 0, m_parts = 0, m_ranges = 0;
  std::uint32_t m_word_count = 0, m_step_words = 0, m_scratch_bytes = 0, m_scratch_word = 0;
  bool m_overflow = false;
  pipeline_key m_key[max_pipelines];
};

/// Word at which the element at index 0 is, in the arena or in the weights that are bound.
inline std::uint32_t word_of(const tensor_info& t, const dispatch_writer& to) {
  return static_cast<std::uint32_t>((to.buffer_place(t) + t.offset(to.lengths())) / 4);
}
/// word_of() where the buffer may hold 16-bit floats: with `half` it counts those in place of words.
inline std::uint32_t word_of(const tensor_info& t, bool half, const dispatch_writer& to) {
  return half ? static_cast<std::uint32_t>((2 * to.buffer_place(t) + t.offset(to.lengths())) / 4) : word_of(t, to);
}
inline std::uint32_t slope_of(const step_view& s, const epilogue_params& e, const dispatch_writer& to) {
  return e.slope >= 0 ? word_of(s.input(e.slope), to) : 0;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
