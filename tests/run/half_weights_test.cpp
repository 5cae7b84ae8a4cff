// SPDX-License-Identifier: MIT
// Sessions of models whose weights are float16, or int8.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include "support.hpp"

namespace {
using nsk::status_code;
using test::bits_of;
using test::opened;

struct with_halves : nsk::default_settings {
  static constexpr bool half_weights = true;
};
struct with_bytes : nsk::default_settings {
  static constexpr bool int8_weights = true;
};

template <class Settings>
void set_input(nsk::session<Settings>& net) {
  const std::vector<float> x = test::cnn_input();
  std::copy(x.begin(), x.end(), net.template input<float>("image").begin());
}

}

TEST_CASE("session: float16 weights run where the settings say so, with the bits of float32") {
  test::cnn_sample s = test::make_cnn();
  const auto dense = static_cast<std::size_t>(test::cnn_sample::dense_step);
  for (float& x : s.dense_matrix) x = static_cast<float>(static_cast<int>(x * 512)) / 512;  // halves of all of them
  s.plan.steps[dense].inputs[1] = s.plan.add_panels("dense", s.dense_matrix, s.dense_bias);
  opened floats(s.plan);
  nsk::session<> expected(floats.model, floats.memory.span());
  set_input(expected);
  expected.run();

  // One panel of 16: biases, then 40 rows.
  std::vector<std::uint16_t> halves(16 * 42);
  std::memcpy(halves.data(), s.dense_bias.data(), 10 * sizeof(float));
  for (std::size_t k = 0; k < 40; ++k)
    for (std::size_t c = 0; c < 10; ++c) {
      const float x = s.dense_matrix[k * 10 + c];
      int exponent = 0;
      const float fraction = std::frexp(std::fabs(x), &exponent);
      const int bits = ((exponent + 14) << 10) + static_cast<int>(fraction * 2048) - 1024;
      halves[32 + k * 16 + c] = static_cast<std::uint16_t>(x == 0 ? 0 : bits | (x < 0 ? 0x8000 : 0));
    }
  const std::uint32_t t = s.plan.add_constant("halves", halves, nsk::format::DataType::float16);
  s.plan.tensors[t].packing = nsk::format::Packing::panels;
  s.plan.steps[dense].inputs[1] = t;
  opened o(s.plan);
  CHECK(nsk::session<>(o.model, o.memory.span()).status().code() == status_code::unsupported_half_weights);
  CHECK(nsk::session<>(o.model, o.memory.span()).status().where() == static_cast<int>(dense));
  nsk::session<with_halves> net(o.model, o.memory.span());
  REQUIRE(net.status());
  set_input(net);
  net.run();
  CHECK(bits_of(net.output<float>(0)) == bits_of(expected.output<float>(0)));
}

TEST_CASE("session: int8 weights run where the settings say so, near float32 of the same numbers") {
  test::cnn_sample s = test::make_cnn();
  const auto dense = static_cast<std::size_t>(test::cnn_sample::dense_step);
  // one panel of 16: biases, scales, 40 rows
  std::vector<std::int8_t> panel(16 * 48);
  std::vector<float> scale(16, 1 / 256.0f);
  std::memcpy(panel.data(), s.dense_bias.data(), 10 * sizeof(float));
  std::memcpy(panel.data() + 64, scale.data(), 64);
  for (std::size_t k = 0; k < 40; ++k)
    for (std::size_t c = 0; c < 10; ++c) {
      float& x = s.dense_matrix[k * 10 + c];
      const float number = std::fmax(-127.0f, std::fmin(127.0f, std::nearbyint(x * 256)));
      panel[128 + k * 16 + c] = static_cast<std::int8_t>(number);
      x = number / 256;
    }
  s.plan.steps[dense].inputs[1] = s.plan.add_panels("dense", s.dense_matrix, s.dense_bias);
  opened floats(s.plan);
  nsk::session<> expected(floats.model, floats.memory.span());
  set_input(expected);
  expected.run();

  const std::uint32_t t = s.plan.add_constant("bytes", panel, nsk::format::DataType::int8);
  s.plan.tensors[t].packing = nsk::format::Packing::panels;
  s.plan.steps[dense].inputs[1] = t;
  opened o(s.plan);
  CHECK(nsk::session<>(o.model, o.memory.span()).status().code() == status_code::unsupported_int8_weights);
  CHECK(nsk::session<with_halves>(o.model, o.memory.span()).status().where() == static_cast<int>(dense));
  nsk::model narrow;
  auto file = s.plan.write();
  CHECK(nsk::open<nsk::default_settings>(file.span(), narrow).code() == status_code::unsupported_int8_weights);
  nsk::session<with_bytes> net(o.model, o.memory.span());
  REQUIRE(net.status());
  set_input(net);
  net.run();
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(net.output<float>(0)[i] == doctest::Approx(expected.output<float>(0)[i]).epsilon(1e-5));
}
