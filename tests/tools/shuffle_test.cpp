// SPDX-License-Identifier: MIT
// Shuffled channels are read where they were: units of ShuffleNet have one copy each, and networks sampled at random,
// with parts that can and that cannot be read so, give what the reference evaluator gives.
#include <doctest/doctest.h>

#include <algorithm>

#include "compile/compile.hpp"
#include "engine/engine.hpp"
#include "engine/model_file.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "passes/fuse/fuse.hpp"
#include "passes/shuffle/shuffle.hpp"
#include "check/compare.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"
#include "tools/random_choices.hpp"

using namespace nsk::test;

namespace {

/// Images of a network, with the operators that ShuffleNet has.
class shuffle_network : random_choices {
 public:
  explicit shuffle_network(unsigned seed) : random_choices(seed), m_builder(18) {}

  value_id input(const shape_t& shape) { return known(m_builder.input("x", shape), shape); }
  const shape_t& shape(value_id v) const { return m_shapes.at(v); }

  value_id shuffled(value_id v, std::int64_t groups) {
    const shape_t s = shape(v);
    const std::int64_t length = s[1] / groups;
    const value_id cut = node("Reshape", {v, lengths({s[0], groups, length, s[2], s[3]})}, s),
                   transposed = node("Transpose", {cut}, s, {{"perm", ints{0, 2, 1, 3, 4}}});
    return node("Reshape", {transposed, lengths(s)}, s);
  }
  value_id part(value_id v, std::int64_t begin, std::int64_t end) {
    shape_t s = shape(v);
    s[1] = end - begin;
    return node("Slice", {v, lengths({begin}), lengths({end}), lengths({1})}, s);
  }
  value_id conv(value_id v, std::int64_t outputs, std::int64_t kernel, std::int64_t stride, bool depthwise = false) {
    const shape_t x = shape(v);
    const std::int64_t pad = kernel / 2;
    const shape_t y = {x[0], outputs, (x[2] - 1) / stride + 1, (x[3] - 1) / stride + 1};
    return node("Conv", {v, numbers({outputs, depthwise ? 1 : x[1], kernel, kernel}), numbers({outputs})}, y,
                {{"pads", ints{pad, pad, pad, pad}},
                 {"strides", ints{stride, stride}},
                 {"group", depthwise ? outputs : std::int64_t{1}}});
  }
  value_id joined(value_id a, value_id b) {
    shape_t s = shape(a);
    s[1] += shape(b)[1];
    return node("Concat", {a, b}, s, {{"axis", std::int64_t{1}}});
  }
  value_id sum(value_id a, value_id b) { return node("Add", {a, b}, shape(a)); }
  value_id relu(value_id v) { return node("Relu", {v}, shape(v)); }

  /// A unit of ShuffleNet behind a shuffle of two groups: half of the channels pass, half are convolved.
  value_id unit(value_id v) {
    const std::int64_t half = shape(v)[1] / 2;
    const value_id branch = relu(conv(part(v, half, 2 * half), half, 1, 1));
    return joined(part(v, 0, half), relu(conv(conv(branch, half, 3, 1, true), half, 1, 1)));
  }
  /// Readers of shuffled channels, chosen at random, some of which need the copy.
  value_id random_unit(value_id v, std::int64_t groups) {
    const std::int64_t channels = shape(v)[1], length = channels / groups, stride = pick({1, 1, 2});
    if (one_in(8)) m_builder.output(v);
    if (one_in(8)) m_builder.output(relu(v));
    if (one_in(8)) m_builder.output(sum(conv(v, channels, 1, 1), v));
    if (one_in(6)) {
      const std::int64_t begin = between(0, channels - groups);
      m_builder.output(conv(part(v, begin, begin + groups * between(1, (channels - begin) / groups)), 8, 1, 1));
    }
    if (one_in(3)) {
      const value_id other = conv(v, channels, 1, stride);
      value_id depthwise = conv(v, channels, 3, stride, true);
      if (one_in(2)) depthwise = relu(depthwise);
      if (one_in(3)) depthwise = sum(depthwise, other);
      return joined(conv(depthwise, pick({8, 12}), 1, 1), conv(v, pick({8, 12}), pick({1, 1, 3}), stride));
    }
    const std::int64_t cut = one_in(4) ? between(1, channels - 1) : groups * between(1, length - 1);
    const value_id low = part(v, 0, cut), high = part(v, cut, channels), read = one_in(2) ? low : high;
    const value_id branch = conv(read, pick({8, 12, 20}), pick({1, 1, 1, 3}), 1);
    if (one_in(6)) m_builder.output(conv(read, 4, 1, 2));
    return joined(read == low ? high : low, one_in(2) ? relu(branch) : branch);
  }
  graph random_graph() {
    const std::int64_t groups = pick({2, 2, 3, 4});
    value_id v = input({1, groups * between(2, 9), between(4, 9), between(4, 9)});
    for (std::int64_t i = between(1, 3); i-- > 0;) {
      if (shape(v)[1] % groups != 0) v = conv(v, groups * between(2, 9), 1, 1);
      v = random_unit(shuffled(v, groups), groups);
    }
    return finished(v);
  }
  graph finished(value_id v) {
    m_builder.output(v);
    resolve(m_builder.g, {});
    return m_builder.g;
  }

 private:
  value_id known(value_id v, const shape_t& s) {
    m_shapes[v] = s;
    return v;
  }
  std::string name() { return "v" + std::to_string(m_count++); }
  value_id node(const std::string& op, const std::vector<value_id>& inputs, const shape_t& result,
                const std::map<std::string, attribute>& attributes = {}) {
    return known(m_builder.node_of(op, inputs, name(), attributes), result);
  }
  value_id lengths(const shape_t& s) {
    if (s.size() == 1) return m_builder.constant(name(), make_ints({1}, s));
    return m_builder.ints(name(), s);
  }
  value_id numbers(const shape_t& of) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count_of(of); ++i)
      values.push_back(static_cast<float>(between(-1000, 1000)) / 4000.0f);
    return m_builder.floats(name(), of, values);
  }

  graph_builder m_builder;
  std::map<value_id, shape_t> m_shapes;
  int m_count = 0;
};

model_file made_of(const graph& g) { return open_model(compile({{"default", g}}, {}), "network"); }

int copies_of(const model_file& file) {
  int copies = 0;
  const nsk::variant_view v = file.view.variant(0);
  for (int i = 0; i < v.step_count(); ++i) copies += v.step(i).op() == nsk::op::copy;
  return copies;
}

/// The network as the pass meets it, all its operations exact or none.
program program_of(const graph& g, bool exact = false) {
  program p = canonicalise(g, {}, byte_kernels::present);
  fuse(p);
  for (operation& o : p.operations) o.exact = exact;
  return p;
}

/// Whether the pass lets a convolution read another value, or through another window.
bool is_taken_apart(program p) {
  const auto windows = [&] {
    std::vector<int> found;
    for (const operation& o : p.operations)
      if (const auto* c = o.as<conv_parameters>()) found.insert(found.end(), {o.inputs[0], c->w.kernel_w});
    return found;
  };
  const std::vector<int> before = windows();
  read_before_shuffles(p);
  return windows() != before;
}

void check_against_reference(const graph& g, const model_file& file) {
  for (const std::string isa : {"", "scalar"}) {
    const auto runner = choose_engine(isa).open(file.bytes.data(), file.bytes.size(), 1, 0);
    CHECK(compare_on_random(g, file.view, *runner, 3, {}, [](const std::string&) {}).within(1e-4));
  }
}

}

TEST_CASE("units of ShuffleNet copy the channels that pass, and nothing else") {
  shuffle_network n(1);
  const value_id x = n.input({1, 5, 8, 6});
  value_id v = n.joined(n.conv(x, 14, 3, 1), n.conv(x, 14, 1, 1));
  constexpr int units = 3;
  for (int i = 0; i < units; ++i) v = n.unit(n.shuffled(v, 2));
  const value_id last = n.shuffled(v, 2);
  const graph g = n.finished(n.joined(n.conv(n.conv(last, 28, 3, 2, true), 8, 1, 1), n.conv(last, 8, 1, 2)));
  CHECK(is_taken_apart(program_of(g)));
  CHECK_FALSE(is_taken_apart(program_of(g, true)));
  const model_file file = made_of(g);
  CHECK(copies_of(file) == units);
  check_against_reference(g, file);
}

TEST_CASE("networks of shuffles give what the reference gives") {
  constexpr int networks = 300, min_taken_apart = 120;
  int taken_apart = 0;
  for (unsigned seed = 0; seed < networks; ++seed) {
    CAPTURE(seed);
    const graph g = shuffle_network(seed).random_graph();
    taken_apart += is_taken_apart(program_of(g));
    check_against_reference(g, made_of(g));
  }
  MESSAGE(taken_apart, " of ", networks, " networks had shuffles that were taken apart");
  CHECK(taken_apart >= min_taken_apart);
}
