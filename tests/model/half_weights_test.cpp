// SPDX-License-Identifier: MIT
// float16 panels in files: where they are legal, and the invalid ones, each refused with the reason that fits.
#include <doctest/doctest.h>
#include "recurrent_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::cnn_sample;
using test::plan_spec;
namespace format = nsk::format;

/// Lets input 1 of a step be float16 panels of so many elements, all 0.
test::tensor_spec& use_halves(plan_spec& p, std::size_t step, std::int64_t elements) {
  const std::uint32_t t = p.add_constant("halves", std::vector<nsk::half_bits>(static_cast<std::size_t>(elements)),
                                         format::DataType::float16);
  p.tensors[t].packing = format::Packing::panels;
  p.steps[step].inputs[1] = t;
  return p.tensors[t];
}
std::int64_t halves(std::int64_t channels, std::int64_t depth) {
  return nsk::panel_elements<nsk::half_bits>(channels, depth);
}
status_code opened(const plan_spec& p) {
  test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open(file.span(), m).code();
}

struct half_layer {
  std::size_t step;
  std::int64_t channels, depth;
};
const half_layer layers[] = {{cnn_sample::stem_step, 16, 27},
                             {cnn_sample::deep_step, 16, 9},
                             {cnn_sample::point_step, 24, 16},
                             {cnn_sample::dense_step, 10, 40}};

}

TEST_CASE("open: panels of halves for convolutions, depthwise and dense layers, and not one element too few") {
  for (const half_layer& l : layers) {
    CAPTURE(l.step);
    cnn_sample s = test::make_cnn();
    test::tensor_spec& t = use_halves(s.plan, l.step, halves(l.channels, l.depth));
    CHECK(opened(s.plan) == status_code::ok);
    --t.shape[0];
    CHECK(opened(s.plan) == status_code::bad_weights);
  }
}

TEST_CASE("open: halves of recurrent layers") {
  plan_spec p = test::make_lstm();
  const std::int64_t all = 2 * nsk::recurrent_weight_elements<nsk::half_bits>(nsk::recurrent_kind::lstm, false, 5);
  test::tensor_spec& t = use_halves(p, 0, all);
  CHECK(opened(p) == status_code::ok);
  --t.shape[0];
  CHECK(opened(p) == status_code::bad_weights);
}

TEST_CASE("open: weights of other types and arrangements are refused") {
  using format::DataType;
  using format::Packing;
  struct {
    DataType type;
    Packing packing;
  } const wrong[] = {{DataType::float16, Packing::plain},        {DataType::float16, Packing::winograd4},
                     {DataType::float16, Packing::winograd2},    {DataType::int16, Packing::panels},
                     {DataType::int8, Packing::panels},          {DataType::boolean, Packing::panels},
                     {static_cast<DataType>(8), Packing::panels}};
  for (const half_layer& l : layers)
    for (const auto& w : wrong) {
      CAPTURE(static_cast<int>(w.type));
      cnn_sample s = test::make_cnn();
      test::tensor_spec& t = use_halves(s.plan, l.step, halves(l.channels, l.depth));
      t.type = w.type;
      t.packing = w.packing;
      const status_code found = opened(s.plan);
      CHECK((found == status_code::bad_weights || found == status_code::bad_tensor));
    }
}

TEST_CASE("open: halves that are misplaced, or read by another operator") {
  const auto dense = static_cast<std::size_t>(cnn_sample::dense_step);
  const std::int64_t count = halves(10, 40);
  cnn_sample s = test::make_cnn();
  use_halves(s.plan, dense, count + 32).offset = 2;  // panels begin at 64 bytes
  CHECK(opened(s.plan) == status_code::bad_weights);

  s = test::make_cnn();
  use_halves(s.plan, dense, count).strides[0] = 2;
  CHECK(opened(s.plan) == status_code::bad_weights);

  s = test::make_cnn();
  use_halves(s.plan, dense, count).buffer = s.plan.tensors[s.mean].buffer;  // in the arena
  CHECK(opened(s.plan) != status_code::ok);

  s = test::make_cnn();
  use_halves(s.plan, dense, count);
  s.plan.steps[cnn_sample::softmax_step].inputs[0] = s.plan.steps[dense].inputs[1];
  CHECK(opened(s.plan) == status_code::bad_step);

  s = test::make_cnn();
  use_halves(s.plan, cnn_sample::stem_step, 36 * 16 * 8);
  s.plan.steps[cnn_sample::stem_step].algorithm = format::ConvAlgorithm::winograd4;
  CHECK(opened(s.plan) == status_code::bad_weights);

  s = test::make_cnn();
  use_halves(s.plan, cnn_sample::stem_step, halves(16, 27)).shape[0] = 1 << 30;  // elements behind the file
  CHECK(opened(s.plan) != status_code::ok);
}
