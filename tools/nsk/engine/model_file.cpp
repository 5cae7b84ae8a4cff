// SPDX-License-Identifier: MIT
#include "engine/model_file.hpp"

#include <netsuke/model/open.hpp>

#include "io/files.hpp"
#include "errors.hpp"
#include "io/looks_like.hpp"
#include "suggest.hpp"

namespace nsk::tool {

model_file open_model(const std::vector<std::byte>& bytes, const std::string& name) {
  if (is_small(bytes)) {
    model_file expanded = open_model(expand(bytes, name), name);
    expanded.parts = shares_of(bytes);
    expanded.stored_bytes = bytes.size();
    return expanded;
  }
  model_file file{aligned_bytes(bytes), {}};
  const status s = open({file.bytes.data(), file.bytes.size()}, file.view);
  if (!s) {
    const bool is_other = s.code() == status_code::bad_magic || bytes.empty();
    const std::string other = is_other ? " (" + looks_like(bytes.data(), bytes.size()) + ")" : "";
    char reason[2048];
    format_refusal(s, {file.bytes.data(), file.bytes.size()}, reason);
    refuse("cannot open '" + name + "'" + other + ": " + s.name() + ": " + reason + ".");
  }
  return file;
}

model_file open_model(const std::string& path) { return open_model(read_file(path, "model", max_model_bytes), path); }

int variant_of(const model& m, const std::string& name) {
  if (name.empty()) return 0;
  const int found = m.find_variant(name.c_str());
  if (found >= 0) return found;
  std::vector<std::string> known;
  for (int i = 0; i < m.variant_count(); ++i) known.push_back(m.variant(i).name());
  misuse("--variant " + name + ": the model has " + quoted(known) + "." + did_you_mean(name, known));
}

std::vector<std::pair<std::string, std::string>> recorded(const model& m, const std::string& prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (int i = 0; i < m.metadata_count(); ++i)
    if (const std::string key = m.metadata_key(i); key.compare(0, prefix.size(), prefix) == 0)
      found.emplace_back(key.substr(prefix.size()), m.metadata_value(i));
  return found;
}

std::string state_cure(const model& m, int variant, const std::string& name) {
  const variant_view v = m.variant(variant);
  for (int i = 0; i < v.state_count(); ++i)
    if (name == v.state(i).name() || name == v.state(i).next().name())
      return " '" + name +
             "' belongs to a state, which keeps its value from run to run: convert the model with --no-states to give "
             "and get it yourself.";
  return "";
}

}
