// SPDX-License-Identifier: MIT
#include "check/random_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "io/layout.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

/// What the readers of an integer ask of it.
struct demand {
  bool bounded = false, nonzero = false;
  std::int64_t low = 0, high = 0;  ///< where bounded

  void stay_within(std::int64_t minimum, std::int64_t greatest) {
    low = bounded ? std::max(low, minimum) : minimum;
    high = bounded ? std::min(high, greatest) : greatest;
    bounded = true;
  }
  void join(const demand& d) {
    if (d.bounded) stay_within(d.low, d.high);
    nonzero = nonzero || d.nonzero;
  }
};

/// Follows a resolved graph from its results to its inputs.
class integer_demands {
 public:
  explicit integer_demands(const graph& g) : m_graph(g), m_demands(g.values.size()), m_leads(g.values.size(), 0) {
    for (std::size_t i = g.nodes.size(); i-- > 0;) {
      const node& n = g.nodes[i];
      pass_back(n);
      ask(n);
      if (std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) { return v != no_value && leads(v); }))
        for (value_id v : n.inputs) lead(v);
    }
  }
  demand of(const std::string& name) const {
    const value_id v = m_graph.find(name);
    return v == no_value ? demand() : m_demands[static_cast<std::size_t>(v)];
  }
  /// Whether an index or a length is computed from the value.
  bool leads_to_index(const std::string& name) const {
    const value_id v = m_graph.find(name);
    return v != no_value && leads(v);
  }

 private:
  bool leads(value_id v) const { return m_leads[static_cast<std::size_t>(v)] != 0; }
  void lead(value_id v) {
    if (v != no_value) m_leads[static_cast<std::size_t>(v)] = 1;
  }
  const value& at(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)]; }
  demand* operand(const node& n, std::size_t i) {
    return i < n.inputs.size() && n.inputs[i] != no_value ? &m_demands[static_cast<std::size_t>(n.inputs[i])] : nullptr;
  }
  std::int64_t length(const node& n, std::size_t i, std::int64_t axis) const {
    const shape_t& shape = at(n.inputs[i]).shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    return axis >= -rank && axis < rank ? shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] : 1;
  }

  void index_into(const node& n, std::size_t i, std::int64_t minimum, std::int64_t greatest) {
    if (demand* d = operand(n, i)) {
      d->stay_within(minimum, greatest);
      lead(n.inputs[i]);
    }
  }

  /// What the operator itself asks of its operands.
  void ask(const node& n) {
    static const std::set<std::string> by_axis = {"Gather", "GatherElements", "ScatterElements", "Scatter"};
    if (n.op == "Div" || n.op == "Mod") {
      if (demand* d = operand(n, 1)) d->nonzero = true;
    } else if (by_axis.count(n.op) != 0) {
      index_into(n, 1, 0, length(n, 0, n.integer("axis", 0)) - 1);
    } else if (n.op == "OneHot") {
      if (const auto depth = constant_range(n, 1); depth && depth->first > 0) index_into(n, 0, 0, depth->first - 1);
    } else if (n.op == "GatherND" || n.op == "ScatterND") {
      const std::int64_t first = n.integer("batch_dims", 0), count = length(n, 1, -1);
      for (std::int64_t d = first; d < first + count; ++d) index_into(n, 1, 0, length(n, 0, d) - 1);
    } else if (n.op == "LSTM" || n.op == "GRU" || n.op == "RNN") {
      index_into(n, 4, 1, length(n, 0, n.integer("layout", 0)));
    } else if (n.op == "ReverseSequence") {
      index_into(n, 1, 1, length(n, 0, n.integer("time_axis", 0)));
    } else if (n.op == "BitShift") {
      index_into(n, 1, 0, 7);
    }
  }

  /// The smallest and the largest element of an operand that is a constant of integers; nothing for others.
  std::optional<std::pair<std::int64_t, std::int64_t>> constant_range(const node& n, std::size_t i) const {
    const value* v = i < n.inputs.size() && n.inputs[i] != no_value ? &at(n.inputs[i]) : nullptr;
    if (v == nullptr || !v->constant || !is_integer(v->type) || v->constant->count() == 0) return std::nullopt;
    std::pair<std::int64_t, std::int64_t> range = {v->constant->integer(0), v->constant->integer(0)};
    for (std::int64_t k = 1; k < v->constant->count(); ++k) {
      range.first = std::min(range.first, v->constant->integer(k));
      range.second = std::max(range.second, v->constant->integer(k));
    }
    constexpr std::int64_t maximum = std::int64_t{1} << 31;  // sums and products of these do not overflow
    if (range.first < -maximum || range.second > maximum) return std::nullopt;
    return range;
  }

  /// What x must be within so that the sum with, or the difference from, constants is what is asked of it.
  void pass_back_sum(const node& n, const demand& wanted) {
    const std::size_t x = constant_range(n, 0) ? 1 : 0;
    const auto c = constant_range(n, 1 - x);
    demand* d = operand(n, x);
    if (!c || d == nullptr) return;
    constexpr std::int64_t some = 7;  // values of a divisor
    const std::int64_t low = wanted.bounded ? (wanted.nonzero ? std::max<std::int64_t>(wanted.low, 1) : wanted.low) : 1;
    const std::int64_t high = wanted.bounded ? wanted.high : low + some;
    std::int64_t from = low - c->first, to = high - c->second;
    if (n.op == "Sub" && x == 0) from = low + c->second, to = high + c->first;
    if (n.op == "Sub" && x == 1) from = c->second - high, to = c->first - low;
    if (from <= to) d->stay_within(from, to);
  }

  /// What x must be within so that the product with, or the quotient by, positive constants is what is asked of it.
  void pass_back_product(const node& n, const demand& wanted) {
    const std::size_t x = n.op == "Mul" && constant_range(n, 0) ? 1 : 0;
    const auto c = constant_range(n, 1 - x);
    demand* d = operand(n, x);
    if (!c || d == nullptr || c->first < 1) return;
    const std::int64_t low = std::max<std::int64_t>(wanted.bounded ? wanted.low : 0, wanted.nonzero ? 1 : 0);
    if (n.op == "Mul") {
      d->nonzero = d->nonzero || wanted.nonzero;
      if (wanted.bounded) d->stay_within((low + c->first - 1) / c->first, wanted.high / c->second);
    } else {
      d->stay_within(low * c->second, wanted.bounded ? (wanted.high + 1) * c->first - 1 : (low + 4) * c->second);
    }
  }

  /// What arithmetic with constants makes of its operand: an index or divisor that is computed of an input.
  void pass_back_arithmetic(const node& n) {
    if (n.outputs.empty() || n.outputs[0] == no_value || n.inputs.empty() || n.inputs[0] == no_value) return;
    const demand wanted = m_demands[static_cast<std::size_t>(n.outputs[0])];
    if (!(wanted.bounded || wanted.nonzero) || !is_integer(at(n.inputs[0]).type)) return;
    if (n.op == "Add" || n.op == "Sub") pass_back_sum(n, wanted);
    if (n.op == "Mul" || n.op == "Div") pass_back_product(n, wanted);
    demand& x = *operand(n, 0);
    if (n.op == "Neg" || n.op == "Abs") x.nonzero = x.nonzero || wanted.nonzero;
    if (n.op == "Neg" && wanted.bounded) x.stay_within(-wanted.high, -wanted.low);
    if (n.op == "Abs" && wanted.bounded) x.stay_within(std::max<std::int64_t>(wanted.low, 0), wanted.high);
  }

  /// Floats that are made integers: what is asked of these holds for them.
  void pass_back_floats(const node& n) {
    static const std::set<std::string> ops = {"Cast",    "Floor",     "Round",   "Identity",
                                              "Reshape", "Unsqueeze", "Squeeze", "Flatten"};
    if (ops.count(n.op) == 0 || n.inputs.empty() || n.inputs[0] == no_value || !is_float(at(n.inputs[0]).type)) return;
    const value_id result = n.outputs.empty() ? no_value : n.outputs[0];
    if (result != no_value && m_demands[static_cast<std::size_t>(result)].bounded)
      operand(n, 0)->join(m_demands[static_cast<std::size_t>(result)]);
  }

  /// Operators whose results are elements of their operands: what is asked of the one is asked of the other.
  void pass_back(const node& n) {
    pass_back_arithmetic(n);
    pass_back_floats(n);
    static const std::set<std::string> of_first = {
        "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten",        "Cast",     "Slice",          "Transpose",
        "Expand",   "Tile",    "Split",   "Gather",    "GatherElements", "GatherND", "ReverseSequence"};
    static const std::set<std::string> of_all = {"Concat", "Max", "Min", "Where"};
    const std::size_t count = of_first.count(n.op) != 0 ? 1 : of_all.count(n.op) != 0 ? n.inputs.size() : 0;
    for (value_id v : n.outputs)
      for (std::size_t i = 0; v != no_value && i < std::min(count, n.inputs.size()); ++i)
        if (demand* d = operand(n, i); d && is_integer(at(n.inputs[i]).type))
          d->join(m_demands[static_cast<std::size_t>(v)]);
  }

  const graph& m_graph;
  std::vector<demand> m_demands;
  std::vector<char> m_leads;
};

bool is_flag(element type) {
  return type == element::i16 || type == element::i32 || type == element::i64 || type == element::u16 ||
         type == element::u32 || type == element::u64;
}

/// Whether nothing says which integers the input takes.
bool is_free(element type, const std::string& name, const integer_demands& demands) {
  return is_flag(type) && !demands.of(name).bounded && !demands.leads_to_index(name);
}

/// The integers that an input may be sampled from.
demand range_of(element type, const std::string& name, const integer_demands& demands) {
  demand d = demands.of(name);
  if (type == element::boolean) {
    d.low = 0;
    d.high = 1;
  } else if (!d.bounded) {
    const bool leads = demands.leads_to_index(name);
    d.low = leads ? (d.nonzero ? 1 : 0) : type == element::i8 ? -128 : type == element::u8 ? 0 : -4;
    d.high = leads ? 1 : type == element::i8 ? 127 : type == element::u8 ? 255 : 4;
  }
  if (type == element::u8 || type == element::u16 || type == element::u32 || type == element::u64)
    d.low = std::max<std::int64_t>(d.low, 0);
  d.high = std::max(d.low, d.high);
  return d;
}

/// A float that is an index when it is cast.
double real_within(const demand& range, double unit) {
  const double low = static_cast<double>(range.low);
  return low + unit * std::max(static_cast<double>(range.high) - low, 0.0);
}

/// The number that is taken in place of a random one.
double chosen_number(double x, bool real, const demand& range, fullness chosen, std::int64_t place) {
  constexpr std::int64_t spacing = 16;
  const bool may_be_zero = real || (range.low <= 0 && range.high >= 0);
  if (chosen == fullness::usual || (chosen == fullness::few && place % spacing == spacing - 1)) return x;
  if (chosen != fullness::all) return may_be_zero ? 0 : x;
  return real ? 0.5 + std::abs(x) / 2 : x == 0 ? static_cast<double>(std::min<std::int64_t>(range.high, 1)) : x;
}

/// Inputs whose matrices are inverted: random ones are nearly singular now and then, which amplifies any rounding.
std::set<std::string> inverted_inputs(const graph& g) {
  std::set<std::string> names;
  for (const node& n : g.nodes)
    if (n.op == "Inverse" && !n.inputs.empty() && n.inputs[0] != no_value)
      names.insert(g.values[static_cast<std::size_t>(n.inputs[0])].name);
  return names;
}

/// Of an HDR input, one of so many elements is bright.
constexpr std::int64_t bright_every = 4096;

/// Numbers as the range says.
void fill_from(array& a, const input_range& range, std::mt19937_64& generator) {
  const auto unit = [&] { return static_cast<double>(generator() >> 11) * 0x1p-53; };
  const auto within = [&] { return range.low + unit() * (range.high - range.low); };
  for (std::int64_t k = 0; k < a.count(); ++k) {
    const bool is_bright = generator() % static_cast<std::uint64_t>(bright_every) == 0 || k == a.count() / 2;
    a.set(k, !range.hdr || is_bright ? within() : 0.01 + 0.1 * unit());
  }
}

/// Adds twice the number of rows to the diagonals of square matrices, which outweighs the numbers beside them.
void strengthen_diagonals(array& a) {
  const std::int64_t side = a.shape.back(), square = side * side;
  for (std::int64_t k = 0; k < a.count(); ++k)
    if (k % square % (side + 1) == 0) a.set(k, a.number(k) + 2.0 * static_cast<double>(side));
}

}

std::vector<std::pair<std::string, array>> blank_inputs(const model& m, int variant) {
  std::vector<std::pair<std::string, array>> inputs;
  for (int i = 0; i < m.input_count(variant); ++i) {
    const port_view port = m.input(i, variant);
    inputs.emplace_back(port.name(), array(element_of(port.type()), source_shape_of(port)));
  }
  for (int i = 0; i < m.variant(variant).state_count(); ++i) {
    const state_view state = m.variant(variant).state(i);
    inputs.emplace_back(state.name(), array(element_of(state.tensor().type()), shape_of(state.tensor())));
  }
  return inputs;
}

std::map<std::string, array> random_inputs(const graph& g, const model& m, const random_choice& choice, int variant) {
  const integer_demands demands(g);
  const std::set<std::string> inverted = inverted_inputs(g);
  std::mt19937_64 generator(choice.seed + static_cast<std::uint64_t>(choice.attempt));
  const double scale = std::ldexp(1.0, choice.attempt);
  std::map<std::string, array> inputs;
  for (auto& [name, a] : blank_inputs(m, variant)) {
    const bool real = is_float(a.type);
    if (const auto given = choice.ranges.find(name);
        real && given != choice.ranges.end() && choice.chosen == fullness::usual) {
      fill_from(a, given->second, generator);
      inputs.emplace(name, std::move(a));
      continue;
    }
    demand range = real ? demands.of(name) : range_of(a.type, name, demands);
    const bool is_mask = choice.plain && is_free(a.type, name, demands);
    if (is_mask) range.low = 0, range.high = 1;
    const double count = static_cast<double>(range.high - range.low + 1);
    for (std::int64_t k = 0; k < a.count(); ++k) {
      const double unit = static_cast<double>(generator() >> 11) * 0x1p-53;
      double x = real && range.bounded ? real_within(range, unit)
                 : real                ? (2 * unit - 1) * scale
                                       : static_cast<double>(range.low) + std::floor(unit * count);
      if (is_mask && (a.shape.empty() || k % a.shape.back() == 0)) x = 1;
      x = chosen_number(x, real, range, choice.chosen, k);
      if (!real && range.nonzero && x == 0) x = range.high > 0 ? 1 : -1;
      a.set(k, x);
    }
    if (inverted.count(name) != 0) strengthen_diagonals(a);
    inputs.emplace(name, std::move(a));
  }
  return inputs;
}

bool has_free_integers(const graph& g, const model& m, int variant) {
  const integer_demands demands(g);
  const auto inputs = blank_inputs(m, variant);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& input) { return is_free(input.second.type, input.first, demands); });
}

std::map<std::string, array> in_source_shapes(const graph& g, std::map<std::string, array> inputs) {
  for (const value_id v : g.inputs) {
    const value& x = g.values[static_cast<std::size_t>(v)];
    const auto found = inputs.find(x.name);
    if (found != inputs.end() && found->second.count() == count_of(x.shape)) found->second.shape = x.shape;
  }
  return inputs;
}

std::string describe_random(const random_choice& choice, const std::string& input) {
  const auto seed = static_cast<unsigned long long>(choice.seed);
  if (const auto given = choice.ranges.find(input); given != choice.ranges.end() && given->second.hdr)
    return format_text("random numbers from 0.01 to 0.11, one of %lld from %g to %g; seed %llu",
                       static_cast<long long>(bright_every), given->second.low, given->second.high, seed);
  else if (given != choice.ranges.end())
    return format_text("uniform random numbers from %g to %g; seed %llu", given->second.low, given->second.high, seed);
  return format_text(
      "uniform random numbers in [-1, 1), integers that the model accepts as indices, lengths and divisors; seed %llu",
      seed);
}

}
