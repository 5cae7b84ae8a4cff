// SPDX-License-Identifier: MIT
#include "resolve/infer.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "errors.hpp"
#include "graph/onnx_type.hpp"
#include "resolve/shapes/bounded.hpp"
#include "resolve/shapes/counted.hpp"
#include "resolve/integers/byte_functions.hpp"
#include "resolve/chosen_outputs.hpp"
#include "resolve/shapes/class_texts.hpp"
#include "resolve/integers/dequantize.hpp"
#include "resolve/lengths/fitting_lengths.hpp"
#include "resolve/integers/integer_products.hpp"
#include "resolve/shapes/joined_axes.hpp"
#include "resolve/lengths/length_reader.hpp"
#include "resolve/lengths/other_lengths.hpp"
#include "resolve/ports.hpp"
#include "resolve/shapes/sequences.hpp"
#include "spell/spell.hpp"
#include "resolve/shapes/unroll.hpp"
#include "reference/evaluator.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_ports = 1024;  // the passes look at pairs of them

/// Which nodes lead to an output: values are live when an output or a live node reads them.
class liveness {
 public:
  explicit liveness(const graph& g) : m_live(g.values.size(), false) {
    for (std::size_t i = 0; i < g.values.size(); ++i) m_ids.emplace(g.values[i].name, static_cast<value_id>(i));
    for (value_id v : g.outputs) mark(v);
    for (std::size_t i = g.nodes.size(); i-- > 0;) {
      const node& n = g.nodes[i];
      if (!is_live(n)) continue;
      for (value_id v : n.inputs) mark(v);
      for (const std::string& name : captured_names(n))
        if (const auto found = m_ids.find(name); found != m_ids.end()) mark(found->second);
    }
    for (value_id v : g.inputs) mark(v);
  }
  bool is_live(value_id v) const { return m_live[static_cast<std::size_t>(v)]; }
  bool is_live(const node& n) const {
    return std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) { return v != no_value && is_live(v); });
  }

 private:
  void mark(value_id v) {
    if (v != no_value) m_live[static_cast<std::size_t>(v)] = true;
  }
  std::vector<bool> m_live;
  std::unordered_map<std::string, value_id> m_ids;
};

void remove_dead_nodes(graph& g) {
  const liveness live(g);
  g.nodes.erase(std::remove_if(g.nodes.begin(), g.nodes.end(), [&](const node& n) { return !live.is_live(n); }),
                g.nodes.end());
}

/// Makes labels and scores of classifiers absent that nothing reads: what makes only one of them need not refuse the
/// other.
void remove_dead_results(graph& g) {
  const liveness live(g);
  for (node& n : g.nodes)
    for (value_id& v : n.outputs)
      if (n.domain == "ai.onnx.ml" && v != no_value && !live.is_live(v)) v = no_value;
}

/// Drops values that nothing uses and renumbers the rest; unused outputs of nodes become absent.
void remove_dead_values(graph& g) {
  const liveness live(g);
  std::vector<value_id> renumbered(g.values.size(), no_value);
  std::vector<value> kept;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    if (!live.is_live(static_cast<value_id>(i))) continue;
    renumbered[i] = static_cast<value_id>(kept.size());
    kept.push_back(std::move(g.values[i]));
  }
  g.values = std::move(kept);
  const auto renumber = [&](std::vector<value_id>& list) {
    for (value_id& v : list)
      if (v != no_value) v = renumbered[static_cast<std::size_t>(v)];
  };
  for (node& n : g.nodes) {
    renumber(n.inputs);
    renumber(n.outputs);
  }
  renumber(g.inputs);
  renumber(g.outputs);
}

/// Refuses strings that an output needs, and that are not there or not as many as their shape says.
void refuse_text(const graph& g) {
  const liveness live(g);
  std::set<value_id> given;
  for (const node& n : g.nodes)
    if (n.has(text_attribute)) given.insert(n.outputs.begin(), n.outputs.end());
  for (std::size_t i = 0; i < g.values.size(); ++i)
    if (g.values[i].typed && g.values[i].type == element::string && given.count(static_cast<value_id>(i)) == 0 &&
        live.is_live(static_cast<value_id>(i)))
      refuse("'" + g.values[i].name +
             "' holds strings, which no operator here takes. Remove text processing from the model, or choose "
             "outputs that do not need it (--output-value NAME)");
}

/// What the model has in float64 becomes float32. The reference goes on in double precision, so a check tells where
/// that matters.
void narrow_doubles(graph& g) {
  std::string first;
  for (value& v : g.values) {
    if (v.type != element::f64) continue;
    v.type = element::f32;
    if (v.constant) v.constant = std::make_shared<const array>(converted(*v.constant, element::f32));
    if (!v.constant && first.empty()) first = v.name;
  }
  constexpr std::int64_t float32 = number_of(onnx_type::float32), float64 = number_of(onnx_type::float64);
  for (node& n : g.nodes)
    if (n.op == "Cast" && n.integer("to", 0) == float64) n.attributes["to"] = float32;
  if (!first.empty())
    g.facts.warnings.push_back("'" + first +
                               "', and what is computed from it, is float64 in the model and float32 here: about 7 "
                               "digits of 16 are kept");
}

void check_size(const graph& g) {
  const auto check = [](std::size_t count, std::size_t max, const char* what) {
    if (count > max)
      refuse("the model has " + std::to_string(count) + " " + what + ", more than " + std::to_string(max) +
             ". Convert it in parts");
  };
  check(g.nodes.size(), max_nodes, "nodes after folding");
  check(g.inputs.size(), max_ports, "inputs");
  check(g.outputs.size(), max_ports, "outputs");
}

/// Gives a LinearClassifier of two classes and one score the score of the other class, where that is logistic or
/// nothing reads it.
void complete_linear_classifier(node& n) {
  if (n.op != "LinearClassifier" || n.domain != "ai.onnx.ml") return;
  if (n.gives(1) && n.text("post_transform", "NONE") != "LOGISTIC")
    return;  // runtimes differ in the other class's score
  const auto* offsets = n.find<std::vector<float>>("intercepts");
  if (n.find<std::vector<float>>("coefficients") == nullptr || offsets == nullptr || offsets->size() != 1) return;
  if (n.integers("classlabels_ints").size() != 2) return;
  for (const char* key : {"coefficients", "intercepts"}) {
    auto& numbers = std::get<std::vector<float>>(n.attributes[key]);
    const std::vector<float> second = numbers;
    for (float& v : numbers) v = -v;
    numbers.insert(numbers.end(), second.begin(), second.end());
  }
}

/// Looks at the nodes of a graph in order: places what graphs inside them compute, infers and folds the others.
class resolver {
 public:
  /// `trial` may be null: then there are no other rows or lengths than in the source.
  /// With `tolerates`, nodes that are refused leave their results unknown.
  resolver(graph& g, const input_options& options, folder& folds, length_trial* trial, bool tolerates)
      : m_graph(g),
        m_folds(folds),
        m_placer(g),
        m_unroller(g, m_placer, options.bounds, options.counts.has_value()),
        m_sequences(g, m_placer),
        m_bounded(g, m_placer, options.bounds),
        m_texts(g, m_placer),
        m_dequantizes(options.dequantize),
        m_tolerates(tolerates),
        m_dequantizer(g, folds, m_placer, [this](node n) { infer(std::move(n)); }),
        m_products(m_placer),
        m_functions(m_placer, m_products) {
    m_folds.read_lengths(&m_bounded.lengths());
    if (trial != nullptr) m_lengths.emplace(g, folds, m_placer, *trial);
    if (options.counts) m_counted.emplace(g, m_placer, *options.counts);
  }

  void run() {
    while (!m_placer.empty()) {
      if (m_tolerates)
        try_next(m_placer.take());
      else
        resolve(m_placer.take());
    }
    m_bounded.finish(m_unroller.used_bounds());
    if (m_lengths) m_lengths->finish();
    if (!m_tolerates) m_sequences.refuse_outputs();
  }

  void label_outputs() { m_texts.label_outputs(); }

  /// Why the first of the nodes was refused; empty where none was.
  const std::string& refusal() const { return m_refusal; }

 private:
  value& at(value_id v) { return m_placer.at(v); }
  void resolve(node n);
  void replace_or_infer(node n);
  void try_next(node n);
  void infer(node n);
  bool fold(const node& n);

  graph& m_graph;
  folder& m_folds;
  node_placer m_placer;
  unroller m_unroller;
  sequences m_sequences;
  std::optional<length_reader> m_lengths;
  bounded_rows m_bounded;
  std::optional<counted_rows> m_counted;
  class_texts m_texts;
  bool m_dequantizes, m_tolerates;
  std::string m_refusal;
  dequantizer m_dequantizer;
  integer_products m_products;
  byte_functions m_functions;
  std::int64_t m_streams = 0;  ///< nodes so far that sample random numbers
};

void resolver::resolve(node n) {
  try {
    replace_or_infer(std::move(n));
  } catch (const undefined_result&) {
    throw;
  } catch (const error& e) {
    const std::string options = e.code == exit_code::refused ? m_unroller.options_that_choose() : "";
    if (options.empty() || std::string(e.what()).find(options) != std::string::npos) throw;
    refuse(std::string(e.what()) + ". The node is in a branch of an If whose condition is computed at run time: both " +
           "branches are computed, for these shapes. Choose one branch:" + options);
  }
}

void resolver::replace_or_infer(node n) {
  if (n.op == "Scan" && n.domain.empty() && m_bounded.lengths().reads_bounded(n))
    m_bounded.lengths().refuse(n, "a loop is unrolled for as many as there can be at most");
  if (unroller::takes(n))
    m_unroller.unroll(n);
  else
    infer(std::move(n));
}

/// Skips nodes that read what is unknown.
void resolver::try_next(node n) {
  const auto is_unknown = [&](value_id v) { return v != no_value && !at(v).typed && !m_sequences.holds(v); };
  if (std::any_of(n.inputs.begin(), n.inputs.end(), is_unknown)) return;
  try {
    resolve(std::move(n));
  } catch (const error& e) {
    if (e.code != exit_code::refused) throw;
    if (m_refusal.empty()) m_refusal = e.what();
  }
}

void resolver::infer(node n) {
  if (m_unroller.select_rows(n)) return;
  m_texts.refuse_maps(n);
  if (m_sequences.replace(n) || m_texts.replace(n)) return;
  complete_linear_classifier(n);
  if (spell_out(m_graph, n, m_placer)) return;
  if (m_dequantizes && m_dequantizer.replace(n)) return;
  m_products.see(n);
  m_functions.see(n);
  if (m_products.replace(n) || m_functions.replace(n)) return;
  if (m_lengths) m_lengths->rewrite(n);
  if (reference::is_random(n)) n.attributes[reference::random_stream] = m_streams++;
  const bool chooses = bounded_rows::takes(n) && !m_folds.folds(n);
  if (chooses) m_bounded.bound(n);
  if (chooses && m_counted) m_counted->take(n, m_bounded.take_limits(n));
  const bool folds = fold(n) || (!m_counted && m_bounded.follow(n));
  if (m_counted) m_counted->note(n);
  if (m_lengths) m_lengths->look_at(n);
  if (folds) return;
  for (value_id& v : n.outputs)  // those without elements
    if (v != no_value && at(v).constant) v = no_value;
  m_graph.nodes.push_back(std::move(n));
}

/// Infers and folds `n`. What has no shape because it depends on the number of results says so.
bool resolver::fold(const node& n) {
  try {
    return m_folds.run(n);
  } catch (const error& e) {
    if (e.code != exit_code::refused || !(m_bounded.lengths().reads_bounded(n) || m_bounded.lengths().reads_count(n)))
      throw;
    m_bounded.lengths().refuse(n, "the shape of its result follows from that in a way that is not supported");
  }
}

void resolve_once(graph& g, const input_options& options, length_trial* trial) {
  folder folds(g, constant_elements(g), options.trusted);
  chosen_outputs outputs(g, options);
  bind_inputs(g, options, folds);
  join_axes_of_inputs(g);
  remove_dead_nodes(g);
  remove_dead_results(g);
  if (!outputs.are_inside()) refuse_text(g);
  resolver nodes(g, options, folds, trial, outputs.are_inside());
  nodes.run();
  outputs.settle(nodes.refusal());
  nodes.label_outputs();
  remove_dead_nodes(g);
  remove_dead_values(g);
  join_axes_of_outputs(g);
  narrow_doubles(g);
  check_size(g);
  if (trial == nullptr) compare_declared(g);
}

}

void remove_unused(graph& g) {
  remove_dead_nodes(g);
  remove_dead_values(g);
}

namespace {

std::shared_ptr<const graph> resolve_lengths(graph& g, const input_options& options) {
  const asked_lengths asked = compare_lengths(g, options);
  auto exported = std::make_shared<graph>(g);
  if (!asked.rows && !asked.lengths) {
    resolve_once(g, options, nullptr);
    require_known_nodes(*exported, g, options.constants);
    return nullptr;
  }
  resolve_once(*exported, asked.own, nullptr);
  require_known_nodes(g, *exported, options.constants);
  length_trial trial;
  trial.choices = options.constants;
  settled_constants constants;
  if (asked.lengths) {
    graph settled = settle_lengths(g, *exported, trial,
                                   [&](graph& copy, length_trial& t) { resolve_once(copy, asked.others, &t); });
    constants = settle_constants(settled, *exported, options.constants);
    (asked.rows ? *exported : g) = std::move(settled);
  }
  if (asked.rows) {
    trial.exported = exported.get();
    trial.lengths = {};
    trial.rows = trial.replays = true;
    resolve_once(g, options, &trial);
    apply(constants, *exported);
  }
  apply(constants, g);
  if (asked.lengths) require_settled(trial, constants, g);
  return exported;
}

}

std::shared_ptr<const graph> resolve(graph& g, const input_options& options) {
  if (!has_open_lengths(g, options)) return resolve_lengths(g, options);
  const graph source = g;
  try {
    return resolve_lengths(g, options);
  } catch (const error& e) {
    if (e.code != exit_code::refused) throw;
    refuse_with_lengths(source, options, e, [](graph& copy, const input_options& tried) {
      static_cast<void>(resolve_lengths(copy, tried));
    });
  }
}

}
