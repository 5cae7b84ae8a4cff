// SPDX-License-Identifier: MIT
// Runs on a device: states, batches, slices of several sessions, rings, and the self-test.
#include "../../model/policy_plan.hpp"
#include "../device_support.hpp"
#include "../forwarding_device.hpp"

using namespace test;

namespace {

/// Elements of the outputs of a session on the device.
std::vector<std::byte> outputs_of(headless<tested_device>& net) {
  std::vector<std::byte> all;
  for (int i = 0; i < net.plan().variant().output_count(); ++i) {
    std::vector<std::byte> one(net.plan().variant().output(i).bytes());
    REQUIRE(net.read_output(i, one.data()));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// flag' = x < 0, count' = count + 1; y = flag ? x : 0.5, n = count: states of 5 booleans and of 3 int64.
plan_spec make_typed_states() {
  using format::DataType;
  using format::Operator;
  plan_spec p;
  const std::uint32_t end = 4, x = p.add_input("x", {5}, end);
  const std::uint32_t flag = p.add_state("flag", {5}, end), count = p.add_state("count", {3}, end);
  const auto retype = [&](std::uint32_t t, DataType type, std::uint64_t bytes) {
    p.tensors[t].type = type;
    p.buffers[p.tensors[t].buffer].bytes = bytes;
  };
  retype(flag, DataType::boolean, 5);
  retype(count, DataType::int64, 24);
  const std::uint32_t half = p.add_constant("half", std::vector<float>{0.5f}),
                      zero = p.add_constant("zero", std::vector<float>{0});
  const std::uint32_t one = p.add_constant("one", std::vector<std::int64_t>{1}, DataType::int64);
  const std::uint32_t start = p.add_constant("start", std::vector<std::uint8_t>{1, 0, 1, 1, 0}, DataType::boolean);
  const std::uint32_t next_flag = p.add_dense("next flag", {5}, 1, end, DataType::boolean);
  const std::uint32_t next_count = p.add_dense("next count", {3}, 2, end, DataType::int64);
  const std::uint32_t y = p.add_output("y", {5}, 0, end), n = p.add_output("n", {3}, 3, end, DataType::int64);
  p.states[0].next = next_flag;
  p.states[0].initial = static_cast<std::int32_t>(start);
  p.states[1].next = next_count;
  p.add_step(Operator::Select, {flag, x, add_view(p, half, {5}, {0})}, y);
  p.add_step(Operator::Compare, {x, add_view(p, zero, {5}, {0})}, next_flag).compare = format::CompareKind::less;
  p.add_step(Operator::Arithmetic, {count, add_view(p, one, {3}, {0})}, next_count).arithmetic =
      format::ArithmeticKind::add;
  p.add_step(Operator::Copy, {count}, n);
  return p;
}

/// Runs a model with states on both for a while, from the same start, on changing inputs.
void check_states(const plan_spec& p, int runs) {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(p) == "");
  auto& cpu = net.cpu();
  for (int run = 0; run < runs; ++run) {
    net.fill_inputs(static_cast<std::uint32_t>(run + 1));
    for (int i = 0; i < cpu.input_count(); ++i) REQUIRE(net.gpu().write_input(i, cpu.input_bytes(i).data()));
    cpu.run();
    REQUIRE(net.gpu().run());
    const aligned_bytes got = net.device_arena();
    for (int i = 0; i < cpu.output_count(); ++i) {
      CAPTURE(run);
      CHECK(distance_of(cpu.output_info(i).tensor(), net.cpu_arena(), got.data()).relative() <= 1e-5);
    }
  }
}

}

TEST_CASE("states go from run to run on the device, whatever their type and place") {
  for (const bool in_place : {false, true})
    for (const bool initial : {false, true}) check_states(make_recurrent(in_place, initial), 100);
  check_states(make_typed_states(), 10);
}

TEST_CASE("saved states bring back the same bits, on another session too") {
  tested_device* const on = device();
  if (!on) return;
  for (const plan_spec& p : {make_recurrent(false, true), make_typed_states()}) {
    both<tested_device> net(*on), other(*on);
    REQUIRE(net.open(p) == "");
    REQUIRE(other.open(p) == "");
    net.fill_inputs(3);
    for (auto* n : {&net, &other}) REQUIRE(n->gpu().write_input(0, net.cpu().input_bytes(0).data()));
    tested_device::buffer snapshot;
    REQUIRE(on->create_buffer(net.gpu().session().state_bytes() + 8, true, snapshot));
    for (int run = 0; run < 3; ++run) REQUIRE(net.gpu().run());
    REQUIRE(net.gpu().session().save(on->begin(), snapshot, 8));
    REQUIRE(on->submit());
    for (int run = 0; run < 2; ++run) REQUIRE(net.gpu().run());
    const std::vector<std::byte> wanted = outputs_of(net.gpu());
    REQUIRE(net.gpu().run());
    CHECK(outputs_of(net.gpu()) != wanted);
    for (auto* n : {&net, &other}) {
      REQUIRE(n->gpu().session().load(on->begin(), snapshot, 8));
      REQUIRE(on->submit());
      for (int run = 0; run < 2; ++run) REQUIRE(n->gpu().run());
      CHECK(outputs_of(n->gpu()) == wanted);
    }
    on->destroy(snapshot);
  }
}

namespace {

/// A long dense layer, whose sums are cut into slices on a device.
plan_spec make_long_dense() {
  plan_spec p;
  noise random(17);
  const std::uint32_t x = p.add_input("x", {policy_rows, 512}, 1), y = p.add_output("y", {policy_rows, 64}, 0, 1);
  p.add_step(format::Operator::FullyConnected, {x, p.add_panels("w", random.many(512 * 64), random.many(64))}, y);
  for (const std::uint32_t t : {x, y}) p.tensors[t].batch = 1;
  p.batch = policy_rows;
  return p;
}

/// Runs `rows` rows from `first_row` on; returns the outputs.
std::vector<std::vector<std::byte>> run_rows(tested_device& on, const nsk::model& model,
                                             const std::vector<float>& inputs, std::int32_t rows,
                                             std::int32_t first_row) {
  nsk::gpu::plan_settings how;
  how.rows = rows;
  headless<tested_device> net(on);
  REQUIRE(net.open(model, 0, how));
  const auto row = static_cast<std::ptrdiff_t>(inputs.size()) / policy_rows;
  std::vector<float> x(inputs.size());
  std::copy(inputs.begin() + first_row * row, inputs.begin() + (first_row + rows) * row, x.begin());
  REQUIRE(net.write_input(0, x.data()));
  net.session().seed(5, static_cast<std::uint32_t>(first_row));
  REQUIRE(net.run());
  std::vector<std::vector<std::byte>> outputs;
  for (int i = 0; i < model.variant().output_count(); ++i) {
    outputs.emplace_back(model.variant().output(i).bytes());
    REQUIRE(net.read_output(i, outputs.back().data()));
  }
  return outputs;
}

}

TEST_CASE("a batch has the bits of its rows, run one by one") {
  tested_device* const on = device();
  if (!on) return;
  for (const plan_spec& p : {make_policy(), make_long_dense()}) {
    const aligned_bytes file = p.write();
    nsk::model model;
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    std::vector<float> inputs(static_cast<std::size_t>(model.variant().input(0).elements()));
    noise random(21);
    for (float& x : inputs) x = random();
    for (const std::int32_t rows : {2, policy_rows}) {
      const auto batch = run_rows(*on, model, inputs, rows, 0);
      for (std::int32_t row = 0; row < rows; ++row) {
        const auto single = run_rows(*on, model, inputs, 1, row);
        for (std::size_t i = 0; i < batch.size(); ++i) {
          const std::size_t bytes = batch[i].size() / policy_rows;
          CAPTURE(row);
          CAPTURE(i);
          CHECK(std::memcmp(batch[i].data() + static_cast<std::size_t>(row) * bytes, single[i].data(), bytes) == 0);
        }
      }
    }
  }
}

TEST_CASE("slices of several sessions, in one list or in many, give the bits of whole inferences") {
  tested_device* const on = device();
  if (!on) return;
  const plan_spec specs[] = {make_cnn().plan, make_recurrent(false, true), make_cnn().plan};
  for (const bool one_list : {true, false}) {
    both<tested_device> net[] = {both<tested_device>(*on), both<tested_device>(*on), both<tested_device>(*on)};
    std::vector<std::byte> wanted[3];
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(net[i].open(specs[i]) == "");
      net[i].fill_inputs(static_cast<std::uint32_t>(i + 1));
      REQUIRE(net[i].gpu().write_input(0, net[i].cpu().input_bytes(0).data()));
      REQUIRE(net[i].gpu().run());
      wanted[i] = outputs_of(net[i].gpu());
      REQUIRE(net[i].gpu().session().reset(on->begin()));
      REQUIRE(on->submit());
      const std::vector<std::byte> garbage(wanted[i].size(), std::byte{0x45});
      REQUIRE(on->write(net[i].gpu().arena(),
                        static_cast<std::size_t>(net[i].variant().output(0).tensor().buffer_offset()), garbage.data(),
                        garbage.size()));
    }
    bool done[3] = {};
    auto* list = &on->begin();
    for (int frame = 0; !done[0] || !done[1] || !done[2]; ++frame) {
      REQUIRE(frame < 100);
      for (std::size_t i = 0; i < 3; ++i)
        if (!done[i]) REQUIRE(net[i].gpu().session().record_for(*list, nsk::work{1}, done[i]));
      if (one_list) continue;
      REQUIRE(on->submit());
      list = &on->begin();
    }
    REQUIRE(on->submit());
    for (std::size_t i = 0; i < 3; ++i) CHECK(outputs_of(net[i].gpu()) == wanted[i]);
  }
}

TEST_CASE("a ring holds the outputs of the frames that it names") {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(make_recurrent(false, true)) == "");
  net.fill_inputs(4);
  REQUIRE(net.gpu().write_input(0, net.cpu().input_bytes(0).data()));
  tested_device::buffer seen;
  const std::size_t bytes = nsk::gpu::read_back_ring<tested_device>::required_bytes(net.plan(), 1);
  REQUIRE(on->create_buffer(3 * bytes, true, seen));
  nsk::gpu::read_back_ring<tested_device> ring(net.plan(), seen, 3);
  for (std::uint64_t frame = 1; frame <= 7; ++frame) {
    auto& list = on->begin();
    REQUIRE(net.gpu().session().record(list));
    REQUIRE(ring.record(list, net.gpu().session(), frame));
    REQUIRE(on->submit());
    const std::vector<std::byte> wanted = outputs_of(net.gpu());
    ring.complete(frame);
    const auto* slot = ring.newest();
    REQUIRE(slot != nullptr);
    CHECK(slot->frame == frame);
    std::vector<std::byte> got(bytes);
    REQUIRE(on->read(seen, slot->offset + ring.offset_of(0), got.data(), got.size()));
    CHECK(got == wanted);
  }
  on->destroy(seen);
}

namespace {

/// A device whose driver forgets a dispatch: one of a number, counted from 0 in each inference.
class forgetful_device : public forwarding_device<forgetful_device, tested_device> {
 public:
  using forwarding_device::forwarding_device;
  int forgotten = -1, dispatches = 0;

  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    if (dispatches++ != forgotten) forwarding_device::dispatch(l, p, constants, count, groups);
  }
};

/// The plan with the outputs of the CPU as check vector, for inputs between -1 and 1.
plan_spec with_check(plan_spec p) {
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  aligned_bytes memory(model.required_bytes(1));
  cpu_session cpu(model, memory.span());
  REQUIRE(cpu);
  const auto block_of = [](nsk::span<const std::byte> bytes) {
    std::vector<std::uint8_t> block(bytes.size());
    std::memcpy(block.data(), bytes.data(), bytes.size());
    return block;
  };
  check_spec check;
  noise random(13);
  for (int i = 0; i < cpu.input_count(); ++i) {
    for (float& x : cpu.input<float>(i)) x = random();
    check.inputs.push_back(block_of(cpu.input_bytes(i)));
  }
  cpu.run();
  for (int i = 0; i < cpu.output_count(); ++i) check.outputs.push_back(block_of(cpu.output_bytes(i)));
  p.checks.push_back(check);
  return p;
}

/// Runs the self-test of a session on a device with buffers of its own.
nsk::gpu::status selftest_on(forgetful_device& on, headless<forgetful_device>& net) {
  nsk::gpu::selftest_buffers<forgetful_device> host;
  const std::size_t up = host.required_upload_bytes(net.plan()), down = host.required_read_back_bytes(net.plan());
  std::vector<std::byte> upload(up), read_back(down);
  REQUIRE(on.create_buffer(up, true, host.upload));
  REQUIRE(on.create_buffer(down, true, host.read_back));
  host.upload_bytes = {upload.data(), up};
  host.read_back_bytes = {read_back.data(), down};
  const nsk::gpu::status s = nsk::gpu::selftest(net.session(), host, [&](auto&& record) -> nsk::gpu::status {
    on.dispatches = 0;
    REQUIRE(on.write(host.upload, 0, upload.data(), up));
    if (const nsk::gpu::status recorded = record(on.begin()); !recorded) return recorded;
    if (const nsk::gpu::status ran = on.submit(); !ran) return ran;
    return on.read(host.read_back, 0, read_back.data(), down);
  });
  on.destroy(host.upload);
  on.destroy(host.read_back);
  return s;
}

}

TEST_CASE("the self-test passes on a device that works, and notices every dispatch that it forgets") {
  tested_device* const device_or_none = device();
  if (!device_or_none) return;
  forgetful_device on(*device_or_none);
  for (const plan_spec& p : {with_check(make_cnn().plan), with_check(make_recurrent(false, true))}) {
    const aligned_bytes file = p.write();
    nsk::model model;
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    headless<forgetful_device> net(on);
    REQUIRE(net.open(model));
    REQUIRE(selftest_on(on, net));
    const int resets = net.plan().reset_count(), states = model.variant().state_count();
    // The last dispatch of an inference makes the state current, which no output of this one shows.
    for (int i = 0; i < resets + net.plan().dispatch_count() - states; ++i) {
      CAPTURE(i);
      on.forgotten = i;
      const nsk::gpu::status s = selftest_on(on, net);
      CHECK(s.code() == nsk::gpu::status_code::check_failed);
      CHECK(s.where() == 0);
    }
    on.forgotten = -1;
    REQUIRE(selftest_on(on, net));
  }
}
