// SPDX-License-Identifier: MIT
#pragma once
/// What kernels are told of `Settings`: functions, kinds, and variants for speed alone. Types without a member have
/// everything of it.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/format/kinds.hpp>
#include <netsuke/format/step_view.hpp>
#include <netsuke/kernels/path.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>

NSK_BEGIN
namespace impl {

/// `Member<Settings>`, or `Default` where the settings have no such member.
template <template <class> class Member, class Settings, class Default, class = void>
struct member_or {
  using type = Default;
};
template <template <class> class Member, class Settings, class Default>
struct member_or<Member, Settings, Default, std::void_t<Member<Settings>>> {
  using type = Member<Settings>;
};
template <class Settings>
using reduce_kinds_member = typename Settings::reduce_kinds;
template <class Settings>
using pool_kinds_member = typename Settings::pool_kinds;
template <class Settings>
using paths_member = typename Settings::paths;

/// Kinds that sessions of a settings type have kernels for.
template <class Settings>
using reduce_kinds_of = typename member_or<reduce_kinds_member, Settings, all_reduce_kinds>::type;
template <class Settings>
using pool_kinds_of = typename member_or<pool_kinds_member, Settings, all_pool_kinds>::type;

/// Whether a verified step of an operator that the settings list is of a kind that they do not.
template <class Settings>
bool is_kind_unlisted(const step_view& s) {
  if constexpr (Settings::ops::has(op::reduce))
    if (s.op() == op::reduce) return !has_reduction<reduce_kinds_of<Settings>>(s.params<op::reduce>().kind);
  if constexpr (Settings::ops::has(op::pool_2d))
    if (s.op() == op::pool_2d && !is_float_operator_on_bytes(s))
      return !pool_kinds_of<Settings>::has(s.params<op::pool_2d>().kind);
  return false;
}

template <class Settings, class = void>
inline constexpr bool takes_panel_pairs = true;
template <class Settings>
inline constexpr bool takes_panel_pairs<Settings, std::void_t<decltype(Settings::panel_pairs)>> = Settings::panel_pairs;
template <class Settings, class = void>
inline constexpr bool prefetches_weights = true;
template <class Settings>
inline constexpr bool prefetches_weights<Settings, std::void_t<decltype(Settings::prefetch_weights)>> =
    Settings::prefetch_weights;

/// The kernels of a settings type. Settings of equal values share them.
template <class Settings>
using kernels_of =
    kernels::kernels_for<typename Settings::functions, typename member_or<paths_member, Settings, all_paths>::type,
                         takes_panel_pairs<Settings>, prefetches_weights<Settings>>;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
