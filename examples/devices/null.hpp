// SPDX-License-Identifier: MIT
#pragma once
/// A device for nsk::gpu that computes nothing and counts: for tests, times of recording, and as the shortest example.
#include <cstddef>
#include <cstdint>

#include <netsuke/gpu.hpp>

class null_device {
 public:
  struct buffer {
    std::uint64_t number = 0, bytes = 0;
  };
  struct texture {
    std::uint64_t number = 0, is_rgba8 = 1;
  };
  struct list {};
  using pipeline = std::uint64_t;
  using status = nsk::gpu::status;
  using code = nsk::gpu::status_code;

  // --- what a session asks for ---

  nsk::gpu::limits limits() const { return {max_binding_bytes}; }
  status create_pipeline(const nsk::gpu::pipeline_key&, pipeline& made) {
    if (counts.pipelines_made == refused_pipeline) return refusal;
    made = ++counts.pipelines_made;
    return {};
  }
  void destroy_pipeline(pipeline) { ++counts.pipelines_destroyed; }
  void bind(list&, const nsk::gpu::bindings<null_device>&) { ++counts.binds; }
  void dispatch(list&, pipeline, const std::uint32_t*, int, const std::uint32_t (&)[3]) { ++counts.dispatches; }
  void barrier(list&) { ++counts.barriers; }
  void copy(list&, buffer, std::size_t, buffer, std::size_t, std::size_t bytes) {
    ++counts.copies;
    counts.copied_bytes += bytes;
  }

  // --- what checked_device asks for ---

  std::size_t bytes_of(const buffer& b) const { return static_cast<std::size_t>(b.bytes); }
  bool is_rgba8(const texture& t) const { return t.is_rgba8 != 0; }

  // --- what a renderer has ---

  struct {
    std::uint64_t pipelines_made = 0, pipelines_destroyed = 0, binds = 0, dispatches = 0, barriers = 0, copies = 0,
                  copied_bytes = 0, buffers_made = 0, buffers_destroyed = 0, written_bytes = 0, read_bytes = 0,
                  submissions = 0;
  } counts;
  /// Failures on request: that pipeline (counted from 0) is refused with `refusal`, submissions with `lost`.
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t refused_pipeline = none, max_binding_bytes = std::uint64_t{128} << 20;
  status refusal = code::pipeline_refused, full, lost;

  status create_buffer(std::size_t bytes, bool, buffer& made) {
    if (!full) return full;
    made = {++counts.buffers_made, bytes};
    return {};
  }
  void destroy(buffer& b) {
    counts.buffers_destroyed += b.number != 0 ? 1 : 0;
    b = {};
  }
  status write(buffer&, std::size_t, const void*, std::size_t bytes) {
    counts.written_bytes += bytes;
    return lost;
  }
  status read(const buffer&, std::size_t, void*, std::size_t bytes) {
    counts.read_bytes += bytes;
    return lost;
  }
  list& begin() { return m_list; }
  status submit() {
    ++counts.submissions;
    return lost;
  }

 private:
  list m_list;
};
