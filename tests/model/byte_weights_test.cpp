// SPDX-License-Identifier: MIT
// int8 panels in files: where they are legal, and the invalid ones, each refused with the reason that fits.
#include <doctest/doctest.h>
#include "recurrent_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::cnn_sample;
using test::plan_spec;
namespace format = nsk::format;

/// Lets input 1 of a step be int8 panels of so many elements, all 0.
test::tensor_spec& use_bytes(plan_spec& p, std::size_t step, std::int64_t elements) {
  const std::uint32_t t =
      p.add_constant("bytes", std::vector<std::int8_t>(static_cast<std::size_t>(elements)), format::DataType::int8);
  p.tensors[t].packing = format::Packing::panels;
  p.steps[step].inputs[1] = t;
  return p.tensors[t];
}
std::int64_t panel_bytes(std::int64_t channels, std::int64_t depth) {
  return nsk::panel_elements<std::int8_t>(channels, depth);
}
status_code opened_bytes(const plan_spec& p) {
  test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open(file.span(), m).code();
}

}

TEST_CASE("open: int8 panels for dense and recurrent layers, and not one element too few") {
  cnn_sample s = test::make_cnn();
  test::tensor_spec& dense = use_bytes(s.plan, cnn_sample::dense_step, panel_bytes(10, 40));
  CHECK(opened_bytes(s.plan) == status_code::ok);
  --dense.shape[0];
  CHECK(opened_bytes(s.plan) == status_code::bad_weights);

  plan_spec p = test::make_lstm();
  test::tensor_spec& t =
      use_bytes(p, 0, 2 * nsk::recurrent_weight_elements<std::int8_t>(nsk::recurrent_kind::lstm, false, 5));
  CHECK(opened_bytes(p) == status_code::ok);
  --t.shape[0];
  CHECK(opened_bytes(p) == status_code::bad_weights);
}

TEST_CASE("open: int8 panels of other layers are refused") {
  for (const std::size_t step : {cnn_sample::stem_step, cnn_sample::deep_step, cnn_sample::point_step}) {
    cnn_sample s = test::make_cnn();
    use_bytes(s.plan, step, 4096);
    CHECK(opened_bytes(s.plan) == status_code::bad_weights);
  }
}

TEST_CASE("open: int8 panels that are misplaced, or of another type") {
  cnn_sample s = test::make_cnn();
  use_bytes(s.plan, cnn_sample::dense_step, panel_bytes(10, 40) + 64).offset = 16;  // panels begin at 64 bytes
  CHECK(opened_bytes(s.plan) == status_code::bad_weights);

  s = test::make_cnn();
  use_bytes(s.plan, cnn_sample::dense_step, 2 * panel_bytes(10, 40)).strides[0] = 2;
  CHECK(opened_bytes(s.plan) == status_code::bad_weights);

  s = test::make_cnn();
  use_bytes(s.plan, cnn_sample::dense_step, 2 * panel_bytes(10, 40)).type = format::DataType::uint8;
  CHECK(opened_bytes(s.plan) == status_code::bad_weights);

  s = test::make_cnn();
  use_bytes(s.plan, cnn_sample::dense_step, panel_bytes(10, 40));
  s.plan.steps[cnn_sample::softmax_step].inputs[0] = s.plan.steps[cnn_sample::dense_step].inputs[1];
  CHECK(opened_bytes(s.plan) != status_code::ok);
}
