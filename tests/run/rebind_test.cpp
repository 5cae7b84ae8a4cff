// SPDX-License-Identifier: MIT
// Hot reload: states go on in the new model, in another block or the same one; what does not fit changes nothing.
#include <doctest/doctest.h>
#include <algorithm>
#include "support.hpp"

namespace {
using nsk::status_code;
using test::bits_of;
using test::opened;

/// h' = factor * h + x. In place and with an initial value, states and weights are elsewhere than without.
test::plan_spec recurrent(float factor, bool in_place) {
  test::plan_spec p = test::make_recurrent(in_place, in_place);
  for (const test::tensor_spec& t : p.tensors) {
    if (t.name == "half") std::memcpy(p.weights.data() + p.buffers[t.buffer].offset, &factor, sizeof factor);
  }
  return p;
}

/// A session and the recurrence in doubles; all numbers are exact in float.
struct ticking {
  nsk::session<> net;
  std::vector<double> h = std::vector<double>(6);
  double factor = 0.5;
  int ticks = 0;

  explicit ticking(opened& o) : net(o.model, o.memory.span()) {}
  bool tick() {
    ++ticks;
    for (std::size_t i = 0; i < 6; ++i) {
      const auto x = static_cast<float>(ticks * 8 + static_cast<int>(i));
      net.input<float>(0)[i] = x;
      h[i] = factor * h[i] + static_cast<double>(x);
    }
    net.run();
    bool good = true;
    for (std::size_t i = 0; i < 6; ++i) good = good && static_cast<double>(net.output<float>(0)[i]) == -h[i];
    return good;
  }
};

TEST_CASE("rebind: states go on in another block of memory") {
  for (const bool from_in_place : {false, true})
    for (const bool to_in_place : {false, true}) {
      opened old(recurrent(0.5f, from_in_place)), next(recurrent(0.25f, to_in_place));
      REQUIRE(next.status);
      ticking t(old);
      if (from_in_place) t.h = {1, 2, 3, 4, 5, 6};
      std::vector<std::byte> snapshot(t.net.state_bytes());
      for (int i = 0; i < 3; ++i) CHECK(t.tick());
      REQUIRE(nsk::rebind(t.net, next.model, next.memory.span(), snapshot));
      // Nothing of the old network is looked at again.
      std::fill_n(old.memory.data(), old.memory.size(), std::byte{0xff});
      std::fill_n(old.file.data(), old.file.size(), std::byte{0xff});
      t.factor = 0.25;
      for (int i = 0; i < 3; ++i) CHECK(t.tick());
    }
}

TEST_CASE("rebind: states go on in the same memory") {
  for (const bool in_place : {false, true}) {
    opened old(recurrent(0.5f, in_place)), next(recurrent(0.25f, !in_place));
    const std::size_t size = std::max(old.memory.size(), next.memory.size());
    old.memory = test::aligned_bytes(size, std::byte{0xff});
    ticking t(old);
    if (in_place) t.h = {1, 2, 3, 4, 5, 6};
    std::vector<std::byte> snapshot(t.net.state_bytes());
    for (int i = 0; i < 3; ++i) CHECK(t.tick());
    REQUIRE(nsk::rebind(t.net, next.model, old.memory.span(), snapshot));
    t.factor = 0.25;
    for (int i = 0; i < 3; ++i) CHECK(t.tick());
  }
}

TEST_CASE("rebind: an inference that run_for() has begun is abandoned, states are those before it") {
  opened old(recurrent(0.5f, false)), next(recurrent(0.25f, false));
  ticking t(old);
  std::vector<std::byte> snapshot(t.net.state_bytes());
  CHECK(t.tick());
  CHECK_FALSE(t.net.run_for(nsk::work{0}));
  REQUIRE(nsk::rebind(t.net, next.model, next.memory.span(), snapshot));
  CHECK(t.net.current_step() == 0);
  t.factor = 0.25;
  CHECK(t.tick());
}

TEST_CASE("rebind: bindings and inputs of the old model are forgotten") {
  const test::cnn_sample s = test::make_cnn();
  opened old(s.plan), next(s.plan);
  nsk::session<> net(old.model, old.memory.span());
  const std::vector<float> x = test::cnn_input();
  std::copy(x.begin(), x.end(), net.input<float>(0).begin());
  std::vector<float> bound(16);
  REQUIRE(net.bind_output(0, {reinterpret_cast<std::byte*>(bound.data()), 64}));
  net.run();
  REQUIRE(bound[0] > 0);
  const std::vector<float> kept = bound;
  REQUIRE(nsk::rebind(net, next.model, next.memory.span()));
  std::fill(bound.begin(), bound.end(), -1.0f);
  std::copy(x.begin(), x.end(), net.input<float>(0).begin());
  net.run();
  CHECK(bound[0] == -1);
  CHECK(bits_of(net.output<float>(0)) == bits_of({kept.data(), 10}));
}

TEST_CASE("rebind: what does not fit is refused, and the old network goes on") {
  opened old(recurrent(0.5f, false));
  ticking t(old);
  std::vector<std::byte> snapshot(t.net.state_bytes());
  CHECK(t.tick());
  const auto refused = [&](const test::plan_spec& p, status_code code, nsk::status_place place, int where) {
    opened o(p);
    REQUIRE(o.status);
    const nsk::status s = nsk::rebind(t.net, o.model, o.memory.span(), snapshot);
    CHECK(s.code() == code);
    CHECK(s.where() == where);
    CHECK((where < 0 || s.place() == place));
    CHECK(t.tick());
  };
  refused(test::make_cnn().plan, status_code::other_ports, nsk::status_place::port, -1);
  test::plan_spec p = recurrent(0.5f, false);
  p.inputs[0].name = "z";
  refused(p, status_code::other_ports, nsk::status_place::input, 0);
  p = recurrent(0.5f, false);
  p.outputs[0].name = "z";
  refused(p, status_code::other_ports, nsk::status_place::output, 0);
  p = recurrent(0.5f, false);
  p.states[0].name = "z";
  refused(p, status_code::other_ports, nsk::status_place::state, 0);
  p = recurrent(0.5f, false);
  for (test::tensor_spec& tensor : p.tensors) {  // another shape of as many elements
    if (tensor.shape != std::vector<std::int32_t>{1, 6}) continue;
    tensor.shape = {2, 3};
    if (tensor.strides[0] != 0) tensor.strides = {3, 1};
  }
  refused(p, status_code::other_ports, nsk::status_place::input, 0);

  opened next(recurrent(0.5f, true));
  const nsk::span<std::byte> memory = next.memory.span();
  const auto code_of = [&](nsk::span<std::byte> block, nsk::span<std::byte> kept, int variant = 0) {
    const nsk::status_code code = nsk::rebind(t.net, next.model, block, kept, variant).code();
    CHECK(t.tick());
    return code;
  };
  CHECK(code_of({memory.data(), memory.size() - 1}, snapshot) == status_code::too_little_memory);
  CHECK(code_of({memory.data() + 32, memory.size() - 32}, snapshot) == status_code::misaligned_memory);
  CHECK(code_of(memory, {snapshot.data(), snapshot.size() - 1}) == status_code::wrong_size);
  CHECK(code_of(memory, snapshot, 1) == status_code::bad_variant);
  CHECK(code_of({old.memory.data(), 64}, snapshot) == status_code::too_little_memory);
  CHECK(nsk::rebind(t.net, nsk::model(), memory, snapshot).code() == status_code::not_open);
  CHECK(t.tick());
  nsk::session<> none;
  CHECK(nsk::rebind(none, next.model, memory, snapshot).code() == status_code::not_open);
}

}
