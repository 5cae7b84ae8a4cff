// SPDX-License-Identifier: MIT
// What a run takes from the machine: no heap, and little stack.
#include <doctest/doctest.h>
#include <netsuke/image.hpp>
#include "../resources.hpp"
#include "../model/tree_ensemble_plan.hpp"
#include "../model/policy_plan.hpp"
#include "../model/recurrent_plan.hpp"
#include "support.hpp"

namespace {
using test::opened;

/// The operators that the default settings leave out.
struct index_settings : nsk::default_settings {
  using ops = nsk::op_list<nsk::op::cast, nsk::op::compare, nsk::op::select, nsk::op::arithmetic, nsk::op::gather,
                           nsk::op::gather_elements, nsk::op::arg_reduce, nsk::op::top_k, nsk::op::non_max_suppression,
                           nsk::op::layer_normalization, nsk::op::local_response_normalization, nsk::op::recurrent>;
};
/// Those of a policy and of trees.
struct agent_settings : nsk::default_settings {
  using ops = nsk::op_list<nsk::op::fully_connected, nsk::op::random, nsk::op::binary, nsk::op::softmax,
                           nsk::op::reduce, nsk::op::arg_reduce, nsk::op::gather, nsk::op::tree_ensemble>;
};

struct half_settings : nsk::default_settings {
  static constexpr bool half_weights = true;
};

/// Layers of float16 weights, whose kernels take the largest blocks: a deep convolution with windows outside of its
/// input, a depthwise and a shallow one with costly functions, and a sum in the place of its output.
test::plan_spec make_halves() {
  using test::format::Function;
  using test::format::Operator;
  test::plan_spec p;
  const auto halves = [&](std::int64_t channels, std::int64_t depth) {
    const auto count = static_cast<std::size_t>(nsk::panel_elements<nsk::half_bits>(channels, depth));
    const std::uint32_t t =
        p.add_constant("halves", std::vector<nsk::half_bits>(count, 0x2a00), test::format::DataType::float16);
    p.tensors[t].packing = test::format::Packing::panels;
    return t;
  };
  const std::uint32_t x = p.add_input("x", {1, 14, 14, 60}, 4), deep = p.add_dense("deep", {1, 14, 14, 72}, 0, 3),
                      taps = p.add_dense("taps", {1, 14, 14, 72}, 1, 2),
                      shallow = p.add_dense("shallow", {1, 14, 14, 72}, 2, 3),
                      y = p.add_output("y", {1, 14, 14, 72}, 3, 4);
  test::step_spec& first = p.add_step(Operator::Conv2D, {x, halves(72, 9 * 60)}, deep);
  first.window = test::format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  first.epilogue.function = Function::silu;
  p.lane_bytes = first.scratch_bytes = (16 * 9 * 60 * 4 + 63) / 64 * 64;
  test::step_spec& second = p.add_step(Operator::DepthwiseConv2D, {deep, halves(72, 9)}, taps);
  second.window = test::format::Window(3, 3, 1, 1, 1, 1, 1, 1);
  second.epilogue.function = Function::silu;
  p.add_step(Operator::Conv2D, {taps, halves(72, 72)}, shallow).epilogue.function = Function::silu;
  test::step_spec& last = p.add_step(Operator::Conv2D, {shallow, halves(72, 72), deep}, y);
  last.epilogue = {Function::silu, 0.0f, 0.0f, false, 2, -1};
  return p;
}

/// A convolution to three channels, whose strips are on the stack.
test::plan_spec make_few_outputs() {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 9, 150, 8}, 1);
  const std::uint32_t w = p.add_panels("w", std::vector<float>(9 * 8 * 3, 0.5f), std::vector<float>(3));
  p.add_step(test::format::Operator::Conv2D, {x, w}, p.add_output("y", {1, 7, 148, 3}, 0, 1)).window =
      test::format::Window(3, 3, 1, 1, 1, 1, 0, 0);
  return p;
}

/// Everything from the bytes to the second result.
template <class Settings>
void use_with(test::opened& o, float* result) {
  nsk::model m;
  const nsk::status s = nsk::open({o.file.data(), o.file.size()}, m, {true});
  nsk::session<Settings> net(m, o.memory.span());
  if (!s || !net) return;
  for (int i = 0; i < net.input_count(); ++i) {
    const nsk::span<std::byte> bytes = net.input_bytes(i);
    std::memset(bytes.data(), 0x3e, bytes.size());
  }
  net.run();
  test::ordered_jobs jobs;
  net.run(jobs);
  while (!net.run_for(nsk::work{1})) {
  }
  *result = net.template output<float>(0)[0];
}

/// With the default settings, or those that the plan needs.
void use(test::opened& o, float* result) {
  use_with<nsk::default_settings>(o, result);
  if (*result == -1) use_with<half_settings>(o, result);
  if (*result == -1) use_with<index_settings>(o, result);
  if (*result == -1) use_with<agent_settings>(o, result);
}

/// An image into a tensor, upright and slanted, and back.
struct shown_image {
  std::uint8_t pixels[30 * 20 * 4] = {1};
  float tensor[70 * 9 * 3] = {}, result = -1;

  void use() {
    nsk::image_settings how;
    nsk::image_to_tensor({pixels, 30, 20, 120, nsk::pixel_format::rgba8}, how, tensor, 9, 70);
    how.region = nsk::image_region::rotated(15, 10, 40, 30, 1);
    nsk::image_to_tensor({pixels, 30, 20, 120, nsk::pixel_format::rgba8}, how, tensor, 9, 70);
    nsk::tensor_to_image(tensor, {}, {pixels, 30, 20, 120, nsk::pixel_format::rgba8});
    result = tensor[0];
  }
};
}

#if defined(NSK_TEST_COUNTS_HEAP)
TEST_CASE("resources: not one heap call from open to the end of the last run") {
  const long before = test::heap_calls;
  char* volatile block = new char[100];
  delete[] block;
  REQUIRE(test::heap_calls > before);  // the hook works
  for (const test::plan_spec& plan :
       {test::make_cnn().plan, test::make_mixed(), test::make_recurrent(false, true), test::make_indices(),
        test::make_lstm(), test::make_policy(), test::make_tree_ensemble(), make_halves()}) {
    opened o(plan);
    REQUIRE(o.status);
    float result = -1;
    const long start = test::heap_calls;
    use(o, &result);
    const long end = test::heap_calls;
    CHECK(end == start);
    CHECK(result != -1);
  }
  shown_image image;
  const long start = test::heap_calls;
  image.use();
  CHECK(test::heap_calls == start);
}
#else
TEST_CASE("resources: not one heap call from open to the end of the last run") {
  MESSAGE("heap calls are counted with glibc and without sanitizers only: not counted in this build");
}
#endif

#if !defined(NSK_TEST_SANITIZED)
namespace {
struct painted_run {
  opened* o;
  float result;
};
void* run_painted(void* argument) {
  auto* p = static_cast<painted_run*>(argument);
  use(*p->o, &p->result);
  return nullptr;
}
}

TEST_CASE("resources: at most 32 KiB of stack from open to the end of the last run, 40 with float16 weights") {
  const auto stack_of_all = [](const test::plan_spec& plan) {
    opened o(plan);
    painted_run p{&o, -1};
    const std::size_t stack = test::own_stack_of(run_painted, &p);
    REQUIRE(p.result != -1);
    MESSAGE("stack: ", stack, " bytes");
    return stack;
  };
  for (const test::plan_spec& plan :
       {test::make_cnn().plan, test::make_mixed(), test::make_indices(), test::make_lstm(), test::make_policy(),
        test::make_tree_ensemble(), make_few_outputs()})
    CHECK(stack_of_all(plan) <= 32 * 1024);
  CHECK(stack_of_all(make_halves()) <= 40 * 1024);
}
TEST_CASE("resources: at most 8 KiB of stack between images and tensors") {
  shown_image image;
  const std::size_t stack = test::own_stack_of(
      [](void* p) -> void* {
        static_cast<shown_image*>(p)->use();
        return nullptr;
      },
      &image);
  REQUIRE(image.result != -1);
  MESSAGE("stack: ", stack, " bytes");
  CHECK(stack <= 8 * 1024);
}
#endif
