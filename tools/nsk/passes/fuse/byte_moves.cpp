// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include "passes/fuse/byte_rewriter.hpp"
#include "passes/fuse/fuse.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {
namespace {

/// Moves elements as the bytes that store them: numbers are widened behind what moves them, and stored before it.
class byte_mover : byte_rewriter {
 public:
  using byte_rewriter::byte_rewriter;

  bool run() {
    bool any = false;
    for (bool changed = true; changed; any = any || changed) {
      changed = sweep(&byte_mover::widen_behind);
      changed = sweep(&byte_mover::widen_behind_concat) || changed;
      changed = sweep(&byte_mover::store_before) || changed;
      changed = sweep(&byte_mover::store_again) || changed;
    }
    return any;
  }

 private:
  friend class rewriter;

  int add_bytes(const std::string& name, const shape_t& shape) {
    return m_p.add({name + "#bytes", element::u8, shape, nullptr});
  }

  static bool moves_elements(const operation& o) {
    return o.as<reshape_parameters>() || o.as<transpose_parameters>() || o.as<slice_parameters>();
  }
  /// Whether every pixel of a Resize is one of its input.
  static bool moves_pixels(const resize_parameters& r) {
    return std::all_of(r.axes.begin(), r.axes.end(), [](const resize_axis& a) {
      return a.axis >= 2 && a.taps == 1 &&
             std::all_of(a.weight.begin(), a.weight.end(), [](float w) { return w == 1; });
    });
  }
  /// The byte that stands for exactly this number.
  static std::optional<int> exact_byte(double real, const dequantize_params& d) {
    const double units = real / static_cast<double>(d.scale);
    const int byte = std::abs(units) < 1024 ? static_cast<int>(std::nearbyint(units)) + d.zero : -1;
    if (byte < 0 || byte > 255 || static_cast<float>(byte - d.zero) * d.scale != static_cast<float>(real))
      return std::nullopt;
    return byte;
  }
  /// Whether the operation does the same to bytes; pads become bytes.
  static bool takes_bytes(operation& o, const dequantize_params& d) {
    if (!o.post.empty()) return false;
    if (moves_elements(o)) return true;
    if (const auto* p = o.as<pool_2d_params>())  // dilated windows may see nothing, whose maximum is -infinity
      return p->kind == pool_kind::max && p->w.dilation_h == 1 && p->w.dilation_w == 1;
    if (const auto* r = o.as<resize_parameters>()) return moves_pixels(*r);
    auto* p = o.as<pad_parameters>();
    if (!p) return false;
    const std::optional<int> byte = p->mode == pad_mode::constant ? exact_byte(p->value, d) : 0;
    if (byte && p->mode == pad_mode::constant) p->value = *byte;
    return byte.has_value();
  }

  /// Lets operation `i` read and make bytes, which are widened behind it.
  void make_bytes(std::size_t i, const dequantize_params& d) {
    operation& o = at(i);
    operation widen;
    widen.name = o.name;
    widen.source = o.source;
    widen.p = d;
    widen.output = o.output;
    o.output = add_bytes(m_p.values[static_cast<std::size_t>(o.output)].name, m_p.shape(o.output));
    widen.inputs = {o.output};
    insert(i + 1, std::move(widen));
  }
  bool widen_behind(std::size_t i) {
    operation& o = at(i);
    if (o.inputs.size() != 1) return false;
    const operation* wide = widened(o.inputs[0]);
    if (!wide) return false;
    const dequantize_params d = *wide->as<dequantize_params>();
    if (!takes_bytes(o, d)) return false;
    o.inputs[0] = wide->inputs[0];
    make_bytes(i, d);
    return true;
  }

  /// The constant as bytes; nothing where a number has no byte.
  std::optional<int> constant_bytes(int v, const dequantize_params& d) {
    const program_value& old = m_p.values[static_cast<std::size_t>(v)];
    if (!old.constant || old.type != element::f32) return std::nullopt;
    array bytes(element::u8, old.shape);
    for (std::int64_t k = 0; k < bytes.count(); ++k) {
      const std::optional<int> byte = exact_byte(old.constant->number(k), d);
      if (!byte) return std::nullopt;
      bytes.set_integer(k, *byte);
    }
    return m_p.add({old.name + "#bytes", element::u8, old.shape, std::make_shared<const array>(std::move(bytes))});
  }
  /// Numbers that are stored alike, and constants that can be, are put together as bytes.
  bool widen_behind_concat(std::size_t i) {
    operation& o = at(i);
    if (!o.as<concat_parameters>()) return false;
    const dequantize_params* alike = nullptr;
    for (const int v : o.inputs) {
      if (m_p.is_constant(v)) continue;
      const operation* wide = widened(v);
      const auto* d = wide ? wide->as<dequantize_params>() : nullptr;
      if (!d || (alike && (d->scale != alike->scale || d->zero != alike->zero))) return false;
      alike = d;
    }
    if (!alike) return false;
    const dequantize_params d = *alike;
    std::vector<int> bytes;
    for (const int v : o.inputs) {
      const std::optional<int> stored = m_p.is_constant(v) ? constant_bytes(v, d) : widened(v)->inputs[0];
      if (!stored) return false;
      bytes.push_back(*stored);
    }
    o.inputs = std::move(bytes);
    make_bytes(i, d);
    return true;
  }

  /// What is stored of a Concat's result alone: its parts are stored. One that is widened bytes becomes a table.
  bool store_before(std::size_t i) {
    const auto* stores = at(i).as<quantize_params>();
    if (!stores || type(at(i).output) != element::u8) return false;
    const operation* concat = sole_producer(at(i).inputs[0]);
    if (!concat || !concat->as<concat_parameters>()) return false;
    const std::vector<int> parts = concat->inputs;
    const auto fits = [&](int v) { return !m_p.is_constant(v) && type(v) == element::f32; };
    if (!std::all_of(parts.begin(), parts.end(), fits) ||
        std::none_of(parts.begin(), parts.end(), [&](int v) { return widened(v) != nullptr; }))
      return false;
    const operation store = at(i);
    const auto first = static_cast<std::size_t>(producer_index(store.inputs[0]));
    std::map<int, int> stored;
    std::vector<operation> stores_of_parts;
    for (const int v : parts) {
      if (stored.count(v) != 0) continue;
      operation part = store;
      part.inputs = {v};
      part.output = stored[v] = add_bytes(store.name, m_p.shape(v));
      stores_of_parts.push_back(std::move(part));
    }
    operation& joined = at(first);
    for (int& v : joined.inputs) v = stored.at(v);
    joined.output = store.output;
    at(i).output = no_value;
    insert(first, std::move(stores_of_parts));
    return true;
  }

  /// Bytes that are widened only to be stored by another scale.
  bool store_again(std::size_t i) {
    operation& o = at(i);
    const auto* to = o.as<quantize_params>();
    const operation* wide = to && type(o.output) == element::u8 ? widened(o.inputs[0]) : nullptr;
    if (!wide) return false;
    const auto& from = *wide->as<dequantize_params>();
    byte_table_parameters t;
    for (int b = 0; b < 256; ++b) {
      const float real = static_cast<float>(b - from.zero) * from.scale;
      t.table[static_cast<std::size_t>(b)] =
          static_cast<std::uint8_t>(reference::stored(real / to->scale, to->zero, {to->low, to->high}));
    }
    o.inputs[0] = wide->inputs[0];
    o.p = t;
    return true;
  }
};

}

bool move_bytes(program& p) { return byte_mover(p).run(); }

}
