// SPDX-License-Identifier: MIT
// Sessions of settings that have some kernels alone: what only makes them faster changes no bit, the rest is refused.
#include <algorithm>
#include <doctest/doctest.h>
#include <type_traits>
#include <netsuke/all_ops.hpp>
#include "../model/quantized_plan.hpp"
#include "../model/variants_plan.hpp"
#include "support.hpp"

namespace {
using nsk::reduce_kind;
using nsk::status_code;
using test::opened;

struct no_paths : nsk::default_settings {
  using paths = nsk::path_list<>;
};
struct another_path : nsk::default_settings {
  using paths = nsk::path_list<nsk::fast_path::square_5>;
};
struct no_pairs : nsk::default_settings {
  static constexpr bool panel_pairs = false;
};
struct no_prefetching : nsk::default_settings {
  static constexpr bool prefetch_weights = false;
};
struct no_variants : no_paths {
  static constexpr bool panel_pairs = false, prefetch_weights = false;
};
struct without_members {
  using ops = nsk::default_settings::ops;
  using functions = nsk::all_functions;
  using profiler = nsk::no_profiler;
  static constexpr bool winograd = true;
  static constexpr int bindable_ports = 16;
};

using nsk::impl::kernels_of;
struct no_pairs_either : nsk::default_settings {
  static constexpr bool panel_pairs = false;
};
static_assert(std::is_same_v<kernels_of<nsk::default_settings>, nsk::kernels::all_kernels>);
static_assert(std::is_same_v<kernels_of<without_members>, nsk::kernels::all_kernels>);
static_assert(std::is_same_v<kernels_of<no_variants>,
                             nsk::kernels::kernels_for<nsk::all_functions, nsk::path_list<>, false, false>>);
static_assert(std::is_same_v<kernels_of<another_path>,
                             nsk::kernels::kernels_for<nsk::all_functions, nsk::path_list<nsk::fast_path::square_5>>>);
static_assert(std::is_same_v<kernels_of<no_pairs>, kernels_of<no_pairs_either>>);
static_assert(!std::is_same_v<kernels_of<no_pairs>, kernels_of<no_prefetching>>);

template <class Settings>
std::vector<std::vector<std::uint32_t>> results_of(const opened& o, nsk::span<std::byte> memory) {
  nsk::session<Settings> net(o.model, memory);
  REQUIRE(net.status());
  const std::vector<float> x = test::noise(5).many(net.template input<float>(0).size());
  std::copy(x.begin(), x.end(), net.template input<float>(0).begin());
  net.run();
  std::vector<std::vector<std::uint32_t>> all;
  for (int i = 0; i < net.output_count(); ++i) all.push_back(test::bits_of(net.template output<float>(i)));
  return all;
}

template <class Kinds>
struct reducing : nsk::default_settings {
  using reduce_kinds = Kinds;
};
template <class Kinds>
struct pooling : nsk::default_settings {
  using pool_kinds = Kinds;
};
struct no_pooling_of_floats : nsk::all_settings {
  using pool_kinds = nsk::pool_list<>;
};
template <class Settings>
nsk::status status_of(const test::plan_spec& plan) {
  opened o(plan);
  return nsk::session<Settings>(o.model, o.memory.span()).status();
}
}

TEST_CASE("same bits: without kernels that only make a session faster") {
  opened o(test::make_variants());
  REQUIRE(o.status);
  const auto expected = results_of<nsk::default_settings>(o, o.memory.span());
  REQUIRE(expected.size() == 6);
  CHECK(results_of<no_paths>(o, o.memory.span()) == expected);
  CHECK(results_of<another_path>(o, o.memory.span()) == expected);
  CHECK(results_of<no_pairs>(o, o.memory.span()) == expected);
  CHECK(results_of<no_prefetching>(o, o.memory.span()) == expected);
  CHECK(results_of<no_variants>(o, o.memory.span()) == expected);
  CHECK(results_of<without_members>(o, o.memory.span()) == expected);
}

TEST_CASE("session: kinds that the settings do not list are refused with the step") {
  const test::plan_spec means = test::make_variants();
  const nsk::status no_mean = status_of<reducing<nsk::reduce_list<reduce_kind::max, reduce_kind::sum_square>>>(means);
  CHECK(no_mean.code() == status_code::unsupported_kind);
  CHECK(no_mean.where() == 2);
  const nsk::status no_maximum = status_of<pooling<nsk::pool_list<nsk::pool_kind::average>>>(means);
  CHECK(no_maximum.code() == status_code::unsupported_kind);
  CHECK(no_maximum.where() == 5);
  CHECK(status_of<pooling<nsk::pool_list<nsk::pool_kind::max>>>(means));
}

TEST_CASE("same bits: pooling of bytes without kinds of floats") {
  CHECK(status_of<no_pooling_of_floats>(test::make_variants()).code() == status_code::unsupported_kind);
  opened o(test::quantized::pooling());
  const auto pooled = [&](auto settings) {
    nsk::session<decltype(settings)> net(o.model, o.memory.span());
    REQUIRE(net.status());
    const nsk::span<std::byte> input = net.input_bytes(0);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i * 37 % 251);
    net.run();
    const nsk::span<const std::byte> output = net.output_bytes(0);
    return std::vector<std::byte>(output.begin(), output.end());
  };
  CHECK(pooled(no_pooling_of_floats{}) == pooled(nsk::all_settings{}));
}

TEST_CASE("same bits: kinds that are listed alone") {
  test::plan_spec plan = test::make_variants();
  const auto check_kind = [&](nsk::format::ReduceKind kind, auto settings) {
    plan.steps[2].reduce = kind;
    opened o(plan);
    CHECK(results_of<decltype(settings)>(o, o.memory.span()) == results_of<nsk::default_settings>(o, o.memory.span()));
  };
  using nsk::format::ReduceKind;
  check_kind(ReduceKind::mean, reducing<nsk::reduce_list<reduce_kind::sum>>{});
  check_kind(ReduceKind::sum, reducing<nsk::reduce_list<reduce_kind::mean>>{});
  check_kind(ReduceKind::max, reducing<nsk::reduce_list<reduce_kind::max>>{});
  check_kind(ReduceKind::min, reducing<nsk::reduce_list<reduce_kind::min>>{});
  check_kind(ReduceKind::prod, reducing<nsk::reduce_list<reduce_kind::prod>>{});
  check_kind(ReduceKind::sum_square, reducing<nsk::reduce_list<reduce_kind::sum_square>>{});
}
