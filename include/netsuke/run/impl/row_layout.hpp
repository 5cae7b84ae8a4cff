// SPDX-License-Identifier: MIT
#pragma once
/// Where the parts of a row are that a batcher keeps: the inputs of a row that waits, the outputs of an agent, and the
/// agent's recurrent states.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/status.hpp>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
/// Names a recurrent state of each agent: what a run leaves in the output is the input in the agent's next row.
struct recurrent_pair {
  const char* input;
  const char* output;
};

namespace impl {

/// Which block holds the part of a row that belongs to a port.
enum class row_block : std::uint8_t {
  none,             ///< the port has no rows: every run has one value for all
  row,              ///< inputs of a row that waits; outputs of an agent
  recurrent_state,  ///< of an agent
};

/// The part of a row that belongs to one port.
struct row_part {
  std::size_t offset = 0, bytes = 0;  ///< from the start of the block
  row_block block = row_block::none;
};

inline constexpr std::size_t row_alignment = 64;  ///< rows of different agents share no line of a cache

constexpr std::size_t aligned_row(std::size_t bytes) {
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

/// Bytes of one row of a port; 0 where it has no rows.
inline std::size_t row_bytes_of(const variant_view& v, const port_view& port) {
  return port.tensor().batch() > 0 ? port.bytes() / static_cast<std::size_t>(v.batch()) : 0;
}

/// Number in `states` of the one that names an input or output, -1 when there is none.
inline int state_of_input(span<const recurrent_pair> states, const char* name) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (std::strcmp(states[i].input, name) == 0) return static_cast<int>(i);
  }
  return -1;
}
inline int state_of_output(span<const recurrent_pair> states, const char* name) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (std::strcmp(states[i].output, name) == 0) return static_cast<int>(i);
  }
  return -1;
}

/// Sizes of the blocks of one row.
struct row_sizes {
  std::size_t inputs = 0, outputs = 0, recurrent_states = 0;
};

/// Returns the status of recurrent states that a variant cannot have: no_such_port, other_ports where type or size of a
/// row differ or a port is named twice. `where` is the number of the state.
NSK_COLD inline status check_recurrent_states(const variant_view& v, span<const recurrent_pair> states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto where = static_cast<std::int32_t>(i);
    const int input = v.find_input(states[i].input), output = v.find_output(states[i].output);
    if (input < 0 || output < 0) return {status_code::no_such_port, status_place::recurrent_state, where};
    const port_view from = v.output(output), to = v.input(input);
    const std::size_t bytes = row_bytes_of(v, to);
    const bool alike = bytes > 0 && bytes == row_bytes_of(v, from) && from.type() == to.type();
    const bool first =
        state_of_input(states, states[i].input) == where && state_of_output(states, states[i].output) == where;
    if (!alike || !first) return {status_code::other_ports, status_place::recurrent_state, where};
  }
  return {};
}

/// Returns where the next part of `bytes` bytes is in a block that ends at `end`.
inline std::size_t place_part(std::size_t& end, std::size_t bytes) {
  const std::size_t at = end;
  end += (bytes + 15) / 16 * 16;
  return at;
}

/// Returns where state `number` is in an agent's block, or, for the number of states, how long that block is.
inline std::size_t state_offset(const variant_view& v, span<const recurrent_pair> states, int number) {
  std::size_t end = 0;
  for (int i = 0; i < number; ++i)
    place_part(end, row_bytes_of(v, v.input(v.find_input(states[static_cast<std::size_t>(i)].input))));
  return end;
}

/// Returns the part of a port; `state` is the number of the recurrent state that it is one end of, or -1. A state has
/// one part, which its input and its output share.
inline row_part part_of(const variant_view& v, span<const recurrent_pair> states, const port_view& port, int state,
                        std::size_t& end) {
  const std::size_t bytes = row_bytes_of(v, port);
  if (bytes == 0) return {};
  if (state >= 0) return {state_offset(v, states, state), bytes, row_block::recurrent_state};
  return {place_part(end, bytes), bytes, row_block::row};
}

/// Returns the sizes of the blocks of one row; writes the parts of all inputs, then of all outputs, to `parts` where
/// it is not null.
NSK_COLD inline row_sizes lay_out_row(const variant_view& v, span<const recurrent_pair> states, row_part* parts) {
  row_sizes sizes;
  for (int i = 0; i < v.input_count(); ++i) {
    const port_view port = v.input(i);
    const row_part p = part_of(v, states, port, state_of_input(states, port.name()), sizes.inputs);
    if (parts) *parts++ = p;
  }
  for (int i = 0; i < v.output_count(); ++i) {
    const port_view port = v.output(i);
    const row_part p = part_of(v, states, port, state_of_output(states, port.name()), sizes.outputs);
    if (parts) *parts++ = p;
  }
  sizes.recurrent_states = state_offset(v, states, static_cast<int>(states.size()));
  return sizes;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
