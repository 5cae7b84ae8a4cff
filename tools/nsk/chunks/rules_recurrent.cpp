// SPDX-License-Identifier: MIT
/// Layers over time: what they end a chunk with is a state.
#include <algorithm>

#include "chunks/rules.hpp"
#include "graph/recurrent.hpp"

namespace nsk::tool::chunks {
namespace {

constexpr std::size_t sequence_lengths = 4, initial_h = 5, initial_c = 6;

/// Refuses what a layer cannot carry on from chunk to chunk.
void require_forward(writer& w, const node& n, const recurrent_attributes& a, const flow& x) {
  if (a.directions != 1 || a.reverse) refuse_whole(w, "it runs backwards");
  if (x.c.axis == 2) refuse_whole(w, "its inputs are the samples");
  if (x.c.late != 0) w.refuse("the signal is late here, and it would begin before the first sample. " + cure_of(w));
  const std::int64_t length = w.source(n.inputs[0]).shape[x.c.axis];
  const std::vector<std::int64_t> lengths = integers_of(w, n, sequence_lengths);
  if (!std::all_of(lengths.begin(), lengths.end(), [&](std::int64_t l) { return l == length; }))
    w.refuse("its sequences end before the signal");
}

/// What operand `i` begins with, in the new graph: a state of the model, or one that is made here, which is given back.
value_id begin_with(writer& w, const node& n, std::size_t i, const shape_t& shape, std::vector<value_id>& ids) {
  const value* given = n.reads(i) ? &w.source(n.inputs[i]) : nullptr;
  if (given != nullptr && !given->constant) {
    if (!w.of(n.inputs[i]).c.state)
      w.refuse("it begins with '" + given->name + "' in every chunk, which is no state. Make it one: --state " +
               given->name + "=OUTPUT");
    return no_value;
  }
  std::shared_ptr<const array> first = given != nullptr ? given->constant : nullptr;
  bool zeros = true;
  for (std::int64_t k = 0; first && k < first->count(); ++k) zeros = zeros && first->number(k) == 0;
  if (zeros) first = nullptr;
  const std::string name = n.name + (i == initial_h ? ".h" : ".c");
  ids.resize(std::max(ids.size(), i + 1), no_value);
  return ids[i] = w.add_state(name, element::f32, shape, std::move(first));
}

void carry_on(writer& w, const node& n) {
  const recurrent_attributes a = recurrent_attributes_of(n, describe(w.whole(), n));
  const flow x = w.settled(signal(w, n));
  const std::size_t time = a.batch_first ? 1 : 0;
  if (!x.timed()) return w.give(ids_of(w, n), {relation::latest});
  require_forward(w, n, a, x);
  if (x.c.axis != time) w.refuse("its time axis is another one than that of the samples. Transpose its input");
  const shape_t& s = w.source(n.inputs[0]).shape;
  const std::int64_t batch = s[1 - time], hidden = w.source(n.inputs[2]).shape[2];
  const shape_t shape = a.batch_first ? shape_t{batch, 1, hidden} : shape_t{1, batch, hidden};
  std::vector<value_id> ids = ids_of(w, n);
  ids[0] = x.id;
  if (n.reads(sequence_lengths)) ids[sequence_lengths] = no_value;
  const value_id h = begin_with(w, n, initial_h, shape, ids);
  const value_id c = a.kind == recurrent_kind::lstm ? begin_with(w, n, initial_c, shape, ids) : no_value;
  const std::vector<value_id> made = w.copy(ids, {}, c != no_value ? 3 : h != no_value ? 2 : 0);
  course all = x.c;
  all.axis = time;
  if (n.gives(0)) w.set(n.outputs[0], made[0], all);
  const course last = {relation::latest};
  for (std::size_t i = 1; i < 3; ++i) {
    if (n.gives(i)) w.set(n.outputs[i], made[i], last);
    if (const value_id state = i == 1 ? h : c; state != no_value) w.keep(state, w.add("Identity", {made[i]}));
  }
  if (w.extra(n.inputs[0]) != 0 && (n.gives(1) || n.gives(2))) w.refuse("what it ends with is not of the last sample");
}

}

void add_recurrent_rules(rule_table& t) { t["LSTM"] = t["GRU"] = t["RNN"] = carry_on; }

}
