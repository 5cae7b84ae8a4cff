// SPDX-License-Identifier: MIT
#pragma once
/// Small files (`nsk convert --small`) are expanded to the files that nsk::open opens. Not part of the umbrella
/// netsuke.hpp: include it where small files are loaded.
///
///     span<std::byte> memory = my_aligned_alloc(64, nsk::required_bytes(small));   // the converter prints the number
///     if (nsk::status s = nsk::prepare(small, memory); !s) { log(s.message()); return; }
///     nsk::model model;
///     if (nsk::status s = nsk::open(memory, model); !s) { log(s.message()); return; }
///     // the bytes of `small` are not needed any more; those of `memory` are, as long as the model is
///
/// What a small file stores is what the source had: kernels in place of Winograd's weights, float16 or int8 where these
/// give the same float32, no zeros of sparse weights. The result is byte for byte the file that the converter writes
/// without --small, on every instruction set: open_options::check_hash proves it.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/format/impl/read_file.hpp>
#include <netsuke/format/small_file.hpp>
#include <netsuke/model/impl/decompress.hpp>
#include <netsuke/model/impl/expand_panels.hpp>
#include <netsuke/model/impl/stored_bytes.hpp>
#include <netsuke/simd/float_env.hpp>

NSK_BEGIN
namespace impl {

/// The parts of a small file, and the bytes that they make.
struct small_sections {
  span<const std::byte> parts, stored;
  std::uint64_t bytes = 0;

  std::int32_t count() const { return static_cast<std::int32_t>(parts.size() / sizeof(small_part)); }
  small_part part(std::int32_t i) const {
    small_part p;
    std::memcpy(&p, parts.data() + static_cast<std::size_t>(i) * sizeof p, sizeof p);
    return p;
  }
};

/// Whether what a part says of itself can be: known kinds, and panels of the size that its matrix has.
NSK_COLD inline bool is_possible(const small_part& p) {
  if (!is_known(p.kind) || !is_known(p.numbers) || codes_of(p) > code_source::before) return false;
  if (p.kind == part_kind::bytes) return codes_of(p) != code_source::none || p.bytes == p.stored_bytes;
  if (is_compressed(p.kind)) return true;
  return p.channels != 0 && p.channels <= max_part_length && p.depth <= max_part_length && p.bytes >= p.zeros &&
         (p.bytes - p.zeros) % sizeof(float) == 0 && floats_of(p) == (p.bytes - p.zeros) / sizeof(float);
}

/// The list of parts, each of which is possible, and which store all that the file holds.
NSK_COLD inline status read_small(span<const std::byte> file, small_sections& out) {
  file_header h;
  file_sections sections;
  if (const status s = read_sections(file, false, h, sections); !s) return s;
  if ((h.features & feature_small) == 0 || sections.table.size() % sizeof(small_part) != 0)
    return status_code::bad_header;
  out = {sections.table, sections.weights, 0};
  std::uint64_t stored = 0;
  for (std::int32_t i = 0; i < out.count(); ++i) {
    const small_part p = out.part(i);
    constexpr std::uint64_t max_bytes = std::uint64_t{1} << 48;
    if (!is_possible(p) || p.stored_bytes > max_bytes || p.bytes > max_bytes) return {status_code::bad_part, i};
    stored += p.stored_bytes;
    out.bytes += p.bytes;
    if (stored > sections.weights.size() || out.bytes > max_bytes) return {status_code::bad_part, i};
  }
  if (out.bytes > SIZE_MAX) return status_code::memory_unreachable;
  return stored == sections.weights.size() ? status_code::ok : status_code::bad_header;
}

/// Makes the bytes of one part from all that it stores; false where they do not fit each other. `code`: of the last
/// part before that has its own.
NSK_COLD inline bool expand(const small_part& p, span<const std::byte> plain, byte_code& code, std::byte* to) {
  const auto bytes = static_cast<std::size_t>(p.bytes);
  stored_bytes stored(plain);
  if (codes_of(p) != code_source::none && !stored.begin_codes(codes_of(p), code)) return false;
  switch (p.kind) {
    case part_kind::bytes: return stored.take(to, bytes) && stored.is_done();
    case part_kind::compressed:
    case part_kind::compressed_far:
      return stored.has_codes() ? decompress(stored, distance_bytes(p.kind), {to, bytes})
                                : decompress(stored.plain(), distance_bytes(p.kind), {to, bytes});
    default: break;
  }
  if (!is_aligned(to, alignof(float))) return false;
  std::memset(to + bytes - p.zeros, 0, p.zeros);
  float* const floats = reinterpret_cast<float*>(to);
  switch (p.kind) {
    case part_kind::panels: return expand_panels<part_kind::panels>(p, stored, floats);
    case part_kind::winograd4: return expand_panels<part_kind::winograd4>(p, stored, floats);
    default: return expand_panels<part_kind::winograd2>(p, stored, floats);
  }
}

}

/// Returns how many bytes prepare() needs for a small file; 0 where `file` is none: then open it as it is.
[[nodiscard]] inline std::size_t required_bytes(span<const std::byte> file) {
  impl::small_sections listed;
  return impl::read_small(file, listed) ? static_cast<std::size_t>(listed.bytes) : 0;
}

/// Expands a small file to the first required_bytes(file) bytes of `memory`, which begins at a multiple of 64 and does
/// not overlap `file`; these are what nsk::open wants. Takes the time of writing them, about 0.2 ms per MB, and 6 ms
/// per MB of what files of `--target size` store, and less than 16 KiB of stack. Any bytes are expanded or refused, in
/// time that is linear in what they are and ask for; then `memory` holds anything. The bits of the result are the same
/// on every machine.
[[nodiscard]] inline status prepare(span<const std::byte> file, span<std::byte> memory) {
  impl::small_sections listed;
  if (const status s = impl::read_small(file, listed); !s) return s;
  if (!impl::is_aligned(memory.data(), file_alignment)) return status_code::misaligned_memory;
  if (memory.size() < listed.bytes) return status_code::too_little_memory;
  const float_environment environment;
  impl::byte_code code;
  const std::byte* from = listed.stored.data();
  std::byte* to = memory.data();
  for (std::int32_t i = 0; i < listed.count(); ++i) {
    const small_part p = listed.part(i);
    if (!impl::expand(p, {from, static_cast<std::size_t>(p.stored_bytes)}, code, to)) return {status_code::bad_part, i};
    from += p.stored_bytes;
    to += p.bytes;
  }
  return {};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
