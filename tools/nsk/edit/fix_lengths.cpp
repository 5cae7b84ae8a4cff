// SPDX-License-Identifier: MIT
// A file with lengths as the file of one of their values.
#include <algorithm>
#include <cmath>
#include <netsuke/format/impl/run_lengths.hpp>
#include "edit/parts.hpp"
#include "edit/table.hpp"
#include "errors.hpp"
#include "io/layout.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// The number of a length that is chosen or counted; -1 where there is none.
int number_of(const variant_view& v, const std::string& name) {
  for (int i = 0; i < v.length_count(); ++i)
    if (v.length(i).name() == name && !name.empty()) return i;
  return -1;
}

/// Sets the lengths that are given. Refuses names and values that the variant does not have.
impl::run_lengths lengths_of(const variant_view& v, const std::map<std::string, std::int64_t>& values) {
  impl::run_lengths lengths;
  lengths.reset(v);
  std::vector<std::string> known;
  for (int i = 0; i < v.length_count(); ++i)
    if (v.length(i).name()[0] != 0) known.push_back(v.length(i).name());
  for (const auto& [name, value] : values) {
    const int i = number_of(v, name);
    if (i < 0)
      misuse("--length " + name + ": the model has no such length." + did_you_mean(name, known) + " It has " +
             (known.empty() ? "none" : quoted(known)) + ".");
    const length_view l = v.length(i);
    if (value >= l.minimum() && value <= l.bound() && value % l.step() == 0)
      lengths.set(v, i, static_cast<std::int32_t>(value));
    else
      misuse("--length " + name + "=" + std::to_string(value) + ": it is " + std::to_string(l.minimum()) + " to " +
             std::to_string(l.bound()) + (l.step() > 1 ? " in steps of " + std::to_string(l.step()) : "") + ".");
  }
  return lengths;
}

template <class T>
table_json list_of(const T* numbers, int count) {
  table_json list = table_json::array();
  for (int i = 0; i < count; ++i) list.push_back(static_cast<std::int64_t>(numbers[i]));
  return list;
}

void fix_tensor(table_json& table, const tensor_info& t, length_values lengths) {
  if (table.count("terms") == 0) return;
  table.erase("terms");
  if (t.is_empty(lengths)) return;  // it goes
  static std::byte origin{};
  const tensor_view v = t.view(&origin, lengths);
  table["shape"] = list_of(v.shape, v.rank);
  table["strides"] = list_of(v.stride, v.rank);
  table["offset"] = static_cast<std::uint64_t>(v.data - &origin);
}

/// A port fills its buffer.
void fix_buffer(table_json& variant, const port_view& port, length_values lengths) {
  const std::size_t bytes = port.elements(lengths) * static_cast<std::size_t>(size_of(port.type()));
  variant["buffers"][static_cast<std::size_t>(port.tensor().buffer())]["bytes"] = static_cast<std::uint64_t>(bytes);
}

/// The source's shape of a port.
void fix_port(table_json& table, const port_view& port, length_values lengths) {
  if (!port.source_shape().empty()) table["source_shape"] = source_shape_of(port, lengths);
}

/// Multiply-accumulates follow the elements of the output, of recurrent layers those of the input; those of a product
/// of two matrices their depth too.
std::uint64_t macs_of(const step_view& s, length_values lengths) {
  const auto share = [&](const auto& number) {
    return static_cast<double>(number(lengths)) / static_cast<double>(number(nullptr));
  };
  const tensor_info followed = s.op() == op::recurrent ? s.input(0) : s.output();
  double macs = static_cast<double>(s.macs()) * share([&](length_values n) { return followed.elements(n); });
  if (s.op() == op::mat_mul || s.op() == op::integer_mat_mul)
    macs *= share([&](length_values n) { return s.input(0).view(nullptr, n).length(0); });
  return static_cast<std::uint64_t>(std::llround(macs));
}

/// Ends a table of rows or columns where the input does (kernels/images/resize_2d.hpp).
void end_table(model_parts& parts, int variant, const step_view& s, int input, std::int32_t count) {
  const tensor_info t = s.input(input);
  const std::size_t at = own_buffer(parts, variant, static_cast<int>(s.input_index(input))) + t.offset();
  auto* const indices = reinterpret_cast<std::int32_t*>(parts.weights.data() + at);
  for (std::int64_t i = 0; i < t.elements(); ++i) indices[i] = std::min(indices[i], count - 1);
}

void end_tables(model_parts& parts, int variant, const variant_view& v, length_values lengths) {
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    if (s.op() != op::resize_2d) continue;
    const tensor_view image = s.input(0).view(nullptr, lengths);
    end_table(parts, variant, s, 1, image.shape[1]);
    end_table(parts, variant, s, 3, image.shape[2]);
  }
}

/// Removes ports without elements. What they were is unused then.
void drop_empty_ports(table_json& variant, const char* list, const char* storage, const std::vector<bool>& used) {
  const std::vector<std::size_t> place = keep(variant[list], used);
  for (table_json& b : variant["buffers"])
    if (b.count("storage") != 0 && b["storage"] == storage) b["index"] = place[number(b, "index")];
}

/// Removes what does nothing where lengths are 0: ports without elements, and steps with an empty tensor.
void drop_empty(table_json& variant, const variant_view& v, length_values lengths) {
  std::vector<bool> inputs, outputs, steps;
  for (int i = 0; i < v.input_count(); ++i) inputs.push_back(!v.input(i).tensor().is_empty(lengths));
  for (int i = 0; i < v.output_count(); ++i) outputs.push_back(!v.output(i).tensor().is_empty(lengths));
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    steps.push_back(!s.does_nothing(lengths));
    if (steps.back() && s.has_empty_input(lengths))
      throw no_fixed_form("step '" + std::string(s.name()) +
                          "' computes from nothing, which no file of one value has. " +
                          "Set the length in the game, with session::set_length");
  }
  drop_empty_ports(variant, "inputs", "input", inputs);
  drop_empty_ports(variant, "outputs", "output", outputs);
  std::vector<std::size_t> before = keep(variant["steps"], steps);
  before.push_back(variant["steps"].size());
  drop_unused(variant);
  const std::size_t end = steps.size();
  for (table_json& b : variant["buffers"]) {
    const std::size_t first = number(b, "first_step"), last = number(b, "last_step");
    b["first_step"] = before[first];
    b["last_step"] = last >= end ? before[end] : std::max<std::size_t>(before[last + 1], before[first] + 1) - 1;
  }
}

}

void fix_lengths(model_parts& parts, const model& m, const std::map<std::string, std::int64_t>& values) {
  for (int i = 0; i < m.variant_count(); ++i) {
    const variant_view v = m.variant(i);
    const impl::run_lengths chosen = lengths_of(v, values);
    const length_values lengths = chosen.values();
    table_json& table = parts.table["variants"][static_cast<std::size_t>(i)];
    for (int t = 0; t < v.tensor_count(); ++t)
      fix_tensor(table["tensors"][static_cast<std::size_t>(t)], v.tensor(t), lengths);
    for (int p = 0; p < v.input_count(); ++p) fix_buffer(table, v.input(p), lengths);
    for (int p = 0; p < v.output_count(); ++p) fix_buffer(table, v.output(p), lengths);
    for (int p = 0; p < v.input_count(); ++p)
      fix_port(table["inputs"][static_cast<std::size_t>(p)], v.input(p), lengths);
    for (int p = 0; p < v.output_count(); ++p)
      fix_port(table["outputs"][static_cast<std::size_t>(p)], v.output(p), lengths);
    for (int s = 0; s < v.step_count(); ++s) {
      table_json& step = table["steps"][static_cast<std::size_t>(s)];
      step["tile"]["count"] = static_cast<std::uint64_t>(v.step(s).tile_count(lengths));
      if (v.step(s).macs() != 0) step["macs"] = macs_of(v.step(s), lengths);
    }
    if (lengths != nullptr) {
      end_tables(parts, i, v, lengths);
      drop_empty(table, v, lengths);
    }
    table.erase("lengths");
    if (lengths != nullptr) table.erase("checks");
  }
}

}
