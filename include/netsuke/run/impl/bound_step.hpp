// SPDX-License-Identifier: MIT
#pragma once
/// A step that is ready to run: kernel arguments with pointers, and the cut into tiles. Lives on the stack of whoever
/// drives the step.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/tiles.hpp>
#include <netsuke/ops/every_op.hpp>

NSK_BEGIN
namespace impl {

/// One step with its arguments; operators that `Settings` does not list have no code here.
template <class Settings>
class bound_step {
 public:
  bound_step(const memory_map& memory, const step_view& step)
      : m_args(bind(memory, step)), m_op(step.op()), m_tile(step.tile()) {
    if constexpr (runs_half_weights<Settings>) m_half_weights = has_half_weights(step);
    if constexpr (runs_int8_weights<Settings>) m_int8_weights = has_int8_weights(step);
    m_space = step.space(memory.lengths);
    m_grid = tile_grid_of(m_space, m_tile);
  }

  /// Computes one tile. `scratch` is the scratch of the calling lane.
  void run(std::int32_t tile, std::byte* scratch) const {
    const tile_range range = range_of_tile(m_space, m_tile, m_grid, tile);
    switch (m_op) {
#define NSK_RUN(name, Table)                                                                   \
  case op::name:                                                                               \
    if constexpr (Settings::ops::has(op::name)) run_as<op::name>(m_args.name, range, scratch); \
    break;
      NSK_OP_LIST(NSK_RUN)
#undef NSK_RUN
      case op::none: break;
    }
  }

  std::int32_t tile_count() const { return static_cast<std::int32_t>(m_grid.count()); }

 private:
  template <op O>
  void run_as(const typename op_traits<O>::args& a, const tile_range& range, std::byte* scratch) const {
    if constexpr (runs_half_weights<Settings> && takes_half_weights(O)) {
      if (m_half_weights) return op_traits<O>::template run<with_half_weights<Settings>>(a, range, scratch);
    }
    if constexpr (runs_int8_weights<Settings> && takes_int8_weights(O)) {
      if (m_int8_weights) return op_traits<O>::template run<with_int8_weights<Settings>>(a, range, scratch);
    }
    op_traits<O>::template run<Settings>(a, range, scratch);
  }

  union arguments {
    arguments() {}
#define NSK_MEMBER(name, Table)            \
  typename op_traits<op::name>::args name; \
  explicit arguments(const decltype(name)& a) : name(a) {}
    NSK_OP_LIST(NSK_MEMBER)
#undef NSK_MEMBER
  };

  static arguments bind(const memory_map& memory, const step_view& step) {
    switch (step.op()) {
#define NSK_BIND(name, Table)                                                             \
  case op::name:                                                                          \
    if constexpr (Settings::ops::has(op::name))                                           \
      return arguments(op_traits<op::name>::bind(memory, step, step.params<op::name>())); \
    break;
      NSK_OP_LIST(NSK_BIND)
#undef NSK_BIND
      case op::none: break;
    }
    return arguments();
  }

  arguments m_args;
  op m_op;
  bool m_half_weights = false, m_int8_weights = false;
  tile_size m_tile;
  tile_space m_space;
  tile_grid m_grid;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
