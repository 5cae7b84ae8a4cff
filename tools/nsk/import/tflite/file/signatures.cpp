// SPDX-License-Identifier: MIT
#include "import/tflite/file/signatures.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool::tflite {
namespace {

constexpr flatbuffers::uoffset_t max_signatures = 4096;
constexpr std::size_t max_listed = 200;  // letters

struct signature {
  std::string name;
  std::int64_t subgraph;
};

std::vector<signature> signatures_of(const tfl::Model& m) {
  std::vector<signature> result;
  const auto* list = m.signature_defs();
  for (flatbuffers::uoffset_t i = 0; list != nullptr && i < std::min(list->size(), max_signatures); ++i)
    if (const tfl::SignatureDef* s = list->Get(i))
      result.push_back({s->signature_key() == nullptr ? "" : s->signature_key()->str(), s->subgraph_index()});
  return result;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return shortened(text, max_listed);
}

}

int subgraph_of_signature(const tfl::Model& m, const std::string& wanted, const std::string& name) {
  if (wanted.empty()) return 0;
  const std::vector<signature> all = signatures_of(m);
  const auto found = std::find_if(all.begin(), all.end(), [&](const signature& s) { return s.name == wanted; });
  if (found == all.end()) {
    std::vector<std::string> known;
    for (const signature& s : all) known.push_back(printable(s.name));
    misuse("--signature: " + name + " has no signature '" + printable(wanted) + "'." +
           did_you_mean(printable(wanted), known) + " It has " +
           (known.empty() ? "none: leave the option out" : shortened(quoted(known), max_listed)) + ".");
  }
  for (const signature& s : all)
    if (s.name == wanted && s.subgraph != found->subgraph)
      refuse(name + ": its signature '" + printable(wanted) + "' names two functions, subgraphs " +
             std::to_string(found->subgraph) + " and " + std::to_string(s.subgraph) + ". Export it again");
  if (found->subgraph >= static_cast<std::int64_t>(m.subgraphs()->size()))
    refuse(name + ": its signature '" + printable(wanted) + "' names subgraph " + std::to_string(found->subgraph) +
           ", but there are " + std::to_string(m.subgraphs()->size()) + ". Export it again");
  return static_cast<int>(found->subgraph);
}

void report_signatures(const tflite_file& file, model_facts& facts) {
  std::string taken = "its first subgraph";
  std::set<std::string> others, nameless;
  std::set<std::int64_t> named;
  bool has_name = !file.signature.empty();
  if (has_name) taken = "signature '" + printable(file.signature) + "'";
  for (const signature& s : signatures_of(*file.model)) {
    named.insert(s.subgraph);
    if (s.subgraph != file.first) {
      others.insert("'" + printable(s.name) + "'");
    } else if (!has_name) {
      taken = "signature '" + printable(s.name) + "'";
      has_name = true;
    }
  }
  for (int i = 0; i < static_cast<int>(file.model->subgraphs()->size()); ++i)
    if (named.count(i) == 0 && file.subgraphs.count(i) == 0) nameless.insert(std::to_string(i));
  if (!others.empty())
    facts.notes.push_back("the file has several signatures: " + taken +
                          " is converted; --signature NAME takes another one of them: " + listed(others));
  if (!nameless.empty())
    facts.warnings.push_back("the file has subgraphs that nothing names and nothing runs, which are left out: " +
                             listed(nameless) + "; export each function to a file of its own");
}

}
