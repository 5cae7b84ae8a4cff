// SPDX-License-Identifier: MIT
#include "mutate_onnx.hpp"
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include "reference/operators.hpp"

namespace fuzz {
namespace {

/// Messages of onnx.proto that are taken apart.
enum class kind {
  leaf,
  model,
  graph,
  node,
  tensor,
  attribute,
  value,
  type,
  tensor_type,
  shape,
  dimension,
  opset,
  function,
  entry
};

kind child_of(kind parent, std::uint64_t number) {
  struct rule {
    kind parent;
    std::uint64_t number;
    kind child;
  };
  static const rule rules[] = {
      {kind::model, 7, kind::graph},       {kind::model, 8, kind::opset},         {kind::model, 25, kind::function},
      {kind::graph, 1, kind::node},        {kind::graph, 5, kind::tensor},        {kind::graph, 11, kind::value},
      {kind::graph, 12, kind::value},      {kind::node, 5, kind::attribute},      {kind::attribute, 5, kind::tensor},
      {kind::attribute, 6, kind::graph},   {kind::value, 2, kind::type},          {kind::type, 1, kind::tensor_type},
      {kind::tensor_type, 2, kind::shape}, {kind::shape, 1, kind::dimension},     {kind::function, 7, kind::node},
      {kind::function, 9, kind::opset},    {kind::function, 11, kind::attribute}, {kind::tensor, 13, kind::entry}};
  for (const rule& r : rules)
    if (r.parent == parent && r.number == number) return r.child;
  return kind::leaf;
}

enum wire : unsigned { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

/// A field of a message: a number, bytes, or a message of its own.
struct field {
  std::uint64_t number = 0;
  unsigned type = varint;
  kind what = kind::leaf;
  std::uint64_t value = 0;
  std::string bytes;
  std::vector<field> inner;
};

class reader {
 public:
  reader(const std::uint8_t* data, std::size_t size) : m_at(data), m_end(data + size) {}
  bool done() const { return m_at == m_end; }
  std::optional<std::uint64_t> number() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; m_at != m_end && shift < 64; shift += 7) {
      v |= static_cast<std::uint64_t>(*m_at & 0x7f) << shift;
      if ((*m_at++ & 0x80) == 0) return v;
    }
    return std::nullopt;
  }
  std::optional<std::string> take(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(m_end - m_at)) return std::nullopt;
    std::string s(reinterpret_cast<const char*>(m_at), static_cast<std::size_t>(size));
    m_at += size;
    return s;
  }

 private:
  const std::uint8_t *m_at, *m_end;
};

std::optional<std::vector<field>> parse(const std::string& bytes, kind what, int depth) {
  std::vector<field> fields;
  reader in(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  while (!in.done()) {
    const auto key = in.number();
    if (!key || depth > 64) return std::nullopt;
    field f;
    f.number = *key >> 3;
    f.type = static_cast<unsigned>(*key & 7);
    std::optional<std::uint64_t> number;
    std::optional<std::string> text;
    switch (f.type) {
      case varint:
        if (!(number = in.number())) return std::nullopt;
        f.value = *number;
        break;
      case fixed64: text = in.take(8); break;
      case fixed32: text = in.take(4); break;
      case delimited:
        if (!(number = in.number())) return std::nullopt;
        text = in.take(*number);
        break;
      default: return std::nullopt;
    }
    if (f.type != varint) {
      if (!text) return std::nullopt;
      f.bytes = *text;
    }
    f.what = f.type == delimited ? child_of(what, f.number) : kind::leaf;
    if (f.what != kind::leaf) {
      if (auto inner = parse(f.bytes, f.what, depth + 1))
        f.inner = std::move(*inner);
      else
        f.what = kind::leaf;
    }
    fields.push_back(std::move(f));
  }
  return fields;
}

void put_number(std::string& to, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) to += static_cast<char>(v | 0x80);
  to += static_cast<char>(v);
}

void put(std::string& to, const std::vector<field>& fields) {
  for (const field& f : fields) {
    put_number(to, f.number << 3 | f.type);
    if (f.type == varint) {
      put_number(to, f.value);
      continue;
    }
    std::string message;
    if (f.what != kind::leaf) put(message, f.inner);
    const std::string& bytes = f.what == kind::leaf ? f.bytes : message;
    if (f.type == delimited) put_number(to, bytes.size());
    to += bytes;
  }
}

/// Where fields are: the list that holds each, the message that list belongs to.
struct place {
  std::vector<field>* list;
  std::size_t index;
  kind parent;
  field& get() const { return (*list)[index]; }
};

void collect(std::vector<field>& list, kind parent, std::vector<place>& to) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    to.push_back({&list, i, parent});
    if (list[i].what != kind::leaf) collect(list[i].inner, list[i].what, to);
  }
}

const char* const attribute_names[] = {"axis",
                                       "axes",
                                       "perm",
                                       "pads",
                                       "strides",
                                       "dilations",
                                       "kernel_shape",
                                       "group",
                                       "auto_pad",
                                       "alpha",
                                       "beta",
                                       "keepdims",
                                       "mode",
                                       "value",
                                       "to",
                                       "blocksize",
                                       "ceil_mode",
                                       "count_include_pad",
                                       "output_padding",
                                       "output_shape",
                                       "transA",
                                       "transB",
                                       "epsilon",
                                       "hidden_size",
                                       "direction",
                                       "activations",
                                       "clip",
                                       "layout",
                                       "num_outputs",
                                       "split",
                                       "starts",
                                       "ends",
                                       "body",
                                       "then_branch",
                                       "else_branch",
                                       "num_scan_inputs",
                                       "scan_input_axes",
                                       "scan_output_axes",
                                       "coordinate_transformation_mode",
                                       "nearest_mode",
                                       "antialias",
                                       "exclude_outside",
                                       "scales",
                                       "keep_aspect_ratio_policy",
                                       "largest",
                                       "sorted",
                                       "select_last_index",
                                       "center_point_box",
                                       "batch_dims",
                                       "reduction",
                                       "size",
                                       "p",
                                       "num_groups",
                                       "noop_with_empty_axes",
                                       "allowzero",
                                       "fmod",
                                       "upper",
                                       "exclusive",
                                       "reverse",
                                       "linear_before_reset",
                                       "input_forget",
                                       "value_ints",
                                       "value_float",
                                       "min",
                                       "max",
                                       "onesided",
                                       "inverse",
                                       "periodic",
                                       "equation",
                                       "block_size",
                                       "sample_size",
                                       "dtype",
                                       "seed",
                                       "norm",
                                       "post_transform",
                                       "aggregate_function",
                                       "n_targets",
                                       "base_values",
                                       "nodes_missing_value_tracks_true"};
const char* const texts[] = {"",           "x",          "nsk_bound",     "ai.onnx",    "SAME_UPPER",
                             "SAME_LOWER", "VALID",      "NOTSET",        "linear",     "cubic",
                             "nearest",    "reflect",    "edge",          "wrap",       "constant",
                             "DCR",        "CRD",        "bidirectional", "reverse",    "forward",
                             "Tanh",       "Affine",     "align_corners", "asymmetric", "tf_crop_and_resize",
                             "half_pixel", "not_larger", "add",           "LEFT",       "../x",
                             "location",   "ij,jk->ki",  "SOFTMAX",       "AVERAGE",    "LEAF"};

template <std::size_t N>
std::string any_text(generator& random, const char* const (&list)[N]) {
  return list[random.below(N)];
}

std::string any_operator(generator& random) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"If", "Loop", "Scan"};
    for (const auto& entry : nsk::tool::reference::operators()) list.push_back(entry.first);
    return list;
  }();
  return names[random.below(names.size())];
}

std::uint64_t small_or_strange(generator& random) {
  return random.one_in(3) ? interesting(random) : random.below(10) - 2;
}

/// A new attribute of a random type.
field any_attribute(generator& random) {
  const auto leaf = [](std::uint64_t number, unsigned type, std::uint64_t value, std::string bytes) {
    field f;
    f.number = number;
    f.type = type;
    f.value = value;
    f.bytes = std::move(bytes);
    return f;
  };
  field a;
  a.number = 5;
  a.type = delimited;
  a.what = kind::attribute;
  a.inner.push_back(leaf(1, delimited, 0, any_text(random, attribute_names)));
  switch (random.below(4)) {
    case 0:
      a.inner.push_back(leaf(3, varint, small_or_strange(random), ""));
      a.inner.push_back(leaf(20, varint, 2, ""));
      break;
    case 1:
      a.inner.push_back(leaf(4, delimited, 0, any_text(random, texts)));
      a.inner.push_back(leaf(20, varint, 3, ""));
      break;
    case 2: {
      const float v = static_cast<float>(random.below(7)) - 2.5f;
      a.inner.push_back(leaf(2, fixed32, 0, std::string(reinterpret_cast<const char*>(&v), 4)));
      a.inner.push_back(leaf(20, varint, 1, ""));
      break;
    }
    default:
      for (std::size_t i = random.below(5); i-- > 0;) a.inner.push_back(leaf(8, varint, small_or_strange(random), ""));
      a.inner.push_back(leaf(20, varint, 7, ""));
  }
  return a;
}

/// Overwrites one number among bytes that are packed numbers or raw data.
void mutate_bytes(generator& random, std::string& bytes) {
  static const std::size_t widths[] = {1, 2, 4, 8};
  const std::size_t width = widths[random.below(4)];
  if (bytes.size() < width) {
    bytes += static_cast<char>(random());
    return;
  }
  const std::size_t at = random.below(bytes.size() / width) * width;
  std::uint64_t v = 0;
  std::memcpy(&v, &bytes[at], width);
  mutate(random, v);
  if (random.one_in(4)) v = interesting(random);
  if (width == 4 && random.one_in(4)) v = strange_float(random);
  std::memcpy(&bytes[at], &v, width);
}

bool is_text(const field& f) {
  return f.type == delimited && f.what == kind::leaf && !f.bytes.empty() &&
         std::all_of(f.bytes.begin(), f.bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

void change_leaf(generator& random, const place& p, const std::vector<place>& all) {
  field& f = p.get();
  if (f.type == varint) {
    mutate(random, f.value);
    if (random.one_in(3)) f.value = small_or_strange(random);
    return;
  }
  if (p.parent == kind::node && f.number == 4 && random.one_in(2)) {
    f.bytes = any_operator(random);
    return;
  }
  const field& other = all[random.below(all.size())].get();
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      if (!is_text(f) || random.one_in(8))
        mutate_bytes(random, f.bytes);
      else if (is_text(other))
        f.bytes = other.bytes;
      break;
    case 3:
    case 4:
      if (other.type == f.type && other.what == kind::leaf) f.bytes = other.bytes;
      break;
    case 5:
      if (f.type == delimited) f.bytes = any_text(random, texts);
      break;
    case 6:
      if (f.type == delimited) f.bytes = f.bytes.substr(0, random.below(f.bytes.size() + 1));
      break;
    default:
      if (f.type == delimited && f.bytes.size() < 256) f.bytes += f.bytes;
  }
}

/// Gives a tensor as many bytes as its shape asks for, where they are few.
void fit_data(std::vector<field>& tensor) {
  constexpr std::uint64_t max_bytes = 8192;
  static const std::uint64_t widths[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8};  // by TensorProto.DataType
  std::uint64_t type = 0, count = 1;
  field* data = nullptr;
  for (field& f : tensor) {
    if (f.number == 1 && f.type == varint) count = f.value > max_bytes ? max_bytes + 1 : count * f.value;
    if (count > max_bytes) return;
    if (f.number == 2) type = f.value;
    if (f.number == 9 && f.type == delimited) data = &f;
  }
  if (data == nullptr || type >= sizeof widths / sizeof *widths || widths[type] == 0) return;
  const std::string old = data->bytes;
  data->bytes.resize(static_cast<std::size_t>(count * widths[type]));
  for (std::size_t i = old.size(); i < data->bytes.size() && !old.empty(); ++i) data->bytes[i] = old[i % old.size()];
}

void fit_all(std::vector<field>& list) {
  for (field& f : list) f.what == kind::tensor ? fit_data(f.inner) : fit_all(f.inner);
}

void change(generator& random, std::vector<field>& model) {
  std::vector<place> all;
  collect(model, kind::model, all);
  if (all.empty()) return;
  const place p = all[random.below(all.size())];
  const field copy = p.get();
  if (copy.what == kind::node && random.one_in(4)) {
    p.get().inner.push_back(any_attribute(random));
    return;
  }
  if (copy.what == kind::leaf && !random.one_in(4)) return change_leaf(random, p, all);
  switch (random.below(5)) {
    case 0: p.list->erase(p.list->begin() + static_cast<std::ptrdiff_t>(p.index)); break;
    case 1: p.list->push_back(copy); break;
    case 2: std::swap((*p.list)[p.index], (*p.list)[random.below(p.list->size())]); break;
    case 3: {  // take the place of another of its kind, or of a graph around it
      const place to = all[random.below(all.size())];
      if (to.get().what == copy.what) to.get() = copy;
      break;
    }
    default: {  // join another message that holds such ones
      const place to = all[random.below(all.size())];
      if (to.get().what != kind::leaf && child_of(to.get().what, copy.number) == copy.what)
        to.get().inner.push_back(copy);
    }
  }
}

}

std::vector<std::uint8_t> mutate_onnx(const std::vector<std::uint8_t>& model, generator& random) {
  auto fields = parse(std::string(model.begin(), model.end()), kind::model, 0);
  if (!fields) return model;
  for (std::size_t n = random.one_in(4) ? 4 : 1; n-- > 0;) change(random, *fields);
  if (!random.one_in(4)) fit_all(*fields);
  std::string bytes;
  put(bytes, *fields);
  return {bytes.begin(), bytes.end()};
}

}
