// SPDX-License-Identifier: MIT
#pragma once
/// Vectors in lockstep: each operation is done for all vectors of a group before the next one.
///
/// A function such as GELU is one chain of some thirty operations. A core that takes one vector after the other looks
/// ahead no farther than two or three of them, and waits; of a group it always finds one that can go on. The operations
/// on a vector, and so its bits, are the same.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace simd {

/// N registers of type T: f32, i32 or mask.
template <class T, int N>
struct group {
  T part[N];
};

namespace impl {
/// How many registers a type has: 0 for a single one.
template <class T>
inline constexpr int group_size = 0;
template <class T, int N>
inline constexpr int group_size<group<T, N>> = N;

template <class T>
NSK_INLINE const T& part_of(const T& x, int) {
  return x;
}
template <class T, int N>
NSK_INLINE const T& part_of(const group<T, N>& x, int i) {
  return x.part[i];
}

/// Calls f with the registers i of all operands, for each i; operands that are no groups serve all of them.
template <class F, class... X>
NSK_INLINE auto in_lockstep(F f, const X&... x) {
  constexpr int n = (group_size<X> | ...);  // groups have one size
  group<decltype(f(part_of(x, 0)...)), n> result;
  simd::unroll<n>([&](auto i) NSK_INLINE_LAMBDA { result.part[i] = f(part_of(x, i)...); });
  return result;
}
template <class... X>
using if_grouped = std::enable_if_t<(group_size<X> | ...) != 0>;
}

/// Defines an operation of vec.hpp on groups.
#define NSK_IMPL_GROUPED(name)                                                                           \
  template <class... X, class = impl::if_grouped<X...>>                                                  \
  NSK_INLINE auto name(const X&... x) {                                                                  \
    return impl::in_lockstep([](const auto&... part) NSK_INLINE_LAMBDA { return name(part...); }, x...); \
  }
NSK_IMPL_GROUPED(sub)
NSK_IMPL_GROUPED(mul)
NSK_IMPL_GROUPED(fma)
NSK_IMPL_GROUPED(neg_fma)
NSK_IMPL_GROUPED(min)
NSK_IMPL_GROUPED(max)
NSK_IMPL_GROUPED(abs)
NSK_IMPL_GROUPED(copy_sign)
NSK_IMPL_GROUPED(less)
NSK_IMPL_GROUPED(select)
NSK_IMPL_GROUPED(as_i32)
NSK_IMPL_GROUPED(as_f32)
#undef NSK_IMPL_GROUPED

namespace impl {
/// Vectors of Count that are computed in lockstep: as many as registers hold.
template <int Count>
inline constexpr int lockstep_of = tuning::lockstep_vectors < Count ? tuning::lockstep_vectors : Count;

template <int Together, class F>
NSK_INLINE void map_group(f32* x, const F& f) {
  if constexpr (Together == 1) {
    *x = f(*x);
  } else {
    group<f32, Together> some;
    simd::unroll<Together>([&](auto i) NSK_INLINE_LAMBDA { some.part[i] = x[i]; });
    some = f(some);
    simd::unroll<Together>([&](auto i) NSK_INLINE_LAMBDA { x[i] = some.part[i]; });
  }
}
}

/// x = f(x) for vectors, of which as many are computed in lockstep as registers hold; f takes a vector or a group.
template <int Count, class F>
NSK_INLINE void map_in_lockstep(f32 (&x)[Count], const F& f) {
  static_assert(Count % impl::lockstep_of<Count> == 0);
  unroll<Count / impl::lockstep_of<Count>>([&](auto i) NSK_INLINE_LAMBDA {
    impl::map_group<impl::lockstep_of<Count>>(x + i * impl::lockstep_of<Count>, f);
  });
}

template <int Bits, int N>
NSK_INLINE group<i32, N> shift_left(const group<i32, N>& x) {
  return impl::in_lockstep([](const i32& part) NSK_INLINE_LAMBDA { return shift_left<Bits>(part); }, x);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
