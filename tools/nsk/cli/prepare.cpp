// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/commands.hpp"
#include "engine/model_file.hpp"
#include "io/files.hpp"
#include "io/text.hpp"

namespace nsk::tool {

exit_code prepare(const prepare_options& o, command_files& files) {
  const std::vector<std::byte> small = read_file(o.model, "model", max_model_bytes);
  if (!is_small(small)) {
    open_model(small, o.model);
    refuse("'" + o.model + "' is no small file: it can be opened as it is.");
  }
  const std::vector<std::byte> file = expand(small, o.model);
  open_model(file, o.model);
  files.write(o.output, file.data(), file.size());
  files.commit();
  if (!o.quiet)
    std::printf("%s: %s, of %s\n", o.output.c_str(), bytes_text(static_cast<double>(file.size())).c_str(),
                bytes_text(static_cast<double>(small.size())).c_str());
  return exit_code::good;
}

}
