// SPDX-License-Identifier: MIT
#pragma once
/// The parts of a hybrid plan that run on the CPU. Not part of gpu.hpp: it needs the CPU engine's operators.
///
/// Part 0 of the dispatches, part 0 of the CPU, part 1 of the dispatches, and so on; the last part is one of
/// dispatches, which may be empty. Every part of the CPU needs the device to be done with the part before it, so that
/// an inference with n of them takes n + 1 submissions. A game that does not wait records a part per frame:
///
///     nsk::gpu::plan_settings how;
///     how.hybrid = true;                                        // refused otherwise: status_code::no_shader
///     ...
///     net.record_part(list, 0, staging);                        // one frame; submit
///     ...                                                       // later, when the device is done with it:
///     nsk::gpu::run_cpu(plan, 0, cpu, cpu_memory, read_back, upload);
///     net.record_part(list, 1, staging);                        // submit
///
/// plan::cpu_part(i) says which steps run on the CPU and which bytes cross the border.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/gpu/plan.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/run/session.hpp>

NSK_BEGIN
namespace gpu {

namespace impl {

/// Fills the border of a tensor in the CPU's memory: shaders neither write nor read borders.
inline void fill_border_of(const tensor_info& t, length_values lengths, std::byte* memory) {
  const halo h = t.border();
  if ((h.top | h.left | h.bottom | h.right) == 0 || t.where() == storage::constant) return;
  const tensor_view v = t.view(memory + t.buffer_offset(), lengths);
  const tile_space all = tile_space_of(v.shape, v.rank);
  kernels::impl::fill_typed_border(v, range_of_tile(all, {}, {1, 1, 1}, 0));
}

/// Copies ranges that follow each other in one block to or from their places in another.
template <class Copy>
std::size_t for_each_range(const span<const arena_range>& ranges, Copy copy) {
  std::size_t at = 0;
  for (const arena_range& r : ranges) {
    copy(static_cast<std::size_t>(r.offset), at, static_cast<std::size_t>(r.bytes));
    at += static_cast<std::size_t>(r.bytes);
  }
  return at;
}

}

/// Runs part `i` of the CPU. `cpu` is a session of the plan's variant, without bound ports, in `memory`, or a class
/// that passes on what is called here, so that kernels are compiled in another file. `read_back` holds what
/// session::record_part(i) copied from the device, cpu_part(i).read_back_bytes(); what record_part(i + 1) will copy to
/// the device is written to `upload`, cpu_part(i).upload_bytes(). Steps that choose random numbers take those of `cpu`
/// (nsk::session::seed), and go on to the next ones when the last part ran.
template <class Session>
status run_cpu(const plan& p, int i, Session& cpu, span<std::byte> memory, span<const std::byte> read_back,
               span<std::byte> upload) {
  if (!p.is_ready() || !cpu) return status_code::not_ready;
  if (i < 0 || i >= p.cpu_part_count()) return {status_code::bad_range, status_place::part, i};
  const cpu_part_view part = p.cpu_part(i);
  const variant_view& v = p.variant();
  const plan_settings& how = p.settings();
  if (cpu.step_count() != v.step_count() || memory.size() < v.required_bytes(1)) return status_code::bad_gpu_buffer;
  if (read_back.size() < part.read_back_bytes() || upload.size() < part.upload_bytes())
    return status_code::bad_gpu_buffer;
  if (v.batch() > 0 && !cpu.set_length("batch", how.rows > 0 ? how.rows : v.batch()))
    return {status_code::rows_out_of_range, how.rows};
  for (int k = 0; k < v.length_count(); ++k) {
    const length_view l = v.length(k);
    const std::int32_t value = how.chooses_lengths ? how.chosen_lengths[k] : l.bound();
    if (l.is_chosen() && !cpu.set_length(l.name(), value)) return {status_code::length_out_of_range, value};
  }
  impl::for_each_range(part.read_back, [&](std::size_t arena, std::size_t at, std::size_t bytes) {
    std::memcpy(memory.data() + arena, read_back.data() + at, bytes);
  });
  for (int step = part.first_step; step < part.first_step + part.step_count; ++step) {
    const step_view s = v.step(step);
    for (int k = 0; k < s.input_count(); ++k) impl::fill_border_of(s.input(k), p.settings().lengths(), memory.data());
    const int tiles = cpu.tile_count(step);
    for (int tile = 0; tile < tiles; ++tile) cpu.run_tile(step, tile, 0);
  }
  impl::for_each_range(part.upload, [&](std::size_t arena, std::size_t at, std::size_t bytes) {
    std::memcpy(upload.data() + at, memory.data() + arena, bytes);
  });
  if (i + 1 == p.cpu_part_count()) cpu.finish();
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
