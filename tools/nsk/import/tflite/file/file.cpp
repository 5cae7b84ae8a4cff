// SPDX-License-Identifier: MIT
#include "import/tflite/file/file.hpp"

#include <algorithm>
#include <unordered_set>

#include "errors.hpp"
#include "graph/names.hpp"
#include "import/tflite/file/read_options.hpp"
#include "import/tflite/file/signatures.hpp"
#include "io/looks_like.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_dimensions = 8;
constexpr std::size_t max_decoded_bytes = std::size_t{64} << 20;
constexpr flatbuffers::uoffset_t max_tables = 1 << 24;

/// Reads subgraphs of a verified table.
class reader {
 public:
  reader(const tfl::Model& m, const std::byte* bytes, std::size_t size, const std::string& name)
      : m_model(m), m_bytes(bytes), m_size(size), m_name(name) {}

  tflite_file run(const std::string& signature) {
    if (m_model.version() != 3)
      fail("it has version " + std::to_string(m_model.version()) + " of the format; only 3 is known");
    if (m_model.subgraphs() == nullptr || m_model.subgraphs()->size() == 0) fail("it holds no subgraph");
    m_file.size = m_size;
    m_file.model = &m_model;
    m_budget += 16 * m_size;
    m_file.producer = text(m_model.description());
    m_file.signature = signature;
    m_file.first = tflite::subgraph_of_signature(m_model, signature, m_name);
    std::vector<int> waiting = {m_file.first};
    while (!waiting.empty()) {
      const int number = waiting.back();
      waiting.pop_back();
      if (m_file.subgraphs.count(number) != 0) continue;
      m_file.subgraphs[number] = read_subgraph(number);
      for (const tflite_operator& o : m_file.subgraphs[number].operators)
        for (const std::int64_t next : subgraphs_of(o)) waiting.push_back(checked_subgraph(o, next));
    }
    m_file.name = m_file.main().name;
    return std::move(m_file);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    refuse(m_name + ": not a TensorFlow Lite model that can be read: " + m_where + why + ". Export it again");
  }
  static std::string text(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }
  /// Counts bytes that are copied: offsets may lead to one table again and again.
  void charge(std::size_t bytes) {
    if (bytes > m_budget) fail("its tables are used so often that they would take far more memory than the file");
    m_budget -= bytes;
  }

  int checked_subgraph(const tflite_operator& o, std::int64_t number) const {
    if (number < 0 || number >= static_cast<std::int64_t>(m_model.subgraphs()->size()))
      fail("operator " + std::to_string(o.index) + " (" + o.name + ") names subgraph " + std::to_string(number) +
           ", but there are " + std::to_string(m_model.subgraphs()->size()));
    return static_cast<int>(number);
  }

  tflite_subgraph read_subgraph(int number) {
    const tfl::SubGraph* g = m_model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(number));
    if (g == nullptr || g->tensors() == nullptr) fail("its subgraph " + std::to_string(number) + " has no tensors");
    m_where = number == m_file.first ? "" : "in subgraph " + std::to_string(number) + ", ";
    m_graph = {};
    m_names.clear();
    m_graph.name = text(g->name());
    if (number != m_file.first) require_name(m_graph.name, "the name of subgraph " + std::to_string(number));
    for (const tfl::Tensor* t : *g->tensors()) add_tensor(t);
    m_graph.inputs = indices(g->inputs(), "the list of inputs", false);
    m_graph.outputs = indices(g->outputs(), "the list of outputs", false);
    if (number == m_file.first && m_graph.outputs.empty()) fail("it has no outputs");
    if (g->operators() != nullptr)
      for (const tfl::Operator* o : *g->operators()) add_operator(o);
    check_order();
    return std::move(m_graph);
  }

  std::vector<int> indices(const flatbuffers::Vector<std::int32_t>* list, const std::string& who, bool optional) {
    std::vector<int> result;
    charge(list == nullptr ? 0 : list->size() * sizeof(int));
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const std::int32_t t = list->Get(static_cast<flatbuffers::uoffset_t>(i));
      if (t < (optional ? -1 : 0) || t >= static_cast<std::int32_t>(m_graph.tensors.size()))
        fail(who + " names tensor " + std::to_string(t) + ", but there are " + std::to_string(m_graph.tensors.size()));
      result.push_back(t);
    }
    return result;
  }

  void add_tensor(const tfl::Tensor* data) {
    const std::string number = std::to_string(m_graph.tensors.size());
    if (data == nullptr) fail("tensor " + number + " is missing");
    charge(sizeof(tflite_tensor) + 3 * (data->name() == nullptr ? 0 : data->name()->size()));
    tflite_tensor t;
    t.data = data;
    t.name = text(data->name());
    if (t.name.empty()) t.name = "tensor_" + number;
    require_name(t.name, "the name of tensor " + number);
    while (!m_names.insert(t.name).second) t.name += "_" + number;
    const std::string what = m_where + "tensor " + number + " ('" + t.name + "')";
    if (data->shape() != nullptr && data->shape()->size() > max_dimensions)
      fail(what + " has " + std::to_string(data->shape()->size()) + " dimensions");
    if (data->shape() != nullptr) t.shape.assign(data->shape()->begin(), data->shape()->end());
    checked_count(t.shape, m_name + ": " + what);
    find_bytes(t, what);
    if (data->is_variable() && t.bytes != nullptr)
      refuse(m_name + ": " + what +
             " is a variable with a value in the file, which no runtime reads. Export the model again");
    m_graph.tensors.push_back(std::move(t));
  }

  void find_bytes(tflite_tensor& t, const std::string& what) const {
    const std::uint32_t number = t.data->buffer();
    if (number == 0) return;
    if (m_model.buffers() == nullptr || number >= m_model.buffers()->size())
      fail(what + " names buffer " + std::to_string(number) + ", which does not exist");
    const tfl::Buffer* b = m_model.buffers()->Get(number);
    if (b == nullptr) fail("buffer " + std::to_string(number) + " is missing");
    if (b->data() != nullptr && b->data()->size() > 0) {
      t.bytes = reinterpret_cast<const std::byte*>(b->data()->data());
      t.size = b->data()->size();
    } else if (b->offset() > 1) {
      if (b->offset() > m_size || b->size() > m_size - b->offset())
        fail(what + " is outside the file, which may be truncated");
      t.bytes = m_bytes + b->offset();
      t.size = static_cast<std::size_t>(b->size());
    }
  }

  void add_operator(const tfl::Operator* data) {
    tflite_operator o;
    o.index = static_cast<int>(m_graph.operators.size());
    const std::string number = "operator " + std::to_string(o.index);
    if (data == nullptr) fail(number + " is missing");
    charge(sizeof(tflite_operator));
    o.data = data;
    const auto* codes = m_model.operator_codes();
    if (codes == nullptr || data->opcode_index() >= codes->size() || codes->Get(data->opcode_index()) == nullptr)
      fail(number + " names operator code " + std::to_string(data->opcode_index()) + ", which does not exist");
    const tfl::OperatorCode& code = *codes->Get(data->opcode_index());
    const int builtin =
        std::max(static_cast<int>(code.deprecated_builtin_code()), static_cast<int>(code.builtin_code()));
    o.custom = builtin == static_cast<int>(tfl::BuiltinOperator::CUSTOM);
    const char* known = tfl::EnumNameBuiltinOperator(static_cast<tfl::BuiltinOperator>(builtin));
    o.version = code.version();
    o.name = o.custom ? text(code.custom_code()) : *known != '\0' ? known : "BUILTIN_" + std::to_string(builtin);
    if (o.name.empty()) fail(number + " is a custom operator without a name");
    require_name(o.name, "the name of " + number);
    charge(o.name.size());
    o.inputs = indices(data->inputs(), number + " (" + o.name + ")", true);
    o.outputs = indices(data->outputs(), number + " (" + o.name + ")", false);
    m_graph.operators.push_back(std::move(o));
  }

  void check_order() const {
    std::vector<char> known(m_graph.tensors.size(), 0);
    const auto at = [&](int t) -> const tflite_tensor& { return m_graph.tensors[static_cast<std::size_t>(t)]; };
    const auto named = [&](int t) { return "tensor " + std::to_string(t) + " ('" + at(t).name + "')"; };
    for (std::size_t t = 0; t < known.size(); ++t) {
      const tflite_tensor& x = m_graph.tensors[t];
      known[t] = x.bytes != nullptr || count_of(x.shape) == 0 || x.data->is_variable();
    }
    const auto define = [&](int t, const std::string& who) {
      if (at(t).data->is_variable())
        fail(who + " has " + named(t) +
             ", a variable, which keeps its value from run to run and is neither input nor "
             "output of anything. Export the model with its state as inputs and outputs");
      if (at(t).bytes != nullptr || known[static_cast<std::size_t>(t)] == 2)
        fail(who + " produces " + named(t) + ", which exists already");
      known[static_cast<std::size_t>(t)] = 2;
    };
    const auto need = [&](int t, const std::string& who) {
      if (t >= 0 && known[static_cast<std::size_t>(t)] == 0)
        fail(who + " reads " + named(t) + ", which nothing has produced by then");
    };
    for (int t : m_graph.inputs) define(t, "the list of inputs");
    for (const tflite_operator& o : m_graph.operators) {
      const std::string who = "operator " + std::to_string(o.index) + " (" + o.name + ")";
      for (int t : o.inputs) need(t, who);
      for (int t : o.outputs) define(t, who);
    }
    for (int t : m_graph.outputs) {
      need(t, "the list of outputs");
      if (at(t).data->is_variable())
        fail("output " + named(t) + " is a variable. Export the model with a copy of it as the output");
    }
  }

  const tfl::Model& m_model;
  const std::byte* m_bytes;
  std::size_t m_size;
  const std::string& m_name;
  tflite_file m_file;
  tflite_subgraph m_graph;  ///< at hand
  std::string m_where;      ///< "in subgraph 2, ", or nothing for the first one
  std::unordered_set<std::string> m_names;
  std::size_t m_budget = max_decoded_bytes;
};

}

std::vector<std::int64_t> subgraphs_of(const tflite_operator& o) {
  if (const auto* call = o.data->builtin_options_as<tfl::CallOptions>()) return {call->subgraph()};
  if (const auto* once = o.data->builtin_options_as<tfl::CallOnceOptions>()) return {once->init_subgraph_index()};
  if (const auto* composite = o.data->builtin_options_2_as<tfl::StableHLOCompositeOptions>())
    return {composite->decomposition_subgraph_index()};
  if (const auto* branch = o.data->builtin_options_as<tfl::IfOptions>())
    return {branch->then_subgraph_index(), branch->else_subgraph_index()};
  if (const auto* loop = o.data->builtin_options_as<tfl::WhileOptions>())
    return {loop->cond_subgraph_index(), loop->body_subgraph_index()};
  return {};
}

bool is_tflite(const std::byte* bytes, std::size_t size) {
  return size >= 8 && std::memcmp(bytes + 4, tfl::ModelIdentifier(), 4) == 0;
}

std::string name_of(tfl::TensorType type) {
  const char* known = tfl::EnumNameTensorType(type);
  return *known != '\0' ? known : "element type " + std::to_string(static_cast<int>(type));
}

tflite_file read_tflite(const std::byte* bytes, std::size_t size, const std::string& name,
                        const std::string& signature) {
  if (!is_tflite(bytes, size)) refuse(name + ": not a TensorFlow Lite model; " + looks_like(bytes, size));
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes), size, 64, max_tables);
  if (!tfl::VerifyModelBuffer(verifier))
    refuse(name +
           ": a damaged TensorFlow Lite model: its tables point outside the file. It may be truncated; get it again");
  return reader(*tfl::GetModel(bytes), bytes, size, name).run(signature);
}

}
