// SPDX-License-Identifier: MIT
#include "shrink/shrink.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <netsuke/model/open.hpp>
#include <netsuke/format/small_file.hpp>
#include "engine/small_file.hpp"
#include "errors.hpp"
#include "status_text.hpp"
#include "shrink/compress.hpp"
#include "shrink/matrices.hpp"
#include "shrink/numbers.hpp"
#include "shrink/prefix_code.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_whole_bytes = 1 << 16;

/// Panels of float32 that follow each other in a file, and what they are made of where that is something else.
struct float_panels {
  std::uint64_t begin = 0;
  part_kind kind = part_kind::panels;
  std::vector<packed_matrix> matrices = {};
  std::shared_ptr<const std::vector<float>> kernels = nullptr;
};

/// Packed weights: what step `s` reads as its input 1. No matrices where they cannot be stored in another way.
float_panels packed_panels_of(const step_view& s, const winograd_kernels& kernels) {
  const tensor_info w = s.input(1);
  float_panels p{w.buffer_offset() + w.offset()};
  if (w.arrangement() != packing::panels) {
    p.kind = w.arrangement() == packing::winograd4 ? part_kind::winograd4 : part_kind::winograd2;
    const auto known = kernels.find(static_cast<std::int64_t>(p.begin));
    if (known == kernels.end()) return p;
    p.kernels = known->second;
  }
  p.matrices = matrices_of(s);
  return p;
}

/// Other constants of float32, as if they were panels of 16 columns; what does not fill a row is left out.
float_panels plain_panels_of(const tensor_info& t) {
  const auto rows = static_cast<std::int64_t>(t.buffer_bytes() / sizeof(float)) / panel_width;
  float_panels p{t.buffer_offset()};
  if (rows > 1) p.matrices = {{panel_width, rows - 1}};
  return p;
}

/// What a model has of both, by place in the weights section.
std::map<std::uint64_t, float_panels> panels_of(const model& m, const winograd_kernels& kernels) {
  std::map<std::uint64_t, float_panels> found;
  const auto add = [&](float_panels p) {
    if (!p.matrices.empty()) found.emplace(p.begin, std::move(p));
  };
  for (int i = 0; i < m.variant_count(); ++i) {
    const variant_view v = m.variant(i);
    for (int k = 0; k < v.step_count(); ++k) {
      if (v.step(k).input_count() < 2) continue;
      const tensor_info w = v.step(k).input(1);
      if (w.where() == storage::constant && w.type() == dtype::float32 && w.arrangement() != packing::plain)
        add(packed_panels_of(v.step(k), kernels));
    }
    for (int k = 0; k < v.tensor_count(); ++k) {
      const tensor_info t = v.tensor(k);
      if (t.where() == storage::constant && t.type() == dtype::float32 && t.arrangement() == packing::plain)
        add(plain_panels_of(t));
    }
  }
  return found;
}

/// How a part is stored, and by which code.
struct coded_part {
  small_part part;
  std::vector<std::byte> stored;
};

/// Codes what parts store where that is shorter. Weights share a code, which the first of them has that gains by it.
class part_coder {
 public:
  explicit part_coder(const std::vector<coded_part>& parts) {
    byte_counts weights;
    weights.fill(1);
    for (const coded_part& p : parts)
      if (is_panels(p.part)) add(weights, count_bytes(span_of(p.stored)));
    m_weights = prefix_code(weights);
  }
  void code(coded_part& p) {
    const span<const std::byte> bytes = span_of(p.stored);
    const prefix_code own = is_panels(p.part) ? *m_weights : prefix_code(count_bytes(bytes));
    const std::uint64_t plain = bytes.size(), by_own = own.size_of(bytes, code_source::own),
                        by_last = m_last ? m_last->size_of(bytes, code_source::before)
                                         : std::numeric_limits<std::uint64_t>::max();
    if (plain <= by_own && plain <= by_last) return;
    const code_source from = by_own < by_last ? code_source::own : code_source::before;
    if (from == code_source::own) m_last = own;
    p.stored = m_last->encode(bytes, from);
    p.part.flags = static_cast<std::uint8_t>(p.part.flags | static_cast<int>(from) << 1);
    p.part.stored_bytes = p.stored.size();
  }

 private:
  static void add(byte_counts& to, const byte_counts& counts) {
    for (std::size_t byte = 0; byte < to.size(); ++byte) to[byte] += counts[byte];
  }
  static bool is_panels(const small_part& p) { return p.kind != part_kind::bytes && !is_compressed(p.kind); }
  static span<const std::byte> span_of(const std::vector<std::byte>& bytes) { return {bytes.data(), bytes.size()}; }

  std::optional<prefix_code> m_weights, m_last;
};

/// The parts of a file in their order, and what they store.
class part_list {
 public:
  part_list(const std::vector<std::byte>& file, bool codes) : m_file(file), m_codes(codes) {}

  /// Adds what comes before `end`, compressed where that is shorter.
  void copy_to(std::uint64_t end) {
    if (end <= m_made) return;
    const span<const std::byte> bytes(m_file.data() + m_made, static_cast<std::size_t>(end - m_made));
    small_part p{};
    p.kind = part_kind::bytes;
    p.bytes = bytes.size();
    std::vector<std::byte> stored(bytes.data(), bytes.data() + bytes.size());
    for (const part_kind kind : {part_kind::compressed, part_kind::compressed_far}) {
      if (kind == part_kind::compressed_far && !m_codes) continue;
      std::vector<std::byte> packed = compress(bytes, distance_bytes(kind));
      if (packed.size() >= stored.size()) continue;
      p.kind = kind;
      stored = std::move(packed);
    }
    p.stored_bytes = stored.size();
    add(p, std::move(stored));
  }

  /// Adds panels that begin `place` bytes behind the start of the file; leaves them to the next copy where they would
  /// not get shorter.
  void add_panels(const float_panels& w, std::uint64_t place) {
    std::vector<small_part> parts;
    std::vector<std::byte> stored;
    std::uint64_t end = place;
    const float* from = w.kernels ? w.kernels->data() : reinterpret_cast<const float*>(m_file.data() + place);
    for (const packed_matrix& m : w.matrices) {
      small_part p{};
      p.kind = w.kind;
      p.channels = static_cast<std::uint32_t>(m.channels);
      p.depth = static_cast<std::uint32_t>(m.depth);
      p.bytes = floats_of(p) * sizeof(float);
      const auto rows = static_cast<std::int64_t>(rows_of(p));
      store_panels(from, m.channels, rows, p, stored);
      from += panel_floats(m.channels, rows);
      end += p.bytes;
      parts.push_back(p);
    }
    if (place < m_made || stored.size() + parts.size() * sizeof(small_part) >= end - place) return;
    parts.back().zeros = zeros_from(end);
    parts.back().bytes += parts.back().zeros;
    copy_to(place);
    for (std::size_t i = 0, at = 0; i < parts.size(); ++i) {
      const auto size = static_cast<std::size_t>(parts[i].stored_bytes);
      add(parts[i], {stored.data() + at, stored.data() + at + size});
      at += size;
    }
  }

  /// The small file: header, list of parts, what they store.
  std::vector<std::byte> file() const {
    std::vector<coded_part> parts = m_parts;
    part_coder coder(parts);
    for (coded_part& p : parts)
      if (m_codes) coder.code(p);
    std::vector<small_part> list;
    std::vector<std::byte> stored;
    for (const coded_part& p : parts) {
      list.push_back(p.part);
      stored.insert(stored.end(), p.stored.begin(), p.stored.end());
    }
    file_header h;
    std::memcpy(&h, m_file.data(), sizeof h);
    h.features = feature_small;
    h.table_bytes = list.size() * sizeof(small_part);
    h.weights_offset = (h.table_offset + h.table_bytes + file_alignment - 1) / file_alignment * file_alignment;
    h.weights_bytes = stored.size();
    h.file_bytes = h.weights_offset + h.weights_bytes;
    std::vector<std::byte> small(static_cast<std::size_t>(h.file_bytes));
    std::memcpy(small.data() + h.table_offset, list.data(), static_cast<std::size_t>(h.table_bytes));
    std::copy(stored.begin(), stored.end(), small.begin() + static_cast<std::ptrdiff_t>(h.weights_offset));
    h.content_hash = content_hash({small.data() + sizeof h, small.size() - sizeof h});
    std::memcpy(small.data(), &h, sizeof h);
    return small;
  }

 private:
  void add(const small_part& p, std::vector<std::byte> stored) {
    m_parts.push_back({p, std::move(stored)});
    m_made += p.bytes;
  }
  /// Zeros from a place up to the next multiple of 64.
  std::uint32_t zeros_from(std::uint64_t place) const {
    std::uint32_t count = 0;
    for (; place < m_file.size() && place % file_alignment != 0 && m_file[place] == std::byte{0}; ++place) ++count;
    return count;
  }
  const std::vector<std::byte>& m_file;
  bool m_codes;
  std::uint64_t m_made = 0;  ///< bytes of the file that the parts make
  std::vector<coded_part> m_parts;
};

}

std::vector<std::byte> shrink(const std::vector<std::byte>& file, const winograd_kernels& kernels, bool codes) {
  model m;
  if (const status s = open({file.data(), file.size()}, m); !s) refuse(status_text(s) + ".");
  file_header h;
  std::memcpy(&h, file.data(), sizeof h);
  part_list parts(file, codes), whole(file, codes);
  if (codes) parts.copy_to(h.weights_offset);  // names and numbers have codes of their own
  for (const auto& [place, panels] : panels_of(m, kernels)) parts.add_panels(panels, h.weights_offset + place);
  parts.copy_to(file.size());
  std::vector<std::byte> small = parts.file();
  if (small.size() < max_whole_bytes) {  // of little weights, one part may be less than several with their heads
    whole.copy_to(file.size());
    std::vector<std::byte> one = whole.file();
    if (one.size() < small.size()) small = std::move(one);
  }
  if (expand(small, "the small file") != file)
    refuse("the small file does not expand to the file that it was made of. Please report this with the model");
  return small;
}

}
