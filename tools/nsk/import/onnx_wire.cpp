// SPDX-License-Identifier: MIT
#include "import/onnx_wire.hpp"

#include <protozero/pbf_reader.hpp>

#include "errors.hpp"

namespace nsk::tool::wire {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
constexpr int deepest_nesting = 32;
constexpr std::int64_t most_messages = 4'000'000;

/// What keeps hostile files from costing much more than their size: an empty message takes two bytes there and hundreds here.
struct limits {
  std::int64_t messages = 0;
  int depth = 0;
  void count() {
    if (++messages > most_messages) refuse("the model holds more than 4 million nodes, attributes and tensors");
  }
};

/// Appends a repeated scalar field, packed or one by one: writers are free to choose.
template <class T, class Packed, class Single>
void append(std::vector<T>& to, pbf_reader& in, Packed packed, Single single) {
  if (in.wire_type() == pbf_wire_type::length_delimited) {
    const auto range = (in.*packed)();
    for (auto i = range.begin(); i != range.end(); ++i) to.push_back(static_cast<T>(*i));
  } else {
    to.push_back(static_cast<T>((in.*single)()));
  }
}

std::string_view view(pbf_reader& in) {
  const protozero::data_view v = in.get_view();
  return {v.data(), v.size()};
}

void read_integers(std::vector<std::int64_t>& to, pbf_reader& in) { append(to, in, &pbf_reader::get_packed_int64, &pbf_reader::get_int64); }
void read_floats(std::vector<float>& to, pbf_reader& in) { append(to, in, &pbf_reader::get_packed_float, &pbf_reader::get_float); }

std::pair<std::string, std::string> read_entry(pbf_reader in) {
  std::pair<std::string, std::string> entry;
  while (in.next()) {
    switch (in.tag()) {
      case 1: entry.first = in.get_string(); break;
      case 2: entry.second = in.get_string(); break;
      default: in.skip();
    }
  }
  return entry;
}

tensor read_tensor(pbf_reader in, limits& l) {
  l.count();
  tensor t;
  while (in.next()) {
    switch (in.tag()) {
      case 1: read_integers(t.dims, in); break;
      case 2: t.type = in.get_int32(); break;
      case 3: t.has_segment = true; in.skip(); break;
      case 4: read_floats(t.floats, in); break;
      case 5: append(t.integers, in, &pbf_reader::get_packed_int32, &pbf_reader::get_int32); break;
      case 6: t.has_strings = true; in.skip(); break;
      case 7: read_integers(t.integers, in); break;
      case 8: t.name = in.get_string(); break;
      case 9: t.raw = view(in); t.has_raw = true; break;
      case 10: append(t.doubles, in, &pbf_reader::get_packed_double, &pbf_reader::get_double); break;
      case 11: append(t.integers, in, &pbf_reader::get_packed_uint64, &pbf_reader::get_uint64); break;
      case 13: t.external.insert(read_entry(in.get_message())); break;
      case 14: t.is_external = in.get_enum() == 1; break;
      default: in.skip();
    }
  }
  return t;
}

std::string read_sparse_name(pbf_reader in, limits& l) {
  std::string name;
  while (in.next(1)) name = read_tensor(in.get_message(), l).name;
  return name;
}

graph read_graph(pbf_reader in, limits& l);

attribute read_attribute(pbf_reader in, limits& l) {
  l.count();
  attribute a;
  while (in.next()) {
    switch (in.tag()) {
      case 1: a.name = in.get_string(); break;
      case 2: a.f = in.get_float(); break;
      case 3: a.i = in.get_int64(); break;
      case 4: a.s = in.get_string(); break;
      case 5: a.t = std::make_shared<tensor>(read_tensor(in.get_message(), l)); break;
      case 6: a.g = std::make_shared<graph>(read_graph(in.get_message(), l)); break;
      case 7: read_floats(a.floats, in); break;
      case 8: read_integers(a.ints, in); break;
      case 9: a.strings.push_back(in.get_string()); break;
      case 10: case 11: case 14: case 15: case 22: case 23: a.has_other = true; in.skip(); break;
      case 20: a.type = in.get_enum(); break;
      case 21: a.reference = in.get_string(); break;
      default: in.skip();
    }
  }
  return a;
}

node read_node(pbf_reader in, limits& l) {
  l.count();
  node n;
  while (in.next()) {
    switch (in.tag()) {
      case 1: n.inputs.push_back(in.get_string()); break;
      case 2: n.outputs.push_back(in.get_string()); break;
      case 3: n.name = in.get_string(); break;
      case 4: n.op = in.get_string(); break;
      case 5: n.attributes.push_back(read_attribute(in.get_message(), l)); break;
      case 7: n.domain = in.get_string(); break;
      case 8: n.overload = in.get_string(); break;
      default: in.skip();
    }
  }
  return n;
}

void read_shape(value_info& v, pbf_reader in) {
  v.has_shape = true;
  while (in.next()) {
    if (in.tag() != 1) {
      in.skip();
      continue;
    }
    value_info::dimension d;
    pbf_reader dimension = in.get_message();
    while (dimension.next()) {
      switch (dimension.tag()) {
        case 1: d.size = dimension.get_int64(); break;
        case 2: d.symbol = dimension.get_string(); break;
        default: dimension.skip();
      }
    }
    v.shape.push_back(std::move(d));
  }
}

void read_type(value_info& v, pbf_reader in) {
  while (in.next()) {
    if (in.tag() != 1) {
      in.skip();
      continue;
    }
    v.is_tensor = true;
    pbf_reader tensor_type = in.get_message();
    while (tensor_type.next()) {
      switch (tensor_type.tag()) {
        case 1: v.type = tensor_type.get_int32(); break;
        case 2: read_shape(v, tensor_type.get_message()); break;
        default: tensor_type.skip();
      }
    }
  }
}

value_info read_value_info(pbf_reader in, limits& l) {
  l.count();
  value_info v;
  while (in.next()) {
    switch (in.tag()) {
      case 1: v.name = in.get_string(); break;
      case 2: read_type(v, in.get_message()); break;
      default: in.skip();
    }
  }
  return v;
}

graph read_graph(pbf_reader in, limits& l) {
  l.count();
  if (++l.depth > deepest_nesting) refuse("the model nests subgraphs more than " + std::to_string(deepest_nesting) + " deep");
  graph g;
  while (in.next()) {
    switch (in.tag()) {
      case 1: g.nodes.push_back(read_node(in.get_message(), l)); break;
      case 2: g.name = in.get_string(); break;
      case 5: g.initializers.push_back(read_tensor(in.get_message(), l)); break;
      case 11: g.inputs.push_back(read_value_info(in.get_message(), l)); break;
      case 12: g.outputs.push_back(read_value_info(in.get_message(), l)); break;
      case 15: g.sparse_initializers.push_back(read_sparse_name(in.get_message(), l)); break;
      default: in.skip();
    }
  }
  --l.depth;
  return g;
}

/// "ai.onnx" is another spelling of "".
std::string domain_of(std::string domain) { return domain == "ai.onnx" ? std::string() : domain; }

void read_opset(opset_map& opsets, pbf_reader in) {
  std::string domain;
  std::int64_t version = 0;
  while (in.next()) {
    switch (in.tag()) {
      case 1: domain = in.get_string(); break;
      case 2: version = in.get_int64(); break;
      default: in.skip();
    }
  }
  opsets[domain_of(std::move(domain))] = version;
}

function read_function(pbf_reader in, limits& l) {
  l.count();
  function f;
  while (in.next()) {
    switch (in.tag()) {
      case 1: f.name = in.get_string(); break;
      case 4: f.inputs.push_back(in.get_string()); break;
      case 5: f.outputs.push_back(in.get_string()); break;
      case 7: f.nodes.push_back(read_node(in.get_message(), l)); break;
      case 9: read_opset(f.opsets, in.get_message()); break;
      case 10: f.domain = domain_of(in.get_string()); break;
      case 11: f.defaults.push_back(read_attribute(in.get_message(), l)); break;
      case 13: f.overload = in.get_string(); break;
      default: in.skip();
    }
  }
  return f;
}

}

model read_model(std::string_view bytes) {
  model m;
  limits l;
  pbf_reader in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag()) {
      case 1: m.ir_version = in.get_int64(); break;
      case 2: m.producer = in.get_string() + m.producer; break;
      case 3: m.producer += " " + in.get_string(); break;
      case 7: m.main = read_graph(in.get_message(), l); break;
      case 8: read_opset(m.opsets, in.get_message()); break;
      case 25: m.functions.push_back(read_function(in.get_message(), l)); break;
      default: in.skip();
    }
  }
  return m;
}

}
