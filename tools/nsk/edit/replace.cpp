// SPDX-License-Identifier: MIT
// Constants replaced in place: the weights section keeps its layout.
#include <cstring>
#include "io/layout.hpp"
#include "edit/parts.hpp"
#include "errors.hpp"
#include "suggest.hpp"
#include "pack/panels.hpp"
#include "pack/winograd.hpp"

namespace nsk::tool {
namespace {

const std::string bias_suffix = ".bias";

/// Packed weights and the step that reads them: `depth` inputs of each of `outputs` outputs, `groups` times.
struct packed_constant {
  conv_algorithm algorithm = conv_algorithm::direct;
  std::int64_t groups = 1, outputs = 1, depth = 1;
  shape_t shape;  ///< of the array that replaces it
};

packed_constant describe(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  packed_constant c;
  c.outputs = y.shape()[y.shape().size() - 1];
  const std::int64_t inputs = x.shape()[x.shape().size() - 1];
  if (s.op() == op::conv_2d) {
    const conv_2d_params p = s.params<op::conv_2d>();
    c.algorithm = p.algorithm;
    c.groups = p.groups;
    c.shape = {c.outputs, p.w.kernel_h, p.w.kernel_w, inputs / c.groups};
    c.depth = p.w.kernel_h * p.w.kernel_w * (inputs / c.groups);
    c.outputs /= c.groups;
  } else if (s.op() == op::depthwise_conv_2d) {
    const window w = s.params<op::depthwise_conv_2d>().w;
    c.shape = {c.outputs, w.kernel_h, w.kernel_w};
    c.depth = w.kernel_h * w.kernel_w;
  } else if (s.op() == op::fully_connected) {
    c.shape = {c.outputs, inputs};
    c.depth = inputs;
  } else {
    refuse("these packed weights belong to a step that cannot take others.");
  }
  return c;
}

std::int64_t floats_of(const packed_constant& c) {
  if (c.algorithm == conv_algorithm::direct) return panel_floats(c.outputs, c.depth);
  return winograd_floats(c.algorithm, c.outputs, c.depth / 9);
}

/// Biases stand at the head of each panel, whatever follows.
template <class F>
void for_each_bias(const packed_constant& c, float* packed, F&& f) {
  const std::int64_t group = floats_of(c), rows = group / padded_channels(c.outputs);
  for (std::int64_t g = 0; g < c.groups; ++g)
    for (std::int64_t n = 0; n < c.outputs; ++n) {
      const std::int64_t last = panel_count(c.outputs) - 1, panel = n / panel_width < last ? n / panel_width : last;
      f(g * c.outputs + n, packed[g * group + panel * panel_width * rows + (n - panel * panel_width)]);
    }
}

std::vector<float> pack(const packed_constant& c, const array& weights, const std::vector<double>& bias) {
  std::vector<float> packed;
  const float* from = weights.as<float>();
  for (std::int64_t g = 0; g < c.groups; ++g) {
    const float* group = from + g * c.outputs * c.depth;
    const auto bias_of = [&](std::int64_t n) { return bias[static_cast<std::size_t>(g * c.outputs + n)]; };
    if (c.algorithm == conv_algorithm::direct) {
      pack_panels(
          packed, c.outputs, c.depth,
          [&](std::int64_t k, std::int64_t n) { return static_cast<double>(group[n * c.depth + k]); }, bias_of);
      continue;
    }
    const std::int64_t inputs = c.depth / 9;  // pack_kernels wants [outputs][inputs][3][3]
    std::vector<double> ordered(static_cast<std::size_t>(c.outputs * c.depth)),
        own(static_cast<std::size_t>(c.outputs));
    for (std::int64_t n = 0; n < c.outputs; ++n) {
      own[static_cast<std::size_t>(n)] = bias_of(n);
      for (std::int64_t tap = 0; tap < 9; ++tap)
        for (std::int64_t i = 0; i < inputs; ++i)
          ordered[static_cast<std::size_t>((n * inputs + i) * 9 + tap)] =
              static_cast<double>(group[n * c.depth + tap * inputs + i]);
    }
    const std::vector<float> part =
        transform_kernels(c.algorithm, c.outputs, inputs, pack_kernels(c.outputs, inputs, ordered, own));
    packed.insert(packed.end(), part.begin(), part.end());
  }
  return packed;
}

void expect(const std::string& name, const array& values, element type, const shape_t& shape) {
  if (values.type != type || values.shape != shape)
    refuse("'" + name + "' takes " + name_of(type) + " " + to_string(shape) + ", but the array is " +
           name_of(values.type) + " " + to_string(values.shape) + ".");
}

/// The step that reads tensor `t` as packed weights.
step_view reader_of(const variant_view& v, int t) {
  for (int i = 0; i < v.step_count(); ++i)
    for (int k = 0; k < v.step(i).input_count(); ++k)
      if (v.step(i).input_index(k) == static_cast<std::uint32_t>(t)) return v.step(i);
  refuse("no step reads these weights.");
}

/// Whether a constant of another name is in the same bytes: equal constants are stored once.
bool is_shared(const model& m, const tensor_info& info) {
  for (int i = 0; i < m.variant_count(); ++i)
    for (int t = 0; t < m.variant(i).tensor_count(); ++t) {
      const tensor_info other = m.variant(i).tensor(t);
      if (other.where() == storage::constant && other.buffer_offset() == info.buffer_offset() &&
          std::strcmp(other.name(), info.name()) != 0)
        return true;
    }
  return false;
}

void replace_packed(std::byte* at, const step_view& reader, const std::string& name, const array& values, bool biases) {
  if (is_quads(reader.input(1).arrangement()))
    refuse("'" + name +
           "' is of stored integers, whose scales and sums are packed with it: convert the changed model.");
  if (reader.input(1).type() == dtype::float16)
    refuse("'" + name + "' is float16 in this file (--weights fp16): replace it in one with float32 weights.");
  const packed_constant c = describe(reader);
  auto* packed = reinterpret_cast<float*>(at);
  if (biases) {
    expect(name, values, element::f32, {c.groups * c.outputs});
    for_each_bias(c, packed, [&](std::int64_t n, float& x) { x = values.as<float>()[n]; });
    return;
  }
  expect(name, values, element::f32, c.shape);
  std::vector<double> bias(static_cast<std::size_t>(c.groups * c.outputs));
  for_each_bias(c, packed,
                [&](std::int64_t n, float& x) { bias[static_cast<std::size_t>(n)] = static_cast<double>(x); });
  const std::vector<float> fresh = pack(c, values, bias);
  std::memcpy(at, fresh.data(), fresh.size() * sizeof(float));
}

void replace_plain(std::byte* first, const tensor_info& t, const std::string& name, const array& values) {
  const shape_t shape(t.shape().begin(), t.shape().end());
  expect(name, values, element_of(t.type()), shape);
  const std::size_t size = static_cast<std::size_t>(size_of(t.type()));
  for (std::int64_t i = 0; i < values.count(); ++i) {
    std::int64_t rest = i, offset = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += rest % shape[d] * t.strides()[d];
      rest /= shape[d];
    }
    std::memcpy(first + offset * static_cast<std::int64_t>(size),
                values.data.data() + static_cast<std::size_t>(i) * size, size);
  }
}

}

std::size_t own_buffer(model_parts& parts, int variant, int t) {
  table_json& v = parts.table["variants"][static_cast<std::size_t>(variant)];
  table_json& tensor = v["tensors"][static_cast<std::size_t>(t)];
  const std::size_t old = tensor.count("buffer") != 0 ? tensor["buffer"].get<std::size_t>() : 0;
  table_json buffer = v["buffers"][old];
  const std::size_t from = buffer.count("offset") != 0 ? buffer["offset"].get<std::size_t>() : 0;
  const std::size_t bytes = buffer["bytes"].get<std::size_t>(), to = (parts.weights.size() + 63) / 64 * 64;
  parts.weights.resize(to + (bytes + 63) / 64 * 64 + over_read);
  std::memcpy(parts.weights.data() + to, parts.weights.data() + from, bytes);
  buffer["offset"] = to;
  tensor["buffer"] = v["buffers"].size();
  v["buffers"].push_back(buffer);
  return to;
}

void replace_constant(model_parts& parts, const model& m, const std::string& name, const array& values) {
  int found = 0;
  std::vector<std::string> known;
  for (int i = 0; i < m.variant_count(); ++i) {
    const variant_view v = m.variant(i);
    for (int t = 0; t < v.tensor_count(); ++t) {
      const tensor_info info = v.tensor(t);
      if (info.where() != storage::constant) continue;
      const std::string own = info.name();
      known.push_back(own);
      const bool packed = info.arrangement() != packing::plain;
      if (own != name && !(packed && own + bias_suffix == name)) continue;
      const std::size_t offset =
          is_shared(m, info) ? own_buffer(parts, i, t) : static_cast<std::size_t>(info.buffer_offset());
      std::byte* const buffer = parts.weights.data() + offset;
      if (packed)
        replace_packed(buffer + info.offset(), reader_of(v, t), name, values, own != name);
      else
        replace_plain(buffer + info.offset(), info, name, values);
      ++found;
    }
  }
  for (table_json& variant : parts.table["variants"]) variant.erase("checks");  // recorded with other constants
  if (found == 0)
    refuse("there is no constant named '" + name + "'; nsk json lists them among the tensors." +
           did_you_mean(name, known));
}

}
