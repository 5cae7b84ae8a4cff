// SPDX-License-Identifier: MIT
// Well-formed files with invalid content: one defect at a time, each refused with the reason that fits, at the place
// where it is.
#include <doctest/doctest.h>
#include "sample_plans.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::cnn_sample;
namespace format = nsk::format;

nsk::status open_plan(const test::plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

struct invalid_case {
  const char* name;
  status_code code;
  void (*apply)(cnn_sample&);
};

constexpr auto stem = cnn_sample::stem_step;
constexpr auto deep = cnn_sample::deep_step;
constexpr auto point = cnn_sample::point_step;
constexpr auto copy = cnn_sample::copy_step;
constexpr auto mean = cnn_sample::mean_step;
constexpr auto dense = cnn_sample::dense_step;
constexpr auto softmax = cnn_sample::softmax_step;

test::buffer_spec& buffer_of(cnn_sample& s, std::uint32_t tensor) {
  return s.plan.buffers[s.plan.tensors[tensor].buffer];
}

const invalid_case invalid_cases[] = {
    // Memory.
    {"arena not a multiple of 64", status_code::bad_buffer, [](cnn_sample& s) { s.plan.arena_bytes += 4; }},
    {"arena without its pad", status_code::bad_buffer, [](cnn_sample& s) { s.plan.arena_bytes -= 64; }},
    {"arena of astronomic size", status_code::bad_buffer, [](cnn_sample& s) { s.plan.arena_bytes = ~std::uint64_t{63}; }},
    {"lane of astronomic size", status_code::bad_buffer, [](cnn_sample& s) { s.plan.lane_bytes = ~std::uint64_t{63}; }},
    {"no arena", status_code::bad_buffer, [](cnn_sample& s) { s.plan.arena_bytes = 0; }},
    {"buffer past the arena", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.y).offset += 64; }},
    {"buffer offset wraps around", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.y).offset = ~std::uint64_t{63}; }},
    {"buffer size wraps around", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.wide).bytes = ~std::uint64_t{0}; }},
    {"buffer misaligned", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).offset += 4; }},
    {"constant past the weights", status_code::bad_buffer, [](cnn_sample& s) { s.plan.buffers.back().offset += 64; }},
    {"unknown storage", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).storage = static_cast<format::Storage>(5); }},
    {"buffer ends before it begins", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).first_step = 4; }},
    {"buffer outlives the plan", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).last_step = 8; }},
    {"live buffers overlap", status_code::buffers_overlap, [](cnn_sample& s) { buffer_of(s, s.deep).offset = buffer_of(s, s.stem).offset; }},
    {"live buffers overlap by the last bytes", status_code::buffers_overlap,
     [](cnn_sample& s) { buffer_of(s, s.stem).bytes = buffer_of(s, s.deep).offset - buffer_of(s, s.stem).offset + 1; }},
    // Tensors.
    {"buffer index", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].buffer = 1000; }},
    {"rank 0", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].shape.clear(), s.plan.tensors[s.deep].strides.clear(); }},
    {"rank 7", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].shape.resize(7, 1), s.plan.tensors[s.deep].strides.resize(7, 1); }},
    {"strides of another rank", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].strides.pop_back(); }},
    {"length 0", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].shape[1] = 0; }},
    {"negative length", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].shape[1] = -8; }},
    {"shape product overflows", status_code::bad_tensor,
     [](cnn_sample& s) { s.plan.tensors[s.deep].shape = {65536, 65536, 65536, 65536}; }},
    {"shape product wraps to something small", status_code::bad_tensor,
     [](cnn_sample& s) { s.plan.tensors[s.deep].shape = {0x40000000, 4, 4, 16}; }},
    {"type", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].type = static_cast<format::DataType>(8); }},
    {"packing", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].packing = static_cast<format::Packing>(6); }},
    {"stride of astronomic size", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.deep].strides[1] = std::int64_t{1} << 62; }},
    {"stride too large", status_code::tensor_outside_buffer, [](cnn_sample& s) { s.plan.tensors[s.deep].strides[1] += 16; }},
    {"stride negative", status_code::tensor_outside_buffer, [](cnn_sample& s) { s.plan.tensors[s.deep].strides[1] = -128; }},
    {"offset misaligned", status_code::bad_tensor, [](cnn_sample& s) { s.plan.tensors[s.wide_right].offset += 2; }},
    {"offset past the buffer", status_code::tensor_outside_buffer, [](cnn_sample& s) { s.plan.tensors[s.wide_right].offset += 4; }},
    {"offset wraps around", status_code::tensor_outside_buffer, [](cnn_sample& s) { s.plan.tensors[s.wide_right].offset = ~std::uint64_t{3}; }},
    {"border before the buffer", status_code::tensor_outside_buffer, [](cnn_sample& s) { s.plan.tensors[s.stem].border.top = 2; }},
    {"border after the buffer", status_code::tensor_outside_buffer, [](cnn_sample& s) { s.plan.tensors[s.stem].border.bottom = 2; }},
    {"border of an integer tensor", status_code::bad_border, [](cnn_sample& s) { s.plan.tensors[s.stem].type = format::DataType::int32; }},
    {"border of a matrix", status_code::bad_border, [](cnn_sample& s) { s.plan.tensors[s.logits].border.left = 1; }},
    {"packed tensor in the arena", status_code::bad_weights, [](cnn_sample& s) { s.plan.tensors[s.logits].packing = format::Packing::panels; }},
    // Ports.
    {"input tensor index", status_code::bad_port, [](cnn_sample& s) { s.plan.inputs[0].tensor = 1000; }},
    {"output is an arena tensor", status_code::bad_port, [](cnn_sample& s) { s.plan.outputs[0].tensor = s.logits; }},
    {"output ends early", status_code::bad_port, [](cnn_sample& s) { buffer_of(s, s.y).last_step = 6; }},
    {"input begins late", status_code::bad_port, [](cnn_sample& s) { buffer_of(s, s.x).first_step = 1; }},
    {"input has gaps", status_code::bad_port, [](cnn_sample& s) { s.plan.tensors[s.x].strides = {192, 16, 2, 1}; }},
    {"input smaller than its buffer", status_code::bad_port, [](cnn_sample& s) { s.plan.tensors[s.x].shape[1] = 7; }},
    {"input with another number", status_code::bad_port, [](cnn_sample& s) { buffer_of(s, s.x).index = 1; }},
    {"second buffer of an input", status_code::bad_buffer,
     [](cnn_sample& s) { buffer_of(s, s.deep).storage = format::Storage::input; }},
    {"buffer of a state that is not there", status_code::bad_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).storage = format::Storage::state; }},
    {"source axes are no permutation", status_code::bad_port,
     [](cnn_sample& s) { s.plan.inputs[0].source_shape = {1, 3, 8, 8}, s.plan.inputs[0].source_axes = {0, 2, 2, 1}; }},
    {"source axis out of range", status_code::bad_port,
     [](cnn_sample& s) { s.plan.inputs[0].source_shape = {1, 3, 8, 8}, s.plan.inputs[0].source_axes = {0, 2, 3, 4}; }},
    {"source shape of other size", status_code::bad_port, [](cnn_sample& s) { s.plan.inputs[0].source_shape = {1, 3, 8, 9}; }},
    {"source shape wraps around", status_code::bad_port,
     [](cnn_sample& s) { s.plan.inputs[0].source_shape = {std::int64_t{1} << 62, 4, 3, 64}; }},
    {"mean without deviation", status_code::bad_port, [](cnn_sample& s) { s.plan.inputs[0].mean = {1}; }},
    {"check vector of another size", status_code::bad_check, [](cnn_sample& s) { s.plan.checks.push_back({{{1, 2}}, {{3}}, 0}); }},
    {"check vector without inputs", status_code::bad_check, [](cnn_sample& s) { s.plan.checks.push_back({}); }},
    // Steps: structure.
    {"no operator", status_code::unknown_op, [](cnn_sample& s) { s.plan.steps[stem].op = format::Operator::NONE; }},
    {"operator of the future", status_code::unknown_op, [](cnn_sample& s) { s.plan.steps[stem].op = static_cast<format::Operator>(static_cast<int>(format::Operator::MAX) + 1); }},
    {"operator without table", status_code::unknown_op, [](cnn_sample& s) { s.plan.steps[stem].has_op = false; }},
    {"tensor index", status_code::bad_index, [](cnn_sample& s) { s.plan.steps[deep].inputs[0] = 1000; }},
    {"output index", status_code::bad_index, [](cnn_sample& s) { s.plan.steps[deep].outputs[0] = ~0u; }},
    {"no output", status_code::bad_arity, [](cnn_sample& s) { s.plan.steps[deep].outputs.clear(); }},
    {"two outputs", status_code::bad_arity, [](cnn_sample& s) { s.plan.steps[deep].outputs.push_back(s.y); }},
    {"input missing", status_code::bad_arity, [](cnn_sample& s) { s.plan.steps[deep].inputs.pop_back(); }},
    {"input too many", status_code::bad_arity, [](cnn_sample& s) { s.plan.steps[deep].inputs.push_back(s.x); }},
    {"residual that is not there", status_code::bad_arity, [](cnn_sample& s) { s.plan.steps[deep].epilogue.residual = 2; }},
    {"residual is the weights", status_code::bad_arity,
     [](cnn_sample& s) { s.plan.steps[deep].inputs.push_back(s.x), s.plan.steps[deep].epilogue.residual = 1; }},
    {"residual below -1", status_code::bad_arity, [](cnn_sample& s) { s.plan.steps[deep].epilogue.residual = -5; }},
    // Steps: meaning.
    {"residual of another shape", status_code::bad_step,
     [](cnn_sample& s) { s.plan.steps[deep].inputs.push_back(s.x), s.plan.steps[deep].epilogue.residual = 2; }},
    {"prelu without slope", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[deep].epilogue.function = format::Function::prelu; }},
    {"slope of another length", status_code::bad_step,
     [](cnn_sample& s) {
       const std::uint32_t slope = s.plan.add_constant("slope", std::vector<float>(15, 0.5f));
       s.plan.steps[deep].inputs.push_back(slope);
       s.plan.steps[deep].epilogue.function = format::Function::prelu;
       s.plan.steps[deep].epilogue.slope = 2;
     }},
    {"function of the future", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[deep].epilogue.function = static_cast<format::Function>(nsk::function_count); }},
    {"convolution without window", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].has_window = false; }},
    {"kernel 0", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].window = format::Window(0, 3, 1, 1, 1, 1, 1, 1); }},
    {"stride 0", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].window = format::Window(3, 3, 0, 1, 1, 1, 1, 1); }},
    {"dilation 0", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].window = format::Window(3, 3, 1, 1, 1, 0, 1, 1); }},
    {"window far outside", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].window = format::Window(3, 3, 65535, 1, 1, 1, 1, 1); }},
    {"kernel larger than its weights", status_code::bad_weights, [](cnn_sample& s) { s.plan.steps[stem].window = format::Window(3, 4, 1, 1, 1, 1, 1, 1); }},
    {"kernel whose depth overflows", status_code::bad_step,
     [](cnn_sample& s) { s.plan.steps[stem].window = format::Window(65535, 65535, 1, 1, 1, 1, 1, 1); }},
    {"channels larger than the weights", status_code::bad_weights,
     [](cnn_sample& s) { s.plan.steps[point].inputs[1] = s.plan.steps[deep].inputs[1]; }},
    {"weights that are not packed", status_code::bad_weights,
     [](cnn_sample& s) { s.plan.tensors[s.plan.steps[stem].inputs[1]].packing = format::Packing::plain; }},
    {"weights packed for Winograd", status_code::bad_weights,
     [](cnn_sample& s) { s.plan.tensors[s.plan.steps[stem].inputs[1]].packing = format::Packing::winograd4; }},
    {"Winograd with plain panels", status_code::bad_weights, [](cnn_sample& s) { s.plan.steps[stem].algorithm = format::ConvAlgorithm::winograd4; }},
    {"Winograd of a 1x1 kernel", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[point].algorithm = format::ConvAlgorithm::winograd2; }},
    {"algorithm of the future", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].algorithm = static_cast<format::ConvAlgorithm>(3); }},
    {"groups 0", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].groups = 0; }},
    {"groups do not divide", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[stem].groups = 2; }},
    {"depthwise changes channels", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[deep].inputs[0] = s.x; }},
    {"copy between shapes", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[copy].inputs[0] = s.x; }},
    {"copy between types", status_code::bad_step, [](cnn_sample& s) { s.plan.tensors[s.wide_right].type = format::DataType::int32; }},
    {"integer input of a convolution", status_code::bad_step, [](cnn_sample& s) { s.plan.tensors[s.x].type = format::DataType::int32; }},
    {"reduce to another length", status_code::bad_step, [](cnn_sample& s) { s.plan.tensors[s.mean].shape[3] = 39; }},
    {"reduce kind of the future", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[mean].reduce = static_cast<format::ReduceKind>(6); }},
    {"dense with another depth", status_code::bad_weights,
     [](cnn_sample& s) { s.plan.steps[dense].inputs[1] = s.plan.steps[deep].inputs[1]; }},
    {"dense with other rows", status_code::bad_step,
     [](cnn_sample& s) { s.plan.tensors[s.flat].shape = {2, 20}, s.plan.tensors[s.flat].strides = {20, 1}; }},
    {"softmax axis", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[softmax].axis = 2; }},
    {"softmax of another shape", status_code::bad_step, [](cnn_sample& s) { s.plan.steps[softmax].inputs[0] = s.flat; }},
    {"output repeats an element", status_code::bad_step, [](cnn_sample& s) { s.plan.tensors[s.deep].strides[1] = 0; }},
    {"output overlaps itself", status_code::bad_step, [](cnn_sample& s) { s.plan.tensors[s.deep].strides = {1024, 120, 16, 1}; }},
    {"last stride of an image", status_code::bad_step, [](cnn_sample& s) { s.plan.tensors[s.deep].strides = {1024, 1, 8, 64}; }},
    // Tiles and scratch.
    {"tile count too large", status_code::bad_tile, [](cnn_sample& s) { s.plan.steps[stem].tile_count = 4; }},
    {"tile count too small", status_code::bad_tile, [](cnn_sample& s) { s.plan.steps[stem].tile_count = 2; }},
    {"tile count 0", status_code::bad_tile, [](cnn_sample& s) { s.plan.steps[stem].tile_count = 0; }},
    {"tile cuts a panel", status_code::bad_tile, [](cnn_sample& s) { s.plan.steps[point].tile.channels = 8; }},
    {"tile cuts a softmax line", status_code::bad_tile, [](cnn_sample& s) { s.plan.steps[softmax].tile.pixels = 1, s.plan.steps[softmax].tile_count = 2; }},
    {"no scratch", status_code::bad_scratch, [](cnn_sample& s) { s.plan.steps[stem].scratch_bytes = 0; }},
    {"scratch one byte short", status_code::bad_scratch, [](cnn_sample& s) { s.plan.steps[stem].scratch_bytes -= 1; }},
    {"scratch larger than the lane", status_code::bad_scratch, [](cnn_sample& s) { s.plan.lane_bytes = 64; }},
    // Data flow.
    {"reads a buffer before its life", status_code::dead_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).first_step = 2; }},
    {"reads a buffer after its life", status_code::dead_buffer, [](cnn_sample& s) { buffer_of(s, s.deep).last_step = 2; }},
    {"reads what a later step writes", status_code::read_before_write, [](cnn_sample& s) { std::swap(s.plan.steps[point], s.plan.steps[copy]); buffer_of(s, s.wide).first_step = 1; s.plan.steps[deep].inputs = {s.wide_right, s.plan.steps[deep].inputs[1]}; s.plan.steps[deep].window = format::Window(1, 1, 1, 1, 1, 1, 0, 0); }},
    {"reads its own output", status_code::read_before_write, [](cnn_sample& s) { s.plan.steps[deep].inputs[0] = s.deep; }},
    {"reads half of a concatenation that is not there", status_code::read_before_write,
     [](cnn_sample& s) { s.plan.steps[copy].outputs[0] = s.plan.add_dense("elsewhere", {1, 8, 8, 16}, 3, 3); }},
    {"reads a border that nothing wrote", status_code::read_before_write,
     [](cnn_sample& s) {
       const std::uint32_t bare = s.plan.add_tensor("bare", {1, 8, 8, 16}, s.plan.tensors[s.stem].buffer);
       s.plan.tensors[bare].strides = s.plan.tensors[s.stem].strides;
       s.plan.tensors[bare].offset = s.plan.tensors[s.stem].offset;
       s.plan.steps[stem].outputs[0] = bare;
     }},
    {"output never written", status_code::read_before_write, [](cnn_sample& s) { s.plan.steps.pop_back(); for (auto& b : s.plan.buffers) if (b.last_step == 7) b.last_step = 6; }},
    {"slices overlap", status_code::bad_overlap, [](cnn_sample& s) { s.plan.tensors[s.wide_right].offset -= 4; }},
    {"writes an input", status_code::read_only, [](cnn_sample& s) { s.plan.steps[softmax].outputs[0] = s.plan.add_tensor("x2", {1, 10}, s.plan.tensors[s.x].buffer); }},
    {"writes a constant", status_code::read_only, [](cnn_sample& s) { s.plan.steps[softmax].outputs[0] = s.plan.add_tensor("w2", {1, 10}, s.plan.tensors.back().buffer); }},
    {"convolution over its own input", status_code::bad_overlap,
     [](cnn_sample& s) {
       s.plan.tensors[s.stem].border = {};
       s.plan.steps[deep].outputs[0] = s.plan.add_tensor("again", {1, 8, 8, 16}, s.plan.tensors[s.stem].buffer);
     }},
};

TEST_CASE("open: every invalid file is refused for its own reason") {
  REQUIRE(open_plan(test::make_cnn().plan));
  for (const invalid_case& l : invalid_cases) {
    cnn_sample s = test::make_cnn();
    l.apply(s);
    const nsk::status status = open_plan(s.plan);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}

TEST_CASE("open: invalid states") {
  using test::plan_spec;
  struct invalid_state {
    const char* name;
    status_code code;
    void (*apply)(plan_spec&);
  };
  const invalid_state invalid_states[] = {
      {"tensor index", status_code::bad_state, [](plan_spec& p) { p.states[0].tensor = 99; }},
      {"next index", status_code::bad_state, [](plan_spec& p) { p.states[0].next = 99; }},
      {"initial index", status_code::bad_state, [](plan_spec& p) { p.states[0].initial = 99; }},
      {"initial below -1", status_code::bad_state, [](plan_spec& p) { p.states[0].initial = -2; }},
      {"initial is no constant", status_code::bad_state, [](plan_spec& p) { p.states[0].initial = 0; }},
      {"next ends early", status_code::bad_state,
       [](plan_spec& p) { p.buffers[p.tensors[p.states[0].next].buffer].last_step = 2; }},
      {"next is never written", status_code::read_before_write,
       [](plan_spec& p) {
         p.states[0].next = p.add_dense("nowhere", {1, 6}, 1, 3);
       }},
      {"next is a constant", status_code::bad_state,
       [](plan_spec& p) { p.states[0].next = static_cast<std::uint32_t>(p.states[0].initial); }},
      {"state is no state", status_code::bad_state, [](plan_spec& p) { p.states[0].tensor = p.inputs[0].tensor; }},
      {"state ends", status_code::bad_state,
       [](plan_spec& p) { p.buffers[p.tensors[p.states[0].tensor].buffer].last_step = 2; }},
      {"next of another shape", status_code::bad_state,
       [](plan_spec& p) {
         p.states[0].next = p.add_dense("short", {1, 5}, 1, 3);
       }},
  };
  REQUIRE(open_plan(test::make_recurrent(false, true)));
  REQUIRE(open_plan(test::make_recurrent(true, false)));
  for (const invalid_state& l : invalid_states) {
    test::plan_spec p = test::make_recurrent(false, true);
    l.apply(p);
    const nsk::status status = open_plan(p);
    CHECK_MESSAGE(status.code() == l.code, std::string(l.name) << ": " << status.name() << " at " << status.where());
  }
}

/// x [1,4,4,8] resized to [1,8,8,8] by tables of one tap.
test::plan_spec make_resize() {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 4, 4, 8}, 1), y = p.add_output("y", {1, 8, 8, 8}, 0, 1);
  const std::uint32_t index =
      p.add_constant("index", std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 3, 3}, format::DataType::int32);
  const std::uint32_t weight = p.add_constant("weight", std::vector<float>(8, 1.0f));
  p.add_step(format::Operator::Resize2D, {x, index, weight, index, weight}, y).scratch_bytes = 4224;
  p.lane_bytes = 4224;
  return p;
}

TEST_CASE("open: indices in constants stay inside what they index") {
  REQUIRE(open_plan(make_resize()));
  for (const std::int32_t wrong : {-1, 4, 0x7fffffff, -0x7fffffff - 1}) {
    test::plan_spec p = make_resize();
    std::memcpy(p.weights.data() + 5 * 4, &wrong, 4);
    CHECK(open_plan(p).code() == status_code::bad_step);
  }
  test::plan_spec short_table = make_resize();
  short_table.steps[0].row_taps = 2;
  CHECK(open_plan(short_table).code() == status_code::bad_step);
  test::plan_spec no_scratch = make_resize();
  no_scratch.steps[0].scratch_bytes = 64;
  CHECK(open_plan(no_scratch).code() == status_code::bad_scratch);
}

TEST_CASE("open: pooling windows touch the input") {
  const auto make_pool = [](format::Window w, std::int32_t out) {
    test::plan_spec p;
    const std::uint32_t x = p.add_input("x", {1, 4, 4, 8}, 1), y = p.add_output("y", {1, out, out, 8}, 0, 1);
    p.add_step(format::Operator::Pool2D, {x}, y).window = w;
    return p;
  };
  CHECK(open_plan(make_pool(format::Window(2, 2, 2, 2, 1, 1, 0, 0), 2)));
  CHECK(open_plan(make_pool(format::Window(3, 3, 2, 2, 1, 1, 1, 1), 2)));
  CHECK_FALSE(
      open_plan(make_pool(format::Window(2, 2, 2, 2, 1, 1, 0, 0), 3)));  // the third window begins behind the end
  CHECK_FALSE(open_plan(make_pool(format::Window(2, 2, 2, 2, 1, 1, 2, 2), 2)));  // the first one is in the padding
  CHECK_FALSE(open_plan(make_pool(format::Window(65535, 65535, 1, 1, 1, 1, 0, 0), 4)));
}

TEST_CASE("open: a thousand steps on one buffer, and tables that point at themselves, end soon") {
  test::plan_spec p;
  const int steps = 1000;
  const std::uint32_t x = p.add_input("x", {1, 4}, steps), y = p.add_output("y", {steps, 4}, 0, steps);
  for (int i = 0; i < steps; ++i) {
    const std::uint32_t row = p.add_tensor("row", {1, 4}, p.tensors[y].buffer);
    p.tensors[row].offset = static_cast<std::uint64_t>(16 * i);
    p.add_step(format::Operator::Copy, {x}, row);
  }
  CHECK(open_plan(p));
  p.variants = 20000;
  test::plan_spec aliased = p;
  aliased.variants = 1;
  // One variant that is listed again and again: tables are counted, not places.
  flatbuffers::FlatBufferBuilder b;
  const auto variant = test::write_variant(b, aliased);
  const std::vector<flatbuffers::Offset<format::Variant>> many(20000, variant);
  b.Finish(format::CreateModelDirect(b, "plan_builder", "bomb", 42, &many));
  const test::aligned_bytes file = test::assemble(b.GetBufferPointer(), b.GetSize(), aliased.weights);
  nsk::model m;
  const nsk::status s = nsk::open({file.data(), file.size()}, m);
  CHECK((s.code() == status_code::bad_structure || s.code() == status_code::too_complex));
}

}
