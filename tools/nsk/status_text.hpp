// SPDX-License-Identifier: MIT
#pragma once
/// What the engine says of a file, a session or a device, as part of a message.
#include <string>

namespace nsk::tool {

/// Returns "bad_step: step 12 'conv3': the cause: the cure". `names` is the model or the variant that the status is
/// about, where there is one; `Status` is nsk::status of any instruction set.
template <class Status, class... Names>
std::string status_text(const Status& s, const Names&... names) {
  char text[2048];
  s.format({text, sizeof text}, names...);
  return std::string(s.name()) + ": " + text;
}

}
