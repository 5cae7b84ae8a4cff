// SPDX-License-Identifier: MIT
#include "write/file.hpp"
#include <cstdlib>
#include <cstring>
#include <netsuke/format/file_header.hpp>
#include <netsuke/format/impl/read_params.hpp>
#include <netsuke/format/length.hpp>
#include <netsuke/format/limits.hpp>
#include <netsuke/format/packing.hpp>
#include "write/params.hpp"
#include "write/table_json.hpp"
#include "errors.hpp"

namespace nsk::tool {
namespace {

namespace fb = flatbuffers;

using builder = fb::FlatBufferBuilder;

fb::Offset<format::Step> write_step(builder& b, const plan_step& s) {
  const auto unsigned_of = [](const std::vector<int>& v) { return std::vector<std::uint32_t>(v.begin(), v.end()); };
  const auto parameters = write_params(b, s);
  const auto name = b.CreateString(s.name);
  const auto inputs = b.CreateVector(unsigned_of(s.inputs)), outputs = b.CreateVector(unsigned_of(s.outputs));
  const format::Tile tile(s.tile.rows, s.tile.pixels, s.tile.channels, s.tile.count);
  return format::CreateStep(b, name, static_cast<format::Operator>(s.kind()), parameters, inputs, outputs, &tile,
                            static_cast<std::uint64_t>(s.macs), static_cast<std::uint64_t>(s.scratch_bytes));
}

/// Refuses what nsk::open would: tensors so large that the arithmetic of their indices comes near to overflow.
void require_size(const plan_tensor& t) {
  constexpr std::int64_t widest_border = 2 * 65535, maximum = impl::max_elements;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    const std::int64_t length = t.shape[d];
    if (length >= 1 && elements <= maximum / length &&
        std::abs(t.strides[d]) <= impl::max_extent / (length + widest_border)) {
      elements *= length;
      continue;
    }
    refuse("'" + t.name + "' of shape " + to_string(shape_t(t.shape.begin(), t.shape.end())) +
           " is larger than a tensor of the engine can be. Export the model for smaller inputs");
  }
}

/// The terms of a tensor; those of its offset in bytes.
std::vector<format::Term> terms_of(const plan_tensor& t) {
  const auto byte = [](int n) { return static_cast<std::uint8_t>(n); };
  std::vector<format::Term> terms;
  for (const plan_term& x : t.terms)
    terms.emplace_back(x.number == impl::offset_number ? x.coefficient * size_of(t.type) : x.coefficient,
                       byte(x.number), byte(x.a), byte(x.b), byte(x.c));
  return terms;
}

fb::Offset<format::Tensor> write_tensor(builder& b, const plan& p, const plan_tensor& t) {
  require_size(t);
  const auto name = b.CreateString(t.name);
  const auto shape = b.CreateVector(t.shape);
  const auto strides = b.CreateVector(t.strides);
  const format::Halo halo(t.border.top, t.border.left, t.border.bottom, t.border.right);
  const bool has_halo = (t.border.top | t.border.left | t.border.bottom | t.border.right) != 0;
  const auto buffer = static_cast<std::uint32_t>(p.storages[static_cast<std::size_t>(t.storage)].buffer);
  const auto terms = t.terms.empty() ? 0 : b.CreateVectorOfStructs(terms_of(t));
  return format::CreateTensor(b, name, static_cast<format::DataType>(t.type), shape, strides, buffer,
                              static_cast<std::uint64_t>(t.offset) * static_cast<std::uint64_t>(size_of(t.type)),
                              has_halo ? &halo : nullptr, 0.0f, static_cast<format::Packing>(t.arrangement), 0,
                              static_cast<std::uint32_t>(t.batch), terms);
}

fb::Offset<format::Port> write_port(builder& b, const plan_port& port) {
  const auto name = b.CreateString(port.name);
  const auto shape = b.CreateVector(port.source_shape);
  const auto axes = b.CreateVector(std::vector<std::uint8_t>(port.source_axes.begin(), port.source_axes.end()));
  const port_facts& f = port.facts;
  const auto mean = f.mean.empty() ? 0 : b.CreateVector(f.mean);
  const auto deviation = f.deviation.empty() ? 0 : b.CreateVector(f.deviation);
  const auto color = f.color.empty() ? 0 : b.CreateString(f.color);
  const auto labels = f.labels.empty() ? 0 : b.CreateVectorOfStrings(f.labels);
  return format::CreatePort(b, name, static_cast<std::uint32_t>(port.tensor), shape, axes, mean, deviation, color,
                            labels);
}

/// What a variant looks like from outside: names, types and shapes of its ports and states.
std::string interface_of(const format::Variant& v) {
  std::string text;
  const auto add = [&](const auto* ports, char end) {
    if (ports == nullptr || v.tensors() == nullptr) return;
    for (const auto* port : *ports) {
      if (port->tensor() >= v.tensors()->size()) continue;  // nsk::open refuses it
      const format::Tensor* t = v.tensors()->Get(port->tensor());
      text += (port->name() != nullptr ? port->name()->str() : "") + '\0' + std::to_string(static_cast<int>(t->type()));
      if (t->shape() == nullptr) continue;
      for (std::int32_t d : *t->shape()) text += ',' + std::to_string(d);
      text += end;
    }
  };
  add(v.inputs(), '<');
  add(v.outputs(), '>');
  add(v.states(), '=');
  return text;
}

/// Hash of all variants' interfaces: models of one signature can replace each other while a game runs.
std::uint64_t signature_of(const format::Model& m) {
  std::string text;
  if (m.variants() == nullptr) return 0;
  for (const format::Variant* v : *m.variants())
    text += (m.variants()->size() > 1 && v->name() != nullptr ? v->name()->str() + '|' : "") + interface_of(*v);
  return content_hash({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

/// The parameters of a step of operator O; null where it is another one.
template <op O>
const auto* parameters_of(const format::Step* s) {
  return static_cast<op>(s->op_type()) == O ? impl::table_of<O>(s) : nullptr;
}

/// What a reader of the table must know: bits of `feature`. The table may be anything; nsk::open looks at it later.
std::uint32_t features_of(const format::Model& m) {
  std::uint32_t bits = 0;
  if (m.variants() == nullptr) return bits;
  for (const format::Variant* v : *m.variants()) {
    if (v->batch() != 0) bits |= feature_batch;
    if (v->lengths() != nullptr && v->lengths()->size() != 0) bits |= feature_lengths;
    for (std::uint32_t i = 0; v->lengths() != nullptr && i < v->lengths()->size(); ++i) {
      if (v->lengths()->Get(i)->also() != 0 || v->lengths()->Get(i)->minimum() == 0) bits |= feature_length_sums;
      if (v->lengths()->Get(i)->counted() != 0) bits |= feature_length_counts;
    }
    if (v->tensors() != nullptr) {
      for (const format::Tensor* t : *v->tensors()) {
        const bool panels = t->packing() == format::Packing::panels;
        if (panels && t->type() == format::DataType::float16) bits |= feature_half_weights;
        if (panels && t->type() == format::DataType::int8) bits |= feature_int8_weights;
      }
    }
    if (v->steps() == nullptr) continue;
    for (const format::Step* s : *v->steps()) {
      const auto* recurrent = parameters_of<op::recurrent>(s);
      if (recurrent != nullptr && recurrent->cell_clip() != 0) bits |= feature_cell_clip;
      const auto* convolution = parameters_of<op::quantized_conv_2d>(s);
      const auto* depthwise = parameters_of<op::quantized_depthwise_conv_2d>(s);
      if ((convolution != nullptr && convolution->weight_offset() != 0) ||
          (depthwise != nullptr && depthwise->weight_offset() != 0))
        bits |= feature_weight_offset;
    }
  }
  return bits;
}

template <class T, class Write>
auto write_all(builder& b, const std::vector<T>& items, Write write) {
  std::vector<decltype(write(items[0]))> offsets;
  for (const T& item : items) offsets.push_back(write(item));
  return b.CreateVector(offsets);
}

/// A list that is absent where it is empty, which means the same.
template <class T, class Write>
auto write_some(builder& b, const std::vector<T>& items, Write write) -> decltype(write_all(b, items, write)) {
  if (items.empty()) return 0;
  return write_all(b, items, write);
}

fb::Offset<format::Variant> write_variant(builder& b, const named_plan& v) {
  const plan& p = v.layout;
  const auto buffers = write_all(b, p.buffers, [&](const plan_buffer& x) {
    return format::CreateBuffer(b, static_cast<format::Storage>(x.kind), static_cast<std::uint32_t>(x.index),
                                static_cast<std::uint64_t>(x.offset), static_cast<std::uint64_t>(x.bytes),
                                static_cast<std::uint32_t>(x.first_step), static_cast<std::uint32_t>(x.last_step));
  });
  const auto tensors = write_all(b, p.tensors, [&](const plan_tensor& t) { return write_tensor(b, p, t); });
  const auto steps = write_all(b, p.steps, [&](const plan_step& s) { return write_step(b, s); });
  const auto inputs = write_all(b, p.inputs, [&](const plan_port& x) { return write_port(b, x); });
  const auto outputs = write_all(b, p.outputs, [&](const plan_port& x) { return write_port(b, x); });
  const auto states = write_some(b, p.states, [&](const plan_state& s) {
    const auto state_name = b.CreateString(s.name);
    return format::CreateState(b, state_name, static_cast<std::uint32_t>(s.tensor), static_cast<std::uint32_t>(s.next),
                               s.initial);
  });
  const auto lengths = write_some(b, p.lengths, [&](const plan_length& l) {
    const auto u32 = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
    const auto length_name = l.name.empty() ? 0 : b.CreateString(l.name);
    return format::CreateLength(b, length_name, u32(l.minimum), u32(l.bound), u32(l.step), u32(l.of), u32(l.times),
                                static_cast<std::int32_t>(l.plus), u32(l.divide), u32(l.also + 1), u32(l.counted + 1));
  });
  const auto name = b.CreateString(v.name), profile = p.gpu ? b.CreateString(gpu_profile) : 0;
  return format::CreateVariant(b, name, profile, buffers, tensors, steps, inputs, outputs, states,
                               static_cast<std::uint64_t>(p.arena_bytes + 63) / 64 * 64,
                               static_cast<std::uint64_t>(p.lane_bytes), 0, static_cast<std::uint32_t>(p.batch),
                               lengths);
}

}

std::vector<std::byte> assemble_file(std::vector<std::uint8_t> table, const std::vector<std::byte>& weights) {
  auto* model = fb::GetMutableRoot<fb::Table>(table.data());
  const std::uint64_t signature = signature_of(*fb::GetRoot<format::Model>(table.data()));
  if (!model->SetField<std::uint64_t>(format::Model::VT_SIGNATURE, signature, 0))
    refuse("the table has no field 'signature'; give it any number.");
  const auto aligned = [](std::uint64_t v) { return (v + file_alignment - 1) / file_alignment * file_alignment; };
  file_header h{};
  std::memcpy(h.magic, file_magic, sizeof h.magic);
  h.format_version = NSK_FORMAT_VERSION;
  h.features = features_of(*fb::GetRoot<format::Model>(table.data()));
  h.table_offset = sizeof h;
  h.table_bytes = table.size();
  h.weights_offset = aligned(h.table_offset + h.table_bytes);
  h.weights_bytes = weights.size();
  h.file_bytes = h.weights_offset + h.weights_bytes;
  std::vector<std::byte> file(static_cast<std::size_t>(h.file_bytes));
  std::memcpy(file.data() + h.table_offset, table.data(), table.size());
  if (!weights.empty()) std::memcpy(file.data() + h.weights_offset, weights.data(), weights.size());
  h.content_hash = content_hash({file.data() + sizeof h, file.size() - sizeof h});
  std::memcpy(file.data(), &h, sizeof h);
  return file;
}

std::vector<std::byte> write_model(const std::vector<named_plan>& plans, const std::vector<std::byte>& weights,
                                   const std::map<std::string, std::string>& metadata) {
  for (const named_plan& v : plans)
    if (v.layout.arena_bytes > impl::max_extent)
      refuse("the model needs " + std::to_string(v.layout.arena_bytes >> 30) +
             " GiB of memory to run. Export it for smaller inputs");
  builder b(1 << 16);
  const auto variants = write_all(b, plans, [&](const named_plan& v) { return write_variant(b, v); });
  std::vector<std::pair<std::string, std::string>> pairs(metadata.begin(), metadata.end());
  const auto keys = write_all(
      b, pairs, [&](const auto& kv) { return format::CreateKeyValueDirect(b, kv.first.c_str(), kv.second.c_str()); });
  const auto producer = b.CreateString("nsk " NSK_VERSION_STRING), name = b.CreateString(plans.front().layout.name);
  constexpr std::uint64_t signature_to_come = 1;
  b.Finish(format::CreateModel(b, producer, name, signature_to_come, variants, keys));
  return assemble_file(canonical_table(reinterpret_cast<const std::byte*>(b.GetBufferPointer())), weights);
}

}
