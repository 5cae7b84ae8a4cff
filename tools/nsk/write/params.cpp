// SPDX-License-Identifier: MIT
#include "write/params.hpp"
#include <type_traits>
#include <vector>
#include "errors.hpp"

namespace nsk::tool {
namespace {

using builder = flatbuffers::FlatBufferBuilder;
using epilogue_offset = flatbuffers::Offset<format::Epilogue>;

/// A number that has 16 bits in the file.
std::uint16_t u16(std::int64_t v) {
  if (v < 0 || v > 65535)
    refuse("a kernel, stride, dilation, pad or number of taps is " + std::to_string(v) +
           ", but files hold 0 to 65535. Export the model with smaller windows");
  return static_cast<std::uint16_t>(v);
}
std::uint8_t u8(std::int32_t v) {
  if (v < 0 || v > 255) refuse("a stored number is " + std::to_string(v) + ", but bytes hold 0 to 255: report this");
  return static_cast<std::uint8_t>(v);
}
std::int16_t i16(std::int32_t v) {
  if (v < -128 || v > 128) refuse("weights have an offset of " + std::to_string(v) + ", beyond 128: report this");
  return static_cast<std::int16_t>(v);
}
std::uint32_t u32(std::int32_t v) { return static_cast<std::uint32_t>(v); }

format::Window window_of(const window& w) {
  return {u16(w.kernel_h),   u16(w.kernel_w),   u16(w.stride_h), u16(w.stride_w),
          u16(w.dilation_h), u16(w.dilation_w), u16(w.pad_top),  u16(w.pad_left)};
}

/// A number on its way to a field of whatever type. Refuses one that the field cannot hold.
template <class T>
struct stored {
  T value;
  template <class Field>
  operator Field() const {
    const auto field = static_cast<Field>(value);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (static_cast<T>(field) != value || (value < T{}) != (field < Field{}))
        refuse("a parameter of a step is " + std::to_string(value) + ", which the field of the file cannot hold");
    }
    return field;
  }
};

// Operators with a window, an epilogue or a list: one function each. Those that take an epilogue have a field for it.
auto write(builder& b, const conv_2d_params& p, epilogue_offset e) {
  const format::Window w = window_of(p.w);
  return format::CreateConv2D(b, &w, u32(p.groups), static_cast<format::ConvAlgorithm>(p.algorithm), e);
}
auto write(builder& b, const depthwise_conv_2d_params& p, epilogue_offset e) {
  const format::Window w = window_of(p.w);
  return format::CreateDepthwiseConv2D(b, &w, e);
}
auto write(builder& b, const fully_connected_params&, epilogue_offset e) { return format::CreateFullyConnected(b, e); }
auto write(builder& b, const mat_mul_params& p, epilogue_offset e) {
  return format::CreateMatMul(b, e, p.shared_right);
}
auto write(builder& b, const pool_2d_params& p) {
  const format::Window w = window_of(p.w);
  return format::CreatePool2D(b, static_cast<format::PoolKind>(p.kind), &w, p.count_include_pad, u16(p.pad_bottom),
                              u16(p.pad_right));
}
auto write(builder& b, const quantized_conv_2d_params& p) {
  const format::Window w = window_of(p.w);
  return format::CreateQuantizedConv2D(b, &w, u32(p.groups), p.whole_rows, u8(p.input_zero), u8(p.zero), u8(p.low),
                                       u8(p.high), p.residual_scale, u8(p.residual_zero), i16(p.weight_offset));
}
auto write(builder& b, const quantized_depthwise_conv_2d_params& p) {
  const format::Window w = window_of(p.w);
  return format::CreateQuantizedDepthwiseConv2D(b, &w, u8(p.input_zero), u8(p.zero), u8(p.low), u8(p.high),
                                                i16(p.weight_offset));
}
auto write(builder& b, const integer_conv_2d_params& p, epilogue_offset e) {
  const format::Window w = window_of(p.w);
  return format::CreateIntegerConv2D(b, &w, u32(p.groups), p.whole_rows, p.real, e);
}
auto write(builder& b, const unary_params&, epilogue_offset e) { return format::CreateUnary(b, e); }
auto write(builder& b, const binary_params& p, epilogue_offset e) {
  return format::CreateBinary(b, static_cast<format::BinaryKind>(p.kind), e);
}
auto write(builder& b, const reduce_params& p, epilogue_offset e) {
  return format::CreateReduce(b, static_cast<format::ReduceKind>(p.kind), e);
}
auto write(builder& b, const recurrent_params& p) {
  std::vector<std::uint8_t> functions;
  std::vector<float> parameters;
  const std::int32_t each = recurrent_functions(p.kind);
  for (std::int32_t i = 0; i < p.gate_count; ++i) {
    const recurrent_gate& g = p.gate[i / each][i % each];
    functions.push_back(static_cast<std::uint8_t>(g.fn));
    parameters.insert(parameters.end(), {g.alpha, g.beta});
  }
  const auto function_list = b.CreateVector(functions);
  const auto parameter_list = b.CreateVector(parameters);
  return format::CreateRecurrent(b, static_cast<format::RecurrentKind>(p.kind), static_cast<std::uint8_t>(p.reverse),
                                 p.has_peephole, p.has_lengths, p.input_forget, p.linear_before_reset, p.clip,
                                 function_list, parameter_list, p.cell_clip);
}

/// Nothing where nothing happens to the result: an epilogue that is absent means that.
epilogue_offset write_epilogue(builder& b, const epilogue_params& e) {
  const bool does_nothing = e.fn == function::identity && !e.activation_first && e.alpha == 0 && e.beta == 0 &&
                            e.residual == -1 && e.slope == -1;
  if (does_nothing) return 0;
  return format::CreateEpilogue(b, static_cast<format::Function>(e.fn), e.alpha, e.beta, e.activation_first, e.residual,
                                e.slope);
}

/// By the function above, with the epilogue where the operator has one; else by `create` of its fields.
template <class Params, class Create>
auto write_as(builder& b, const Params& p, const epilogue_params& e, const Create&, int) -> decltype(write(b, p, {})) {
  return write(b, p, write_epilogue(b, e));
}
template <class Params, class Create>
auto write_as(builder& b, const Params& p, const epilogue_params&, const Create&, int) -> decltype(write(b, p)) {
  return write(b, p);
}
template <class Params, class Create>
auto write_as(builder&, const Params& p, const epilogue_params&, const Create& create, long) {
  if constexpr (std::is_empty_v<Params>) {
    return create();
  } else {
    return p.to([&](auto... fields) { return create(stored<decltype(fields)>{fields}...); });
  }
}

}

flatbuffers::Offset<void> write_params(builder& b, const plan_step& s) {
  switch (s.kind()) {
#define NSK_WRITE(name, Table)                                                               \
  case op::name: {                                                                           \
    const auto create = [&](auto... fields) { return format::Create##Table(b, fields...); }; \
    return write_as(b, s.p.as<op::name>(), s.e, create, 0).Union();                          \
  }
    NSK_OP_LIST(NSK_WRITE)
#undef NSK_WRITE
    case op::none: break;
  }
  return {};
}

std::vector<std::uint8_t> params_bytes(const plan_step& s) {
  builder b;
  b.Finish(flatbuffers::Offset<flatbuffers::Table>(write_params(b, s).o));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

}
