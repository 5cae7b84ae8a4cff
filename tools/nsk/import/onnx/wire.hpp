// SPDX-License-Identifier: MIT
#pragma once
/// ONNX's protobuf messages as plain structs: what the file says, with nothing interpreted but tensors' bytes. Strings
/// are copied, bulk data stays in the caller's buffer. Field numbers are those of onnx.proto.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nsk::tool::wire {

struct tensor {
  std::string name;
  std::vector<std::int64_t> dims;
  std::int32_t type = 0;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> integers;  ///< int32_data, int64_data or uint64_data
  std::vector<std::string> texts;
  std::string_view raw;
  bool has_raw = false, has_strings = false, has_segment = false, is_external = false;
  std::map<std::string, std::string> external;  ///< location, offset, length
};

struct graph;

/// AttributeProto.AttributeType; no_type where an old file has none. Others are read as their numbers.
enum attribute_type : std::int32_t {
  no_type,
  float_type,
  int_type,
  string_type,
  tensor_type,
  graph_type,
  floats_type,
  ints_type,
  strings_type
};

/// AttributeProto.
struct attribute {
  std::string name, reference;  ///< reference: the attribute of the enclosing function that gives the value
  std::int32_t type = no_type;
  std::optional<float> f;
  std::optional<std::int64_t> i;
  std::optional<std::string> s;
  std::shared_ptr<tensor> t;
  std::shared_ptr<graph> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  bool has_other = false;  ///< sparse tensors, types, lists of tensors or graphs
};

struct node {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<attribute> attributes;
  std::int64_t version = 0;  ///< opset of the domain, where the node came out of an inlined function; 0: the model's
};

/// ValueInfoProto of a tensor.
struct value_info {
  struct dimension {
    std::int64_t size = -1;
    std::string symbol;
  };
  std::string name;
  bool is_tensor = false, has_shape = false;
  std::int32_t type = 0;
  std::vector<dimension> shape;
};

struct graph {
  std::string name;
  std::vector<node> nodes;
  std::vector<tensor> initializers;
  std::vector<std::string> sparse_initializers;  ///< names
  std::vector<value_info> inputs, outputs;
};

using opset_map = std::map<std::string, std::int64_t>;  ///< domain -> version; "" is ai.onnx

struct function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<attribute> defaults;  ///< attributes that have one
  std::vector<node> nodes;
  opset_map opsets;
};

struct model {
  std::int64_t ir_version = 0;
  std::string producer;
  opset_map opsets;
  std::optional<graph> main;
  std::vector<function> functions;
  std::vector<std::pair<std::string, std::string>> properties;  ///< metadata, at most max_properties of them
};

inline constexpr std::size_t max_properties = 1024;

/// Parses a ModelProto. Throws protozero's exceptions on broken bytes and tool errors on nesting deeper than 32 graphs.
/// Memory is bounded by a small multiple of the file's size. The result refers to `bytes`.
model read_model(std::string_view bytes);

}
