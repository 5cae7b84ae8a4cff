// SPDX-License-Identifier: MIT
#pragma once
/// How functions report: a code, where it happened, and a text that says cause and cure. No function throws.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

/// X(code, text). Codes are append-only; netsuke/c/netsuke.h lists them too.
#define NSK_STATUS_LIST(X)                                                                                          \
  X(ok, "no error")                                                                                                 \
  X(not_open, "no model is open: call nsk::open and check its status before making a session")                      \
  X(too_short, "the bytes end before the file does: the file is truncated, or not all of it was read")              \
  X(misaligned_bytes, "the file's bytes must start at an address that is a multiple of 16: copy them there")        \
  X(bad_magic, "this is not a .nsk file: convert the model with `nsk convert`")                                     \
  X(wrong_version,                                                                                                  \
    "the file has another format version than this engine: convert the model again with the matching tool")         \
  X(bad_header, "the file header contradicts itself: the file is damaged, convert the model again")                 \
  X(wrong_hash, "the content does not match its hash: the file is damaged, copy or convert it again")               \
  X(bad_structure, "the table is not well formed: the file is damaged, convert the model again")                    \
  X(too_complex,                                                                                                    \
    "verifying the file takes longer than its size allows, because its tables share lists or its steps are "        \
    "entangled: convert the model again, or split it")                                                              \
  X(bad_variant, "the model has no such variant: use a number below variant_count()")                               \
  X(bad_buffer, "a buffer is outside its memory, is misaligned, or has an impossible lifetime")                     \
  X(bad_tensor, "a tensor's rank, type, shape, strides or border are impossible")                                   \
  X(tensor_outside_buffer, "a tensor reaches outside its buffer")                                                   \
  X(buffers_overlap, "two arena buffers that live at the same time overlap")                                        \
  X(bad_port, "a model input or output is not a dense tensor in its own buffer, or its description contradicts it") \
  X(bad_state, "a state's tensors differ in type or shape, are not dense, or do not live through the run")          \
  X(bad_check, "a check vector does not have one block of the right size per input and output")                     \
  X(unknown_op, "a step has an operator that this engine does not know: use a newer engine")                        \
  X(bad_index, "a step names a tensor that does not exist")                                                         \
  X(bad_arity, "a step has the wrong number of inputs or outputs for its operator")                                 \
  X(bad_step, "a step's shapes, types or parameters contradict its operator")                                       \
  X(bad_weights, "packed weights are missing, too small or arranged for another operator")                          \
  X(bad_tile, "a step's tiles do not cut its output as the format says")                                            \
  X(bad_scratch, "a step needs more lane scratch than the file gives it")                                           \
  X(dead_buffer, "a step uses a buffer outside its lifetime")                                                       \
  X(read_before_write, "a step reads elements that no earlier step has written")                                    \
  X(bad_overlap, "a step writes elements that belong to another tensor, or that it still reads")                    \
  X(read_only, "a step writes a constant or a model input")                                                         \
  X(unsupported_op,                                                                                                 \
    "the settings type does not list an operator that the model has: use nsk::all_settings (netsuke/all_ops.hpp), " \
    "or the type that `nsk inspect --settings` prints")                                                             \
  X(unsupported_function,                                                                                           \
    "the settings type does not list an activation that the model has: use nsk::all_settings "                      \
    "(netsuke/all_ops.hpp), or the type that `nsk inspect --settings` prints")                                      \
  X(misaligned_memory, "the session's memory must start at a multiple of nsk::arena_alignment")                     \
  X(too_little_memory, "the session's memory is smaller than model.arena_bytes()")                                  \
  X(no_such_port, "the model has no input or output of that name or number")                                        \
  X(wrong_type, "the element type differs from the port's: ask port_view::type()")                                  \
  X(wrong_size,                                                                                                     \
    "the block has the wrong size: ask port_view::bytes(); blocks that are read need over_read bytes more")         \
  X(not_bindable,                                                                                                   \
    "only the first settings::bindable_ports inputs and outputs can be bound: copy through input() or output()")    \
  X(no_check_vectors, "the file carries no check vectors: convert it with --embed-check")                           \
  X(check_failed,                                                                                                   \
    "an output differs from the recorded one: this build or machine does not compute what the converter did")       \
  X(other_ports, "inputs, outputs or states differ from those of the model to be replaced: open another session")   \
  X(bad_batch, "a batch has no rows, more than the variant has, or a step in which rows are not kept apart")        \
  X(memory_unreachable,                                                                                             \
    "the model needs more memory than 32-bit pointers can address: convert it for a smaller input or batch")        \
  X(unknown_feature, "the file needs an addition to the format that this engine does not know: use a newer engine") \
  X(queue_full, "all places of the batcher are taken: ask again after its next run, or give it more places")        \
  X(already_waiting, "this owner has asked already and has no answer yet: ask again when it is answered")           \
  X(not_prepared,                                                                                                   \
    "the file is a small one (nsk convert --small): expand it with nsk::prepare (netsuke/prepare.hpp) before it "   \
    "is opened")                                                                                                    \
  X(bad_part, "a part of a small file contradicts itself or what it stores: the file is damaged, convert it again") \
  X(bad_border,                                                                                                     \
    "a tensor has a border, but is no float32 image whose channels are neighbours in memory: the file is damaged, " \
    "convert the model again")                                                                                      \
  X(bad_rows,                                                                                                       \
    "a step reads rows of a batch from where runs of fewer rows have not written them: the file is damaged, "       \
    "convert the model again")                                                                                      \
  X(bad_sums,                                                                                                       \
    "a layer of stored integers has a scale that is no number, or sums beyond 32 bits: the file is damaged, "       \
    "convert or quantize the model again")

NSK_BEGIN
enum class status_code : std::uint8_t {
#define NSK_STATUS_ENUM(code, text) code,
  NSK_STATUS_LIST(NSK_STATUS_ENUM)
#undef NSK_STATUS_ENUM
};

/// Result of a call that can fail. True when it did not.
class [[nodiscard]] status {
 public:
  constexpr status() = default;
  /// `where` is the index of the step, tensor, buffer or port that the code refers to, -1 when there is none.
  constexpr status(status_code code, std::int32_t where = -1) : m_code(code), m_where(where) {}

  constexpr explicit operator bool() const { return m_code == status_code::ok; }
  constexpr status_code code() const { return m_code; }
  constexpr std::int32_t where() const { return m_where; }
  /// Returns a static text: the cause, and what to do about it.
  const char* message() const {
    switch (m_code) {
#define NSK_STATUS_TEXT(code, text) \
  case status_code::code: return text;
      NSK_STATUS_LIST(NSK_STATUS_TEXT)
#undef NSK_STATUS_TEXT
    }
    return "unknown status";
  }
  /// Returns the code's name, for logs: "bad_tile".
  const char* name() const {
    switch (m_code) {
#define NSK_STATUS_NAME(code, text) \
  case status_code::code: return #code;
      NSK_STATUS_LIST(NSK_STATUS_NAME)
#undef NSK_STATUS_NAME
    }
    return "unknown";
  }

 private:
  status_code m_code = status_code::ok;
  std::int32_t m_where = -1;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
