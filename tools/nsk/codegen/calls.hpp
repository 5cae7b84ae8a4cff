// SPDX-License-Identifier: MIT
#pragma once
/// Steps as calls of kernels.
#include <netsuke/format/variant_view.hpp>
#include <set>
#include <string>
#include <vector>

namespace nsk::tool {

/// What the calls of a network need.
struct call_writer {
  std::vector<std::string> tensors;  ///< identifiers, by number
  std::set<std::string> headers;     ///< below netsuke/, of the calls so far
  bool small = true;                 ///< whether steps of a few numbers take the small forms of codegen/

  /// Returns the statement that computes a step. Refuses operators that it has no form for.
  std::string call(const step_view& s);

 private:
  std::string small_call(const step_view& s);
  std::string kernel_call(const step_view& s);
  std::string piece(const step_view& s, const std::string& form) const;
  std::string epilogue_text(const step_view& s) const;
  std::string floats(const tensor_info& t) const { return "m.data<float>(" + name(t) + ")"; }
  std::string view(const tensor_info& t) const { return "m.view(" + name(t) + ")"; }
  const std::string& name(const tensor_info& t) const { return tensors[static_cast<std::size_t>(t.index())]; }
  std::string dense(const step_view& s);
  std::string unary(const step_view& s);
  std::string binary(const step_view& s);
  std::string copy(const step_view& s);
  std::string recurrent(const step_view& s);
};

}
