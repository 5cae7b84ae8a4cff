// SPDX-License-Identifier: MIT
// Operators on integers and booleans on a device: the CPU's bits, and no byte beside the output's.
#include "../device_support.hpp"
#include "../typed_plan.hpp"

using namespace test;
using format::DataType;
using format::Operator;

namespace {

void check_bits(typed_plan& t) {
  tested_device* const on = device();
  if (!on) return;
  both<tested_device> net(*on);
  REQUIRE(net.open(t.finished()) == "");
  CHECK(first_wrong_step(net, 0) == "");
}

template <class T>
std::vector<T> as(const std::vector<std::int64_t>& values) {
  std::vector<T> r;
  for (const std::int64_t v : values) r.push_back(static_cast<T>(v));
  return r;
}

constexpr std::int64_t low64 = std::numeric_limits<std::int64_t>::min(), high64 = -(low64 + 1);
const std::vector<std::int64_t> integers = {0,
                                            1,
                                            -1,
                                            2,
                                            -2,
                                            127,
                                            128,
                                            -128,
                                            -129,
                                            255,
                                            256,
                                            32767,
                                            -32769,
                                            65537,
                                            2147483647,
                                            -2147483647 - 1,
                                            2147483648,
                                            -2147483649,
                                            4294967295,
                                            4294967296,
                                            16777217,
                                            16777219,
                                            -16777221,
                                            1099511627775,
                                            9007199791611905,
                                            -9007199254740993,
                                            high64,
                                            low64,
                                            high64 - 511,
                                            high64 - 512,
                                            33554435,
                                            3,
                                            -7};
const std::vector<DataType> types = {DataType::float32, DataType::int8,  DataType::uint8,  DataType::int16,
                                     DataType::int32,   DataType::int64, DataType::boolean};

/// Numbers at which conversions change their minds.
std::vector<float> floats() {
  constexpr float inf = std::numeric_limits<float>::infinity(), tiny = std::numeric_limits<float>::denorm_min();
  return {0.0f,          -0.0f,          0.5f,           -0.5f,
          0.99999994f,   1.0f,           -1.5f,          2.5f,
          127.6f,        128.0f,         -128.9f,        -129.0f,
          255.5f,        256.0f,         -1.0f,          32768.0f,
          65536.5f,      8388609.0f,     16777217.0f,    2147483520.0f,
          2147483648.0f, -2147483648.0f, -2147483904.0f, 1e10f,
          -1e15f,        9.2233715e18f,  9.223372e18f,   -9.223372e18f,
          -9.3e18f,      3e38f,          -3e38f,         inf,
          -inf,          tiny,           -tiny,          std::numeric_limits<float>::quiet_NaN(),
          4294967296.0f};
}

/// The integers, or the floats, in the arena as elements of a type.
std::uint32_t add_numbers(typed_plan& t, DataType type) {
  switch (type) {
    case DataType::float32: return t.add_values(floats(), type);
    case DataType::int8: return t.add_values(as<std::int8_t>(integers), type);
    case DataType::uint8: return t.add_values(as<std::uint8_t>(integers), type);
    case DataType::int16: return t.add_values(as<std::int16_t>(integers), type);
    case DataType::int32: return t.add_values(as<std::int32_t>(integers), type);
    case DataType::int64: return t.add_values(integers, type);
    default: return t.add_values(std::vector<std::uint8_t>{0, 1, 1, 0, 0, 1, 1}, type);
  }
}
/// All pairs of some integers: the first operand, the second, and their shape.
struct pairs {
  std::uint32_t a, b;
  std::vector<std::int32_t> shape;
};
template <class T>
pairs add_pairs(typed_plan& t, const std::vector<T>& values, DataType type) {
  std::vector<T> a, b;
  for (const T x : values)
    for (const T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  const auto n = static_cast<std::int32_t>(a.size());
  return {t.add_values(a, type), t.add_constant(b, type, {n}), {n}};
}
pairs add_pairs(typed_plan& t, DataType type) {
  switch (type) {
    case DataType::float32: return add_pairs(t, floats(), type);
    case DataType::int32: return add_pairs(t, as<std::int32_t>(integers), type);
    case DataType::int64: return add_pairs(t, integers, type);
    case DataType::uint8: return add_pairs(t, as<std::uint8_t>(integers), type);
    default: return add_pairs(t, std::vector<std::uint8_t>{0, 1}, type);
  }
}

}

TEST_CASE("conversions on a device give the CPU's bits between all types") {
  typed_plan t;
  for (const DataType from : types) {
    const std::uint32_t x = add_numbers(t, from);
    for (const DataType to : types) t.step(Operator::Cast, {x}, t.p.tensors[x].shape, to, 1);
  }
  check_bits(t);
}

TEST_CASE("comparisons on a device give the CPU's bits, with NaN and without") {
  typed_plan t;
  for (const DataType type :
       {DataType::float32, DataType::uint8, DataType::int32, DataType::int64, DataType::boolean}) {
    const pairs x = add_pairs(t, type);
    for (int kind = 0; kind < 4; ++kind)
      t.step(Operator::Compare, {x.a, x.b}, x.shape, DataType::boolean, kind).compare =
          static_cast<format::CompareKind>(kind);
  }
  check_bits(t);
}

TEST_CASE("arithmetic on a device gives the CPU's bits, by zero too") {
  typed_plan t;
  for (const DataType type : {DataType::int32, DataType::int64, DataType::boolean}) {
    const pairs x = add_pairs(t, type);
    for (int kind = type == DataType::boolean ? 8 : 0; kind < 11; ++kind)
      t.step(Operator::Arithmetic, {x.a, x.b}, x.shape, type).arithmetic = static_cast<format::ArithmeticKind>(kind);
  }
  check_bits(t);
}

TEST_CASE("choices, gathers and fills on a device move elements of every size") {
  typed_plan t;
  const std::uint32_t condition = t.add_values(std::vector<std::uint8_t>{1, 0, 1, 1, 0}, DataType::boolean);
  const std::vector<std::int32_t> picks = {0, 6, -1, -7, 7, 100, -8, -100, 3};
  const std::uint32_t indices = t.add_values(picks, DataType::int32);
  const std::uint32_t wide_indices =
      t.add_constant(std::vector<std::int64_t>{2, -1, low64, high64, 4294967296}, DataType::int64, {5});
  for (const DataType type : types) {
    const std::uint32_t x = add_numbers(t, type), buffer = t.p.tensors[x].buffer;
    const auto part = [&](std::vector<std::int32_t> shape, std::int64_t skip) {
      const std::uint32_t v = t.p.add_tensor("part", std::move(shape), buffer, type);
      t.p.tensors[v].offset = static_cast<std::uint64_t>(skip * nsk::size_of(static_cast<nsk::dtype>(type)));
      return v;
    };
    t.step(Operator::Select, {condition, part({5}, 0), part({5}, 2)}, {5}, type, 2);
    t.step(Operator::Gather, {part({7}, 0), indices}, {9}, type, 1).axis = 0;
    t.step(Operator::Gather, {part({1, 7}, 0), wide_indices}, {1, 5}, type).axis = 1;
    t.step(Operator::GatherElements, {part({7}, 0), wide_indices}, {5}, type).axis = 0;
    t.step(Operator::Fill, {}, {3, 3}, type, 3).value = -2.5f;
    t.step(Operator::Fill, {}, {2}, type).value = 3e10f;
  }
  check_bits(t);
}

TEST_CASE("copies on a device transpose elements of every size") {
  typed_plan t;
  const std::vector<std::int64_t> values(integers.begin(), integers.begin() + 30);
  for (const DataType type : {DataType::uint8, DataType::int16, DataType::int32, DataType::int64}) {
    const std::uint32_t x = type == DataType::uint8   ? t.add_values(as<std::uint8_t>(values), type)
                            : type == DataType::int16 ? t.add_values(as<std::int16_t>(values), type)
                            : type == DataType::int32 ? t.add_values(as<std::int32_t>(values), type)
                                                      : t.add_values(values, type);
    const std::uint32_t transposed = t.p.add_tensor("transposed", {5, 3, 2}, t.p.tensors[x].buffer, type);
    t.p.tensors[transposed].strides = {1, 10, 5};
    t.step(Operator::Copy, {transposed}, {5, 3, 2}, type, 1);
  }
  check_bits(t);
}

TEST_CASE("dispatches that share a word of small elements are kept apart by a barrier") {
  typed_plan t;
  const std::uint32_t x = t.add_values(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, DataType::uint8);
  const std::uint32_t whole = t.add({8}, DataType::uint8), buffer = t.p.tensors[whole].buffer;
  for (const std::uint64_t half : {0u, 1u}) {
    const std::uint32_t from = t.p.add_tensor("from", {3}, t.p.tensors[x].buffer, DataType::uint8);
    const std::uint32_t to = t.p.add_tensor("to", {3}, buffer, DataType::uint8);
    t.p.tensors[from].offset = t.p.tensors[to].offset = 3 * half;
    t.p.add_step(Operator::Copy, {from}, to);
  }
  const aligned_bytes file = t.finished().write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  std::vector<std::byte> space(nsk::gpu::plan::required_bytes(model.variant()));
  nsk::gpu::plan plan;
  REQUIRE(nsk::gpu::plan::make(model.variant(), {}, space, plan));
  CHECK(plan.dispatch(1).barrier);
  CHECK(plan.dispatch(2).barrier);
}
