// SPDX-License-Identifier: MIT
#pragma once
/// Weights as 16-bit floats: half the memory and half the bytes that layers read. The program makes them when it loads
/// a model, and uploads them in place of the weights section:
///
///     nsk::gpu::plan_settings how;
///     how.half_weights = model.weights();
///     std::vector<std::byte> packed(nsk::gpu::half_weights::required_bytes(v, how));
///     nsk::gpu::half_weights::write(v, how, packed);                    // upload this
///     ... plan::make(v, how, ...), session(device, plan, {weights, arena}, packed.size(), memory) ...
///
/// Weights of convolutions, dense layers and products become 16-bit floats, rounded to the nearest; biases, tables and
/// all other constants stay as they are, and what the variant does not use is left out. Sums stay float32. A layer
/// keeps float32 where a weight is beyond 65504, or where an output channel would lose more than a thousandth (2^-10)
/// of its weights, by the root of the sum of squares: weights below 2^-14 lose digits.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/plan.hpp>

NSK_BEGIN
namespace gpu {
namespace impl {
/// [bias][depth][width] with biases as they are and weights as 16-bit floats.
inline std::byte* write_half_panels(const panel_shape& s, const std::byte* from, std::byte* to) {
  for_each_panel(s, from, [&](std::int64_t width, const std::byte* panel) {
    std::memcpy(to, panel, static_cast<std::size_t>(width) * 4);
    to += width * 4;
    for (std::int64_t i = width; i < width * (s.depth + 1); ++i) {
      const std::uint16_t half = half_of(panel_float(panel, i));
      std::memcpy(to, &half, sizeof half);
      to += sizeof half;
    }
  });
  return to;
}
}

/// What sessions of a plan with plan_settings::half_weights bind in place of the weights section.
namespace half_weights {

/// Returns the bytes that write() writes: plan::weight_bytes() of a plan with these settings. 0 where
/// plan_settings::half_weights is not set.
NSK_COLD inline std::size_t required_bytes(const variant_view& v, const plan_settings& how) {
  impl::dispatch_writer chosen(how);
  impl::choose_half_panels(v, chosen);
  return static_cast<std::size_t>(chosen.panels().all_bytes());
}

/// Writes the weights that a plan with these settings reads. too_little_memory: `to` is smaller than
/// required_bytes(); not_ready: plan_settings::half_weights is not set.
NSK_COLD inline status write(const variant_view& v, const plan_settings& how, span<std::byte> to) {
  impl::dispatch_writer writer(how);
  impl::choose_half_panels(v, writer);
  const impl::half_panels& chosen = writer.panels();
  if (!chosen.enabled()) return status_code::not_ready;
  if (to.size() < chosen.all_bytes()) return status_code::too_little_memory;
  std::memset(to.data(), 0, to.size());
  for (int i = 0; i < v.buffer_count(); ++i) {
    const buffer_view b = v.buffer(i);
    if (b.where() != storage::constant) continue;
    const std::byte* const from = how.half_weights.data() + b.offset();
    if (!chosen.has_buffer(i)) std::memcpy(to.data() + chosen.place_of(i), from, static_cast<std::size_t>(b.bytes()));
  }
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    if (s.input_count() < 2 || !impl::is_constant(s.input(1)) || !chosen.has(s.input(1))) continue;
    const tensor_info w = s.input(1);
    impl::write_half_panels(impl::panels_of(s), how.half_weights.data() + w.buffer_offset(),
                            to.data() + chosen.place_of(w));
  }
  return {};
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
