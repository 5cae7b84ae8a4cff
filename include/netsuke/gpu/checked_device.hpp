// SPDX-License-Identifier: MIT
#pragma once
/// checked_device<D>: a device that hands everything on to another one and objects to what would be undefined there.
/// For the first weeks of a new renderer, and for its debug builds:
///
///     nsk::gpu::checked_device<my_device> checked(device);
///     nsk::gpu::session<nsk::gpu::checked_device<my_device>> net(checked, plan, {weights, arena}, bytes, memory);
///     ...
///     if (!checked.violation()) log("%s (dispatch %d)", checked.violation_text(), checked.violation().where());
///
/// It keeps the first violation. A command that breaks a rule is not handed on, except for a missing barrier.
///
/// The rules: what two commands touch in common, when one of them writes it, has a barrier between them; copies are
/// whole words inside their buffers and do not overlap; at most 32 constants; 1 to 65535 groups; buffers and textures
/// are bound and no null handles; pipelines are those that create_pipeline made; textures that a shader writes hold
/// RGBA bytes; nothing is made or destroyed once commands are recorded, until loading() is called.
///
/// Two things it can only check where the device has a member that answers:
/// - `std::size_t bytes_of(const buffer&) const`: whether copies and arenas fit
/// - `bool is_rgba8(const texture&) const`: the format of textures
///
/// It allocates nothing: it has about 30 kB of members, so it belongs beside the device, not on the stack.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/device.hpp>
#include <netsuke/gpu/impl/checked_commands.hpp>
#include <netsuke/gpu/impl/device_rules.hpp>
#include <netsuke/gpu/impl/texture.hpp>
#include <netsuke/gpu/plan.hpp>
#include <netsuke/image/types.hpp>

NSK_BEGIN
namespace gpu {

template <class Device>
class checked_device {
  static_assert(impl::device_fault_of<Device>() == impl::device_fault::none,
                "netsuke: this is not a device: a session of it says what it lacks (gpu/device.hpp)");

 public:
  using list = typename Device::list;
  using buffer = typename Device::buffer;
  using texture = typename Device::texture;
  using pipeline = typename Device::pipeline;

  explicit checked_device(Device& device) : m_device(device) {}
  checked_device(const checked_device&) = delete;
  checked_device& operator=(const checked_device&) = delete;

  /// Returns device_broken_rule where a rule was broken; its where() is the number of the dispatch in its plan, -1
  /// where the command is not a dispatch of a plan.
  status violation() const { return m_text ? status(status_code::device_broken_rule, m_where) : status(); }
  /// Returns what was wrong and what to do, "" where nothing was.
  const char* violation_text() const { return m_text ? m_text : ""; }
  /// Forgets the violation, so that the next one is kept.
  void clear_violation() { m_text = nullptr; }
  /// Says that no list runs and that the program loads or unloads: pipelines may be made and destroyed until the next
  /// command is recorded.
  void loading() { m_recording = false; }

  // --- what sessions tell ---

  /// The dispatches of this plan will be recorded; sessions call it, and forget() when they end.
  void watch(const plan& p, std::size_t weight_bytes) {
    if (m_plans == max_plans) return object("more than 16 sessions use one checked_device: give each its own");
    m_plan[m_plans++] = {&p, weight_bytes};
  }
  void forget(const plan& p) {
    for (int i = 0; i < m_plans; ++i) {
      if (m_plan[i].plan != &p) continue;
      m_plan[i] = m_plan[--m_plans];
      break;
    }
    m_commands.forget(p);
  }

  // --- the device ---

  gpu::limits limits() const { return m_device.limits(); }

  status create_pipeline(const pipeline_key& key, pipeline& made) {
    if (m_recording) {
      object("a pipeline is made after commands were recorded: make sessions while the program loads (loading())");
      return status_code::device_broken_rule;
    }
    if (m_pipelines == max_pipelines) {
      object("more than 512 pipelines are alive: destroy sessions that are not used");
      return status_code::device_broken_rule;
    }
    const status s = m_device.create_pipeline(key, made);
    if (s) m_pipeline[m_pipelines++] = {made, key.kernel};
    return s;
  }
  void destroy_pipeline(pipeline p) {
    if (m_recording)
      object(
          "a pipeline is destroyed after commands were recorded: a list may still use it; wait, then call loading()");
    const int i = number_of(p);
    if (i < 0) return object("a pipeline is destroyed that was not made, or twice");
    m_pipeline[i] = m_pipeline[--m_pipelines];
    m_device.destroy_pipeline(p);
  }

  void bind(list& l, const bindings<checked_device>& b) {
    m_recording = true;
    if (is_null(b.weights) || is_null(b.arena)) return object("a null buffer is bound");
    m_bound = {b.weights, b.arena, b.read_texture, b.written_texture};
    m_is_bound = true;
    m_device.bind(l, m_bound);
  }

  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    m_recording = true;
    impl::command<Device> c;
    const watched* const of = find(constants, count, c.record);
    m_dispatch = c.record ? of->plan->number_of(*c.record) : -1;
    const int made = number_of(p);
    if (made < 0) return object("a dispatch uses a pipeline that was not made, or that was destroyed");
    if (!m_is_bound) return object("a dispatch before the first bind");
    if (!constants || count < 0 || count > impl::max_constants) return object("a dispatch has more than 32 constants");
    for (const std::uint32_t n : groups) {
      if (n == 0 || n > impl::max_groups) return object("a dispatch has no groups, or more than 65535 in a dimension");
    }
    c.weights = m_bound.weights;
    c.arena = m_bound.arena;
    if (c.record) c.plan = of->plan;
    if (c.record && !(fits(c.arena, 0, of->plan->required_arena_bytes()) && fits(c.weights, 0, of->weight_bytes)))
      return object("the bound arena or weights buffer is smaller than its plan needs (plan::required_arena_bytes())");
    if (!c.record && !add_texture_access(c, m_pipeline[made].kernel, constants, count)) return;
    add(c);
    m_device.dispatch(l, p, constants, count, groups);
    m_dispatch = -1;
  }

  void barrier(list& l) {
    m_recording = true;
    m_commands.clear();
    m_device.barrier(l);
  }

  void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    m_recording = true;
    if (is_null(from) || is_null(to)) return object("a copy from or to a null buffer");
    if (bytes == 0 || (from_offset | to_offset | bytes) % 4 != 0)
      return object("a copy is empty, or its offsets or size are no multiples of 4");
    if (!fits(from, from_offset, bytes) || !fits(to, to_offset, bytes)) return object("a copy leaves its buffers");
    if (impl::same(from, to) && from_offset < to_offset + bytes && to_offset < from_offset + bytes)
      return object("a copy overlaps itself");
    impl::command<Device> c;
    c.weights = from;
    c.arena = to;
    c.weights_bytes = {from_offset, from_offset + bytes, false};
    c.arena_bytes = {to_offset, to_offset + bytes, true};
    add(c);
    m_device.copy(l, from, from_offset, to, to_offset, bytes);
  }

 private:
  static constexpr int max_plans = 16, max_pipelines = 512;
  struct watched {
    const gpu::plan* plan = nullptr;
    std::size_t weight_bytes = 0;
  };
  struct live_pipeline {
    pipeline made{};
    gpu::kernel kernel{};
  };

  void object(const char* text) {
    if (!m_text) {
      m_text = text;
      m_where = m_dispatch;
    }
    m_dispatch = -1;
  }
  template <class Handle>
  static bool is_null(const Handle& h) {
    return impl::same(h, Handle{});
  }
  bool fits(const buffer& b, std::size_t offset, std::size_t bytes) const {
    if constexpr (impl::tells_bytes<Device>) {
      const std::size_t all = m_device.bytes_of(b);
      return offset <= all && bytes <= all - offset;
    }
    return true;
  }
  int number_of(const pipeline& p) const {
    for (int i = 0; i < m_pipelines; ++i) {
      if (impl::same(m_pipeline[i].made, p)) return i;
    }
    return -1;
  }
  /// The plan to which a dispatch belongs, by its constants, and the dispatch; null where no session told of one.
  const watched* find(const std::uint32_t* constants, int count, const impl::dispatch_record*& record) const {
    for (int i = 0; i < m_plans; ++i) {
      record = m_plan[i].plan->find_record(constants, count);
      if (record) return &m_plan[i];
    }
    return nullptr;
  }
  /// Adds what a dispatch of no plan touches: the texture and the bytes of a port, or, where it is another kernel, all.
  bool add_texture_access(impl::command<Device>& c, kernel k, const std::uint32_t* constants, int count) {
    const bool reads = k == kernel::texture_to_tensor, writes = k == kernel::tensor_to_texture;
    texture_constants t;
    if ((!reads && !writes) || static_cast<std::size_t>(count) * 4 < sizeof t) return true;
    std::memcpy(static_cast<void*>(&t), constants, sizeof t);
    const texture& used = reads ? m_bound.read_texture : m_bound.written_texture;
    if (is_null(used)) return object("no texture is bound for the kernel that reads or writes one"), false;
    if (!is_rgba8(used)) return object("a texture does not hold RGBA bytes (rgba8, not sRGB)"), false;
    const auto channels = static_cast<std::uint64_t>(channel_count(impl::order_of(t)));
    const std::uint64_t begin = std::uint64_t{t.y} * 4, end = begin + channels * 4 * impl::pixels_of(t);
    if (!fits(c.arena, static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)))
      return object("a texture's port leaves the arena"), false;
    c.arena_bytes = {begin, end, reads};
    (reads ? c.read_texture : c.written_texture) = used;
    return true;
  }
  bool is_rgba8(const texture& t) const {
    if constexpr (impl::tells_format<Device>)
      return m_device.is_rgba8(t);
    else
      return static_cast<void>(t), true;
  }
  void add(const impl::command<Device>& c) {
    switch (m_commands.add(c)) {
      case impl::order::free: return;
      case impl::order::hazard:
        return object(
            "a barrier is missing: the command touches bytes that a command since the last barrier writes, or writes "
            "bytes that one reads");
      case impl::order::too_many: return object("more than 128 commands without a barrier: too many to check");
    }
  }

  Device& m_device;
  const char* m_text = nullptr;
  int m_where = -1, m_dispatch = -1;
  bool m_recording = false, m_is_bound = false;
  bindings<Device> m_bound{};
  int m_plans = 0, m_pipelines = 0;
  watched m_plan[max_plans];
  live_pipeline m_pipeline[max_pipelines];
  impl::concurrent_commands<Device> m_commands;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
