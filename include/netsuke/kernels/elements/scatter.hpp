// SPDX-License-Identifier: MIT
#pragma once
/// Writes to elements that indices name. Updates of one element are applied in the order of their position along the
/// axis, whatever the tiles are: a tile holds whole lines along it.
#include <netsuke/core/hide_macros.hpp>
#include <utility>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/elements/loop_nest.hpp>
#include <netsuke/kernels/elements/copy.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/elements/scatter_run.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = data, then output[.., indices[.., k, ..], ..] combined with updates[.., k, ..] for k = 0, 1, ... Boolean
/// indices (kind replace) choose updates, which take the positions 0, 1, ...
struct scatter_args : scatter_params {
  tensor_view data, indices, updates, output;
  std::uint32_t* flags;
};

namespace impl {

/// Operands of the loops of a scatter.
enum scatter_operand { scatter_to, scatter_update, scatter_index, scatter_operands };

/// The updates of lines along the axis that begin at the elements of `l`.
struct scatter_updates {
  element_line<scatter_operands> l;
  std::ptrdiff_t count;                 ///< updates of a line
  std::ptrdiff_t along, update, index;  ///< elements from one position, or one update, to the next
  std::int64_t length;                  ///< positions of a line
};

/// Bytes of element `at` of a view.
inline std::byte* element_at(const tensor_view& v, std::ptrdiff_t at) {
  return v.data + at * static_cast<std::ptrdiff_t>(size_of(v.type));
}

/// Lines whose elements are neighbours, all with the same indices: rows of a matrix.
inline void scatter_rows(const scatter_args& a, const scatter_updates& u, bool& outside) {
  for (std::ptrdiff_t k = 0; k < u.count; ++k) {
    const std::ptrdiff_t position =
        position_of(index_at(a.indices, u.l.at[scatter_index] + k * u.index), u.length, outside);
    scatter_runs(a.kind, a.output.type,
                 {element_at(a.output, u.l.at[scatter_to] + position * u.along),
                  0,
                  element_at(a.updates, u.l.at[scatter_update] + k * u.update),
                  0,
                  {1, u.l.count}});
  }
}

/// Lines with the same indices, of which those that count up are found once for all lines: windows put back into an
/// image.
inline void scatter_stretches(const scatter_args& a, const scatter_updates& u, bool& outside) {
  const bool narrow = a.indices.type == dtype::int32;
  for (std::ptrdiff_t k = 0, run; k < u.count; k += run) {
    const std::ptrdiff_t at = u.l.at[scatter_index] + k * u.index, left = u.count - k;
    bool clamped = false;
    const auto position = static_cast<std::ptrdiff_t>(position_of(index_at(a.indices, at), u.length, clamped)),
               space = clamped ? 1 : static_cast<std::ptrdiff_t>(u.length) - position,
               longest = space < left ? space : left;
    const std::byte* const indices = element_at(a.indices, at);
    run =
        narrow ? count_up<std::int32_t>(indices, u.index, longest) : count_up<std::int64_t>(indices, u.index, longest);
    outside = outside || clamped;
    scatter_runs(a.kind, a.output.type,
                 {element_at(a.output, u.l.at[scatter_to] + position),
                  u.l.stride[scatter_to],
                  element_at(a.updates, u.l.at[scatter_update] + k),
                  u.l.stride[scatter_update],
                  {u.l.count, run}});
  }
}

/// Any lines. The loop with the shorter strides in the output is the inner one, unless it has one round; each element
/// has its updates in the same order either way.
template <scatter_kind Kind, class T>
inline void scatter_lines(const scatter_args& a, const scatter_updates& u, bool& outside) {
  const element_line<scatter_operands>& l = u.l;
  const bool narrow = a.indices.type == dtype::int32,
             along_line = u.count > 1 && (l.count == 1 || l.stride[scatter_to] > u.along);
  update_loop outer{u.count, 0, u.index, u.update},
      inner{l.count, l.stride[scatter_to], l.stride[scatter_index], l.stride[scatter_update]};
  if (along_line) std::swap(outer, inner);
  const std::ptrdiff_t rounds = inner.count < update_block ? update_block / inner.count : 1;
  std::ptrdiff_t places[update_block];
  for (std::ptrdiff_t i = 0; i < outer.count; i += rounds)
    for (std::ptrdiff_t j = 0; j < inner.count; j += update_block) {
      const update_loops part{outer.part(i, rounds), inner.part(j, update_block)};
      const auto from = [&](std::ptrdiff_t update_loop::*stride) { return i * outer.*stride + j * inner.*stride; };
      const std::byte* const indices = element_at(a.indices, l.at[scatter_index] + from(&update_loop::index));
      const bool clamped = narrow ? find_places<std::int32_t>(indices, part, u.length, u.along, places)
                                  : find_places<std::int64_t>(indices, part, u.length, u.along, places);
      outside = outside || clamped;
      update_places<Kind, T>(element_at(a.output, l.at[scatter_to] + from(&update_loop::to)), places,
                             element_at(a.updates, l.at[scatter_update] + from(&update_loop::update)), part);
    }
}

/// Boolean indices choose updates: those go to positions 0, 1, ... in order.
inline void scatter_chosen(const scatter_args& a, const scatter_updates& u) {
  const element_line<scatter_operands>& l = u.l;
  const auto chosen_from = [&](std::ptrdiff_t i) {
    return chosen_updates{element_at(a.indices, l.at[scatter_index] + i * l.stride[scatter_index]), u.index,
                          element_at(a.updates, l.at[scatter_update] + i * l.stride[scatter_update]), u.update,
                          u.count};
  };
  if (l.stride[scatter_to] == 1 && l.stride[scatter_update] == 1 && l.stride[scatter_index] == 0) {
    const chosen_updates c = chosen_from(0);
    for (std::ptrdiff_t k = 0, found = 0; k < u.count; ++k) {
      if (!element<bool>(c.mask, k * u.index)) continue;
      scatter_runs(a.kind, a.output.type,
                   {element_at(a.output, l.at[scatter_to] + found++ * u.along),
                    0,
                    element_at(a.updates, l.at[scatter_update] + k * u.update),
                    0,
                    {1, l.count}});
    }
    return;
  }
  for (std::ptrdiff_t i = 0; i < l.count; ++i)
    visit_size(a.output.type, [&](auto x) {
      take_chosen<decltype(x)>(chosen_from(i), element_at(a.output, l.at[scatter_to] + i * l.stride[scatter_to]),
                               u.along);
    });
}

/// Calls f(T{}) with the type in which updates are combined; one of the element's size where they are only moved.
template <scatter_kind Kind, class F>
NSK_INLINE void visit_updates(dtype type, F f) {
  if constexpr (Kind == scatter_kind::replace)
    visit_size(type, f);
  else
    visit_type(type, [&](auto x) {
      if constexpr (!std::is_same_v<decltype(x), bool>) f(x);
    });
}

template <scatter_kind Kind>
inline void scatter_by_kind(const scatter_args& a, const scatter_updates& u, bool& outside) {
  visit_updates<Kind>(a.output.type, [&](auto x) {
    using T = decltype(x);
    scatter_lines<Kind, T>(a, u, outside);
  });
}

inline void scatter_updates_of(const scatter_args& a, const scatter_updates& u, bool& outside) {
  const element_line<scatter_operands>& l = u.l;
  if (a.indices.type == dtype::boolean) return scatter_chosen(a, u);
  if (l.stride[scatter_index] == 0) {
    if (l.stride[scatter_to] == 1 && l.stride[scatter_update] == 1) return scatter_rows(a, u, outside);
    if (u.along == 1 && u.update == 1 && l.count > 1) return scatter_stretches(a, u, outside);
  }
  switch (a.kind) {
    case scatter_kind::replace: return scatter_by_kind<scatter_kind::replace>(a, u, outside);
    case scatter_kind::add: return scatter_by_kind<scatter_kind::add>(a, u, outside);
    case scatter_kind::mul: return scatter_by_kind<scatter_kind::mul>(a, u, outside);
    case scatter_kind::max: return scatter_by_kind<scatter_kind::max>(a, u, outside);
    case scatter_kind::min: return scatter_by_kind<scatter_kind::min>(a, u, outside);
  }
}

}

/// output = data with updates applied along `axis`. Any strides; 0 too on data, indices and updates. The output may be
/// the data.
template <class = void>
inline void scatter(const scatter_args& a, const tile_range& t, std::byte* scratch) {
  using namespace impl;
  if (a.output.data == a.data.data)
    fill_typed_border(a.output, t);
  else
    copy({a.data, a.output}, t, scratch);
  tensor_view lines = a.output;
  lines.shape[a.axis] = 1;
  const std::ptrdiff_t* strides[scatter_operands] = {a.output.stride, a.updates.stride, a.indices.stride};
  bool outside = false;
  for_each_line(lines, strides, without_axis(a.output, a.axis, t), [&](const element_line<scatter_operands>& l) {
    scatter_updates_of(a,
                       {l, a.updates.shape[a.axis], a.output.stride[a.axis], a.updates.stride[a.axis],
                        a.indices.stride[a.axis], a.output.shape[a.axis]},
                       outside);
  });
  if (outside) raise(a.flags, index_clamped);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
