// SPDX-License-Identifier: MIT
#include "chunks/chunks.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "chunks/rules.hpp"
#include "chunks/same_graph.hpp"
#include "errors.hpp"
#include "reference/operators.hpp"
#include "suggest.hpp"

namespace nsk::tool::chunks {
namespace {

const rule_table& rules() {
  static const rule_table table = [] {
    rule_table t;
    for (const auto add : {add_elementwise_rules, add_movement_rules, add_cutting_rules, add_window_rules,
                           add_product_rules, add_axis_rules, add_recurrent_rules})
      add(t);
    return t;
  }();
  return table;
}

/// The axes of a model's inputs that are called as the signal is.
std::map<std::string, std::size_t> axes_of(const graph& source, const std::string& name) {
  std::map<std::string, std::size_t> axes;
  for (const value_id id : source.inputs) {
    const value& v = source.at(id);
    for (std::size_t d = 0; d < v.symbols.size(); ++d) {
      if (v.symbols[d] != name) continue;
      if (!axes.emplace(v.name, d).second)
        refuse("--stream " + name + ": input '" + v.name + "' has the samples along two axes. Name one of them " +
               "otherwise, as --input " + v.name + "=1,rows," + name);
    }
  }
  return axes;
}

/// A value that is repeated for every sample, as a speaker's voice is, becomes one with samples.
bool spread_over_samples(writer& w, const node& n) {
  const shape_t &from = w.source(n.inputs[0]).shape, &to = w.source(n.outputs[0]).shape;
  const std::size_t more = to.size() - from.size();
  const auto axis = static_cast<std::size_t>(std::find(to.begin(), to.end(), w.axes().samples) - to.begin());
  if (axis == to.size() || (axis >= more && from[axis - more] != 1)) return false;
  std::vector<value_id> lengths;
  for (std::size_t d = 0; d < to.size(); ++d) lengths.push_back(d == axis ? w.count_samples() : w.integers({to[d]}));
  const value_id shape = w.add("Concat", lengths, {{"axis", std::int64_t{0}}});
  w.give({w.of(n.inputs[0]).id, shape}, {relation::timed, axis});
  return true;
}

/// Refuses a node that reads a state of the model, unless it moves its elements, or begins with it.
void require_begin(writer& w, const node& n, bool still) {
  static const std::set<std::string> moves = {"Slice", "Squeeze",  "Unsqueeze", "Reshape", "Transpose",
                                              "Split", "Identity", "Gather",    "Concat",  "Cast"};
  const bool begins = n.op == "LSTM" || n.op == "GRU" || n.op == "RNN";
  if (begins || (still && moves.count(n.op) != 0)) return;
  w.refuse("it reads a state of the model, which is another one in each chunk, but one for the whole signal. " +
           cure_of(w));
}

void write_node(writer& w, const node& n) {
  w.begin(n);
  bool still = true;
  for (const value_id v : n.inputs) still &= v == no_value || w.of(v).c.how == relation::still;
  for (const std::string& name : captured_names(n)) {
    const value_id v = w.whole().find(name);
    still &= v == no_value || w.of(v).c.how == relation::still;
  }
  course same;
  for (const value_id v : n.inputs) same.state |= v != no_value && w.of(v).c.state;
  if (same.state) require_begin(w, n, still);
  const auto found = rules().find(n.op);
  const bool known = found != rules().end() && n.domain.empty();
  if (still && n.op == "Expand" && spread_over_samples(w, n)) return;
  if (still && graphs_inside(n).empty() && !n.has(reference::random_stream)) return w.give(ids_of(w, n), same);
  if (!known || still) w.refuse("how to compute it chunk by chunk is not known. " + cure_of(w));
  found->second(w, n);
}

/// A network and the way to it.
struct written {
  network net;
  ahead first_ahead;
};

written write(const whole_model& whole, const std::string& name, std::int64_t samples,
              const std::map<std::string, std::size_t>& of) {
  signal_axes axes{name, samples, of, {}};
  for (const state_link& s : whole.states) {
    axes.states.insert(s.input);
    if (of.count(s.input) != 0)
      refuse("--stream " + name + ": input '" + s.input + "' is a state, which has one size. Convert with --no-states");
  }
  writer w(whole.g, axes);
  for (const node& n : whole.g.nodes) write_node(w, n);
  written result;
  for (const value_id v : whole.g.outputs) {
    const std::int64_t extra = w.of(v).timed() ? w.extra(v) : 0;
    result.net.outputs.push_back({whole.g.at(v).name, w.of(v).c, extra});
  }
  result.net.step = w.step();
  result.net.g = w.finish();
  for (std::size_t i = 0; i < result.net.outputs.size(); ++i)
    result.net.outputs[i].c.late = std::max<std::int64_t>(result.net.outputs[i].c.late, 0);
  result.net.history = w.history();
  result.first_ahead = w.looks_ahead();
  return result;
}

/// The model for the first of some lengths that are long enough for its windows; refuses it as for the shortest one.
std::pair<whole_model, std::int64_t> resolve_long(const whole_source& whole, const choice& wanted) {
  std::optional<error> first;
  for (const std::int64_t minimum : {1 << 12, 1 << 16, 1 << 20}) {
    const std::int64_t samples = (minimum + wanted.chunk - 1) / wanted.chunk * wanted.chunk;
    try {
      return {whole(samples), samples};
    } catch (const error& e) {
      if (!first) first = error(e.code, "with " + wanted.name + " = " + std::to_string(samples) + ": " + e.what());
      if (e.code != exit_code::refused) break;
    }
  }
  throw *first;
}

void require_multiple(const choice& wanted, std::int64_t step) {
  if (wanted.chunk % step == 0) return;
  const std::int64_t next = (wanted.chunk + step - 1) / step * step;
  misuse("--stream " + wanted.name + "=" + std::to_string(wanted.chunk) + ": the network makes one element of " +
         std::to_string(step) + " samples, so chunks are multiples of that. Write --stream " + wanted.name + "=" +
         std::to_string(next));
}

/// How many samples late an output is.
std::int64_t late_samples(const course& c) { return (c.late * c.down + c.up - 1) / c.up; }

/// Refuses outputs that are later than allowed, or that have elements behind the signal; notes the others.
void require_causal(const choice& wanted, written& made) {
  std::int64_t latest = 0;
  for (const output& o : made.net.outputs) latest = std::max(latest, late_samples(o.c));
  if (latest > wanted.late)
    refuse(made.first_ahead.node + ": it looks ahead by " + std::to_string(made.first_ahead.samples) +
           (made.first_ahead.samples == 1 ? " sample" : " samples") + ", so that outputs are late by " +
           std::to_string(latest) + ". Pad the model on the left alone, or let them be late: --stream " + wanted.name +
           "=" + std::to_string(wanted.chunk) + "+" + std::to_string(latest));
  for (const output& o : made.net.outputs) {
    if (o.c.how != relation::timed) continue;
    if (o.c.late == 0 && o.extra > 0)
      refuse("output '" + o.name + "' has " + std::to_string(o.extra) +
             " elements more than the signal has samples for them: what follows the last sample is not known when it " +
             "is given. Cut them off in the exporter");
    if (o.c.late > 0)
      made.net.notes.push_back("output '" + o.name + "' is late: the elements before number " +
                               std::to_string(o.c.late) + " after reset belong to no sample");
  }
}

}

choice parse_choice(const std::string& name, const std::string& text) {
  constexpr std::int64_t max_chunk = std::int64_t{1} << 20;
  choice c{name, 0, 0};
  const char* const end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, c.chunk);
  bool good = failed == std::errc{};
  if (good && stop != end && *stop == '+') {
    const auto late = std::from_chars(stop + 1, end, c.late);
    good = late.ec == std::errc{};
    stop = late.ptr;
  }
  if (!good || stop != end || c.chunk < 1 || c.chunk > max_chunk || c.late < 0)
    misuse("--stream " + name + "=" + text + ": write it as NAME=CHUNK or NAME=CHUNK+LATE, whole numbers of samples, " +
           "CHUNK from 1 to " + std::to_string(max_chunk) + ".");
  return c;
}

network in_chunks(const choice& wanted, const graph& source, const whole_source& whole) {
  const std::map<std::string, std::size_t> axes = axes_of(source, wanted.name);
  const auto [first, samples] = resolve_long(whole, wanted);
  written made = write(first, wanted.name, samples, axes);
  require_multiple(wanted, made.net.step);
  const std::int64_t longer = samples + wanted.chunk;
  const written other = write(whole(longer), wanted.name, longer, axes);
  require_same(made.net.g, other.net.g, samples, longer);
  for (std::size_t i = 0; i < made.net.outputs.size(); ++i)
    if (made.net.outputs[i].extra != other.net.outputs[i].extra)
      refuse("output '" + made.net.outputs[i].name + "' does not have its elements for each sample");
  require_causal(wanted, made);
  return std::move(made.net);
}

}
