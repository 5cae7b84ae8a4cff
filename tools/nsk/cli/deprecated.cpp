// SPDX-License-Identifier: MIT
#include "cli/deprecated.hpp"

#include <cstdio>

namespace nsk::tool {
namespace {

struct deprecated_option {
  const char *command, *old_name, *new_name;
};

constexpr deprecated_option deprecated_options[] = {
    {"convert", "--exact", "--no-winograd"},
    {"quantize", "--overrides", "--override"},
    {"quantize", "--calibration", "--calibrate"},
};

}

std::vector<std::string> without_deprecated(std::vector<std::string> words) {
  for (const deprecated_option& d : deprecated_options) {
    if (words.empty() || words.front() != d.command) continue;
    const std::string old_name = d.old_name;
    for (std::string& word : words) {
      if (word.substr(0, word.find('=')) != old_name) continue;
      word.replace(0, old_name.size(), d.new_name);
      std::fprintf(stderr, "nsk: warning: %s is deprecated and goes with the next release: write %s.\n", d.old_name,
                   d.new_name);
    }
  }
  return words;
}

}
