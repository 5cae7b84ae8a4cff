// SPDX-License-Identifier: MIT
#pragma once
/// Collects rows of many callers for one run: netsuke/batcher.hpp has an example.
///
/// Threads share three kinds of numbers, each an atomic word: the next slot (compare and swap), the turn of each slot
/// and the standing of each agent (one store each). No thread waits for another: a caller that finds all slots taken
/// gets a status, and a run leaves the rows behind one that is still being written to the next run.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <utility>
#include <netsuke/run/impl/slot_queue.hpp>
#include <netsuke/run/impl/row_layout.hpp>
#include <netsuke/run/session.hpp>

NSK_BEGIN
class batcher;

struct batcher_options {
  int agents = 0;  ///< who asks: numbers 0 to agents - 1
  int slots = 0;   ///< rows that can wait at the same time; with as many as agents it is never full
  span<const recurrent_pair> recurrent_states;  ///< of each agent; the names are read while the batcher is made
};

/// A slot that ask() gave to a caller, to be filled and submitted.
class batch_row {
 public:
  /// Returns the elements of this row's part of an input, to be written before submit(); what the slot held before is
  /// there. False, with a status, for a wrong number, name or type, for inputs without rows, and for recurrent states:
  /// test it, or copy with write(). Elements that are not there cannot be written (checked_span).
  template <class T>
  checked_span<T> input(port_key which = 0) const;
  /// Copies `values`, as many as the row has, to its part of an input.
  template <class T>
  nsk::status write(port_key which, span<const T> values) const;

 private:
  friend class batcher;
  batcher* m_batcher = nullptr;
  std::uint32_t m_ticket = 0;
};

/// Rows of many agents, and the runs that answer them. Any number of threads ask, for different agents; one thread at a
/// time runs. It stays where it was made; the memory and the model's bytes must outlive it.
class batcher {
 public:
  /// Returns the bytes of memory that a batcher needs, exactly; 0 for options that it refuses.
  static std::size_t required_bytes(const variant_view& v, const batcher_options& how) {
    return refusal_of(v, how) ? impl_bytes(v, how, impl::lay_out_row(v, how.recurrent_states, nullptr)) : 0;
  }
  static std::size_t required_bytes(const model& m, const batcher_options& how, int variant = 0) {
    return m.check_variant(variant) ? required_bytes(m.variant(variant), how) : 0;
  }

  /// Prepares `memory`, which starts at a multiple of arena_alignment, for rows of a variant with a batch
  /// (`nsk convert --batch-max`). Memories begin as zeros. Ask status() before anything else: bad_batch for a variant
  /// that has no rows or states of its own, and for options without agents or slots; no_such_port, other_ports (where
  /// is the number of the state), misaligned_memory, too_little_memory.
  batcher(const variant_view& v, const batcher_options& how, span<std::byte> memory) {
    m_status = start(v, how, memory);
  }
  /// For a variant of a model, as a session is made; not_open and bad_variant too.
  batcher(const model& m, const batcher_options& how, span<std::byte> memory, int variant = 0)
      : m_status(m.check_variant(variant)) {
    if (m_status) m_status = start(m.variant(variant), how, memory).in_variant(variant);
  }
  batcher(const batcher&) = delete;
  batcher& operator=(const batcher&) = delete;
  nsk::status status() const { return m_status; }
  explicit operator bool() const { return static_cast<bool>(m_status); }

  // --- callers, on any thread ---
  /// Takes a slot in the order of calls. Fill the row and submit() it; rows behind it wait until then. queue_full: all
  /// slots are taken, ask again after a run; already_waiting: the agent's last row is not answered.
  nsk::status ask(int agent, batch_row& row) {
    if (const nsk::status s = refusal_of_agent(agent); !s) return s;
    atomic_word& standing = standing_of(agent);
    const std::uint32_t before = standing.load();
    if (before == waits || !standing.replace(before, waits)) return {status_code::already_waiting, agent};
    if (!m_queue.take(row.m_ticket)) {
      standing.store(before);
      return {status_code::queue_full, agent};
    }
    m_queue.at(row.m_ticket).agent = agent;
    row.m_batcher = this;
    return {};
  }
  /// Hands a row over. The agent is answered by a later run.
  void submit(const batch_row& row) { m_queue.fill(row.m_ticket); }
  /// Both at once: `inputs` has row_bytes() bytes, the inputs that are no recurrent states in the order of the model.
  nsk::status ask(int agent, span<const std::byte> inputs) {
    if (inputs.size() != row_bytes()) return status_code::wrong_size;
    batch_row row;
    if (const nsk::status s = ask(agent, row); !s) return s;
    const std::byte* from = inputs.data();
    for (int i = 0; i < m_variant.input_count(); ++i) {
      const impl::row_part& p = m_parts[i];
      if (p.block != impl::row_block::row) continue;
      std::memcpy(inputs_of(row.m_ticket) + p.offset, from, p.bytes);
      from += p.bytes;
    }
    submit(row);
    return {};
  }
  /// Bytes of all inputs of a row that are no recurrent states.
  std::size_t row_bytes() const {
    std::size_t sum = 0;
    for (int i = 0; i < m_variant.input_count(); ++i)
      if (m_parts[i].block == impl::row_block::row) sum += m_parts[i].bytes;
    return sum;
  }

  /// Whether the batcher has an agent of this number.
  bool has_agent(int agent) const { return agent >= 0 && agent < m_agent_count; }
  /// Whether the agent has a row that is not answered.
  bool waiting(int agent) const { return has_agent(agent) && standing_of(agent).load() == waits; }
  /// Whether the agent's last row is answered.
  bool answered(int agent) const { return has_agent(agent) && standing_of(agent).load() == has_answer; }
  /// Returns the elements of an agent's part of an output, recurrent states too: those of its last answer, until it
  /// asks again. False, with a status, for a wrong agent, number, name or type, and for outputs without rows.
  template <class T>
  checked_span<const T> output(int agent, port_key which = 0) const {
    const int i = which.output_of(m_variant);
    const checked_span<const std::byte> bytes = output_bytes(agent, i);
    if (!bytes) return bytes.status();
    if (m_variant.output(i).type() != dtype_of<T>())
      return nsk::status(status_code::wrong_type, status_place::output, i);
    return span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }
  /// output(), of any type.
  checked_span<const std::byte> output_bytes(int agent, port_key which = 0) const {
    const int i = which.output_of(m_variant);
    const impl::row_part p = is_output(i) ? m_parts[m_variant.input_count() + i] : impl::row_part();
    if (const nsk::status s = refusal_of_output(agent, i, p); !s) return s;
    const std::byte* const block = p.block == impl::row_block::recurrent_state ? state_of(agent) : outputs_of(agent);
    return span<const std::byte>(block + p.offset, p.bytes);
  }
  /// Copies an agent's part of an output to `values`, which has as many elements.
  template <class T>
  nsk::status read(int agent, port_key which, span<T> values) const {
    const checked_span<const T> from = output<T>(agent, which);
    if (!from) return from.status();
    if (values.size() != from.size()) return {status_code::wrong_size, status_place::agent, agent};
    std::memcpy(values.data(), from.data(), from.size() * sizeof(T));
    return {};
  }
  /// Returns the recurrent states of an agent, in the order of the options, each at a multiple of 16 bytes: to be
  /// saved, put back, or given other values while the agent does not wait. False for a wrong agent.
  checked_span<std::byte> recurrent_states(int agent) {
    if (const nsk::status s = refusal_of_agent(agent); !s) return s;
    return span<std::byte>(state_of(agent), m_sizes.recurrent_states);
  }
  /// Makes the recurrent states of an agent that does not wait zeros.
  void reset(int agent) { std::memset(recurrent_states(agent).data(), 0, m_sizes.recurrent_states); }

  // --- the thread that runs ---
  /// Answers the oldest rows, at most as many as the batch has, in one run: net.run(how...), so run(net, jobs, lanes)
  /// is possible. Does nothing where no agent waits. `net` runs the variant of the batcher and has unbound inputs;
  /// otherwise other_ports or is_bound, and rows keep waiting.
  template <class Session, class... How>
  nsk::status run(Session& net, How&&... how) {
    int rows = 0;
    if (const nsk::status s = gather(net, rows); !s || rows == 0) return s;
    net.run(std::forward<How>(how)...);
    scatter(net);
    return {};
  }
  /// The parts of run(), for inferences that take several frames: gather() fills the inputs of `net` and sets its
  /// batch, the caller runs it with run_for(), scatter() answers. `rows` becomes the number of rows, 0 where no agent
  /// waits; a second gather() before scatter() changes nothing. Callers may ask all the time.
  template <class Session>
  nsk::status gather(Session& net, int& rows) {
    rows = m_rows;
    if (m_rows > 0) return {};
    if (const nsk::status s = check_session(net); !s) return s;
    while (rows < m_variant.batch() && m_queue.front()) take_row(net, rows++);
    m_rows = rows;
    m_served = 0;
    return rows > 0 ? net.set_batch(rows) : nsk::status();
  }
  template <class Session>
  void scatter(Session& net) {
    for (int row = 0; row < m_rows; ++row) {
      const int agent = m_agents[row];
      for (int i = 0; i < m_variant.output_count(); ++i) {
        const impl::row_part& p = m_parts[m_variant.input_count() + i];
        if (p.bytes == 0) continue;
        std::byte* const block = p.block == impl::row_block::recurrent_state ? state_of(agent) : outputs_of(agent);
        std::memcpy(block + p.offset, net.output_bytes(i).data() + static_cast<std::size_t>(row) * p.bytes, p.bytes);
      }
      standing_of(agent).store(has_answer);
    }
    m_served = m_rows;
    m_rows = 0;
  }
  /// Returns ok for a session that answers these rows: one of the batcher's variant with unbound inputs; other_ports or
  /// is_bound for another.
  template <class Session>
  nsk::status check_session(Session& net) const {
    const bool same_counts =
        net.input_count() == m_variant.input_count() && net.output_count() == m_variant.output_count();
    if (!same_counts || net.variant().batch() != m_variant.batch()) return status_code::other_ports;
    for (int i = 0; i < net.input_count(); ++i) {
      if (net.input_info(i).bytes() != m_variant.input(i).bytes())
        return {status_code::other_ports, status_place::input, i};
      if (m_parts[i].bytes > 0 && !net.input_bytes(i)) return net.input_bytes(i).status();
    }
    for (int i = 0; i < net.output_count(); ++i)
      if (net.output_info(i).bytes() != m_variant.output(i).bytes())
        return {status_code::other_ports, status_place::output, i};
    return {};
  }
  /// Rows that the last run answered, 0 where no agent waited, and who: agents in the order of their slots.
  int served() const { return m_served; }
  int served_agent(int row) const { return m_agents[row]; }

 private:
  friend class batch_row;
  enum : std::uint32_t { idle, waits, has_answer };

  static nsk::status refusal_of(const variant_view& v, const batcher_options& how) {
    if (v.batch() == 0 || v.state_count() > 0 || how.agents < 1 || how.slots < 1) return status_code::no_rows;
    return impl::check_recurrent_states(v, how.recurrent_states);
  }
  /// Bytes of the tables, of which the parts of a row are the first; then rows, each on cache lines of its own.
  static std::size_t table_bytes(const variant_view& v) {
    const auto ports = static_cast<std::size_t>(v.input_count() + v.output_count());
    return impl::aligned_row(ports * sizeof(impl::row_part)) +
           impl::aligned_row(static_cast<std::size_t>(v.batch()) * sizeof(int));
  }
  static std::size_t agent_bytes(const impl::row_sizes& s) {
    return impl::row_alignment + impl::aligned_row(s.outputs) + impl::aligned_row(s.recurrent_states);
  }
  static std::size_t impl_bytes(const variant_view& v, const batcher_options& how, const impl::row_sizes& s) {
    const auto slots = static_cast<std::size_t>(how.slots);
    return table_bytes(v) + impl::aligned_row(slots * sizeof(impl::slot)) + slots * impl::aligned_row(s.inputs) +
           static_cast<std::size_t>(how.agents) * agent_bytes(s);
  }

  nsk::status start(const variant_view& v, const batcher_options& how, span<std::byte> memory) {
    if (const nsk::status s = refusal_of(v, how); !s) return s;
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % arena_alignment != 0) return status_code::misaligned_memory;
    m_sizes = impl::lay_out_row(v, how.recurrent_states, nullptr);
    const std::size_t bytes = impl_bytes(v, how, m_sizes), slots = static_cast<std::size_t>(how.slots);
    if (memory.size() < bytes) return status_code::too_little_memory;
    std::memset(memory.data(), 0, bytes);  // agents are idle, recurrent states zeros
    m_variant = v;
    m_agent_count = how.agents;
    m_slot_count = static_cast<std::uint32_t>(how.slots);
    m_parts = reinterpret_cast<impl::row_part*>(memory.data());
    impl::lay_out_row(v, how.recurrent_states, m_parts);
    std::byte* const slots_at = memory.data() + table_bytes(v);
    m_agents = reinterpret_cast<int*>(slots_at - impl::aligned_row(static_cast<std::size_t>(v.batch()) * sizeof(int)));
    m_queue.start(reinterpret_cast<impl::slot*>(slots_at), m_slot_count);
    m_rows_at = slots_at + impl::aligned_row(slots * sizeof(impl::slot));
    m_agents_at = m_rows_at + slots * impl::aligned_row(m_sizes.inputs);
    return {};
  }

  /// Copies the oldest row to row `row` of the inputs; its slot is free from then on.
  template <class Session>
  void take_row(Session& net, int row) {
    const std::uint32_t slot = m_queue.front_slot();
    const int agent = m_queue.at(slot).agent;
    for (int i = 0; i < m_variant.input_count(); ++i) {
      const impl::row_part& p = m_parts[i];
      if (p.bytes == 0) continue;
      const std::byte* const block = p.block == impl::row_block::recurrent_state ? state_of(agent) : inputs_of(slot);
      std::memcpy(net.input_bytes(i).data() + static_cast<std::size_t>(row) * p.bytes, block + p.offset, p.bytes);
    }
    m_agents[row] = agent;
    m_queue.pop();
  }

  /// Elements of a row's part of an input; `ticket` is its slot.
  template <class T>
  checked_span<T> row_input(std::uint32_t ticket, port_key which) const {
    const int i = which.input_of(m_variant);
    if (i < 0 || i >= m_variant.input_count()) return nsk::status(status_code::no_such_port, status_place::input, i);
    const impl::row_part p = m_parts[i];
    if (p.block != impl::row_block::row) return nsk::status(status_code::not_of_a_row, status_place::input, i);
    if (m_variant.input(i).type() != dtype_of<T>()) return nsk::status(status_code::wrong_type, status_place::input, i);
    return span<T>(reinterpret_cast<T*>(inputs_of(ticket) + p.offset), p.bytes / sizeof(T));
  }
  bool is_output(int i) const { return i >= 0 && i < m_variant.output_count(); }
  nsk::status refusal_of_output(int agent, int i, const impl::row_part& p) const {
    if (const nsk::status s = refusal_of_agent(agent); !s) return s;
    if (!is_output(i)) return {status_code::no_such_port, status_place::output, i};
    if (p.bytes == 0) return {status_code::not_of_a_row, status_place::output, i};
    return {};
  }
  std::byte* inputs_of(std::uint32_t ticket) const {
    return m_rows_at + ticket % m_slot_count * impl::aligned_row(m_sizes.inputs);
  }
  std::byte* agent_at(int agent) const { return m_agents_at + static_cast<std::size_t>(agent) * agent_bytes(m_sizes); }
  atomic_word& standing_of(int agent) const { return *reinterpret_cast<atomic_word*>(agent_at(agent)); }
  std::byte* outputs_of(int agent) const { return agent_at(agent) + impl::row_alignment; }
  std::byte* state_of(int agent) const { return outputs_of(agent) + impl::aligned_row(m_sizes.outputs); }
  nsk::status refusal_of_agent(int agent) const {
    if (!m_status) return m_status;
    return has_agent(agent) ? nsk::status() : nsk::status(status_code::no_such_agent, agent);
  }

  variant_view m_variant;
  impl::row_sizes m_sizes;
  nsk::status m_status = status_code::not_open;
  impl::row_part* m_parts = nullptr;
  int* m_agents = nullptr;  ///< of the rows of the last run
  std::byte *m_rows_at = nullptr, *m_agents_at = nullptr;
  int m_agent_count = 0, m_rows = 0, m_served = 0;
  std::uint32_t m_slot_count = 0;
  impl::slot_queue m_queue;
};

template <class T>
checked_span<T> batch_row::input(port_key which) const {
  if (!m_batcher) return nsk::status(status_code::no_such_slot);
  return m_batcher->row_input<T>(m_ticket, which);
}
template <class T>
nsk::status batch_row::write(port_key which, span<const T> values) const {
  const checked_span<T> to = input<T>(which);
  if (!to) return to.status();
  if (values.size() != to.size()) return status_code::wrong_size;
  std::memcpy(to.data(), values.data(), to.size() * sizeof(T));
  return {};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
