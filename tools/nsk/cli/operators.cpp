// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/commands.hpp"
#include "passes/support.hpp"

namespace nsk::tool {

exit_code operators() {
  const std::string page = operators_page();
  std::fwrite(page.data(), 1, page.size(), stdout);
  return exit_code::good;
}

}
