// SPDX-License-Identifier: MIT
#pragma once
/// Private to the canonicalisation: state shared by the rules, one rule per source operator family.
#include <unordered_map>
#include "errors.hpp"
#include "graph/recurrent.hpp"
#include "program/program.hpp"

namespace nsk::tool {

class canonicaliser {
 public:
  canonicaliser(const graph& g, const std::vector<state_link>& states);
  program run();
  /// Names of all operators that have a rule, sorted.
  static std::vector<std::string> operators();

 private:
  using rule = void (canonicaliser::*)(const node&);
  /// Takes the ports that are states out of the program's inputs and outputs.
  void separate_states();
  static const std::unordered_map<std::string, rule>& rules();        ///< float32 activations
  static const std::unordered_map<std::string, rule>& typed_rules();  ///< any element type; "domain.Operator"

  // conv.cpp
  void conv(const node&);
  void gemm(const node&);
  void mat_mul(const node&);
  void batch_normalization(const node&);
  void computed_normalization(const node& n, double epsilon);
  void pool(const node&);
  void global_pool(const node&);
  // volume.cpp
  void conv_of_volume(const node&);
  void pool_of_volume(const node&);
  int exchanged(const node& n, int x, const std::string& suffix);
  // conv_transpose.cpp
  void conv_transpose(const node&);
  class transposition;
  // einsum.cpp
  void einsum(const node&);
  class contraction;
  // elementwise.cpp
  void unary(const node&);
  void clip(const node&);
  void p_relu(const node&);
  void binary(const node&);
  void variadic(const node&);
  /// The shape of two values that are broadcast against each other.
  shape_t broadcast_shape(int a, int b) const;
  void pow(const node&);
  void softmax(const node&);
  void reduce(const node&);
  void reduce_of(const node&);
  void identity(const node&);
  // composed.cpp: operators spelled out in simpler ones
  void gelu_by_tanh(const node&);
  void selu(const node&);
  void celu(const node&);
  void mish(const node&);
  void swish(const node&);
  void softsign(const node&);
  void tangent(const node&);
  void thresholded_relu(const node&);
  void shrink(const node&);
  // typed.cpp: any element type, comparisons, indices
  void cast(const node&);
  void compare(const node&);
  void logical(const node&);
  void logical_not(const node&);
  void where(const node&);
  void mod(const node&);
  void extreme(const node&);
  void gather(const node&);
  /// Refuses constant indices outside an axis of `length`.
  void require_inside(const node&, std::size_t i, std::int64_t length) const;
  void gather_elements(const node&);
  void arg_reduce(const node&);
  void top_k(const node&);
  void one_hot(const node&);
  void non_max_suppression(const node&);
  bool integer_arithmetic(const node&);
  // scatter.cpp
  void cum_sum(const node&);
  void scatter_nd(const node&);
  void scatter_elements(const node&);
  void gather_nd(const node&);
  void trilu(const node&);
  void reverse_sequence(const node&);
  void is_nan(const node&);
  void is_inf(const node&);
  /// Input 0; refuses other types than float32.
  int float_tested(const node&);
  void write_rows(const node& n, std::int64_t width, const std::vector<std::int64_t>& places);
  /// x[from, from + length) along an axis.
  int part(const node& n, int x, std::size_t axis, std::int64_t from, std::int64_t length, const std::string& suffix);
  /// a, then b, along an axis.
  int appended(const node& n, std::size_t axis, int a, int b, const std::string& suffix);
  int integer_sum(const node& n, int a, int b, const std::string& suffix);
  // sample.cpp
  void grid_sample(const node&);
  class sampling;
  // signal.cpp
  void dft(const node&);
  void stft(const node&);
  // normalization.cpp
  void layer_normalization(const node&);
  void layer_statistics(const node&, const std::vector<int>& axes);
  void instance_normalization(const node&);
  int grouped_input(const node&);
  int standardised_groups(const node& n, int x, std::int64_t groups);
  void scale_channels(const node& n, int x, const std::vector<double>& scale, const std::vector<double>& bias);
  void group_normalization(const node&);
  void local_response_normalization(const node&);
  void lp_normalization(const node&);
  void mean_variance_normalization(const node&);
  // shape.cpp
  void reshape(const node&);
  void transpose(const node&);
  void slice(const node&);
  void split(const node&);
  void concat(const node&);
  void expand(const node&);
  void tile(const node&);
  void pad(const node&);
  bool padded_channels(const node&, const pad_parameters&);
  void depth_to_space(const node&);
  void space_to_depth(const node&);
  // random.cpp
  void random(const node&);
  void multinomial(const node&);
  void bernoulli(const node&);
  int drawn(const node&, random_kind kind, shape_t shape, const std::string& suffix);
  // trees.cpp
  void tree_regressor(const node&);
  void tree_classifier(const node&);
  void tree_ensemble(const node&);
  /// One number per target, from none, one or as many.
  std::vector<float> tree_base(const node& n, std::int64_t targets);
  // linear.cpp
  void linear_regressor(const node&);
  void linear_classifier(const node&);
  void scaler(const node&);
  void normalizer(const node&);
  void linear(const node& n, std::int64_t outputs, int result);
  /// Attribute that is a list of numbers; empty where there is none.
  std::vector<double> number_list(const node& n, const std::string& key) const;
  /// Input 0 as float32.
  int float_input(const node&);
  std::int64_t class_count(const node&) const;
  /// Labels of a classifier; refuses texts.
  std::vector<std::int64_t> read_labels(const node&) const;
  /// Output 0, where somebody reads it: labels of the largest scores [rows, classes], or of the second of two classes
  /// where its scores [rows, 1] are above a threshold.
  void label_largest(const node& n, int scores);
  void label_above(const node& n, int score, double threshold);
  void transform_scores(const node& n, int scores, const std::string& transform, int result);
  // resize.cpp
  void resize(const node&);
  // recurrent.cpp
  void recurrent(const node&);
  int recurrent_projection(const node& n, const recurrent_attributes& a, recurrent_parameters& r);
  int recurrent_state(const node& n, std::size_t i, const recurrent_attributes& a, const shape_t& shape);
  int recurrent_lengths(const node& n, std::int64_t instants);
  void recurrent_outputs(const node& n, const recurrent_attributes& a, int states, std::int64_t instants);
  /// Transposition of `v`, as a value of the program's own or `result`.
  int turned(const node& n, int v, const std::vector<int>& permutation, const std::string& suffix,
             int result = no_value);

  /// Refuses values with more elements than a tensor of the engine has, and those without any.
  void require_elements(value_id v, const std::string& what) const;
  /// First input of a node that is data and not float32, or null; refuses empty ones.
  const value* odd_input(const node& n) const;
  /// Program value of input `i` of a node; no_value when absent.
  int in(const node& n, std::size_t i);
  bool present(const node& n, std::size_t i) const { return i < n.inputs.size() && n.inputs[i] != no_value; }
  /// Program value of a source value; made at first use.
  int of(value_id v);
  /// Shape of input `i`, in the source.
  const shape_t& in_shape(const node& n, std::size_t i) const {
    return m_graph.values[static_cast<std::size_t>(n.inputs[i])].shape;
  }
  /// Output `i`, which this operator cannot leave out; refuses where it is.
  value_id output_of(const node& n, std::size_t i = 0) const;
  const shape_t& out_shape(const node& n, std::size_t i = 0) const {
    return m_graph.values[static_cast<std::size_t>(output_of(n, i))].shape;
  }
  /// Constant input as doubles or integers; refuses inputs that are data.
  std::vector<double> numbers(const node& n, std::size_t i, const char* what);
  std::vector<std::int64_t> integers(const node& n, std::size_t i, const char* what);
  /// Constant input that holds one number; refuses others.
  std::int64_t integer(const node& n, std::size_t i, const char* what);
  /// The same for weights, which are packed in the end.
  std::vector<double> weights(const node& n, std::size_t i, const char* what);
  void require_constant(const node& n, std::size_t i, const char* what) const;
  std::string options_that_set(value_id v) const;
  /// The only number of a constant input; refuses others.
  double number(const node& n, std::size_t i, const char* what);
  /// Counts numbers of weights and tables that are made for a node. Refuses more than 2^25 in all and 4 for each
  /// element of the model's constants, before they are made.
  void charge(const node& n, double count);
  /// Adds an operation that produces output `output` of the node (or `result` when given).
  operation& emit(const node& n, operation_parameters p, std::vector<int> inputs, int result = no_value);
  /// A value of the program's own, named after the node.
  int temporary(const node& n, const std::string& suffix, shape_t shape, element type = element::f32);
  int constant_integers(const node& n, const std::string& suffix, shape_t shape, element type,
                        const std::vector<std::int64_t>& values);
  int scalar(const node& n, const std::string& suffix, double value) { return constant(n, suffix, {}, {value}); }
  /// f(x), and a kind b of the broadcast shape, as values of the program's own; `result` where given.
  int apply(const node& n, int x, function fn, const std::string& suffix, double alpha = 0, double beta = 0,
            int result = no_value);
  int combine(const node& n, binary_kind kind, int a, int b, const std::string& suffix, int result = no_value);
  /// Reduction over axes that keep length 1.
  int reduced(const node& n, reduce_kind kind, int x, const std::vector<int>& axes, const std::string& suffix);
  /// (x - mean) / sqrt(variance + epsilon) over axes.
  int standardised(const node& n, int x, const std::vector<int>& axes, double epsilon);
  element in_type(const node& n, std::size_t i) const {
    return m_graph.values[static_cast<std::size_t>(n.inputs[i])].type;
  }
  int constant(const node& n, const std::string& suffix, shape_t shape, const std::vector<double>& values);
  /// Reshape of `v` to `shape`, as a value of the program's own.
  int reshaped(const node& n, int v, shape_t shape);
  [[noreturn]] void refuse_node(const node& n, const std::string& why) const {
    refuse(describe(m_graph, n) + ": " + why);
  }
  /// Normalises a possibly negative axis; refuses one that the rank does not have.
  int axis_of(const node& n, std::int64_t axis, std::size_t rank) const;
  struct spatial {
    window w;
    int pad_bottom = 0, pad_right = 0;
  };
  /// Kernel, strides, dilations, pads and auto_pad of convolution and pooling, for one or two spatial axes.
  spatial window_of(const node& n, const shape_t& input, std::vector<std::int64_t> kernel, const shape_t& output) const;
  /// Pools `from` into `result`; refuses windows that see nothing but padding.
  void emit_pool(const node& n, const spatial& s, int from, int result);

  const graph& m_graph;
  const std::vector<state_link>& m_states;
  program m_program;
  std::vector<int> m_map;
  double m_room;  ///< numbers that weights and tables may still have
};

}
