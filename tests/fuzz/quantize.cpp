// SPDX-License-Identifier: MIT
#include "quantize.hpp"
#include <cstring>
#include <string>
#include <vector>
#include <netsuke/all_ops.hpp>
#include "convert.hpp"
#include "engine/engine.hpp"
#include "engine/model_file.hpp"
#include "errors.hpp"
#include "import/onnx/import.hpp"
#include "quantize/apply/quantize.hpp"
#include "check/compare.hpp"
#include "resolve/infer.hpp"
#include "resolve/states.hpp"

namespace fuzz {
namespace {
namespace tool = nsk::tool;

bool is_cheap(const nsk::variant_view& v) {
  constexpr std::uint64_t max_work = 300000, max_arena = 1 << 22;
  std::uint64_t sum = v.required_bytes() > max_arena ? max_work + 1 : 0;
  for (int i = 0; i < v.step_count() && sum <= max_work; ++i) {
    const std::uint64_t work = nsk::impl::work_of(v.step(i));
    sum = work > max_work ? work : sum + work;
  }
  return sum <= max_work;
}

/// Numbers of one sample: of usual size, all equal, huge, subnormal, one beside zeros; seldom not finite.
void fill(tool::array& a, generator& random) {
  static const double magnitudes[] = {1, 1, 1, 4, 255, 1e-3, 1e-30, 1e-42, 1e18, 3e38};
  const double magnitude = magnitudes[random.below(10)];
  const std::size_t kind = random.below(8);
  const auto any = [&] { return (static_cast<double>(random.below(2001)) - 1000) / 1000 * magnitude; };
  const double same = any();
  for (std::int64_t i = 0; i < a.count(); ++i) {
    if (tool::is_float(a.type))
      a.set(i, kind == 0 ? same : kind == 1 ? 0 : any());
    else
      a.set_integer(i, static_cast<std::int64_t>(random.below(6)) - (kind == 0 ? 2 : 0));
  }
  if (a.count() == 0 || !tool::is_float(a.type)) return;
  const auto place = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(a.count())));
  if (kind == 1) a.set(place, any());
  if (random.one_in(32)) {
    const auto bits = static_cast<std::uint32_t>(strange_float(random));
    float x = 0;
    std::memcpy(&x, &bits, 4);
    a.set(place, static_cast<double>(x));
  }
}

std::vector<tool::sample> any_samples(const tool::graph& g, generator& random) {
  std::vector<tool::sample> samples(1 + random.below(5));
  for (tool::sample& s : samples)
    for (const tool::value_id id : g.inputs) {
      const tool::value& v = g.values[static_cast<std::size_t>(id)];
      tool::array a(v.type, v.shape);
      fill(a, random);
      s.emplace(v.name, std::move(a));
    }
  return samples;
}

tool::quantize_choices any_choices(const tool::graph& g, generator& random, std::size_t samples) {
  tool::quantize_choices how;
  how.ranges = static_cast<tool::range_method>(random.below(4));
  how.equalizes = static_cast<tool::equalization>(random.one_in(2) ? 0 : random.below(3));
  how.weights = {!random.one_in(4), !random.one_in(4)};
  how.corrects_bias = !random.one_in(4);
  how.halves = random.one_in(4);
  how.measures = random.one_in(8);
  if (random.one_in(8)) how.machine = &tool::targets()[random.below(tool::targets().size())];
  if (random.one_in(8) && !g.nodes.empty()) how.kept.insert(g.nodes[random.below(g.nodes.size())].name);
  if (random.one_in(8)) {
    how.bound = tool::drop_bound{};
    how.bound->by = static_cast<tool::drop_measure>(random.below(3));
    how.bound->limit = how.bound->by == tool::drop_measure::sqnr ? 20 : 0.05;
  }
  for (std::size_t i = 0; i < samples; ++i) how.sample_files.push_back(std::to_string(i));
  return how;
}

/// Text of JSON with up to three of its numbers, or of its bytes, changed.
std::string mutate_text(std::string text, generator& random) {
  static const char* const numbers[] = {"0",
                                        "-0",
                                        "-1",
                                        "1e-320",
                                        "1e-39",
                                        "1e38",
                                        "-1e38",
                                        "1e308",
                                        "1e999",
                                        "null",
                                        "[]",
                                        "\"x\"",
                                        "0.5",
                                        "{}",
                                        "9223372036854775808",
                                        "-1e308",
                                        "255",
                                        "1e60",
                                        "1e-9",
                                        "-1e-9",
                                        "65504",
                                        "true",
                                        "18446744073709551615"};
  for (std::size_t n = random.below(4); n-- > 0 && !text.empty();) {
    if (random.one_in(8)) {
      text[random.below(text.size())] = static_cast<char>(random());
      continue;
    }
    const std::size_t from = text.find_first_of("-0123456789", random.below(text.size()));
    if (from == std::string::npos) continue;
    const std::size_t end = text.find_first_not_of("+-.eE0123456789", from);
    text.replace(from, (end == std::string::npos ? text.size() : end) - from,
                 numbers[random.below(sizeof numbers / sizeof *numbers)]);
  }
  return text;
}

/// Quantises `v` and opens what comes out.
tool::quantize_result quantize_once(tool::variant_source v, const std::vector<tool::sample>& samples,
                                    const tool::quantize_choices& how, bool compares) {
  tool::quantize_result result = tool::quantize(v, samples, how, [](const std::string&, double) {});
  const std::vector<std::byte> file = tool::compile_as(v, result.floats);
  open_result(file);
  if (!compares) return result;
  const tool::model_file made = tool::open_model(file, "made");
  const auto runner = tool::choose_engine("").open(made.bytes.data(), made.bytes.size(), 1, 0);
  const tool::comparison_report found =
      tool::compare_on_random(v.g, made.view, *runner, 1, {}, [](const std::string&) {});
  if (found.wrong_integers() != 0) give_up("the engine computes other integers than the evaluator");
  return result;
}

}

bool quantize(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  generator random = choices_of(data, size);
  try {
    tool::variant_source v{"default", tool::import_onnx(bytes.data(), bytes.size(), "nowhere", "model"), {}};
    tool::resolve(v.g, {});
    v.states = tool::states_of(v.g, {});
    if (!is_cheap(tool::open_model(tool::compile({v}, {}), "model").view.variant(0))) return false;
    const std::vector<tool::sample> samples = any_samples(v.g, random);
    tool::quantize_choices how = any_choices(v.g, random, samples.size());
    const tool::quantize_result result = quantize_once(v, samples, how, random.one_in(2));
    if (random.one_in(2)) return true;
    tool::calibration seen;
    if (random.one_in(2)) {
      seen = tool::calibration_from(mutate_text(tool::calibration_json(result.seen), random), "calibration");
      how.seen = &seen;
      if (how.equalizes == tool::equalization::activations) how.equalizes = tool::equalization::none;  // needs samples
    }
    how.kept.clear();
    how.chosen = tool::overrides_from(mutate_text(tool::overrides_json(result.chosen), random), "overrides");
    quantize_once(v, samples, how, random.one_in(2));
  } catch (const tool::error& e) {
    check_message(e.what());
    return false;
  }
  return true;
}

}
