// SPDX-License-Identifier: MIT
#pragma once
/// A session: one model, one block of the caller's memory, and the ways to run it.
///
/// Every way of running computes the same bits. A session belongs to one thread at a time; lanes that the caller's jobs
/// run are the exception. It allocates nothing and starts no thread. It can be moved, not copied (two would share one
/// arena); a moved-from session may only be destroyed or assigned to. The model's bytes and the memory must outlive it.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <utility>
#include <netsuke/run/settings.hpp>
#include <netsuke/run/port_key.hpp>
#include <netsuke/core/checked_span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/ops/every_op.hpp>
#include <netsuke/run/impl/bindings.hpp>
#include <netsuke/run/budget.hpp>
#include <netsuke/run/impl/requirements.hpp>
#include <netsuke/run/impl/jobs.hpp>
#include <netsuke/run/impl/lane.hpp>
#include <netsuke/run/impl/counted_lengths.hpp>
#include <netsuke/run/impl/serial.hpp>
#include <netsuke/run/impl/slices.hpp>
#include <netsuke/run/impl/states.hpp>
#include <netsuke/run/impl/supported.hpp>

NSK_BEGIN
template <class Settings = default_settings>
class session {
  static constexpr impl::settings_fault fault = impl::settings_fault_of<Settings>();
  static_assert(fault != impl::settings_fault::no_class, NSK_IMPL_SETTINGS_CLASS);
  static_assert(fault != impl::settings_fault::ops, NSK_IMPL_SETTINGS_OPS);
  static_assert(fault != impl::settings_fault::functions, NSK_IMPL_SETTINGS_FUNCTIONS);
  static_assert(fault != impl::settings_fault::winograd, NSK_IMPL_SETTINGS_WINOGRAD);
  static_assert(fault != impl::settings_fault::bindable_ports, NSK_IMPL_SETTINGS_PORTS);
  static_assert(fault != impl::settings_fault::profiler, NSK_IMPL_SETTINGS_PROFILER);

 public:
  using settings = impl::settings_or_default<Settings>;
  using profiler_type = typename settings::profiler;

  session() = default;
  /// Prepares `memory` for running a variant of `m` and resets its states. `memory` starts at a multiple of
  /// arena_alignment and has at least m.required_bytes(lanes, variant) bytes; its size decides how many lanes there
  /// are. Ask status() before anything else.
  session(const model& m, span<std::byte> memory, int variant = 0) { m_status = start(m, memory, variant); }
  session(session&&) = default;
  session& operator=(session&&) = default;
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Whether the session can run, and if not, why.
  nsk::status status() const { return m_status; }
  explicit operator bool() const { return static_cast<bool>(m_status); }
  variant_view variant() const { return m_variant; }
  /// Number of lanes that the memory has scratch for.
  int lanes() const { return m_lanes; }

  // --- inputs and outputs ---
  int input_count() const { return m_variant.input_count(); }
  int output_count() const { return m_variant.output_count(); }
  port_view input_info(int i) const { return m_variant.input(i); }
  port_view output_info(int i) const { return m_variant.output(i); }

  /// Returns the elements of an input, to be written before a run; they keep their values from run to run. T is the
  /// port's type (float, std::int32_t, ...); `which` is its number or its name. For a wrong number, name or type, for
  /// an input that is bound, and where the session cannot run, the result is false and has a status: test it, or copy
  /// with write(). Elements that are not there cannot be written: to try ends the program, with NDEBUG too
  /// (checked_span).
  template <class T>
  checked_span<T> input(port_key which = 0) {
    static_assert(is_element_type<T>, NSK_IMPL_ELEMENT);
    return elements_of<T>(which.input_of(m_variant), status_place::input);
  }
  /// Makes `elements` those of an input, and returns the status; where there are none the span becomes empty.
  template <class T>
  nsk::status input(port_key which, span<T>& elements) {
    const checked_span<T> found = input<T>(which);
    elements = found ? span<T>(found) : span<T>();
    return found.status();
  }
  /// Copies `values` to an input: as many as it has, or, in a batch of fewer rows, as those rows have.
  template <class T>
  nsk::status write(port_key which, span<const T> values) {
    const checked_span<T> to = input<T>(which);
    if (!to) return to.status();
    const int i = which.input_of(m_variant);
    if (values.size() != elements_in_use(input_info(i))) return {status_code::wrong_size, status_place::input, i};
    std::memcpy(to.data(), values.data(), values.size() * sizeof(T));
    return {};
  }

  /// Returns the elements of an output, valid from the end of a run until the next one starts; as input().
  template <class T>
  checked_span<const T> output(port_key which = 0) const {
    static_assert(is_element_type<T>, NSK_IMPL_ELEMENT);
    return elements_of<const T>(which.output_of(m_variant), status_place::output);
  }
  template <class T>
  nsk::status output(port_key which, span<const T>& elements) const {
    const checked_span<const T> found = output<T>(which);
    elements = found ? span<const T>(found) : span<const T>();
    return found.status();
  }
  /// Copies an output to `values`: as many as it has, or, in a batch of fewer rows, as those rows have.
  template <class T>
  nsk::status read(port_key which, span<T> values) const {
    const checked_span<const T> from = output<T>(which);
    if (!from) return from.status();
    const int i = which.output_of(m_variant);
    if (values.size() != elements_in_use(output_info(i))) return {status_code::wrong_size, status_place::output, i};
    std::memcpy(values.data(), from.data(), values.size() * sizeof(T));
    return {};
  }
  /// The bytes of a port, whatever its type.
  checked_span<std::byte> input_bytes(port_key which) {
    return bytes_of<std::byte>(which.input_of(m_variant), status_place::input);
  }
  checked_span<const std::byte> output_bytes(port_key which) const {
    return bytes_of<const std::byte>(which.output_of(m_variant), status_place::output);
  }

  /// Lets runs read an input from `block` instead of the arena: port bytes, then over_read more bytes that may be read
  /// but do not matter. Aligned to the element type; overlaps no other block of the session. An empty block unbinds.
  /// Takes effect at the next start of a run.
  nsk::status bind_input(port_key which, span<const std::byte> block) {
    const int i = which.input_of(m_variant);
    if (i < 0 || i >= input_count()) return {status_code::no_such_port, status_place::input, i};
    std::byte* const from = const_cast<std::byte*>(block.data());
    return {m_inputs.bind(i, input_info(i), from, block.size(), over_read), status_place::input, i};
  }
  /// Lets runs write an output to `block`: port bytes, and over_read more where steps also read the output
  /// (output_is_read).
  nsk::status bind_output(port_key which, span<std::byte> block) {
    const int i = which.output_of(m_variant);
    if (i < 0 || i >= output_count()) return {status_code::no_such_port, status_place::output, i};
    const std::size_t pad = output_is_read(i) ? over_read : 0;
    return {m_outputs.bind(i, output_info(i), block.data(), block.size(), pad), status_place::output, i};
  }
  /// Whether a step reads an output, so that a block bound to it needs over_read bytes more.
  bool output_is_read(port_key which) const { return impl::output_is_read(m_variant, which.output_of(m_variant)); }

  /// Lets runs compute the first `rows` rows of a batch, 1 to variant().batch(), each with the bits that it has alone;
  /// a new session computes all. Later rows of inputs do not matter. Abandons an inference that run_for() has begun.
  nsk::status set_batch(int rows) {
    if (rows < 1 || rows > m_variant.batch()) return {status_code::rows_out_of_range, rows};
    restart();
    m_lengths.set_rows(m_variant, rows);
    return {};
  }
  /// Lets runs compute with a length of `value` (variant_view::length); a new session has the bounds. Ports are dense
  /// for the new shapes: write inputs again. Abandons what run_for() has begun. "batch" means the rows of a batch.
  nsk::status set_length(const char* name, int value) {
    if (m_variant.batch() > 0 && std::strcmp(name, "batch") == 0) return set_batch(value);
    restart();
    return m_lengths.set(m_variant, name, value);
  }
  /// Sets all lengths, and the rows of a batch, to their bounds.
  void reset_lengths() {
    restart();
    m_lengths.reset(m_variant);
  }
  /// The lengths of a run, for tensor_info::view; null where all are at their bounds.
  length_values lengths() const { return m_lengths.values(); }

  // --- running ---
  /// Runs a whole inference on this thread, from the start.
  void run() {
    require_ready();
    restart();
    for (impl::serial_tiles tiles{0, 0}; m_step < step_count(); end_step()) {
      const step_view s = m_variant.step(m_step);
      tiles = impl::tiles_after(tiles, s, tiles_of(s));
      traced([&] { impl::run_lane<settings>(memory(), s, scratch(0), tiles); });
    }
    finish();
  }

  /// Runs a whole inference with `lane_count` lanes (0 = all that the memory has scratch for): one
  /// jobs.parallel_for(lane_count, f) per step that has several tiles (run/impl/jobs.hpp).
  template <class Jobs>
  void run(Jobs&& jobs, int lane_count = 0) {
    static_assert(impl::is_job_system<Jobs>, NSK_IMPL_JOBS);
    require_ready();
    restart();
    for (; m_step < step_count(); end_step()) {
      const step_view s = m_variant.step(m_step);
      traced([&] { share(jobs, lane_count, s, 0, tiles_of(s)); });
    }
    finish();
  }

  /// Runs tiles until `budget` is used up, at least one. Returns true when the inference is complete; the next call
  /// starts a new one. `clock()` returns nsk::microseconds or a number of microseconds. Inputs must not change between
  /// start and completion.
  template <class Clock>
  bool run_for(microseconds budget, Clock&& clock) {
    static_assert(impl::is_clock<Clock>, NSK_IMPL_CLOCK);
    using source = impl::tiles_until<impl::serial_tiles, std::remove_reference_t<Clock>>;
    begin_slice();
    impl::deadline<std::remove_reference_t<Clock>> limit(clock, budget);
    bool any = false;
    while (m_step < step_count()) {
      const step_view s = m_variant.step(m_step);
      source tiles{{m_tile, tiles_of(s)}, limit, any};
      traced([&] { impl::run_lane<settings>(memory(), s, scratch(0), tiles); });
      limit = tiles.limit;
      any = any || tiles.started;
      if (!advance(tiles.source.next, tiles_of(s))) return false;
    }
    finish();
    return true;
  }

  /// run_for() with lanes. Each lane takes at least one tile per step and slice.
  template <class Clock, class Jobs>
  bool run_for(microseconds budget, Clock&& clock, Jobs&& jobs, int lane_count = 0) {
    static_assert(impl::is_clock<Clock>, NSK_IMPL_CLOCK);
    static_assert(impl::is_job_system<Jobs>, NSK_IMPL_JOBS);
    using source = impl::tiles_until<impl::shared_tiles, std::remove_reference_t<Clock>>;
    begin_slice();
    const std::int64_t end = impl::read_clock(clock) + budget.count;
    while (m_step < step_count()) {
      const step_view s = m_variant.step(m_step);
      tile_counter counter(m_tile);
      const auto lane = [&](int i) {
        const std::int64_t left = end - impl::read_clock(clock);
        source tiles{{&counter, tiles_of(s)}, {clock, {left}}, false};
        impl::run_lane<settings>(memory(), s, scratch(i), tiles);
      };
      traced([&] { impl::on_lanes(jobs, lanes_for(lane_count, tiles_of(s) - m_tile), lane); });
      const std::int32_t done = counter.value() < tiles_of(s) ? counter.value() : tiles_of(s);
      if (!advance(done, tiles_of(s))) return false;
      if (m_step < step_count() && impl::read_clock(clock) >= end) return false;
    }
    finish();
    return true;
  }

  /// Runs as many tiles as fit in `amount` of work, at least one: the same cut on every machine. Returns true when the
  /// inference is complete; the next call starts a new one.
  bool run_for(work amount) {
    return run_work(amount, [this](const step_view& s, std::int32_t begin, std::int32_t end) {
      impl::serial_tiles tiles{begin, end};
      impl::run_lane<settings>(memory(), s, scratch(0), tiles);
    });
  }
  /// run_for() of an amount of work with lanes; the cut is that of one thread.
  template <class Jobs>
  bool run_for(work amount, Jobs&& jobs, int lane_count = 0) {
    static_assert(impl::is_job_system<Jobs>, NSK_IMPL_JOBS);
    return run_work(amount, [&](const step_view& s, std::int32_t begin, std::int32_t end) {
      share(jobs, lane_count, s, begin, end);
    });
  }

  /// No other budget exists: a sentence says so.
  template <class Budget, class... Others, class = impl::if_no_budget<Budget>>
  bool run_for(Budget&&, Others&&...) {
    static_assert(sizeof(Budget) == 0, NSK_IMPL_BUDGET);
    return false;
  }

  /// Abandons an inference that run_for() has begun; the next call starts anew. States keep the values of the last
  /// complete inference, except those that steps update in place.
  void restart() {
    m_tile = m_step = 0;
    m_flags = 0;
  }
  /// Where run_for() stands: the next step to run, 0 before the start.
  int current_step() const { return m_step; }

  // --- for job graphs that drive tiles themselves ---
  int step_count() const { return m_variant.step_count(); }
  /// Number of tiles of a step; where steps before it count lengths, as many as there are at the bounds of those.
  int tile_count(int step_index) const { return impl::max_tile_count<settings>(m_variant, step_index, m_lengths); }
  step_view step_info(int step_index) const { return m_variant.step(step_index); }
  /// Computes one tile with the scratch of `lane`. All tiles of a step may run at once, on different lanes; all of them
  /// must be complete before the first tile of the next step. Call finish() after the last.
  void run_tile(int step_index, int tile, int lane) {
    NSK_ASSERT(step_index >= 0 && step_index < step_count() && tile >= 0 && tile < tile_count(step_index) &&
                   lane >= 0 && lane < m_lanes,
               "session::run_tile: no such step, tile or lane");
    impl::run_tile<settings>(memory(), m_lengths, m_variant.step(step_index), tile, scratch(lane));
  }
  /// Ends an inference whose tiles the caller has run: makes the new states current, and the next random numbers.
  void finish() {
    if (impl::are_counted<settings>(m_lengths)) impl::take_counts(m_lengths, memory(), 0, step_count());
    impl::commit_states(memory());
    ++m_random.run;
    m_tile = m_step = 0;
  }

  // --- states, flags, trace ---
  /// Bytes of a snapshot of all states.
  std::size_t state_bytes() const { return impl::state_bytes(m_variant); }
  /// Gives every state its initial value, and abandons an inference that run_for() has begun.
  void reset() {
    restart();
    impl::reset_states(memory());
  }
  /// Copies the states, as the last complete inference left them, to `to` (state_bytes() bytes); call between
  /// inferences.
  nsk::status save(span<std::byte> to) const {
    if (to.size() < state_bytes()) return status_code::wrong_size;
    impl::save_states(memory(), to.data());
    return {};
  }
  /// Puts a snapshot back, and abandons an inference that run_for() has begun.
  nsk::status load(span<const std::byte> from) {
    if (from.size() < state_bytes()) return status_code::wrong_size;
    restart();
    impl::load_states(memory(), from.data());
    return {};
  }
  /// Chooses the numbers of random steps. Each complete inference goes on to other numbers; seeding begins anew. Row r
  /// of a batch gets the numbers that row 0 would get with first_row + r. Abandons an inference under way.
  void seed(std::uint64_t key, std::uint32_t first_row = 0) {
    restart();
    m_random = {key, 0, first_row};
  }
  /// What the data of a complete inference made necessary, as bits of run_flag (core/flags.hpp): 0 when nothing.
  std::uint32_t flags() const { return m_flags; }
  profiler_type& profiler() { return m_profiler; }

 private:
  nsk::status start(const model& m, span<std::byte> memory_block, int variant_index) {
    if (const nsk::status s = m.check_variant(variant_index); !s) return s;
    const variant_view v = m.variant(variant_index);
    if (const nsk::status s = impl::supported<settings>(v); !s) return s.in_variant(variant_index);
    if (reinterpret_cast<std::uintptr_t>(memory_block.data()) % arena_alignment != 0)
      return status_code::misaligned_memory;
    if (memory_block.size() < v.required_bytes(1)) return status_code::too_little_memory;
    m_lanes = impl::lanes_in(v, memory_block.size());
    m_native_dot4 = impl::runs_quads<settings> && simd::has_native_dot4();
    m_variant = v;
    m_lengths.reset(v);
    m_weights = m.weights().data();
    m_arena = memory_block.data();
    reset();
    return {};
  }

  impl::memory_map memory() const {
    impl::memory_map m = impl::memory_map::of(m_variant, m_weights, m_arena);
    m.bind_ports(m_inputs.table(), m_outputs.table(), settings::bindable_ports);
    m.flags = &m_flags;
    m.random = m_random;
    m.lengths = lengths();
    m.native_dot4 = m_native_dot4;
    return m;
  }
  std::byte* scratch(int lane) const {
    return m_arena + m_variant.shared_bytes() + static_cast<std::size_t>(lane) * m_variant.lane_bytes();
  }

  std::size_t elements_in_use(const port_view& p) const { return p.elements(lengths()); }
  template <class Byte>
  checked_span<Byte> bytes_of(int i, status_place place) const {
    const bool is_input = place == status_place::input;
    if (!m_status) return m_status;
    if (i < 0 || i >= (is_input ? input_count() : output_count()))
      return nsk::status(status_code::no_such_port, place, i);
    if (is_input && m_inputs.is_bound(i)) return nsk::status(status_code::is_bound, i);
    const port_view port = is_input ? input_info(i) : output_info(i);
    return span<Byte>(memory().data(port.tensor()), port.bytes(lengths()));
  }
  template <class T>
  checked_span<T> elements_of(int i, status_place place) const {
    using byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    const checked_span<byte> bytes = bytes_of<byte>(i, place);
    if (!bytes) return bytes.status();
    if constexpr (is_element_type<T>) {
      const dtype type = place == status_place::input ? input_info(i).type() : output_info(i).type();
      if (type != dtype_of<std::remove_const_t<T>>()) return nsk::status(status_code::wrong_type, place, i);
    }
    return span<T>(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
  }

  void require_ready() const { NSK_ASSERT(m_status, "session: it cannot run: ask status() after making it"); }
  std::int32_t tiles_of(const step_view& s) const { return s.tile_count(lengths()); }

  template <class F>
  void traced(F&& f) {
    m_profiler.begin(m_step);
    f();
    m_profiler.end(m_step);
  }

  /// As many lanes as there are tiles for.
  int lanes_for(int lane_count, std::int32_t tiles) const { return impl::lanes_for(lane_count, m_lanes, tiles); }
  /// Runs the tiles [begin, end) of a step on lanes.
  template <class Jobs>
  void share(Jobs& jobs, int lane_count, const step_view& s, std::int32_t begin, std::int32_t end) {
    impl::dealt_tiles dealt(begin, end, lanes_for(lane_count, end - begin));
    impl::on_lanes(jobs, lanes_for(lane_count, end - begin), [&](int i) {
      impl::lane_tiles tiles(dealt, i);
      impl::run_lane<settings>(memory(), s, scratch(i), tiles);
    });
  }

  template <class RunTiles>
  bool run_work(work amount, RunTiles run_tiles) {
    begin_slice();
    impl::work_left left{amount.macs};
    for (bool any = false; m_step < step_count(); any = true) {
      const step_view s = m_variant.step(m_step);
      const std::uint64_t of_tile = impl::work_of(s) / static_cast<std::uint64_t>(s.tile_count());
      const std::int32_t count = tiles_of(s), taken = left.take(of_tile, count - m_tile, !any);
      if (taken == 0 && count > m_tile) return false;
      const std::int32_t end = m_tile + taken;
      traced([&] { run_tiles(s, m_tile, end); });
      if (!advance(end, count)) return false;
    }
    finish();
    return true;
  }

  void begin_slice() {  // a new inference clears what the last one reported
    require_ready();
    if (m_step == 0 && m_tile == 0) m_flags = 0;
  }
  /// Returns whether the current step is complete, and goes on to the next one then.
  bool advance(std::int32_t done, std::int32_t count) {
    m_tile = done < count ? done : 0;
    if (done < count) return false;
    end_step();
    return true;
  }
  /// Goes on to the next step, with the lengths that this one has counted.
  void end_step() {
    if (impl::are_counted<settings>(m_lengths)) impl::take_counts(m_lengths, memory(), m_step, m_step + 1);
    ++m_step;
  }

  variant_view m_variant;
  const std::byte* m_weights = nullptr;
  std::byte* m_arena = nullptr;
  int m_lanes = 0, m_step = 0;
  impl::run_lengths m_lengths;
  std::int32_t m_tile = 0;
  mutable std::uint32_t m_flags = 0;  ///< written by lanes through memory()
  random_source m_random;
  bool m_native_dot4 = false;
  nsk::status m_status = status_code::not_open;
  profiler_type m_profiler{};
  impl::bindings<settings::bindable_ports> m_inputs, m_outputs;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
