// SPDX-License-Identifier: MIT
#pragma once
/// Names of source models, which become names of the file and parts of messages.
#include <string>

namespace nsk::tool {

/// Refuses a name that is longer than 16384 bytes, is no UTF-8 or holds control characters: the engine reads names up
/// to their first zero, and terminals obey the rest. `what` begins the message: "the name of node 3".
void require_name(const std::string& name, const std::string& what);

/// Whether a text is UTF-8 without control characters.
bool is_plain_text(const std::string& text);

}
