// SPDX-License-Identifier: MIT
#pragma once
/// What standard output is connected to.
#include "io/text.hpp"

namespace nsk::tool {

/// Returns how to write to standard output: emphasis on a terminal, unless NO_COLOR is set (https://no-color.org) or
/// the terminal is "dumb"; plain text into files and pipes.
text_style style_of_output();

}
