// SPDX-License-Identifier: MIT
#include "passes/program.hpp"
#include <algorithm>

namespace nsk::tool {

bool program::is_output(int v) const {
  return std::find(outputs.begin(), outputs.end(), v) != outputs.end() ||
         std::any_of(states.begin(), states.end(), [&](const program_state& s) { return s.output == v; });
}

std::vector<int> program::consumers(int v) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const operation& o = operations[i];
    if (o.post.residual == v || std::find(o.inputs.begin(), o.inputs.end(), v) != o.inputs.end())
      found.push_back(static_cast<int>(i));
  }
  return found;
}

}
