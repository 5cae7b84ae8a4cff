// SPDX-License-Identifier: MIT
#include "mutate_tflite.hpp"
#include <algorithm>
#include <cstring>
#include "import/tflite/file/generated/model.hpp"

namespace fuzz {
namespace {

namespace tfl = nsk::tool::tfl;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;

/// A number in the file: `width` bytes at `at`. Offsets lead to something of the kind `group`.
struct spot {
  std::size_t at, width;
  int group = 0;  ///< 0: a plain number
};

/// Finds the numbers of a model whose tables have been verified.
class walker {
 public:
  explicit walker(const std::vector<std::uint8_t>& model) : m_first(model.data()), m_size(model.size()) {
    const tfl::Model* m = tfl::GetModel(model.data());
    fields(m, {1, 2, 3, 4, 6, 7});
    for (const auto* code : list(m->operator_codes())) fields(code, {1});
    for (const auto* buffer : list(m->buffers())) {
      fields(buffer, {0});
      numbers(buffer->data(), 4);
    }
    for (const auto* graph : list(m->subgraphs())) walk(graph);
    for (const auto* signature : list(m->signature_defs())) fields(signature, {0, 1, 2, 3});
  }
  std::vector<spot> spots;

 private:
  template <class T>
  std::vector<const T*> list(const flatbuffers::Vector<flatbuffers::Offset<T>>* v) {
    std::vector<const T*> items;
    if (v == nullptr) return items;
    length(v);
    for (uoffset_t i = 0; i < v->size(); ++i) {
      spots.push_back({place(v->Data()) + i * sizeof(uoffset_t), 4, 100});
      items.push_back(v->Get(i));
    }
    return items;
  }
  std::size_t place(const void* p) const {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(p) - m_first);
  }
  /// Whether a table is inside the file: options of an unknown kind have not been verified.
  bool is_table(const void* p) const {
    const std::size_t at = place(p);
    if (at + 4 > m_size) return false;
    const std::int64_t vtable =
        static_cast<std::int64_t>(at) - flatbuffers::ReadScalar<flatbuffers::soffset_t>(m_first + at);
    if (vtable < 0 || static_cast<std::size_t>(vtable) + 4 > m_size) return false;
    const std::uint8_t* v = m_first + vtable;
    const std::size_t size = flatbuffers::ReadScalar<voffset_t>(v), end = flatbuffers::ReadScalar<voffset_t>(v + 2);
    if (size < 4 || static_cast<std::size_t>(vtable) + size > m_size || at + end > m_size) return false;
    for (std::size_t f = 4; f + 2 <= size; f += 2)
      if (flatbuffers::ReadScalar<voffset_t>(v + f) >= end && flatbuffers::ReadScalar<voffset_t>(v + f) != 0)
        return false;
    return true;
  }
  template <class V>
  void length(const V* v) {
    spots.push_back({place(v->Data()) - 4, 4});
  }
  template <class V>
  void numbers(const V* v, std::size_t width = 0) {
    if (v == nullptr) return;
    constexpr std::size_t max_seen = 64;
    length(v);
    if (width == 0) width = sizeof(*v->Data());
    const std::size_t bytes = v->size() * sizeof(*v->Data());
    for (std::size_t i = 0; (i + 1) * width <= bytes && i < max_seen; ++i)
      spots.push_back({place(v->Data()) + i * width, width});
  }
  template <class V>
  void numbers_in(const V* table) {
    if (table != nullptr) numbers(table->values());
  }
  /// Fields that a table stores; those of `offsets` lead elsewhere, and may lead where another table's do.
  void fields(const void* p, std::initializer_list<int> offsets = {}) {
    if (p == nullptr || !is_table(p)) return;
    const auto* table = static_cast<const flatbuffers::Table*>(p);
    const std::uint8_t* vtable = table->GetVTable();
    const auto size = flatbuffers::ReadScalar<voffset_t>(vtable);
    const auto end = flatbuffers::ReadScalar<voffset_t>(vtable + 2);
    std::vector<voffset_t> starts = {end};
    for (voffset_t f = 4; f + 1 < size; f = static_cast<voffset_t>(f + 2))
      if (const auto at = flatbuffers::ReadScalar<voffset_t>(vtable + f)) starts.push_back(at);
    std::sort(starts.begin(), starts.end());
    for (voffset_t f = 4; f + 1 < size; f = static_cast<voffset_t>(f + 2)) {
      const auto at = flatbuffers::ReadScalar<voffset_t>(vtable + f);
      if (at == 0) continue;
      const std::size_t space = *std::upper_bound(starts.begin(), starts.end() - 1, at) - at;
      const int id = (f - 4) / 2;
      const bool leads = std::find(offsets.begin(), offsets.end(), id) != offsets.end();
      spots.push_back({place(p) + at,
                       leads        ? 4
                       : space >= 8 ? 8u
                       : space >= 4 ? 4u
                       : space >= 2 ? 2u
                                    : 1u,
                       leads ? 1 + id + 10 * static_cast<int>(offsets.size()) : 0});
    }
  }
  void walk(const tfl::SubGraph* g) {
    fields(g, {0, 1, 2, 3, 4});
    numbers(g->inputs());
    numbers(g->outputs());
    for (const auto* t : list(g->tensors())) walk(t);
    for (const auto* o : list(g->operators())) {
      fields(o, {1, 2, 4, 5, 7, 8, 12});
      numbers(o->inputs());
      numbers(o->outputs());
      numbers(o->custom_options());
      fields(o->builtin_options());
      fields(o->builtin_options_2());
      if (const auto* pad = o->builtin_options_2_as<tfl::StablehloPadOptions>()) {
        numbers(pad->edge_padding_low());
        numbers(pad->edge_padding_high());
        numbers(pad->interior_padding());
      }
      if (const auto* gather = o->builtin_options_2_as<tfl::StablehloGatherOptions>()) {
        numbers(gather->offset_dims());
        numbers(gather->collapsed_slice_dims());
        numbers(gather->start_index_map());
        numbers(gather->slice_sizes());
      }
    }
  }
  void walk(const tfl::Tensor* t) {
    fields(t, {0, 3, 4, 6});
    numbers(t->shape());
    if (t->name() != nullptr && t->name()->size() != 0) spots.push_back({place(t->name()->Data()), 1});
    if (const auto* q = t->quantization()) {
      fields(q, {0, 1, 2, 3, 5});
      numbers(q->scale());
      numbers(q->zero_point());
    }
    const auto* s = t->sparsity();
    if (s == nullptr) return;
    fields(s, {0, 1, 2});
    numbers(s->traversal_order());
    numbers(s->block_map());
    for (const auto* d : list(s->dim_metadata())) {
      fields(d, {3, 5});
      numbers_in(d->array_segments_as<tfl::Int32Vector>());
      numbers_in(d->array_segments_as<tfl::Uint16Vector>());
      numbers_in(d->array_segments_as<tfl::Uint8Vector>());
      numbers_in(d->array_indices_as<tfl::Int32Vector>());
      numbers_in(d->array_indices_as<tfl::Uint16Vector>());
      numbers_in(d->array_indices_as<tfl::Uint8Vector>());
    }
  }

  const std::uint8_t* m_first;
  std::size_t m_size;
};

std::uint64_t read(const std::vector<std::uint8_t>& model, const spot& s) {
  std::uint64_t v = 0;
  if (s.at + s.width > model.size()) return 0;
  std::memcpy(&v, &model[s.at], s.width);
  return v;
}

void change(generator& random, std::vector<std::uint8_t>& model, const std::vector<spot>& spots) {
  const spot s = spots[random.below(spots.size())], other = spots[random.below(spots.size())];
  std::uint64_t v = read(model, s);
  if (s.group != 0) {  // lead where another one leads; only forwards
    if (other.group != s.group) return;
    const std::uint64_t target = other.at + read(model, other);
    if (target <= s.at) return;
    v = target - s.at;
  } else if (other.group == 0 && random.one_in(6)) {
    v = read(model, other);
  } else if (s.width == 4 && random.one_in(6)) {
    v = strange_float(random);
  } else if (random.one_in(4)) {
    v = interesting(random);
  } else if (random.one_in(3)) {
    v = random.below(12);
  } else {
    mutate(random, v);
  }
  if (s.at + s.width <= model.size()) std::memcpy(&model[s.at], &v, s.width);
}

}

std::vector<std::uint8_t> mutate_tflite(const std::vector<std::uint8_t>& model, generator& random) {
  std::vector<std::uint8_t> changed = model;
  flatbuffers::Verifier verifier(model.data(), model.size(), 64, 1 << 16);
  if (model.size() < 8 || !tfl::VerifyModelBuffer(verifier)) {
    if (!changed.empty()) changed[random.below(changed.size())] = static_cast<std::uint8_t>(random());
    return changed;
  }
  const std::vector<spot> spots = walker(model).spots;
  for (std::size_t n = random.one_in(4) ? 4 : 1; n-- > 0 && !spots.empty();) change(random, changed, spots);
  return changed;
}

}
