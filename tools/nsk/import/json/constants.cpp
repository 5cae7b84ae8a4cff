// SPDX-License-Identifier: MIT
#include "import/json/constants.hpp"

#include <limits>

#include "errors.hpp"
#include "graph/names.hpp"
#include "graph/onnx_type.hpp"
#include "io/files.hpp"
#include "io/layout.hpp"
#include "io/npy.hpp"
#include "io/system/paths.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// Whether an element type holds an integer.
bool holds(element t, const graph_json& j) {
  if (!j.is_number_integer()) return false;
  if (t == element::u64) return j.is_number_unsigned() || j.get<std::int64_t>() >= 0;
  if (j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX) return false;
  const std::int64_t v = j.get<std::int64_t>();
  const int bits = static_cast<int>(8 * size_of(t));
  if (t == element::i64) return true;
  const bool is_signed = t == element::i8 || t == element::i16 || t == element::i32;
  const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return v <= high && v >= (is_signed ? -high - 1 : 0);
}

void set_element(array& a, std::int64_t i, const graph_json& j, const std::string& what) {
  if (a.type == element::f32) {
    a.as<float>()[i] = number_of(j, what);
  } else if (a.type == element::boolean) {
    if (!j.is_boolean()) refuse(what + " must be true or false");
    a.as<std::uint8_t>()[i] = j.get<bool>() ? 1 : 0;
  } else {
    if (!holds(a.type, j)) refuse(what + " is no " + name_of(a.type));
    a.set_integer(i,
                  j.is_number_unsigned() ? static_cast<std::int64_t>(j.get<std::uint64_t>()) : j.get<std::int64_t>());
  }
}

array from_text(const fields& f) {
  const std::string name = f.text("type");
  const std::optional<element> type = element_named(name);
  if (!type || *type == element::f64)
    f.fail("has elements of type '" + name + "'. In the text there are float32, bool and integers of 8 to 64 bits; " +
           "write others as a file: {\"file\": \"x.npy\"}");
  const shape_t shape = f.integers("shape");
  const std::int64_t count = checked_count(shape, f.where());
  const std::vector<const graph_json*> values = f.list("values");
  if (static_cast<std::uint64_t>(count) != values.size())
    f.fail("has the shape " + to_string(shape) + ", which is " + std::to_string(count) + " elements, but " +
           std::to_string(values.size()) + " values");
  array a(*type, shape);
  for (std::int64_t i = 0; i < count; ++i)
    set_element(a, i, *values[static_cast<std::size_t>(i)], f.where() + ": value " + std::to_string(i));
  return a;
}

/// The axes in the order that "permute" gives.
array permuted_as(const fields& f, const array& a) {
  const std::vector<std::int64_t> given = f.integers("permute");
  std::vector<int> order;
  std::set<std::int64_t> seen;
  for (const std::int64_t d : given) {
    if (d < 0 || d >= static_cast<std::int64_t>(a.shape.size()) || !seen.insert(d).second) break;
    order.push_back(static_cast<int>(d));
  }
  if (order.size() != a.shape.size() || given.size() != order.size())
    f.fail("has 'permute' " + to_string(given) + ", which does not name each axis of " + to_string(a.shape) + " once");
  return permuted(a, order);
}

}

array constant_reader::from_file(const fields& f) {
  const std::string name = f.text("file");
  require_name(name, f.where() + ": the name of the file");
  const std::string path = utf8_of(file_inside(m_folder, name, f.where() + ": the file"));
  if (!m_files.insert(path).second)
    f.fail("is in the file '" + name + "', which another constant has already. Copy the file");
  try {
    return read_npy(path);
  } catch (const error& e) {
    refuse(f.where() + ": " + e.what());
  }
}

const array& constant_reader::read_array(const fields& f) {
  if ((f.find("file") == nullptr) == (f.find("values") == nullptr))
    f.fail("needs either 'file' or 'type', 'shape' and 'values'");
  array a = f.find("file") != nullptr ? from_file(f) : from_text(f);
  if (f.find("permute") == nullptr) {
    m_arrays.push_back(std::move(a));
  } else {
    m_arrays.push_back(permuted_as(f, a));
    m_last = std::make_shared<const array>(std::move(a));
  }
  return m_arrays.back();
}

std::shared_ptr<const stored_constant> constant_reader::stored(const fields& f) const {
  return std::make_shared<const stored_constant>(
      stored_constant{f.text("tensor", f.text("name", "")), m_last, f.integers("permute")});
}

wire::tensor constant_reader::read(const fields& f) {
  const array& a = read_array(f);
  wire::tensor t;
  t.dims = a.shape;
  t.type = static_cast<std::int32_t>(onnx_type_of(a.type));
  t.has_raw = true;
  t.raw = {reinterpret_cast<const char*>(a.data.data()), a.data.size()};
  return t;
}

}
