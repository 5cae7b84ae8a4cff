// SPDX-License-Identifier: MIT
#pragma once
/// Traces for chrome://tracing and ui.perfetto.dev: the trace event format as text in the caller's block.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <type_traits>
#include <netsuke/format/step_view.hpp>
#include <netsuke/log/impl/json_text.hpp>

NSK_BEGIN
/// Takes no text: a trace keeps what its block has space for. A sink of your own is called as sink(span<const char>).
struct no_sink {
  void operator()(span<const char> /*text*/) const {}
};

/// What a game does with a network in a frame.
enum class trace_stage : std::uint8_t { input, inference, output };
inline const char* name_of(trace_stage s) {
  return s == trace_stage::input ? "input" : s == trace_stage::inference ? "inference" : "output";
}

/// Tracks of a trace from top to bottom: stages, steps, then one for each lane.
enum trace_track : std::int32_t { stage_track = 0, step_track = 1, first_lane_track = 2 };

/// One bar of a trace. `category`, step, MACs and bytes are optional.
struct trace_event {
  const char* name = "";
  const char* category = "";
  std::int64_t begin = 0, end = 0;  ///< nanoseconds
  std::int32_t track = stage_track;
  std::int32_t step = -1;  ///< -1: no step, and no MACs and bytes
  const char* operator_name = "";
  std::uint64_t macs = 0, bytes = 0;
};

/// Writes events in the order of calls. The text is complete JSON after finish(). One thread at a time.
///
/// With a block alone, what comes first is kept: an event that the block has no space for is left out whole, and
/// counted. With a sink, a full block is handed over and used again, and nothing is left out. Names longer than 200
/// bytes are cut; an event takes at most max_event_bytes.
template <class Sink = no_sink>
class trace_writer {
 public:
  /// A block of this size takes any event; shorter ones leave out those that they are too short for.
  static constexpr std::size_t max_event_bytes = 4096;

  /// Keeps the text in `block`, which must outlive it.
  explicit trace_writer(span<char> block, const char* process = "netsuke") : m_block(block) { begin(process); }
  /// Hands the text to `sink` in pieces of at most block.size() bytes.
  trace_writer(span<char> block, const Sink& sink, const char* process = "netsuke") : m_block(block), m_sink(sink) {
    begin(process);
  }
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  /// Writes a bar.
  void add(const trace_event& e) {
    append([&](impl::json_text& t) {
      t.raw(",\n{\"name\":").string(e.name).raw(",\"cat\":").string(e.category).raw(",\"ph\":\"X\",\"ts\":");
      t.microseconds(e.begin).raw(",\"dur\":").microseconds(e.end > e.begin ? e.end - e.begin : 0);
      place(t, e.track);
      if (e.step >= 0) {
        t.raw(",\"args\":{\"step\":").number(static_cast<std::uint64_t>(e.step)).raw(",\"operator\":");
        t.string(e.operator_name).raw(",\"macs\":").number(e.macs).raw(",\"bytes\":").number(e.bytes).raw("}");
      }
      t.raw("}");
    });
  }
  /// Writes a stage of a frame.
  void stage(trace_stage s, std::int64_t begin, std::int64_t end) {
    trace_event e;
    e.name = name_of(s);
    e.category = "stage";
    e.begin = begin;
    e.end = end;
    add(e);
  }
  /// Writes a step, or the share of it that one lane computed.
  void step(const step_view& s, int number, std::int64_t begin, std::int64_t end, int lane = -1) {
    trace_event e;
    e.operator_name = e.category = name_of(s.op());
    e.name = *s.name() ? s.name() : e.category;
    e.begin = begin;
    e.end = end;
    e.track = lane < 0 ? std::int32_t{step_track} : first_lane_track + lane;
    e.step = number;
    e.macs = s.macs();
    e.bytes = s.output().bytes();
    for (int i = 0; i < s.input_count(); ++i) e.bytes += s.input(i).bytes();
    add(e);
  }
  /// Names a track.
  void name_track(std::int32_t track, const char* name) {
    append([&](impl::json_text& t) {
      t.raw(",\n{\"name\":\"thread_name\",\"ph\":\"M\"");
      place(t, track);
      t.raw(",\"args\":{\"name\":").string(name).raw("}}");
    });
  }
  /// Names the track of a lane "lane 3".
  void name_lane(int lane) {
    char name[16] = "lane ";
    impl::json_text digits({name + 5, 10});
    digits.number(static_cast<std::uint64_t>(lane));
    name_track(first_lane_track + lane, name);
  }

  /// Ends the text and returns it; with a sink, hands over the rest and returns nothing. Events after it are left out,
  /// until restart(). A block too short for the beginning gives an empty text.
  span<const char> finish() {
    if (!m_begun) return {};
    if (!m_finished) {
      impl::json_text t({m_block.data() + m_size, m_block.size() - m_size});
      t.raw("\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_events\":").number(m_dropped).raw("}}\n");
      m_size += t.size();
      m_finished = true;
      if constexpr (has_sink) flush();
    }
    return {m_block.data(), m_size};
  }
  /// Begins a new text in the same block, for example every frame until one was too slow.
  void restart(const char* process = "netsuke") { begin(process); }
  /// Events that were left out, because the block was full or an event was longer than it.
  std::uint64_t dropped() const { return m_dropped; }

 private:
  static constexpr bool has_sink = !std::is_same_v<Sink, no_sink>;
  static constexpr std::size_t end_bytes = 96;  ///< finish() always has space

  void begin(const char* process) {
    m_size = 0;
    m_finished = false;
    m_begun = true;
    m_begun = append([&](impl::json_text& t) {
      t.raw("{\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":");
      t.string(process).raw("}}");
    });
    m_dropped = 0;
  }
  static void place(impl::json_text& t, std::int32_t track) {
    t.raw(",\"pid\":1,\"tid\":").number(static_cast<std::uint64_t>(track < 0 ? 0 : track));
  }
  /// Writes behind what there is, where the space before the end's suffices.
  template <class Write>
  bool try_append(const Write& write) {
    const std::size_t used = m_size + end_bytes;
    impl::json_text t({m_block.data() + m_size, m_block.size() > used ? m_block.size() - used : 0});
    write(t);
    if (t.fits()) m_size += t.size();
    return t.fits();
  }
  template <class Write>
  bool append(const Write& write) {
    const bool open = m_begun && !m_finished;
    if (open && try_append(write)) return true;
    if constexpr (has_sink) {
      if (open && m_size > 0) {
        flush();
        if (try_append(write)) return true;
      }
    }
    ++m_dropped;
    return false;
  }
  void flush() {
    m_sink(span<const char>(m_block.data(), m_size));
    m_size = 0;
  }

  span<char> m_block;
  Sink m_sink{};
  std::size_t m_size = 0;
  std::uint64_t m_dropped = 0;
  bool m_finished = false, m_begun = false;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
