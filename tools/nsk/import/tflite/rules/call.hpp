// SPDX-License-Identifier: MIT
#pragma once
/// What a rule sees: one operator of the file, its tensors, and the graph that is being made.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include "errors.hpp"
#include "import/tflite/rules/tensors.hpp"

namespace nsk::tool::tflite {

/// All that an import works on.
struct context {
  context(const tflite_file& f, const tflite_options& o)
      : file(f), options(o), made(f.size), states(made, around), known(f, options, made, states) {
    around.first = f.first;
  }

  const tflite_file& file;
  const tflite_options options;
  emitter made;
  surroundings around;
  variables states;
  tensors known;
  std::map<variable_id, const tflite_tensor*> stored_as;  ///< the first quantised tensor of a variable
  std::map<std::vector<std::int64_t>, value_id> longs;    ///< constants of int64, made once for all time steps
  std::map<std::pair<bool, int>, value_id> tables;        ///< of tanh or the logistic function, by integer bits
  std::set<std::string> odd_biases;                       ///< tensors whose own scale is not that of the sums
};

/// The form of an output that is bound with channels first.
inline constexpr bool k_image = true;

/// One use of an operator. Tensors are numbers of the graph at hand, values those of the made graph.
class call {
 public:
  call(context& k, const tflite_operator& o) : m_context(k), m_op(o) {}

  context& all() { return m_context; }
  const tflite_options& options_of_import() const { return m_context.options; }
  const tflite_operator& op() const { return m_op; }
  const std::string& name() const { return m_op.name; }
  /// Names the operator with its tensors: how messages begin.
  std::string who() const;

  /// Refuses the operator; whoever translates it puts who() in front.
  [[noreturn]] void fail(const std::string& why) const { refuse(why); }
  void require(bool condition, const char* why) const {
    if (!condition) fail(why);
  }
  void require_operands(std::size_t min_inputs, std::size_t max_inputs, std::size_t results = 1) const;

  bool has(std::size_t i) const { return i < m_op.inputs.size() && m_op.inputs[i] >= 0; }
  /// The tensor of an operand; refuses absent inputs.
  int input(std::size_t i) const;
  int output(std::size_t i = 0) const { return m_op.outputs[i]; }
  /// The operator's options; refuses operators that lack them.
  template <class Options>
  const Options& options() const {
    const Options* o = m_op.data->builtin_options_as<Options>();
    if (o == nullptr) fail("its options are missing. The file is damaged");
    return *o;
  }
  /// The options of one of the newer operators; refuses operators that lack them.
  template <class Options>
  const Options& options_beyond() const {
    const Options* o = m_op.data->builtin_options_2_as<Options>();
    if (o == nullptr) fail("its options are missing. The file is damaged");
    return *o;
  }
  /// The options of one of the older operators; null where they are absent.
  template <class Options>
  const Options* optional_options() const {
    return m_op.data->builtin_options_as<Options>();
  }

  const tflite_tensor& tensor(int t) const { return m_context.known.tensor(t); }
  const shape_t& shape(int t) const { return m_context.known.shape(t); }
  std::size_t rank(int t) const { return shape(t).size(); }
  element type(int t) const { return m_context.known.type(t); }
  bool is_constant(int t) { return m_context.known.is_constant(t); }
  bool is_image(int t) const { return m_context.known.is_image(t); }
  /// The value of a tensor in the source's axes.
  value_id plain(int t) { return m_context.known.plain(t); }
  /// The value of a tensor of rank 4 with channels first.
  value_id image(int t) { return m_context.known.image(t); }

  /// A constant of a layer (tensors::layer_constant); other tensors as they are.
  value_id layer_constant(int t, const std::vector<std::int64_t>& order) {
    return m_context.known.layer_constant(t, order);
  }
  bool is_stored(int t) const { return m_context.known.is_stored(t); }

  const value& at(value_id v) const { return m_context.made.at(v); }
  value_id constant(array a) { return m_context.made.constant(std::move(a)); }
  /// Adds a node of one result, or folds it (emitter::emit).
  value_id emit(const std::string& op, values inputs, attributes a = {}) {
    return emit_many(op, std::move(inputs), std::move(a), 1)[0];
  }
  values emit_many(const std::string& op, values inputs, attributes a, std::size_t results) {
    return m_context.made.emit(op, std::move(inputs), std::move(a), results);
  }
  /// Declares that `v` is output `i`, with channels first if `image`. Refuses another shape or type than the file says.
  void bind(std::size_t i, value_id v, bool image = false);

 private:
  context& m_context;
  const tflite_operator& m_op;
};

}
