// SPDX-License-Identifier: MIT
// Converts models and runs them in every way that must give the same bits, for drivers that compare the results with
// other runtimes. One process serves many models: a JSON object per line on standard input is a request, and a JSON
// object per line on standard output is its answer. README.md in this folder describes both.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "engine/engine.hpp"
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "import/import.hpp"
#include "ops/step_facts.hpp"
#include "io/command_files.hpp"
#include "io/files.hpp"
#include "io/layout.hpp"
#include "engine/model_file.hpp"
#include "io/new_files.hpp"
#include "reference/evaluator.hpp"

namespace {

using namespace nsk::tool;
using nlohmann::json;
using arrays = std::map<std::string, array>;

/// An instruction set and a number of lanes.
struct way {
  const engine* build;
  int lanes;
  std::string text() const { return std::string(build->name) + " with " + std::to_string(lanes) + " lanes"; }
};

/// Every instruction set of this machine with one, two and three lanes.
std::vector<way> every_way() {
  std::vector<way> ways;
  for (const char* name : {"scalar", "avx2", "neon", "avx512"})
    for (int lanes = 1; lanes <= 3; ++lanes) try {
        ways.push_back({&choose_engine(name), lanes});
      } catch (const error&) {
        break;
      }
  return ways;
}

std::vector<std::string> texts(const json& request, const char* key) {
  return request.value(key, std::vector<std::string>{});
}

convert_options options_of(const json& request) {
  convert_options o;
  o.source.path = request.at("model").get<std::string>();
  o.output = request.at("result").get<std::string>() + ".nsk";
  o.source.inputs = texts(request, "inputs");
  o.source.sets = texts(request, "sets");
  o.source.bounds = texts(request, "bounds");
  o.source.states = texts(request, "states");
  o.source.outputs = texts(request, "outputs");
  o.source.batch = request.value("batch", 0);
  o.source.dequantize = request.value("dequantize", false);
  o.winograd = request.value("winograd", true);
  o.source.find_states = request.value("find_states", true);
  o.max_tile_us = request.value("max_tile_us", 100.0);
  o.skips_check = !request.value("check", false);
  o.quiet = true;
  return o;
}

element element_named(const std::string& name) {
  for (int t = 0; t <= static_cast<int>(element::boolean); ++t)
    if (name == name_of(static_cast<element>(t))) return static_cast<element>(t);
  misuse("'" + name + "' is no element type");
}

/// The inputs of every run, read from the request's file of numbers: each array is there once per run.
std::vector<arrays> read_inputs(const json& request, int runs) {
  std::vector<arrays> result(static_cast<std::size_t>(runs));
  const std::vector<std::byte> bytes = read_file(request.at("data").get<std::string>(), "inputs", max_array_bytes);
  std::size_t at = 0;
  for (const json& port : request.at("arrays")) {
    const element type = element_named(port.at("type").get<std::string>());
    for (arrays& run : result) {
      array a(type, port.at("shape").get<shape_t>());
      if (bytes.size() - at < a.data.size()) misuse("the file of inputs is too short");
      if (!a.data.empty()) std::memcpy(a.data.data(), bytes.data() + at, a.data.size());
      at += a.data.size();
      run.emplace(port.at("name").get<std::string>(), std::move(a));
    }
  }
  return result;
}

/// Outputs, then what a run leaves in the states (by the names of the outputs that become states), in the model's axes.
std::vector<array> results_of(const nsk::variant_view& v, runner& r) {
  std::vector<array> results;
  for (int i = 0; i < v.output_count(); ++i) {
    array got(element_of(v.output(i).type()), engine_shape_of(v.output(i), r.lengths()));
    if (!got.data.empty()) std::memcpy(got.data.data(), r.output(i), got.data.size());
    results.push_back(to_source(v.output(i), got, r.lengths()));
  }
  for (int i = 0; i < v.state_count(); ++i) {
    const nsk::tensor_info t = v.state(i).tensor();
    array got(element_of(t.type()), {t.shape().begin(), t.shape().end()});
    if (!got.data.empty()) std::memcpy(got.data.data(), r.state(i), got.data.size());
    results.push_back(std::move(got));
  }
  return results;
}

std::vector<std::string> result_names(const nsk::variant_view& v) {
  std::vector<std::string> names;
  for (int i = 0; i < v.output_count(); ++i) names.push_back(v.output(i).name());
  for (int i = 0; i < v.state_count(); ++i) names.push_back(v.state(i).next().name());
  return names;
}

using run_results = std::vector<std::vector<array>>;  ///< [run][output]

run_results run_engine(const model_file& file, const way& w, const std::vector<arrays>& inputs, int rows) {
  const auto r = w.build->open(file.bytes.data(), file.bytes.size(), w.lanes, 0);
  if (rows != 0) r->set_batch(rows);
  const nsk::variant_view v = file.view.variant(0);
  run_results results;
  for (const arrays& given : inputs) {
    for (int i = 0; i < v.input_count(); ++i) {
      const auto found = given.find(v.input(i).name());
      if (found == given.end()) misuse("the request has no input '" + std::string(v.input(i).name()) + "'");
      const element type = element_of(v.input(i).type());
      const array port = found->second.type == element::f64 ? converted(found->second, type) : found->second;
      if (port.shape != source_shape_of(v.input(i)) || port.type != type)
        misuse("input '" + found->first + "' is " + name_of(element_of(v.input(i).type())) + " " +
               to_string(source_shape_of(v.input(i))) + " in the converted model");
      const array laid = to_engine(v.input(i), port);
      if (!laid.data.empty()) std::memcpy(r->input(i), laid.data.data(), laid.data.size());
    }
    r->run();
    results.push_back(results_of(v, *r));
  }
  return results;
}

/// Per output the elements that belong to the first rows of a batch; states have no rows.
std::vector<array> elements_of_rows(const nsk::variant_view& v, int rows) {
  std::vector<array> masks;
  for (int i = 0; i < v.output_count(); ++i) {
    array kept(element::boolean, engine_shape_of(v.output(i)));
    const std::int64_t row = kept.count() / v.batch();  // rows are one behind the other
    for (std::int64_t k = 0; k < kept.count(); ++k) kept.set_integer(k, k < row * rows);
    masks.push_back(to_source(v.output(i), kept));
  }
  return masks;
}

/// Sets to 0 what is outside the masks.
void cover(run_results& results, const std::vector<array>& masks) {
  for (std::vector<array>& run : results)
    for (std::size_t i = 0; i < masks.size(); ++i)
      for (std::int64_t k = 0; k < run[i].count(); ++k)
        if (masks[i].integer(k) == 0) run[i].set(k, 0);
}

/// Whether two results have the same bits; what is not a number may have any.
bool same_bits(const array& a, const array& b) {
  if (a.data == b.data) return true;
  if (a.type != element::f32) return false;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const float x = a.as<float>()[i], y = b.as<float>()[i];
    if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

void compare_bits(const run_results& first, const run_results& other, const std::string& who,
                  const std::vector<std::string>& names, json& apart) {
  for (std::size_t run = 0; run < first.size(); ++run)
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!same_bits(first[run][i], other[run][i]))
        apart.push_back(who + ", run " + std::to_string(run) + ", '" + names[i] + "'");
}

/// Results that are rounded by nothing: they are exact wherever their operands are.
bool is_exact(const node& n) {
  const std::string reduction = n.text("reduction", "none");
  if (reduction == "add" || reduction == "mul") return false;
  static const std::string exact =
      " Relu Max Min Neg Abs Identity Transpose Reshape Squeeze Unsqueeze Flatten Concat Split Slice Gather "
      "GatherND Expand Tile Pad Where Floor Ceil Round Clip MaxPool ReduceMax ReduceMin Cast Equal "
      "Less Greater And Or Not Xor ArgMax ArgMin TopK ScatterND GatherElements ScatterElements DepthToSpace "
      "SpaceToDepth Shape Constant ConstantOfShape ";
  return exact.find(" " + n.op + " ") != std::string::npos;
}

/// Evaluates the source model run after run, states carried over; with noise it makes the relative errors of single
/// precision, of that many units in the last place, in inputs and in every result that is rounded.
class oracle {
 public:
  oracle(const json& request, const model_file& file) : m_file(file) {
    const std::string path = request.at("model").get<std::string>();
    input_options inputs = parse_inputs(texts(request, "inputs"), texts(request, "sets"));
    inputs.dequantize = request.value("dequantize", false);
    inputs.bounds = parse_bounds(texts(request, "bounds"));
    m_graph = import_model(path, {inputs.dequantize, inputs.shapes});
    const graph imported = m_graph;
    resolved = inputs.dequantize || !inputs.set.empty() || !is_evaluated(imported);
    if (!resolved) return;
    for (const json& port : request.at("arrays"))
      inputs.shapes[port.at("name").get<std::string>()] = port.at("shape").get<shape_t>();
    for (auto it = inputs.shapes.begin(); it != inputs.shapes.end();)
      it = m_graph.find(it->first) == no_value ? inputs.shapes.erase(it) : std::next(it);
    resolve(m_graph, inputs);
  }

  /// Whether the source has a value of that name: a count of results is the converter's.
  bool knows(const std::string& name) const { return m_graph.find(name) != no_value; }

  bool resolved;  ///< the graph was folded first, because the evaluator does not take it as it stands

  run_results run(const std::vector<arrays>& inputs, const std::vector<std::string>& names, double noise,
                  std::uint64_t seed) const {
    m_random.seed(seed);
    m_flushes = seed % 2 != 0;
    m_rounds = seed == 2;  // to float32 alone, so that numbers cancel to 0
    std::set<std::string> rounded;
    for (const node& n : m_graph.nodes)
      for (const value_id v : n.outputs)
        if (v != no_value && !is_exact(n)) rounded.insert(m_graph.values[static_cast<std::size_t>(v)].name);
    const graph source = with_errors(noise);
    const evaluator e(source);
    arrays states = initial_states();
    run_results results;
    for (const arrays& given : inputs) {
      arrays all = inputs_of_graph(given);
      all.insert(states.begin(), states.end());
      if (noise != 0)
        for (auto& [name, a] : all) disturb(a, noise);
      const arrays outputs = e.run(all, false, [&](const std::string& name, array& a) {
        if (noise != 0 && rounded.count(name) != 0) disturb(a, noise);
      });
      results.emplace_back();
      for (const std::string& name : names) results.back().push_back(value_of(name, outputs));
      for (int i = 0; i < m_file.view.variant(0).state_count(); ++i) {
        const nsk::state_view s = m_file.view.variant(0).state(i);
        array next = value_of(s.next().name(), outputs);
        next.shape = states.at(s.name()).shape;
        states[s.name()] = std::move(next);
      }
    }
    return results;
  }

 private:
  static bool is_evaluated(const graph& g) {
    try {
      const evaluator e(g);
      return g.states.empty();
    } catch (const error&) {
      return false;
    }
  }
  /// The source with relative errors in weights, which make those of products that meet in one sum.
  graph with_errors(double noise) const {
    static const std::set<std::string> sums = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
    graph g = m_graph;
    if (noise == 0) return g;
    std::set<value_id> weights;
    for (const node& n : g.nodes)
      if (sums.count(n.op) != 0) weights.insert(n.inputs.begin(), n.inputs.end());
    weights.erase(no_value);
    for (const value_id v : weights) {
      std::shared_ptr<const array>& constant = g.values[static_cast<std::size_t>(v)].constant;
      if (!constant || !is_float(constant->type)) continue;
      array a = *constant;
      disturb(a, noise);
      constant = std::make_shared<const array>(std::move(a));
    }
    return g;
  }
  array value_of(const std::string& name, const arrays& outputs) const {
    const auto found = outputs.find(name);
    if (found != outputs.end()) return found->second;
    const value_id v = m_graph.find(name);
    const array* constant = v == no_value ? nullptr : m_graph.values[static_cast<std::size_t>(v)].constant.get();
    if (constant == nullptr) refuse("the evaluator has no output '" + name + "'");
    return is_float(constant->type) ? converted(*constant, element::f64) : *constant;
  }
  arrays inputs_of_graph(const arrays& given) const {
    arrays result;
    for (const value_id v : m_graph.inputs) {
      const std::string& name = m_graph.values[static_cast<std::size_t>(v)].name;
      if (const auto found = given.find(name); found != given.end()) result.insert(*found);
    }
    return result;
  }
  arrays initial_states() const {
    arrays states;
    for (int i = 0; i < m_file.view.variant(0).state_count(); ++i) {
      const std::string name = m_file.view.variant(0).state(i).name();
      const nsk::tensor_info t = m_file.view.variant(0).state(i).tensor();
      array a(element_of(t.type()), {t.shape().begin(), t.shape().end()});
      const value_id v = m_graph.find(name);
      if (v != no_value && m_graph.values[static_cast<std::size_t>(v)].is_static())
        a.shape = m_graph.values[static_cast<std::size_t>(v)].shape;
      for (const state_link& link : m_graph.states)
        if (link.input == name && link.initial) a = converted(*link.initial, a.type);
      states.emplace(name, std::move(a));
    }
    return states;
  }
  /// Numbers that functions of the engine return as 0 (docs/reference/conventions.md) are 0 as well in every other
  /// evaluation, and the sign of 0 is the other one.
  void disturb(array& a, double units) const {
    if (!is_float(a.type)) return;
    std::uniform_real_distribution<double> error(-units * 0x1p-23, units * 0x1p-23);
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const double x =
          m_rounds ? static_cast<double>(static_cast<float>(a.number(i))) : a.number(i) * (1 + error(m_random));
      const bool overflows = std::fabs(x) > static_cast<double>(std::numeric_limits<float>::max());
      const bool vanishes = m_flushes && std::fabs(x) < 0x1p-118;
      a.set(i, overflows  ? std::copysign(std::numeric_limits<double>::infinity(), x)
               : vanishes ? (x == 0 ? -x : 0 * x)
                          : x);
    }
  }

  const model_file& m_file;
  graph m_graph;
  mutable std::mt19937_64 m_random;
  mutable bool m_flushes = false, m_rounds = false;
};

/// Collects arrays in one file; each part of an answer says where its own are.
class blob {
 public:
  json add(const run_results& results, const std::vector<std::string>& names) {
    json described = json::array();
    for (std::size_t run = 0; run < results.size(); ++run)
      for (std::size_t i = 0; i < names.size(); ++i) {
        const array& a = results[run][i];
        described.push_back({names[i], run, name_of(a.type), a.shape, m_bytes.size()});
        m_bytes.insert(m_bytes.end(), a.data.begin(), a.data.end());
        m_bytes.resize((m_bytes.size() + 7) / 8 * 8);
      }
    return described;
  }
  void write(const std::string& path) const {
    new_files file;
    file.add(path, m_bytes.data(), m_bytes.size());
    file.commit();
  }

 private:
  std::vector<std::byte> m_bytes;
};

void evaluate(const json& request, const model_file& file, const std::vector<arrays>& inputs,
              std::vector<std::string> names, blob& numbers, json& answer) {
  try {
    const oracle source(request, file);
    names.erase(std::remove_if(names.begin(), names.end(), [&](const std::string& n) { return !source.knows(n); }),
                names.end());
    answer["reference_resolved"] = source.resolved;
    answer["reference"] = numbers.add(source.run(inputs, names, 0, 0), names);
    for (int i = 0; i < request.value("disturbed", 0); ++i)
      answer["disturbed"].push_back(numbers.add(
          source.run(inputs, names, request.value("noise", 4.0), static_cast<std::uint64_t>(i) + 1), names));
  } catch (const error& e) {
    answer["reference_refused"] = e.what();
  }
}

json serve(const json& request) {
  static const std::vector<way> ways = every_way();
  const convert_options options = options_of(request);
  try {
    command_files files;
    files.add_input("source", options.source.path);
    files.add_output("--output", options.output);
    convert(options, files);
  } catch (const error& e) {
    return {{"status", "refused"}, {"code", static_cast<int>(e.code)}, {"message", e.what()}};
  }
  const model_file file = open_model(options.output);
  const int runs = request.value("runs", 1);
  const std::vector<arrays> inputs = read_inputs(request, runs);
  const std::vector<std::string> names = result_names(file.view.variant(0));
  json answer = {{"status", "converted"}, {"apart", json::array()}};
  blob numbers;
  run_results first;
  const int rows = request.value("rows", 0);
  const std::vector<array> masks = rows != 0 ? elements_of_rows(file.view.variant(0), rows) : std::vector<array>{};
  for (const way& w : ways) {
    run_results results = run_engine(file, w, inputs, rows);
    cover(results, masks);
    if (first.empty())
      first = std::move(results);
    else
      compare_bits(first, results, w.text(), names, answer["apart"]);
  }
  answer["engine"] = numbers.add(first, names);
  if (rows != 0)
    answer["rows"] = numbers.add({masks}, {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(masks.size())});
  evaluate(request, file, inputs, names, numbers, answer);
  answer["winograd"] = false;
  for (int i = 0; i < file.view.variant(0).step_count(); ++i) {
    const nsk::step_view step = file.view.variant(0).step(i);
    answer["steps"].push_back(nsk::name_of(step.op()));
    if (nsk::tool::algorithm_of(step) != nsk::conv_algorithm::direct) answer["winograd"] = true;
  }
  numbers.write(request.at("result").get<std::string>());
  return answer;
}

}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = serve(json::parse(line));
    } catch (const std::exception& e) {
      answer = {{"status", "failed"}, {"message", e.what()}};
    }
    std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
