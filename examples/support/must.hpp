// SPDX-License-Identifier: MIT
#pragma once
/// The end of a program that cannot go on.
#include <string>
#include <netsuke/core/status.hpp>
#include "support/file.hpp"

namespace example {

/// Ends the program with the status's text when it is not ok, and with the names of the model's steps and ports where
/// a model or a variant is given.
template <class... Model>
void must(nsk::status s, const Model&... model) {
  if (s) return;
  char text[1024];
  s.format(text, model...);
  fail(std::string(s.name()) + ": " + text);
}

}  // namespace example
