// SPDX-License-Identifier: MIT
#pragma once
/// device_runner for any device of examples/devices: included by the files that open one.
#include <devices/headless.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <netsuke/gpu/hybrid.hpp>

#include "errors.hpp"
#include "status_text.hpp"
#include "gpu/device.hpp"

namespace nsk::tool {

/// Refuses more rows than a variant computes.
inline void check_rows(const variant_view& v, int rows) {
  if (rows > v.batch())
    refuse("a batch of so many rows was refused: variant '" + std::string(v.name()) + "' computes " +
           (v.batch() == 0 ? "one fixed shape" : "at most " + std::to_string(v.batch()) + " rows") +
           ". Convert the model with --batch-max.");
}

template <class Device>
class device_session final : public device_runner {
 public:
  /// Makes the session of a variant on an open device.
  device_session(std::unique_ptr<Device> device, const device_request& request)
      : m_device(std::move(device)), m_net(*m_device) {
    const model& m = request.file.view;
    const variant_view v = m.variant(request.variant);
    gpu::plan_settings how;
    how.rows = request.rows;
    how.hybrid = true;
    how.half_activations = request.halves.activations;
    if (request.halves.weights) how.half_weights = m.weights();
    check_rows(v, request.rows);
    require_opened(m_net.open(m, request.variant, how));
    if (plan().cpu_part_count() > 0) open_cpu(request);
    m_steps.resize(static_cast<std::size_t>(v.step_count()));
    for (int i = 0; i < plan().dispatch_count(); ++i) {
      const gpu::dispatch_view d = plan().dispatch(i);
      if (d.step < 0 || d.on_cpu) continue;
      dispatches& of = m_steps[static_cast<std::size_t>(d.step)];
      if (of.count++ == 0) of.first = i;
      of.merged = d.merged;
    }
    for (int i = 0; i < v.input_count(); ++i) m_inputs.emplace_back(v.input(i).bytes());
    for (int i = 0; i < v.output_count(); ++i) m_outputs.emplace_back(v.output(i).bytes());
    m_facts.driver = m_device->name();
    m_facts.software = m_device->is_software();
    m_facts.variant = v.name();
    m_facts.dispatches = plan().dispatch_count() - plan().cpu_step_count();
    m_facts.barriers = plan().barrier_count();
    m_facts.pipelines = static_cast<int>(plan().pipelines().size());
    m_facts.steps = v.step_count();
    m_facts.cpu_steps = plan().cpu_step_count();
    m_facts.halves = request.halves;
  }

  ~device_session() override {
    m_device->destroy(m_staging.upload);
    m_device->destroy(m_staging.read_back);
  }
  device_session(const device_session&) = delete;
  device_session& operator=(const device_session&) = delete;

  std::byte* input(int port) override { return m_inputs[static_cast<std::size_t>(port)].data(); }
  const std::byte* output(int port) override { return m_outputs[static_cast<std::size_t>(port)].data(); }
  const device_facts& facts() const override { return m_facts; }
  bool has_shader(int step) const override { return m_steps[static_cast<std::size_t>(step)].count > 0; }
  bool is_half(const tensor_info& t) const override {
    return gpu::impl::half_buffers_of(plan().variant(), plan().settings()).has(t);
  }
  int merged_into(int step) const override { return m_steps[static_cast<std::size_t>(step)].merged; }

  void seed(std::uint64_t key) override {
    m_net.session().seed(key);
    if (m_cpu) m_cpu->seed(key);
  }
  void reset() override {
    require(m_net.session().reset(m_device->begin()));
    require(m_device->submit());
    if (m_cpu) m_cpu->reset();
  }
  void run() override {
    for (std::size_t i = 0; i < m_inputs.size(); ++i)
      require(m_net.write_input(static_cast<int>(i), m_inputs[i].data()));
    m_recording_us = m_device_us = 0;
    if (m_cpu)
      run_parts();
    else
      submit([&](auto& list) { return m_net.session().record(list); });
    for (std::size_t i = 0; i < m_outputs.size(); ++i)
      require(m_net.read_output(static_cast<int>(i), m_outputs[i].data()));
  }
  void run_step(int step) override {
    const dispatches& of = m_steps[static_cast<std::size_t>(step)];
    submit([&](auto& list) { return m_net.session().record(list, of.first, of.count); });
  }
  void write(std::size_t offset, const std::byte* from, std::size_t bytes) override {
    require(m_device->write(m_net.arena(), offset, from, bytes));
  }
  void read(std::size_t offset, std::byte* to, std::size_t bytes) override {
    require(m_device->read(m_net.arena(), offset, to, bytes));
  }
  double device_us() const override { return m_device_us; }
  double recording_us() const override { return m_recording_us; }

 private:
  struct dispatches {
    int first = 0, count = 0, merged = -1;
  };

  const gpu::plan& plan() const { return m_net.plan(); }

  /// Records a list and runs it; adds what both took.
  template <class Record>
  void submit(Record&& record) {
    using clock = std::chrono::steady_clock;
    auto& list = m_device->begin();
    const clock::time_point begin = clock::now();
    require(record(list));
    m_recording_us += std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    require(m_device->submit());
    m_device_us += m_device->microseconds();
  }

  /// What runs the steps that have no shader, and the buffers in which operands cross.
  void open_cpu(const device_request& r) {
    m_cpu = choose_engine("").open(r.file.bytes.data(), r.file.bytes.size(), 1, r.variant);
    if (r.rows > 0) m_cpu->set_batch(r.rows);
    const tensor_info any = plan().variant().step(0).output();  // no constant
    m_cpu_arena = const_cast<std::byte*>(m_cpu->tensor(any.index())) - any.offset() - any.buffer_offset();
    m_crossing.resize(std::max(plan().required_read_back_bytes(), plan().required_upload_bytes()));
    require(m_device->create_buffer(plan().required_upload_bytes(), true, m_staging.upload));
    require(m_device->create_buffer(plan().required_read_back_bytes(), true, m_staging.read_back));
  }
  /// The CPU session runs the whole inference beside the device: its steps without a shader get their operands from the
  /// device, which gets their results.
  void run_parts() {
    for (std::size_t i = 0; i < m_inputs.size(); ++i)
      std::copy(m_inputs[i].begin(), m_inputs[i].end(), m_cpu->input(static_cast<int>(i)));
    int part = 0;
    const auto submit_part = [&] {
      submit([&](auto& list) { return m_net.session().record_part(list, part, m_staging); });
    };
    const auto before = [&](int step) {
      if (part == plan().cpu_part_count() || step < plan().cpu_part(part).first_step) return;
      if (step == plan().cpu_part(part).first_step) bring_operands(part);
      const step_view s = plan().variant().step(step);
      for (int i = 0; i < s.input_count(); ++i)
        gpu::impl::fill_border_of(s.input(i), plan().settings().lengths(), m_cpu_arena);
    };
    submit_part();
    before(0);
    m_cpu->run_steps([&](int step) {
      if (part < plan().cpu_part_count() && step + 1 == end_of(plan().cpu_part(part))) {
        send_results(part++);
        submit_part();
      }
      before(step + 1);
    });
  }
  static int end_of(const gpu::cpu_part_view& p) { return p.first_step + p.step_count; }
  void bring_operands(int part) {
    const gpu::cpu_part_view p = plan().cpu_part(part);
    require(m_device->read(m_staging.read_back, 0, m_crossing.data(), p.read_back_bytes()));
    const std::byte* at = m_crossing.data();
    for (const gpu::arena_range& r : p.read_back) {
      std::memcpy(m_cpu_arena + r.offset, at, static_cast<std::size_t>(r.bytes));
      at += r.bytes;
    }
  }
  void send_results(int part) {
    const gpu::cpu_part_view p = plan().cpu_part(part);
    std::byte* at = m_crossing.data();
    for (const gpu::arena_range& r : p.upload) at = std::copy_n(m_cpu_arena + r.offset, r.bytes, at);
    require(m_device->write(m_staging.upload, 0, m_crossing.data(), p.upload_bytes()));
  }

  static void require(const gpu::status& s) {
    if (!s) refuse("the device refused it: " + status_text(s) + ".");
  }
  /// require() for making the session: the message names the pipeline.
  void require_opened(const gpu::status& s) const {
    if (s.place() == status_place::pipeline && s.where() >= 0)
      refuse("pipeline " + std::to_string(s.where()) + " (" +
             gpu::name_of(plan().pipelines()[static_cast<std::size_t>(s.where())].kernel) + "): " + s.message() + ".");
    require(s);
  }

  std::unique_ptr<Device> m_device;
  headless<Device> m_net;
  std::unique_ptr<runner> m_cpu;  ///< where steps have no shader
  std::byte* m_cpu_arena = nullptr;
  gpu::staging_buffers<Device> m_staging{};
  std::vector<std::byte> m_crossing;
  std::vector<dispatches> m_steps;
  std::vector<std::vector<std::byte>> m_inputs, m_outputs;
  device_facts m_facts;
  double m_device_us = 0, m_recording_us = 0;
};

/// Opens `device`, which says what is missing, and a variant on it. `install` is what the machine then needs.
template <class Device>
std::unique_ptr<device_runner> open_session(const char* name, std::unique_ptr<Device> device, const char* install,
                                            const device_request& request) {
  if (const std::string missing = device->open(); !missing.empty())
    misuse(std::string("--device ") + name + ": " + missing + ". " + install);
  return std::make_unique<device_session<Device>>(std::move(device), request);
}

}
