// SPDX-License-Identifier: MIT
// When a depthwise convolution and the 1 x 1 convolution behind it become one dispatch, without a device.
#include "../../model/separable_plan.hpp"
#include "../null_support.hpp"

using namespace test;
namespace gpu = nsk::gpu;

namespace {

/// A plan of a variant, in memory of its own.
struct stored {
  explicit stored(const plan_spec& p, gpu::merging how, gpu::plan_settings settings = {}) : file(p.write()) {
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    settings.separable = how;
    space = aligned_bytes(gpu::plan::required_bytes(model.variant(), settings));
    REQUIRE(gpu::plan::make(model.variant(), settings, space.span(), plan));
  }
  aligned_bytes file, space;
  nsk::model model;
  gpu::plan plan;
};

bool merges(const plan_spec& p, gpu::merging how = gpu::merging::always, gpu::plan_settings settings = {}) {
  const stored s(p, how, settings);
  for (int i = 0; i < s.plan.dispatch_count(); ++i) {
    if (s.plan.dispatch(i).merged >= 0) return true;
  }
  return false;
}

void put_where(plan_spec& p, std::uint32_t tensor, std::uint32_t other) {
  p.buffers[p.tensors[tensor].buffer].offset = p.buffers[p.tensors[other].buffer].offset;
}
// Tensors of make_separable_chain.
constexpr std::uint32_t chain_inner = 1, chain_between = 2, chain_sum = 3;

constexpr separable_case chain{1, 9, 10, 24, 24, 3, 1, 1};

}

TEST_CASE("two steps in one dispatch: it has the number of the second, and counts the bytes and the work of both") {
  const plan_spec p = make_separable_chain(chain);
  const stored two(p, gpu::merging::never), one(p, gpu::merging::always);
  REQUIRE(two.plan.dispatch_count() == 4);
  REQUIRE(one.plan.dispatch_count() == 3);
  CHECK(one.plan.dispatch(1).step == 2);
  CHECK(one.plan.dispatch(1).merged == 1);
  CHECK(one.plan.dispatch(0).merged == -1);
  const std::uint64_t between = 9 * 10 * 24 * 4;
  CHECK(two.plan.traffic().read - one.plan.traffic().read == between);
  CHECK(two.plan.traffic().written - one.plan.traffic().written == between);
  CHECK(two.plan.traffic().constants == one.plan.traffic().constants);
  // Slices of work: neg, then 9 * 24 + 24 * 24 multiply-adds in one dispatch.
  null_device device;
  aligned_bytes memory(gpu::session<null_device>::required_bytes(one.plan));
  gpu::session<null_device> net(device, one.plan,
                                {{1, one.model.weights().size()}, {2, one.plan.required_arena_bytes()}},
                                one.model.weights().size(), memory.span());
  REQUIRE(net);
  null_device::list list;
  bool done = false;
  REQUIRE(net.record_for(list, nsk::work{1}, done));
  REQUIRE(net.next_dispatch() == 1);
  REQUIRE(net.record_for(list, nsk::work{9 * 24 + 24 * 24}, done));
  CHECK(net.next_dispatch() == 2);
  // A budget for the second step alone is used up by both.
  net.restart();
  const auto work_of = [&](int step) { return nsk::impl::work_of(one.model.variant().step(step)); };
  REQUIRE(net.record_for(list, nsk::work{work_of(0) + work_of(2)}, done));
  CHECK(net.next_dispatch() == 1);
}

TEST_CASE("barriers around a dispatch of two steps are those of what it reads and writes") {
  for (const bool residual : {false, true}) {
    plan_spec p = make_separable_chain(chain);
    if (!residual) p.steps[2].inputs[2] = 0;  // x itself
    const aligned_bytes file = p.write();
    nsk::model model;
    REQUIRE(nsk::open({file.data(), file.size()}, model));
    gpu::plan_settings how;
    how.separable = gpu::merging::always;
    CHECK(count_needed_barriers(model, how) == 2);
  }
}

TEST_CASE("nothing waits for what is between two steps in one dispatch") {
  plan_spec p = make_separable(chain);
  for (buffer_spec& b : p.buffers) {
    if (b.storage != format::Storage::input && b.storage != format::Storage::constant) ++b.first_step;
    ++b.last_step;
  }
  const std::uint32_t before = p.add_dense("before", {1, 9, 10, 24}, 0, 0);
  put_where(p, before, chain_between);  // the third tensor of both plans
  step_spec copy;
  copy.op = format::Operator::Copy;
  copy.inputs = {0};
  copy.outputs = {before};
  p.steps.insert(p.steps.begin(), copy);
  CHECK(stored(p, gpu::merging::always).plan.barrier_count() == 0);
  CHECK(stored(p, gpu::merging::never).plan.barrier_count() == 2);
}

TEST_CASE("two steps stay two dispatches where the second one writes over what the first one reads") {
  plan_spec p = make_separable_chain(chain);
  CHECK(merges(p));
  CHECK_FALSE(merges(p, gpu::merging::never));
  p.steps[2].inputs[2] = 0;
  p.buffers[p.tensors[chain_inner].buffer].last_step = 1;
  CHECK(merges(p));
  put_where(p, chain_sum, chain_inner);
  CHECK_FALSE(merges(p));
  // The sum in place of its residual, which is the input of both.
  plan_spec in_place = make_separable_chain(chain);
  in_place.tensors[chain_sum].buffer = in_place.tensors[chain_inner].buffer;
  in_place.buffers[in_place.tensors[chain_inner].buffer].last_step = 3;
  CHECK_FALSE(merges(in_place));
}

TEST_CASE("two steps stay two dispatches where something else needs what is between") {
  // Read behind the second step.
  plan_spec read = make_separable_chain(chain);
  read.buffers[read.tensors[chain_between].buffer].last_step = 3;
  read.steps[3].inputs[0] = chain_between;
  CHECK_FALSE(merges(read));
  // Changed in place before the second step, as in squeeze and excitation.
  plan_spec changed = make_separable_chain(chain);
  step_spec neg = changed.steps[0];
  neg.inputs = {chain_between};
  neg.outputs = {chain_between};
  changed.steps.insert(changed.steps.begin() + 2, neg);
  for (buffer_spec& b : changed.buffers) {
    if (b.first_step >= 2) ++b.first_step;
    if (b.last_step >= 2) ++b.last_step;
  }
  CHECK_FALSE(merges(changed));
  // The residual.
  plan_spec added = make_separable_chain(chain);
  added.steps[2].inputs[2] = chain_between;
  CHECK_FALSE(merges(added));
}

TEST_CASE("a step in between: two steps are one dispatch unless it writes over the input, or runs on the CPU") {
  plan_spec p = make_separable_chain(chain);
  p.steps[2].inputs[2] = 0;
  for (buffer_spec& b : p.buffers) {
    if (b.first_step >= 2) ++b.first_step;
    if (b.last_step >= 2) ++b.last_step;
  }
  p.buffers[p.tensors[chain_inner].buffer].last_step = 1;
  const std::uint32_t beside = p.add_dense("beside", {1, 9, 10, 24}, 2, 2);
  step_spec copy = p.steps[0];
  copy.inputs = {0};
  copy.outputs = {beside};
  p.steps.insert(p.steps.begin() + 2, copy);
  CHECK(merges(p));
  gpu::plan_settings how;
  how.hybrid = true;
  CHECK(merges(p, gpu::merging::always, how));
  for (const nsk::op o : {nsk::op::unary, nsk::op::depthwise_conv_2d, nsk::op::conv_2d}) {
    how.cpu_operators = std::uint64_t{1} << static_cast<int>(o);
    CHECK_FALSE(merges(p, gpu::merging::always, how));
  }
  put_where(p, beside, chain_inner);
  CHECK_FALSE(merges(p));
}

TEST_CASE("two steps stay two dispatches where the kernel cannot compute them") {
  separable_case c = chain;
  c.channels = c.outputs = 10;  // no whole quads
  CHECK_FALSE(merges(make_separable(c)));
  c = chain;
  c.beside = 2;  // not at a multiple of 16 bytes
  CHECK_FALSE(merges(make_separable(c)));
  plan_spec p = make_separable({1, 15, 15, 8, 8, 7, 1, 3});
  CHECK_FALSE(merges(p));
  p = make_separable({1, 15, 15, 8, 8, 3, 1, 2});
  p.steps[0].window = format::Window(3, 3, 1, 1, 2, 2, 2, 2);
  CHECK_FALSE(merges(p));
}

TEST_CASE("two steps become one dispatch where the estimate says that it pays") {
  const auto pays = [](int side, int channels, int outputs, int kernel, int stride = 1, std::uint64_t bytes = 4) {
    const nsk::window w{kernel, kernel, stride, stride, 1, 1, kernel / 2, kernel / 2};
    return gpu::impl::pays_to_merge({gpu::impl::window_number(w), static_cast<std::uint64_t>(side),
                                     static_cast<std::uint64_t>(side), static_cast<std::uint64_t>(channels),
                                     static_cast<std::uint64_t>(outputs), bytes});
  };
  CHECK(pays(64, 32, 32, 3));
  CHECK(pays(112, 32, 16, 3));
  // Each block of 32 outputs computes the depthwise sums again.
  CHECK(pays(64, 96, 96, 3));
  CHECK_FALSE(pays(64, 96, 128, 3));
  CHECK(pays(64, 96, 32, 5));
  CHECK_FALSE(pays(64, 96, 64, 5));
  // Half the bytes between them.
  CHECK(pays(64, 96, 96, 3, 2, 4));
  CHECK_FALSE(pays(64, 96, 96, 3, 2, 2));
  // Too few groups for a device.
  CHECK_FALSE(pays(16, 96, 96, 3));
  CHECK_FALSE(pays(64, 32, 32, 7));
  // A plan merges where it pays.
  CHECK(merges(make_separable({1, 64, 64, 16, 16, 3, 1, 1}), gpu::merging::automatic));
  CHECK_FALSE(merges(make_separable(chain), gpu::merging::automatic));
}
