// SPDX-License-Identifier: MIT
#pragma once
/// What an operator owes the converter: `op_rules<op>`, one specialisation per operator, each in a file of its own.
/// There are no defaults; what is missing does not compile. What the engine must know of an operator stands in its own
/// file, include/netsuke/ops/; how its parameters are written in a file, in write/params.cpp.
///
/// - `parameters`: what an operation of a program says of it (program/program.hpp); `made_by_lowering` for operators
///   that no operation stands for
/// - `void lower(lowerer&, operation, parameters)`: layouts, tensors and steps of such an operation
/// - `tile_size tiles(request, params)`: the cut of a step into tiles
/// - `std::string work_kind(step, params, space)`: the kind of work by whose measured speed a step's time is estimated
#include "ops/impl/lower_parts.hpp"
#include "ops/impl/tile_sizes.hpp"
#include "ops/impl/work_kinds.hpp"

namespace nsk::tool {

template <op>
struct op_rules;

/// The parameters of operators that other operations are lowered to.
struct made_by_lowering {};

// Duties that operators share.

/// Tiles of about so many elements, which memory bounds.
template <op O, std::int64_t Elements>
struct streamed {
  static tile_size tiles(const tile_request& r, const params_of<O>& p) {
    return stream_tile_size(r.space(), Elements, op_traits<O>::whole(p, r.rank()));
  }
};

/// Elements that are made of those at their places, with the operation's own parameters.
template <op O>
struct elementwise : streamed<O, streamed_elements> {
  using parameters = params_of<O>;

  static void lower(lowerer& l, const operation& o, const parameters& p) { elementwise_step<O>(l, o) = p; }
};

template <const char* const& Kind>
struct kind_is {
  template <class Params>
  static std::string work_kind(const step_view&, const Params&, const tile_space&) {
    return Kind;
  }
};
struct product_work {
  template <class Params>
  static std::string work_kind(const step_view& s, const Params&, const tile_space& space) {
    return kind_of_product(s, space);
  }
};
/// Convolutions of bytes, of which two multiply-accumulates pass in the time of one of floats.
struct byte_convolution : product_work {
  template <class Params>
  static tile_size tiles(const tile_request& r, const Params& p) {
    const std::int64_t depth = std::int64_t{p.w.kernel_h} * p.w.kernel_w * (r.input(0).shape.back() / p.groups);
    tile_size t = gemm_tile_size(r, r.input(1), depth, 2);
    if (p.groups > 1) t.channels = 0;
    return t;
  }
};
struct moves_elements {
  template <class Params>
  static std::string work_kind(const step_view& s, const Params&, const tile_space&) {
    return kind_of_move(s);
  }
};

}
