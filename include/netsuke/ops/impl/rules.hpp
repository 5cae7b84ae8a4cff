// SPDX-License-Identifier: MIT
#pragma once
/// What the rules of operators have in common: questions about single tensors of a file, and about pairs of them. Their
/// buffers, shapes and strides have been verified.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/format/impl/work_budget.hpp>
#include <netsuke/format/limits.hpp>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
namespace impl {

inline status_code accepted(bool good) { return good ? status_code::ok : status_code::bad_step; }

/// Returns whether the elements are one behind the other in index order, without border.
NSK_COLD inline bool is_dense(const tensor_view& v) {
  std::ptrdiff_t expected = 1;
  for (int d = v.rank; d-- > 0;) {
    if (v.shape[d] != 1 && v.stride[d] != expected) return false;
    expected *= v.shape[d];
  }
  return (v.border.top | v.border.left | v.border.bottom | v.border.right) == 0;
}
NSK_COLD inline bool is_dense(const tensor_info& t) { return is_dense(t.view(nullptr)); }

NSK_COLD inline bool same_shape(const tensor_info& a, const tensor_info& b) {
  const span<const std::int32_t> x = a.shape(), y = b.shape();
  if (x.size() != y.size()) return false;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (x[d] != y[d]) return false;
  }
  return true;
}
/// Two tensors of one rank whose lengths agree in every dimension but `axis`; in the others `b` may be shorter where
/// `shorter` is set.
NSK_COLD inline bool agree_except(const tensor_info& a, const tensor_info& b, int axis, bool shorter = false) {
  if (a.rank() != b.rank() || axis < 0 || axis >= a.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (d != axis && a.shape()[i] != b.shape()[i] && !(shorter && b.shape()[i] < a.shape()[i])) return false;
  }
  return true;
}

NSK_COLD inline bool is_plain(const tensor_info& t) { return t.arrangement() == packing::plain; }
NSK_COLD inline bool is_float(const tensor_info& t) { return t.type() == dtype::float32 && is_plain(t); }
/// A float tensor whose last dimension has stride 1.
NSK_COLD inline bool is_float_lines(const tensor_info& t) {
  const span<const std::int64_t> strides = t.strides();
  return is_float(t) && strides[strides.size() - 1] == 1;
}
NSK_COLD inline bool has_border(const tensor_info& t) {
  const halo b = t.view(nullptr).border;
  return (b.top | b.left | b.bottom | b.right) != 0;
}
/// A scale of stored numbers: positive, normal, finite.
inline bool is_scale(float s) { return s >= 1.17549435e-38f && s <= 3.40282347e+38f; }

NSK_COLD inline std::int32_t last_length(const tensor_info& t) { return t.shape()[t.shape().size() - 1]; }

/// Whether a constant holds at least `floats` floats in this arrangement.
NSK_COLD inline bool holds(const tensor_info& t, packing arrangement, std::int64_t floats) {
  return t.where() == storage::constant && t.type() == dtype::float32 && t.arrangement() == arrangement &&
         t.elements() >= floats;
}
/// Returns ok where a constant holds `groups` blocks of `floats` floats each, bad_weights where it does not.
inline status_code holds_groups(const tensor_info& t, packing arrangement, std::int64_t groups, std::int64_t floats) {
  return floats <= max_elements / groups && holds(t, arrangement, floats * groups) ? status_code::ok
                                                                                   : status_code::bad_weights;
}
/// Whether a constant holds `groups` blocks of panels of quads, of `bytes` bytes each.
NSK_COLD inline bool holds_quads(const tensor_info& t, std::int64_t groups, std::int64_t bytes) {
  return t.where() == storage::constant && t.type() == dtype::int8 && is_quads(t.arrangement()) &&
         bytes <= max_elements / groups && t.elements() >= bytes * groups;
}
/// A dense constant with `count` floats in one dimension.
NSK_COLD inline bool is_constant_line(const tensor_info& t, std::int64_t count) {
  return t.where() == storage::constant && is_float(t) && t.rank() == 1 && is_dense(t) && t.elements() == count;
}

/// One dimension of a window: all its positions can be counted, and padding after the end is as bounded as padding
/// before it.
NSK_COLD inline bool window_fits(std::int64_t input, std::int64_t output, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t dilation, std::int64_t pad) {
  if (kernel < 1 || stride < 1 || dilation < 1) return false;
  const std::int64_t reach = (kernel - 1) * dilation, last = (output - 1) * stride;
  return reach < max_position && last < max_position && last + reach - pad - input < max_border;
}
/// Whether pointers reach so many positions along dimension `d` of an image. Kernels compute the places of windows
/// outside of it too, and of the pixels beside the last one.
NSK_COLD inline bool reaches(const tensor_info& t, std::size_t d, std::int64_t positions) {
  constexpr std::int64_t beside = 16;
  const std::int64_t stride = t.strides()[d], bytes = (stride < 0 ? -stride : stride) * size_of(t.type());
  return bytes == 0 || positions + beside <= max_reach / bytes;
}
/// Whether pointers reach all windows along `d`, which may begin before the image and end behind it, and all outputs.
NSK_COLD inline bool window_reaches(const tensor_info& x, const tensor_info& y, std::size_t d, std::int64_t kernel,
                                    std::int64_t stride, std::int64_t dilation, std::int64_t pad) {
  const std::int64_t outputs = y.shape()[d];
  return reaches(x, d, outputs * stride + kernel * dilation + pad) && reaches(y, d, outputs);
}
NSK_COLD inline bool windows_fit(const window& w, const tensor_info& x, const tensor_info& y) {
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  return std::int64_t{w.kernel_h} * w.kernel_w <= max_elements && in[0] == out[0] && in[1] < max_position &&
         in[2] < max_position && window_fits(in[1], out[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) &&
         window_fits(in[2], out[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left) &&
         window_reaches(x, y, 1, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) &&
         window_reaches(x, y, 2, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left);
}

/// Whether no window reaches outside the input along one dimension. Numbers of steps that are not verified yet are
/// allowed.
NSK_COLD inline bool windows_inside(std::int64_t pad, std::int64_t stride, std::int64_t kernel, std::int64_t dilation,
                                    std::int64_t input, std::int64_t output) {
  return pad == 0 && (output - 1) * stride + (kernel - 1) * dilation < input;
}
/// Whether tiles cut `groups` groups of `channels` outputs only between panels, and panels only between groups.
NSK_COLD inline bool cuts_between_panels(std::int64_t channels, std::int64_t groups, const tile_size& t,
                                         const tile_grid& grid) {
  return groups == 1 || grid.channels == 1 || t.channels % channels == 0 || channels % panel_width == 0;
}

/// Taps of one window.
constexpr std::uint64_t taps_of(const window& w) {
  return static_cast<std::uint64_t>(w.kernel_h) * static_cast<std::uint64_t>(w.kernel_w);
}

/// Constants that decide where a kernel reads: their numbers are verified one by one, each at its price.
class constant_reader {
 public:
  static constexpr bool takes_halves = false, takes_bytes = false;  ///< whether weights may be float16, or int8
  constant_reader(span<const std::byte> weights, work_budget& work) : m_weights(weights), m_work(work) {}

  /// A dense line of constants, null where `t` is none.
  template <class T>
  const T* line(const tensor_info& t) const {
    const bool good =
        t.where() == storage::constant && t.type() == dtype_of<T>() && is_plain(t) && t.rank() == 1 && is_dense(t);
    return good ? reinterpret_cast<const T*>(m_weights.data() + t.buffer_offset() + t.offset()) : nullptr;
  }
  /// The bytes of a constant in any arrangement.
  const std::byte* bytes(const tensor_info& t) const { return m_weights.data() + t.buffer_offset() + t.offset(); }
  /// Takes the work of looking at so many numbers.
  bool afford(std::int64_t numbers) { return m_work.spend(number_work * static_cast<std::uint64_t>(numbers)); }

 private:
  span<const std::byte> m_weights;
  work_budget& m_work;
};

/// constant_reader for models whose weights may be narrow; `Narrow` is a narrow_weights<>.
template <class Narrow>
class narrow_constant_reader : public constant_reader {
 public:
  static constexpr bool takes_halves = Narrow::halves, takes_bytes = Narrow::bytes;
  using constant_reader::constant_reader;
};

/// Elements of panels by the type of their weights.
struct panel_sizes {
  std::int64_t floats, halves, bytes;

  static constexpr panel_sizes of_matrix(std::int64_t channels, std::int64_t depth) {
    return {panel_floats(channels, depth), panel_elements<half_bits>(channels, depth),
            panel_elements<std::int8_t>(channels, depth)};
  }
};

/// Whether a constant holds `groups` times panels of float32, or of what the reader takes besides.
template <class Reader>
NSK_COLD bool holds_panels(const Reader&, const tensor_info& t, const panel_sizes& sizes, std::int64_t groups = 1) {
  [[maybe_unused]] const auto holds_narrow = [&](std::int64_t count) {
    return t.where() == storage::constant && t.arrangement() == packing::panels && count <= max_elements / groups &&
           t.elements() >= count * groups;
  };
  if constexpr (Reader::takes_halves)
    if (t.type() == dtype::float16) return holds_narrow(sizes.halves);
  if constexpr (Reader::takes_bytes)
    if (t.type() == dtype::int8) return holds_narrow(sizes.bytes);
  return holds_groups(t, packing::panels, groups, sizes.floats) == status_code::ok;
}
/// Whether a constant holds the panels of one matrix of so many channels and inputs.
template <class Reader>
NSK_COLD bool holds_matrix(const Reader& reader, const tensor_info& t, std::int64_t channels, std::int64_t depth) {
  if constexpr (Reader::takes_halves || Reader::takes_bytes)
    return holds_panels(reader, t, panel_sizes::of_matrix(channels, depth));
  else
    return holds(t, packing::panels, panel_floats(channels, depth));
}

/// Whether all `count` numbers are in [0, limit).
NSK_COLD inline bool all_below(const std::int32_t* numbers, std::int64_t count, std::int64_t limit) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (numbers[i] < 0 || numbers[i] >= limit) return false;
  }
  return true;
}

inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > ~std::uint64_t{0} / b ? ~std::uint64_t{0} : a * b;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
