// SPDX-License-Identifier: MIT
#pragma once
/// First part of the verifier: from bytes that may be anything to the sections of a file, and to a table that can be
/// walked without leaving it. What the numbers in the table mean is not looked at here.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/format/file_header.hpp>
#include <netsuke/format/impl/table_verifier.hpp>
#include <netsuke/format/model_view.hpp>

NSK_BEGIN
namespace impl {

/// The sections of a file.
struct file_sections {
  span<const std::byte> table, weights;
};

NSK_COLD inline bool is_aligned(const void* p, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

/// The header of a file or a small file, and the two sections that it names.
NSK_COLD inline status read_sections(span<const std::byte> bytes, bool check_hash, file_header& h,
                                     file_sections& sections) {
  if (bytes.size() < sizeof h) {
    const bool begins =
        bytes.size() >= sizeof file_magic && std::memcmp(bytes.data(), file_magic, sizeof file_magic) == 0;
    return begins || bytes.empty() ? status_code::too_short : status_code::bad_magic;
  }
  std::memcpy(&h, bytes.data(), sizeof h);
  if (std::memcmp(h.magic, file_magic, sizeof file_magic) != 0) return status_code::bad_magic;
  if (h.format_version != NSK_FORMAT_VERSION) return status_code::wrong_version;
  if (!is_aligned(bytes.data(), 16)) return status_code::misaligned_bytes;
  if ((h.features & ~(known_features | feature_small)) != 0) return status_code::unknown_feature;
  if (h.table_offset != sizeof h || h.table_bytes > max_table_bytes) return status_code::bad_header;
  const std::uint64_t table_end = h.table_offset + h.table_bytes;
  if (h.weights_offset < table_end || h.weights_offset % file_alignment != 0) return status_code::bad_header;
  if (h.file_bytes < h.weights_offset || h.file_bytes - h.weights_offset != h.weights_bytes)
    return status_code::bad_header;
  if (bytes.size() < h.file_bytes) return status_code::too_short;
  const auto part = [&](std::uint64_t from, std::uint64_t size) {
    return span<const std::byte>(bytes.data() + from, static_cast<std::size_t>(size));
  };
  sections = {part(h.table_offset, h.table_bytes), part(h.weights_offset, h.weights_bytes)};
  if (check_hash && content_hash(part(sizeof h, h.file_bytes - sizeof h)) != h.content_hash)
    return status_code::wrong_hash;
  return {};
}

/// The sections of a file that can be opened as it is.
NSK_COLD inline status read_header(span<const std::byte> bytes, bool check_hash, file_sections& sections) {
  file_header h;
  const status s = read_sections(bytes, check_hash, h, sections);
  if (!s) return s;
  if ((h.features & feature_small) != 0) return status_code::not_prepared;
  return h.weights_bytes < over_read ? status_code::bad_header : status_code::ok;
}

/// Fields without which nothing of a variant can be read: present, and aligned for their elements.
NSK_COLD inline status verify_fields(const format::Variant& v) {
  if (!v.buffers() || !v.tensors() || !v.steps()) return status_code::bad_structure;
  for (std::uint32_t i = 0; i < v.tensors()->size(); ++i) {
    const format::Tensor* t = v.tensors()->Get(i);
    const bool aligned_terms = count_of(t->terms()) == 0 || is_aligned(t->terms()->Data(), alignof(std::int64_t));
    if (!t->shape() || !t->strides() || !is_aligned(t->strides()->Data(), alignof(std::int64_t)) || !aligned_terms) {
      return {status_code::bad_tensor, static_cast<std::int32_t>(i)};
    }
  }
  for (const auto* ports : {v.inputs(), v.outputs()}) {
    const status_place place = ports == v.inputs() ? status_place::input : status_place::output;
    for (std::uint32_t i = 0; i < count_of(ports); ++i) {
      const auto* shape = ports->Get(i)->source_shape();
      if (count_of(shape) != 0 && !is_aligned(shape->Data(), alignof(std::int64_t)))
        return {status_code::bad_port, place, static_cast<std::int32_t>(i)};
    }
  }
  for (std::uint32_t i = 0; i < v.steps()->size(); ++i) {
    const format::Step* s = v.steps()->Get(i);
    const auto where = static_cast<std::int32_t>(i);
    if (s->op_type() == format::Operator::NONE || s->op_type() > format::Operator::MAX || !s->op())
      return {status_code::unknown_op, where};
  }
  return {};
}

/// Offsets, vectors, strings and nesting of the table, that its lists are not shared so often that going through them
/// takes long, and that each variant has its fields.
NSK_COLD inline status read_table(span<const std::byte> table, work_budget& work, model_view& out) {
  const format::Model* root = table_verifier(table, work).root<format::Model>();
  if (!root) return work.left() == 0 ? status_code::too_complex : status_code::bad_structure;
  if (count_of(root->variants()) == 0) return status_code::bad_structure;
  for (std::uint32_t i = 0; i < root->variants()->size(); ++i) {
    const status s = verify_fields(*root->variants()->Get(i));
    if (!s) return s.in_variant(static_cast<int>(i));
  }
  out = model_view(root);
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
