// SPDX-License-Identifier: MIT
#pragma once
/// What the functions of the C interface share, and those that need no handle. Compiled where NSK_C_IMPLEMENTATION
/// names the settings type.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <type_traits>
#include <netsuke/batcher.hpp>
#include <netsuke/c/impl/watch.hpp>
#include <netsuke/c/netsuke.h>
#include <netsuke/log.hpp>
#include <netsuke/simd/isa.hpp>
#include <netsuke/netsuke.hpp>

#if defined(NSK_C_IMPLEMENTATION)
/// The program's settings, with sessions that can be watched.
struct nsk_c_settings : NSK_C_IMPLEMENTATION {
  using profiler = nsk::impl::c_profiler<typename NSK_C_IMPLEMENTATION::profiler>;
};

/// A handle is its tag and the object behind it, made by copying bytes into the caller's memory: no object holds an
/// address of its own, and none has a destructor.
struct nsk_model {
  std::uint64_t tag;
  nsk::model view;
};
struct nsk_session {
  std::uint64_t tag;
  nsk::session<nsk_c_settings> net;
};
struct nsk_batcher {
  std::uint64_t tag;
  nsk::batcher rows;
};
struct nsk_run_log {
  std::uint64_t tag;
  nsk::run_log runs;
};
struct nsk_trace {
  std::uint64_t tag;
  nsk::trace_writer<> writer;
};

NSK_BEGIN
namespace impl {

static_assert(static_cast<int>(dtype::boolean) == nsk_type_boolean, "enum nsk_type lists the values of nsk::dtype");
static_assert(std::uint32_t{index_clamped} == std::uint32_t{nsk_index_clamped} &&
                  std::uint32_t{division_by_zero} == std::uint32_t{nsk_division_by_zero} &&
                  std::uint32_t{output_truncated} == std::uint32_t{nsk_output_truncated} &&
                  std::uint32_t{length_clamped} == std::uint32_t{nsk_length_clamped},
              "enum nsk_run_flag lists the values of nsk::run_flag");
static_assert(std::is_trivially_copyable_v<nsk_model> && std::is_trivially_destructible_v<nsk_model>);
static_assert(std::is_trivially_copyable_v<nsk_session> && std::is_trivially_destructible_v<nsk_session>,
              "netsuke: the profiler of NSK_C_IMPLEMENTATION's settings must be trivially copyable and destructible");
static_assert(std::is_trivially_destructible_v<nsk_batcher> && std::is_trivially_destructible_v<nsk_run_log> &&
              std::is_trivially_destructible_v<nsk_trace>);

#define NSK_IMPL_C_COUNT(code, place, text) +1
inline constexpr std::int32_t c_status_count = 0 NSK_STATUS_LIST(NSK_IMPL_C_COUNT);
#undef NSK_IMPL_C_COUNT

inline constexpr std::size_t c_handle_alignment = 16;
static_assert(alignof(nsk_model) <= c_handle_alignment && alignof(nsk_session) <= c_handle_alignment &&
              alignof(nsk_run_log) <= c_handle_alignment && alignof(nsk_trace) <= c_handle_alignment);

/// The tag of a handle at this address: one that was closed, copied elsewhere, or is of the other kind has another.
inline std::uint64_t c_tag(const nsk_model* at) { return 0x6c65646f6d6b736eu ^ reinterpret_cast<std::uintptr_t>(at); }
inline std::uint64_t c_tag(const nsk_session* at) { return 0x7373657373736b6eu ^ reinterpret_cast<std::uintptr_t>(at); }
inline std::uint64_t c_tag(const nsk_batcher* at) { return 0x68637461626b736eu ^ reinterpret_cast<std::uintptr_t>(at); }
inline std::uint64_t c_tag(const nsk_run_log* at) { return 0x676f6c6e75726b6eu ^ reinterpret_cast<std::uintptr_t>(at); }
inline std::uint64_t c_tag(const nsk_trace* at) { return 0x65636172746b736eu ^ reinterpret_cast<std::uintptr_t>(at); }

template <class Handle>
bool c_is_handle(const Handle* handle) {
  if (handle == nullptr || reinterpret_cast<std::uintptr_t>(handle) % c_handle_alignment != 0) return false;
  std::uint64_t tag;
  std::memcpy(&tag, handle, sizeof tag);
  return tag == c_tag(handle);
}

/// A status as the C interface has it, without the place: a number of something else than nsk_status_place says of its
/// code is left out.
inline nsk_status c_status(status s) {
  const status_place listed = status(s.code()).place();
  const bool is_port = s.place() == status_place::input || s.place() == status_place::output;
  const bool counts = s.place() == listed || (listed == status_place::port && is_port);
  return {static_cast<std::int32_t>(s.code()), counts ? s.where() : -1};
}
inline nsk_status c_bad_handle() { return {nsk_status_bad_handle, -1}; }
inline nsk_status c_bad_argument(std::int32_t number) { return {nsk_status_bad_argument, number}; }

/// Whether a handle fits into memory of the caller.
template <class Handle>
nsk_status c_check_memory(const void* memory, std::size_t bytes) {
  if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % c_handle_alignment != 0) return c_bad_argument(0);
  if (bytes < sizeof(Handle)) return c_bad_argument(1);
  return {nsk_status_ok, -1};
}

/// Puts `value` into memory of the caller as a handle, and returns it.
template <class Handle>
Handle* c_make_handle(void* memory, Handle& value) {
  Handle* const handle = static_cast<Handle*>(memory);
  value.tag = c_tag(handle);
  std::memcpy(memory, static_cast<const void*>(&value), sizeof value);
  return handle;
}

template <class Handle>
nsk_status c_close(Handle* handle) {
  if (!c_is_handle(handle)) return c_bad_handle();
  std::memset(static_cast<void*>(handle), 0, sizeof *handle);
  return {nsk_status_ok, -1};
}

/// Text, name and place of a code that the C interface alone has.
struct c_own_words {
  const char *text = "unknown status", *name = "unknown";
  status_place place = status_place::none;
};
inline c_own_words c_own_words_of(std::int32_t code) {
  switch (code) {
#define NSK_IMPL_C_WORDS(code, number, place, text) \
  case nsk_status_##code: return {text, #code, status_place::place};
    NSK_C_STATUS_LIST(NSK_IMPL_C_WORDS)
#undef NSK_IMPL_C_WORDS
    default: return {};
  }
}

inline bool c_is_engine_code(std::int32_t code) { return code >= 0 && code < c_status_count; }

#define NSK_IMPL_TEXT_OF2(x) #x
#define NSK_IMPL_TEXT_OF(x) NSK_IMPL_TEXT_OF2(x)

}
NSK_END

extern "C" {
const char* nsk_status_text(int32_t code) noexcept {
  return nsk::impl::c_is_engine_code(code) ? nsk::status(static_cast<nsk::status_code>(code)).message()
                                           : nsk::impl::c_own_words_of(code).text;
}
const char* nsk_status_name(int32_t code) noexcept {
  return nsk::impl::c_is_engine_code(code) ? nsk::status(static_cast<nsk::status_code>(code)).name()
                                           : nsk::impl::c_own_words_of(code).name;
}
const char* nsk_status_place(int32_t code) noexcept {
  return nsk::impl::c_is_engine_code(code) ? nsk::name_of(nsk::status(static_cast<nsk::status_code>(code)).place())
                                           : nsk::name_of(nsk::impl::c_own_words_of(code).place);
}
nsk_status nsk_check_library(uint32_t c_version) noexcept {
  if (c_version != NSK_C_VERSION) return {nsk_status_wrong_library, -1};
  if (!nsk::cpu_supports()) return {nsk_status_unsupported_cpu, -1};
  return {nsk_status_ok, -1};
}
uint32_t nsk_c_version(void) noexcept { return NSK_C_VERSION; }
const char* nsk_library_version(void) noexcept { return NSK_VERSION_STRING; }
uint32_t nsk_format_version(void) noexcept { return NSK_FORMAT_VERSION; }
const char* nsk_library_isa(void) noexcept { return NSK_IMPL_TEXT_OF(NSK_ISA_NAME); }
size_t nsk_handle_alignment(void) noexcept { return nsk::impl::c_handle_alignment; }
size_t nsk_arena_alignment(void) noexcept { return nsk::arena_alignment; }
size_t nsk_file_alignment(void) noexcept { return nsk::file_alignment; }
size_t nsk_over_read_bytes(void) noexcept { return nsk::over_read; }
}
#endif
#include <netsuke/core/restore_macros.hpp>
