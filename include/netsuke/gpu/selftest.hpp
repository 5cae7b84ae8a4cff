// SPDX-License-Identifier: MIT
#pragma once
/// Replays, on the player's device, the inputs and outputs that the converter recorded in the file (--embed-check):
/// drivers do compute something else now and then. Run it once when the game loads, and take the CPU where it fails.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <limits>
#include <netsuke/gpu/session.hpp>

NSK_BEGIN
namespace gpu {

namespace impl {

/// Garbage is copied over the arena in blocks of at most so many bytes.
inline constexpr std::size_t garbage_block = 65536;
inline std::size_t garbage_bytes(const plan& p) {
  return p.required_arena_bytes() < garbage_block ? p.required_arena_bytes() : garbage_block;
}

/// What the outputs of a device may differ by, relative to the largest number of the record. Sums have another order
/// than on the CPU, products may be rounded, and 16-bit activations have three digits.
inline constexpr float device_tolerance = 2e-4f, half_tolerance = 2e-3f;

inline float float_at(const void* bytes, std::size_t i) {
  float x;
  std::memcpy(&x, static_cast<const std::byte*>(bytes) + i * sizeof x, sizeof x);
  return x;
}
/// Equal bits, or for floats a difference of at most `tolerance`, or `relative` times the largest of the record.
inline bool device_agrees(span<const std::byte> actual, const void* expected, dtype type, float tolerance,
                          float relative) {
  if (std::memcmp(actual.data(), expected, actual.size()) == 0) return true;
  if (type != dtype::float32) return false;
  const std::size_t count = actual.size() / sizeof(float);
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = float_at(expected, i), size = x < 0 ? -x : x;
    if (size > largest && size <= std::numeric_limits<float>::max()) largest = size;
  }
  const float allowed = relative * largest > tolerance ? relative * largest : tolerance;
  for (std::size_t i = 0; i < count; ++i) {
    const float a = float_at(actual.data(), i), b = float_at(expected, i), apart = a > b ? a - b : b - a;
    const bool equal = a >= b && a <= b, both_nan = !(a >= a) && !(b >= b);
    if (!equal && !both_nan && !(apart <= allowed)) return false;
  }
  return true;
}

/// Calls f(number of the port, its place in a block of all of them, bytes of its elements) for inputs or outputs.
template <class F>
std::size_t for_each_port(const plan& p, bool inputs, F&& f) {
  const variant_view& v = p.variant();
  const length_values lengths = p.settings().lengths();
  std::size_t at = 0;
  for (int k = 0; k < (inputs ? v.input_count() : v.output_count()); ++k) {
    const port_view port = inputs ? v.input(k) : v.output(k);
    f(k, at, port_bytes(port, lengths));
    at += copied_bytes(port, lengths);
  }
  return at;
}
inline std::size_t all_port_bytes(const plan& p, bool inputs) {
  return for_each_port(p, inputs, [](int, std::size_t, std::size_t) {});
}

/// Writes garbage, then the inputs of a check vector.
inline void fill_upload(const plan& p, const check_view& check, span<std::byte> upload) {
  const std::size_t garbage = garbage_bytes(p);
  const float unlikely = 12345.678f;
  for (std::size_t i = 0; i < garbage; i += sizeof unlikely) std::memcpy(upload.data() + i, &unlikely, sizeof unlikely);
  for_each_port(p, true, [&](int k, std::size_t at, std::size_t bytes) {
    std::memcpy(upload.data() + garbage + at, check.input(k).data(), bytes);
  });
}

}

/// What the host lends: a buffer that the CPU writes and one that it reads, and where the CPU sees their bytes. Both
/// are seen by the device from their first byte on.
template <class Device>
struct selftest_buffers {
  typename Device::buffer upload{};
  span<std::byte> upload_bytes{};
  typename Device::buffer read_back{};
  span<const std::byte> read_back_bytes{};

  /// Return the bytes that the two buffers must have: garbage for the arena and all inputs; all outputs.
  static std::size_t required_upload_bytes(const plan& p) {
    return impl::garbage_bytes(p) + impl::all_port_bytes(p, true);
  }
  static std::size_t required_read_back_bytes(const plan& p) { return impl::all_port_bytes(p, false); }
};

namespace impl {

/// Records an inference on an arena of garbage, from the upload buffer to the other one.
template <class Device>
status record_check(typename Device::list& l, session<Device>& net, const selftest_buffers<Device>& host) {
  const std::size_t garbage = garbage_bytes(net.plan());
  status s = net.overwrite_arena(l, host.upload, garbage);
  if (s) s = net.reset(l);
  net.seed(0);
  for_each_port(net.plan(), true, [&](int k, std::size_t at, std::size_t) {
    if (s) s = net.copy_input(l, k, host.upload, garbage + at);
  });
  if (s) s = net.record(l);
  for_each_port(net.plan(), false, [&](int k, std::size_t at, std::size_t) {
    if (s) s = net.copy_output(l, k, host.read_back, at);
  });
  return s;
}

/// Returns the first output that differs from the record, -1 where none does.
inline int differing_output(const plan& p, const check_view& check, span<const std::byte> read_back) {
  const float relative = p.settings().half_activations ? half_tolerance : device_tolerance;
  int found = -1;
  for_each_port(p, false, [&](int k, std::size_t at, std::size_t bytes) {
    if (found < 0 && !device_agrees({read_back.data() + at, bytes}, check.output(k).data(),
                                    p.variant().output(k).type(), check.tolerance(), relative))
      found = k;
  });
  return found;
}

}

/// Runs every check vector and compares. `submit(record)` opens a command list, calls record(list), which returns a
/// status, submits the list and waits for the device; it returns the first status that is not ok.
///
/// Before each vector the whole arena is overwritten, so that a dispatch that did not run cannot be missed because its
/// result was still there. Outputs may differ by the vector's tolerance or by 2e-4 of the output's largest number
/// (2e-3 with half_activations), whichever is more; other types have equal bits. The status names the output that
/// differs. Afterwards the states are reset and the seed is 0. Hybrid plans are refused (hybrid_plan).
template <class Device, class Submit>
status selftest(session<Device>& net, const selftest_buffers<Device>& host, Submit&& submit) {
  if (!net) return net.status();
  const plan& p = net.plan();
  const variant_view& v = p.variant();
  if (p.cpu_part_count() > 0) return status_code::hybrid_plan;
  if (v.check_count() == 0) return status_code::no_check_vectors;
  if (host.upload_bytes.size() < host.required_upload_bytes(p) ||
      host.read_back_bytes.size() < host.required_read_back_bytes(p))
    return status_code::bad_gpu_buffer;
  for (int i = 0; i < v.check_count(); ++i) {
    const check_view check = v.check_vector(i);
    impl::fill_upload(p, check, host.upload_bytes);
    const status ran = submit([&](typename Device::list& l) { return impl::record_check(l, net, host); });
    if (!ran) return ran;
    const int differs = impl::differing_output(p, check, host.read_back_bytes);
    if (differs >= 0) return {status_code::check_failed, differs};
  }
  net.seed(0);
  return submit([&](typename Device::list& l) { return net.reset(l); });
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
