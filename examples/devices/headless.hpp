// SPDX-License-Identifier: MIT
#pragma once
/// A model on a device of this folder, without a window: what tests, the command line and the headless examples share.
/// A game keeps these pieces in its own renderer.
#include <vector>

#include <netsuke/gpu.hpp>
#include <netsuke/netsuke.hpp>

template <class Device>
class headless {
 public:
  using status = nsk::gpu::status;

  explicit headless(Device& device) : m_device(device) {}
  ~headless() {
    m_session = {};
    m_device.destroy(m_weights);
    m_device.destroy(m_arena);
  }
  headless(const headless&) = delete;
  headless& operator=(const headless&) = delete;

  /// Makes plan, buffers and session of a variant, uploads the weights, clears the arena and resets the states.
  status open(const nsk::model& model, int variant = 0, const nsk::gpu::plan_settings& how = {}) {
    const nsk::variant_view v = model.variant(variant);
    m_plan_space.resize(nsk::gpu::plan::required_bytes(v, how));
    if (const status s = nsk::gpu::plan::make(v, how, m_plan_space, m_plan); !s) return s;
    m_weight_bytes.resize(nsk::gpu::half_weights::required_bytes(v, how));
    nsk::span<const std::byte> weights = model.weights();
    if (!m_weight_bytes.empty()) {
      if (const status s = nsk::gpu::half_weights::write(v, how, m_weight_bytes); !s) return s;
      weights = {m_weight_bytes.data(), m_weight_bytes.size()};
    }
    if (const status s = m_device.create_buffer(weights.size(), false, m_weights); !s) return s;
    if (const status s = m_device.create_buffer(m_plan.required_arena_bytes(), false, m_arena); !s) return s;
    const std::vector<std::byte> zeros(m_plan.required_arena_bytes());
    if (const status s = m_device.write(m_weights, 0, weights.data(), weights.size()); !s) return s;
    if (const status s = m_device.write(m_arena, 0, zeros.data(), zeros.size()); !s) return s;
    m_pipelines.resize(m_plan.pipelines().size());
    const nsk::span<std::byte> memory(reinterpret_cast<std::byte*>(m_pipelines.data()),
                                      m_pipelines.size() * sizeof m_pipelines[0]);
    m_session = {m_device, m_plan, {m_weights, m_arena}, weights.size(), memory};
    if (!m_session) return m_session.status();
    if (const status s = m_session.reset(m_device.begin()); !s) return s;
    return m_device.submit();
  }

  const nsk::gpu::plan& plan() const { return m_plan; }
  nsk::gpu::session<Device>& session() { return m_session; }
  typename Device::buffer& arena() { return m_arena; }

  /// Copies between memory and the elements of an input or output.
  status write_input(int i, const void* bytes) {
    const nsk::port_view port = m_plan.variant().input(i);
    return m_device.write(m_arena, place(port), bytes, port.bytes());
  }
  status read_output(int i, void* bytes) {
    const nsk::port_view port = m_plan.variant().output(i);
    return m_device.read(m_arena, place(port), bytes, port.bytes());
  }
  /// Records a whole inference, submits it and waits.
  status run() {
    if (const status s = m_session.record(m_device.begin()); !s) return s;
    return m_device.submit();
  }

 private:
  static std::size_t place(const nsk::port_view& port) {
    return static_cast<std::size_t>(port.tensor().buffer_offset() + port.tensor().offset());
  }
  Device& m_device;
  std::vector<std::byte> m_plan_space, m_weight_bytes;
  nsk::gpu::plan m_plan;
  typename Device::buffer m_weights{}, m_arena{};
  std::vector<typename Device::pipeline> m_pipelines;
  nsk::gpu::session<Device> m_session;
};
