// SPDX-License-Identifier: MIT
#pragma once
/// The parameters of a step, whatever its operator.
#include <new>
#include <netsuke/format/params.hpp>
#include "errors.hpp"

namespace nsk::tool {

/// Holds the parameters of one operator, as format/params.hpp has them; at first of none.
class step_params {
 public:
  /// Makes them those of `O`, with the defaults of its struct, and returns them.
  template <op O>
  params_of<O>& make() {
    set(params_of<O>());
    return at<O>();
  }
  /// The parameters of `O`, which they must be.
  template <op O>
  params_of<O>& as() {
    if (m_op != O) refuse_other();
    return at<O>();
  }
  template <op O>
  const params_of<O>& as() const {
    return const_cast<step_params*>(this)->as<O>();
  }
  op kind() const { return m_op; }

 private:
  [[noreturn]] static void refuse_other() { refuse("a step is read as one of another operator: report this"); }
  template <op O>
  params_of<O>& at();

  op m_op = op::none;
  union fields {
    fields() : nothing(0) {}
    char nothing;
#define NSK_FIELD(name, Table) name##_params name;
    NSK_OP_LIST(NSK_FIELD)
#undef NSK_FIELD
  } m_fields;

#define NSK_SET(name, Table)               \
  void set(const name##_params& p) {       \
    m_op = op::name;                       \
    new (&m_fields.name) name##_params(p); \
  }
  NSK_OP_LIST(NSK_SET)
#undef NSK_SET
};

#define NSK_AT(name, Table)                           \
  template <>                                         \
  inline name##_params& step_params::at<op::name>() { \
    return m_fields.name;                             \
  }
NSK_OP_LIST(NSK_AT)
#undef NSK_AT

}
