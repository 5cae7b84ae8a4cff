// SPDX-License-Identifier: MIT
#pragma once
/// What is wrong with a command line.
#include <string>

namespace CLI {
class App;
class ParseError;
}

namespace nsk::tool {

/// Returns a message for a command line that `app` refused with `why`: the command, the word at fault, the command or
/// option that was probably meant, and where more is explained. `first` is the first word of the command line, or null.
std::string usage_message(const CLI::App& app, const CLI::ParseError& why, const char* first);

}
