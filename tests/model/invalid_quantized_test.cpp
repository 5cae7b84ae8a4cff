// SPDX-License-Identifier: MIT
// Invalid steps on stored integers: one number, type or constant at a time, each refused.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <doctest/doctest.h>
#include "quantized_plan.hpp"
#include <netsuke/model/open.hpp>
#include <netsuke/run/session.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
using test::step_spec;
namespace format = nsk::format;

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

using namespace test::quantized;

struct change {
  const char* name;
  status_code want;
  std::function<void(plan_spec&)> make;
};
test::tensor_spec& input(plan_spec& p, std::size_t i = 0) { return p.tensors[p.steps[0].inputs[i]]; }
test::tensor_spec& output(plan_spec& p) { return p.tensors[p.steps[0].outputs[0]]; }

void check_all(const std::function<plan_spec()>& valid, const std::vector<change>& changes) {
  const nsk::status good = open_plan(valid());
  CHECK_MESSAGE(good, good.name() << " at " << good.where());
  for (const change& c : changes) {
    plan_spec p = valid();
    c.make(p);
    const nsk::status s = open_plan(p);
    CHECK_MESSAGE(s.code() == c.want, std::string(c.name) << ": " << s.name() << " at " << s.where());
  }
}

const change k_scales[] = {
    {"scale 0", status_code::bad_step, [](plan_spec& p) { p.steps[0].scale = 0; }},
    {"negative scale", status_code::bad_step, [](plan_spec& p) { p.steps[0].scale = -1; }},
    {"subnormal scale", status_code::bad_step, [](plan_spec& p) { p.steps[0].scale = 1e-40f; }},
    {"infinite scale", status_code::bad_step,
     [](plan_spec& p) { p.steps[0].scale = std::numeric_limits<float>::infinity(); }},
    {"scale that is no number", status_code::bad_step, [](plan_spec& p) { p.steps[0].scale = std::nanf(""); }},
};
const change k_layers[] = {
    {"weights of floats", status_code::bad_weights, [](plan_spec& p) { input(p, 1).type = DataType::uint8; }},
    {"weights that are plain", status_code::bad_weights,
     [](plan_spec& p) { input(p, 1).packing = format::Packing::plain; }},
    {"weights in panels of floats", status_code::bad_weights,
     [](plan_spec& p) { input(p, 1).packing = format::Packing::panels; }},
    {"a byte too few", status_code::bad_weights, [](plan_spec& p) { --input(p, 1).shape[0]; }},
    {"input of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }},
    {"output of int8", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int8; }},
    {"limits in the wrong order", status_code::bad_step, [](plan_spec& p) { p.steps[0].low = 9, p.steps[0].high = 8; }},
    {"no window", status_code::bad_step, [](plan_spec& p) { p.steps[0].has_window = false; }},
    {"pixels that are not neighbours", status_code::bad_step,
     [](plan_spec& p) {
       p.steps[0].inputs[0] = test::add_view(p, p.steps[0].inputs[0], {1, 7, 8, 12}, {672, 8, 1, 56});
     }},
    {"scratch too small", status_code::bad_scratch, [](plan_spec& p) { --p.steps[0].scratch_bytes; }},
    {"offset of the weights below", status_code::bad_step, [](plan_spec& p) { p.steps[0].weight_offset = -129; }},
    {"offset of the weights above", status_code::bad_step, [](plan_spec& p) { p.steps[0].weight_offset = 129; }},
};
template <std::size_t N>
std::vector<change> with(const change (&common)[N], std::vector<change> own) {
  own.insert(own.end(), common, common + N);
  return own;
}

}  // namespace

TEST_CASE("open: invalid quantisation is refused") {
  for (const DataType type : {DataType::uint8, DataType::int8}) {
    const std::int16_t minimum = type == DataType::int8 ? -128 : 0;
    const auto valid = [&] {
      plan_spec p = quantize(type);
      p.steps[0].low = minimum;
      p.steps[0].high = static_cast<std::int16_t>(minimum + 255);
      return p;
    };
    check_all(valid,
              with(k_scales, {{"zero point below", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].zero = static_cast<std::int16_t>(minimum - 1); }},
                              {"zero point above", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].zero = static_cast<std::int16_t>(minimum + 256); }},
                              {"limit below", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].low = static_cast<std::int16_t>(minimum - 1); }},
                              {"limit above", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].high = static_cast<std::int16_t>(minimum + 256); }},
                              {"limits in the wrong order", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].low = 9, p.steps[0].high = 8; }}}));
    check_all([&] { return dequantize(type); },
              with(k_scales, {{"zero point below", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].zero = static_cast<std::int16_t>(minimum - 1); }},
                              {"zero point above", status_code::bad_step,
                               [&](plan_spec& p) { p.steps[0].zero = static_cast<std::int16_t>(minimum + 256); }}}));
  }
  CHECK(open_plan(quantize(DataType::int16)).code() == status_code::bad_step);
  CHECK(open_plan(dequantize(DataType::boolean)).code() == status_code::bad_step);
  CHECK(open_plan(quantize(DataType::uint8, {3, 4})).code() == status_code::bad_step);
  CHECK(open_plan(dequantize(DataType::uint8, {3, 4})).code() == status_code::bad_step);
}

TEST_CASE("open: invalid tables of bytes are refused") {
  CHECK(open_plan(table()).code() == status_code::ok);
  CHECK(open_plan(table(255)).code() == status_code::bad_weights);
  CHECK(open_plan(table(257)).code() == status_code::bad_weights);
  CHECK(open_plan(table(5 * 256)).code() == status_code::ok);  // one for each of five channels
  for (const std::int64_t entries : {3 * 256, 4 * 256, 5 * 256 - 1, 5 * 256 + 1, 6 * 256})
    CHECK(open_plan(table(entries)).code() == status_code::bad_weights);
  CHECK(open_plan(table(256, DataType::int8)).code() == status_code::bad_weights);
  plan_spec p = table();
  input(p).type = DataType::boolean;
  CHECK(open_plan(p).code() == status_code::bad_step);
  p = table();
  p.steps[0].inputs[0] = test::add_view(p, p.steps[0].inputs[0], {3, 4}, {5, 1});
  CHECK(open_plan(p).code() == status_code::bad_step);
}

TEST_CASE("open: invalid arithmetic of stored integers is refused") {
  const auto valid = [] {
    plan_spec p;
    const std::uint32_t a = p.add_input("a", {3, 5}, 1, DataType::uint8),
                        b = p.add_input("b", {3, 5}, 1, DataType::uint8);
    step_spec& s = p.add_step(Operator::QuantizedBinary, {a, b}, p.add_output("y", {3, 5}, 0, 1, DataType::uint8));
    s.alpha = s.beta = 1;
    return p;
  };
  check_all(
      valid,
      with(k_scales,
           {{"scale of a", status_code::bad_step, [](plan_spec& p) { p.steps[0].alpha = 0; }},
            {"scale of b", status_code::bad_step, [](plan_spec& p) { p.steps[0].beta = -1; }},
            {"division", status_code::bad_step, [](plan_spec& p) { p.steps[0].binary = format::BinaryKind::div; }},
            {"a kind that there is not", status_code::bad_step,
             [](plan_spec& p) { p.steps[0].binary = static_cast<format::BinaryKind>(99); }},
            {"limits in the wrong order", status_code::bad_step,
             [](plan_spec& p) { p.steps[0].low = 9, p.steps[0].high = 8; }},
            {"a of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }},
            {"b of booleans", status_code::bad_step, [](plan_spec& p) { input(p, 1).type = DataType::boolean; }},
            {"result of int8", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int8; }},
            {"a shorter", status_code::bad_step, [](plan_spec& p) {
               p.steps[0].inputs[0] = test::add_view(p, p.steps[0].inputs[0], {3, 4}, {5, 1});
             }}}));
}

TEST_CASE("open: invalid sums in fixed point are refused") {
  const auto valid = [] {
    plan_spec p;
    const std::uint32_t a = p.add_input("a", {3, 5}, 1, DataType::uint8),
                        b = p.add_input("b", {3, 5}, 1, DataType::uint8);
    step_spec& s = p.add_step(Operator::QuantizedBinary, {a, b}, p.add_output("y", {3, 5}, 0, 1, DataType::uint8));
    s.alpha = s.beta = s.scale = 0;
    s.multiplier = 1 << 21;
    s.shift = 20;
    return p;
  };
  check_all(valid,
            {{"shift below", status_code::bad_step, [](plan_spec& p) { p.steps[0].shift = 9; }},
             {"shift above", status_code::bad_step, [](plan_spec& p) { p.steps[0].shift = 32; }},
             {"no shift", status_code::bad_step, [](plan_spec& p) { p.steps[0].shift = 0; }},
             {"multiplier above", status_code::bad_step, [](plan_spec& p) { ++p.steps[0].multiplier; }},
             {"multiplier below", status_code::bad_step,
              [](plan_spec& p) { p.steps[0].multiplier = std::numeric_limits<std::int32_t>::min(); }},
             {"scale of a", status_code::bad_step, [](plan_spec& p) { p.steps[0].alpha = 1; }},
             {"scale of the result", status_code::bad_step, [](plan_spec& p) { p.steps[0].scale = 1; }},
             {"zero point of a", status_code::bad_step, [](plan_spec& p) { p.steps[0].input_zero = 1; }},
             {"difference", status_code::bad_step, [](plan_spec& p) { p.steps[0].binary = format::BinaryKind::sub; }},
             {"limits in the wrong order", status_code::bad_step,
              [](plan_spec& p) { p.steps[0].low = 9, p.steps[0].high = 8; }},
             {"a of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }}});
}

TEST_CASE("open: invalid convolutions of stored integers are refused") {
  check_all(convolution,
            with(k_layers,
                 {{"no groups", status_code::bad_step, [](plan_spec& p) { p.steps[0].groups = 0; }},
                  {"groups that do not divide", status_code::bad_step, [](plan_spec& p) { p.steps[0].groups = 5; }},
                  {"whole rows of groups", status_code::bad_step, [](plan_spec& p) { p.steps[0].whole_rows = true; }},
                  {"tiles that cut a panel of a group", status_code::bad_tile,
                   [](plan_spec& p) { p.steps[0].tile.channels = 16; }}}));
  check_all(
      convolution_of_rows,
      with(k_layers, {{"pixels of planes", status_code::bad_step,
                       [](plan_spec& p) {
                         p.steps[0].inputs[0] = test::add_view(p, p.steps[0].inputs[0], {1, 7, 8, 12}, {672, 84, 1, 7});
                       }},
                      {"dilation along rows", status_code::bad_step,
                       [](plan_spec& p) { p.steps[0].window = format::Window(3, 3, 1, 1, 1, 2, 1, 2); }}}));
}

TEST_CASE("open: invalid residuals of stored integers are refused") {
  const auto scale = [](float s) { return [s](plan_spec& p) { p.steps[0].residual_scale = s; }; };
  check_all(convolution_and_sum,
            with(k_layers,
                 {{"none by its scale", status_code::bad_arity, scale(0)},
                  {"negative scale", status_code::bad_step, scale(-1)},
                  {"subnormal scale", status_code::bad_step, scale(1e-40f)},
                  {"scale that is no number", status_code::bad_step, scale(std::nanf(""))},
                  {"scale beyond what int32 holds", status_code::bad_step, scale(1048577)},
                  {"none by its inputs", status_code::bad_arity, [](plan_spec& p) { p.steps[0].inputs.pop_back(); }},
                  {"residual of int8", status_code::bad_step, [](plan_spec& p) { input(p, 2).type = DataType::int8; }},
                  {"residual that is shorter", status_code::bad_step,
                   [](plan_spec& p) {
                     p.steps[0].inputs[2] = test::add_view(p, p.steps[0].inputs[2], {1, 7, 7, 40}, {2240, 320, 40, 1});
                   }},
                  {"residual whose channels are apart", status_code::bad_step, [](plan_spec& p) {
                     p.steps[0].inputs[2] = test::add_view(p, p.steps[0].inputs[2], {1, 7, 8, 40}, {2240, 8, 1, 56});
                   }}}));
}

TEST_CASE("open: invalid steps on bytes whose scale is computed are refused") {
  const change floats[] = {
      {"input of integers", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int32; }}};
  check_all([] { return dynamic_range(); }, with(floats, {{"result of integers", status_code::bad_step,
                                                           [](plan_spec& p) { output(p).type = DataType::int32; }}}));
  CHECK(open_plan(dynamic_range({3})).code() == status_code::bad_step);
  CHECK(open_plan(dynamic_range({1, 2})).code() == status_code::bad_step);
  check_all(
      dynamic_quantize,
      with(floats,
           {{"result of int8", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int8; }},
            {"scale of integers", status_code::bad_step, [](plan_spec& p) { input(p, 1).type = DataType::int32; }},
            {"zero point of integers", status_code::bad_step, [](plan_spec& p) { input(p, 2).type = DataType::int32; }},
            {"scale that is x", status_code::bad_step,
             [](plan_spec& p) { p.steps[0].inputs[1] = p.steps[0].inputs[0]; }},
            {"x shorter", status_code::bad_step, [](plan_spec& p) {
               p.steps[0].inputs[0] = test::add_view(p, p.steps[0].inputs[0], {3, 4}, {5, 1});
             }}}));
}

TEST_CASE("open: invalid sums of stored integers are refused") {
  const change common[] = {
      {"weights of floats", status_code::bad_weights, [](plan_spec& p) { input(p, 1).type = DataType::uint8; }},
      {"weights that are plain", status_code::bad_weights,
       [](plan_spec& p) { input(p, 1).packing = format::Packing::plain; }},
      {"a byte too few", status_code::bad_weights, [](plan_spec& p) { --input(p, 1).shape[0]; }},
      {"input of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }},
      {"zero point of integers", status_code::bad_step, [](plan_spec& p) { input(p, 2).type = DataType::int32; }},
      {"no zero point", status_code::bad_arity, [](plan_spec& p) { p.steps[0].inputs.pop_back(); }},
      {"no window", status_code::bad_step, [](plan_spec& p) { p.steps[0].has_window = false; }},
      {"scratch too small", status_code::bad_scratch, [](plan_spec& p) { --p.steps[0].scratch_bytes; }}};
  check_all(sums,
            with(common,
                 {{"no groups", status_code::bad_step, [](plan_spec& p) { p.steps[0].groups = 0; }},
                  {"whole rows of groups", status_code::bad_step, [](plan_spec& p) { p.steps[0].whole_rows = true; }},
                  {"result of floats", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::float32; }},
                  {"a function", status_code::bad_step,
                   [](plan_spec& p) { p.steps[0].epilogue.function = format::Function::tanh; }},
                  {"tiles that cut a panel of a group", status_code::bad_tile,
                   [](plan_spec& p) { p.steps[0].tile.channels = 16; }}}));
  check_all(
      real_sums,
      with(common,
           {{"result of integers", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int32; }},
            {"scale of integers", status_code::bad_step, [](plan_spec& p) { input(p, 3).type = DataType::int32; }},
            {"bias of integers", status_code::bad_step, [](plan_spec& p) { input(p, 4).type = DataType::int32; }},
            {"bias that is shorter", status_code::bad_step, [](plan_spec& p) { --input(p, 4).shape[0]; }},
            {"bias that is computed", status_code::bad_step,
             [](plan_spec& p) { p.steps[0].inputs[4] = p.add_input("b", {40}, 1); }},
            {"sums by the number of its inputs", status_code::bad_arity,
             [](plan_spec& p) { p.steps[0].real = false; }}}));
}

TEST_CASE("open: invalid means of stored integers are refused") {
  check_all(
      [] { return mean(); },
      with(k_scales, {{"input of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }},
                      {"output of int8", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int8; }},
                      {"limits in the wrong order", status_code::bad_step,
                       [](plan_spec& p) { p.steps[0].low = 9, p.steps[0].high = 8; }}}));
  const auto code = [](const shape& x, const shape& y) { return open_plan(mean(x, y)).code(); };
  CHECK(code({1, 1, 65793, 1}, {1, 1, 1, 1}) == status_code::ok);
  CHECK(code({1, 1, 65794, 1}, {1, 1, 1, 1}) == status_code::bad_step);
  CHECK(code({2, 7, 8, 12}, {2, 1, 1, 11}) == status_code::bad_step);
  CHECK(code({2, 7, 8, 12}, {1, 1, 1, 12}) == status_code::bad_step);
  CHECK(code({2, 7, 8, 12}, {2, 7, 1, 12}) == status_code::bad_step);
  CHECK(code({2, 56, 12}, {2, 1, 12}) == status_code::bad_step);
}

TEST_CASE("open: weights behind the end of a run are zeros") {
  // runs of 6 channels of a pixel, two quads each: bytes 6 and 7 are missing, in the second quad of every run
  const std::size_t quads = 18,
                    group = static_cast<std::size_t>(nsk::quad_panel_bytes(20, static_cast<std::int64_t>(quads)));
  const auto opened = [&](std::size_t at) {
    plan_spec p = convolution();
    p.weights[at] = std::byte{1};
    return open_plan(p).code();
  };
  const auto place = [&](std::size_t column, std::size_t quad, std::size_t byte) {
    return 4 * 24 * (quad + 2) + 4 * column + byte;  // 20 columns are one panel of 24
  };
  for (const std::size_t first : {std::size_t{0}, group})
    for (const std::size_t column : {0, 19, 23}) {
      CHECK(opened(first + place(column, 0, 3)) == status_code::ok);
      CHECK(opened(first + place(column, 1, 1)) == status_code::ok);
      CHECK(opened(first + place(column, 1, 2)) == status_code::bad_weights);
      CHECK(opened(first + place(column, 17, 3)) == status_code::bad_weights);
    }
}

TEST_CASE("open: invalid depthwise convolutions of stored integers are refused") {
  check_all(depthwise, with(k_layers, {{"offset of the weights that int8 does not hold", status_code::bad_step,
                                        [](plan_spec& p) { p.steps[0].weight_offset = 128; }},
                                       {"no scratch for the offset of the weights", status_code::bad_scratch,
                                        [](plan_spec& p) { p.steps[0].weight_offset = 1; }}}));
  check_all(
      [] {
        plan_spec p = depthwise();
        p.steps[0].weight_offset = -128;
        p.lane_bytes = p.steps[0].scratch_bytes =
            static_cast<std::uint64_t>(nsk::kernels::quantized_depthwise_conv_2d_scratch_bytes(k_window, true));
        return p;
      },
      with(k_layers, {}));
  CHECK(open_plan(depthwise_to(11)).code() == status_code::bad_step);
}

TEST_CASE("open: invalid pooling of stored integers is refused") {
  check_all(pooling, {{"their average", status_code::bad_step,
                       [](plan_spec& p) { p.steps[0].pool = format::PoolKind::average; }},
                      {"input of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }},
                      {"output of int8", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int8; }},
                      {"booleans", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::boolean; }}});
}

TEST_CASE("open: bytes are resized only as whole pixels") {
  check_all([] { return resizing(); },
            {{"two taps", status_code::bad_step, [](plan_spec& p) { p.steps[0].row_taps = 2; }},
             {"input of int8", status_code::bad_step, [](plan_spec& p) { input(p).type = DataType::int8; }},
             {"output of int8", status_code::bad_step, [](plan_spec& p) { output(p).type = DataType::int8; }},
             {"weights of integers", status_code::bad_step, [](plan_spec& p) { input(p, 2).type = DataType::int32; }}});
  CHECK(open_plan(resizing(0.5f)).code() == status_code::bad_step);
  CHECK(open_plan(resizing(std::nanf(""))).code() == status_code::bad_step);
}

TEST_CASE("session: bytes are pooled only where a program runs quantised models") {
  struct quantised : nsk::default_settings {
    using ops = nsk::op_list<nsk::op::pool_2d, nsk::op::dequantize>;
  };
  const test::aligned_bytes file = pooling().write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  alignas(64) static std::byte memory[1 << 14];
  CHECK(nsk::session<quantised>(m, memory).status());
  CHECK(nsk::session<>(m, memory).status().code() == status_code::unsupported_bytes);
}
