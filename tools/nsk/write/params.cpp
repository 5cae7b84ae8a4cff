// SPDX-License-Identifier: MIT
#include "write/params.hpp"
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
std::uint32_t u32(std::int32_t v) { return static_cast<std::uint32_t>(v); }
std::uint8_t u8(std::int32_t v) { return static_cast<std::uint8_t>(v); }

format::Window window_of(const window& w) {
  return {u16(w.kernel_h),   u16(w.kernel_w),   u16(w.stride_h), u16(w.stride_w),
          u16(w.dilation_h), u16(w.dilation_w), u16(w.pad_top),  u16(w.pad_left)};
}

// One function per operator. Those that take an epilogue have a field for it.
auto write(builder& b, const conv_2d_params& p, epilogue_offset e) {
  const format::Window w = window_of(p.w);
  return format::CreateConv2D(b, &w, u32(p.groups), static_cast<format::ConvAlgorithm>(p.algorithm), e);
}
auto write(builder& b, const depthwise_conv_2d_params& p, epilogue_offset e) {
  const format::Window w = window_of(p.w);
  return format::CreateDepthwiseConv2D(b, &w, e);
}
auto write(builder& b, const fully_connected_params&, epilogue_offset e) { return format::CreateFullyConnected(b, e); }
auto write(builder& b, const pack_panels_params&) { return format::CreatePackPanels(b); }
auto write(builder& b, const mat_mul_params& p, epilogue_offset e) {
  return format::CreateMatMul(b, e, p.shared_right);
}
auto write(builder& b, const pool_2d_params& p) {
  const format::Window w = window_of(p.w);
  return format::CreatePool2D(b, static_cast<format::PoolKind>(p.kind), &w, p.count_include_pad, u16(p.pad_bottom),
                              u16(p.pad_right));
}
auto write(builder& b, const unary_params&, epilogue_offset e) { return format::CreateUnary(b, e); }
auto write(builder& b, const binary_params& p, epilogue_offset e) {
  return format::CreateBinary(b, static_cast<format::BinaryKind>(p.kind), e);
}
auto write(builder& b, const copy_params&) { return format::CreateCopy(b); }
auto write(builder& b, const fill_params& p) { return format::CreateFill(b, p.value); }
auto write(builder& b, const resize_2d_params& p) {
  return format::CreateResize2D(b, u16(p.row_taps), u16(p.column_taps));
}
auto write(builder& b, const reduce_params& p, epilogue_offset e) {
  return format::CreateReduce(b, static_cast<format::ReduceKind>(p.kind), e);
}
auto write(builder& b, const softmax_params& p) { return format::CreateSoftmax(b, u8(p.axis), p.log); }
auto write(builder& b, const cast_params&) { return format::CreateCast(b); }
auto write(builder& b, const compare_params& p) {
  return format::CreateCompare(b, static_cast<format::CompareKind>(p.kind));
}
auto write(builder& b, const select_params&) { return format::CreateSelect(b); }
auto write(builder& b, const arithmetic_params& p) {
  return format::CreateArithmetic(b, static_cast<format::ArithmeticKind>(p.kind));
}
auto write(builder& b, const gather_elements_params& p) { return format::CreateGatherElements(b, u8(p.axis)); }
auto write(builder& b, const gather_params& p) { return format::CreateGather(b, u8(p.axis)); }
auto write(builder& b, const arg_reduce_params& p) {
  return format::CreateArgReduce(b, u8(p.axis), static_cast<format::ArgReduceKind>(p.kind), p.last);
}
auto write(builder& b, const top_k_params& p) { return format::CreateTopK(b, u8(p.axis), p.smallest); }
auto write(builder& b, const non_max_suppression_params& p) {
  return format::CreateNonMaxSuppression(b, p.most_per_class, p.iou_threshold, p.score_threshold, p.center_point_box);
}
auto write(builder& b, const layer_normalization_params& p) {
  return format::CreateLayerNormalization(b, p.epsilon, p.centre);
}
auto write(builder& b, const local_response_normalization_params& p) {
  return format::CreateLocalResponseNormalization(b, u32(p.size), p.alpha, p.beta, p.bias);
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
auto write(builder& b, const random_params& p) {
  return format::CreateRandom(b, static_cast<format::RandomKind>(p.kind), p.scale, p.offset, p.stream);
}
auto write(builder& b, const tree_ensemble_params& p) {
  return format::CreateTreeEnsemble(b, static_cast<format::TreeAggregate>(p.aggregate));
}

/// With the epilogue, where the operator has one.
template <class Params>
auto write_with(builder& b, const Params& p, const epilogue_params& e, int) -> decltype(write(b, p, {})) {
  return write(b, p,
               format::CreateEpilogue(b, static_cast<format::Function>(e.fn), e.alpha, e.beta, e.activation_first,
                                      e.residual, e.slope));
}
template <class Params>
auto write_with(builder& b, const Params& p, const epilogue_params&, long) -> decltype(write(b, p)) {
  return write(b, p);
}

}

flatbuffers::Offset<void> write_params(builder& b, const plan_step& s) {
  switch (s.kind()) {
#define NSK_WRITE(name, Table) \
  case op::name: return write_with(b, s.p.as<op::name>(), s.e, 0).Union();
    NSK_OP_LIST(NSK_WRITE)
#undef NSK_WRITE
    case op::none: break;
  }
  return {};
}

}
