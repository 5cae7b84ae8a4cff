// SPDX-License-Identifier: MIT
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/model_file.hpp"
#include "report/inspect.hpp"

namespace nsk::tool {

exit_code inspect(const inspect_options& o) {
  const model_file file = open_model(o.model);
  std::string text;
  if (o.settings) {
    text = settings_source(file.view);
  } else {
    const nlohmann::json report = inspect(file.view, file.bytes.size());
    text = o.json ? report.dump(2) + "\n" : inspect_text(report);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return exit_code::good;
}

}
