// SPDX-License-Identifier: MIT
#pragma once
/// The null device under checked_device, as a device for headless.
#include <doctest/doctest.h>
#include "devices/null.hpp"
#include "support.hpp"

namespace test {

/// Hands on what a renderer has; leaves out the barrier of a number, counted from 0, on request.
class checked_null : public nsk::gpu::checked_device<null_device> {
 public:
  using base = nsk::gpu::checked_device<null_device>;
  using status = nsk::gpu::status;
  explicit checked_null(null_device& device) : base(device), m_null(device) {}

  long skipped_barrier = -1, barriers = 0;
  void barrier(list& l) {
    if (barriers++ != skipped_barrier) base::barrier(l);
  }
  void bind(list& l, const nsk::gpu::bindings<checked_null>& b) {
    base::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }

  status create_buffer(std::size_t bytes, bool seen, buffer& made) { return m_null.create_buffer(bytes, seen, made); }
  void destroy(buffer& b) { m_null.destroy(b); }
  status write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
    return m_null.write(to, offset, from, bytes);
  }
  status read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
    return m_null.read(from, offset, to, bytes);
  }
  list& begin() { return m_null.begin(); }
  status submit() { return m_null.submit(); }

 private:
  null_device& m_null;
};

/// Makes a model's session on a null device and records it: as it is, and with one barrier left out after the other.
/// Returns how many barriers are between the steps, -1 where checked_device objects to what it must not object to, or
/// does not object where a barrier is left out.
inline int count_needed_barriers(const nsk::model& model, const nsk::gpu::plan_settings& how = {}) {
  null_device null;
  checked_null device(null);
  headless<checked_null> net(device);
  REQUIRE(net.open(model, 0, how));
  REQUIRE(net.run());
  if (!device.violation()) return -1;
  const int inner = net.plan().barrier_count();
  for (int i = 0; i < inner; ++i) {
    device.barriers = 0;
    device.skipped_barrier = i + 1;  // the first one comes before everything
    REQUIRE(net.run());
    if (device.violation()) return -1;
    device.clear_violation();
  }
  device.loading();
  return inner;
}

}
