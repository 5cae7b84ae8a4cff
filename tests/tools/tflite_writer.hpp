// SPDX-License-Identifier: MIT
#pragma once
/// Writes TensorFlow Lite models of a few operators, for tests of the importer.
#include <cstring>
#include <string>
#include <vector>
#include "generated/tflite_builders.hpp"

namespace nsk::test {

namespace tfl = nsk::tool::tfl;

/// How a tensor is written; what is left alone is usual.
struct tflite_tensor_text {
  std::string name;
  std::vector<std::int32_t> shape;
  tfl::TensorType type = tfl::TensorType::FLOAT32;
  std::vector<std::uint8_t> data = {};  ///< of a constant
  std::vector<float> scale = {};
  std::vector<std::int64_t> zero = {};
  int axis = 0;
  bool variable = false;
  flatbuffers::Offset<tfl::SparsityParameters> sparsity = {};
  int buffer = -1;  ///< an index of its own, for invalid files
};

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class tflite_writer {
 public:
  flatbuffers::FlatBufferBuilder b;

  tflite_writer() { m_buffers.push_back(tfl::CreateBuffer(b)); }

  int tensor(const tflite_tensor_text& t) {
    std::uint32_t buffer = 0;
    if (!t.data.empty()) {
      buffer = static_cast<std::uint32_t>(m_buffers.size());
      m_buffers.push_back(tfl::CreateBufferDirect(b, &t.data));
    }
    flatbuffers::Offset<tfl::QuantizationParameters> quantization;
    if (!t.scale.empty())
      quantization =
          tfl::CreateQuantizationParametersDirect(b, &t.scale, t.zero.empty() ? nullptr : &t.zero, 0, t.axis);
    m_tensors.push_back(tfl::CreateTensorDirect(b, &t.shape, t.type,
                                                t.buffer >= 0 ? static_cast<std::uint32_t>(t.buffer) : buffer,
                                                t.name.c_str(), quantization, t.variable, t.sparsity));
    return static_cast<int>(m_tensors.size()) - 1;
  }
  int floats(const std::string& name, const std::vector<std::int32_t>& shape, const std::vector<float>& values = {}) {
    return tensor({name, shape, tfl::TensorType::FLOAT32, bytes_of(values)});
  }
  int integers(const std::string& name, const std::vector<std::int32_t>& shape,
               const std::vector<std::int32_t>& values) {
    return tensor({name, shape, tfl::TensorType::INT32, bytes_of(values)});
  }

  template <class Options = void>
  void node(tfl::BuiltinOperator op, const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
            tfl::BuiltinOptions type = tfl::BuiltinOptions::NONE, flatbuffers::Offset<Options> options = 0,
            const char* custom = nullptr, const std::vector<std::uint8_t>& custom_options = {}) {
    const auto narrow = static_cast<std::int8_t>(static_cast<int>(op) > 127 ? 127 : static_cast<int>(op));
    m_codes.push_back(tfl::CreateOperatorCodeDirect(b, narrow, custom, 1, op));
    m_operators.push_back(tfl::CreateOperatorDirect(b, static_cast<std::uint32_t>(m_codes.size()) - 1, &inputs,
                                                    &outputs, type, options.Union(),
                                                    custom_options.empty() ? nullptr : &custom_options));
  }

  /// Ends a subgraph; what follows belongs to the next one.
  void end_graph(const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs) {
    m_graphs.push_back(tfl::CreateSubGraphDirect(b, &m_tensors, &inputs, &outputs, &m_operators, "main"));
    m_tensors.clear();
    m_operators.clear();
  }

  void signature(const char* name, std::uint32_t subgraph) {
    m_signatures.push_back(tfl::CreateSignatureDefDirect(b, name, subgraph));
  }

  std::vector<std::byte> finish(const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
                                std::uint32_t version = 3) {
    end_graph(inputs, outputs);
    tfl::FinishModelBuffer(
        b, tfl::CreateModelDirect(b, version, &m_codes, &m_graphs, "test", &m_buffers, nullptr, &m_signatures));
    const auto* begin = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
    return {begin, begin + b.GetSize()};
  }

 private:
  std::vector<flatbuffers::Offset<tfl::SubGraph>> m_graphs;
  std::vector<flatbuffers::Offset<tfl::SignatureDef>> m_signatures;
  std::vector<flatbuffers::Offset<tfl::Tensor>> m_tensors;
  std::vector<flatbuffers::Offset<tfl::Buffer>> m_buffers;
  std::vector<flatbuffers::Offset<tfl::OperatorCode>> m_codes;
  std::vector<flatbuffers::Offset<tfl::Operator>> m_operators;
};

}
