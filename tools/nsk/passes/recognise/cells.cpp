// SPDX-License-Identifier: MIT
/// Cells of LSTM and GRU layers whose gates an exporter spelled out, as one time step of a recurrence.
#include <algorithm>
#include <array>
#include <optional>
#include "passes/recognise/recognise.hpp"
#include "passes/rewriter.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_gates = 4;
/// Which part of the products belongs to which gate of the recurrence, in its order.
using gate_places = std::array<int, max_gates>;

/// What a cell computes h and c from.
struct cell {
  recurrent_kind kind = recurrent_kind::lstm;
  int of_x = no_value, of_h = no_value;  ///< products [batch, gates * hidden]
  int h = no_value, c = no_value;        ///< states before
  int next_h = no_value, next_c = no_value;
  gate_places place{};
};

class cell_finder : rewriter {
 public:
  using rewriter::rewriter;

  void run() { sweep_once(&cell_finder::cell_at); }

 private:
  friend class rewriter;

  bool cell_at(std::size_t i) {
    for (const auto& candidate : {lstm(at(i)), gru(at(i))})
      if (candidate) return replace(*candidate, i);
    return false;
  }

  static std::size_t index(int v) { return static_cast<std::size_t>(v); }
  /// Operands of a product or sum; none where something else makes `v`.
  std::array<int, 2> operands(int v, binary_kind kind) {
    const operation* o = binary(v, kind);
    return o ? std::array<int, 2>{o->inputs[0], o->inputs[1]} : std::array<int, 2>{no_value, no_value};
  }
  int argument(int v, function fn) {
    const operation* o = unary(v, fn);
    return o && readers(v) <= max_reads_of_gate ? o->inputs[0] : no_value;
  }
  /// Which of the equal parts of the last axis `v` is; `whole` is what was cut.
  int part(int v, int& whole) {
    const operation* o = producer(v);
    const auto* s = o ? o->as<slice_parameters>() : nullptr;
    if (!s) return -1;
    const shape_t &from = m_p.shape(o->inputs[0]), &to = m_p.shape(v);
    for (std::size_t d = 0; d < to.size(); ++d)
      if (s->steps[d] != 1 || (d + 1 < to.size() && (s->starts[d] != 0 || from[d] != to[d]))) return -1;
    if (to.size() != 2 || from[1] % to[1] != 0 || s->starts[1] % to[1] != 0) return -1;
    whole = o->inputs[0];
    return static_cast<int>(s->starts[1] / to[1]);
  }
  /// The part of the same values that another function was applied to: -1 where it was not.
  int gate(int v, function fn, int& whole) {
    int of = no_value;
    const int place = part(argument(v, fn), of);
    if (place < 0 || (whole != no_value && of != whole)) return -1;
    whole = of;
    return place;
  }
  /// A product with constant weights, of rows.
  const operation* dense(int v, std::int64_t columns) {
    const operation* o = producer(v);
    const auto* d = o ? o->as<dense_parameters>() : nullptr;
    return d && o->post.empty() && m_p.shape(v).size() == 2 && d->outputs == columns && !m_p.is_output(v) ? o : nullptr;
  }
  static bool is_permutation(const gate_places& places, std::size_t gates) {
    std::array<bool, max_gates> taken{};
    for (std::size_t i = 0; i < gates; ++i) {
      if (places[i] < 0 || places[i] >= static_cast<int>(gates) || taken[index(places[i])]) return false;
      taken[index(places[i])] = true;
    }
    return true;
  }

  /// h' = o * tanh(c'), c' = f * c + i * g.
  std::optional<cell> lstm(const operation& last) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (!last.as<binary_params>()) break;
      const auto product = operands(last.output, binary_kind::mul);
      cell k;
      int sum = no_value;
      const int output = product[0] == no_value ? -1 : gate(product[side], function::sigmoid, sum);
      k.next_h = last.output;
      k.next_c = output < 0 ? no_value : argument(product[1 - side], function::tanh);
      const auto terms = operands(k.next_c, binary_kind::add);
      for (std::size_t first = 0; first < 2 && terms[0] != no_value; ++first)
        if (lstm_terms(terms[first], terms[1 - first], sum, output, k) && products(k, sum, 4)) return k;
    }
    return std::nullopt;
  }
  /// i * g, and f * c.
  bool lstm_terms(int fresh, int kept, int sum, int output, cell& k) {
    const auto a = operands(fresh, binary_kind::mul), b = operands(kept, binary_kind::mul);
    for (std::size_t i = 0; i < 2 && a[0] != no_value && b[0] != no_value; ++i)
      for (std::size_t j = 0; j < 2; ++j) {
        const int input = gate(a[i], function::sigmoid, sum), value = gate(a[1 - i], function::tanh, sum),
                  forget = gate(b[j], function::sigmoid, sum);
        k.c = b[1 - j];
        k.place = {input, output, forget, value};
        const shape_t& state = m_p.shape(k.next_c);
        if (is_permutation(k.place, 4) && m_p.shape(k.c) == state && m_p.shape(k.next_h) == state) return true;
      }
    return false;
  }
  /// The two products whose sum the gates cut: of x, and of h, which is the one that is as wide as the state.
  bool products(cell& k, int sum, std::int64_t gates) {
    const std::int64_t hidden = m_p.shape(k.next_h)[1];
    const auto terms = operands(sum, binary_kind::add);
    if (terms[0] == no_value || m_p.shape(sum)[1] != gates * hidden) return false;
    for (std::size_t side : {1u, 0u}) {
      const operation *of_h = dense(terms[side], gates * hidden), *of_x = dense(terms[1 - side], gates * hidden);
      if (!of_h || !of_x || m_p.shape(of_h->inputs[0]) != m_p.shape(k.next_h)) continue;
      if (side == 1 && producer(of_h->inputs[0]) && !producer(of_x->inputs[0]) &&
          m_p.shape(of_x->inputs[0]) == m_p.shape(k.next_h))
        continue;  // what the model is given is the state
      k.of_h = terms[side];
      k.of_x = terms[1 - side];
      k.h = of_h->inputs[0];
      return true;
    }
    return false;
  }

  /// h' = n + z * (h - n) or (1 - z) * n + z * h, r and z from the sums of both products, n = tanh(x part + r * h
  /// part).
  std::optional<cell> gru(const operation& last) {
    cell k;
    k.kind = recurrent_kind::gru;
    k.next_h = last.output;
    const auto terms = operands(last.output, binary_kind::add);
    if (terms[0] == no_value || m_p.shape(last.output).size() != 2) return std::nullopt;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto kept = operands(terms[1 - side], binary_kind::mul), fresh = operands(terms[side], binary_kind::mul);
      for (std::size_t first = 0; first < 2 && kept[0] != no_value; ++first) {
        const int update = kept[1 - first];
        const auto difference = operands(kept[first], binary_kind::sub);
        k.h = difference[1] == terms[side] ? difference[0] : no_value;
        if (k.h != no_value && gru_gates(terms[side], update, k)) return k;
        k.h = kept[first];
        for (std::size_t second = 0; second < 2 && fresh[0] != no_value; ++second)
          if (is_rest(fresh[second], update) && gru_gates(fresh[1 - second], update, k)) return k;
      }
    }
    return std::nullopt;
  }
  /// Whether v is 1 - z.
  bool is_rest(int v, int z) {
    const auto difference = operands(v, binary_kind::sub);
    if (difference[1] != z || !m_p.is_constant(difference[0])) return false;
    const array& one = *m_p.values[index(difference[0])].constant;
    return one.count() == 1 && one.number(0) == 1;
  }
  bool gru_gates(int value, int update, cell& k) {
    const auto inner = operands(argument(value, function::tanh), binary_kind::add);
    for (std::size_t side = 0; side < 2 && inner[0] != no_value; ++side) {
      const auto gated = operands(inner[1 - side], binary_kind::mul);
      for (std::size_t first = 0; first < 2 && gated[0] != no_value; ++first) {
        int of_x = no_value, of_h = no_value;
        const int fresh = part(inner[side], of_x), reset_part = part(gated[1 - first], of_h);
        k.of_x = of_x;
        k.of_h = of_h;
        k.place = {summed_gate(update, k), summed_gate(gated[first], k), fresh, 0};
        if (fresh == reset_part && is_permutation(k.place, 3) && gru_products(k)) return true;
      }
    }
    return false;
  }
  /// Place of sigmoid(x part + h part).
  int summed_gate(int v, const cell& k) {
    const auto terms = operands(argument(v, function::sigmoid), binary_kind::add);
    for (std::size_t side = 0; side < 2 && terms[0] != no_value; ++side) {
      int of_x = no_value, of_h = no_value;
      const int own = part(terms[side], of_x), recurrent = part(terms[1 - side], of_h);
      if (own >= 0 && own == recurrent && of_x == k.of_x && of_h == k.of_h) return own;
    }
    return -1;
  }
  bool gru_products(const cell& k) {
    const std::int64_t columns = 3 * m_p.shape(k.next_h)[1];
    const operation* of_h = k.of_x == no_value || k.of_h == no_value ? nullptr : dense(k.of_h, columns);
    return of_h && dense(k.of_x, columns) && of_h->inputs[0] == k.h && m_p.shape(k.h) == m_p.shape(k.next_h);
  }

  /// Puts the recurrence where its first result was computed; `last` computed h'.
  bool replace(const cell& k, std::size_t last) {
    const bool is_lstm = k.kind == recurrent_kind::lstm;
    const std::size_t gates = is_lstm ? 4 : 3;
    const std::int64_t batch = m_p.shape(k.next_h)[0], hidden = m_p.shape(k.next_h)[1];
    const operation source = m_p.operations[last];
    const auto columns = static_cast<std::int64_t>(gates) * hidden;
    std::vector<operation> made;
    const auto add = [&](operation_parameters p, std::vector<int> inputs, const char* what, shape_t shape, int into) {
      operation o;
      o.name = source.name;
      o.source = source.source;
      o.inputs = std::move(inputs);
      o.output = into != no_value ? into : m_p.add({source.name + "#" + what, element::f32, std::move(shape), nullptr});
      o.p = std::move(p);
      made.push_back(std::move(o));
      return made.back().output;
    };
    recurrent_parameters r = recurrence(k, hidden);
    const int product = add(reordered(k, r), {producer(k.of_x)->inputs[0]}, "inputs", {batch, columns}, no_value);
    std::vector<int> inputs = {add(reshape_parameters{}, {product}, "instant", {batch, 1, 1, columns}, no_value),
                               add(reshape_parameters{}, {k.h}, "h", {batch, 1, hidden}, no_value)};
    if (is_lstm) inputs.push_back(add(reshape_parameters{}, {k.c}, "c", {batch, 1, hidden}, no_value));
    const int states = add(std::move(r), std::move(inputs), "states", {batch, is_lstm ? 3 : 2, 1, hidden}, no_value);
    const auto row = [&](std::int64_t at, const char* what, int into) {
      const int line =
          add(slice_parameters{{0, at, 0, 0}, {1, 1, 1, 1}}, {states}, what, {batch, 1, 1, hidden}, no_value);
      add(reshape_parameters{}, {line}, what, {}, into);
    };
    row(0, "next_h", k.next_h);
    if (is_lstm) row(2, "next_c", k.next_c);
    const std::size_t first = is_lstm ? index(producer_index(k.next_c)) : last;
    auto& all = m_p.operations;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(last));
    if (is_lstm) all.erase(all.begin() + static_cast<std::ptrdiff_t>(first));
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(first), std::make_move_iterator(made.begin()),
               std::make_move_iterator(made.end()));
    return true;
  }
  /// The recurrence with the weights of h, gates in its order.
  recurrent_parameters recurrence(const cell& k, std::int64_t hidden) {
    const auto& d = *producer(k.of_h)->as<dense_parameters>();
    recurrent_parameters r;
    r.kind = k.kind;
    r.hidden = static_cast<int>(hidden);
    r.linear_before_reset = k.kind == recurrent_kind::gru;
    r.gates = {{recurrent_function::sigmoid}, {recurrent_function::tanh}};
    if (k.kind == recurrent_kind::lstm) r.gates.push_back({recurrent_function::tanh});
    const auto columns = static_cast<std::size_t>(d.outputs);
    r.weights.resize(d.weights.size());
    r.bias.resize(columns);
    for (std::size_t n = 0; n < columns; ++n) {
      const std::size_t from = column(k, n, hidden);
      r.bias[n] = d.bias[from];
      for (std::size_t i = 0; i < static_cast<std::size_t>(hidden); ++i)
        r.weights[n * static_cast<std::size_t>(hidden) + i] = d.weights[i * columns + from];
    }
    return r;
  }
  static std::size_t column(const cell& k, std::size_t n, std::int64_t hidden) {
    const auto width = static_cast<std::size_t>(hidden);
    return index(k.place[n / width]) * width + n % width;
  }
  /// The product of x with gates in the recurrence's order. It takes the biases of h too, but for the gate that GRU
  /// resets.
  dense_parameters reordered(const cell& k, recurrent_parameters& r) {
    const auto& d = *producer(k.of_x)->as<dense_parameters>();
    dense_parameters own = d;
    const auto columns = static_cast<std::size_t>(d.outputs), depth = static_cast<std::size_t>(d.depth);
    for (std::size_t n = 0; n < columns; ++n) {
      const std::size_t from = column(k, n, r.hidden);
      const bool reset = k.kind == recurrent_kind::gru && n >= 2 * static_cast<std::size_t>(r.hidden);
      own.bias[n] = d.bias[from] + (reset ? 0 : r.bias[n]);
      if (!reset) r.bias[n] = 0;
      for (std::size_t i = 0; i < depth; ++i) own.weights[i * columns + n] = d.weights[i * columns + from];
    }
    return own;
  }

  static constexpr int max_reads_of_gate = 2;  // GRU reads its candidate twice
};

}

void recognise_cells(program& p) { cell_finder(p).run(); }

}
