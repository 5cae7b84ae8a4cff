// SPDX-License-Identifier: MIT
#pragma once
/// A model on a device and on the CPU: steps without a shader run here, between submissions. Waits for the device
/// before each of them; a game would record a part per frame instead.
#include <netsuke/all_ops.hpp>
#include <netsuke/gpu/hybrid.hpp>

#include "headless.hpp"

template <class Device, class Cpu = nsk::session<nsk::all_settings>>
class headless_hybrid : public headless<Device> {
 public:
  using status = nsk::gpu::status;
  using code = nsk::gpu::status_code;

  explicit headless_hybrid(Device& device) : headless<Device>(device), m_device(device) {}
  ~headless_hybrid() {
    m_device.destroy(m_staging.upload);
    m_device.destroy(m_staging.read_back);
  }

  /// headless::open(), except that steps may run on the CPU.
  status open(const nsk::model& model, int variant = 0, nsk::gpu::plan_settings how = {}) {
    how.hybrid = true;
    if (const status s = headless<Device>::open(model, variant, how); !s) return s;
    const nsk::gpu::plan& plan = this->plan();
    if (plan.cpu_part_count() == 0) return {};
    m_memory.resize(model.required_bytes(1, variant) + nsk::arena_alignment);
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(m_memory.data()) % nsk::arena_alignment;
    m_cpu_memory = {m_memory.data() + (nsk::arena_alignment - beyond), model.required_bytes(1, variant)};
    m_cpu = {model, m_cpu_memory, variant};
    if (!m_cpu) return code::not_ready;
    m_read_back.resize(plan.required_read_back_bytes());
    m_upload.resize(plan.required_upload_bytes());
    if (const status s = m_device.create_buffer(m_upload.size(), true, m_staging.upload); !s) return s;
    return m_device.create_buffer(m_read_back.size(), true, m_staging.read_back);
  }
  /// The session that runs the CPU's parts: for its seed.
  Cpu& cpu() { return m_cpu; }
  /// Bytes that the last inference read back from the device, and uploaded to it, for the CPU's parts.
  std::size_t read_back_bytes() const { return m_read_back_bytes; }
  std::size_t upload_bytes() const { return m_upload_bytes; }

  /// Records a whole inference part by part, submits, waits, and runs the CPU's steps in between.
  status run() {
    const nsk::gpu::plan& plan = this->plan();
    if (plan.cpu_part_count() == 0) return headless<Device>::run();
    m_read_back_bytes = m_upload_bytes = 0;
    for (int i = 0; i < plan.cpu_part_count(); ++i) {
      if (const status s = submit_part(i); !s) return s;
      if (const status s = run_cpu(i); !s) return s;
    }
    return submit_part(plan.cpu_part_count());
  }

 private:
  status submit_part(int i) {
    if (const status s = this->session().record_part(m_device.begin(), i, m_staging); !s) return s;
    return m_device.submit();
  }
  status run_cpu(int i) {
    const std::size_t down = this->plan().cpu_part(i).read_back_bytes(), up = this->plan().cpu_part(i).upload_bytes();
    if (const status s = m_device.read(m_staging.read_back, 0, m_read_back.data(), down); !s) return s;
    if (const status s =
            nsk::gpu::run_cpu(this->plan(), i, m_cpu, m_cpu_memory, {m_read_back.data(), down}, {m_upload.data(), up});
        !s)
      return s;
    m_read_back_bytes += down;
    m_upload_bytes += up;
    return m_device.write(m_staging.upload, 0, m_upload.data(), up);
  }

  Device& m_device;
  std::vector<std::byte> m_memory, m_read_back, m_upload;
  nsk::span<std::byte> m_cpu_memory;
  Cpu m_cpu;
  nsk::gpu::staging_buffers<Device> m_staging;
  std::size_t m_read_back_bytes = 0, m_upload_bytes = 0;
};
