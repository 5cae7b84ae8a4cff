// SPDX-License-Identifier: MIT
#pragma once
/// The tensors of the graph of the file that is being translated, and the values of the made graph that they are.
///
/// A tensor has up to two values: in the source's axes ("plain") and, for rank 4, with channels first ("image"). A rule
/// makes the one that suits it; the other is made by a Transpose when something reads it.
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#include "import/tflite/file/file.hpp"
#include "import/tflite/file/read_options.hpp"
#include "import/tflite/rules/variables.hpp"

namespace nsk::tool::tflite {

/// Permutations of an image's axes.
inline const std::vector<std::int64_t> channels_to_front = {0, 3, 1, 2}, channels_to_back = {0, 2, 3, 1};

/// The values of a tensor.
struct forms {
  value_id plain = no_value, image = no_value;
  bool made_as_image = false;
  value_id stored =
      no_value;  ///< the integers, in the form that was made, where `plain` and `image` are what they mean
};

/// The values of a complex tensor.
struct complex_parts {
  value_id real = no_value, imaginary = no_value;
};

/// A graph of the file that is being translated; those inside others take the place of the operator that runs them.
struct scope {
  int number;
  const tflite_subgraph* source;
  std::string prefix;           ///< of names; nothing in the first graph
  std::vector<shape_t> shapes;  ///< by tensor; custom operators may leave theirs to the reader
  std::vector<forms> forms_of;
  std::unordered_set<int> spread;  ///< sparse constants made dense: known at conversion, whatever their type
  std::unordered_map<int, variable_id> handles;  ///< tensors that name resources
  std::unordered_map<int, complex_parts> parts_of;
  bool in_part = false;  ///< a complex tensor stands for one of its parts

  scope(int n, const tflite_subgraph& g, std::string names);
};

class tensors {
 public:
  tensors(const tflite_file& file, const tflite_options& options, emitter& e, variables& m);

  scope& here() { return m_scope; }
  /// Goes to another graph of the file; returns the one before.
  scope enter(scope inside) { return std::exchange(m_scope, std::move(inside)); }

  const tflite_tensor& tensor(int t) const { return m_scope.source->tensors[static_cast<std::size_t>(t)]; }
  const shape_t& shape(int t) const { return m_scope.shapes[static_cast<std::size_t>(t)]; }
  std::size_t rank(int t) const { return shape(t).size(); }
  /// The element type that the values of a tensor have. Refuses types that the graph cannot compute in.
  element type(int t) const;
  /// The element type of what a tensor holds: its integers where it stores them.
  element stored_type(int t) const;
  bool is_constant(int t);
  bool is_image(int t) const { return m_scope.forms_of[static_cast<std::size_t>(t)].made_as_image; }
  value_id plain(int t);
  value_id image(int t);
  /// Whether a tensor stores integers that are computed as such; plain and image are the real numbers then.
  bool is_stored(int t) const;
  /// The tensor as a port of the model has it: its integers where it stores them.
  value_id port(int t);
  /// A constant of a layer with its axes permuted: DequantizeLinear of its integers where it stores them.
  value_id layer_constant(int t, const std::vector<std::int64_t>& order);
  /// The integers of a tensor that is stored, in the given form.
  value_id integers(int t, bool image);
  variable_id variable_of(int t);  ///< of a variable tensor

  /// Makes an input of the model, with the file's shape, or the one that is asked for where the file leaves lengths
  /// open. Refuses another number of axes.
  value_id add_input(int t);
  /// Takes `found` for the shape of a tensor, where the file leaves its lengths open and it can be that.
  void accept(int t, const shape_t& found);
  /// Declares that `v` is tensor `t`, in the given form. Refuses another shape or type than the file says; with
  /// `any_shape` it says none.
  void bind(int t, value_id v, bool image, bool any_shape);
  /// bind() where `v` are the integers that tensor `t` stores.
  void bind_integers(int t, value_id v, bool image);
  /// Writes a variable tensor; stored ones keep integers.
  void write_variable(int t, value_id v);
  /// write_variable() where `v` are the integers that it stores.
  void write_integers(int t, value_id v);
  std::string operator_name(const tflite_operator& o) const {
    return m_scope.prefix + o.name + "_" + std::to_string(o.index);
  }

 private:
  forms& load(int t);
  /// DequantizeLinear of stored integers whose axis d is the tensor's axis order[d].
  value_id widened(int t, value_id integers, const std::vector<std::int64_t>& order, bool kept);
  /// QuantizeLinear of a real number, as the tensor stores it.
  value_id stored_as(int t, value_id real);
  value_id stored_constant(int t);
  void require_form(int t, value_id v, bool image, bool any_shape, element wanted_type);
  void bind_stored(int t, value_id v, bool image);
  bool is_output(int t) const;
  std::string value_name(int t);

  const tflite_file& m_file;
  const tflite_options& m_options;
  emitter& m_emitter;
  variables& m_variables;
  scope m_scope;
  std::map<std::pair<int, int>, value_id> m_loaded;    ///< constants, by graph and tensor
  std::map<std::pair<int, int>, value_id> m_integers;  ///< what constants of layers store
  bool m_resized = false;                              ///< inputs have other shapes than in the file, so everything may
};

/// Lengths that the file fixes; -1 where it leaves them open.
shape_t fixed_lengths(const tflite_tensor& t);

}
