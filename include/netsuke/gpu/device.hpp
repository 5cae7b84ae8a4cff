// SPDX-License-Identifier: MIT
#pragma once
/// The device: what a renderer gives so that an inference can be recorded into its command list. It is a template
/// parameter; any type with these members is one. Nothing here submits, waits, maps or allocates.
///
/// Types, all of them the renderer's own and cheap to copy:
/// - `list`      an open command list; passed by reference
/// - `buffer`    a storage buffer
/// - `texture`   a texture, or a view of one
/// - `pipeline`  a compute pipeline
///
/// Operations. "We" is gpu::session.
/// - `limits limits() const`: what may be bound; asked once, when a session is made.
/// - `status create_pipeline(const pipeline_key& key, pipeline& made)`: compiles a kernel with the binding layout
///   below from the text or the SPIR-V of `key` (gpu/generated/text.hpp, spirv.hpp); called only while a session is
///   made. Returns pipeline_refused, out_of_memory or device_lost where that fails; then `made` is not touched, and we
///   destroy what was made before.
/// - `void destroy_pipeline(pipeline p)`: called when a session ends; the renderer makes sure that no list that uses
///   `p` is still running.
/// - `void bind(list& l, const bindings<D>& b)`: makes the buffers and textures of `b` the ones that the dispatches
///   after it see, until the next bind. Called a few times per inference, not per dispatch.
/// - `void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3])`:
///   at most 32 constants, which are copied at once; at least 1 and at most 65535 groups in each dimension.
/// - `void barrier(list& l)`: what dispatches and copies before it wrote can be read, and what they read can be
///   overwritten, by dispatches and copies after it. There is no other kind.
/// - `void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes)`:
///   offsets and bytes are multiples of 4; one side is the arena, the other a buffer of the renderer: inputs, outputs,
///   snapshots of states, and what crosses the border of a hybrid plan's parts.
///
/// Binding layout, the same for every kernel: weights as float4 (0) and as words (1), both read-only; arena as float4
/// (2) and as words (3), both read and written; a texture that is read (4), a texture that is written (5), of which a
/// kernel uses at most one; 128 bytes of constants.
///
/// What the renderer guarantees: lists that use one arena run in the order in which they were recorded, with a barrier
/// between them (ours, at the beginning of everything that we record, is enough on one queue); textures are in a layout
/// that a compute shader can read, or write, when the list gets there; weights and arena live as long as lists that use
/// them. Before the CPU reads a buffer that we copied to, the list is complete and, where the API asks for it, the
/// buffer was made visible to the CPU; what the CPU wrote to a buffer that we copy from was so before the submission.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/gpu/pipeline.hpp>
#include <netsuke/gpu/status.hpp>

NSK_BEGIN
namespace gpu {

/// What a device can bind. 128 MiB is the least that Vulkan and Direct3D promise.
struct limits {
  std::uint64_t max_binding_bytes = std::uint64_t{128} << 20;
};

/// What dispatches see. Null textures are not used by the dispatches that follow.
template <class Device>
struct bindings {
  typename Device::buffer weights{}, arena{};
  typename Device::texture read_texture{}, written_texture{};
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
