// SPDX-License-Identifier: MIT
#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include "passes/fuse/fuse.hpp"
#include "ops/lower.hpp"

using namespace nsk::tool;

namespace {

int data(program& p, const std::string& name, shape_t shape) {
  return p.add({name, element::f32, std::move(shape), nullptr});
}
int constant(program& p, const std::string& name, shape_t shape, const std::vector<float>& values) {
  return p.add({name, element::f32, shape, std::make_shared<array>(make_floats(shape, values))});
}
operation& add(program& p, operation_parameters parameters, std::vector<int> inputs, int output) {
  operation o;
  o.name = p.values[static_cast<std::size_t>(output)].name;
  o.inputs = std::move(inputs);
  o.output = output;
  o.p = std::move(parameters);
  p.operations.push_back(std::move(o));
  return p.operations.back();
}
conv_parameters conv(int inputs, int outputs, int kernel = 1, int pad = 0) {
  conv_parameters c;
  c.w.kernel_h = c.w.kernel_w = kernel;
  c.w.pad_top = c.w.pad_left = pad;
  c.outputs = outputs;
  c.weights.assign(static_cast<std::size_t>(inputs * outputs * kernel * kernel), 2.0);
  c.bias.assign(static_cast<std::size_t>(outputs), 1.0);
  return c;
}
post_operation relu() {
  post_operation post;
  post.fn = nsk::function::clip;
  post.beta = std::numeric_limits<double>::infinity();
  return post;
}

}

TEST_CASE("scale, offset and activation vanish in the convolution before them") {
  program p;
  const int x = data(p, "x", {1, 2, 4, 4}), a = data(p, "a", {1, 2, 4, 4}), b = data(p, "b", {1, 2, 4, 4}),
            c = data(p, "c", {1, 2, 4, 4}), y = data(p, "y", {1, 2, 4, 4});
  p.inputs = {x};
  p.outputs = {y};
  add(p, conv(2, 2), {x}, a);
  add(p, nsk::binary_params{nsk::binary_kind::mul}, {a, constant(p, "s", {2, 1, 1}, {3, 5})}, b);
  add(p, nsk::binary_params{nsk::binary_kind::sub}, {b, constant(p, "t", {1, 2, 1, 1}, {1, 2})}, c);
  add(p, nsk::unary_params{}, {c}, y).post = relu();
  fuse(p);
  REQUIRE(p.operations.size() == 1);
  const auto* k = p.operations[0].as<conv_parameters>();
  REQUIRE(k);
  CHECK(k->weights == std::vector<double>{6, 6, 10, 10});
  CHECK(k->bias == std::vector<double>{2, 3});
  CHECK(p.operations[0].post.fn == nsk::function::clip);
  CHECK(p.operations[0].output == y);
}

namespace {

/// Queries, keys and values of one dense layer, the queries scaled behind a transposition: [4, 2] to [4, 6].
program attention(std::int64_t keys_from = 2, bool is_exact = false) {
  program p;
  const int x = data(p, "x", {4, 2}), all = data(p, "all", {4, 6}), q = data(p, "q", {4, 2}), k = data(p, "k", {4, 2}),
            transposed = data(p, "transposed", {2, 4}), scaled = data(p, "scaled", {2, 4}), y = data(p, "y", {4, 4});
  p.inputs = {x};
  p.outputs = {y};
  add(p, dense_parameters{2, 6, std::vector<double>(12, 3.0), std::vector<double>(6, 1.0)}, {x}, all);
  add(p, slice_parameters{{0, 0}, {1, 1}}, {all}, q);
  add(p, slice_parameters{{0, keys_from}, {1, 1}}, {all}, k);
  add(p, transpose_parameters{{1, 0}}, {q}, transposed);
  add(p, nsk::binary_params{nsk::binary_kind::div}, {transposed, constant(p, "c", {}, {2})}, scaled).exact = is_exact;
  add(p, nsk::mat_mul_params{}, {k, scaled}, y);
  return p;
}
bool divides(const program& p) {
  return std::any_of(p.operations.begin(), p.operations.end(),
                     [](const operation& o) { return o.as<nsk::binary_params>() != nullptr; });
}

}

TEST_CASE("a scale behind moves of some columns of a dense layer goes into these, and they lose the source's name") {
  program p = attention();
  fuse(p);
  CHECK(!divides(p));
  const auto* d = p.operations[0].as<dense_parameters>();
  REQUIRE(d);
  CHECK(d->weights == std::vector<double>{1.5, 1.5, 3, 3, 3, 3, 1.5, 1.5, 3, 3, 3, 3});
  CHECK(d->bias == std::vector<double>{0.5, 0.5, 1, 1, 1, 1});
  CHECK(p.values[static_cast<std::size_t>(p.operations[0].output)].name == "all#scaled");
}

TEST_CASE("a scale behind a product of moved layers goes into one of them") {
  const auto scores = [](bool square) {
    program p;
    const int x = data(p, "x", {4, 2}), q = data(p, "q", {4, 2}), k = data(p, "k", {4, 2}),
              keys = data(p, "keys", {2, 4}), product = data(p, "product", {4, 4}), y = data(p, "y", {4, 4});
    p.inputs = {x};
    p.outputs = {y};
    const auto dense = [](double w) { return dense_parameters{2, 2, std::vector<double>(4, w), {1, 1}}; };
    add(p, dense(3), {x}, q);
    add(p, dense(5), {x}, k);
    add(p, transpose_parameters{{1, 0}}, {k}, keys);
    add(p, nsk::mat_mul_params{}, square ? std::vector<int>{keys, keys} : std::vector<int>{q, keys}, product);
    add(p, nsk::binary_params{nsk::binary_kind::div}, {product, constant(p, "c", {}, {2})}, y);
    fuse(p);
    return p;
  };
  const program p = scores(false);
  CHECK(!divides(p));
  const auto *q = p.operations[0].as<dense_parameters>(), *k = p.operations[1].as<dense_parameters>();
  REQUIRE(q);
  REQUIRE(k);
  CHECK(q->weights == std::vector<double>(4, 1.5));
  CHECK(q->bias == std::vector<double>(2, 0.5));
  CHECK(k->weights == std::vector<double>(4, 5.0));
  CHECK(p.operations.back().output == p.outputs[0]);
  CHECK(p.values[static_cast<std::size_t>(p.operations[0].output)].name == "q#scaled");
  CHECK(divides(scores(true)));  // a square would be scaled twice
}

TEST_CASE("a scale stays where other operations read the columns, and where it is exact") {
  for (program p : {attention(1), attention(2, true)}) {
    fuse(p);
    CHECK(divides(p));
  }
  program p = attention();
  p.outputs.push_back(p.operations[0].output);
  fuse(p);
  CHECK(divides(p));
}

TEST_CASE("columns that see padding and are cut off are not computed; others are") {
  for (const std::int64_t kept : {7, 6, 5, 4}) {
    program p;
    const int x = data(p, "x", {1, 2, 3, 6}), a = data(p, "a", {1, 2, 3, 8}), y = data(p, "y", {1, 2, 3, kept});
    p.inputs = {x};
    p.outputs = {y};
    conv_parameters c = conv(2, 2, 1);
    c.w.kernel_w = 3;
    c.w.pad_left = 2;
    c.weights.assign(12, 2.0);
    add(p, c, {x}, a);
    add(p, slice_parameters{{0, 0, 0, 0}, {1, 1, 1, 1}}, {a}, y);
    fuse(p);
    CHECK(p.operations.size() == (kept >= 6 ? 1 : 2));
  }
}

TEST_CASE("a value that is read twice or is an output is not folded away") {
  program p;
  const int x = data(p, "x", {1, 2, 4, 4}), a = data(p, "a", {1, 2, 4, 4}), y = data(p, "y", {1, 2, 4, 4});
  p.inputs = {x};
  p.outputs = {y, a};
  add(p, conv(2, 2), {x}, a);
  add(p, nsk::unary_params{}, {a}, y).post = relu();
  fuse(p);
  CHECK(p.operations.size() == 2);
}

TEST_CASE("the residual goes into the later of two convolutions, then the activation behind it") {
  program p;
  const int x = data(p, "x", {1, 2, 4, 4}), a = data(p, "a", {1, 2, 4, 4}), b = data(p, "b", {1, 2, 4, 4}),
            s = data(p, "s", {1, 2, 4, 4}), y = data(p, "y", {1, 2, 4, 4});
  p.inputs = {x};
  p.outputs = {y};
  add(p, conv(2, 2), {x}, a);
  add(p, conv(2, 2), {x}, b);
  add(p, nsk::binary_params{nsk::binary_kind::add}, {a, b}, s);
  add(p, nsk::unary_params{}, {s}, y).post = relu();
  fuse(p);
  REQUIRE(p.operations.size() == 2);
  CHECK(p.operations[0].output == a);
  CHECK(p.operations[1].post.residual == a);
  CHECK_FALSE(p.operations[1].post.activation_first);
  CHECK(p.operations[1].post.fn == nsk::function::clip);
}

TEST_CASE("an activation before the sum stays before the sum") {
  program p;
  const int x = data(p, "x", {1, 2, 4, 4}), a = data(p, "a", {1, 2, 4, 4}), b = data(p, "b", {1, 2, 4, 4}),
            y = data(p, "y", {1, 2, 4, 4});
  p.inputs = {x};
  p.outputs = {y};
  add(p, conv(2, 2), {x}, a);
  add(p, nsk::unary_params{}, {a}, b).post = relu();
  add(p, nsk::binary_params{nsk::binary_kind::add}, {b, x}, y);
  fuse(p);
  REQUIRE(p.operations.size() == 1);
  CHECK(p.operations[0].post.residual == x);
  CHECK(p.operations[0].post.activation_first);
}

TEST_CASE("a sum behind moves that keep the rows of a dense layer goes into it; others stay") {
  const auto behind = [](std::vector<int> permutation, bool has_function) {
    program p;
    const int x = data(p, "x", {1, 4, 2}), flat = data(p, "flat", {4, 2}), d = data(p, "d", {4, 2}),
              apart = data(p, "apart", {2, 2, 2}), transposed = data(p, "transposed", {2, 2, 2}),
              y = data(p, "y", {1, 4, 2}), sum = data(p, "sum", {1, 4, 2}), moved = data(p, "moved", {1, 4, 2});
    p.inputs = {x};
    p.outputs = {has_function ? y : sum};
    add(p, reshape_parameters{}, {x}, flat);
    add(p, dense_parameters{2, 2, std::vector<double>(4, 3.0), std::vector<double>(2, 1.0)}, {flat}, d);
    add(p, reshape_parameters{}, {d}, apart);
    add(p, transpose_parameters{std::move(permutation)}, {apart}, transposed);
    add(p, reshape_parameters{}, {transposed}, moved);
    add(p, nsk::binary_params{nsk::binary_kind::add}, {x, moved}, sum);
    if (has_function) add(p, nsk::unary_params{}, {sum}, y).post = relu();
    fuse(p);
    return p;
  };
  const auto sums = [](const program& p) {
    return std::count_if(p.operations.begin(), p.operations.end(),
                         [](const operation& o) { return o.as<nsk::binary_params>() != nullptr; });
  };
  const program p = behind({0, 1, 2}, false);
  CHECK(sums(p) == 0);
  CHECK(std::count_if(p.operations.begin(), p.operations.end(),
                      [](const operation& o) { return o.post.residual != no_value; }) == 1);
  CHECK(lower(p, {}).steps.size() == 1);
  CHECK(sums(behind({1, 0, 2}, false)) == 1);
  CHECK(sums(behind({0, 1, 2}, true)) == 1);
}

TEST_CASE("a dense layer on an image becomes a convolution and nothing is transposed") {
  program p;
  const int x = data(p, "x", {1, 3, 4, 5}), a = data(p, "a", {1, 2, 4, 5}), flat = data(p, "flat", {1, 40}),
            y = data(p, "y", {1, 7});
  p.inputs = {x};
  p.outputs = {y};
  add(p, conv(3, 2, 3, 1), {x}, a);
  add(p, reshape_parameters{}, {a}, flat);
  dense_parameters d;
  d.depth = 40;
  d.outputs = 7;
  d.weights.assign(280, 1.0);
  d.bias.assign(7, 0.0);
  add(p, d, {flat}, y);
  fuse(p);
  const plan layout = lower(p, {});
  REQUIRE(layout.steps.size() == 2);
  for (const plan_step& s : layout.steps) CHECK(s.kind() == nsk::op::conv_2d);
  CHECK(layout.inputs[0].source_axes == std::vector<int>{0, 2, 3, 1});
}

TEST_CASE("a layout that does not settle is refused, and the value named") {
  program p;
  const int x = data(p, "x", {1, 3, 6, 6}), a = data(p, "a", {1, 8, 6, 6}), y = data(p, "y", {1, 5, 6, 6});
  p.inputs = {x};
  p.outputs = {y};
  add(p, conv(3, 8), {x}, a);
  add(p, conv(8, 5, 3, 1), {a}, y);
  lower_options options;
  CHECK(lower(p, options).steps.size() == 2);
  options.max_rounds = 0;
  CHECK_THROWS_WITH(static_cast<void>(lower(p, options)),
                    doctest::Contains("memory layout of 'x' did not settle in 0 rounds"));
}

TEST_CASE("a concatenation along channels is written in place, with the border that its reader needs") {
  program p;
  const int x = data(p, "x", {1, 3, 6, 6}), a = data(p, "a", {1, 8, 6, 6}), b = data(p, "b", {1, 16, 6, 6}),
            c = data(p, "c", {1, 24, 6, 6}), y = data(p, "y", {1, 5, 6, 6});
  p.inputs = {x};
  p.outputs = {y};
  add(p, conv(3, 8), {x}, a);
  add(p, conv(3, 16), {x}, b);
  add(p, concat_parameters{1}, {a, b}, c);
  add(p, conv(24, 5, 3, 1), {c}, y);
  fuse(p);
  const plan layout = lower(p, {});
  REQUIRE(layout.steps.size() == 3);
  const plan_tensor &first = layout.tensor(layout.steps[0].outputs[0]),
                    &second = layout.tensor(layout.steps[1].outputs[0]);
  CHECK(first.storage == second.storage);
  CHECK(second.offset - first.offset == 8);
  CHECK(first.strides[2] == 24);
  CHECK(first.border.top == 1);
  CHECK(layout.tensor(layout.steps[2].inputs[0]).border.right == 1);
}
