// SPDX-License-Identifier: MIT
#pragma once
/// Names of a model as names in C++ source, which compile whatever the name and whatever headers stand before.
#include <string>

namespace nsk::tool {

/// Returns an identifier made of a name: letters, digits and single underscores, at most 60 characters from the name's
/// end; `fallback` where nothing is left. What C++ reserves, what may be a macro (NULL, errno, and every name of
/// capitals alone) and what the generated class uses itself gets the fallback and an underscore in front.
std::string identifier_of(const std::string& name, const char* fallback);

/// identifier_of() for a namespace in the global scope, where functions of the C library have names too.
std::string namespace_of(const std::string& name, const char* fallback);

/// Returns a name for a comment: without line breaks and control characters, what joins lines, what changes the
/// direction of writing, and bytes that are no UTF-8.
std::string comment_text(const std::string& name);

}
