// SPDX-License-Identifier: MIT
#pragma once
/// Writes to elements that indices name. Updates of one element are applied in the order of their position along the
/// axis, whatever the tiles are: a tile holds whole lines along it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/copy.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#include <netsuke/kernels/softmax.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = data, then output[.., indices[.., k, ..], ..] combined with updates[.., k, ..] for k = 0, 1, ...
struct scatter_args : scatter_params {
  tensor_view data, indices, updates, output;
  std::uint32_t* flags;
};

namespace impl {

/// Operands of the loops of a scatter.
enum scatter_operand { scatter_to, scatter_update, scatter_index, scatter_operands };

/// What is there, combined with an update. Integers wrap.
template <scatter_kind Kind, class T>
inline T scattered(T there, T update) {
  if constexpr (Kind == scatter_kind::replace) return update;
  if constexpr (Kind == scatter_kind::max) return there > update ? there : update;
  if constexpr (Kind == scatter_kind::min) return there < update ? there : update;
  if constexpr (std::is_same_v<T, float>)
    return Kind == scatter_kind::add ? there + update : there * update;
  else
    return static_cast<T>(Kind == scatter_kind::add
                              ? static_cast<std::uint64_t>(there) + static_cast<std::uint64_t>(update)
                              : static_cast<std::uint64_t>(there) * static_cast<std::uint64_t>(update));
}

/// The same for `count` neighbours, all with one index: rows of a matrix.
template <scatter_kind Kind, class T>
inline void scatter_run(std::byte* to, const std::byte* from, std::ptrdiff_t count) {
  if constexpr (Kind == scatter_kind::replace) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    for (std::ptrdiff_t i = 0; i < count; ++i)
      put_element(to, i, scattered<Kind>(element<T>(to, i), element<T>(from, i)));
  }
}

/// Applies updates of the lines along the axis that begin at the elements of `l`. The loop with the shorter steps in
/// the output is the inner one; each element has its updates in the same order either way.
template <scatter_kind Kind, class T>
inline void scatter_lines(const scatter_args& a, const element_line<scatter_operands>& l, bool& outside) {
  const std::int64_t length = a.output.shape[a.axis];
  const std::ptrdiff_t along = a.output.stride[a.axis], count = a.updates.shape[a.axis];
  element_line<scatter_operands> lines = l, updates{count, {}, {0, a.updates.stride[a.axis], a.indices.stride[a.axis]}};
  const bool swap = l.step[scatter_to] > along;
  const element_line<scatter_operands>&outer = swap ? lines : updates, &inner = swap ? updates : lines;
  const bool runs = !swap && l.step[scatter_to] == 1 && l.step[scatter_update] == 1 && l.step[scatter_index] == 0;
  for (std::ptrdiff_t i = 0; i < outer.count; ++i) {
    std::ptrdiff_t at[scatter_operands], position = 0;
    for (int k = 0; k < scatter_operands; ++k) at[k] = l.at[k] + i * outer.step[k];
    if (runs) {
      constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
      position = along * position_of(index_at(a.indices, at[scatter_index]), length, outside);
      scatter_run<Kind, T>(a.output.data + (at[scatter_to] + position) * size,
                           a.updates.data + at[scatter_update] * size, inner.count);
      continue;
    }
    for (std::ptrdiff_t j = 0; j < inner.count; ++j) {
      if (j == 0 || inner.step[scatter_index] != 0)
        position = along *
                   position_of(index_at(a.indices, at[scatter_index] + j * inner.step[scatter_index]), length, outside);
      const std::ptrdiff_t to = at[scatter_to] + j * inner.step[scatter_to] + position;
      const T update = element<T>(a.updates.data, at[scatter_update] + j * inner.step[scatter_update]);
      put_element(a.output.data, to, scattered<Kind>(element<T>(a.output.data, to), update));
    }
  }
}

template <scatter_kind Kind, class T>
inline void scatter_tile(const scatter_args& a, const tile_range& t) {
  tensor_view lines = a.output;
  lines.shape[a.axis] = 1;
  const std::ptrdiff_t* strides[scatter_operands] = {a.output.stride, a.updates.stride, a.indices.stride};
  bool outside = false;
  for_each_line(lines, strides, without_axis(a.output, a.axis, t),
                [&](const element_line<scatter_operands>& l) { scatter_lines<Kind, T>(a, l, outside); });
  if (outside) raise(a.flags, index_clamped);
}

/// The tile by kind and element type; nothing for types that the kind does not have.
template <scatter_kind Kind>
inline void scatter_numbers(const scatter_args& a, const tile_range& t) {
  visit_type(a.output.type, [&](auto x) {
    using T = decltype(x);
    if constexpr (!std::is_same_v<T, bool>) scatter_tile<Kind, T>(a, t);
  });
}

}

/// output = data with updates applied along `axis`. Any strides; 0 too on data, indices and updates. The output may be
/// the data.
template <class = void>
inline void scatter(const scatter_args& a, const tile_range& t, std::byte* scratch) {
  if (a.output.data == a.data.data)
    impl::fill_typed_border(a.output, t);
  else
    copy({a.data, a.output}, t, scratch);
  switch (a.kind) {
    case scatter_kind::replace:
      return impl::visit_size(a.output.type,
                              [&](auto x) { impl::scatter_tile<scatter_kind::replace, decltype(x)>(a, t); });
    case scatter_kind::add: return impl::scatter_numbers<scatter_kind::add>(a, t);
    case scatter_kind::mul: return impl::scatter_numbers<scatter_kind::mul>(a, t);
    case scatter_kind::max: return impl::scatter_numbers<scatter_kind::max>(a, t);
    case scatter_kind::min: return impl::scatter_numbers<scatter_kind::min>(a, t);
  }
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
