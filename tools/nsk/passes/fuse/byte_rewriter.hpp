// SPDX-License-Identifier: MIT
#pragma once
/// What the passes over steps on bytes ask.
#include "passes/rewriter.hpp"

namespace nsk::tool {

class byte_rewriter : protected rewriter {
 public:
  using rewriter::rewriter;

 protected:
  element type(int v) const { return m_p.values[static_cast<std::size_t>(v)].type; }
  /// The operation by which `v` is the real numbers of uint8; null where it is something else.
  const operation* widened(int v) {
    const operation* o = producer(v);
    return o && o->as<dequantize_params>() && type(o->inputs[0]) == element::u8 ? o : nullptr;
  }
};

}
