// SPDX-License-Identifier: MIT
#include "chunks/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "errors.hpp"
#include "reference/evaluator.hpp"

namespace nsk::tool::chunks {
namespace {

using arrays = std::map<std::string, array>;

array random_array(const value& v, std::mt19937& random) {
  array a(v.type, v.shape);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = static_cast<double>(random()) / 4294967296.0;
    is_float(a.type) ? a.set(i, 2 * x - 1) : a.set_integer(i, x < 0.5 ? 0 : 1);
  }
  return a;
}

/// What the states of a model are in the first run.
void begin_states(const whole_model& m, arrays& inputs) {
  for (const state_link& s : m.states) {
    const value& v = m.g.at(m.g.find(s.input));
    inputs[s.input] = s.initial ? *s.initial : array(v.type, v.shape);
    inputs[s.input].shape = v.shape;
  }
}

/// A model that takes chunks of one length.
struct runner {
  whole_model model;
  evaluator run;
  explicit runner(whole_model m) : model(std::move(m)), run(model.g) {}
};

/// Runs chunks one after the other.
class chunk_runs {
 public:
  chunk_runs(const chunk_source& source, std::map<std::string, std::size_t> axes)
      : m_source(source), m_axes(std::move(axes)) {}

  arrays run(const arrays& whole, std::int64_t from, std::int64_t to) {
    auto& made = m_runners[to - from];
    if (!made) made = std::make_unique<runner>(m_source(to - from));
    arrays inputs = m_states;
    if (inputs.empty()) begin_states(made->model, inputs);
    for (const auto& [name, a] : whole) {
      const auto axis = m_axes.find(name);
      if (axis != m_axes.end())
        inputs[name] = part_of(a, axis->second, from, to);
      else
        inputs.emplace(name, a);
    }
    arrays outputs = made->run.run(inputs);
    for (const state_link& s : made->model.states) m_states[s.input] = outputs.at(s.output);
    return outputs;
  }

 private:
  const chunk_source& m_source;
  std::map<std::string, std::size_t> m_axes;
  std::map<std::int64_t, std::unique_ptr<runner>> m_runners;
  arrays m_states;
};

[[noreturn]] void fail(const output& o, const std::string& where) {
  throw error(exit_code::check_failed, "no file was written, because chunk by chunk output '" + o.name +
                                           "' would not be what it is for the whole signal" + where +
                                           ". Please report this with the model");
}

void require_near(const output& o, const array& got, const array& wanted, const std::string& where) {
  double largest = 1e-30;
  for (std::int64_t i = 0; i < wanted.count(); ++i)
    if (std::isfinite(wanted.number(i))) largest = std::max(largest, std::fabs(wanted.number(i)));
  if (got.shape != wanted.shape) fail(o, where);
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const double a = got.number(i), b = wanted.number(i);
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-9 * largest;
    if (!same) fail(o, where);
  }
}

}

array part_of(const array& a, std::size_t axis, std::int64_t from, std::int64_t to) {
  shape_t shape = a.shape;
  shape[axis] = to - from;
  array result(a.type, shape);
  const auto inner = static_cast<std::size_t>(count_between(shape, axis + 1, shape.size())) * size_of(a.type);
  const auto rows = static_cast<std::size_t>(count_between(shape, 0, axis)),
             all = static_cast<std::size_t>(a.shape[axis]), some = static_cast<std::size_t>(to - from);
  for (std::size_t r = 0; r < rows; ++r)
    std::memcpy(result.data.data() + r * some * inner,
                a.data.data() + (r * all + static_cast<std::size_t>(from)) * inner, some * inner);
  return result;
}

std::pair<array, array> same_elements(const output& o, const array& of_chunk, const array& of_all, std::int64_t from,
                                      std::int64_t to) {
  const std::int64_t begin = from * o.c.up / o.c.down - o.c.late, end = to * o.c.up / o.c.down - o.c.late;
  if (of_chunk.shape[o.c.axis] != end - begin) fail(o, " at sample " + std::to_string(from));
  const std::int64_t low = std::max<std::int64_t>(begin, 0),
                     high = std::max(low, std::min(end, of_all.shape[o.c.axis]));
  return {part_of(of_chunk, o.c.axis, low - begin, high - begin), part_of(of_all, o.c.axis, low, high)};
}

std::map<std::string, std::size_t> signal_axes_of(const network& net) {
  std::map<std::string, std::size_t> axes;
  for (const value_id v : net.g.inputs)
    for (std::size_t d = 0; d < net.g.at(v).shape.size(); ++d)
      if (net.g.at(v).shape[d] < 0) axes[net.g.at(v).name] = d;
  return axes;
}

std::int64_t signal_length(const network& net, std::int64_t chunk, std::int64_t max_samples) {
  const std::int64_t wanted = std::min(net.history + 3 * chunk + 64 * net.step, max_samples);
  return std::max((wanted + net.step - 1) / net.step, std::int64_t{1}) * net.step;
}

std::vector<std::int64_t> chunk_lengths(const network& net, std::int64_t chunk, std::int64_t samples) {
  std::mt19937 random(5);
  const std::int64_t longest = std::min(chunk, samples);
  const std::int64_t some[] = {longest, net.step, std::max(net.step, longest / 3 / net.step * net.step)};
  constexpr std::size_t several = 8;  // of the shortest: lines of one element may be added up in another order
  std::vector<std::int64_t> lengths;
  for (std::int64_t at = 0; at < samples; at += lengths.back())
    lengths.push_back(std::min(lengths.size() % (2 * several) < several ? net.step : some[random() % 3], samples - at));
  return lengths;
}

arrays random_signal(const whole_model& m) {
  std::mt19937 random(7);
  arrays inputs;
  for (const value_id v : m.g.inputs) inputs[m.g.at(v).name] = random_array(m.g.at(v), random);
  begin_states(m, inputs);
  return inputs;
}

void compare_with_whole(const network& net, std::int64_t chunk, const whole_source& whole, const chunk_source& chunked,
                        std::int64_t samples) {
  const whole_model all = whole(samples);
  arrays inputs = random_signal(all);
  const arrays expected = evaluator(all.g).run(inputs);
  for (const state_link& s : all.states) inputs.erase(s.input);
  chunk_runs runs(chunked, signal_axes_of(net));
  std::int64_t at = 0;
  for (const std::int64_t length : chunk_lengths(net, chunk, samples)) {
    const arrays got = runs.run(inputs, at, at + length);
    for (const output& o : net.outputs) {
      const std::string where = " at sample " + std::to_string(at);
      if (o.c.how == relation::timed) {
        const auto [mine, its] = same_elements(o, got.at(o.name), expected.at(o.name), at, at + length);
        require_near(o, mine, its, where);
      } else if (o.c.how == relation::still || at + length == samples) {
        require_near(o, got.at(o.name), expected.at(o.name), where);
      }
    }
    at += length;
  }
}

}
