// SPDX-License-Identifier: MIT
#pragma once
/// Private to the import of TensorFlow Lite files: state shared by the rules, one rule per operator family.
///
/// A tensor has up to two graph values: in the source's axes ("plain") and, for rank 4, with channels first
/// ("picture"). A rule makes the one that suits it; the other is made by a Transpose when somebody reads it.
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include "errors.hpp"
#include "resolve/folder.hpp"
#include "import/names.hpp"
#include "import/tflite/import.hpp"
#include "import/tflite/file.hpp"

namespace nsk::tool {

class tflite_importer {
 public:
  tflite_importer(const tflite_file& file, const tflite_options& options);
  graph run();
  static std::vector<std::string> operators();

 private:
  using rule = void (tflite_importer::*)();
  using attributes = std::map<std::string, attribute>;
  using values = std::vector<value_id>;
  static const std::unordered_map<std::string, rule>& builtin_rules();
  static const std::unordered_map<std::string, rule>& custom_rules();

  // tflite_windows.cpp
  void convolution();
  void depthwise_convolution();
  void transposed_convolution();
  void pool();
  void resize_bilinear();
  void resize_nearest();
  void pad();
  void mirror_pad();
  void depth_to_space();
  void local_response_normalization();
  // tflite_elementwise.cpp
  void unary();
  void reciprocal_root();
  void square();
  void parametric_relu();
  void leaky_relu();
  void gelu();
  void bounded_relu();
  void binary();
  tfl::Activation fused_activation() const;
  void squared_difference();
  void floor_divide();
  void floored_remainder();
  bool divides_exactly(value_id divisor) const;
  value_id floored_quotient(value_id a, value_id b);
  void not_equal();
  void add_all();
  void select();
  void cast();
  void requantize();
  // tflite_shapes.cpp
  void reshape();
  void squeeze();
  void expand_dims();
  void transpose();
  void concatenate();
  void split();
  void slice();
  void strided_slice();
  struct slice_range;
  slice_range range_of(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t length, bool from_edge,
                       bool to_edge) const;
  void pack();
  void unpack();
  void tile();
  void broadcast_to();
  void reverse();
  void shape_of();
  void fill();
  void space_to_batch();
  void batch_to_space();
  // tflite_matrices.cpp
  void fully_connected();
  void batch_mat_mul();
  void softmax();
  void l2_normalize();
  void reduce();
  void reduce_logical();
  void arg_reduce();
  void top_k();
  void gather();
  void gather_nd();
  void range();
  void reverse_sequence();
  void one_hot();
  void cumulative_sum();
  void embedding_lookup();
  value_id gathered_by_rows(std::size_t axis, std::size_t rows);
  // tflite_spectra.cpp
  struct parts {
    value_id real = no_value, imaginary = no_value;
  };
  void real_spectrum();
  void part_of_complex();
  bool reads_complex(const tflite_operator& o) const;
  const parts& parts_of(int t) const;
  value_id taken_part(int t, const char* part);
  /// Runs the rule of the operator at hand on real parts, then on imaginary ones.
  void each_part(rule r);
  // tflite_recurrent.cpp
  void recurrent_layer();
  void bidirectional_recurrent_layer();
  void filter_over_time();
  struct sequence;
  struct rnn_layer;
  sequence sequence_of(int x, bool time_major);
  sequence with_auxiliary(const sequence& s, int auxiliary);
  value_id weights_of(std::size_t i, const shape_t& wanted);
  value_id joined(const values& parts, std::int64_t axis);
  value_id at_instant(const sequence& s, value_id v, std::int64_t t);
  value_id over_time(const sequence& s, values steps);
  value_id recurrence(const sequence& s, const rnn_layer& r);
  void read_layer(rnn_layer& r, const sequence& s, std::size_t first, std::size_t state);
  sequence instant_of(int x);
  int state_at(std::size_t i, const shape_t& wanted, bool quantized_too = false);
  value_id saturated(value_id v, int t);
  void require_unrollable(const sequence& s, const char* why) const;
  value_id layer_activated(value_id v, tfl::Activation a);
  void bind_directions(bool merged, value_id forwards, value_id backwards);
  // tflite_lstm.cpp
  void lstm();
  void lstm_cell();
  void sequence_lstm();
  void bidirectional_sequence_lstm();
  struct lstm_places;
  struct lstm_layer;
  lstm_layer lstm_at(const lstm_places& p, const sequence& s, std::int64_t auxiliary, bool quantized_too);
  template <class Options>
  void set_lstm_options(lstm_layer& l, const Options& o) const;
  value_id run_lstm(const sequence& s, const lstm_layer& l);
  value_id fused_lstm(const sequence& s, const lstm_layer& l);
  value_id unrolled_lstm(const sequence& s, const lstm_layer& l);
  // tflite_memory.cpp
  void variable_handle();
  void read_variable();
  void assign_variable();
  void call_once();
  // tflite_flow.cpp
  void call();
  void branch();
  void loop();
  // tflite_custom_windows.cpp
  void transposed_convolution_with_bias();
  void pool_with_places();
  void unpool();
  // tflite_detection.cpp
  void detection_post_process();
  struct detections;
  detections best_of_each_class(value_id corners, value_id scores, std::int64_t most, std::int64_t per_class,
                                float overlap, float least);
  detections best_of_all(value_id corners, value_id scores, std::int64_t most, float overlap, float least);
  value_id flattened(value_id v) { return reshaped(v, {count_of(at(v).shape)}); }
  value_id rows_at(value_id from, value_id which) { return emit("Gather", {from, which}, {{"axis", std::int64_t{0}}}); }
  value_id decoded_boxes(const double (&scale)[4]);
  value_id kept_rows(value_id boxes, value_id scores, std::int64_t most, float overlap, float least);
  void suppress();
  // tflite_custom.cpp
  void landmarks_to_matrix();
  void transform_landmarks();
  void transform_picture();
  void require_version(int version) const;
  value_id arithmetic(const char* op, value_id a, value_id b);
  value_id element_of(value_id vector, std::int64_t index);
  std::vector<value_id> affine_rows(int t);

  // The operator at hand.
  [[noreturn]] void fail(const std::string& why) const { refuse(why); }
  void require(bool condition, const char* why) const {
    if (!condition) fail(why);
  }
  void require_operands(std::size_t least, std::size_t most, std::size_t results = 1) const;
  bool has(std::size_t i) const { return i < m_op->inputs.size() && m_op->inputs[i] >= 0; }
  int input(std::size_t i) const;
  int output(std::size_t i = 0) const { return m_op->outputs[i]; }
  const tflite_tensor& tensor(int t) const { return m_scope.source->tensors[static_cast<std::size_t>(t)]; }
  const shape_t& shape(int t) const { return m_scope.shapes[static_cast<std::size_t>(t)]; }
  std::size_t rank(int t) const { return shape(t).size(); }
  /// The operator's options; refuses operators that lack them.
  template <class Options>
  const Options& options() const {
    const Options* o = m_op->data->builtin_options_as<Options>();
    if (o == nullptr) fail("its options are missing. The file is damaged");
    return *o;
  }
  /// The same with a default for options that may be absent.
  template <class Options>
  const Options* optional_options() const {
    return m_op->data->builtin_options_as<Options>();
  }
  /// Values of a constant tensor, limited to +-2^40 (further than any axis reaches); refuses computed ones, calling
  /// them `what`.
  std::vector<std::int64_t> integers(int t, const char* what);
  double number(int t, const char* what);
  std::size_t axis_of(std::int64_t axis, std::size_t rank) const;

  // Values.
  bool is_constant(int t);
  bool is_picture(int t) const;  ///< made with channels first
  value_id plain(int t);
  value_id picture(int t);
  value_id in_form(int t, bool pictures) { return pictures ? picture(t) : plain(t); }
  /// Whether operators without a layout of their own work on pictures here: one of the tensors is one.
  bool prefer_pictures(const std::vector<int>& tensors) const;
  /// A tensor as an operand that is broadcast to rank 4 with channels first, or as it is.
  value_id operand(int t, bool pictures);
  value_id constant(array a);
  value_id constant_integers(const std::vector<std::int64_t>& list);
  value_id constant_number(double v);
  /// Adds a node; folds it where its inputs are constant. Refuses what the reference does not know or accept.
  value_id emit(const std::string& op, values inputs, attributes a = {});
  values emit_many(const std::string& op, values inputs, attributes a, std::size_t results);
  value_id transposed(value_id v, const std::vector<std::int64_t>& order);
  value_id reshaped(value_id v, const shape_t& shape);
  const value& at(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)]; }

  /// Declares the result of the operator: `v` is tensor `t`, in the given form. Refuses another shape or type than the
  /// file says.
  void bind(int t, value_id v, bool pictures);
  /// The same after an activation, and after the limits of what a quantised result can hold.
  void finish(int t, value_id v, bool pictures, tfl::Activation a = tfl::Activation::NONE);
  value_id activated(value_id v, tfl::Activation a, double low, double high);
  value_id limited(value_id v, double low, double high);

  static constexpr bool k_picture = true;
  /// The shape of an input of the model: the file's, or the one that is asked for.
  shape_t input_shape(int t);
  /// Whether lengths of a tensor are known only from what is computed, and whether `found` can be its shape then.
  bool is_open(int t) const;
  bool fits(int t, const shape_t& found) const;
  /// The option that gives an input other lengths, where the file leaves more than the first one open and nobody has.
  std::string open_inputs() const;
  void note_open_rows();
  element type_of(int t) const;
  void load(int t);
  void check_quantization() const;
  bool is_output(int t) const;
  /// The name of a tensor's value: the tensor's, and in other graphs than the first one with what makes it unique.
  std::string value_name(int t);
  std::string operator_name(const tflite_operator& o) const {
    return m_scope.prefix + o.name + "_" + std::to_string(o.index);
  }
  void require_stored_alike() const;
  std::string describe_operator() const;
  static bool acts_without_results(const tflite_operator& o);
  void translate(const tflite_operator& o);
  /// Constant height and width that a resize asks for.
  std::vector<std::int64_t> resized_lengths();
  value_id gathered(value_id v, std::int64_t axis, const std::vector<std::int64_t>& positions);
  /// Elements [start, stop) of every axis of the source's, by steps that may be negative (a stop of -1 is before the
  /// first).
  value_id sliced(value_id v, bool pictures, const std::vector<std::int64_t>& starts,
                  const std::vector<std::int64_t>& stops, const std::vector<std::int64_t>& steps);
  void require_stride(std::int64_t h, std::int64_t w) const;
  std::vector<std::int64_t> per_axis_pads(int t);
  value_id padded_by_blocks(value_id v, const std::vector<std::int64_t>& pads, value_id fill);
  value_id bias_of(std::size_t i);
  /// ConvTranspose with `before` and `after` cut off the full result (an `after` below 0 adds rows of the bias).
  void finish_transposed_convolution(int x, int weights, std::size_t bias, const std::vector<std::int64_t>& stride,
                                     const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                                     tfl::Activation a);

  struct forms {
    value_id plain = no_value, picture = no_value;
    bool made_as_picture = false;
  };

  /// What lasts from run to run: a variable tensor, or a resource.
  struct memory {
    std::string name;
    value_id first = no_value;  ///< what a run begins with: an input of the graph, made when read
    value_id now = no_value;    ///< what it holds after the operators so far
    bool resource = false;
    std::shared_ptr<const array> initial = nullptr;  ///< of a resource; a variable tensor begins with zeros
  };
  using memory_id = std::size_t;
  static constexpr memory_id no_memory = static_cast<memory_id>(-1);

  /// A graph of the file that is being translated; those inside others take the place of the operator that runs them.
  struct scope {
    int number;
    const tflite_subgraph* source;
    std::string prefix;           ///< of names; nothing in the first graph
    std::vector<shape_t> shapes;  ///< by tensor; custom operators may leave theirs to the reader
    std::vector<forms> forms_of;
    std::unordered_set<int> spread;  ///< sparse constants made dense: known at conversion, whatever their type
    std::unordered_map<int, memory_id> handles;  ///< tensors that name resources
    std::unordered_map<int, parts> parts_of;     ///< of complex tensors
    scope(int n, const tflite_subgraph& g, std::string names);
  };

  /// What a graph inside is given and gives back: a value, or the name of a resource.
  struct argument {
    value_id v = no_value;
    memory_id resource = no_memory;
  };
  using arguments = std::vector<argument>;

  // tflite_memory.cpp
  memory_id memory_of(int t);  ///< of a variable tensor
  memory_id resource_of(int t) const;
  /// The value of a memory; the graph gets an input for it where no operator has written it yet.
  value_id current(memory_id m);
  void write(memory_id m, value_id v);
  void write_variable(int t, value_id v);
  /// Makes every memory that was read an output and a state of the graph.
  void finish_memories();
  // tflite_flow.cpp
  argument argument_of(int t);
  void give(int t, const argument& a);
  /// Translates another graph of the file in the place of the operator at hand.
  arguments run_graph(int number, const arguments& given, const std::string& what, const std::string& label);
  arguments operands_from(std::size_t first);
  value_id scalar_condition(value_id v);
  void require_same(const value_id a, const value_id b, const char* why) const;
  std::vector<value_id> memories_now() const;
  void restore_memories(const std::vector<value_id>& before);
  void select_memories(value_id condition, const std::vector<value_id>& taken);

  const tflite_file& m_file;
  tflite_options m_options;
  graph m_graph;
  folder m_folder;
  scope m_scope;
  std::map<std::pair<int, int>, value_id> m_loaded;  ///< constants, by graph and tensor
  std::vector<memory> m_memories;
  std::map<std::pair<int, int>, memory_id> m_variables;  ///< by graph and tensor
  std::map<std::string, memory_id> m_resources;          ///< by name
  bool m_in_part = false;                                ///< a complex tensor stands for one of its parts
  bool m_resized = false;  ///< inputs have other shapes than in the file, so everything may
  std::set<int> m_called_once;
  bool m_initialising = false;           ///< inside CALL_ONCE
  int m_conditional = 0;                 ///< branches on data around the operator at hand
  int m_loops = 0;                       ///< loops around it
  std::set<int> m_active;                ///< graphs around the operator at hand, but the first one
  std::size_t m_placed = 0;              ///< bytes, about, of the operators of graphs inside so far
  std::unordered_set<value_id> m_bound;  ///< values that carry a tensor's name
  name_pool m_value_names, m_node_names;
  const tflite_operator* m_op = nullptr;
};

/// Beyond every axis.
inline constexpr std::int64_t far_away = std::int64_t{1} << 40;
/// Permutations of a picture's axes.
inline const std::vector<std::int64_t> channels_to_front = {0, 3, 1, 2}, channels_to_back = {0, 2, 3, 1};
/// Where an axis of [N, H, W, C] lies in [N, C, H, W].
inline std::int64_t picture_axis(std::size_t axis) {
  constexpr std::int64_t place[] = {0, 2, 3, 1};
  return place[axis];
}

}
