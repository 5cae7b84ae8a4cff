// SPDX-License-Identifier: MIT
// Sessions: memory, inputs and outputs, results against an oracle in doubles, and every way of driving them, bit by
// bit.
#include <doctest/doctest.h>
#include <algorithm>
#include <thread>
#include "support.hpp"
#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace {
using nsk::status_code;
using test::bits_of;
using test::opened;

void set_input(nsk::session<>& net) {
  const std::vector<float> x = test::cnn_input();
  std::copy(x.begin(), x.end(), net.input<float>("image").begin());
}

/// What run() gives.
std::vector<std::uint32_t> expected_bits() {
  opened o(test::make_cnn().plan);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  net.run();
  return bits_of(net.output<float>(0));
}

TEST_CASE("session: results agree with the oracle") {
  const test::cnn_sample s = test::make_cnn();
  opened o(s.plan);
  REQUIRE(o.status);
  nsk::session<> net(o.model, o.memory.span());
  REQUIRE(net.status());
  set_input(net);
  net.run();
  const std::vector<double> expected = test::cnn_oracle(s, test::cnn_input());
  const nsk::span<const float> scores = net.output<float>("scores");
  REQUIRE(scores.size() == expected.size());
  // Logits are sums of a few hundred products of magnitude up to some tens; softmax turns their absolute error into a
  // relative one.
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(std::fabs(static_cast<double>(scores[i]) - expected[i]) <= 500 * 1.2e-7 * std::fmax(expected[i], 1e-6));
  }
}

TEST_CASE("session: memory is exact") {
  const test::plan_spec plan = test::make_cnn().plan;
  opened o(plan, 3);
  nsk::span<std::byte> all = o.memory.span();
  CHECK(nsk::session<>(o.model, all).lanes() == 3);
  CHECK(nsk::session<>(o.model, {all.data(), all.size() - 1}).lanes() == 2);
  const std::size_t one = o.model.required_bytes();
  CHECK(nsk::session<>(o.model, {all.data(), one}).status());
  CHECK(nsk::session<>(o.model, {all.data(), one - 1}).status().code() == status_code::too_little_memory);
  CHECK(nsk::session<>(o.model, {}).status().code() == status_code::too_little_memory);
  CHECK(nsk::session<>(o.model, {all.data() + 32, one}).status().code() == status_code::misaligned_memory);
  CHECK(nsk::session<>(o.model, all, 1).status().code() == status_code::bad_variant);
  CHECK(nsk::session<>(nsk::model(), all).status().code() == status_code::not_open);
  CHECK(nsk::session<>().status().code() == status_code::not_open);
}

TEST_CASE("session: one that could not start has nothing to run, and does no harm") {
  nsk::session<> net;  // run() and run_for() assert: tests/guards/asserts.cpp
  CHECK(net.step_count() == 0);
  CHECK(net.input_count() == 0);
  CHECK(net.state_bytes() == 0);
  nsk::span<float> floats;
  CHECK(net.input("x", floats).code() == status_code::not_open);
}

TEST_CASE("session: nothing outside the memory is touched") {
  const test::plan_spec plan = test::make_cnn().plan;
  opened o(plan);
  const std::size_t size = o.model.required_bytes(), guard = 4096;
  test::aligned_bytes block(size + 2 * guard, std::byte{0xa5});
  nsk::session<> net(o.model, {block.data() + guard, size});
  set_input(net);
  net.run();
  const auto untouched = [](std::byte b) { return b == std::byte{0xa5}; };
  CHECK(std::all_of(block.data(), block.data() + guard, untouched));
  CHECK(std::all_of(block.data() + guard + size, block.data() + block.size(), untouched));
}

TEST_CASE("session: ports by name, number and type") {
  opened o(test::make_cnn().plan);
  nsk::session<> net(o.model, o.memory.span());
  nsk::span<float> floats;
  nsk::span<std::int32_t> integers;
  nsk::span<const float> results;
  CHECK(net.input(0, floats));
  CHECK(floats.size() == 192);
  CHECK(net.input("image", floats));
  CHECK(net.input(1, floats).code() == status_code::no_such_port);
  CHECK(net.input(-1, floats).code() == status_code::no_such_port);
  CHECK(net.input("picture", floats).code() == status_code::no_such_port);
  CHECK(net.input(0, integers).code() == status_code::wrong_type);
  CHECK(net.output("scores", results));
  CHECK(results.size() == 10);
  CHECK(net.output(1, results).code() == status_code::no_such_port);
  CHECK(net.input_info(0).shape()[3] == 3);
  CHECK(net.output_bytes(0).size() == 40);
}

TEST_CASE("session: bound memory") {
  const std::vector<std::uint32_t> expected = expected_bits();
  opened o(test::make_cnn().plan);
  nsk::session<> net(o.model, o.memory.span());
  std::vector<float> x = test::cnn_input(), y(10, -1.0f);
  x.resize(x.size() + 16);
  REQUIRE(net.bind_input(0, nsk::as_bytes(x)));
  REQUIRE(net.bind_output(0, nsk::as_writable_bytes(y)));
  nsk::span<float> none;
  CHECK(net.input(0, none).code() == status_code::is_bound);
  CHECK(net.write<float>(0, x).code() == status_code::is_bound);
  net.run();
  CHECK(bits_of({y.data(), y.size()}) == expected);
  CHECK(net.output<float>(0).data() == y.data());
  CHECK(net.bind_input(0, {nsk::as_bytes(x).data(), 192 * 4 + 63}).code() == status_code::wrong_size);
  CHECK(net.bind_input(0, {nsk::as_bytes(x).data() + 1, 192 * 4 + 64}).code() == status_code::misaligned_memory);
  CHECK(net.bind_input(1, nsk::as_bytes(x)).code() == status_code::no_such_port);
  CHECK(net.bind_output(0, {nsk::as_writable_bytes(y).data(), 39}).code() == status_code::wrong_size);
  REQUIRE(net.bind_input("image", {}));
  REQUIRE(net.bind_output("scores", {}));
  CHECK(net.bind_output("image", {}).code() == status_code::no_such_port);
  set_input(net);
  net.run();
  CHECK(bits_of(net.output<float>(0)) == expected);
  CHECK(net.output<float>(0).data() != y.data());
}

struct only_copies : nsk::default_settings {
  using ops = nsk::op_list<nsk::op::copy, nsk::op::binary, nsk::op::unary>;
};
struct no_winograd : nsk::default_settings {
  static constexpr bool winograd = false;
};
struct no_negation : only_copies {
  using functions = nsk::function_list<nsk::function::identity>;
};

TEST_CASE("session: settings that lack what the model has are refused") {
  opened o(test::make_cnn().plan);
  const nsk::session<only_copies> net(o.model, o.memory.span());
  CHECK(net.status().code() == status_code::unsupported_op);
  CHECK(net.status().where() == 0);
  opened w(test::make_mixed());
  CHECK(nsk::session<no_winograd>(w.model, w.memory.span()).status().code() == status_code::unsupported_winograd);
  opened r(test::make_recurrent(false, false));
  CHECK(nsk::session<only_copies>(r.model, r.memory.span()).status());
  CHECK(nsk::session<no_negation>(r.model, r.memory.span()).status().code() == status_code::unsupported_function);
}

TEST_CASE("session: moving") {
  opened o(test::make_cnn().plan);
  nsk::session<> net;
  net = nsk::session<>(o.model, o.memory.span());
  set_input(net);
  nsk::session<> other(std::move(net));
  other.run();
  CHECK(bits_of(other.output<float>(0)) == expected_bits());
}

TEST_CASE("same bits: a second run, lanes, and jobs in any order") {
  const std::vector<std::uint32_t> expected = expected_bits();
  opened o(test::make_cnn().plan, 7);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  net.run();
  net.run();
  CHECK(bits_of(net.output<float>(0)) == expected);
  for (const int lanes : {0, 1, 2, 7})
    for (const int stride : {1, -1}) {
      test::ordered_jobs jobs{stride};
      std::fill(o.memory.data() + o.model.variant().shared_bytes(), o.memory.data() + o.memory.size(), std::byte{0xff});
      net.run(jobs, lanes);
      CHECK(bits_of(net.output<float>(0)) == expected);
    }
}

TEST_CASE("same bits: every operator, serial, on lanes and in slices") {
  opened o(test::make_mixed(), 5);
  REQUIRE(o.status);
  nsk::session<> net(o.model, o.memory.span());
  const std::vector<float> x = test::noise(5).many(net.input<float>(0).size());
  std::copy(x.begin(), x.end(), net.input<float>(0).begin());
  const auto results = [&] {
    std::vector<std::uint32_t> all;
    for (int i = 0; i < net.output_count(); ++i) {
      for (const std::uint32_t b : bits_of(net.output<float>(i))) all.push_back(b);
    }
    return all;
  };
  net.run();
  const std::vector<std::uint32_t> expected = results();
  for (int i = 0; i < 16; ++i) {  // softmax over rows: every column sums to one
    float sum = 0;
    for (std::size_t k = 0; k < 16; ++k) sum += net.output<float>("scores")[k * 16 + static_cast<std::size_t>(i)];
    CHECK(std::fabs(sum - 1.0f) < 1e-5f);
  }
  CHECK(net.output<float>("constant")[5] == 2.5f);
  test::ordered_jobs jobs{-1};
  net.run(jobs);
  CHECK(results() == expected);
  net.run(jobs, 2);
  CHECK(results() == expected);
  while (!net.run_for(nsk::work{0})) {
  }
  CHECK(results() == expected);
}

TEST_CASE("same bits: on every instruction set and compiler") {
  // Recorded once; a change here is a change of what files compute, and needs a new format version.
  const struct {
    test::plan_spec plan;
    std::uint64_t hash;
  } recorded[] = {{test::make_cnn().plan, 0xc845fece73185330u}, {test::make_mixed(), 0x67c2bd5ad94705afu}};
  for (const auto& r : recorded) {
    opened o(r.plan);
    nsk::session<> net(o.model, o.memory.span());
    const std::vector<float> x = test::noise(5).many(net.input<float>(0).size());
    std::copy(x.begin(), x.end(), net.input<float>(0).begin());
    net.run();
    std::vector<std::byte> all;
    for (int i = 0; i < net.output_count(); ++i) {
      for (const std::byte b : net.output_bytes(i)) all.push_back(b);
    }
    CHECK(nsk::content_hash({all.data(), all.size()}) == r.hash);
  }
}

struct threads {
  template <class F>
  void parallel_for(int count, F&& f) {
    std::vector<std::thread> pool;
    for (int i = 0; i < count; ++i) pool.emplace_back([&f, i] { f(i); });
    for (std::thread& t : pool) t.join();
  }
};

TEST_CASE("same bits: real threads") {
  const std::vector<std::uint32_t> expected = expected_bits();
  opened o(test::make_cnn().plan, 4);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  for (int round = 0; round < 20; ++round) {
    net.run(threads{}, 4);
    CHECK(bits_of(net.output<float>(0)) == expected);
  }
}

TEST_CASE("same bits: a job graph that runs tiles backwards on changing lanes") {
  opened o(test::make_cnn().plan, 3);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  int lane = 0;
  for (int s = 0; s < net.step_count(); ++s)
    for (int t = net.tile_count(s); t-- > 0;) net.run_tile(s, t, lane = (lane + 1) % 3);
  net.finish();
  CHECK(bits_of(net.output<float>(0)) == expected_bits());
}

TEST_CASE("same bits: slices of work cut at the same place with and without lanes") {
  const std::vector<std::uint32_t> expected = expected_bits();
  opened o(test::make_cnn().plan, 3);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  std::uint64_t whole = 0;
  for (int s = 0; s < net.step_count(); ++s) whole += nsk::impl::work_of(net.step_info(s));
  for (const std::uint64_t amount :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3000}, std::uint64_t{20000}, whole, ~std::uint64_t{0}}) {
    std::vector<int> places, places_with_jobs;
    while (!net.run_for(nsk::work{amount})) places.push_back(net.current_step());
    CHECK(bits_of(net.output<float>(0)) == expected);
    test::ordered_jobs jobs{-1};
    while (!net.run_for(nsk::work{amount}, jobs)) places_with_jobs.push_back(net.current_step());
    CHECK(bits_of(net.output<float>(0)) == expected);
    CHECK(places == places_with_jobs);
    if (amount >= whole) CHECK(places.empty());
    if (amount == 0) CHECK(places.size() > 15);  // one tile per call
  }
}

TEST_CASE("same bits: slices of time, from one tile up") {
  const std::vector<std::uint32_t> expected = expected_bits();
  opened o(test::make_cnn().plan, 3);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  for (const std::int64_t budget : {0, 1, 5, 1000}) {
    std::int64_t now = 0;
    const auto clock = [&] { return nsk::microseconds{++now}; };
    int slices = 1;
    while (!net.run_for(nsk::microseconds{budget}, clock)) ++slices;
    CHECK(bits_of(net.output<float>(0)) == expected);
    if (budget == 0) CHECK(slices > 15);
    if (budget == 1000) CHECK(slices == 1);
    const auto plain = [&] { return ++now; };
    test::ordered_jobs jobs;
    while (!net.run_for(nsk::microseconds{budget}, plain, jobs, 2)) {
    }
    CHECK(bits_of(net.output<float>(0)) == expected);
  }
}

TEST_CASE("session: an abandoned inference leaves no trace in the next one") {
  const std::vector<std::uint32_t> expected = expected_bits();
  opened o(test::make_cnn().plan);
  nsk::session<> net(o.model, o.memory.span());
  set_input(net);
  CHECK_FALSE(net.run_for(nsk::work{0}));
  net.restart();
  int slices = 1;
  while (!net.run_for(nsk::work{20000})) ++slices;
  CHECK(slices > 1);
  CHECK(bits_of(net.output<float>(0)) == expected);
  CHECK_FALSE(net.run_for(nsk::work{0}));
  net.run();
  CHECK(bits_of(net.output<float>(0)) == expected);
}

#if defined(__x86_64__) || defined(_M_X64)
TEST_CASE("same bits: the caller's flush-to-zero and rounding change nothing and are restored") {
  test::cnn_sample s = test::make_cnn();
  opened o(s.plan, 2);
  nsk::session<> net(o.model, o.memory.span());
  std::vector<float> tiny = test::cnn_input();
  for (float& v : tiny) v *= 1e-39f;  // denormal images
  std::copy(tiny.begin(), tiny.end(), net.input<float>(0).begin());
  net.run();
  const std::vector<std::uint32_t> expected = bits_of(net.output<float>(0));
  const unsigned found = _mm_getcsr(),
                 mode = found | 0x8040u | 0x2000u;  // flush to zero, denormals are zero, round down
  test::ordered_jobs jobs;
  int now = 0;
  const auto clock = [&] { return ++now; };
  _mm_setcsr(mode);
  net.run();
  const unsigned after_run = _mm_getcsr();
  const std::vector<std::uint32_t> serial = bits_of(net.output<float>(0));
  net.run(jobs);
  const unsigned after_jobs = _mm_getcsr();
  while (!net.run_for(nsk::microseconds{1}, clock)) {
  }
  net.run_tile(0, 0, 0);
  const unsigned after_step = _mm_getcsr();
  _mm_setcsr(found);
  CHECK(after_run == mode);
  CHECK(after_jobs == mode);
  CHECK(after_step == mode);
  CHECK(serial == expected);
  CHECK(bits_of(net.output<float>(0)) == expected);
}
#endif

struct counting_profiler {
  int begun = 0, ended = 0, last = -1;
  void begin(int step) {
    ++begun;
    last = step;
  }
  void end(int step) { ended += step == last; }
};
struct traced_settings : only_copies {
  using profiler = counting_profiler;
};

TEST_CASE("session: the trace hook sees every step") {
  opened o(test::make_recurrent(false, false));
  nsk::session<traced_settings> net(o.model, o.memory.span());
  REQUIRE(net.status());
  net.run();
  CHECK(net.profiler().begun == 3);
  CHECK(net.profiler().ended == 3);
  while (!net.run_for(nsk::work{1})) {
  }
  CHECK(net.profiler().begun == 6);
  CHECK(net.flags() == 0);
}

TEST_CASE("states: recurrence, reset, save and load") {
  for (const bool in_place : {false, true})
    for (const bool initial : {false, true}) {
      opened o(test::make_recurrent(in_place, initial));
      REQUIRE(o.status);
      nsk::session<> net(o.model, o.memory.span());
      REQUIRE(net.state_bytes() == 24);
      std::vector<std::byte> snapshot(24);
      std::vector<double> h(6);
      for (std::size_t i = 0; i < 6; ++i) h[i] = initial ? static_cast<double>(i + 1) : 0;
      const std::vector<double> start = h;
      const auto advance = [&](int t) {
        for (std::size_t i = 0; i < 6; ++i) {
          const float x = static_cast<float>(t * 8 + static_cast<int>(i));
          net.input<float>(0)[i] = x;
          h[i] = 0.5 * h[i] + static_cast<double>(x);
        }
        if (t % 2 == 0) {
          net.run();
        } else {
          while (!net.run_for(nsk::work{0})) {
          }
        }
        for (std::size_t i = 0; i < 6; ++i)
          CHECK(static_cast<double>(net.output<float>(0)[i]) == -h[i]);  // exact in float
      };
      for (int t = 0; t < 4; ++t) advance(t);
      REQUIRE(net.save({snapshot.data(), snapshot.size()}));
      const std::vector<double> saved = h;
      for (int t = 4; t < 7; ++t) advance(t);
      REQUIRE(net.load({snapshot.data(), snapshot.size()}));
      h = saved;
      advance(4);
      net.reset();
      h = start;
      advance(9);
      CHECK(net.save({snapshot.data(), 23}).code() == status_code::wrong_size);
      CHECK(net.load({snapshot.data(), 23}).code() == status_code::wrong_size);
    }
}

TEST_CASE("selftest: recorded outputs are reproduced, and a wrong one is found") {
  test::plan_spec p = test::make_recurrent(false, true);
  opened plain(p);
  nsk::session<> without(plain.model, plain.memory.span());
  CHECK(nsk::selftest(without).code() == status_code::no_check_vectors);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {-1.5f, -3, -4.5f, -6, -7.5f, -9};
  const auto bytes = [](const std::vector<float>& v) {
    const auto* p0 = reinterpret_cast<const std::uint8_t*>(v.data());
    return std::vector<std::uint8_t>(p0, p0 + v.size() * 4);
  };
  p.checks.push_back({{bytes(x)}, {bytes(y)}, 0});
  opened good(p);
  nsk::session<> net(good.model, good.memory.span());
  CHECK(nsk::selftest(net));
  CHECK(nsk::selftest(net));
  std::vector<float> wrong = y;
  wrong[5] += 1e-3f;
  p.checks[0].outputs[0] = bytes(wrong);
  opened bad(p);
  nsk::session<> other(bad.model, bad.memory.span());
  CHECK(nsk::selftest(other).code() == status_code::check_failed);
  p.checks[0].tolerance = 2e-3f;
  opened near_enough(p);
  nsk::session<> third(near_enough.model, near_enough.memory.span());
  CHECK(nsk::selftest(third));
}

}
