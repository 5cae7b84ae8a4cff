// SPDX-License-Identifier: MIT
#pragma once
/// Options under names that the next release does not have.
#include <string>
#include <vector>

namespace nsk::tool {

/// Returns the words of a command line, the command first, with today's names in place of deprecated ones. Says on
/// standard error which of them to write.
std::vector<std::string> without_deprecated(std::vector<std::string> words);

}
