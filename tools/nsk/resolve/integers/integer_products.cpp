// SPDX-License-Identifier: MIT
#include "resolve/integers/integer_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "graph/integer_range.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {
namespace {

bool is_byte(element t) { return t == element::i8 || t == element::u8; }

bool is_product(const node& n) {
  return n.op == "Conv" || n.op == "ConvTranspose" || n.op == "MatMul" || n.op == "Gemm";
}
bool moves_elements(const node& n) {
  static const std::set<std::string> movers = {"Identity", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze"};
  return movers.count(n.op) != 0 && n.outputs.size() == 1;
}
/// Whether f(scale * (x - zero)) is scale * f(x - zero): what stores its result is a function of the integers, whose
/// sums are exact, and whose halves are where the scale stays the same. A Resize that extrapolates puts a real number
/// where it sees no pixel.
bool is_weighted_mean(const node& n) {
  static const std::set<std::string> means = {"Resize", "AveragePool", "GlobalAveragePool", "ReduceMean"};
  return means.count(n.op) != 0 && n.outputs.size() == 1 &&
         n.text("coordinate_transformation_mode", "") != "tf_crop_and_resize";
}
bool is_limit(const node& n) { return n.op == "Relu" || n.op == "Clip"; }
bool is_sum(const node& n) { return n.op == "Add" && n.inputs.size() == 2 && !n.has("broadcast"); }

/// A Gemm that is a matrix product and a bias.
bool is_plain(const node& n) {
  return n.op != "Gemm" || (n.number("alpha", 1) == 1 && n.number("beta", 1) == 1 && n.integer("transA", 0) == 0);
}

}

void integer_products::see(const node& n) {
  if (!n.domain.empty() || !n.reads(0) || !n.gives(0)) return;
  if (n.op == "DequantizeLinear" && n.inputs.size() >= 2) m_widened.emplace(n.outputs[0], n);
  if (moves_elements(n)) follow_move(n);
  if (is_product(n) || is_sum(n) || is_limit(n) || is_weighted_mean(n)) m_made.emplace(n.outputs[0], n);
}

/// Moves the stored integers beside the real numbers that they mean; nothing reads them where no product is found.
void integer_products::follow_move(const node& n) {
  const node* wide = widened(n.inputs[0]);
  if (wide == nullptr) return;
  if (n.op == "Identity") {
    m_widened.emplace(n.outputs[0], node(*wide));
    return;
  }
  if (!is_constant(*wide, 1, 1) || !is_constant(*wide, 2, 1)) return;
  node moved = n;
  moved.inputs[0] = wide->inputs[0];
  const value_id result = m_placer.new_value(n, "stored");
  moved.outputs = {result};
  moved.name = at(result).name;
  node meaning = *wide;
  meaning.inputs[0] = result;
  m_widened.emplace(n.outputs[0], std::move(meaning));
  m_placer.place(std::move(moved));
}

const node* integer_products::widened(value_id v) const {
  const auto found = m_widened.find(v);
  return found == m_widened.end() ? nullptr : &found->second;
}
const node* integer_products::made(value_id v) const {
  const auto found = m_made.find(v);
  return found == m_made.end() ? nullptr : &found->second;
}

bool integer_products::is_constant(const node& n, std::size_t i, std::int64_t count) {
  if (!n.reads(i)) return i == 2;  // a zero point of 0
  const value& v = at(n.inputs[i]);
  if (v.constant == nullptr || (v.constant->count() != 1 && (v.constant->count() != count || v.shape.size() != 1)))
    return false;
  bool positive = true;
  for (std::int64_t k = 0; k < v.constant->count() && i == 1; ++k) positive = positive && v.constant->number(k) > 0;
  return positive;
}

/// Whether a DequantizeLinear widens bytes by one scale, or by one per position of `axis`; -1: by one.
bool integer_products::is_stored_alike(const node& wide, std::int64_t axis, std::size_t rank) {
  const value& x = at(wide.inputs[0]);
  if (!x.typed || !x.known_rank || x.shape.size() != rank || !is_byte(x.type) || wide.integer("block_size", 0) != 0)
    return false;
  const std::int64_t own = counted_from_start(wide.integer("axis", 1), rank);
  const std::int64_t count = axis >= 0 && own == axis ? x.shape[static_cast<std::size_t>(axis)] : 1;
  return is_constant(wide, 1, count) && is_constant(wide, 2, count);
}

/// Whether a bias is stored in units of both scales, and from 0 on.
bool integer_products::is_bias_of(const node& bias, const node& x, const node& w) {
  const value& stored = at(bias.inputs[0]);
  if (stored.constant == nullptr || stored.type != element::i32 || stored.shape.size() != 1) return false;
  const std::int64_t count = stored.constant->count();
  if (!is_constant(bias, 1, count) || !is_constant(bias, 2, count)) return false;
  const array &unit = *at(bias.inputs[1]).constant, &of_w = *at(w.inputs[1]).constant;
  const double of_x = at(x.inputs[1]).constant->number(0);
  for (std::int64_t i = 0; i < count; ++i) {
    if (of_w.count() != 1 && of_w.count() != count) return false;
    const double wanted = of_x * of_w.number(of_w.count() == 1 ? 0 : i);
    if (stored.constant->integer(i) == 0) continue;  // 0 in any unit
    if (!(std::abs(unit.number(unit.count() == 1 ? 0 : i) - wanted) <= 1e-5 * std::abs(wanted))) return false;
  }
  if (!bias.reads(2)) return true;
  const array& zero = *at(bias.inputs[2]).constant;
  for (std::int64_t i = 0; i < zero.count(); ++i)
    if (zero.number(i) != 0) return false;
  return true;
}

/// Whether QuantizeLinear `q` stores numbers as they were before DequantizeLinear `wide`.
bool integer_products::stores_alike(const node& q, const node& wide) {
  const value& x = at(wide.inputs[0]);
  if (!is_constant(wide, 1, 1) || !is_constant(wide, 2, 1) || !x.typed || wide.integer("block_size", 0) != 0)
    return false;
  const double scale = at(q.inputs[1]).constant->number(0);
  return stored_type(q) == x.type && zero_point(q) == zero_point(wide) &&
         scale == at(wide.inputs[1]).constant->number(0) && scale > 0;
}

element integer_products::stored_type(const node& q) { return q.reads(2) ? at(q.inputs[2]).type : element::u8; }

double integer_products::zero_point(const node& n) { return n.reads(2) ? at(n.inputs[2]).constant->number(0) : 0; }

value_id integer_products::zero_of(const node& wide, element type) {
  if (wide.reads(2)) return wide.inputs[2];
  return m_placer.new_constant(wide, "zero", array(type, {}));
}

/// The QLinear operator that computes `made` in units of `q`, without its output; nothing where there is none.
std::optional<node> integer_products::product(const node& q, const node& made) {
  const std::size_t inputs = made.inputs.size();
  const bool transposes = made.op == "ConvTranspose", conv = made.op == "Conv" || transposes, gemm = made.op == "Gemm";
  if (inputs < 2 || !is_plain(made)) return std::nullopt;
  const node *x = widened(made.inputs[0]), *w = widened(made.inputs[1]);
  if (x == nullptr || w == nullptr) return std::nullopt;
  const value &stored_x = at(x->inputs[0]), &stored_w = at(w->inputs[0]);
  const std::size_t rank = stored_w.shape.size();
  if (rank < 2 || stored_x.shape.size() < 2 || (conv && (stored_w.constant == nullptr || rank > 4)) ||
      (gemm && rank != 2))
    return std::nullopt;
  const std::int64_t transposed = made.integer("transB", 0), channels = transposes ? 1
                                                                        : conv || transposed != 0
                                                                            ? 0
                                                                            : static_cast<std::int64_t>(rank) - 1;
  if (!is_stored_alike(*x, -1, stored_x.shape.size()) || !is_stored_alike(*w, channels, rank)) return std::nullopt;
  const bool biased = made.reads(2);
  const node* bias = biased ? widened(made.inputs[2]) : nullptr;
  if (biased && (bias == nullptr || !is_bias_of(*bias, *x, *w))) return std::nullopt;

  node n = made;
  n.name = q.name;
  n.op = transposes ? "QLinearConvTranspose" : conv ? "QLinearConv" : gemm ? "QGemm" : "QLinearMatMul";
  n.domain = transposes ? "netsuke" : gemm ? "com.microsoft" : "";
  n.version = transposes || gemm ? 1 : std::max(made.version, 10);
  n.inputs = {x->inputs[0], x->inputs[1], zero_of(*x, stored_x.type),
              w->inputs[0], w->inputs[1], zero_of(*w, stored_w.type)};
  // the zero point of weights that have a scale per channel is as long as that
  const std::int64_t scales = at(w->inputs[1]).constant->count();
  if (scales != at(n.inputs[5]).constant->count() && at(n.inputs[5]).constant->count() != 1) return std::nullopt;
  if (gemm) n.inputs.push_back(biased ? bias->inputs[0] : no_value);
  n.inputs.push_back(q.inputs[1]);
  n.inputs.push_back(zero_of(q, element::u8));
  if (conv && biased) n.inputs.push_back(bias->inputs[0]);
  return n;
}

/// product() of a convolution to whose result stored numbers of its shape are added.
std::optional<node> integer_products::sum(const node& q, const node& add) {
  for (const std::size_t i : {0, 1}) {
    const node *conv = made(add.inputs[i]), *residual = widened(add.inputs[1 - i]);
    if (conv == nullptr || residual == nullptr || conv->op != "Conv" || !widens_bytes(*residual)) continue;
    const value &weights = at(conv->inputs[1]), &stored = at(residual->inputs[0]);
    const bool grouped = conv->integer("group", 1) != 1;
    if (grouped && (weights.shape.size() < 2 || weights.shape[1] < min_group_channels)) continue;
    if (!at(add.inputs[i]).known_rank || at(add.inputs[i]).shape != stored.shape) continue;
    std::optional<node> n = product(q, *conv);
    if (!n) continue;
    n->op = "QLinearConvAdd";
    n->domain = "netsuke";
    n->version = 1;
    if (n->inputs.size() < 9)
      n->inputs.push_back(m_placer.new_constant(q, "no_bias", array(element::i32, {weights.shape[0]})));
    n->inputs.insert(n->inputs.end(), {residual->inputs[0], residual->inputs[1], zero_of(*residual, stored.type)});
    return n;
  }
  return std::nullopt;
}

/// Sets the limits of a Relu, or of a Clip whose limits are constants.
bool integer_products::limits_of(const node& limit, double& low, double& high) {
  if (limit.op == "Relu") {
    low = 0;
    return true;
  }
  if (limit.version < 11) {
    low = limit.has("min") ? static_cast<double>(limit.number("min", 0)) : low;
    high = limit.has("max") ? static_cast<double>(limit.number("max", 0)) : high;
    return low <= high;
  }
  for (const std::size_t i : {1, 2}) {
    if (!limit.reads(i)) continue;
    const value& v = at(limit.inputs[i]);
    if (v.constant == nullptr || v.constant->count() != 1) return false;
    (i == 1 ? low : high) = v.constant->number(0);
  }
  return low <= high;
}

std::int64_t integer_products::stored_number(const node& q, double real) {
  return reference::stored(static_cast<float>(real) / static_cast<float>(at(q.inputs[1]).constant->number(0)),
                           static_cast<std::int64_t>(zero_point(q)), *range_of_stored(stored_type(q)));
}

bool integer_products::replace_mean(const node& q, const node& mean) {
  const node* wide = widened(mean.inputs[0]);
  if (wide == nullptr || !widens_bytes(*wide)) return false;
  const auto x_scale = static_cast<float>(at(wide->inputs[1]).constant->number(0)),
             y_scale = static_cast<float>(at(q.inputs[1]).constant->number(0)), ratio = y_scale / x_scale;
  if (x_scale == 1 || !std::isnormal(ratio)) return false;
  const value_id one = m_placer.new_constant(q, "one", make_floats({}, {1})), units = m_placer.new_value(q, "units"),
                 result = m_placer.new_value(q, "mean"),
                 steps = m_placer.new_constant(q, "steps", make_floats({}, {ratio}));
  node read = *wide, again = mean, write = q;
  read.name = at(units).name;
  read.inputs[1] = one;
  read.outputs = {units};
  again.name = at(result).name;
  again.inputs[0] = units;
  again.outputs = {result};
  write.inputs[0] = result;
  write.inputs[1] = steps;
  m_placer.place({std::move(write), std::move(again), std::move(read)});
  return true;
}

bool integer_products::widens_bytes(const node& wide) {
  const value& x = at(wide.inputs[0]);
  return x.typed && is_byte(x.type) && x.constant == nullptr && wide.integer("block_size", 0) == 0 &&
         is_constant(wide, 1, 1) && is_constant(wide, 2, 1);
}

bool integer_products::stores_bytes(const node& q) {
  if (q.op != "QuantizeLinear" || !q.domain.empty() || !q.reads(0) || q.inputs.size() < 2 || !q.gives(0) ||
      q.integer("block_size", 0) != 0)
    return false;
  if (!is_constant(q, 1, 1) || !is_constant(q, 2, 1)) return false;
  return q.reads(2) ? is_byte(stored_type(q)) : q.integer("output_dtype", 0) <= 2;
}

bool integer_products::replace(const node& q) {
  if (!stores_bytes(q)) return false;
  if (const node* same = widened(q.inputs[0]); same != nullptr && stores_alike(q, *same)) {
    m_placer.place(node_placer::helper(q, "Identity", "stored", {same->inputs[0]}, q.outputs[0]));
    return true;
  }
  const node* source = made(q.inputs[0]);
  if (source == nullptr) return false;
  if (is_weighted_mean(*source)) return replace_mean(q, *source);
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  if (is_limit(*source)) {
    if (!limits_of(*source, low, high)) return false;
    source = made(source->inputs[0]);
    if (source == nullptr || is_limit(*source)) return false;
  }
  std::optional<node> integers = is_sum(*source)       ? sum(q, *source)
                                 : is_product(*source) ? product(q, *source)
                                                       : std::nullopt;
  if (!integers) return false;
  const integer_range range = *range_of_stored(stored_type(q));
  // nodes wait last first: the limits go before what makes their input
  std::vector<node> after;
  value_id result = q.outputs[0];
  const auto hold = [&](const char* op, const char* suffix, double real, const char* name) {
    const value_id before = m_placer.new_value(q, suffix);
    array number(stored_type(q), {});
    number.set_integer(0, stored_number(q, real));
    const value_id limit = m_placer.new_constant(q, name, std::move(number));
    after.push_back(m_placer.helper(q, op, suffix, {before, limit}, result, {}, 13));
    result = before;
  };
  if (std::isfinite(high) && stored_number(q, high) < range.high) hold("Min", "at_most", high, "upper");
  if (std::isfinite(low) && stored_number(q, low) > range.low) hold("Max", "at_least", low, "lower");
  integers->outputs = {result};
  after.push_back(std::move(*integers));
  m_placer.place(std::move(after));
  return true;
}

}
