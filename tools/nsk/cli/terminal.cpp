// SPDX-License-Identifier: MIT
#include "cli/terminal.hpp"

#include <cstdlib>

#include "io/system/program.hpp"

namespace nsk::tool {

text_style style_of_output() {
  const char* const refusal = std::getenv("NO_COLOR");
  text_style style;
  style.colour = is_terminal(console::output) && (!refusal || !*refusal) && terminal_has_colours();
  return style;
}

}
