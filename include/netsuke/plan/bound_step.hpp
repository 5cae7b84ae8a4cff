// SPDX-License-Identifier: MIT
#pragma once
/// A step that is ready to run: kernel arguments with pointers, and the cut into tiles. Lives on the stack of whoever
/// drives the step.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/settings.hpp>
#include <netsuke/kernels/arg_reduce.hpp>
#include <netsuke/kernels/arithmetic.hpp>
#include <netsuke/kernels/binary.hpp>
#include <netsuke/kernels/cast.hpp>
#include <netsuke/kernels/compare.hpp>
#include <netsuke/kernels/conv_2d.hpp>
#include <netsuke/kernels/copy.hpp>
#include <netsuke/kernels/depthwise_conv_2d.hpp>
#include <netsuke/kernels/fill.hpp>
#include <netsuke/kernels/fully_connected.hpp>
#include <netsuke/kernels/gather.hpp>
#include <netsuke/kernels/layer_normalization.hpp>
#include <netsuke/kernels/local_response_normalization.hpp>
#include <netsuke/kernels/mat_mul.hpp>
#include <netsuke/kernels/non_max_suppression.hpp>
#include <netsuke/kernels/pack_panels.hpp>
#include <netsuke/kernels/pool_2d.hpp>
#include <netsuke/kernels/random.hpp>
#include <netsuke/kernels/recurrent.hpp>
#include <netsuke/kernels/reduce.hpp>
#include <netsuke/kernels/resize_2d.hpp>
#include <netsuke/kernels/select.hpp>
#include <netsuke/kernels/softmax.hpp>
#include <netsuke/kernels/top_k.hpp>
#include <netsuke/kernels/tree_ensemble.hpp>
#include <netsuke/kernels/unary.hpp>
#include <netsuke/plan/bind.hpp>

/// X(operator): every operator with its kernel kernels::operator, arguments kernels::operator_args and
/// plan::bind_operator. Some end with an elementwise function; convolutions have more than one kernel; the others are
/// plain.
#define NSK_EPILOGUE_KERNEL_LIST(X) \
  X(depthwise_conv_2d)              \
  X(fully_connected)                \
  X(mat_mul)                        \
  X(unary)                          \
  X(binary)                         \
  X(reduce)
#define NSK_PLAIN_KERNEL_LIST(X)  \
  X(pack_panels)                  \
  X(pool_2d)                      \
  X(copy)                         \
  X(fill)                         \
  X(resize_2d)                    \
  X(softmax)                      \
  X(cast)                         \
  X(compare)                      \
  X(select)                       \
  X(arithmetic)                   \
  X(gather)                       \
  X(gather_elements)              \
  X(arg_reduce)                   \
  X(top_k)                        \
  X(non_max_suppression)          \
  X(layer_normalization)          \
  X(local_response_normalization) \
  X(recurrent)                    \
  X(random)                       \
  X(tree_ensemble)
#define NSK_KERNEL_LIST(X) X(conv_2d) NSK_EPILOGUE_KERNEL_LIST(X) NSK_PLAIN_KERNEL_LIST(X)

NSK_BEGIN
namespace plan {

/// One step with its arguments; operators that `Settings` does not list have no code here.
template <class Settings>
class bound_step {
 public:
  bound_step(const memory_map& memory, const step_view& step)
      : m_args(bind(memory, step)), m_op(step.op()), m_tile(step.tile()) {
    m_space = step.space(memory.rows);
    m_grid = tile_grid_of(m_space, m_tile);
  }

  /// Computes one tile. `scratch` is the scratch of the calling lane.
  void run(std::int32_t tile, std::byte* scratch) const {
    const tile_range range = range_of_tile(m_space, m_tile, m_grid, tile);
    switch (m_op) {
#define NSK_RUN(name)                                                                    \
  case op::name:                                                                         \
    if constexpr (Settings::ops::has(op::name)) run_kernel(m_args.name, range, scratch); \
    break;
      NSK_KERNEL_LIST(NSK_RUN)
#undef NSK_RUN
      case op::none: break;
    }
  }

  std::int32_t tile_count() const { return static_cast<std::int32_t>(m_grid.count()); }

 private:
  using functions = typename Settings::functions;

#define NSK_OVERLOAD(name)                                                                             \
  static void run_kernel(const kernels::name##_args& a, const tile_range& range, std::byte* scratch) { \
    kernels::name(a, range, scratch);                                                                  \
  }
  NSK_PLAIN_KERNEL_LIST(NSK_OVERLOAD)
#undef NSK_OVERLOAD
#define NSK_OVERLOAD(name)                                                                             \
  static void run_kernel(const kernels::name##_args& a, const tile_range& range, std::byte* scratch) { \
    kernels::name<functions>(a, range, scratch);                                                       \
  }
  NSK_EPILOGUE_KERNEL_LIST(NSK_OVERLOAD)
#undef NSK_OVERLOAD
  static void run_kernel(const kernels::conv_2d_args& a, const tile_range& range, std::byte* scratch) {
    if constexpr (Settings::winograd) {
      kernels::conv_2d<functions>(a, range, scratch);
    } else {
      kernels::impl::direct_conv_2d<functions>(a, range, reinterpret_cast<float*>(scratch));
      kernels::fill_border(a.output, range);
    }
  }

  union arguments {
    arguments() {}
#define NSK_MEMBER(name)     \
  kernels::name##_args name; \
  explicit arguments(const kernels::name##_args& a) : name(a) {}
    NSK_KERNEL_LIST(NSK_MEMBER)
#undef NSK_MEMBER
  };

  static arguments bind(const memory_map& memory, const step_view& step) {
    switch (step.op()) {
#define NSK_BIND(name)                                                                       \
  case op::name:                                                                             \
    if constexpr (Settings::ops::has(op::name)) return arguments(bind_##name(memory, step)); \
    break;
      NSK_KERNEL_LIST(NSK_BIND)
#undef NSK_BIND
      case op::none: break;
    }
    return arguments();
  }

  arguments m_args;
  op m_op;
  tile_size m_tile;
  tile_space m_space;
  tile_grid m_grid;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
