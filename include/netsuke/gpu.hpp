// SPDX-License-Identifier: MIT
#pragma once
/// The GPU path: an inference recorded into the program's own command list. Optional; nothing else includes it.
///
///     std::vector<std::byte> space(nsk::gpu::plan::required_bytes(model, how));
///     nsk::gpu::plan plan;                                                           // once
///     if (nsk::gpu::status s = nsk::gpu::plan::make(model, how, space, plan); !s) { ... }
///     nsk::gpu::session<my_device> net(device, plan, {weights, arena}, model.weights().size(), memory);
///     net.write_input(list, 0, camera, 1280, 720, crop);                             // every frame
///     net.record(list);
///     net.copy_output(list, 0, read_back, 0);
///
/// - *The device*: gpu/device.hpp says what a renderer gives. gpu/generated/spirv.hpp and text.hpp hold the shaders: a
///   device includes those that it compiles.
/// - *The plan*: made of an ordinary variant, best of the one that `nsk convert --gpu` adds; the CPU runs it too.
///   required_pipelines() lists what to compile when the program loads.
/// - *Steps without a shader*: gpu/hybrid.hpp runs them on the CPU, where plan_settings::hybrid allows it.
/// - *Outputs without waiting*: gpu/read_back_ring.hpp.
/// - *A player's device*: gpu/selftest.hpp replays the file's check vectors on it.
/// - *A new renderer*: wrap the device in gpu::checked_device, which objects to what would be undefined.
///
/// docs/reference/gpu.md is the long form of this comment.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/checked_device.hpp>
#include <netsuke/gpu/cpu_part.hpp>
#include <netsuke/gpu/device.hpp>
#include <netsuke/gpu/half_weights.hpp>
#include <netsuke/gpu/pipeline.hpp>
#include <netsuke/gpu/plan.hpp>
#include <netsuke/gpu/session.hpp>
#include <netsuke/gpu/read_back_ring.hpp>
#include <netsuke/gpu/selftest.hpp>
#include <netsuke/gpu/settings.hpp>
#include <netsuke/gpu/status.hpp>
#include <netsuke/core/restore_macros.hpp>
