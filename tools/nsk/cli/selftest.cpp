// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/commands.hpp"
#include "engine/model_file.hpp"

namespace nsk::tool {

exit_code selftest(const selftest_options& o) {
  const model_file file = open_model(o.model);
  const engine& e = choose_engine(o.isa);
  for (int variant = 0; variant < file.view.variant_count(); ++variant) {
    const std::string name = file.view.variant(variant).name();
    if (file.view.variant(variant).check_count() == 0)
      refuse("variant '" + name + "' has no check vectors. Convert the model with --embed-check.");
    const std::string wrong = e.open(file.bytes.data(), file.bytes.size(), 1, variant)->selftest();
    if (!wrong.empty())
      throw error(exit_code::check_failed,
                  "'" + o.model + "', variant '" + name + "' on " + e.name + ": " + wrong + ".");
  }
  if (!o.quiet) std::printf("%s: the recorded outputs, bit by bit, on %s\n", o.model.c_str(), e.name);
  return exit_code::good;
}

}
