// SPDX-License-Identifier: MIT
#pragma once
/// What a device must have, as questions to the compiler: the first member that is missing, the sentence about it, and
/// what takes the place of a device that lacks one, so that nothing else is said.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <utility>
#include <netsuke/gpu/device.hpp>

#define NSK_IMPL_GPU_LIST "netsuke: the device has no type `list`: add using list = the type of your open command list;"
#define NSK_IMPL_GPU_BUFFER "netsuke: the device has no type `buffer`: add using buffer = the type of a storage buffer;"
#define NSK_IMPL_GPU_TEXTURE "netsuke: the device has no type `texture`: add using texture = its type, int for none;"
#define NSK_IMPL_GPU_PIPELINE "netsuke: the device has no type `pipeline`: add using pipeline = its type;"
#define NSK_IMPL_GPU_LIMITS "netsuke: the device has no such member: add nsk::gpu::limits limits() const"
#define NSK_IMPL_GPU_CREATE                      \
  "netsuke: the device has no such member: add " \
  "nsk::gpu::status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made)"
#define NSK_IMPL_GPU_DESTROY "netsuke: the device has no such member: add void destroy_pipeline(pipeline p)"
#define NSK_IMPL_GPU_BIND \
  "netsuke: the device has no such member: add void bind(list& l, const nsk::gpu::bindings<device>& b)"
#define NSK_IMPL_GPU_DISPATCH                    \
  "netsuke: the device has no such member: add " \
  "void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3])"
#define NSK_IMPL_GPU_BARRIER "netsuke: the device has no such member: add void barrier(list& l)"
#define NSK_IMPL_GPU_COPY                        \
  "netsuke: the device has no such member: add " \
  "void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes)"

NSK_BEGIN
namespace gpu::impl {

template <class D>
using list_of = typename D::list;
template <class D>
using buffer_of = typename D::buffer;
template <class D>
using texture_of = typename D::texture;
template <class D>
using pipeline_of = typename D::pipeline;
template <class D>
using limits_of = decltype(gpu::limits(std::declval<const D&>().limits()));
template <class D>
using create_of = decltype(gpu::status(
    std::declval<D&>().create_pipeline(std::declval<const pipeline_key&>(), std::declval<pipeline_of<D>&>())));
template <class D>
using destroy_of = decltype(std::declval<D&>().destroy_pipeline(std::declval<pipeline_of<D>>()));
template <class D>
using bind_of = decltype(std::declval<D&>().bind(std::declval<list_of<D>&>(), std::declval<const bindings<D>&>()));
template <class D>
using dispatch_of = decltype(std::declval<D&>().dispatch(std::declval<list_of<D>&>(), std::declval<pipeline_of<D>>(),
                                                         std::declval<const std::uint32_t*>(), 0,
                                                         std::declval<const std::uint32_t (&)[3]>()));
template <class D>
using barrier_of = decltype(std::declval<D&>().barrier(std::declval<list_of<D>&>()));
template <class D>
using copy_of =
    decltype(std::declval<D&>().copy(std::declval<list_of<D>&>(), std::declval<buffer_of<D>>(), std::size_t{},
                                     std::declval<buffer_of<D>>(), std::size_t{}, std::size_t{}));

template <template <class> class Member, class D, class = void>
inline constexpr bool has = false;
template <template <class> class Member, class D>
inline constexpr bool has<Member, D, std::void_t<Member<D>>> = true;

enum class device_fault {
  none,
  list,
  buffer,
  texture,
  pipeline,
  limits,
  create_pipeline,
  destroy_pipeline,
  bind,
  dispatch,
  barrier,
  copy
};
/// Returns the first member that a device lacks.
template <class D>
constexpr device_fault device_fault_of() {
  if (!has<list_of, D>) return device_fault::list;
  if (!has<buffer_of, D>) return device_fault::buffer;
  if (!has<texture_of, D>) return device_fault::texture;
  if (!has<pipeline_of, D>) return device_fault::pipeline;
  if (!has<limits_of, D>) return device_fault::limits;
  if (!has<create_of, D>) return device_fault::create_pipeline;
  if (!has<destroy_of, D>) return device_fault::destroy_pipeline;
  if (!has<bind_of, D>) return device_fault::bind;
  if (!has<dispatch_of, D>) return device_fault::dispatch;
  if (!has<barrier_of, D>) return device_fault::barrier;
  return has<copy_of, D> ? device_fault::none : device_fault::copy;
}

/// Takes the place of a type that a device lacks: everything converts to it.
struct any_type {
  any_type() = default;
  template <class T>
  any_type(const T&) {}
};
template <template <class> class Member, class D, bool = has<Member, D>>
struct type_or_any {
  using type = any_type;
};
template <template <class> class Member, class D>
struct type_or_any<Member, D, true> {
  using type = Member<D>;
};
/// Takes the place of a device that lacks a member, with the types that it has.
template <class D>
struct idle_device {
  using list = typename type_or_any<list_of, D>::type;
  using buffer = typename type_or_any<buffer_of, D>::type;
  using texture = typename type_or_any<texture_of, D>::type;
  using pipeline = typename type_or_any<pipeline_of, D>::type;
  gpu::limits limits() const { return {}; }
  gpu::status create_pipeline(const pipeline_key&, pipeline&) { return {}; }
  void destroy_pipeline(pipeline) {}
  template <class B>
  void bind(list&, const B&) {}
  void dispatch(list&, pipeline, const std::uint32_t*, int, const std::uint32_t (&)[3]) {}
  void barrier(list&) {}
  void copy(list&, buffer, std::size_t, buffer, std::size_t, std::size_t) {}
};
template <class D>
using device_or_idle = std::conditional_t<device_fault_of<D>() == device_fault::none, D, idle_device<D>>;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
