// SPDX-License-Identifier: MIT
#pragma once
/// Elements picked by indices that are data.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/elements/scatter_run.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output[.., i, ..] = data[.., indices[i], ..] along `axis`.
struct gather_args : gather_params {
  tensor_view data, indices, output;
  std::uint32_t* flags;
};
/// output[p] = data[p with indices[p] along axis].
struct gather_elements_args : gather_args {};

namespace impl {

/// Moves one tile; `index_stride` are the strides of the indices in the output's dimensions.
inline void gather_tile(const gather_args& a, const std::ptrdiff_t* index_stride, const tile_range& t) {
  const std::int64_t length = a.data.shape[a.axis];
  const std::ptrdiff_t along = a.data.stride[a.axis];
  std::ptrdiff_t from[max_rank];
  for (int d = 0; d < a.data.rank; ++d) from[d] = d == a.axis ? 0 : a.data.stride[d];
  const std::ptrdiff_t* strides[] = {a.output.stride, from, index_stride};
  bool outside = false;
  visit_size(a.output.type, [&](auto x) {
    using T = decltype(x);
    for_each_line(a.output, strides, t, [&](const element_line<3>& l) {
      std::ptrdiff_t picked = 0;
      if (l.stride[2] == 0 && l.stride[0] == 1 && l.stride[1] == 1) {  // a run of one index
        picked = along * position_of(index_at(a.indices, l.at[2]), length, outside);
        constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
        move_run(a.output.data + l.at[0] * size, a.data.data + (l.at[1] + picked) * size,
                 static_cast<std::size_t>(l.count * size));
        return;
      }
      for (std::ptrdiff_t i = 0; i < l.count; ++i) {
        if (i == 0 || l.stride[2] != 0)
          picked = along * position_of(index_at(a.indices, l.at[2] + i * l.stride[2]), length, outside);
        put_element(a.output.data, l.at[0] + i * l.stride[0],
                    element<T>(a.data.data, l.at[1] + i * l.stride[1] + picked));
      }
    });
  });
  if (outside) raise(a.flags, index_clamped);
  fill_typed_border(a.output, t);
}

}

/// output[.., i, ..] = data[.., indices[i], ..] along `axis`; indices are one-dimensional. Any element type, any
/// strides.
template <class = void>
inline void gather(const gather_args& a, const tile_range& t, std::byte*) {
  std::ptrdiff_t index[max_rank] = {};
  index[a.axis] = a.indices.stride[0];
  impl::gather_tile(a, index, t);
}

/// output[p] = data[p with indices[p] along `axis`]; indices have the output's shape. Any element type, any strides.
template <class = void>
inline void gather_elements(const gather_elements_args& a, const tile_range& t, std::byte*) {
  impl::gather_tile(a, a.indices.stride, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
