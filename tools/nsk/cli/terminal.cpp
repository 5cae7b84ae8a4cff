// SPDX-License-Identifier: MIT
#include "cli/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace nsk::tool {

text_style style_of_output() {
  const char *const refusal = std::getenv("NO_COLOR"), *const terminal = std::getenv("TERM");
  text_style style;
  style.colour =
      ::isatty(STDOUT_FILENO) != 0 && (!refusal || !*refusal) && terminal && std::strcmp(terminal, "dumb") != 0;
  return style;
}

}
