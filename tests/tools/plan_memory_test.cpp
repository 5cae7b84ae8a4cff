// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <random>
#include "planner/planner.hpp"

using namespace nsk::tool;

namespace {

int add_tensor(plan& p, storage_kind kind, std::int32_t elements, int index = 0) {
  plan_storage s;
  s.kind = kind;
  s.elements = elements;
  s.index = index;
  p.storages.push_back(s);
  plan_tensor t;
  t.shape = {elements};
  t.strides = {1};
  t.storage = static_cast<int>(p.storages.size()) - 1;
  p.tensors.push_back(t);
  return static_cast<int>(p.tensors.size()) - 1;
}

template <nsk::op O>
void add_step(plan& p, std::vector<int> inputs, int output) {
  plan_step s;
  s.p.make<O>();
  s.inputs = std::move(inputs);
  s.outputs = {output};
  p.steps.push_back(s);
}

const plan_buffer& buffer_of(const plan& p, int tensor) {
  return p.buffers[static_cast<std::size_t>(p.storages[static_cast<std::size_t>(p.tensor(tensor).storage)].buffer)];
}

void check_disjoint(const plan& p) {
  for (std::size_t i = 0; i < p.buffers.size(); ++i)
    for (std::size_t k = i + 1; k < p.buffers.size(); ++k) {
      const plan_buffer &a = p.buffers[i], &b = p.buffers[k];
      if (a.kind == storage_kind::constant || b.kind == storage_kind::constant) continue;
      const bool meet = a.first_step <= b.last_step && b.first_step <= a.last_step;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      CHECK_FALSE((meet && overlap));
    }
}

}

TEST_CASE("element-wise results take the place of operands that end") {
  plan p;
  const int x = add_tensor(p, storage_kind::input, 100), a = add_tensor(p, storage_kind::arena, 100),
            b = add_tensor(p, storage_kind::arena, 100), y = add_tensor(p, storage_kind::output, 100);
  add_step<nsk::op::copy>(p, {x}, a);
  add_step<nsk::op::unary>(p, {a}, b);
  add_step<nsk::op::copy>(p, {b}, y);
  constant_pool pool;
  plan_memory(p, pool);
  CHECK(&buffer_of(p, a) == &buffer_of(p, b));
  CHECK(buffer_of(p, a).last_step == 2);
  check_disjoint(p);
}

TEST_CASE("an operand that is read again keeps its place") {
  plan p;
  const int x = add_tensor(p, storage_kind::input, 100), a = add_tensor(p, storage_kind::arena, 100),
            b = add_tensor(p, storage_kind::arena, 100), y = add_tensor(p, storage_kind::output, 100);
  add_step<nsk::op::copy>(p, {x}, a);
  add_step<nsk::op::unary>(p, {a}, b);
  add_step<nsk::op::binary>(p, {a, b}, y);
  constant_pool pool;
  plan_memory(p, pool);
  CHECK(&buffer_of(p, a) != &buffer_of(p, b));
  check_disjoint(p);
}

TEST_CASE("a large buffer takes the place of a larger one around its middle, where lanes keep their halves") {
  plan p;
  const int x = add_tensor(p, storage_kind::input, 64), a = add_tensor(p, storage_kind::arena, 1 << 20),
            b = add_tensor(p, storage_kind::arena, 1 << 18), c = add_tensor(p, storage_kind::arena, 1 << 19),
            y = add_tensor(p, storage_kind::output, 64);
  add_step<nsk::op::conv_2d>(p, {x}, a);
  add_step<nsk::op::conv_2d>(p, {a}, b);
  add_step<nsk::op::conv_2d>(p, {b}, c);
  add_step<nsk::op::conv_2d>(p, {c}, y);
  constant_pool pool;
  plan_memory(p, pool);
  const auto middle = [&](int t) { return buffer_of(p, t).offset + buffer_of(p, t).bytes / 2; };
  CHECK(middle(a) == middle(c));
  CHECK(p.arena_bytes < (4 << 20) + (1 << 20) + 4096);  // no larger than a and b, which meet
  check_disjoint(p);
}

TEST_CASE("on a GPU a buffer takes the place of one that ended long ago, where it need not wait") {
  for (const bool gpu : {false, true}) {
    CAPTURE(gpu);
    plan p;
    p.gpu = gpu;
    const int x = add_tensor(p, storage_kind::input, 64), ended = add_tensor(p, storage_kind::arena, 1024),
              small = add_tensor(p, storage_kind::arena, 32), fresh = add_tensor(p, storage_kind::arena, 2048),
              left = add_tensor(p, storage_kind::arena, 32), right = add_tensor(p, storage_kind::arena, 128),
              y = add_tensor(p, storage_kind::output, 16);
    add_step<nsk::op::conv_2d>(p, {x}, ended);
    add_step<nsk::op::conv_2d>(p, {ended}, small);
    add_step<nsk::op::binary>(p, {small, ended}, fresh);
    add_step<nsk::op::conv_2d>(p, {fresh}, left);
    add_step<nsk::op::conv_2d>(p, {x}, right);  // can run beside the one before
    add_step<nsk::op::binary>(p, {left, right}, y);
    constant_pool pool;
    plan_memory(p, pool);
    check_disjoint(p);
    const plan_buffer &f = buffer_of(p, fresh), &r = buffer_of(p, right);
    CHECK((r.offset < f.offset + f.bytes && f.offset < r.offset + r.bytes) == !gpu);
  }
}

TEST_CASE("random chains never overlap and reuse memory") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    plan p;
    p.gpu = round % 2 == 1;
    std::vector<int> made = {add_tensor(p, storage_kind::input, 64)};
    std::int64_t total = 0;
    for (int i = 0; i < 30; ++i) {
      const int t = add_tensor(p, storage_kind::arena, 1 + static_cast<int>(random() % 60000));
      total += p.tensor(t).shape[0] * 4;
      add_step<nsk::op::copy>(p, {made[made.size() - 1 - random() % std::min<std::size_t>(made.size(), 3)]}, t);
      made.push_back(t);
    }
    const int y = add_tensor(p, storage_kind::output, 10);
    add_step<nsk::op::copy>(p, {made.back()}, y);
    constant_pool pool;
    plan_memory(p, pool);
    check_disjoint(p);
    for (const plan_buffer& b : p.buffers) CHECK(b.offset + b.bytes <= p.arena_bytes);
    CHECK(p.arena_bytes < total);
  }
}

TEST_CASE("equal constants are stored once") {
  plan p;
  for (int i = 0; i < 3; ++i) {
    add_tensor(p, storage_kind::constant, 4);
    p.storages.back().data = std::make_shared<std::vector<std::byte>>(16, std::byte(i / 2));
  }
  constant_pool pool;
  plan_memory(p, pool);
  CHECK(p.storages[0].buffer == p.storages[1].buffer);
  CHECK(p.storages[0].buffer != p.storages[2].buffer);
  CHECK(pool.bytes.size() == 64 + 64);
  plan other;
  add_tensor(other, storage_kind::constant, 4);
  other.storages.back().data = p.storages[2].data;
  plan_memory(other, pool);  // another variant finds it there
  CHECK(pool.bytes.size() == 64 + 64);
  CHECK(other.buffers[0].offset == 64);
}
