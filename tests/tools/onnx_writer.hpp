// SPDX-License-Identifier: MIT
#pragma once
/// Writes ONNX protobuf messages, for tests of the importer. Field numbers are those of onnx.proto.
#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace nsk::test {

using bytes = std::string;
using protozero::pbf_writer;

inline bytes tensor(const std::string& name, int type, const std::vector<std::int64_t>& dims, const bytes& raw) {
  bytes b;
  pbf_writer w(b);
  w.add_packed_int64(1, dims.begin(), dims.end());
  w.add_int32(2, type);
  w.add_string(8, name);
  w.add_bytes(9, raw);
  return b;
}

inline bytes float_tensor(const std::string& name, const std::vector<std::int64_t>& dims,
                          const std::vector<float>& values) {
  return tensor(name, 1, dims, bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4));
}

/// A tensor whose data is in a typed field: 4 float_data, 5 int32_data, 7 int64_data, 10 double_data, 11 uint64_data.
template <class T>
bytes typed_tensor(int type, const std::vector<std::int64_t>& dims, int field, const std::vector<T>& values) {
  bytes b;
  pbf_writer w(b);
  for (std::int64_t d : dims) w.add_int64(1, d);
  w.add_int32(2, type);
  w.add_string(8, "t");
  const auto tag = static_cast<protozero::pbf_tag_type>(field);
  if constexpr (std::is_same_v<T, float>)
    w.add_packed_float(tag, values.begin(), values.end());
  else if constexpr (std::is_same_v<T, double>)
    w.add_packed_double(tag, values.begin(), values.end());
  else
    w.add_packed_int64(tag, values.begin(), values.end());
  return b;
}

inline bytes text_tensor(const std::string& name, const std::vector<std::int64_t>& dims,
                         const std::vector<std::string>& texts) {
  bytes b;
  pbf_writer w(b);
  w.add_packed_int64(1, dims.begin(), dims.end());
  w.add_int32(2, 8);
  for (const std::string& text : texts) w.add_string(6, text);
  w.add_string(8, name);
  return b;
}

inline bytes external_tensor(const std::string& name, const std::vector<std::int64_t>& dims,
                             const std::vector<std::pair<std::string, std::string>>& entries) {
  bytes b;
  pbf_writer w(b);
  w.add_packed_int64(1, dims.begin(), dims.end());
  w.add_int32(2, 1);
  w.add_string(8, name);
  for (const auto& [key, value] : entries) {
    bytes entry;
    pbf_writer e(entry);
    e.add_string(1, key);
    e.add_string(2, value);
    w.add_message(13, entry);
  }
  w.add_enum(14, 1);
  return b;
}

/// A dimension below 0 is written as the symbol "N".
inline bytes value_info(const std::string& name, int type, const std::vector<std::int64_t>& dims) {
  bytes shape, tensor_type, type_proto, b;
  pbf_writer s(shape), t(tensor_type), p(type_proto), w(b);
  for (std::int64_t d : dims) {
    bytes dimension;
    pbf_writer dw(dimension);
    if (d < 0)
      dw.add_string(2, "N");
    else
      dw.add_int64(1, d);
    s.add_message(1, dimension);
  }
  t.add_int32(1, type);
  t.add_message(2, shape);
  p.add_message(1, tensor_type);
  w.add_string(1, name);
  w.add_message(2, type_proto);
  return b;
}

inline bytes int_attribute(const std::string& name, std::int64_t value) {
  bytes b;
  pbf_writer w(b);
  w.add_string(1, name);
  w.add_int64(3, value);
  w.add_enum(20, 2);
  return b;
}

inline bytes float_attribute(const std::string& name, float value) {
  bytes b;
  pbf_writer w(b);
  w.add_string(1, name);
  w.add_float(2, value);
  w.add_enum(20, 1);
  return b;
}

/// In a function: the attribute takes the value of the call's attribute `reference`.
inline bytes reference_attribute(const std::string& name, const std::string& reference) {
  bytes b;
  pbf_writer w(b);
  w.add_string(1, name);
  w.add_enum(20, 1);
  w.add_string(21, reference);
  return b;
}

inline bytes graph_attribute(const std::string& name, const bytes& graph) {
  bytes b;
  pbf_writer w(b);
  w.add_string(1, name);
  w.add_message(6, graph);
  w.add_enum(20, 5);
  return b;
}

inline bytes node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const std::vector<bytes>& attributes = {},
                  const std::string& name = "", const std::string& domain = "") {
  bytes b;
  pbf_writer w(b);
  for (const std::string& i : inputs) w.add_string(1, i);
  for (const std::string& o : outputs) w.add_string(2, o);
  if (!name.empty()) w.add_string(3, name);
  w.add_string(4, op);
  for (const bytes& a : attributes) w.add_message(5, a);
  if (!domain.empty()) w.add_string(7, domain);
  return b;
}

inline bytes graph(const std::vector<bytes>& nodes, const std::vector<bytes>& initializers,
                   const std::vector<bytes>& inputs, const std::vector<bytes>& outputs) {
  bytes b;
  pbf_writer w(b);
  for (const bytes& n : nodes) w.add_message(1, n);
  w.add_string(2, "g");
  for (const bytes& t : initializers) w.add_message(5, t);
  for (const bytes& v : inputs) w.add_message(11, v);
  for (const bytes& v : outputs) w.add_message(12, v);
  return b;
}

inline bytes opset(const std::string& domain, int version) {
  bytes b;
  pbf_writer w(b);
  w.add_string(1, domain);
  w.add_int64(2, version);
  return b;
}

inline bytes function(const std::string& name, const std::string& domain, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const std::vector<bytes>& nodes) {
  bytes b;
  pbf_writer w(b);
  w.add_string(1, name);
  for (const std::string& i : inputs) w.add_string(4, i);
  for (const std::string& o : outputs) w.add_string(5, o);
  for (const bytes& n : nodes) w.add_message(7, n);
  w.add_message(9, opset("", 13));
  w.add_string(10, domain);
  return b;
}

inline bytes model(const bytes& graph, int opset_version = 13, const std::vector<bytes>& functions = {}) {
  bytes b;
  pbf_writer w(b);
  w.add_int64(1, 8);
  w.add_string(2, "writer");
  w.add_string(3, "1.0");
  w.add_message(7, graph);
  w.add_message(8, opset("", opset_version));
  for (const bytes& f : functions) w.add_message(25, f);
  return b;
}

}
