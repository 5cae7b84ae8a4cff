// SPDX-License-Identifier: MIT
#include "import/tflite/file/generated/metadata.hpp"

#include "import/tflite/file/metadata.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/names.hpp"
#include "import/tflite/file/packed_files.hpp"

namespace nsk::tool {
namespace {

constexpr char entry_name[] = "TFLITE_METADATA";
constexpr std::size_t max_text = 4096, max_label_bytes = std::size_t{16} << 20, max_metadata = std::size_t{16} << 20;
constexpr std::size_t max_listed = 64;  // files and process units of a tensor that are looked at

template <class T>
using list_of = flatbuffers::Vector<flatbuffers::Offset<T>>;

/// Where a tensor of the metadata belongs.
struct place {
  const tflite_tensor& tensor;
  bool is_input;
};

class reader {
 public:
  reader(const tflite_file& file, const std::byte* bytes) : m_file(file), m_packed(bytes, file.size) {}

  model_facts run(const tfm::ModelMetadata& m) {
    about("name", m.name());
    about("description", m.description());
    about("version", m.version());
    about("author", m.author());
    about("license", m.license());
    const auto* graphs = m.subgraph_metadata();
    const auto first = static_cast<flatbuffers::uoffset_t>(m_file.first);
    if (graphs == nullptr || graphs->size() <= first) return std::move(m_facts);
    const tfm::SubGraphMetadata& g = *graphs->Get(first);
    tensors(g.input_tensor_metadata(), m_file.main().inputs, true);
    tensors(g.output_tensor_metadata(), m_file.main().outputs, false);
    return std::move(m_facts);
  }

 private:
  void warn(const std::string& text) { m_facts.warnings.push_back("metadata: " + text); }

  /// A text in one line; nothing, with a warning, where it is none.
  std::string text(const flatbuffers::String* s, const std::string& what) {
    if (s == nullptr) return {};
    if (s->size() > max_text) {
      warn(what + " is longer than " + std::to_string(max_text) + " bytes, and was left out");
      return {};
    }
    std::string line = s->str();
    for (char& c : line)
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if (is_plain_text(line)) return line;
    warn(what + " is no UTF-8 or holds control characters, and was left out");
    return {};
  }

  void about(const char* key, const flatbuffers::String* s) {
    const std::string value = text(s, std::string("the model's ") + key);
    if (!value.empty()) m_facts.about[key] = value;
  }

  void tensors(const list_of<tfm::TensorMetadata>* list, const std::vector<int>& ports, bool is_input) {
    if (list == nullptr) return;
    const char* const kind = is_input ? "inputs" : "outputs";
    if (list->size() != ports.size()) {
      warn("it describes " + std::to_string(list->size()) + " " + kind + ", but the model has " +
           std::to_string(ports.size()) + "; what it says of them was left out");
      return;
    }
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (const auto* t = list->Get(static_cast<flatbuffers::uoffset_t>(i)))
        tensor(*t, {m_file.main().tensors[static_cast<std::size_t>(ports[i])], is_input});
  }

  void tensor(const tfm::TensorMetadata& t, const place& p) {
    const std::string what = (p.is_input ? "input '" : "output '") + p.tensor.name + "': ";
    port_facts facts;
    const std::string name = text(t.name(), what + "its name"), description = text(t.description(), what + "its text");
    facts.description = name.empty() || description.empty() ? name + description : name + ": " + description;
    const auto* image = t.content() == nullptr ? nullptr : t.content()->content_properties_as<tfm::ImageProperties>();
    if (image != nullptr) {
      if (image->color_space() == tfm::ColorSpaceType::RGB) facts.color = "rgb";
      if (image->color_space() == tfm::ColorSpaceType::GRAYSCALE) facts.color = "grey";
      if (p.is_input) normalization(t, p, what, facts);
    }
    if (!p.is_input) labels(t, p, what, facts);
    m_facts.ports[p.tensor.name] = std::move(facts);
  }

  void normalization(const tfm::TensorMetadata& t, const place& p, const std::string& what, port_facts& facts) {
    const auto* units = t.process_units();
    for (std::size_t i = 0; units != nullptr && i < std::min<std::size_t>(units->size(), max_listed); ++i) {
      const auto* n = units->Get(static_cast<flatbuffers::uoffset_t>(i))->options_as<tfm::NormalizationOptions>();
      if (n == nullptr || n->mean() == nullptr || n->std() == nullptr) continue;
      const std::size_t means = n->mean()->size(), deviations = n->std()->size(), count = std::max(means, deviations);
      const std::int64_t channels = p.tensor.shape.empty() ? 0 : p.tensor.shape.back();
      const auto fits = [&](std::size_t size) { return size == 1 || size == count; };
      if (count == 0 || !fits(means) || !fits(deviations) ||
          (count > 1 && static_cast<std::int64_t>(count) != channels)) {
        warn(what + "its normalisation has " + std::to_string(means) + " means and " + std::to_string(deviations) +
             " deviations for " + std::to_string(channels) + " channels, and was left out");
        return;
      }
      for (std::size_t c = 0; c < count; ++c) {
        facts.mean.push_back(n->mean()->Get(static_cast<flatbuffers::uoffset_t>(means == 1 ? 0 : c)));
        facts.deviation.push_back(n->std()->Get(static_cast<flatbuffers::uoffset_t>(deviations == 1 ? 0 : c)));
        if (std::isfinite(facts.mean.back()) && std::isfinite(facts.deviation.back()) && facts.deviation.back() != 0)
          continue;
        warn(what + "its normalisation has numbers that are not finite, or divides by zero, and was left out");
        facts.mean.clear();
        facts.deviation.clear();
        return;
      }
      return;
    }
  }

  /// The labels of the file without a locale, or of the first one.
  void labels(const tfm::TensorMetadata& t, const place& p, const std::string& what, port_facts& facts) {
    const tfm::AssociatedFile* best = nullptr;
    const auto* files = t.associated_files();
    for (std::size_t i = 0; files != nullptr && i < std::min<std::size_t>(files->size(), max_listed); ++i) {
      const tfm::AssociatedFile* f = files->Get(static_cast<flatbuffers::uoffset_t>(i));
      const bool labels = f->type() == tfm::AssociatedFileType::TENSOR_AXIS_LABELS ||
                          f->type() == tfm::AssociatedFileType::TENSOR_VALUE_LABELS;
      if (!labels || f->name() == nullptr) continue;
      const auto general = [](const tfm::AssociatedFile* x) {
        return x->locale() == nullptr || x->locale()->size() == 0;
      };
      if (best == nullptr || (general(f) && !general(best))) best = f;
    }
    if (best == nullptr) return;
    const std::string name = text(best->name(), what + "the name of its labels");
    if (name.empty()) return;
    std::string why;
    const std::string_view content = m_packed.find(name, why);
    if (!why.empty()) return warn(what + "its file of labels '" + name + "' " + why);
    if (content.size() > max_label_bytes - m_label_bytes)
      return warn(what + "its labels, with those before them, take more than 16 MiB, and were left out");
    m_label_bytes += content.size();
    std::vector<std::string> list = lines_of(content);
    const std::int64_t length = p.tensor.shape.empty() ? 1 : p.tensor.shape.back();
    if (best->type() == tfm::AssociatedFileType::TENSOR_AXIS_LABELS && static_cast<std::int64_t>(list.size()) != length)
      return warn(what + "it has " + std::to_string(list.size()) + " labels for " + std::to_string(length) +
                  " positions, and they were left out");
    if (!std::all_of(list.begin(), list.end(), is_plain_text))
      return warn(what + "its labels are no UTF-8 or hold control characters, and were left out");
    facts.labels = std::move(list);
  }

  static std::vector<std::string> lines_of(std::string_view content) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (content.substr(0, byte_order_mark.size()) == byte_order_mark) content.remove_prefix(byte_order_mark.size());
    std::vector<std::string> list;
    while (!content.empty()) {
      const std::size_t end = std::min(content.find('\n'), content.size());
      std::string line(content.substr(0, end));
      if (!line.empty() && line.back() == '\r') line.pop_back();
      list.push_back(std::move(line));
      content.remove_prefix(std::min(end + 1, content.size()));
    }
    return list;
  }

  const tflite_file& m_file;
  packed_files m_packed;
  model_facts m_facts;
  std::size_t m_label_bytes = 0;
};

/// The bytes of the metadata table; nothing where the model has none.
std::vector<std::uint8_t> table_of(const tfl::Model& m) {
  const auto* entries = m.metadata();
  for (flatbuffers::uoffset_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    const tfl::Metadata* e = entries->Get(i);
    if (e->name() == nullptr || e->name()->str() != entry_name) continue;
    if (m.buffers() == nullptr || e->buffer() >= m.buffers()->size()) return {};
    const auto* data = m.buffers()->Get(e->buffer())->data();
    if (data == nullptr || data->size() > max_metadata) return {};
    return {data->begin(), data->end()};
  }
  return {};
}

}

model_facts tflite_facts(const tflite_file& file, const std::byte* bytes) {
  const std::vector<std::uint8_t> table = table_of(*file.model);
  if (table.empty()) return {};
  flatbuffers::Verifier verifier(table.data(), table.size(), 64, 1 << 16);
  if (table.size() < 8 || !tfm::VerifyModelMetadataBuffer(verifier)) {
    model_facts nothing;
    nothing.warnings.push_back("metadata: it is damaged, and was left out");
    return nothing;
  }
  return reader(file, bytes).run(*tfm::GetModelMetadata(table.data()));
}

}
