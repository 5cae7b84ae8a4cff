// SPDX-License-Identifier: MIT
#include "codegen/text.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "errors.hpp"
#include "ops/step_facts.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

std::string text_of(bool x) { return x ? "true" : "false"; }
std::string text_of(std::int32_t x) { return std::to_string(x); }
std::string text_of(std::uint32_t x) { return std::to_string(x) + "u"; }
std::string text_of(float x) { return float_text(x); }
/// The enumerator of a value as source, "nsk::reduce_kind::sum".
template <class Enum, class = std::enable_if_t<std::is_enum_v<Enum>>>
std::string text_of(Enum value) {
  std::string type, name = name_of_kind(value);
  for (const char c : std::string(enumeration(value))) {
    if (c >= 'a') type += c;
    if (c < 'a') type += (type.empty() ? "" : "_") + std::string(1, static_cast<char>(c - 'A' + 'a'));
  }
  if (name.empty())
    refuse("nsk codegen knows no " + type + " number " + std::to_string(static_cast<std::size_t>(value)) +
           ": write it in source by hand.");
  return "nsk::" + type + "::" + name;
}
std::string text_of(const window& w) { return window_text(w); }
std::string text_of(const recurrent_gate& g) {
  return "{" + joined({text_of(g.fn), text_of(g.alpha), text_of(g.beta)}) + "}";
}

template <class... Values>
std::string braces(const Values&... values) {
  return "{" + joined({text_of(values)...}) + "}";
}

/// Something to call with the fields of a struct of parameters.
struct any_fields {
  template <class... Fields>
  int operator()(const Fields&...) const {
    return 0;
  }
};
template <class Params, class = void>
struct has_fields : std::false_type {};
template <class Params>
struct has_fields<Params, std::void_t<decltype(std::declval<const Params&>().to(any_fields{}))>> : std::true_type {};

std::string params_text(const conv_2d_params& p) { return braces(p.w, p.groups, p.algorithm); }
std::string params_text(const depthwise_conv_2d_params& p) { return braces(p.w); }
std::string params_text(const mat_mul_params& p) { return braces(p.shared_right); }
std::string params_text(const pool_2d_params& p) {
  return braces(p.kind, p.w, p.count_include_pad, p.pad_bottom, p.pad_right);
}
std::string params_text(const binary_params& p) { return braces(p.kind); }
std::string params_text(const reduce_params& p) { return braces(p.kind); }
std::string params_text(const softmax_params& p) { return braces(p.axis, p.log); }
std::string params_text(const recurrent_params& p) {
  std::string gates;
  for (const auto& direction : p.gate)
    gates += (gates.empty() ? "{" : ", {") +
             joined({text_of(direction[0]), text_of(direction[1]), text_of(direction[2])}) + "}";
  const std::string numbers = joined({text_of(p.kind), text_of(p.reverse), text_of(p.has_peephole),
                                      text_of(p.has_lengths), text_of(p.input_forget), text_of(p.linear_before_reset),
                                      text_of(p.clip), text_of(p.cell_clip), text_of(p.gate_count)});
  return "{" + numbers + ", {" + gates + "}}";
}
/// All others: their fields are in the order of the schema.
template <class Params>
std::string params_text(const Params& p) {
  if constexpr (std::is_empty_v<Params>)
    return "{}";
  else if constexpr (has_fields<Params>::value)
    return p.to([](const auto&... fields) { return braces(fields...); });
  else
    refuse("nsk codegen cannot write the parameters of a step: run the model with nsk::session.");
}

}

std::string float_text(float x) {
  if (std::isnan(x)) return "std::numeric_limits<float>::quiet_NaN()";
  if (std::isinf(x)) return std::string(x < 0 ? "-" : "") + "std::numeric_limits<float>::infinity()";
  std::string text = format_text("%.9g", static_cast<double>(x));
  for (int digits = 1; digits < 9; ++digits) {
    const std::string shorter = format_text("%.*g", digits, static_cast<double>(x));
    if (std::strtof(shorter.c_str(), nullptr) == x) {
      text = shorter;
      break;
    }
  }
  return text.find_first_of(".e") == std::string::npos ? text + ".0f" : text + "f";
}

std::string window_text(const window& w) {
  return braces(w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.dilation_h, w.dilation_w, w.pad_top, w.pad_left);
}

std::string kind_text(binary_kind k) { return text_of(k); }

std::string params_of_step(const step_view& s) {
  switch (s.op()) {
#define NSK_PARAMS_OF(name, Table) \
  case op::name: return params_text(s.params<op::name>());
    NSK_OP_LIST(NSK_PARAMS_OF)
#undef NSK_PARAMS_OF
    case op::none: break;
  }
  return "{}";
}

}
