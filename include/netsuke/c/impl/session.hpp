// SPDX-License-Identifier: MIT
#pragma once
/// Sessions through the C interface: opening, ports, states.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <limits>
#include <netsuke/c/impl/library.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

/// The elements of a port of the session, for which `data` and `bytes` are wanted.
inline nsk_status c_input(nsk_session* session, std::int32_t input, span<std::byte>& elements) {
  if (!c_is_handle(session)) return c_bad_handle();
  if (input < 0 || input >= session->net.input_count()) return {nsk_status_no_such_port, input};
  const checked_span<std::byte> found = session->net.input_bytes(input);
  if (found) elements = found;
  return c_status(found.status());
}
inline nsk_status c_output(const nsk_session* session, std::int32_t output, span<const std::byte>& elements) {
  if (!c_is_handle(session)) return c_bad_handle();
  if (output < 0 || output >= session->net.output_count()) return {nsk_status_no_such_port, output};
  elements = session->net.output_bytes(output);
  return {nsk_status_ok, -1};
}

inline bool c_fits_pointer(std::uint64_t bytes) { return bytes <= std::numeric_limits<std::size_t>::max(); }

}
NSK_END

extern "C" {
size_t nsk_session_required_bytes(void) noexcept { return sizeof(nsk_session); }
nsk_status nsk_session_open(void* memory, size_t memory_bytes, const nsk_model* model, int32_t variant, void* arena,
                            size_t arena_bytes, nsk_session** session) noexcept {
  if (session == nullptr) return nsk::impl::c_bad_argument(6);
  *session = nullptr;
  if (const nsk_status s = nsk::impl::c_check_memory<nsk_session>(memory, memory_bytes); s.code != 0) return s;
  if (!nsk::impl::c_is_handle(model)) return nsk::impl::c_bad_handle();
  if (arena == nullptr) return nsk::impl::c_bad_argument(4);
  if (!nsk::cpu_supports()) return {nsk_status_unsupported_cpu, -1};
  nsk_session opened = {
      0, nsk::session<nsk_c_settings>(model->view, {static_cast<std::byte*>(arena), arena_bytes}, variant)};
  if (!opened.net) return nsk::impl::c_status(opened.net.status());
  *session = nsk::impl::c_make_handle(memory, opened);
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_close(nsk_session* session) noexcept { return nsk::impl::c_close(session); }
int32_t nsk_session_lanes(const nsk_session* session) noexcept {
  return nsk::impl::c_is_handle(session) ? session->net.lanes() : 0;
}

nsk_status nsk_session_input(nsk_session* session, int32_t input, void** data, uint64_t* bytes) noexcept {
  nsk::span<std::byte> elements;
  if (const nsk_status s = nsk::impl::c_input(session, input, elements); s.code != 0) return s;
  if (data == nullptr) return nsk::impl::c_bad_argument(2);
  if (bytes == nullptr) return nsk::impl::c_bad_argument(3);
  *data = elements.data();
  *bytes = elements.size();
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_output(const nsk_session* session, int32_t output, const void** data, uint64_t* bytes) noexcept {
  nsk::span<const std::byte> elements;
  if (const nsk_status s = nsk::impl::c_output(session, output, elements); s.code != 0) return s;
  if (data == nullptr) return nsk::impl::c_bad_argument(2);
  if (bytes == nullptr) return nsk::impl::c_bad_argument(3);
  *data = elements.data();
  *bytes = elements.size();
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_write(nsk_session* session, int32_t input, const void* data, uint64_t bytes) noexcept {
  nsk::span<std::byte> elements;
  if (const nsk_status s = nsk::impl::c_input(session, input, elements); s.code != 0) return s;
  if (data == nullptr) return nsk::impl::c_bad_argument(2);
  if (bytes != elements.size()) return {nsk_status_wrong_size, input};
  std::memcpy(elements.data(), data, elements.size());
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_read(const nsk_session* session, int32_t output, void* data, uint64_t bytes) noexcept {
  nsk::span<const std::byte> elements;
  if (const nsk_status s = nsk::impl::c_output(session, output, elements); s.code != 0) return s;
  if (data == nullptr) return nsk::impl::c_bad_argument(2);
  if (bytes != elements.size()) return {nsk_status_wrong_size, output};
  std::memcpy(data, elements.data(), elements.size());
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_bind_input(nsk_session* session, int32_t input, const void* block, uint64_t bytes) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (!nsk::impl::c_fits_pointer(bytes)) return nsk::impl::c_bad_argument(3);
  return nsk::impl::c_status(
      session->net.bind_input(input, {static_cast<const std::byte*>(block), static_cast<std::size_t>(bytes)}));
}
nsk_status nsk_session_bind_output(nsk_session* session, int32_t output, void* block, uint64_t bytes) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (!nsk::impl::c_fits_pointer(bytes)) return nsk::impl::c_bad_argument(3);
  return nsk::impl::c_status(
      session->net.bind_output(output, {static_cast<std::byte*>(block), static_cast<std::size_t>(bytes)}));
}
nsk_status nsk_session_set_batch(nsk_session* session, int32_t rows) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  return nsk::impl::c_status(session->net.set_batch(rows));
}
nsk_status nsk_session_set_length(nsk_session* session, const char* name, int32_t value) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (name == nullptr) return nsk::impl::c_bad_argument(1);
  return nsk::impl::c_status(session->net.set_length(name, value));
}

uint64_t nsk_session_state_bytes(const nsk_session* session) noexcept {
  return nsk::impl::c_is_handle(session) ? session->net.state_bytes() : 0;
}
nsk_status nsk_session_save(const nsk_session* session, void* snapshot, uint64_t bytes) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (snapshot == nullptr && bytes != 0) return nsk::impl::c_bad_argument(1);
  if (bytes != session->net.state_bytes()) return {nsk_status_wrong_size, -1};
  return nsk::impl::c_status(session->net.save({static_cast<std::byte*>(snapshot), static_cast<std::size_t>(bytes)}));
}
nsk_status nsk_session_load(nsk_session* session, const void* snapshot, uint64_t bytes) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (snapshot == nullptr && bytes != 0) return nsk::impl::c_bad_argument(1);
  if (bytes != session->net.state_bytes()) return {nsk_status_wrong_size, -1};
  return nsk::impl::c_status(
      session->net.load({static_cast<const std::byte*>(snapshot), static_cast<std::size_t>(bytes)}));
}
nsk_status nsk_session_reset(nsk_session* session) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  session->net.reset();
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_seed(nsk_session* session, uint64_t key, uint32_t first_row) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  session->net.seed(key, first_row);
  return {nsk_status_ok, -1};
}
uint32_t nsk_session_flags(const nsk_session* session) noexcept {
  return nsk::impl::c_is_handle(session) ? session->net.flags() : 0;
}
nsk_status nsk_session_selftest(nsk_session* session) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  return nsk::impl::c_status(nsk::selftest(session->net));
}
nsk_status nsk_session_rebind(nsk_session* session, const nsk_model* next, int32_t variant, void* arena,
                              size_t arena_bytes, void* snapshot, uint64_t snapshot_bytes) noexcept {
  if (!nsk::impl::c_is_handle(session) || !nsk::impl::c_is_handle(next)) return nsk::impl::c_bad_handle();
  if (arena == nullptr) return nsk::impl::c_bad_argument(3);
  if (snapshot_bytes != session->net.state_bytes()) return {nsk_status_wrong_size, -1};
  if (snapshot == nullptr && snapshot_bytes != 0) return nsk::impl::c_bad_argument(5);
  const nsk::status s =
      nsk::rebind(session->net, next->view, {static_cast<std::byte*>(arena), arena_bytes},
                  {static_cast<std::byte*>(snapshot), static_cast<std::size_t>(snapshot_bytes)}, variant);
  if (s) session->net.profiler().watch.variant = session->net.variant();
  return nsk::impl::c_status(s);
}
}
#endif
#include <netsuke/core/restore_macros.hpp>
