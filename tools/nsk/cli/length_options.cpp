// SPDX-License-Identifier: MIT
#include "cli/length_options.hpp"

#include <charconv>

#include "cli/options.hpp"
#include "edit/parts.hpp"
#include "errors.hpp"

namespace nsk::tool {

std::map<std::string, std::int64_t> named(const std::vector<chosen_length>& lengths, const length_choice& values) {
  std::map<std::string, std::int64_t> result;
  for (std::size_t i = 0; i < lengths.size(); ++i) result[lengths[i].name] = values[i];
  return result;
}

bool counts_lengths(const variant_view& v) {
  for (int i = 0; i < v.length_count(); ++i)
    if (v.length(i).is_counted() && v.length(i).name()[0] != 0) return true;
  return false;
}

model_file without_branches(model_file file, const std::string& name) {
  bool has_branches = false;
  for (int v = 0; v < file.view.variant_count(); ++v)
    for (int i = 0; i < file.view.variant(v).length_count(); ++i) {
      const length_view l = file.view.variant(v).length(i);
      if (l.name()[0] != 0) return file;
      has_branches = has_branches || l.is_counted();
    }
  return has_branches ? fixed_to(file, {}, name) : std::move(file);
}

model_file fixed_to(const model_file& file, const std::map<std::string, std::int64_t>& lengths,
                    const std::string& name) {
  model_parts parts = take_apart(file.bytes.data());
  fix_lengths(parts, file.view, lengths);
  return open_model(put_together(parts), name);
}

model_file open_model_at(const std::string& path, const std::vector<std::string>& lengths) {
  std::map<std::string, std::int64_t> values;
  for (const auto& [name, text] : named_values("--length", lengths, "NAME=N")) {
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), values[name]);
    if (failed != std::errc{} || stop != text.data() + text.size())
      misuse("--length " + name + "=" + text + ": write a whole number.");
  }
  model_file file = open_model(path);
  if (!values.empty() && counts_lengths(file.view.variant()))
    refuse("--length: steps of '" + path +
           "' count lengths too, and no file of one value has those. Choose lengths in " +
           "the game, with session::set_length");
  return values.empty() ? std::move(file) : fixed_to(file, values, path);
}

}
