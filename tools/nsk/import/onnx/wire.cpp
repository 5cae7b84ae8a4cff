// SPDX-License-Identifier: MIT
#include "import/onnx/wire.hpp"

#include <protozero/pbf_reader.hpp>

#include "errors.hpp"

namespace nsk::tool::wire {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
constexpr int max_nesting = 32;
constexpr std::int64_t max_messages = 1'000'000;

/// What keeps hostile files from costing much more than their size: an empty message takes two bytes there and hundreds
/// here.
struct limits {
  std::int64_t messages = 0;
  int depth = 0;
  void count() {
    if (++messages > max_messages)
      refuse("the model holds more than a million nodes, attributes and tensors. Export it in parts");
  }
};

/// protozero's reader, with the wire type of every field checked: protozero itself only asserts it.
class reader : private pbf_reader {
 public:
  explicit reader(std::string_view bytes) : pbf_reader(bytes.data(), bytes.size()) {}
  using pbf_reader::next;
  using pbf_reader::skip;
  using pbf_reader::tag;

  std::string_view view() {
    need(pbf_wire_type::length_delimited);
    const protozero::data_view v = get_view();
    return {v.data(), v.size()};
  }
  std::string text() { return std::string(view()); }
  reader message() { return reader(view()); }
  std::int64_t int64() {
    need(pbf_wire_type::varint);
    return get_int64();
  }
  std::int32_t int32() {
    need(pbf_wire_type::varint);
    return get_int32();
  }
  float float32() {
    need(pbf_wire_type::fixed32);
    return get_float();
  }

  // Repeated numbers, packed or one by one: writers are free to choose.
  void append(std::vector<float>& to) {
    append(to, &reader::get_packed_float, &reader::get_float, pbf_wire_type::fixed32);
  }
  void append(std::vector<double>& to) {
    append(to, &reader::get_packed_double, &reader::get_double, pbf_wire_type::fixed64);
  }
  void append(std::vector<std::int64_t>& to) {
    append(to, &reader::get_packed_int64, &reader::get_int64, pbf_wire_type::varint);
  }
  void append_int32(std::vector<std::int64_t>& to) {
    append(to, &reader::get_packed_int32, &reader::get_int32, pbf_wire_type::varint);
  }
  void append_uint64(std::vector<std::int64_t>& to) {
    append(to, &reader::get_packed_uint64, &reader::get_uint64, pbf_wire_type::varint);
  }

 private:
  void need(pbf_wire_type type) const {
    if (wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
  }
  template <class T, class Packed, class Single>
  void append(std::vector<T>& to, Packed packed, Single single, pbf_wire_type one) {
    if (wire_type() == pbf_wire_type::length_delimited) {
      const auto range = (this->*packed)();
      for (auto i = range.begin(); i != range.end(); ++i) to.push_back(static_cast<T>(*i));
    } else {
      need(one);
      to.push_back(static_cast<T>((this->*single)()));
    }
  }
};

std::pair<std::string, std::string> read_entry(reader in) {
  std::pair<std::string, std::string> entry;
  while (in.next()) {
    switch (in.tag()) {
      case 1: entry.first = in.text(); break;
      case 2: entry.second = in.text(); break;
      default: in.skip();
    }
  }
  return entry;
}

tensor read_tensor(reader in, limits& l) {
  l.count();
  tensor t;
  while (in.next()) {
    switch (in.tag()) {
      case 1: in.append(t.dims); break;
      case 2: t.type = in.int32(); break;
      case 3:
        t.has_segment = true;
        in.skip();
        break;
      case 4: in.append(t.floats); break;
      case 5: in.append_int32(t.integers); break;
      case 6:
        l.count();
        t.has_strings = true;
        t.texts.push_back(in.text());
        break;
      case 7: in.append(t.integers); break;
      case 8: t.name = in.text(); break;
      case 9:
        t.raw = in.view();
        t.has_raw = true;
        break;
      case 10: in.append(t.doubles); break;
      case 11: in.append_uint64(t.integers); break;
      case 13: t.external.insert(read_entry(in.message())); break;
      case 14: t.is_external = in.int32() == 1; break;
      default: in.skip();
    }
  }
  return t;
}

std::string read_sparse_name(reader in, limits& l) {
  std::string name;
  while (in.next(1)) name = read_tensor(in.message(), l).name;
  return name;
}

graph read_graph(reader in, limits& l);

attribute read_attribute(reader in, limits& l) {
  l.count();
  attribute a;
  while (in.next()) {
    switch (in.tag()) {
      case 1: a.name = in.text(); break;
      case 2: a.f = in.float32(); break;
      case 3: a.i = in.int64(); break;
      case 4: a.s = in.text(); break;
      case 5: a.t = std::make_shared<tensor>(read_tensor(in.message(), l)); break;
      case 6: a.g = std::make_shared<graph>(read_graph(in.message(), l)); break;
      case 7: in.append(a.floats); break;
      case 8: in.append(a.ints); break;
      case 9: a.strings.push_back(in.text()); break;
      case 10:
      case 11:
      case 14:
      case 15:
      case 22:
      case 23:
        a.has_other = true;
        in.skip();
        break;
      case 20: a.type = in.int32(); break;
      case 21: a.reference = in.text(); break;
      default: in.skip();
    }
  }
  return a;
}

node read_node(reader in, limits& l) {
  l.count();
  node n;
  while (in.next()) {
    switch (in.tag()) {
      case 1: n.inputs.push_back(in.text()); break;
      case 2: n.outputs.push_back(in.text()); break;
      case 3: n.name = in.text(); break;
      case 4: n.op = in.text(); break;
      case 5: n.attributes.push_back(read_attribute(in.message(), l)); break;
      case 7: n.domain = in.text(); break;
      case 8: n.overload = in.text(); break;
      default: in.skip();
    }
  }
  return n;
}

void read_shape(value_info& v, reader in) {
  v.has_shape = true;
  while (in.next(1)) {
    value_info::dimension d;
    reader dimension = in.message();
    while (dimension.next()) {
      switch (dimension.tag()) {
        case 1: d.size = dimension.int64(); break;
        case 2: d.symbol = dimension.text(); break;
        default: dimension.skip();
      }
    }
    v.shape.push_back(std::move(d));
  }
}

void read_type(value_info& v, reader in) {
  while (in.next(1)) {
    v.is_tensor = true;
    reader tensor_type = in.message();
    while (tensor_type.next()) {
      switch (tensor_type.tag()) {
        case 1: v.type = tensor_type.int32(); break;
        case 2: read_shape(v, tensor_type.message()); break;
        default: tensor_type.skip();
      }
    }
  }
}

value_info read_value_info(reader in, limits& l) {
  l.count();
  value_info v;
  while (in.next()) {
    switch (in.tag()) {
      case 1: v.name = in.text(); break;
      case 2: read_type(v, in.message()); break;
      default: in.skip();
    }
  }
  return v;
}

graph read_graph(reader in, limits& l) {
  l.count();
  if (++l.depth > max_nesting)
    refuse("the model nests subgraphs more than " + std::to_string(max_nesting) +
           " deep. Export it without control flow");
  graph g;
  while (in.next()) {
    switch (in.tag()) {
      case 1: g.nodes.push_back(read_node(in.message(), l)); break;
      case 2: g.name = in.text(); break;
      case 5: g.initializers.push_back(read_tensor(in.message(), l)); break;
      case 11: g.inputs.push_back(read_value_info(in.message(), l)); break;
      case 12: g.outputs.push_back(read_value_info(in.message(), l)); break;
      case 15: g.sparse_initializers.push_back(read_sparse_name(in.message(), l)); break;
      default: in.skip();
    }
  }
  --l.depth;
  return g;
}

/// "ai.onnx" is another spelling of "".
std::string domain_of(std::string domain) { return domain == "ai.onnx" ? std::string() : domain; }

void read_opset(opset_map& opsets, reader in) {
  std::string domain;
  std::int64_t version = 0;
  while (in.next()) {
    switch (in.tag()) {
      case 1: domain = in.text(); break;
      case 2: version = in.int64(); break;
      default: in.skip();
    }
  }
  opsets[domain_of(std::move(domain))] = version;
}

function read_function(reader in, limits& l) {
  l.count();
  function f;
  while (in.next()) {
    switch (in.tag()) {
      case 1: f.name = in.text(); break;
      case 4: f.inputs.push_back(in.text()); break;
      case 5: f.outputs.push_back(in.text()); break;
      case 7: f.nodes.push_back(read_node(in.message(), l)); break;
      case 9: read_opset(f.opsets, in.message()); break;
      case 10: f.domain = domain_of(in.text()); break;
      case 11: f.defaults.push_back(read_attribute(in.message(), l)); break;
      case 13: f.overload = in.text(); break;
      default: in.skip();
    }
  }
  return f;
}

}

model read_model(std::string_view bytes) {
  model m;
  limits l;
  std::string producer, version;
  reader in(bytes);
  while (in.next()) {
    switch (in.tag()) {
      case 1: m.ir_version = in.int64(); break;
      case 2: producer = in.text(); break;
      case 3: version = " " + in.text(); break;
      case 7: m.main = read_graph(in.message(), l); break;
      case 8: read_opset(m.opsets, in.message()); break;
      case 14:
        if (auto property = read_entry(in.message()); m.properties.size() < max_properties)
          m.properties.push_back(std::move(property));
        break;
      case 25: m.functions.push_back(read_function(in.message(), l)); break;
      default: in.skip();
    }
  }
  m.producer = producer + version;
  return m;
}

}
