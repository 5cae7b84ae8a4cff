// SPDX-License-Identifier: MIT
#pragma once
/// A session on the GPU: records inferences of a plan into the renderer's command lists.
///
/// It records and does nothing else: it never submits, waits, maps or allocates. Everything that it records begins with
/// a barrier, so calls follow each other without one in between:
///
///     nsk::gpu::session<my_device> net(device, plan, {weights, arena}, memory);
///     if (!net) { log(net.status().message()); return; }      // run nsk::session on the CPU
///     net.reset(list);                                        // once: the initial values of states
///     net.write_input(list, 0, camera, how);                  // texture to tensor
///     net.record(list);
///     net.copy_output(list, 0, read_back, 0);                 // or read_output: tensor to texture
///
/// Several frames in flight: one session with one arena where lists run in order, or one session per arena.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/random.hpp>
#include <netsuke/gpu/device.hpp>
#include <netsuke/gpu/impl/device_rules.hpp>
#include <netsuke/gpu/impl/texture.hpp>
#include <netsuke/gpu/plan.hpp>
#include <netsuke/run/budget.hpp>

NSK_BEGIN
namespace gpu {

/// Returns the bytes of memory that a session needs, at a multiple of 16: its pipelines.
template <class Device>
constexpr std::size_t session_bytes(const plan& p) {
  return p.pipelines().size() * sizeof(typename impl::device_or_idle<Device>::pipeline);
}

/// The buffers of a session: the model's weights section, uploaded by the caller, and plan::arena_bytes() bytes.
template <class Device>
struct session_buffers {
  typename impl::device_or_idle<Device>::buffer weights{}, arena{};
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

  session() = default;
  /// Compiles the plan's pipelines; `weight_bytes` is the size of the model's weights section. Device, plan, buffers
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
  /// Records a region of a texture of width x height texels into input `i`, a float32 image [1, H, W, C]; returns the
  /// map between both through `map` where that is not null. The same settings as nsk::image_to_tensor; levels are
  /// texels times 255. `blue_first` says that the texture's first channel is blue and is not already swapped by its
  /// format.
  gpu::status write_input(list& l, int i, texture from, std::int32_t width, std::int32_t height,
                          const image_settings& how, image_map* map = nullptr, bool blue_first = false) {
    if (!m_status) return m_status;
    if (i < 0 || i >= variant().input_count()) return {status_code::no_such_port, i};
    texture_constants c;
    if (const status_code why = impl::set_texture_input(c, variant().input(i), width, height, how, blue_first, map);
        why != status_code::ok)
      return {why, i};
    return record_texture(l, kernel::texture_to_tensor, c, from, texture{});
  }
  /// Records output `i`, a float32 image [1, H, W, C], into a texture of H x W texels: scaled to levels, clamped.
  gpu::status read_output(list& l, int i, texture to, const tensor_settings& how, bool blue_first = false) {
    if (!m_status) return m_status;
    if (i < 0 || i >= variant().output_count()) return {status_code::no_such_port, i};
    texture_constants c;
    if (const status_code why = impl::set_texture_output(c, variant().output(i), how, blue_first);
        why != status_code::ok)
      return {why, i};
    return record_texture(l, kernel::tensor_to_texture, c, texture{}, to);
  }
  /// Records a copy of port bytes, from `offset` in a buffer of the renderer to input `i`, or from output `i` to it.
  gpu::status copy_input(list& l, int i, buffer from, std::size_t offset) {
    if (!m_status) return m_status;
    if (i < 0 || i >= variant().input_count()) return {status_code::no_such_port, i};
    const port_view port = variant().input(i);
    if (offset % 4 != 0) return {status_code::misaligned_offset, i};
    m_device->barrier(l);
    m_device->copy(l, from, offset, m_buffers.arena, impl::arena_offset(port), impl::copied_bytes(port));
    return {};
  }
  gpu::status copy_output(list& l, int i, buffer to, std::size_t offset) {
    if (!m_status) return m_status;
    if (i < 0 || i >= variant().output_count()) return {status_code::no_such_port, i};
    const port_view port = variant().output(i);
    if (offset % 4 != 0) return {status_code::misaligned_offset, i};
    m_device->barrier(l);
    m_device->copy(l, m_buffers.arena, impl::arena_offset(port), to, offset, impl::copied_bytes(port));
    return {};
  }

  // --- inference ---
  /// Records a whole inference, from the start.
  gpu::status record(list& l) { return record(l, 0, m_plan ? m_plan->dispatch_count() : 0); }

  /// Records dispatches [first, first + count).
  gpu::status record(list& l, int first, int count) {
    if (!m_status) return m_status;
    if (first < 0 || count < 0 || first > m_plan->dispatch_count() - count) return {status_code::bad_range, first};
    begin(l);
    for (int i = first; i < first + count; ++i) {
      const dispatch_view d = m_plan->dispatch(i);
      if (d.on_cpu) return {status_code::no_shader, d.step};
      if (d.barrier && i != first) m_device->barrier(l);
      run(l, d);
    }
    m_next = first + count;
    if (m_next == m_plan->dispatch_count()) {
      m_next = 0;
      ++m_random.run;
    }
    return {};
  }
  /// Records dispatches until `amount` of work is used up, at least one: a slice of an inference per frame. Sets `done`
  /// when the inference is complete; the next call starts a new one.
  gpu::status record(list& l, work amount, bool& done) {
    done = false;
    if (!m_status) return m_status;
    int end = m_next;
    for (std::uint64_t left = amount.macs; end < m_plan->dispatch_count(); ++end) {
      const int step = m_plan->dispatch(end).step;
      const std::uint64_t of_step = step < 0 ? 1 : nsk::impl::work_of(variant().step(step));
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

  /// Records the initial values of all states.
  gpu::status reset(list& l) {
    if (!m_status) return m_status;
    m_next = 0;
    begin(l);
    for (int i = 0; i < m_plan->reset_count(); ++i) run(l, m_plan->reset_dispatch(i));
    return {};
  }

 private:
  const variant_view& variant() const { return m_plan->variant(); }

  NSK_COLD gpu::status start(Device& device, const gpu::plan& p, const session_buffers<Device>& buffers,
                             std::size_t weight_bytes, span<std::byte> memory) {
    if (!p.is_ready()) return status_code::not_ready;
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(pipeline) != 0) return status_code::misaligned_memory;
    if (memory.size() < session_bytes<Device>(p)) return status_code::too_little_memory;
    const std::uint64_t maximum = device.limits().max_binding_bytes;
    if (weight_bytes > maximum || p.arena_bytes() > maximum) return status_code::too_large;
    m_device = &device;
    m_plan = &p;
    m_buffers = buffers;
    m_pipelines = reinterpret_cast<pipeline*>(memory.data());
    if constexpr (impl::watches<Device>) device.watch(p, weight_bytes);
    for (std::size_t i = 0; i < p.pipelines().size(); ++i) {
      if (const gpu::status s = device.create_pipeline(p.pipelines()[i], m_pipelines[i]); !s) {
        destroy_pipelines();
        return {s.code(), static_cast<std::int32_t>(i)};
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
