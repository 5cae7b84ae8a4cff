// SPDX-License-Identifier: MIT
#pragma once
/// Devices that record something else than they are told, on Vulkan: dispatches in another order, more barriers.
#include "vulkan_support.hpp"

namespace test {

/// Dispatches between two barriers, recorded in reverse order.
class reversing_device : public shared_pipelines<vulkan_device> {
 public:
  using base = shared_pipelines<vulkan_device>;
  std::size_t largest_group = 0;
  bool enabled = true;

  void bind(list& l, const nsk::gpu::bindings<reversing_device>& b) {
    flush();
    base::bind(l, nsk::gpu::bindings<base>{b.weights, b.arena, b.read_texture, b.written_texture});
  }
  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    m_list = &l;
    m_waiting.push_back({p, {constants, constants + count}, {groups[0], groups[1], groups[2]}});
  }
  void barrier(list& l) {
    flush();
    base::barrier(l);
  }
  void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    flush();
    base::copy(l, from, from_offset, to, to_offset, bytes);
  }
  nsk::gpu::status submit() {
    flush();
    return base::submit();
  }

 private:
  struct waiting {
    pipeline p;
    std::vector<std::uint32_t> constants;
    std::uint32_t groups[3];
  };
  void flush() {
    largest_group = std::max(largest_group, m_waiting.size());
    if (enabled) std::reverse(m_waiting.begin(), m_waiting.end());
    for (const waiting& w : m_waiting)
      base::dispatch(*m_list, w.p, w.constants.data(), static_cast<int>(w.constants.size()), w.groups);
    m_waiting.clear();
  }
  list* m_list = nullptr;
  std::vector<waiting> m_waiting;
};

/// Fails on request: that pipeline, counted from 0, is refused; buffers and submissions give a status.
class failing_device : public vulkan_device {
 public:
  std::size_t refused_pipeline = ~std::size_t{0}, made = 0, destroyed = 0;
  status full, lost;

  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& p) {
    if (made == refused_pipeline) return code::pipeline_refused;
    const status s = vulkan_device::create_pipeline(key, p);
    made += s ? 1 : 0;
    return s;
  }
  void destroy_pipeline(pipeline p) {
    ++destroyed;
    vulkan_device::destroy_pipeline(p);
  }
  void bind(list& l, const nsk::gpu::bindings<failing_device>& b) {
    vulkan_device::bind(l, nsk::gpu::bindings<vulkan_device>{b.weights, b.arena, b.read_texture, b.written_texture});
  }
  status create_buffer(std::size_t bytes, bool seen, buffer& b) {
    return full ? vulkan_device::create_buffer(bytes, seen, b) : full;
  }
  status submit() {
    const status s = vulkan_device::submit();
    return lost ? s : lost;
  }
};

/// A barrier before every dispatch: the validation layer sees buffers, not bytes, so that it finds hazards where there
/// are none in any other plan.
class barrier_everywhere_device : public shared_pipelines<vulkan_device> {
 public:
  using base = shared_pipelines<vulkan_device>;
  void bind(list& l, const nsk::gpu::bindings<barrier_everywhere_device>& b) {
    base::bind(l, nsk::gpu::bindings<base>{b.weights, b.arena, b.read_texture, b.written_texture});
  }
  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    base::barrier(l);
    base::dispatch(l, p, constants, count, groups);
  }
};

}
