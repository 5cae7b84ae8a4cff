// SPDX-License-Identifier: MIT
#include "codegen/calls.hpp"

#include <netsuke/ops/impl/narrow_weights.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>
#include <netsuke/ops/impl/rules.hpp>
#include <netsuke/format/scratch.hpp>
#include <sstream>

#include "codegen/text.hpp"
#include "errors.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

/// How a step becomes a call. `pieces` are the members of the kernel's arguments, in order: P parameters, xN a view of
/// input N, y one of the output, fN and iN floats and integers of input N, nN its number of elements, E the epilogue,
/// F the flags, R the random source; for recurrent C, L and K, which may be missing.
struct call_form {
  op o;
  const char *kernel, *header, *pieces;
};
constexpr call_form forms[] = {
    {op::conv_2d, "kernels::conv_2d<kernel_set>", "conv/conv_2d", "P x0 y f1 E"},
    {op::depthwise_conv_2d, "kernels::depthwise_conv_2d<kernel_set>", "depthwise/depthwise_conv_2d", "P x0 y f1 E"},
    {op::fully_connected, "kernels::fully_connected<kernel_set>", "dense/fully_connected", "x0 y f1 E"},
    {op::pack_panels, "kernels::pack_panels", "product/pack_panels", "x0 y"},
    {op::mat_mul, "kernels::mat_mul<kernel_set>", "dense/mat_mul", "P x0 y f1 E"},
    {op::pool_2d, "kernels::pool_2d<pools>", "images/pool_2d", "P x0 y"},
    {op::unary, "kernels::unary<kernel_set>", "elements/unary", "x0 y E"},
    {op::binary, "kernels::binary<kernel_set>", "elements/binary", "P x0 x1 y E"},
    {op::copy, "kernels::copy", "elements/copy", "x0 y"},
    {op::fill, "kernels::fill", "elements/fill", "P y"},
    {op::resize_2d, "kernels::resize_2d", "images/resize_2d", "P x0 y i1 f2 i3 f4"},
    {op::reduce, "kernels::reduce<kernel_set, reductions>", "lines/reduce", "P x0 y E"},
    {op::softmax, "kernels::softmax", "lines/softmax", "P x0 y"},
    {op::cast, "kernels::cast", "elements/cast", "x0 y"},
    {op::compare, "kernels::compare", "elements/compare", "P x0 x1 y"},
    {op::select, "kernels::select", "elements/select", "x0 x1 x2 y"},
    {op::arithmetic, "kernels::arithmetic", "elements/arithmetic", "P x0 x1 y F"},
    {op::gather, "kernels::gather", "elements/gather", "P x0 x1 y F"},
    {op::gather_elements, "kernels::gather_elements", "elements/gather", "{P x0 x1 y F}"},
    {op::arg_reduce, "kernels::arg_reduce", "lines/arg_reduce", "P x0 y"},
    {op::top_k, "kernels::top_k", "lines/top_k", "P x0 y"},
    {op::non_max_suppression, "kernels::non_max_suppression", "lines/non_max_suppression", "P x0 x1 y F"},
    {op::layer_normalization, "kernels::layer_normalization", "lines/layer_normalization", "P x0 y f1 f2"},
    {op::local_response_normalization, "kernels::local_response_normalization", "lines/local_response_normalization",
     "P x0 y"},
    {op::recurrent, "kernels::recurrent", "dense/recurrent", "P x0 x2 C L y f1 K F"},
    {op::random, "kernels::random", "elements/random", "P y R"},
    {op::scatter, "kernels::scatter", "elements/scatter", "P x0 x1 x2 y F"},
    {op::matrix_function, "kernels::matrix_function", "dense/matrix_function", "P x0 y"},
    {op::integer_mat_mul, "kernels::integer_mat_mul", "int8/integer_mat_mul", "P x0 x1 y"},
    {op::sample_image, "kernels::sample_image", "images/sample_image", "P x0 x1 x2 x3 y"},
    {op::tree_ensemble, "kernels::tree_ensemble", "dense/tree_ensemble", "P x0 y i1 i2 f3 i4 f5 f6 n1"},
};

/// Elements one behind the other, no border, no more than so many.
bool is_small(const tensor_info& t, std::int64_t maximum) { return impl::is_dense(t) && t.elements() <= maximum; }
bool is_repeated(const tensor_info& t) {
  for (const std::int64_t stride : t.strides())
    if (stride != 0) return false;
  return true;
}
std::string function_text(function f) { return std::string("nsk::function::") + name_of(f); }
/// The function's parameters behind other arguments, where it has any.
std::string function_arguments(const epilogue_params& e) {
  return e.alpha == 0 && e.beta == 0 ? "" : ", " + joined({float_text(e.alpha), float_text(e.beta)});
}
/// Whether the small forms can do it: a function of the result alone.
bool is_plain(const epilogue_params& e) { return e.residual < 0 && e.fn != function::prelu; }

}

std::string call_writer::epilogue_text(const step_view& s) const {
  const epilogue_params e = s.epilogue();
  if (e.fn == function::identity && e.residual < 0) return "{}";
  std::vector<std::string> parts = {function_text(e.fn), e.activation_first ? "true" : "false", float_text(e.alpha),
                                    float_text(e.beta), e.slope < 0 ? "nullptr" : floats(s.input(e.slope))};
  if (e.residual < 0) {
    parts.insert(parts.end(), {"nullptr", "{}"});
  } else {
    const tensor_info residual = s.input(e.residual);
    parts.insert(parts.end(), {floats(residual), "{" + list_text(residual.strides()) + "}"});
  }
  return "{" + joined(parts) + "}";
}

std::string call_writer::piece(const step_view& s, const std::string& form) const {
  const int input = form.size() > 1 ? std::stoi(form.substr(1)) : 0;
  switch (form[0]) {
    case 'P': return params_of_step(s);
    case 'x': return view(s.input(input));
    case 'y': return view(s.output());
    case 'f': return floats(s.input(input));
    case 'i': return "m.data<std::int32_t>(" + name(s.input(input)) + ")";
    case 'n': return std::to_string(s.input(input).elements());
    case 'E': return epilogue_text(s);
    case 'F': return "&m.flags";
    case 'R': return "m.random";
    default: break;
  }
  const recurrent_inputs in = recurrent_inputs::of(s.params<op::recurrent>());
  if (form == "C") return in.initial_c < 0 ? "{}" : view(s.input(in.initial_c));
  if (form == "L") return in.lengths < 0 ? "{}" : view(s.input(in.lengths));
  return in.peephole < 0 ? "nullptr" : floats(s.input(in.peephole));
}

std::string call_writer::kernel_call(const step_view& s) {
  const bool is_direct = s.op() == op::conv_2d && s.params<op::conv_2d>().algorithm == conv_algorithm::direct;
  for (const call_form& f : forms) {
    if (f.o != s.op()) continue;
    headers.insert(std::string("kernels/") + f.header + ".hpp");
    std::string pieces = f.pieces;
    const bool nested = pieces.front() == '{';
    if (nested) pieces = pieces.substr(1, pieces.size() - 2);
    std::istringstream words(pieces);
    std::vector<std::string> parts;
    for (std::string word; words >> word;) parts.push_back(piece(s, word));
    const std::string arguments = nested ? "{{" + joined(parts) + "}}" : "{" + joined(parts) + "}";
    const char* const kernel = is_direct ? "kernels::direct_conv_2d<kernel_set>" : f.kernel;
    return std::string("nsk::") + kernel + "(" + arguments + ", nsk::codegen::whole(" + name(s.output()) +
           "), scratch);";
  }
  refuse(std::string("nsk codegen has no form for the operator ") + name_of(s.op()) + " of step '" + s.name() +
         "': run the model with nsk::session.");
}

std::string call_writer::dense(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  const epilogue_params e = s.epilogue();
  if (!is_plain(e) || !is_small(y, impl::last_length(y)) || x.elements() * y.elements() > 128 * 1024) return "";
  headers.insert("codegen/small.hpp");
  std::string form = std::to_string(x.elements()) + ", " + std::to_string(y.elements());
  if (e.fn != function::identity) form += ", " + function_text(e.fn);
  return "nsk::codegen::dense<" + form + ">(" + joined({floats(x), floats(s.input(1)), floats(y)}) +
         function_arguments(e) + ");";
}
std::string call_writer::unary(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  const epilogue_params e = s.epilogue();
  if (!is_plain(e) || !is_small(x, 1024) || !is_small(y, 1024)) return "";
  headers.insert("codegen/small.hpp");
  return "nsk::codegen::map<" + function_text(e.fn) + ", " + std::to_string(y.elements()) + ">(" +
         joined({floats(x), floats(y)}) + function_arguments(e) + ");";
}
std::string call_writer::binary(const step_view& s) {
  const tensor_info a = s.input(0), b = s.input(1), y = s.output();
  const epilogue_params e = s.epilogue();
  const bool one_a = y.elements() > 1 && is_repeated(a), one_b = y.elements() > 1 && is_repeated(b);
  if (!is_plain(e) || !is_small(y, 1024) || !(one_a || is_small(a, 1024)) || !(one_b || is_small(b, 1024))) return "";
  headers.insert("codegen/small.hpp");
  std::string form = kind_text(s.params<op::binary>().kind) + ", " + std::to_string(y.elements());
  if (one_a || one_b || e.fn != function::identity)
    form += std::string(one_a ? ", 0" : ", 1") + (one_b ? ", 0" : ", 1");
  if (e.fn != function::identity) form += ", " + function_text(e.fn);
  return "nsk::codegen::combine<" + form + ">(" + joined({floats(a), floats(b), floats(y)}) + function_arguments(e) +
         ");";
}
std::string call_writer::copy(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_small(x, 4096) || !is_small(y, 4096)) return "";
  return "std::memcpy(m.data<std::byte>(" + name(y) + "), m.data<std::byte>(" + name(x) + "), " +
         std::to_string(y.bytes()) + ");";
}
std::string call_writer::recurrent(const step_view& s) {
  const recurrent_params p = s.params<op::recurrent>();
  const tensor_info x = s.input(0), h = s.input(2), y = s.output();
  const span<const std::int32_t> shape = y.shape();
  const recurrent_gate* g = p.gate[0];
  const bool usual = p.kind != recurrent_kind::rnn && p.clip == 0 && p.cell_clip == 0 && p.reverse == 0 &&
                     !p.has_peephole && !p.has_lengths && !p.input_forget && g[0].fn == recurrent_function::sigmoid &&
                     g[1].fn == recurrent_function::tanh &&
                     (p.kind == recurrent_kind::gru || g[2].fn == recurrent_function::tanh);
  const bool lstm = p.kind == recurrent_kind::lstm;
  if (!usual || shape[0] != 1 || shape[2] != 1 || shape[3] > 256 || !impl::is_dense(x) || !impl::is_dense(h) ||
      !impl::is_dense(y) || (lstm && !impl::is_dense(s.input(3))))
    return "";
  headers.insert("codegen/recurrent.hpp");
  std::vector<std::string> form = {std::to_string(shape[3]), std::to_string(x.shape()[1])};
  std::vector<std::string> arguments = {floats(x), floats(s.input(1)), floats(h)};
  if (lstm)
    arguments.push_back(floats(s.input(3)));
  else
    form.push_back(p.linear_before_reset ? "true" : "false");
  arguments.push_back(floats(y));
  return std::string("nsk::codegen::") + (lstm ? "lstm<" : "gru<") + joined(form) + ">(" + joined(arguments) + ");";
}

std::string call_writer::small_call(const step_view& s) {
  if (s.op() == op::fully_connected) return dense(s);
  if (s.op() == op::unary) return unary(s);
  if (s.op() == op::binary) return binary(s);
  if (s.op() == op::copy) return copy(s);
  if (s.op() == op::recurrent) return recurrent(s);
  return "";
}

std::string call_writer::call(const step_view& s) {
  if (impl::has_half_weights(s))
    refuse("nsk codegen has no form for float16 weights, which step '" + std::string(s.name()) +
           "' has: convert the model without --weights fp16, or run it with nsk::session.");
  if (impl::has_int8_weights(s))
    refuse("nsk codegen has no form for int8 weights, which step '" + std::string(s.name()) +
           "' has: convert the model without --weights w8, or run it with nsk::session.");
  if (impl::is_float_operator_on_bytes(s))
    refuse("nsk codegen has no form for stored integers, which step '" + std::string(s.name()) +
           "' has: run the model with nsk::session.");
  const std::string text = small ? small_call(s) : "";
  return text.empty() ? kernel_call(s) : text;
}

}
