// SPDX-License-Identifier: MIT
#pragma once
/// What the parameters of several operators have in common: the window of a kernel, and what happens to a result.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/kinds.hpp>

NSK_BEGIN
/// Window of a convolution or pooling, in input pixels.
struct window {
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_top = 0,
               pad_left = 0;

  /// A window that is not there has a kernel of 0.
  template <class Table>
  static window of(const Table* t) {
    if (!t) return {0};
    window w;
    w.kernel_h = t->kernel_h();
    w.kernel_w = t->kernel_w();
    w.stride_h = t->stride_h();
    w.stride_w = t->stride_w();
    w.dilation_h = t->dilation_h();
    w.dilation_w = t->dilation_w();
    w.pad_top = t->pad_top();
    w.pad_left = t->pad_left();
    return w;
  }
};

/// What happens to a result before it is stored: y = f(x + residual), or with activation_first y = f(x) + residual.
/// Tensors are positions among the step's inputs, -1 where there is none.
struct epilogue_params {
  function fn = function::identity;
  bool activation_first = false;
  float alpha = 0, beta = 0;
  std::int32_t residual = -1, slope = -1;

  template <class Table>
  static epilogue_params of(const Table& t) {
    return {static_cast<function>(t.function()), t.activation_first(), t.alpha(), t.beta(), t.residual(), t.slope()};
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
