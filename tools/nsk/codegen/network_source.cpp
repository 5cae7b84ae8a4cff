// SPDX-License-Identifier: MIT
#include "codegen/network_source.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <netsuke/codegen/network.hpp>
#include <netsuke/core/bytes.hpp>
#include <netsuke/format/file_header.hpp>
#include <netsuke/ops/impl/rules.hpp>
#include <nlohmann/json.hpp>

#include "codegen/calls.hpp"
#include "codegen/identifiers.hpp"
#include "codegen/text.hpp"
#include "graph/names.hpp"
#include "inspect/inspect.hpp"
#include "draw/labels.hpp"
#include "io/text.hpp"
#include "write/schema.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t line_bytes = 64;
std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// The constants of one variant, one behind the other.
class constants {
 public:
  explicit constants(const variant_view& v) {
    for (int i = 0; i < v.step_count(); ++i)
      for (int k = 0; k < v.step(i).input_count(); ++k) add(v.step(i).input(k));
    for (int i = 0; i < v.state_count(); ++i)
      if (v.state(i).has_initial()) add(v.state(i).initial());
  }
  /// With the bytes that kernels may read past the end.
  std::size_t bytes() const { return m_bytes + over_read; }
  std::size_t place(const tensor_info& t) const { return m_place.at(t.buffer_offset()).first + t.offset(); }
  bool has(const tensor_info& t) const { return m_place.count(t.buffer_offset()) != 0; }
  std::vector<std::byte> copy(const std::byte* section) const {
    std::vector<std::byte> all(bytes());
    for (const auto& [from, to] : m_place) std::memcpy(all.data() + to.first, section + from, to.second);
    return all;
  }

 private:
  void add(const tensor_info& t) {
    if (t.where() != storage::constant) return;
    const auto [at, is_new] = m_place.try_emplace(t.buffer_offset(), m_bytes, t.buffer_bytes());
    if (is_new) m_bytes += whole_lines(t.buffer_bytes());
  }
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> m_place;  ///< by offset in the file: here, bytes
  std::size_t m_bytes = 0;
};

const char* element_type(dtype t) {
  constexpr const char* names[] = {"float",        "std::uint16_t", "std::int8_t",  "std::uint8_t",
                                   "std::int16_t", "std::int32_t",  "std::int64_t", "bool"};
  return names[static_cast<int>(t)];
}
std::string type_name(dtype t) { return enumerator_name("DataType", static_cast<int>(t)); }

/// One group of ports of the class.
struct port_list {
  const char *type, *member, *what;
  std::string declarations, initial;
  name_pool names{};

  void add(const std::string& name, const tensor_info& t, const std::string& tensor, bool is_const,
           const std::string& remark) {
    const std::string id = names.unique(identifier_of(name, what));
    const std::string element = std::string(is_const ? "const " : "") + element_type(t.type());
    declarations += "    nsk::codegen::port<" + element + (t.rank() > 0 ? ", " : "") + list_text(t.shape()) + "> " +
                    id + ";" + remark + "\n";
    initial += (initial.empty() ? "" : ",\n        ") + std::string("decltype(") + type + "::" + id + ")(m.data<" +
               element + ">(" + tensor + "))";
  }
  bool empty() const { return declarations.empty(); }
  std::string struct_text() const {
    return std::string("  struct ") + type + " {\n" + declarations + "  };\n  const " + type + " " + member + ";\n";
  }
};

class network_writer {
 public:
  network_writer(const model& m, const network_source_options& o)
      : m_model(m), m_options(o), m_variant(m.variant(o.variant)), m_constants(m_variant) {
    std::map<std::string, int> first;  // views of one buffer that say the same have one name
    for (int i = 0; i < m_variant.tensor_count(); ++i) {
      const tensor_info t = m_variant.tensor(i);
      const std::string name = t.name();
      const bool known = t.where() != storage::constant || m_constants.has(t);
      const auto same = first.try_emplace(std::to_string(t.buffer()) + (known ? tensor_text(t) : ""), i);
      m_first.push_back(same.first->second);
      m_calls.tensors.push_back(same.second ? "t" + std::to_string(i) + "_" +
                                                  identifier_of(name.substr(name.find_last_of('/') + 1), "tensor")
                                            : m_calls.tensors[static_cast<std::size_t>(same.first->second)]);
    }
    m_used.resize(m_calls.tensors.size());
  }

  source_files write() {
    const std::vector<std::byte> weights = m_constants.copy(m_model.weights().data());
    m_tag = content_hash(weights) ^ m_model.signature();
    const std::string steps = steps_text();
    collect_ports();
    const std::string network = class_text(steps);
    source_files files;
    files.header = heading() + tensors_text() + network;
    if (m_options.embed)
      files.header += embedded_text(weights);
    else
      files.weights = file_of(weights);
    files.header += "\n}\n}\n#include <netsuke/simd/end.hpp>\n";
    return files;
  }

 private:
  const std::string& use(const tensor_info& t) {
    m_used[static_cast<std::size_t>(m_first[static_cast<std::size_t>(t.index())])] = true;
    return m_calls.tensors[static_cast<std::size_t>(t.index())];
  }

  std::string steps_text() {
    const nlohmann::json report = inspect(m_model, 0);
    const nlohmann::json& steps = report["variants"][static_cast<std::size_t>(m_options.variant)]["steps"];
    std::string text;
    for (int i = 0; i < m_variant.step_count(); ++i) {
      const step_view s = m_variant.step(i);
      for (int k = 0; k < s.input_count(); ++k) use(s.input(k));
      use(s.output());
      const nlohmann::json& step = steps[static_cast<std::size_t>(i)];
      const std::string details = details_text(step);
      const nlohmann::json &inputs = step["inputs"], &outputs = step["outputs"];
      text += "    // " + std::to_string(i) + ": " + operation_text(step) + (details.empty() ? "" : " " + details) +
              ", " + (inputs.empty() ? "" : shape_text(inputs[0]["shape"]) + " ") + "-> " +
              shape_text(outputs[0]["shape"]);
      if (s.macs() > 0) text += ", " + digits_text(s.macs()) + " multiply-accumulates";
      text += "\n    //    " + comment_text(s.name()) + "\n    " + m_calls.call(s) + "\n";
    }
    for (int i = 0; i < m_variant.state_count(); ++i) {
      const state_view state = m_variant.state(i);
      const std::string to = use(state.tensor()), from = use(state.next());
      if (same_place(state.tensor(), state.next())) continue;
      text += "    // " + comment_text(state.name()) + " for the next run\n    std::memcpy(m.data<std::byte>(" + to +
              "), m.data<std::byte>(" + from + "), " + std::to_string(state.tensor().bytes()) + ");\n";
    }
    return text;
  }
  static bool same_place(const tensor_info& a, const tensor_info& b) {
    return a.buffer_offset() + a.offset() == b.buffer_offset() + b.offset();
  }

  static std::string order_of(const port_view& p) {
    const span<const std::uint8_t> axes = p.source_axes();
    bool moved = false;
    for (std::size_t d = 0; d < axes.size(); ++d) moved = moved || axes[d] != d;
    return moved ? "  // the source has [" + list_text(p.source_shape()) + "]: these are its axes " + list_text(axes)
                 : "";
  }
  void collect_ports() {
    for (int i = 0; i < m_variant.input_count(); ++i) {
      const port_view p = m_variant.input(i);
      m_in.add(p.name(), p.tensor(), use(p.tensor()), false, order_of(p));
    }
    for (int i = 0; i < m_variant.output_count(); ++i) {
      const port_view p = m_variant.output(i);
      m_out.add(p.name(), p.tensor(), use(p.tensor()), true, order_of(p));
    }
    for (int i = 0; i < m_variant.state_count(); ++i) {
      const state_view s = m_variant.state(i);
      m_state.add(s.name(), s.tensor(), use(s.tensor()), false, "");
    }
  }

  std::string heading() const {
    std::string text = "// Written by nsk " NSK_VERSION_STRING " (nsk codegen) from " + comment_text(m_options.origin);
    if (m_model.variant_count() > 1) text += ", variant '" + comment_text(m_variant.name()) + "'";
    text += ". The lines of run_steps() may be edited.\n#pragma once\n#include <netsuke/codegen/network.hpp>\n";
    for (const std::string& h : m_calls.headers) text += "#include <netsuke/" + h + ">\n";
    text += "#include <netsuke/simd/begin.hpp>\n\nnamespace " + m_options.name + " {\ninline namespace NSK_ABI {\n\n";
    text += kernel_aliases(m_variant) + "\n";
    return text;
  }

  std::string tensor_text(const tensor_info& t) const {
    const bool constant = t.where() == storage::constant;
    const std::string offset =
        std::to_string(constant ? m_constants.place(t) : static_cast<std::size_t>(t.buffer_offset() + t.offset()));
    const halo b = t.border();
    const bool bordered = (b.top | b.left | b.bottom | b.right) != 0;
    std::string text = "nsk::codegen::in_arena<" + std::to_string(t.rank()) + ">(" + offset +
                       ", nsk::dtype::" + type_name(t.type()) + ", {" + list_text(t.shape()) + "}";
    if (bordered || !impl::is_dense(t)) text += ", {" + list_text(t.strides()) + "}";
    if (bordered || t.fill() != 0)
      text +=
          ", {" +
          joined({std::to_string(b.top), std::to_string(b.left), std::to_string(b.bottom), std::to_string(b.right)}) +
          "}";
    if (t.fill() != 0) text += ", " + float_text(t.fill());
    text += ")";
    return constant ? "nsk::codegen::in_weights(" + text + ")" : text;
  }
  std::string tensors_text() const {
    std::string text = "// Where tensors are, in bytes, and their lengths; strides and borders where they have any.\n",
                places;
    for (int i = 0; i < m_variant.tensor_count(); ++i) {
      if (!m_used[static_cast<std::size_t>(i)]) continue;
      const tensor_info t = m_variant.tensor(i);
      const std::string& id = m_calls.tensors[static_cast<std::size_t>(i)];
      text += "constexpr nsk::codegen::tensor " + id + " = " + tensor_text(t) + ";\n";
      if (t.where() != storage::constant) places += (places.empty() ? "" : ", ") + id;
    }
    text += "\nconstexpr std::size_t required_bytes = " + std::to_string(m_variant.required_bytes(1)) +
            ", weights_bytes = " + std::to_string(m_constants.bytes()) + ";\n";
    if (!places.empty())
      text += "constexpr nsk::codegen::tensor arena_tensors[] = {" + places + "};\n" +
              "static_assert(nsk::codegen::are_inside(arena_tensors, required_bytes), \"a tensor is outside the "
              "arena\");\n";
    return text + "\n";
  }

  std::string class_text(const std::string& steps) const {
    const bool embed = m_options.embed;
    std::string text;
    if (embed) text += "inline const std::byte* embedded_weights();\n\n";
    text +=
        "/// The network. Ask status() before anything else; `memory` starts at a multiple of 64, has required_bytes, "
        "and\n"
        "/// outlives it" +
        std::string(embed ? "" : ", as does the content of the file of weights, at a multiple of 64 too") +
        ". Belongs to one thread at a time.\n";
    text += "class net {\n  nsk::codegen::memory m;\n  nsk::status m_status;\n\n public:\n";
    const std::string weights = embed ? "embedded_weights()"
                                      : "nsk::codegen::weights_of(weights_file, weights_bytes, " +
                                            format_text("0x%016llxu", static_cast<unsigned long long>(m_tag)) + ")";
    text += std::string("  explicit net(nsk::span<std::byte> memory") +
            (embed ? "" : ", nsk::span<const std::byte> weights_file") +
            ")\n      : m_status(m.take(memory, required_bytes, " + weights + "))";
    for (const port_list* p : {&m_in, &m_out, &m_state})
      if (!p->empty()) text += std::string(",\n        ") + p->member + "{" + p->initial + "}";
    text +=
        " {\n    if (m_status) reset();\n  }\n  net(const net&) = delete;\n  net& operator=(const net&) = delete;\n\n";
    for (const port_list* p : {&m_in, &m_out, &m_state})
      if (!p->empty()) text += p->struct_text();
    text +=
        "\n  nsk::status status() const { return m_status; }\n"
        "  /// What the data of the last run made necessary, as bits of nsk::run_flag.\n"
        "  std::uint32_t flags() const { return m.flags; }\n"
        "  /// Chooses the numbers of random steps.\n"
        "  void seed(std::uint64_t key, std::uint32_t first_row = 0) { m.random = {key, 0, first_row}; }\n" +
        reset_text() +
        "  /// Computes the outputs from the inputs, and the states for the next run.\n"
        "  void run() {\n    if (!m_status) return;\n    m.flags = 0;\n"
        "    nsk::codegen::in_float_mode([this] { run_steps(); });\n    ++m.random.run;\n  }\n\n"
        " private:\n  void run_steps() {\n";
    if (steps.find(", scratch);") != std::string::npos)
      text += "    std::byte* const scratch = m.arena + " + std::to_string(m_variant.shared_bytes()) + ";\n";
    return text + steps + "  }\n};\n";
  }
  std::string reset_text() const {
    if (m_variant.state_count() == 0) return "  /// Does nothing: there is no state.\n  void reset() {}\n";
    std::string text = "  /// Gives every state its initial value.\n  void reset() {\n";
    for (int i = 0; i < m_variant.state_count(); ++i) {
      const state_view s = m_variant.state(i);
      const std::string to = m_calls.tensors[s.tensor_index()], bytes = std::to_string(s.tensor().bytes());
      if (s.has_initial())
        text += "    std::memcpy(m.data<std::byte>(" + to + "), m.constant<std::byte>(" +
                std::to_string(m_constants.place(s.initial())) + "), " + bytes + ");\n";
      else
        text += "    std::memset(m.data<std::byte>(" + to + "), 0, " + bytes + ");\n";
    }
    return text + "  }\n";
  }

  std::string embedded_text(const std::vector<std::byte>& weights) const {
    std::string text =
        "\ninline const std::byte* embedded_weights() {\n  alignas(64) static constexpr std::uint32_t words[] = {";
    for (std::size_t i = 0; i < weights.size(); i += 4) {
      std::uint32_t word;
      std::memcpy(&word, weights.data() + i, sizeof word);
      text += (i % 40 == 0 ? "\n      " : " ") + (word < 10 ? std::to_string(word) : format_text("0x%08x", word)) + ",";
    }
    return text + "\n  };\n  return reinterpret_cast<const std::byte*>(words);\n}\n";
  }
  std::vector<std::byte> file_of(const std::vector<std::byte>& weights) const {
    codegen::weights_header h{{'n', 's', 'k', 'w', 'g', 'h', 't', 's'}, weights.size(), m_tag, {}};
    std::vector<std::byte> file(sizeof h + weights.size());
    std::memcpy(file.data(), &h, sizeof h);
    std::memcpy(file.data() + sizeof h, weights.data(), weights.size());
    return file;
  }

  const model& m_model;
  const network_source_options& m_options;
  variant_view m_variant;
  constants m_constants;
  call_writer m_calls;
  std::vector<int> m_first;  ///< of each tensor: the one that its name is made of
  std::vector<bool> m_used;
  std::uint64_t m_tag = 0;
  port_list m_in{"inputs", "in", "input", "", ""}, m_out{"outputs", "out", "output", "", ""},
      m_state{"states", "state", "state", "", ""};
};

}

std::size_t constant_bytes(const variant_view& v) { return constants(v).bytes(); }

source_files network_source(const model& m, const network_source_options& o) { return network_writer(m, o).write(); }

}
