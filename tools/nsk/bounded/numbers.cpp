// SPDX-License-Identifier: MIT
/// Integer arithmetic on lengths: what Shape says of bounded results, and what exporters compute of it.
#include <algorithm>
#include <map>

#include "bounded/rules.hpp"
#include "graph/onnx_type.hpp"

namespace nsk::tool::bounded {
namespace {

using amounts = std::vector<amount>;
using maybe = std::optional<amounts>;

maybe lengths_of(interpretation& r) {
  if (!r.bounded(0)) return std::nullopt;
  const amounts axes = r.axes(0);
  if (r.op().op == "Size") {
    amount all = number(1);
    for (const amount& a : axes) {
      const std::optional<amount> more = product(all, a);
      if (!more) r.refuse("its size is a product of such numbers");
      all = *more;
    }
    return amounts{all};
  }
  const i64 rank = static_cast<i64>(axes.size());
  const auto place = [&](const char* key, i64 fallback) {
    const i64 at = r.op().integer(key, fallback);
    return std::clamp<i64>(at < 0 ? at + rank : at, 0, rank);
  };
  const i64 begin = place("start", 0), end = std::max(begin, place("end", rank));
  return amounts(axes.begin() + begin, axes.begin() + end);
}

maybe joined(interpretation& r) {
  amounts all;
  for (std::size_t i = 0; i < r.input_count(); ++i) {
    const amounts part = r.all().numbers(r.op().inputs[i]);
    if (part.empty() && count_of(r.shape(i)) != 0) return std::nullopt;
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

maybe gathered(interpretation& r) {
  const amounts from = r.all().numbers(r.op().inputs[0]), at = r.all().numbers(r.op().inputs[1]);
  if (from.empty() || r.rank(0) != 1 || (at.empty() && count_of(r.shape(1)) != 0)) return std::nullopt;
  amounts list;
  for (const amount& a : at) {
    const i64 place = a.plus < 0 ? a.plus + static_cast<i64>(from.size()) : a.plus;
    if (a.varies() || place < 0 || place >= static_cast<i64>(from.size())) return std::nullopt;
    list.push_back(from[static_cast<std::size_t>(place)]);
  }
  return list;
}

maybe sliced(interpretation& r) {
  const amounts from = r.all().numbers(r.op().inputs[0]);
  if (from.empty() || r.rank(0) != 1) return std::nullopt;
  const std::vector<slice_part> parts = slice_parts(r);
  if (parts.size() != 1 || parts[0].start.varies() || parts[0].end.varies() || parts[0].step != 1) return std::nullopt;
  return amounts(from.begin() + parts[0].start.plus, from.begin() + std::max(parts[0].start.plus, parts[0].end.plus));
}

/// The larger or the smaller of two, where one of them is a number, or always is.
std::optional<amount> extreme(interpretation& r, const amount& a, const amount& b, bool largest) {
  counts& c = r.known_counts();
  if (a == b) return a;
  if (c.low(a) >= c.high(b)) return largest ? a : b;
  if (c.low(b) >= c.high(a)) return largest ? b : a;
  if (a.varies() && b.varies()) return std::nullopt;
  const amount& varying = a.varies() ? a : b;
  const i64 limit = a.varies() ? b.plus : a.plus;
  return largest ? c.clamped(varying, limit, c.high(varying)) : c.clamped(varying, c.low(varying), limit);
}

/// 1 or 0 where it is one of them for all counts.
std::optional<amount> compared(interpretation& r, const amount& a, const amount& b) {
  const counts& c = r.known_counts();
  if (a == b) return number(1);
  if (c.low(a) > c.high(b) || c.low(b) > c.high(a)) return number(0);
  return std::nullopt;
}

std::optional<amount> combined(interpretation& r, const std::string& op, const amount& a, const amount& b) {
  if (op == "Add" || op == "Sum") return added(a, b, 1);
  if (op == "Sub") return added(a, b, -1);
  if (op == "Mul") return product(a, b);
  if (op == "Max" || op == "Min") return extreme(r, a, b, op == "Max");
  if (op == "Equal") return compared(r, a, b);
  if (op == "Div" && !b.varies()) return quotient(a, b.plus);
  return std::nullopt;
}

/// The elements of operands that are repeated to the length of the result; they have one axis at most.
maybe folded(interpretation& r) {
  const auto length = static_cast<std::size_t>(count_of(r.out_shape()));
  amounts all;
  for (std::size_t i = 0; i < r.input_count(); ++i) {
    const amounts mine = r.all().numbers(r.op().inputs[i]);
    if (mine.empty() || r.rank(i) > 1 || (mine.size() != length && mine.size() != 1)) return std::nullopt;
    for (std::size_t k = 0; k < length; ++k) {
      const amount& a = mine[mine.size() == 1 ? 0 : k];
      if (i == 0) {
        all.push_back(a);
        continue;
      }
      const std::optional<amount> more = combined(r, r.op().op, all[k], a);
      if (!more) return std::nullopt;
      all[k] = *more;
    }
  }
  return all;
}

maybe reduced(interpretation& r) {
  const amounts from = r.all().numbers(r.op().inputs[0]);
  const std::vector<bool> axes = reduced_axes(r);
  if (from.empty() || r.rank(0) != 1 || !axes[0]) return std::nullopt;
  const std::map<std::string, std::string> pairs = {
      {"ReduceMin", "Min"}, {"ReduceMax", "Max"}, {"ReduceSum", "Add"}, {"ReduceProd", "Mul"}};
  amount all = from[0];
  for (std::size_t i = 1; i < from.size(); ++i) {
    const std::optional<amount> more = combined(r, pairs.at(r.op().op), all, from[i]);
    if (!more) return std::nullopt;
    all = *more;
  }
  return amounts{all};
}

/// Where(condition, x, y) of a condition that is known.
maybe selected(interpretation& r) {
  const auto length = static_cast<std::size_t>(count_of(r.out_shape()));
  amounts parts[3], all;
  for (std::size_t i = 0; i < 3; ++i) {
    parts[i] = r.all().numbers(r.op().inputs[i]);
    if (parts[i].empty() || r.rank(i) > 1 || (parts[i].size() != length && parts[i].size() != 1)) return std::nullopt;
  }
  for (std::size_t k = 0; k < length; ++k) {
    const auto of = [&](std::size_t i) { return parts[i][parts[i].size() == 1 ? 0 : k]; };
    if (of(0).varies()) return std::nullopt;
    all.push_back(of(0).plus != 0 ? of(1) : of(2));
  }
  return all;
}

maybe numbers_of(interpretation& r) {
  const std::string& op = r.op().op;
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return op == name; });
  };
  if (is({"Shape", "Size"})) return lengths_of(r);
  if (r.all().reads_bounded(r.op())) return std::nullopt;
  if (is({"Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten"})) return r.all().numbers(r.op().inputs[0]);
  if (op == "Cast") {
    const i64 to = r.op().integer("to", 0);
    const bool keeps =
        to == number_of(onnx_type::int64) || to == number_of(onnx_type::int32) || to == number_of(onnx_type::boolean);
    amounts list = keeps ? r.all().numbers(r.op().inputs[0]) : amounts();
    for (amount& a : list)
      if (to == number_of(onnx_type::boolean)) {
        if (a.varies()) return std::nullopt;
        a.plus = a.plus != 0 ? 1 : 0;
      }
    return list;
  }
  if (op == "Concat") return joined(r);
  if (op == "Gather") return gathered(r);
  if (op == "Slice") return sliced(r);
  if (op == "Where") return selected(r);
  if (is({"ReduceMin", "ReduceMax", "ReduceSum", "ReduceProd"})) return reduced(r);
  if (is({"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Equal"})) return folded(r);
  return std::nullopt;
}

}

bool follow_numbers(interpretation& r) {
  if (!r.op().domain.empty() || r.op().outputs.size() != 1) return false;
  const element type = r.all().source().values[static_cast<std::size_t>(r.op().outputs[0])].type;
  if (type != element::i64 && type != element::i32 && type != element::boolean) return false;
  const maybe list = numbers_of(r);
  if (!list || list->empty() || static_cast<i64>(list->size()) != count_of(r.out_shape())) return false;
  value_facts facts;
  facts.numbers = *list;
  r.all().set(r.op().outputs[0], facts);
  return true;
}

}
