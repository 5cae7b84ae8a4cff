// SPDX-License-Identifier: MIT
// Recurrent layers on a device: all kinds, options and functions against the CPU, and states over a hundred runs.
#include "../device_support.hpp"

using namespace test;
using format::DataType;
using format::Operator;
using format::RecurrentKind;

namespace {

struct layer {
  RecurrentKind kind = RecurrentKind::lstm;
  std::int32_t batch = 2, time_steps = 4, directions = 1, hidden = 5;
  recurrent_spec options{};
  bool initial_constants = false, constant_lengths = false;

  std::int32_t gates() const { return nsk::recurrent_gates(static_cast<nsk::recurrent_kind>(kind)); }
  std::int32_t final_rows() const { return kind == RecurrentKind::lstm ? 2 : 1; }
};

/// A tensor of an initial state: an input, or a constant.
std::uint32_t add_initial(plan_spec& p, const layer& l, noise& random, const char* name) {
  const std::vector<std::int32_t> shape = {l.batch, l.directions, l.hidden};
  if (!l.initial_constants) return p.add_input(name, shape, 3);
  const std::uint32_t c =
      p.add_constant(name, random.many(static_cast<std::size_t>(l.batch * l.directions * l.hidden)));
  return p.add_tensor(name, shape, p.tensors[c].buffer);
}

/// The step of a layer, behind a copy of what it needs in the arena and before a step that nothing needs.
void add_layer(plan_spec& p, const layer& l, noise& random, std::vector<std::uint32_t> in, std::uint32_t y) {
  const auto kind = static_cast<nsk::recurrent_kind>(l.kind);
  const auto per_direction =
      static_cast<std::size_t>(nsk::recurrent_weight_floats(kind, l.options.linear_before_reset, l.hidden));
  std::vector<float> weights = random.many(per_direction * static_cast<std::size_t>(l.directions));
  for (float& w : weights) w /= std::sqrt(static_cast<float>(l.hidden));
  in.insert(in.begin() + 1, p.add_constant("weights", weights));
  p.tensors[in[1]].packing = format::Packing::panels;
  if (l.options.peephole)
    in.push_back(p.add_constant("peephole", random.many(static_cast<std::size_t>(3 * l.directions * l.hidden))));
  if (l.options.lengths) {
    std::vector<std::int32_t> lengths;
    for (std::int32_t b = 0; b < l.batch; ++b) lengths.push_back(b % 3 == 0 ? l.time_steps : b % 3 == 1 ? 1 : 0);
    std::uint32_t t = p.add_constant("lengths", lengths, DataType::int32);
    if (!l.constant_lengths) {
      const std::uint32_t copied = p.add_dense("lengths", {l.batch}, 0, 3, DataType::int32);
      p.add_step(Operator::Copy, {t}, copied);
      t = copied;
    }
    in.push_back(t);
  }
  step_spec& s = p.add_step(Operator::Recurrent, in, y);
  s.recurrent = l.options;
  s.recurrent.kind = l.kind;
  const std::size_t functions = static_cast<std::size_t>(nsk::recurrent_functions(kind));
  if (s.recurrent.functions.empty())
    for (std::size_t i = 0; i < functions * static_cast<std::size_t>(l.directions); ++i)
      s.recurrent.functions.push_back(i % functions == 0 && l.kind != RecurrentKind::rnn ? 0 : 1);
  for (std::size_t i = 0; i < 2 * s.recurrent.functions.size(); ++i)
    s.recurrent.parameters.push_back(0.25f + 0.125f * static_cast<float>(i));
  s.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::recurrent_scratch_bytes(kind, l.batch, l.hidden));
  p.lane_bytes = s.scratch_bytes;
}

plan_spec plan_of(const layer& l) {
  plan_spec p;
  noise random(9);
  std::vector<std::uint32_t> in = {p.add_input("x", {l.batch, l.time_steps, l.directions, l.gates() * l.hidden}, 3)};
  in.push_back(add_initial(p, l, random, "h"));
  if (l.kind == RecurrentKind::lstm) in.push_back(add_initial(p, l, random, "c"));
  const std::uint32_t y = p.add_output("y", {l.batch, l.time_steps + l.final_rows(), l.directions, l.hidden}, 0, 2);
  add_layer(p, l, random, in, y);
  for (buffer_spec& b : p.buffers)
    if (b.storage != format::Storage::constant) b.last_step = static_cast<std::uint32_t>(p.steps.size());
  return p;
}

void check(const layer& l) {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(plan_of(l)) == "");
  net.fill_inputs(3);
  for (int d = 0; d < net.plan().dispatch_count();) {
    const auto r = net.run_step(d);
    CHECK(r.apart.relative() <= 1e-5);
    CHECK(r.stray_bytes == 0);
  }
}

/// A layer of kind `kind` whose state goes from run to run.
plan_spec plan_with_states(RecurrentKind kind, bool linear_before_reset) {
  layer l;
  l.kind = kind;
  l.batch = 1;
  l.time_steps = 2;
  l.hidden = 40;
  l.options.linear_before_reset = linear_before_reset;
  plan_spec p;
  noise random(4);
  const std::int32_t rows = l.time_steps + l.final_rows();
  std::vector<std::uint32_t> in = {p.add_input("x", {1, l.time_steps, 1, l.gates() * l.hidden}, 1)};
  const std::uint32_t y = p.add_output("y", {1, rows, 1, l.hidden}, 0, 1);
  for (std::int32_t i = 0; i < l.final_rows(); ++i) {
    const std::uint32_t state = p.add_state(i == 0 ? "h" : "c", {1, 1, l.hidden}, 1);
    in.push_back(state);
    const std::uint32_t next = add_view(p, y, {1, 1, l.hidden}, {l.hidden, l.hidden, 1},
                                        static_cast<std::uint64_t>((l.time_steps + i) * l.hidden * 4));
    p.states[static_cast<std::size_t>(i)].next = next;
  }
  add_layer(p, l, random, in, y);
  return p;
}

}

TEST_CASE("recurrent layers on a device equal the CPU, of every kind and size") {
  for (const auto kind : {RecurrentKind::rnn, RecurrentKind::gru, RecurrentKind::lstm})
    for (const std::int32_t hidden : {1, 5, 16, 90})
      for (const bool linear_before_reset : {false, true}) {
        if (linear_before_reset && kind != RecurrentKind::gru) continue;
        layer l;
        l.kind = kind;
        l.hidden = hidden;
        l.directions = 2;
        l.options.reverse = hidden == 5 ? 1 : 2;
        l.options.linear_before_reset = linear_before_reset;
        l.initial_constants = hidden == 5;
        CAPTURE(hidden);
        check(l);
      }
}

TEST_CASE("recurrent layers on a device equal the CPU, with every option") {
  for (const auto kind : {RecurrentKind::rnn, RecurrentKind::gru, RecurrentKind::lstm})
    for (const bool constant : {false, true}) {
      layer l;
      l.kind = kind;
      l.batch = 3;
      l.directions = 2;
      l.initial_constants = l.constant_lengths = constant;
      l.options.reverse = 2;
      l.options.lengths = true;
      l.options.clip = 0.75f;
      if (kind == RecurrentKind::lstm) {
        l.options.peephole = true;
        l.options.cell_clip = 0.25f;
        l.options.input_forget = constant;
      }
      check(l);
    }
}

TEST_CASE("gates on a device have all the functions of the CPU") {
  for (std::uint8_t f = 0; f < 11; ++f) {
    layer l;
    l.options.functions = {f, static_cast<std::uint8_t>((f + 3) % 11), static_cast<std::uint8_t>((f + 7) % 11)};
    CAPTURE(f);
    check(l);
  }
}

TEST_CASE("a layer too large for group memory is refused by name") {
  layer l;
  l.hidden = 673;
  l.batch = l.time_steps = 1;
  const aligned_bytes file = plan_of(l).write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  REQUIRE(nsk::gpu::why_no_shader(model.variant(), 0) != nullptr);
  CHECK(std::string(nsk::gpu::why_no_shader(model.variant(), 0)).find("group memory") != std::string::npos);
  l.hidden = 672;
  check(l);
}

TEST_CASE("the two directions of a layer need no barrier between them") {
  layer l;
  l.directions = 2;
  const aligned_bytes file = plan_of(l).write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  std::vector<std::byte> space(nsk::gpu::plan::required_bytes(model.variant()));
  nsk::gpu::plan plan;
  REQUIRE(nsk::gpu::plan::make(model.variant(), {}, space, plan));
  REQUIRE(plan.dispatch_count() == 2);
  CHECK(!plan.dispatch(1).barrier);
}

TEST_CASE("states of recurrent layers stay the CPU's over a hundred runs") {
  tested_device* const on = device();
  if (!on) return;
  for (const int kind : {1, 2, 3}) {  // gru, lstm, gru with linear_before_reset
    both<tested_device> net(*on);
    REQUIRE(net.open(plan_with_states(kind == 2 ? RecurrentKind::lstm : RecurrentKind::gru, kind == 3)) == "");
    std::vector<float> y(net.cpu().output_info(0).bytes() / 4);
    distance apart;
    for (std::uint32_t run = 0; run < 100; ++run) {
      net.fill_inputs(run);
      REQUIRE(net.gpu().write_input(0, net.cpu().input_bytes(0).data()));
      net.cpu().run();
      REQUIRE(net.gpu().run());
      REQUIRE(net.gpu().read_output(0, y.data()));
      const float* const wanted = reinterpret_cast<const float*>(net.cpu().output_bytes(0).data());
      for (std::size_t i = 0; i < y.size(); ++i) apart.add(static_cast<double>(wanted[i]), static_cast<double>(y[i]));
    }
    CHECK(apart.relative() <= 1e-5);
  }
}
