// SPDX-License-Identifier: MIT
#include "cli/file_options.hpp"

namespace nsk::tool {

CLI::Option* file_options::note(const file_option& f, const char* form) {
  m_options.push_back(f);
  return f.option->type_name(form);
}

CLI::Option* file_options::reads(CLI::App* command, const char* name, std::string& path, const char* form,
                                 const char* what, const char* remark) {
  return note({command, command->add_option(name, path, what), use::read, {}, remark}, form);
}

CLI::Option* file_options::reads(CLI::App* command, const char* name, std::vector<std::string>& values,
                                 const char* form, const char* what) {
  return note({command, command->add_option(name, values, what)->allow_extra_args(false), use::read, {}, ""}, form);
}

CLI::Option* file_options::writes(CLI::App* command, const char* name, std::string& path, const char* form,
                                  const char* what, const std::vector<std::string>& extensions) {
  std::string remark;
  for (std::size_t i = 0; i < extensions.size(); ++i)
    remark += (i == 0 ? "and " : i + 1 == extensions.size() ? " and " : ", ") + extensions[i];
  if (!remark.empty()) remark += " beside it";
  return note({command, command->add_option(name, path, what), use::write, extensions, remark}, form);
}

CLI::Option* file_options::writes_into(CLI::App* command, const char* name, std::string& path, const char* form,
                                       const char* what) {
  return note({command, command->add_option(name, path, what), use::write_into, {}, "the files in it"}, form);
}

std::string file_options::list(const CLI::App* command, bool read) const {
  std::string text;
  for (const file_option& f : m_options) {
    if (f.command != command || (f.how == use::read) != read) continue;
    text += (text.empty() ? "" : ", ") + f.option->get_name() + (f.remark.empty() ? "" : " (" + f.remark + ")");
  }
  return text;
}

void file_options::explain(CLI::App* command) const {
  std::string text;
  for (const bool read : {true, false})
    if (const std::string names = list(command, read); !names.empty())
      text += std::string(read ? "\nReads:  " : "\nWrites: ") + names;
  if (!text.empty()) command->footer(text + "\n" + command->get_footer());
}

void file_options::declare(const CLI::App* command, command_files& files) const {
  for (const file_option& f : m_options) {
    if (f.command != command) continue;
    const std::string role = f.option->get_name();
    const bool is_named = f.option->get_type_name().rfind("NAME=", 0) == 0;
    for (const std::string& value : f.option->results()) {
      const std::size_t split = is_named ? value.rfind('=') : std::string::npos;
      if (is_named && split == std::string::npos) continue;  // the command says how it is written
      const std::string path = is_named ? value.substr(split + 1) : value;
      switch (f.how) {
        case use::read: files.add_input(role, path); break;
        case use::write: files.add_output(role, path); break;
        case use::write_into: files.add_output_directory(path); break;
      }
      for (const std::string& extension : f.extensions) files.add_output_beside(role, path, extension.c_str());
    }
  }
}

}
