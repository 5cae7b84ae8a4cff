// SPDX-License-Identifier: MIT
#include "import/tflite/rules/tensors.hpp"

#include <algorithm>
#include <optional>

#include "errors.hpp"
#include "import/tflite/file/constants.hpp"

namespace nsk::tool::tflite {
namespace {

shape_t in_order(const shape_t& shape, const std::vector<std::int64_t>& order) {
  shape_t result;
  for (const std::int64_t a : order) result.push_back(shape[static_cast<std::size_t>(a)]);
  return result;
}

}

shape_t fixed_lengths(const tflite_tensor& t) {
  const auto* signature = t.data->shape_signature();
  if (signature == nullptr || signature->size() != t.shape.size()) return t.shape;
  return {signature->begin(), signature->end()};
}

scope::scope(int n, const tflite_subgraph& g, std::string names)
    : number(n), source(&g), prefix(std::move(names)), forms_of(g.tensors.size()) {
  for (const tflite_tensor& t : g.tensors) shapes.push_back(t.shape);
}

tensors::tensors(const tflite_file& file, const tflite_options& options, emitter& e, variables& m)
    : m_file(file), m_options(options), m_emitter(e), m_variables(m), m_scope(file.first, file.main(), "") {
  for (const tflite_tensor& t : file.main().tensors) m_emitter.names().take(t.name);
}

element tensors::type(int t) const {
  if (is_quantized(tensor(t))) return element::f32;
  const tfl::TensorType type = tensor(t).data->type();
  if (type == tfl::TensorType::COMPLEX64 && m_scope.in_part) return element::f32;
  const auto known = element_of_tflite(type);
  if (!known) refuse("tensor '" + tensor(t).name + "' is " + name_of(type) + ", which is not supported");
  const bool brain = type == tfl::TensorType::BFLOAT16;
  if ((brain || type == tfl::TensorType::FLOAT16) && tensor(t).bytes == nullptr && m_scope.spread.count(t) == 0)
    refuse("tensor '" + tensor(t).name + "' is computed in " + (brain ? "bfloat16" : "float16") +
           ", which is not supported. Export the model in float32");
  return *known;
}

bool tensors::is_stored(int t) const { return !m_options.dequantize && is_quantized(tensor(t)); }

element tensors::stored_type(int t) const {
  return is_stored(t) ? *element_of_tflite(tensor(t).data->type()) : type(t);
}

value_id tensors::widened(int t, value_id integers, const std::vector<std::int64_t>& order, bool kept) {
  const stored_scale s = scale_of(tensor(t));
  const shape_t shape = s.scale.size() == 1 ? shape_t{} : shape_t{static_cast<std::int64_t>(s.scale.size())};
  array zero(m_emitter.at(integers).type, shape);
  for (std::size_t i = 0; i < s.zero.size(); ++i) zero.set_integer(static_cast<std::int64_t>(i), s.zero[i]);
  attributes a;
  if (!shape.empty()) {
    const auto at = std::find(order.begin(), order.end(), s.axis);
    a["axis"] = order.empty() ? s.axis : static_cast<std::int64_t>(at - order.begin());
  }
  const values inputs = {integers, m_emitter.constant(make_floats(shape, s.scale)),
                         m_emitter.constant(std::move(zero))};
  return kept ? m_emitter.emit_kept("DequantizeLinear", inputs, a)
              : m_emitter.emit("DequantizeLinear", inputs, a, 1)[0];
}

value_id tensors::stored_as(int t, value_id real) {
  const stored_scale s = scale_of(tensor(t));
  if (s.scale.size() != 1)
    refuse("tensor '" + tensor(t).name + "' is an activation with a scale per channel. The file is damaged");
  array zero(*element_of_tflite(tensor(t).data->type()), {});
  zero.set_integer(0, s.zero[0]);
  if (zero.integer(0) != s.zero[0])
    refuse("tensor '" + tensor(t).name + "' has a zero point that its type cannot hold. The file is damaged");
  return m_emitter.emit("QuantizeLinear",
                        {real, m_emitter.constant(make_floats({}, s.scale)), m_emitter.constant(std::move(zero))}, {},
                        1)[0];
}

value_id tensors::layer_constant(int t, const std::vector<std::int64_t>& order) {
  const auto permuted = [&](value_id v) {
    return order.empty() ? v : m_emitter.emit("Transpose", {v}, {{"perm", order}}, 1)[0];
  };
  if (!is_stored(t) || !is_constant(t)) return permuted(plain(t));
  return widened(t, permuted(integers(t, false)), order, true);
}

value_id tensors::stored_constant(int t) {
  value_id& integers = m_integers.try_emplace({m_scope.number, t}, no_value).first->second;
  if (integers == no_value) {
    m_emitter.limits().make(count_of(tensor(t).shape), "tensor '" + tensor(t).name + "'");
    integers =
        m_emitter.add_constant(m_emitter.names().unique(value_name(t) + ":stored"), decode_tflite(tensor(t), false));
  }
  return integers;
}

value_id tensors::integers(int t, bool image) {
  const forms& f = load(t);
  const bool constant = f.stored == no_value && !tensor(t).data->is_variable() && is_constant(t);
  const value_id stored = constant ? stored_constant(t) : f.stored;
  const bool made_as_image = !constant && f.made_as_image;
  if (stored == no_value || made_as_image == image) return stored;
  const value_id result =
      m_emitter.emit("Transpose", {stored}, {{"perm", image ? channels_to_front : channels_to_back}}, 1)[0];
  if (!m_emitter.is_named(result)) m_emitter.set_name(result, m_emitter.names().unique(value_name(t) + ":permuted"));
  return result;
}

value_id tensors::port(int t) {
  const forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  if (f.stored == no_value) return plain(t);
  if (!f.made_as_image) return f.stored;
  const value_id result = m_emitter.emit("Transpose", {f.stored}, {{"perm", channels_to_back}}, 1)[0];
  m_emitter.set_name(result, tensor(t).name);
  return result;
}

bool tensors::is_constant(int t) {
  const forms& f = load(t);
  return m_emitter.at(f.plain != no_value ? f.plain : f.image).constant != nullptr;
}

bool tensors::is_output(int t) const {
  const std::vector<int>& outputs = m_file.main().outputs;
  return m_scope.number == m_file.first && std::find(outputs.begin(), outputs.end(), t) != outputs.end();
}

/// The name of a tensor's value: the tensor's, and in other graphs than the first one with what makes it unique.
std::string tensors::value_name(int t) {
  return m_scope.number == m_file.first ? tensor(t).name : m_emitter.names().unique(m_scope.prefix + tensor(t).name);
}

variable_id tensors::variable_of(int t) {
  return m_variables.of_variable(m_scope.number, t, tensor(t).name, stored_type(t), shape(t),
                                 is_stored(t) ? scale_of(tensor(t)).zero[0] : 0);
}

/// Gives constants and variables of the file a value at first use.
forms& tensors::load(int t) {
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  if (f.plain != no_value || f.image != no_value) return f;
  if (tensor(t).data->is_variable()) {
    const value_id held = m_variables.current(variable_of(t));
    if (is_stored(t)) f.stored = held;
    f.plain = is_stored(t) ? widened(t, held, {}, false) : held;
    return f;
  }
  const auto [loaded, is_new] = m_loaded.try_emplace({m_scope.number, t}, no_value);
  if (is_new) {
    const std::string name = value_name(t), who = "tensor '" + tensor(t).name + "'";
    const bool sparse = tensor(t).data->sparsity() != nullptr;
    folder& limits = m_emitter.limits();
    if (sparse) limits.make(count_of(tensor(t).shape), who);
    array a = decode_tflite(tensor(t), true);
    if (!sparse) limits.make(a.count(), who);  // tensors may share a buffer
    loaded->second = m_emitter.add_constant(name, std::move(a));
    m_emitter.set_name(loaded->second, name);
  }
  f.plain = loaded->second;
  return f;
}

value_id tensors::plain(int t) {
  forms& f = load(t);
  if (f.plain == no_value) {
    f.plain = m_emitter.emit("Transpose", {f.image}, {{"perm", channels_to_back}}, 1)[0];
    const std::string prefixed = m_scope.prefix + tensor(t).name;
    m_emitter.set_name(f.plain, is_output(t) ? tensor(t).name : m_emitter.names().unique(prefixed + ":channels_last"));
  }
  return f.plain;
}

value_id tensors::image(int t) {
  forms& f = load(t);
  if (f.image == no_value) {
    if (rank(t) != 4) refuse("'" + tensor(t).name + "' must be an image of four dimensions");
    f.image = m_emitter.emit("Transpose", {f.plain}, {{"perm", channels_to_front}}, 1)[0];
    m_emitter.set_name(f.image, m_emitter.names().unique(m_scope.prefix + tensor(t).name + ":channels_first"));
  }
  return f.image;
}

value_id tensors::add_input(int t) {
  const element element_type = type(t);
  const auto wanted = m_options.shapes.find(tensor(t).name);
  if (wanted != m_options.shapes.end() && wanted->second != shape(t)) {
    const shape_t fixed = fixed_lengths(tensor(t)), &lengths = wanted->second;
    if (fixed.size() != lengths.size())
      misuse("--input " + tensor(t).name + ": shape " + to_string(lengths) +
             " contradicts the model, whose input has shape " + to_string(fixed) +
             ": lengths may differ, the number of axes may not");
    checked_count(lengths, "--input " + tensor(t).name);
    shape_t& own = m_scope.shapes[static_cast<std::size_t>(t)];  // other lengths than the fixed ones: resolve/infer.hpp
    for (std::size_t d = 0; d < fixed.size(); ++d)
      if (fixed[d] < 0) own[d] = lengths[d];
    m_resized = m_resized || own != tensor(t).shape;
  }
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  if (!is_stored(t)) return f.plain = m_emitter.add_input(tensor(t).name, element_type, shape(t));
  const std::optional<element> integer = element_of_tflite(tensor(t).data->type());
  f.stored = m_emitter.add_input(tensor(t).name, *integer, shape(t));
  f.plain = widened(t, f.stored, {}, false);
  m_emitter.set_name(f.plain, m_emitter.names().unique(tensor(t).name + ":real"));
  return f.stored;
}

void tensors::accept(int t, const shape_t& found) {
  const shape_t fixed = fixed_lengths(tensor(t));
  const bool open = m_resized || std::any_of(fixed.begin(), fixed.end(), [](std::int64_t d) { return d < 0; });
  if (!open || fixed.size() != found.size()) return;
  for (std::size_t d = 0; !m_resized && d < fixed.size(); ++d)
    if (fixed[d] >= 0 && fixed[d] != found[d]) return;
  m_scope.shapes[static_cast<std::size_t>(t)] = found;
}

void tensors::require_form(int t, value_id v, bool image, bool any_shape, element wanted_type) {
  const value& made = m_emitter.at(v);
  const shape_t found = image ? in_order(made.shape, channels_to_back) : made.shape;
  any_shape ? void(m_scope.shapes[static_cast<std::size_t>(t)] = found) : accept(t, found);
  if (image && rank(t) != 4) refuse("its result '" + tensor(t).name + "' must be an image of four dimensions");
  const shape_t wanted = image ? in_order(shape(t), channels_to_front) : shape(t);
  if (made.shape != wanted || made.type != wanted_type)
    refuse("it gives " + std::string(name_of(made.type)) + " " + to_string(made.shape) + ", but the file says that '" +
           tensor(t).name + "' is " + name_of(wanted_type) + " " + to_string(wanted) +
           (image ? " (with channels first)" : "") + ". The file is damaged, or was made for another size");
}

void tensors::bind_integers(int t, value_id v, bool image) {
  require_form(t, v, image, false, *element_of_tflite(tensor(t).data->type()));
  bind_stored(t, m_emitter.is_named(v) ? m_emitter.emit("Identity", {v}, {}, 1)[0] : v, image);
}

void tensors::bind(int t, value_id v, bool image, bool any_shape) {
  require_form(t, v, image, any_shape, type(t));
  if (is_stored(t)) return bind_stored(t, stored_as(t, v), image);
  const value& made = m_emitter.at(v);
  const bool exact_name = is_output(t) && !image;
  if (exact_name && made.constant) {
    value copy = made;
    v = m_emitter.result().add(std::move(copy));
  } else if (exact_name && m_emitter.is_named(v)) {
    v = m_emitter.emit("Identity", {v}, {}, 1)[0];
  }
  if (!m_emitter.is_named(v))
    m_emitter.set_name(
        v, is_output(t) && image ? m_emitter.names().unique(tensor(t).name + ":channels_first") : value_name(t));
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  (image ? f.image : f.plain) = v;
  f.made_as_image = image;
}

/// Declares that `v` are the integers that tensor `t` stores: what they mean takes its place.
void tensors::bind_stored(int t, value_id v, bool image) {
  forms& f = m_scope.forms_of[static_cast<std::size_t>(t)];
  f.stored = v;
  f.made_as_image = image;
  const std::string name = value_name(t);
  m_emitter.set_name(f.stored, image ? m_emitter.names().unique(name + ":channels_first") : name);
  value_id& real = image ? f.image : f.plain;
  real = widened(t, f.stored, {}, false);
  if (!m_emitter.is_named(real)) m_emitter.set_name(real, m_emitter.names().unique(name + ":real"));
}

void tensors::write_variable(int t, value_id v) {
  if (is_stored(t)) return write_integers(t, stored_as(t, v));
  m_variables.write(variable_of(t), v);
  m_scope.forms_of[static_cast<std::size_t>(t)] = {v, no_value, false};
}

void tensors::write_integers(int t, value_id v) {
  m_variables.write(variable_of(t), v);
  m_scope.forms_of[static_cast<std::size_t>(t)] = {widened(t, v, {}, false), no_value, false, v};
}

}
