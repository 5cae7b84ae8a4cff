// SPDX-License-Identifier: MIT
#pragma once
/// Makes .nsk files by hand: a plan as plain vectors that a test can change, and the bytes that they give.
#include <cstring>
#include <string>
#include <vector>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/file_header.hpp>
#include <netsuke/format/tiles.hpp>
#include "../../tools/nsk/write/generated/netsuke_builders.hpp"

namespace test {
namespace format = nsk::format;

/// Bytes that begin at a multiple of 64.
class aligned_bytes {
 public:
  explicit aligned_bytes(std::size_t size = 0, std::byte value = {}) : m_memory(size + 64, value), m_size(size) {}
  aligned_bytes(const aligned_bytes& other) : aligned_bytes(other.m_size) { copy(other); }
  aligned_bytes& operator=(const aligned_bytes& other) {
    m_memory.assign(other.m_size + 64, std::byte{});
    m_size = other.m_size;
    copy(other);
    return *this;
  }
  std::byte* data() { return m_memory.data() + (64 - reinterpret_cast<std::uintptr_t>(m_memory.data()) % 64) % 64; }
  const std::byte* data() const { return const_cast<aligned_bytes*>(this)->data(); }
  std::size_t size() const { return m_size; }
  nsk::span<std::byte> span() { return {data(), m_size}; }

 private:
  void copy(const aligned_bytes& other) {
    if (m_size != 0) std::memcpy(data(), other.data(), m_size);
  }
  std::vector<std::byte> m_memory;
  std::size_t m_size;
};

struct buffer_spec {
  format::Storage storage = format::Storage::arena;
  std::uint32_t index = 0;
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t first_step = 0, last_step = 0;
};

struct tensor_spec {
  std::string name;
  format::DataType type = format::DataType::float32;
  std::vector<std::int32_t> shape;
  std::vector<std::int64_t> strides;
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;
  nsk::halo border{};
  float fill = 0;
  format::Packing packing = format::Packing::plain;
  std::uint32_t batch = 0;
  std::vector<format::Term> terms = {};
};

/// A length that a run chooses, or, with `divide`, one that follows from another.
struct length_spec {
  std::string name;
  std::uint32_t minimum = 1, bound = 1, step = 1, of = 0, times = 1;
  std::int32_t plus = 0;
  std::uint32_t divide = 0, also = 0, counted = 0;
};

struct epilogue_spec {
  format::Function function = format::Function::identity;
  float alpha = 0, beta = 0;
  bool activation_first = false;
  std::int32_t residual = -1, slope = -1;
};

/// Parameters of a Recurrent step.
struct recurrent_spec {
  format::RecurrentKind kind = format::RecurrentKind::lstm;
  std::uint8_t reverse = 0;
  bool peephole = false, lengths = false, input_forget = false, linear_before_reset = false;
  float clip = 0, cell_clip = 0;
  std::vector<std::uint8_t> functions;
  std::vector<float> parameters;
};

struct step_spec {
  std::string name;
  format::Operator op = format::Operator::NONE;
  std::vector<std::uint32_t> inputs, outputs;
  format::Window window{1, 1, 1, 1, 1, 1, 0, 0};
  bool has_window = true, has_op = true;
  epilogue_spec epilogue{};
  std::uint32_t groups = 1;
  format::ConvAlgorithm algorithm = format::ConvAlgorithm::direct;
  format::PoolKind pool = format::PoolKind::max;
  bool count_include_pad = false;
  std::uint16_t pad_bottom = 0, pad_right = 0;
  format::BinaryKind binary = format::BinaryKind::add;
  float value = 0;
  std::uint16_t row_taps = 1, column_taps = 1;
  format::ReduceKind reduce = format::ReduceKind::mean;
  std::uint8_t axis = 0;
  bool log = false, shared_right = false;
  format::CompareKind compare = format::CompareKind::equal;
  format::ArithmeticKind arithmetic = format::ArithmeticKind::add;
  format::ScatterKind scatter = format::ScatterKind::replace;
  format::ArgReduceKind arg_reduce = format::ArgReduceKind::max;
  bool last = false, smallest = false, center_point_box = false, centre = true;
  std::uint32_t most_per_class = 0, size = 1;
  float iou_threshold = 0, score_threshold = 0, epsilon = 0, alpha = 0, beta = 0, bias = 0;
  recurrent_spec recurrent{};
  format::RandomKind random = format::RandomKind::uniform;
  std::uint32_t stream = 0;
  format::MatrixKind matrix = format::MatrixKind::determinant;
  float scale = 1;
  std::int16_t zero = 0, low = 0, high = 255;
  std::uint8_t input_zero = 0;
  bool whole_rows = false, real = false;
  float residual_scale = 0;
  std::int16_t weight_offset = 0;
  std::int32_t multiplier = 0, fixed_point_bias = 0;
  std::uint8_t shift = 0;
  format::TreeAggregate aggregate = format::TreeAggregate::sum;
  nsk::tile_size tile{};
  std::int64_t tile_count = -1;  ///< -1: what the tile gives
  std::uint64_t macs = 0, scratch_bytes = 0;
};

struct port_spec {
  std::string name;
  std::uint32_t tensor = 0;
  std::vector<std::int64_t> source_shape;
  std::vector<std::uint8_t> source_axes;
  std::vector<float> mean, deviation;
};

struct state_spec {
  std::string name;
  std::uint32_t tensor = 0, next = 0;
  std::int32_t initial = -1;
};

struct check_spec {
  std::vector<std::vector<std::uint8_t>> inputs, outputs;
  float tolerance = 0;
};

/// One variant and the weights section.
struct plan_spec {
  std::vector<buffer_spec> buffers;
  std::vector<tensor_spec> tensors;
  std::vector<step_spec> steps;
  std::vector<port_spec> inputs, outputs;
  std::vector<state_spec> states;
  std::vector<check_spec> checks;
  std::uint64_t arena_bytes = 64, lane_bytes = 0;
  std::vector<std::byte> weights;
  int variants = 1;  ///< the same plan several times
  std::uint32_t batch = 0;
  std::vector<length_spec> lengths = {};

  std::uint32_t add_buffer(format::Storage storage, std::uint64_t bytes, std::uint32_t first, std::uint32_t last,
                           std::uint32_t index = 0) {
    const std::uint64_t offset = arena_bytes - 64;
    buffers.push_back({storage, index, offset, bytes, first, last});
    arena_bytes += (bytes + 63) / 64 * 64;
    return static_cast<std::uint32_t>(buffers.size() - 1);
  }
  /// A dense tensor at the start of a buffer.
  std::uint32_t add_tensor(const std::string& name, std::vector<std::int32_t> shape, std::uint32_t buffer,
                           format::DataType type = format::DataType::float32) {
    tensor_spec t;
    t.name = name;
    t.type = type;
    t.strides.resize(shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      t.strides[d] = stride;
      stride *= shape[d];
    }
    t.shape = std::move(shape);
    t.buffer = buffer;
    tensors.push_back(t);
    return static_cast<std::uint32_t>(tensors.size() - 1);
  }
  /// A tensor with a border in a buffer of its own.
  std::uint32_t add_bordered(const std::string& name, std::vector<std::int32_t> s, nsk::halo h, std::uint32_t first,
                             std::uint32_t last) {
    const std::int64_t c = s[3], row = c * (s[2] + h.left + h.right), image = row * (s[1] + h.top + h.bottom);
    const std::uint32_t buffer =
        add_buffer(format::Storage::arena, static_cast<std::uint64_t>(image * s[0] * 4), first, last);
    const std::uint32_t index = add_tensor(name, std::move(s), buffer);
    tensors[index].strides = {image, row, c, 1};
    tensors[index].border = h;
    tensors[index].offset = static_cast<std::uint64_t>((h.top * row + h.left * c) * 4);
    return index;
  }
  std::uint32_t add_dense(const std::string& name, std::vector<std::int32_t> shape, std::uint32_t first,
                          std::uint32_t last, format::DataType type = format::DataType::float32) {
    const std::uint32_t buffer = add_buffer(format::Storage::arena, bytes_of(shape, type), first, last);
    return add_tensor(name, std::move(shape), buffer, type);
  }
  template <class T>
  std::uint32_t add_constant(const std::string& name, const std::vector<T>& values,
                             format::DataType type = format::DataType::float32) {
    const std::size_t offset = weights.size(), bytes = values.size() * sizeof(T);
    weights.resize((offset + bytes + 63) / 64 * 64);
    std::memcpy(weights.data() + offset, values.data(), bytes);
    buffers.push_back({format::Storage::constant, 0, offset, bytes, 0, 0});
    return add_tensor(name, {static_cast<std::int32_t>(values.size())}, static_cast<std::uint32_t>(buffers.size() - 1),
                      type);
  }
  /// Packs matrix[k][n] and bias[n] in panels.
  std::uint32_t add_panels(const std::string& name, const std::vector<float>& matrix, const std::vector<float>& bias) {
    const auto n = static_cast<std::int64_t>(bias.size()), depth = static_cast<std::int64_t>(matrix.size()) / n;
    std::vector<float> packed;
    for (std::int64_t p = 0; p < nsk::panel_count(n); ++p) {
      const std::int64_t width = nsk::width_of_panel(n, p), first = p * nsk::panel_width;
      const auto at = [&](const std::vector<float>& v, std::int64_t row, std::int64_t c) {
        return first + c < n ? v[static_cast<std::size_t>(row * n + first + c)] : 0.0f;
      };
      for (std::int64_t c = 0; c < width; ++c) packed.push_back(at(bias, 0, c));
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t c = 0; c < width; ++c) packed.push_back(at(matrix, k, c));
    }
    const std::uint32_t index = add_constant(name, packed);
    tensors[index].packing = format::Packing::panels;
    return index;
  }
  std::uint32_t add_input(const std::string& name, std::vector<std::int32_t> shape, std::uint32_t last,
                          format::DataType type = format::DataType::float32) {
    const auto number = static_cast<std::uint32_t>(inputs.size());
    const std::uint32_t t = add_port(name, std::move(shape), format::Storage::input, number, 0, last, type);
    inputs.push_back({name, t, {}, {}, {}, {}});
    return t;
  }
  std::uint32_t add_output(const std::string& name, std::vector<std::int32_t> shape, std::uint32_t first,
                           std::uint32_t last, format::DataType type = format::DataType::float32) {
    const auto number = static_cast<std::uint32_t>(outputs.size());
    const std::uint32_t t = add_port(name, std::move(shape), format::Storage::output, number, first, last, type);
    outputs.push_back({name, t, {}, {}, {}, {}});
    return t;
  }
  std::uint32_t add_state(const std::string& name, std::vector<std::int32_t> shape, std::uint32_t steps_in_plan) {
    const auto number = static_cast<std::uint32_t>(states.size());
    const std::uint32_t t = add_port(name, std::move(shape), format::Storage::state, number, 0, steps_in_plan);
    states.push_back({name, t, t, -1});
    return t;
  }
  step_spec& add_step(format::Operator op, std::vector<std::uint32_t> in, std::uint32_t out,
                      const std::string& name = "step") {
    step_spec s;
    s.name = name;
    s.op = op;
    s.inputs = std::move(in);
    s.outputs = {out};
    steps.push_back(s);
    return steps.back();
  }
  /// The file.
  aligned_bytes write() const;

 private:
  std::uint32_t add_port(const std::string& name, std::vector<std::int32_t> shape, format::Storage storage,
                         std::uint32_t number, std::uint32_t first, std::uint32_t last,
                         format::DataType type = format::DataType::float32) {
    const std::uint32_t buffer = add_buffer(storage, bytes_of(shape, type), first, last, number);
    return add_tensor(name, std::move(shape), buffer, type);
  }
  static std::uint64_t bytes_of(const std::vector<std::int32_t>& shape, format::DataType type) {
    auto bytes = static_cast<std::uint64_t>(nsk::size_of(static_cast<nsk::dtype>(type)));
    for (const std::int32_t n : shape) bytes *= static_cast<std::uint64_t>(n);
    return bytes;
  }
};

inline std::uint8_t byte(std::int16_t number) { return static_cast<std::uint8_t>(number); }

inline flatbuffers::Offset<void> write_op(flatbuffers::FlatBufferBuilder& b, const step_spec& s) {
  using namespace nsk::format;
  const epilogue_spec& e = s.epilogue;
  const auto epilogue = CreateEpilogue(b, e.function, e.alpha, e.beta, e.activation_first, e.residual, e.slope);
  const Window* window = s.has_window ? &s.window : nullptr;
  switch (s.op) {
    case Operator::Conv2D: return CreateConv2D(b, window, s.groups, s.algorithm, epilogue).Union();
    case Operator::DepthwiseConv2D: return CreateDepthwiseConv2D(b, window, epilogue).Union();
    case Operator::FullyConnected: return CreateFullyConnected(b, epilogue).Union();
    case Operator::PackPanels: return CreatePackPanels(b).Union();
    case Operator::MatMul: return CreateMatMul(b, epilogue, s.shared_right).Union();
    case Operator::Pool2D:
      return CreatePool2D(b, s.pool, window, s.count_include_pad, s.pad_bottom, s.pad_right).Union();
    case Operator::Unary: return CreateUnary(b, epilogue).Union();
    case Operator::Binary: return CreateBinary(b, s.binary, epilogue).Union();
    case Operator::Copy: return CreateCopy(b).Union();
    case Operator::Fill: return CreateFill(b, s.value).Union();
    case Operator::Resize2D: return CreateResize2D(b, s.row_taps, s.column_taps).Union();
    case Operator::Reduce: return CreateReduce(b, s.reduce, epilogue).Union();
    case Operator::Softmax: return CreateSoftmax(b, s.axis, s.log).Union();
    case Operator::Cast: return CreateCast(b).Union();
    case Operator::Compare: return CreateCompare(b, s.compare).Union();
    case Operator::Select: return CreateSelect(b).Union();
    case Operator::Arithmetic: return CreateArithmetic(b, s.arithmetic).Union();
    case Operator::Gather: return CreateGather(b, s.axis).Union();
    case Operator::GatherElements: return CreateGatherElements(b, s.axis).Union();
    case Operator::ArgReduce: return CreateArgReduce(b, s.axis, s.arg_reduce, s.last).Union();
    case Operator::TopK: return CreateTopK(b, s.axis, s.smallest).Union();
    case Operator::NonMaxSuppression:
      return CreateNonMaxSuppression(b, s.most_per_class, s.iou_threshold, s.score_threshold, s.center_point_box)
          .Union();
    case Operator::LayerNormalization: return CreateLayerNormalization(b, s.epsilon, s.centre).Union();
    case Operator::LocalResponseNormalization:
      return CreateLocalResponseNormalization(b, s.size, s.alpha, s.beta, s.bias).Union();
    case Operator::Recurrent: {
      const recurrent_spec& r = s.recurrent;
      return CreateRecurrentDirect(b, r.kind, r.reverse, r.peephole, r.lengths, r.input_forget, r.linear_before_reset,
                                   r.clip, &r.functions, &r.parameters, r.cell_clip)
          .Union();
    }
    case Operator::Random: return CreateRandom(b, s.random, 1, 0, s.stream).Union();
    case Operator::Scatter: return CreateScatter(b, s.axis, s.scatter).Union();
    case Operator::TreeEnsemble: return CreateTreeEnsemble(b, s.aggregate).Union();
    case Operator::MatrixFunction: return CreateMatrixFunction(b, s.matrix).Union();
    case Operator::IntegerMatMul: return CreateIntegerMatMul(b).Union();
    case Operator::SampleImage: return CreateSampleImage(b).Union();
    case Operator::Quantize: return CreateQuantize(b, s.scale, s.zero, s.low, s.high).Union();
    case Operator::Dequantize: return CreateDequantize(b, s.scale, s.zero).Union();
    case Operator::ByteTable: return CreateByteTable(b).Union();
    case Operator::QuantizedConv2D:
      return CreateQuantizedConv2D(b, window, s.groups, s.whole_rows, s.input_zero, byte(s.zero), byte(s.low),
                                   byte(s.high), s.residual_scale, 7, s.weight_offset)
          .Union();
    case Operator::QuantizedDepthwiseConv2D:
      return CreateQuantizedDepthwiseConv2D(b, window, s.input_zero, byte(s.zero), byte(s.low), byte(s.high),
                                            s.weight_offset)
          .Union();
    case Operator::QuantizedBinary:
      return CreateQuantizedBinary(b, s.binary, s.alpha, s.beta, s.scale, s.input_zero, 0, byte(s.zero), byte(s.low),
                                   byte(s.high), s.multiplier, s.multiplier, s.fixed_point_bias, s.shift)
          .Union();
    case Operator::DynamicRange: return CreateDynamicRange(b).Union();
    case Operator::DynamicQuantize: return CreateDynamicQuantize(b).Union();
    case Operator::IntegerConv2D:
      return CreateIntegerConv2D(b, window, s.groups, s.whole_rows, s.real, epilogue).Union();
    case Operator::QuantizedMean:
      return CreateQuantizedMean(b, s.scale, s.input_zero, byte(s.zero), byte(s.low), byte(s.high)).Union();
    default: return 0;
  }
}

inline flatbuffers::Offset<format::Step> write_step(flatbuffers::FlatBufferBuilder& b, const plan_spec& p,
                                                    const step_spec& s) {
  std::int64_t count = s.tile_count;
  if (count < 0) {
    count = 1;
    if (s.outputs.size() == 1 && s.outputs[0] < p.tensors.size()) {
      const auto& shape = p.tensors[s.outputs[0]].shape;
      count = nsk::tile_grid_of(nsk::tile_space_of(shape.data(), static_cast<int>(shape.size())), s.tile).count();
    }
  }
  const format::Tile tile(s.tile.rows, s.tile.pixels, s.tile.channels, static_cast<std::uint32_t>(count));
  const auto op = s.has_op ? write_op(b, s) : flatbuffers::Offset<void>(0);
  const auto name = b.CreateString(s.name);
  const auto inputs = b.CreateVector(s.inputs), outputs = b.CreateVector(s.outputs);
  return format::CreateStep(b, name, s.op, op, inputs, outputs, &tile, s.macs, s.scratch_bytes);
}

inline flatbuffers::Offset<format::Port> write_port(flatbuffers::FlatBufferBuilder& b, const port_spec& p) {
  return format::CreatePortDirect(b, p.name.c_str(), p.tensor, &p.source_shape, &p.source_axes, &p.mean, &p.deviation,
                                  "rgb");
}

inline flatbuffers::Offset<format::CheckVector> write_check(flatbuffers::FlatBufferBuilder& b, const check_spec& c) {
  std::vector<flatbuffers::Offset<format::Block>> blocks[2];
  for (const auto& data : c.inputs) blocks[0].push_back(format::CreateBlockDirect(b, &data));
  for (const auto& data : c.outputs) blocks[1].push_back(format::CreateBlockDirect(b, &data));
  return format::CreateCheckVectorDirect(b, &blocks[0], &blocks[1], c.tolerance);
}

inline flatbuffers::Offset<format::Variant> write_variant(flatbuffers::FlatBufferBuilder& b, const plan_spec& p) {
  using namespace nsk::format;
  std::vector<flatbuffers::Offset<Buffer>> buffers;
  std::vector<flatbuffers::Offset<Tensor>> tensors;
  std::vector<flatbuffers::Offset<Step>> steps;
  std::vector<flatbuffers::Offset<Port>> inputs, outputs;
  std::vector<flatbuffers::Offset<State>> states;
  std::vector<flatbuffers::Offset<CheckVector>> checks;
  for (const buffer_spec& s : p.buffers)
    buffers.push_back(CreateBuffer(b, s.storage, s.index, s.offset, s.bytes, s.first_step, s.last_step));
  for (const tensor_spec& t : p.tensors) {
    const Halo halo(t.border.top, t.border.left, t.border.bottom, t.border.right);
    tensors.push_back(CreateTensorDirect(b, t.name.c_str(), t.type, &t.shape, &t.strides, t.buffer, t.offset, &halo,
                                         t.fill, t.packing, 0, t.batch, t.terms.empty() ? nullptr : &t.terms));
  }
  std::vector<flatbuffers::Offset<Length>> lengths;
  for (const length_spec& l : p.lengths)
    lengths.push_back(CreateLengthDirect(b, l.name.c_str(), l.minimum, l.bound, l.step, l.of, l.times, l.plus, l.divide,
                                         l.also, l.counted));
  for (const step_spec& s : p.steps) steps.push_back(write_step(b, p, s));
  for (const port_spec& i : p.inputs) inputs.push_back(write_port(b, i));
  for (const port_spec& o : p.outputs) outputs.push_back(write_port(b, o));
  for (const state_spec& s : p.states)
    states.push_back(CreateStateDirect(b, s.name.c_str(), s.tensor, s.next, s.initial));
  for (const check_spec& c : p.checks) checks.push_back(write_check(b, c));
  return CreateVariantDirect(b, "only", "any", &buffers, &tensors, &steps, &inputs, &outputs, &states, p.arena_bytes,
                             p.lane_bytes, &checks, p.batch, lengths.empty() ? nullptr : &lengths);
}

/// Puts a header before a table and weights; the weights get their pad.
inline aligned_bytes assemble(const std::uint8_t* table, std::size_t table_bytes,
                              const std::vector<std::byte>& weights) {
  nsk::file_header h{};
  std::memcpy(h.magic, nsk::file_magic, sizeof h.magic);
  h.format_version = NSK_FORMAT_VERSION;
  h.table_offset = sizeof h;
  h.table_bytes = table_bytes;
  h.weights_offset = (h.table_offset + table_bytes + 63) / 64 * 64;
  h.weights_bytes = weights.size() + nsk::over_read;
  h.file_bytes = h.weights_offset + h.weights_bytes;
  aligned_bytes file(h.file_bytes);
  std::memcpy(file.data() + h.table_offset, table, table_bytes);
  if (!weights.empty()) std::memcpy(file.data() + h.weights_offset, weights.data(), weights.size());
  h.content_hash = nsk::content_hash({file.data() + sizeof h, file.size() - sizeof h});
  std::memcpy(file.data(), &h, sizeof h);
  return file;
}

inline aligned_bytes plan_spec::write() const {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<format::Variant>> variant_offsets;
  for (int i = 0; i < variants; ++i) variant_offsets.push_back(write_variant(b, *this));
  std::vector<flatbuffers::Offset<format::KeyValue>> metadata{format::CreateKeyValueDirect(b, "license", "MIT")};
  b.Finish(format::CreateModelDirect(b, "plan_builder", "sample", 42, &variant_offsets, &metadata));
  return assemble(b.GetBufferPointer(), b.GetSize(), weights);
}

}
