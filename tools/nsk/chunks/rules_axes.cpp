// SPDX-License-Identifier: MIT
/// Operators that compute over some axes, none of which may be that of the samples.
#include <algorithm>

#include "chunks/rules.hpp"

namespace nsk::tool::chunks {
namespace {

bool copied_latest(writer& w, const node& n) {
  if (signal(w, n).timed()) return false;
  w.give(ids_of(w, n), {relation::latest});
  return true;
}

/// Over the axes from one on: those of norms, and those of Softmax in old opsets.
void over_last(writer& w, const node& n, std::int64_t fallback, bool one) {
  if (copied_latest(w, n)) return;
  const flow& x = w.of(n.inputs[0]);
  const std::size_t axis = axis_of(n.integer("axis", fallback), x.rank());
  if (one ? x.c.axis == axis : x.c.axis >= axis) refuse_whole(w, "it computes over all samples");
  if (n.gives(1) && n.op != "TopK") w.refuse("its second result is not supported here");
  keep_course(w, n);
}

void soft_max(writer& w, const node& n) { over_last(w, n, n.version < 13 ? 1 : -1, n.version >= 13); }
void norm_of_last(writer& w, const node& n) { over_last(w, n, -1, false); }
void over_one(writer& w, const node& n) { over_last(w, n, -1, true); }

/// Over the channels, with numbers that are the same for all samples.
void over_channels(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  if (w.of(n.inputs[0]).c.axis == 1) refuse_whole(w, "the samples are its channels");
  keep_course(w, n);
}

/// Over all that is behind the channels.
void over_places(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  if (w.of(n.inputs[0]).c.axis != 0) refuse_whole(w, "it computes over all samples");
  keep_course(w, n);
}

void cumulate(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  const flow& x = w.of(n.inputs[0]);
  if (axis_of(integers_of(w, n, 1).at(0), x.rank()) == x.c.axis)
    w.refuse("its sums would be added in another order from chunk to chunk, which gives other last digits. " +
             cure_of(w));
  keep_course(w, n);
}

/// The result of a node without some axes.
void without_axes(writer& w, const node& n, const std::vector<std::size_t>& axes, bool keeps) {
  const flow x = w.settled(signal(w, n));
  if (std::find(axes.begin(), axes.end(), x.c.axis) != axes.end()) refuse_whole(w, "it computes over all samples");
  course c = x.c;
  if (!keeps)
    c.axis -=
        static_cast<std::size_t>(std::count_if(axes.begin(), axes.end(), [&](std::size_t d) { return d < x.c.axis; }));
  std::vector<value_id> ids = ids_of(w, n);
  ids[0] = x.id;
  w.give(ids, c);
}

void reduce_axes(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  const std::size_t rank = w.of(n.inputs[0]).rank();
  std::vector<std::int64_t> given = n.reads(1) ? integers_of(w, n, 1) : n.integers("axes");
  if (given.empty() && n.integer("noop_with_empty_axes", 0) == 0)
    for (std::size_t d = 0; d < rank; ++d) given.push_back(static_cast<std::int64_t>(d));
  std::vector<std::size_t> axes;
  for (const std::int64_t d : given) axes.push_back(axis_of(d, rank));
  without_axes(w, n, axes, n.integer("keepdims", 1) != 0);
}

void find_best(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  without_axes(w, n, {axis_of(n.integer("axis", 0), w.of(n.inputs[0]).rank())}, n.integer("keepdims", 1) != 0);
}

}

void add_axis_rules(rule_table& t) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) t[op] = soft_max;
  for (const char* op : {"LayerNormalization", "RMSNormalization"}) t[op] = norm_of_last;
  for (const char* op : {"LpNormalization", "TopK"}) t[op] = over_one;
  for (const char* op : {"BatchNormalization", "LRN"}) t[op] = over_channels;
  for (const char* op :
       {"InstanceNormalization", "GroupNormalization", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    t[op] = over_places;
  t["CumSum"] = cumulate;
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
    t[op] = reduce_axes;
  t["ArgMax"] = t["ArgMin"] = find_best;
}

}
