// SPDX-License-Identifier: MIT
#pragma once
/// A session on the GPU: records inferences of a plan into the renderer's command lists.
///
/// It records and does nothing else: it never submits, waits, maps or allocates. Everything that it records begins with
/// a barrier, so calls follow each other without one in between:
///
///     nsk::gpu::session<my_device> net(device, plan, {weights, arena}, model.weights().size(), memory);
///     if (!net) { log(net.status().message()); return; }      // run nsk::session on the CPU
///     net.reset(list);                                        // once: the initial values of states
///     net.write_input(list, 0, camera, 1280, 720, how);       // texture to tensor
///     net.record(list);
///     net.copy_output(list, 0, read_back, 0);                 // or read_output: tensor to texture
///
/// Slices: record_for(list, work, done) records a part of an inference per frame. Between the slices of an inference
/// its inputs must not change: write them before the first slice.
///
/// Several frames in flight: one session, whose lists run in the order in which they were recorded and share one arena,
/// or one session per arena, whose lists may run in any order. Sessions may share plan, weights and device.
///
/// Batches and lengths: a plan computes the number of rows and the lengths that its settings name (plan_settings::rows,
/// set_length). For others make another plan and session: both may use the same weights and the same arena, in order.
///
/// Hybrid plans (plan_settings::hybrid) are recorded part by part, with the CPU's steps in between: gpu/hybrid.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/random.hpp>
#include <netsuke/gpu/device.hpp>
#include <netsuke/gpu/impl/device_rules.hpp>
#include <netsuke/gpu/impl/texture.hpp>
#include <netsuke/gpu/plan.hpp>
#include <netsuke/run/budget.hpp>
#include <netsuke/run/port_key.hpp>

NSK_BEGIN
namespace gpu {

/// The buffers of a session: the model's weights section, uploaded by the caller, and plan::required_arena_bytes()
/// bytes.
template <class Device>
struct session_buffers {
  typename impl::device_or_idle<Device>::buffer weights{}, arena{};
};

/// Buffers of the renderer for the parts of a hybrid plan that run on the CPU: `upload` holds
/// plan::required_upload_bytes() from its offset on, `read_back` plan::required_read_back_bytes(); offsets are
/// multiples of 4.
template <class Device>
struct staging_buffers {
  typename Device::buffer upload{};
  std::size_t upload_offset = 0;
  typename Device::buffer read_back{};
  std::size_t read_back_offset = 0;
};

namespace impl {
template <class D, class = void>
inline constexpr bool watches = false;
template <class D>
inline constexpr bool watches<D, std::void_t<decltype(std::declval<D&>().watch(std::declval<const plan&>(), 0))>> =
    true;
}

template <class Device>
class session {
  static constexpr impl::device_fault fault = impl::device_fault_of<Device>();
  static_assert(fault != impl::device_fault::list, NSK_IMPL_GPU_LIST);
  static_assert(fault != impl::device_fault::buffer, NSK_IMPL_GPU_BUFFER);
  static_assert(fault != impl::device_fault::texture, NSK_IMPL_GPU_TEXTURE);
  static_assert(fault != impl::device_fault::pipeline, NSK_IMPL_GPU_PIPELINE);
  static_assert(fault != impl::device_fault::limits, NSK_IMPL_GPU_LIMITS);
  static_assert(fault != impl::device_fault::create_pipeline, NSK_IMPL_GPU_CREATE);
  static_assert(fault != impl::device_fault::destroy_pipeline, NSK_IMPL_GPU_DESTROY);
  static_assert(fault != impl::device_fault::bind, NSK_IMPL_GPU_BIND);
  static_assert(fault != impl::device_fault::dispatch, NSK_IMPL_GPU_DISPATCH);
  static_assert(fault != impl::device_fault::barrier, NSK_IMPL_GPU_BARRIER);
  static_assert(fault != impl::device_fault::copy, NSK_IMPL_GPU_COPY);
  using device_type = impl::device_or_idle<Device>;

 public:
  using list = typename device_type::list;
  using buffer = typename device_type::buffer;
  using texture = typename device_type::texture;
  using pipeline = typename device_type::pipeline;
  static_assert(std::is_trivially_copyable_v<pipeline>,
                "netsuke: pipelines are kept in plain memory: make the device's `pipeline` a handle, not an owner");

  session() = default;
  /// Returns the bytes of memory that a session needs, at a multiple of 16: its pipelines.
  static constexpr std::size_t required_bytes(const gpu::plan& p) { return p.pipelines().size() * sizeof(pipeline); }
  /// Compiles the plan's pipelines; `weight_bytes` is the size of the model's weights section, or plan::weight_bytes()
  /// where that is not 0. Device, plan, buffers
  /// and memory must outlive the session. Ask status() before anything else: where a pipeline is refused, all that were
  /// made before are destroyed.
  session(Device& device, const plan& p, const session_buffers<Device>& buffers, std::size_t weight_bytes,
          span<std::byte> memory) {
    if constexpr (std::is_same_v<Device, device_type>) m_status = start(device, p, buffers, weight_bytes, memory);
  }
  ~session() { destroy_pipelines(); }
  session(session&& o) noexcept { take(o); }
  session& operator=(session&& o) noexcept {
    if (this != &o) {
      destroy_pipelines();
      take(o);
    }
    return *this;
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Whether the session can record, and if not, why.
  gpu::status status() const { return m_status; }
  explicit operator bool() const { return static_cast<bool>(m_status); }
  const gpu::plan& plan() const { return *m_plan; }

  // --- inputs and outputs ---
  /// Records a region of a texture of width x height texels into an input, a float32 image [1, H, W, C]; returns the
  /// map between both through `map` where that is not null. The same settings as nsk::image_to_tensor; levels are
  /// texels times 255. `blue_first` says that the texture's first channel is blue and is not already swapped by its
  /// format.
  gpu::status write_input(list& l, port_key which, texture from, std::int32_t width, std::int32_t height,
                          const image_settings& how, image_map* map = nullptr, bool blue_first = false) {
    if (!m_status) return m_status;
    const int i = which.input_of(variant());
    if (i < 0 || i >= variant().input_count()) return {status_code::no_such_port, status_place::input, i};
    texture_constants c;
    if (const status_code why =
            impl::set_texture_input(c, variant().input(i), lengths(), width, height, how, blue_first, map);
        why != status_code::ok)
      return {why, status_place::input, i};
    return record_texture(l, kernel::texture_to_tensor, c, from, texture{});
  }
  /// Records an output, a float32 image [1, H, W, C], into a texture of H x W texels: scaled to levels, clamped.
  gpu::status read_output(list& l, port_key which, texture to, const tensor_settings& how, bool blue_first = false) {
    if (!m_status) return m_status;
    const int i = which.output_of(variant());
    if (i < 0 || i >= variant().output_count()) return {status_code::no_such_port, status_place::output, i};
    texture_constants c;
    if (const status_code why = impl::set_texture_output(c, variant().output(i), lengths(), how, blue_first);
        why != status_code::ok)
      return {why, status_place::output, i};
    return record_texture(l, kernel::tensor_to_texture, c, texture{}, to);
  }
  /// Records a copy of port bytes, from `offset` in a buffer of the renderer to an input, or from an output to it.
  gpu::status copy_input(list& l, port_key which, buffer from, std::size_t offset) {
    if (!m_status) return m_status;
    const int i = which.input_of(variant());
    if (i < 0 || i >= variant().input_count()) return {status_code::no_such_port, status_place::input, i};
    const port_view port = variant().input(i);
    if (offset % 4 != 0) return {status_code::misaligned_offset, status_place::input, i};
    return copy(l, from, offset, m_buffers.arena, impl::arena_offset(port), impl::copied_bytes(port, lengths()));
  }
  gpu::status copy_output(list& l, port_key which, buffer to, std::size_t offset) {
    if (!m_status) return m_status;
    const int i = which.output_of(variant());
    if (i < 0 || i >= variant().output_count()) return {status_code::no_such_port, status_place::output, i};
    const port_view port = variant().output(i);
    if (offset % 4 != 0) return {status_code::misaligned_offset, status_place::output, i};
    return copy(l, m_buffers.arena, impl::arena_offset(port), to, offset, impl::copied_bytes(port, lengths()));
  }

  // --- inference ---
  /// Records a whole inference, from the start.
  gpu::status record(list& l) { return record(l, 0, m_plan ? m_plan->dispatch_count() : 0); }

  /// Records dispatches [first, first + count), none of which runs on the CPU.
  gpu::status record(list& l, int first, int count) {
    if (!m_status) return m_status;
    if (first < 0 || count < 0 || first > m_plan->dispatch_count() - count) return {status_code::bad_range, first};
    for (int i = 0; m_plan->cpu_part_count() > 0 && i < count; ++i) {
      if (m_plan->dispatch(first + i).on_cpu) return status_code::hybrid_plan;
    }
    run(l, first, first + count);
    m_next = first + count;
    if (m_next == m_plan->dispatch_count()) end_inference();
    return {};
  }
  /// Records dispatches until `amount` of work is used up, at least one: a slice of an inference per frame. Sets `done`
  /// when the inference is complete; the next call starts a new one.
  gpu::status record_for(list& l, work amount, bool& done) {
    done = false;
    if (!m_status) return m_status;
    int end = m_next;
    for (std::uint64_t left = amount.macs; end < m_plan->dispatch_count(); ++end) {
      const int step = m_plan->dispatch(end).step;
      const bool goes_on = end > 0 && m_plan->dispatch(end - 1).step == step;
      const std::uint64_t of_step = step < 0 || goes_on ? 1 : work_of(m_plan->dispatch(end));
      if (end != m_next && of_step > left) break;
      left = of_step < left ? left - of_step : 0;
    }
    const gpu::status s = record(l, m_next, end - m_next);
    done = s && m_next == 0;
    return s;
  }
  /// Abandons an inference of which slices were recorded; the next slice starts a new one.
  void restart() { m_next = 0; }
  /// The dispatch with which the next slice begins.
  int next_dispatch() const { return m_next; }

  /// Chooses the numbers of random steps, as nsk::session::seed does: each inference that is recorded to its end goes
  /// on to other numbers; seeding begins anew. Row r of a batch gets the numbers that row 0 would get with first_row +
  /// r. Abandons an inference of which slices were recorded. Sessions that take turns need keys of their own.
  void seed(std::uint64_t key, std::uint32_t first_row = 0) {
    restart();
    m_random = {key, 0, first_row};
  }

  // --- hybrid plans ---
  /// Records part `i` of a hybrid plan's dispatches, 0 to plan().cpu_part_count(): first the copies of what part i - 1
  /// of the CPU made, at last those of what part i of the CPU will read. gpu/hybrid.hpp has what runs in between.
  gpu::status record_part(list& l, int i, const staging_buffers<Device>& staging) {
    if (!m_status) return m_status;
    const int parts = m_plan->cpu_part_count();
    if (i < 0 || i > parts) return {status_code::bad_range, status_place::part, i};
    if ((staging.upload_offset | staging.read_back_offset) % 4 != 0)
      return {status_code::misaligned_offset, status_place::part, i};
    m_next = 0;
    if (i > 0) copy_ranges(l, m_plan->cpu_part(i - 1).upload, staging.upload_offset, from_buffer(l, staging.upload));
    run(l, m_plan->part_begin(i), m_plan->part_end(i));
    if (i < parts)
      copy_ranges(l, m_plan->cpu_part(i).read_back, staging.read_back_offset, to_buffer(l, staging.read_back));
    else
      end_inference();
    return {};
  }

  // --- states ---
  /// Bytes of a snapshot of all states in a buffer of the renderer: in the order of the file, each rounded up to a
  /// multiple of 4. With elements of 32 bits the same bytes as those of nsk::session::save.
  std::size_t state_bytes() const { return m_plan ? impl::copied_state_bytes(variant()) : 0; }
  /// Records a copy of the states, as the last complete inference left them, to `offset` in a buffer.
  gpu::status save(list& l, buffer to, std::size_t offset) { return copy_states(l, offset, to_buffer(l, to)); }
  /// Records a copy of a snapshot back into the states; abandons an inference of which slices were recorded.
  gpu::status load(list& l, buffer from, std::size_t offset) {
    m_next = 0;
    return copy_states(l, offset, from_buffer(l, from));
  }
  /// Records the initial values of all states; abandons an inference of which slices were recorded.
  gpu::status reset(list& l) {
    if (!m_status) return m_status;
    m_next = 0;
    begin(l);
    for (int i = 0; i < m_plan->reset_count(); ++i) run(l, m_plan->reset_dispatch(i));
    return {};
  }
  /// Records copies of the first `bytes` bytes of a buffer over the whole arena, one after the other, so that nothing
  /// of an earlier inference is left: for selftest(). Inputs and states are lost.
  gpu::status overwrite_arena(list& l, buffer from, std::size_t bytes) {
    if (!m_status) return m_status;
    if (bytes == 0 || bytes % 4 != 0) return status_code::bad_range;
    m_next = 0;
    const std::size_t all = m_plan->required_arena_bytes();
    for (std::size_t at = 0, number = 0; at < all; at += bytes, ++number) {
      if (number % impl::max_concurrent == 0) m_device->barrier(l);
      m_device->copy(l, from, 0, m_buffers.arena, at, bytes < all - at ? bytes : all - at);
    }
    return {};
  }

 private:
  const variant_view& variant() const { return m_plan->variant(); }
  length_values lengths() const { return m_plan->settings().lengths(); }
  gpu::status copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    if (bytes == 0) return {};  // a port without elements
    m_device->barrier(l);
    m_device->copy(l, from, from_offset, to, to_offset, bytes);
    return {};
  }
  std::uint64_t work_of(const dispatch_view& d) const {
    return nsk::impl::work_of(variant().step(d.step)) +
           (d.merged >= 0 ? nsk::impl::work_of(variant().step(d.merged)) : 0);
  }

  NSK_COLD gpu::status start(Device& device, const gpu::plan& p, const session_buffers<Device>& buffers,
                             std::size_t weight_bytes, span<std::byte> memory) {
    if (!p.is_ready()) return status_code::not_ready;
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(pipeline) != 0) return status_code::misaligned_memory;
    if (memory.size() < required_bytes(p)) return status_code::too_little_memory;
    if (p.weight_bytes() != 0 && weight_bytes != p.weight_bytes()) return status_code::bad_gpu_buffer;
    const std::uint64_t maximum = device.limits().max_binding_bytes;
    if (weight_bytes > maximum || p.required_arena_bytes() > maximum) return status_code::too_large;
    m_device = &device;
    m_plan = &p;
    m_buffers = buffers;
    m_pipelines = reinterpret_cast<pipeline*>(memory.data());
    if constexpr (impl::watches<Device>) device.watch(p, weight_bytes);
    for (std::size_t i = 0; i < p.pipelines().size(); ++i) {
      if (const gpu::status s = device.create_pipeline(p.pipelines()[i], m_pipelines[i]); !s) {
        destroy_pipelines();
        return {s.code(), status_place::pipeline, static_cast<std::int32_t>(i)};
      }
      ++m_made;
    }
    return {};
  }
  void destroy_pipelines() {
    if (!m_device) return;
    while (m_made > 0) m_device->destroy_pipeline(m_pipelines[--m_made]);
    if constexpr (impl::watches<Device>) m_device->forget(*m_plan);
    m_device = nullptr;
  }
  void take(session& o) {
    m_device = o.m_device;
    m_plan = o.m_plan;
    m_buffers = o.m_buffers;
    m_pipelines = o.m_pipelines;
    m_made = o.m_made;
    m_next = o.m_next;
    m_random = o.m_random;
    m_status = o.m_status;
    o.m_made = 0;
    o.m_device = nullptr;
    o.m_status = status_code::not_ready;
  }

  void begin(list& l) {
    m_device->barrier(l);
    m_device->bind(l, {m_buffers.weights, m_buffers.arena, texture{}, texture{}});
  }
  void end_inference() {
    m_next = 0;
    ++m_random.run;
  }
  /// Records dispatches [first, end), with a barrier before them.
  void run(list& l, int first, int end) {
    begin(l);
    for (int i = first; i < end; ++i) {
      const dispatch_view d = m_plan->dispatch(i);
      if (d.barrier && i != first) m_device->barrier(l);
      run(l, d);
    }
  }
  /// What copies bytes of the arena to a place in a buffer, and back.
  auto to_buffer(list& l, buffer b) {
    return [this, &l, b](std::size_t arena, std::size_t at, std::size_t bytes) {
      m_device->copy(l, m_buffers.arena, arena, b, at, bytes);
    };
  }
  auto from_buffer(list& l, buffer b) {
    return [this, &l, b](std::size_t arena, std::size_t at, std::size_t bytes) {
      m_device->copy(l, b, at, m_buffers.arena, arena, bytes);
    };
  }
  /// Calls copy(place in the arena, place in the buffer, bytes) for ranges that follow each other in the buffer.
  template <class Copy>
  void copy_ranges(list& l, const span<const arena_range>& ranges, std::size_t at, Copy copy) {
    int number = 0;
    for (const arena_range& r : ranges) {
      if (number++ % impl::max_concurrent == 0) m_device->barrier(l);
      copy(static_cast<std::size_t>(r.offset), at, static_cast<std::size_t>(r.bytes));
      at += static_cast<std::size_t>(r.bytes);
    }
  }
  template <class Copy>
  gpu::status copy_states(list& l, std::size_t at, Copy copy) {
    if (!m_status) return m_status;
    if (at % 4 != 0) return status_code::misaligned_offset;
    for (int i = 0; i < variant().state_count(); ++i) {
      const tensor_info t = variant().state(i).tensor();
      if (i % impl::max_concurrent == 0) m_device->barrier(l);
      copy(impl::arena_offset(t), at, impl::whole_words(t.bytes()));
      at += impl::whole_words(t.bytes());
    }
    return {};
  }
  void run(list& l, const dispatch_view& d) {
    const int count = static_cast<int>(d.constants.size());
    if (!d.seeded) return m_device->dispatch(l, m_pipelines[d.pipeline], d.constants.data(), count, d.groups);
    std::uint32_t words[impl::max_constants];
    std::memcpy(words, d.constants.data(), d.constants.size() * sizeof words[0]);
    words[0] = static_cast<std::uint32_t>(m_random.key);
    words[1] = static_cast<std::uint32_t>(m_random.key >> 32);
    words[2] = m_random.run;
    words[3] = m_random.first_row;
    m_device->dispatch(l, m_pipelines[d.pipeline], words, count, d.groups);
  }
  gpu::status record_texture(list& l, kernel k, const texture_constants& c, texture read, texture written) {
    const int number = m_plan->find_pipeline(k);
    if (number < 0) return status_code::no_texture_pipeline;
    impl::draft d;
    d.set_constants(c);
    d.spread(impl::pixels_of(c));
    m_device->barrier(l);
    m_device->bind(l, {m_buffers.weights, m_buffers.arena, read, written});
    m_device->dispatch(l, m_pipelines[number], d.words, d.word_count, d.groups);
    return {};
  }

  device_type* m_device = nullptr;
  const gpu::plan* m_plan = nullptr;
  session_buffers<Device> m_buffers{};
  pipeline* m_pipelines = nullptr;
  int m_made = 0, m_next = 0;
  random_source m_random{};
  gpu::status m_status = status_code::not_ready;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
