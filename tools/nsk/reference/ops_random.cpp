// SPDX-License-Identifier: MIT
/// Random numbers: the generator that the format describes, in double precision behind its integers. The key, the run
/// and the first row are 0, as in a new session.
#include <array>
#include <cmath>

#include "graph/onnx_type.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;
using words = std::array<std::uint64_t, 4>;

/// Philox 4x32-10 of a counter under the key 0, as its authors write it: a bijection of two 64-bit halves per round.
words philox(words counter) {
  constexpr std::uint64_t mask = 0xffffffffu;
  for (std::uint64_t round = 0; round < 10; ++round) {
    const std::uint64_t first = counter[0] * 0xD2511F53u, second = counter[2] * 0xCD9E8D57u;
    const std::uint64_t key_0 = round * 0x9E3779B9u & mask, key_1 = round * 0xBB67AE85u & mask;
    counter = {(second >> 32) ^ counter[1] ^ key_0, second & mask, (first >> 32) ^ counter[3] ^ key_1, first & mask};
  }
  return counter;
}

/// The numbers of one node, by row and place in the row.
class numbers {
 public:
  explicit numbers(const call& c) : m_stream(static_cast<std::uint64_t>(c.op().integer(random_stream, 0))) {}

  double uniform(i64 row, i64 place) const {
    return static_cast<double>(block(row, place)[static_cast<std::size_t>(place % 4)] >> 8) / 16777216.0;
  }
  double normal(i64 row, i64 place) const {
    const words w = block(row, place);
    const std::size_t pair = static_cast<std::size_t>(place % 4) / 2 * 2;
    const double pi = std::acos(-1.0), u = static_cast<double>((w[pair] >> 8) + 1) / 16777216.0,
                 angle = 2 * pi * (static_cast<double>(w[pair + 1] >> 8) / 16777216.0);
    return std::sqrt(-2 * std::log(u)) * (place % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
  double gumbel(i64 row, i64 place) const {
    const std::uint64_t word = block(row, place)[static_cast<std::size_t>(place % 4)];
    return -std::log(-std::log((static_cast<double>(word >> 9) + 0.5) / 8388608.0));
  }

 private:
  words block(i64 row, i64 place) const {
    return philox({static_cast<std::uint64_t>(place / 4), static_cast<std::uint64_t>(row), m_stream, 0});
  }
  std::uint64_t m_stream;
};

element type_attribute(const call& c, element fallback) {
  const i64 number = c.op().integer("dtype", -1);
  if (number < 0) return fallback;
  const std::optional<element> type = element_of_onnx(static_cast<std::int32_t>(number));
  if (!type || *type == element::string) c.fail("attribute 'dtype' names no type of numbers");
  return *type;
}

void infer_random(call& c) {
  const bool like = c.op().op.find("Like") != std::string::npos;
  c.require_inputs(like ? 1 : 0, like ? 1 : 0);
  const element type = type_attribute(c, like ? c.type(0) : element::f32);
  if (!is_float(type)) c.fail("random numbers are of a float type");
  if (!like && !c.op().has("shape")) c.fail("attribute 'shape' is missing");
  c.declare(0, type, like ? c.shape(0) : c.op().integers("shape"));
}

template <class Sample>
void fill(call& c, Sample sample) {
  const i64 count = c.out(0).count(), rows = c.out_shape(0).empty() ? 1 : c.out_shape(0)[0];
  for (i64 i = 0; i < count; ++i) c.out(0).set(i, sample(i / (count / rows), i % (count / rows)));
}

void evaluate_normal(call& c) {
  const numbers n(c);
  const double scale = static_cast<double>(c.op().number("scale", 1)),
               mean = static_cast<double>(c.op().number("mean", 0));
  fill(c, [&](i64 row, i64 place) { return mean + scale * n.normal(row, place); });
}

void evaluate_uniform(call& c) {
  const numbers n(c);
  const double low = static_cast<double>(c.op().number("low", 0)), high = static_cast<double>(c.op().number("high", 1));
  fill(c, [&](i64 row, i64 place) { return low + (high - low) * n.uniform(row, place); });
}

void infer_multinomial(call& c) {
  c.require_inputs(1, 1);
  c.require_float(0);
  c.require_rank(0, 2, 2);
  const element type = type_attribute(c, element::i32);
  c.require(type == element::i32 || type == element::i64, "attribute 'dtype' must be int32 or int64");
  const i64 samples = c.op().integer("sample_size", 1);
  c.require(samples >= 1 && c.shape(0)[1] >= 1, "its sample_size must be at least 1");
  c.declare(0, type, {c.shape(0)[0], samples});
}

void evaluate_multinomial(call& c) {
  const numbers n(c);
  const i64 classes = c.shape(0)[1], samples = c.out_shape(0)[1];
  for (i64 i = 0; i < c.out(0).count(); ++i) {
    const i64 row = i / samples;
    i64 best = 0;
    double maximum = -std::numeric_limits<double>::infinity();
    for (i64 k = 0; k < classes; ++k) {
      const double value = c.floats(0)[row * classes + k] + n.gumbel(row, i % samples * classes + k);
      if (value > maximum) {
        maximum = value;
        best = k;
      }
    }
    c.out(0).set_integer(i, best);
  }
}

void infer_bernoulli(call& c) {
  c.require_inputs(1, 1);
  c.require_float(0);
  c.declare(0, type_attribute(c, c.type(0)), c.shape(0));
}

void evaluate_bernoulli(call& c) {
  const numbers n(c);
  const double* p = c.floats(0);
  i64 i = 0;
  fill(c, [&](i64 row, i64 place) { return n.uniform(row, place) < p[i++] ? 1 : 0; });
}

}

bool is_random(const node& n) {
  return n.domain.empty() && (n.op.rfind("Random", 0) == 0 || n.op == "Multinomial" || n.op == "Bernoulli");
}

void add_random(table& t) {
  t["RandomNormal"] = t["RandomNormalLike"] = {infer_random, evaluate_normal};
  t["RandomUniform"] = t["RandomUniformLike"] = {infer_random, evaluate_uniform};
  t["Multinomial"] = {infer_multinomial, evaluate_multinomial};
  t["Bernoulli"] = {infer_bernoulli, evaluate_bernoulli, 15};
}

}
