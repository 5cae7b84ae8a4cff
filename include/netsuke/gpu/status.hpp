// SPDX-License-Identifier: MIT
#pragma once
/// How the GPU path reports: like nsk::status, with codes of its own, so that the CPU engine carries none of them.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

/// X(code, text).
#define NSK_GPU_STATUS_LIST(X)                                                                                         \
  X(ok, "no error")                                                                                                    \
  X(not_ready, "the plan or the session was not made: check the status that making it returned")                       \
  X(no_shader,                                                                                                         \
    "a step has no shader: `nsk inspect --gpu` says which and why; allow a hybrid plan (plan_settings::hybrid) or "    \
    "run "                                                                                                             \
    "the model on the CPU")                                                                                            \
  X(too_many_pipelines, "the model needs more than 256 different pipelines: split it")                                 \
  X(misaligned_memory, "the memory must start at a multiple of 8")                                                     \
  X(too_little_memory, "the memory is smaller than plan_bytes() or session_bytes() says")                              \
  X(too_large,                                                                                                         \
    "weights or arena are larger than the device can bind (limits::max_binding_bytes): split the model, or run it on " \
    "the CPU")                                                                                                         \
  X(pipeline_refused,                                                                                                  \
    "the driver refused a pipeline: run the model on the CPU, and report the driver's version with the pipeline's "    \
    "name")                                                                                                            \
  X(out_of_memory, "the device has too little memory: free some and make the session again, or run on the CPU")        \
  X(device_lost, "the device was lost: make device and session again, or run on the CPU")                              \
  X(no_such_port, "the model has no input or output of that number")                                                   \
  X(not_an_image,                                                                                                      \
    "the port is no dense float32 image [1, H, W, C] with as many channels as the settings' order names")              \
  X(no_texture_pipeline, "the plan was made without texture inputs or outputs: set them in plan_settings")             \
  X(bad_range, "dispatches or bytes outside the plan, the port or the buffer")                                         \
  X(misaligned_offset, "offsets and sizes of copies must be multiples of 4")                                           \
  X(no_check_vectors, "the file carries no check vectors: convert it with --embed-check")                              \
  X(check_failed, "an output differs from the recorded one: this device computes something else; run on the CPU")      \
  X(device_broken_rule, "a rule of the device was broken: checked_device::violation_text() says which")                \
  X(alpha_not_kept, "a texture is written whole: set tensor_settings::alpha to opaque, or give the tensor an alpha")   \
  X(bad_batch, "plan_settings::rows is not a number of rows that the variant computes: 0 to variant_view::batch()")    \
  X(hybrid_plan,                                                                                                       \
    "the plan has parts on the CPU: record it by parts (session::record_part), with run_cpu between them")             \
  X(bad_buffer, "a buffer of the caller is missing, or smaller than the plan or the session says")                     \
  X(no_free_slot,                                                                                                      \
    "every slot of the ring waits for the device, or holds what is being read: give it more slots, or tell it what "   \
    "is complete")

NSK_BEGIN
namespace gpu {

enum class status_code : std::uint8_t {
#define NSK_GPU_STATUS_ENUM(code, text) code,
  NSK_GPU_STATUS_LIST(NSK_GPU_STATUS_ENUM)
#undef NSK_GPU_STATUS_ENUM
};

/// Result of a call that can fail. True when it did not.
class [[nodiscard]] status {
 public:
  constexpr status() = default;
  /// `where` is the index of the step, pipeline or port that the code refers to, -1 when there is none.
  constexpr status(status_code code, std::int32_t where = -1) : m_code(code), m_where(where) {}

  constexpr explicit operator bool() const { return m_code == status_code::ok; }
  constexpr status_code code() const { return m_code; }
  constexpr std::int32_t where() const { return m_where; }
  /// Returns a static text: the cause, and what to do about it.
  const char* message() const {
    switch (m_code) {
#define NSK_GPU_STATUS_TEXT(code, text) \
  case status_code::code: return text;
      NSK_GPU_STATUS_LIST(NSK_GPU_STATUS_TEXT)
#undef NSK_GPU_STATUS_TEXT
    }
    return "unknown status";
  }
  /// Returns the code's name, for logs: "pipeline_refused".
  const char* name() const {
    switch (m_code) {
#define NSK_GPU_STATUS_NAME(code, text) \
  case status_code::code: return #code;
      NSK_GPU_STATUS_LIST(NSK_GPU_STATUS_NAME)
#undef NSK_GPU_STATUS_NAME
    }
    return "unknown";
  }

 private:
  status_code m_code = status_code::ok;
  std::int32_t m_where = -1;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
