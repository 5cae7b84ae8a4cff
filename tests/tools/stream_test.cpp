// SPDX-License-Identifier: MIT
// Runs of operations in bands of rows compute the bits of the whole: networks sampled at random, for caches so small
// that nearly all of them are streamed, and the properties of bands themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "compile/compile.hpp"
#include "engine/engine.hpp"
#include "engine/model_file.hpp"
#include "errors.hpp"
#include "io/layout.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "passes/fuse/fuse.hpp"
#include "passes/stream/bands.hpp"
#include "passes/stream/stream.hpp"
#include "check/compare.hpp"
#include "check/random_inputs.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"
#include "tools/random_choices.hpp"

using namespace nsk::test;

namespace {

/// A chain of operations on images with sums, joins and slices of what was before, sampled from a seed.
class random_network : random_choices {
 public:
  explicit random_network(unsigned seed) : random_choices(seed), m_builder(18) {
    shape_t shape = {1, pick({3, 8, 16}), between(40, 70), between(20, 40)};
    m_values = {{m_builder.input("x", shape), shape}};
    for (std::int64_t i = between(3, 9); i-- > 0;) add_node();
    if (!one_in(4)) conv(pick({1, 3}));
    m_builder.output(m_values.back().first);
  }
  graph& network() { return m_builder.g; }

 private:
  std::string name() { return "v" + std::to_string(m_count++); }
  const shape_t& shape() const { return m_values.back().second; }

  value_id numbers(const shape_t& of) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count_of(of); ++i)
      values.push_back(static_cast<float>(between(-1000, 1000)) / 4000.0f);
    return m_builder.floats(name(), of, values);
  }
  void node(const std::string& op, const std::vector<value_id>& inputs, const shape_t& result,
            const std::map<std::string, attribute>& attributes = {}) {
    m_values.emplace_back(m_builder.node_of(op, inputs, name(), attributes), result);
  }
  /// Rows or columns that windows make of so many; 0 where they do not fit.
  static std::int64_t outputs(std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                              std::int64_t pads) {
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    return length + pads < reach ? 0 : (length + pads - reach) / stride + 1;
  }
  void conv(std::int64_t kernel) {
    const shape_t x = shape();
    const bool depthwise = kernel > 1 && one_in(3);
    const std::int64_t stride = one_in(4) ? 2 : 1, dilation = kernel > 1 && one_in(6) ? 2 : 1,
                       channels = depthwise ? x[1] : pick({4, 12, 16, 24});
    ints pads;
    for (int side = 0; side < 4; ++side) pads.push_back(one_in(4) ? between(0, kernel) : kernel / 2 * dilation);
    const shape_t y = {1, channels, outputs(x[2], kernel, stride, dilation, pads[0] + pads[2]),
                       outputs(x[3], kernel, stride, dilation, pads[1] + pads[3])};
    if (y[2] < 2 || y[3] < 2) return;
    const value_id weights = numbers({channels, depthwise ? 1 : x[1], kernel, kernel}), bias = numbers({channels});
    node("Conv", {m_values.back().first, weights, bias}, y,
         {{"pads", pads},
          {"strides", ints{stride, stride}},
          {"dilations", ints{dilation, dilation}},
          {"group", depthwise ? channels : std::int64_t{1}}});
  }
  void pool() {
    const shape_t x = shape();
    const std::int64_t kernel = pick({2, 3}), stride = pick({1, 2}), pad = kernel == 3 && one_in(2) ? 1 : 0;
    const bool average = one_in(2);
    std::map<std::string, attribute> a = {
        {"kernel_shape", ints{kernel, kernel}}, {"strides", ints{stride, stride}}, {"pads", ints{pad, pad, pad, pad}}};
    if (average) a["count_include_pad"] = between(0, 1);
    const shape_t y = {1, x[1], outputs(x[2], kernel, stride, 1, 2 * pad), outputs(x[3], kernel, stride, 1, 2 * pad)};
    if (y[2] < 2 || y[3] < 2) return;
    node(average ? "AveragePool" : "MaxPool", {m_values.back().first}, y, a);
  }
  void resize() {
    const shape_t x = shape();
    const std::string mode =
        std::vector<std::string>{"nearest", "linear", "cubic"}[static_cast<std::size_t>(between(0, 2))];
    const std::string from = one_in(2) ? "half_pixel" : "asymmetric";
    const auto scale = [&](std::int64_t length) {
      return length > 60 || (length > 16 && one_in(2)) ? 0.5f : static_cast<float>(pick({2, 3, 4})) / 2;
    };
    const std::vector<float> scales = {1, 1, one_in(5) ? 1.0f : scale(x[2]), scale(x[3])};
    const auto scaled = [](std::int64_t length, float by) {
      return static_cast<std::int64_t>(static_cast<float>(length) * by);
    };
    node("Resize", {m_values.back().first, no_value, m_builder.floats(name(), {4}, scales)},
         {1, x[1], scaled(x[2], scales[2]), scaled(x[3], scales[3])},
         {{"mode", mode},
          {"coordinate_transformation_mode", from},
          {"antialias", std::int64_t{mode != "nearest" && one_in(3)}}});
  }
  /// Joins or adds a value of before with the same rows and columns, where there is one.
  void with_earlier() {
    const shape_t x = shape();
    const std::size_t other = static_cast<std::size_t>(between(0, static_cast<std::int64_t>(m_values.size()) - 1));
    const auto [v, of] = m_values[other];
    if (of == x)
      node("Add", {m_values.back().first, v}, x);
    else if (of[2] == x[2] && of[3] == x[3])
      node("Concat", {m_values.back().first, v}, {1, x[1] + of[1], x[2], x[3]}, {{"axis", std::int64_t{1}}});
  }
  void add_node() {
    const shape_t x = shape();
    switch (between(0, 10)) {
      case 10: return resize();
      case 0: return node("Relu", {m_values.back().first}, x);
      case 1: return node("Sigmoid", {m_values.back().first}, x);
      case 2: return node("Mul", {m_values.back().first, numbers({x[1], 1, 1})}, x);
      case 3: return pool();
      case 4:
      case 5: return with_earlier();
      default: return conv(pick({1, 3, 3, 5}));
    }
  }

  graph_builder m_builder;
  std::vector<std::pair<value_id, shape_t>> m_values;
  int m_count = 0;
};

model_file made_of(const graph& g, const stream_target& streams) {
  compile_options options;
  options.streams = streams;
  return open_model(compile({{"default", g}}, options), "network");
}

/// The bytes of all outputs.
std::vector<std::byte> outputs_of(const graph& g, const model_file& file, const std::string& isa, int lanes) {
  const auto runner = choose_engine(isa).open(file.bytes.data(), file.bytes.size(), lanes, 0);
  const std::map<std::string, array> inputs = random_inputs(g, file.view, 7);
  for (int i = 0; i < file.view.input_count(); ++i) {
    const array data = to_engine(file.view.input(i), inputs.at(file.view.input(i).name()));
    std::memcpy(runner->input(i), data.data.data(), data.data.size());
  }
  runner->run();
  std::vector<std::byte> all;
  for (int i = 0; i < file.view.output_count(); ++i) {
    const nsk::port_view port = file.view.output(i);
    array dense_output(element_of(port.type()), engine_shape_of(port));
    std::memcpy(dense_output.data.data(), runner->output(i), dense_output.data.size());
    const array got = to_source(port, dense_output);
    all.insert(all.end(), got.data.begin(), got.data.end());
  }
  return all;
}

bool is_streamed(const model_file& file) {
  for (int i = 0; i < file.view.metadata_count(); ++i)
    if (std::string(file.view.metadata_key(i)) == "stream.0") return true;
  return false;
}

/// conv 3x3 (Winograd fits) -> depthwise 3x3 / 2 -> conv 1x1 + sum with a pool of the first: all that bands must know.
program branched() {
  graph_builder b;
  const value_id x = b.input("x", {1, 4, 37, 9});
  const auto constant = [&](const shape_t& s) {
    return b.floats("w" + std::to_string(b.g.values.size()), s,
                    std::vector<float>(static_cast<std::size_t>(count_of(s)), 0.5f));
  };
  const ints same = {1, 1, 1, 1};
  const value_id first = b.node_of("Conv", {x, constant({8, 4, 3, 3})}, "first", {{"pads", same}});
  const value_id depthwise = b.node_of("Conv", {first, constant({8, 1, 3, 3})}, "depthwise",
                                       {{"pads", same}, {"strides", ints{2, 2}}, {"group", std::int64_t{8}}});
  const value_id pooled =
      b.node_of("MaxPool", {first}, "pooled", {{"kernel_shape", ints{3, 3}}, {"pads", same}, {"strides", ints{2, 2}}});
  const value_id sum = b.node_of("Add", {depthwise, pooled}, "sum");
  b.output(b.node_of("Conv", {sum, constant({8, 8, 1, 1})}, "last"));
  resolve(b.g, {});
  program p = canonicalise(b.g, {}, byte_kernels::present);
  fuse(p);
  return p;
}

/// A sum of an image and one of half the size, resampled, which is the network's output.
graph upscaler(const std::string& mode) {
  graph_builder b;
  const value_id x = b.input("x", {1, 3, 20, 30}), fine = b.input("fine", {1, 3, 40, 60});
  const value_id large =
      b.node_of("Resize", {x, no_value, b.floats("scales", {4}, {1, 1, 2, 2})}, "large", {{"mode", mode}});
  b.output(b.node_of("Add", {large, fine}, "y"));
  resolve(b.g, {});
  return b.g;
}

/// Six convolutions of 3x3, of which each needs the rows around its own.
program chain() {
  graph_builder b;
  value_id v = b.input("x", {1, 8, 64, 9});
  const value_id weights = b.floats("w", {8, 8, 3, 3}, std::vector<float>(8 * 8 * 9, 0.5f));
  for (int i = 0; i < 6; ++i)
    v = b.node_of("Conv", {v, weights}, "v" + std::to_string(i), {{"pads", ints{1, 1, 1, 1}}});
  b.output(v);
  resolve(b.g, {});
  return canonicalise(b.g, {}, byte_kernels::present);
}

}

TEST_CASE("bands compute every row once, and windows hold what is read") {
  const program p = branched();
  const operation_run run = {0, p.operations.size()};
  for (const std::int64_t rows : {1, 2, 3, 8, 19}) {
    std::map<int, std::int64_t> done;
    std::map<int, row_range> there;
    for (const band& b : bands_of(p, run, rows))
      for (const operation& o : p.operations) {
        const band_rows& r = b.at(o.output);
        CHECK(r.added.first == done[o.output]);
        CHECK(r.added.end >= r.added.first);
        if (row_unit(o) > 1) CHECK((r.added.first % 4 == 0 || r.added.count() == 0));
        for (const int v : r.added.count() > 0 ? operands_of(p, o) : std::vector<int>()) {
          if (done.count(v) == 0 || !is_read_by_rows(p, o, v)) continue;
          const row_range read = rows_read(p, o, v, r.added);
          CHECK(read.first >= there[v].first);
          CHECK(read.end <= there[v].end);
        }
        if (r.window.count() > 0) {
          if (r.window.first < r.added.first) CHECK(r.window.first >= there[o.output].first);
          if (r.added.count() > 0) there[o.output] = {std::min(r.window.first, r.added.first), r.added.end};
        }
        done[o.output] = r.added.end;
      }
    CHECK(done[p.operations.back().output] == p.shape(p.operations.back().output)[2]);
  }
}

TEST_CASE("the first bands are no higher than the others") {
  const program p = chain();
  const operation_run run = {0, p.operations.size()};
  for (const std::int64_t rows : {4, 8, 16})
    for (const band& b : bands_of(p, run, rows))
      for (const operation& o : p.operations) CHECK(b.at(o.output).added.count() <= rows);
}

TEST_CASE("streamed networks give the bits of the same networks without bands") {
  constexpr int networks = 1200, min_streamed = 350;
  constexpr std::int64_t caches[] = {12'000, 30'000, 70'000, 150'000};
  int streamed = 0;
  for (unsigned seed = 0; seed < networks; ++seed) {
    graph g = random_network(seed).network();
    CAPTURE(seed);
    resolve(g, {});
    const model_file whole = made_of(g, {});
    CHECK_FALSE(is_streamed(whole));
    const model_file bands = made_of(g, {caches[seed % 4], caches[seed / 4 % 4], 2.5, seed % 3 == 0 ? 8000 : 0});
    if (!is_streamed(bands)) continue;
    ++streamed;
    const std::vector<std::byte> wanted = outputs_of(g, whole, "", 1);
    CHECK(outputs_of(g, bands, "", 1) == wanted);
    if (seed % 4 == 0) CHECK(outputs_of(g, bands, "", 3) == wanted);
    if (seed % 8 == 1) CHECK(outputs_of(g, bands, "scalar", 1) == wanted);
    if (seed % 8 != 2) continue;
    const auto runner = choose_engine("").open(bands.bytes.data(), bands.bytes.size(), 1, 0);
    const comparison_report found = compare_on_random(g, bands.view, *runner, 3, {}, [](const std::string&) {});
    CHECK(found.within(1e-4));
    CHECK(found.steps.size() + 1 >= g.nodes.size() / 2);
  }
  MESSAGE(streamed, " of ", networks, " networks were streamed");
  CHECK(streamed >= min_streamed);
}

TEST_CASE("an image that is resampled for a sum is never whole") {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    const graph g = upscaler(mode);
    const model_file whole = made_of(g, {}), bands = made_of(g, {12'000, 100'000, 2.5, 0});
    const std::uint64_t image = 3 * 40 * 60 * 4;
    CHECK(is_streamed(bands));
    CHECK(whole.view.required_bytes() >= 3 * image);
    CHECK(bands.view.required_bytes() < 3 * image);
    CHECK(outputs_of(g, bands, "", 2) == outputs_of(g, whole, "", 1));
  }
}

TEST_CASE("a source's value whose name is that of a band or a window is compared") {
  graph_builder b;
  const value_id x = b.input("x", {1, 4, 6, 6});
  const value_id window = b.node_of("Softmax", {x}, "a/window0", {{"axis", std::int64_t{1}}});
  const value_id band = b.node_of("Softmax", {window}, "a/band0", {{"axis", std::int64_t{1}}});
  b.output(b.node_of("Softmax", {band}, "y", {{"axis", std::int64_t{1}}}));
  resolve(b.g, {});
  const model_file file = made_of(b.g, {});
  const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, 0);
  const comparison_report found = compare_on_random(b.g, file.view, *runner, 3, {}, [](const std::string&) {});
  for (const std::string name : {"a/window0", "a/band0"})
    CHECK(std::count_if(found.steps.begin(), found.steps.end(), [&](const comparison& c) { return c.name == name; }) ==
          1);
}

TEST_CASE("names of bands and windows say what they are of") {
  CHECK(whole_of_band(name_of_band("a/band2", 17)) == "a/band2");
  CHECK(whole_of_band("a/band").empty());
  CHECK(whole_of_band("a/band2x").empty());
  CHECK(whole_of_band("a").empty());
  CHECK(is_window(name_of_window("a", 0)));
  CHECK_FALSE(is_window(name_of_band("a", 0)));
}
