// SPDX-License-Identifier: MIT
#pragma once
/// What `nsk inspect --gpu` shows: the GPU plan of a variant.
#include <netsuke/format/variant_view.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "gpu/halves.hpp"
#include "io/text.hpp"

namespace nsk::tool {

/// Returns the plan of a variant: `pipelines`, the closed list of kernels and permutations with the dispatches of each,
/// `dispatches` and `barriers` of an inference, `plan_bytes` and `arena_bytes`, `read_bytes` and `written_bytes` of an
/// inference (each element of each tensor of a dispatch once), `half_bytes` (the same where
/// plan_settings::half_activations is set), and by step its kernels, barriers, bytes and, where it has no shader, why.
/// `whole` says that every step has one; `refused`, where no plan can be made, not even with steps on the CPU, why.
/// With `halves` all of it is that plan's; `half_buffers` counts the buffers of the arena that hold 16-bit floats, of
/// `buffers`. `weights` is the model's weights section; `half_weight_bytes` what is left of it where layers' weights
/// are 16-bit floats, `half_weight_layers` how many are, of `weight_layers`, and `half_weights_saved` what an inference
/// reads less then.
nlohmann::json gpu_plan_report(const variant_view& v, span<const std::byte> weights, const half_options& halves = {});

/// gpu_plan_report() as text; `weight_bytes` is the size of the weights section, which is uploaded whole.
std::string gpu_plan_text(const nlohmann::json& plan, std::uint64_t weight_bytes, const text_style& style = {});

/// One line, and one for each kind of steps without a shader: what they lack and how many there are.
std::string gpu_plan_summary(const nlohmann::json& plan);

}
