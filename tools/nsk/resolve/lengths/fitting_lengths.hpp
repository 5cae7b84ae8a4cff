// SPDX-License-Identifier: MIT
#pragma once
/// Lengths that a model accepts where its source leaves them open: the examples of messages, which work when typed.
#include <functional>
#include <string>

#include "errors.hpp"
#include "resolve/lengths/input_options.hpp"

namespace nsk::tool {

/// Refuses an input whose shape stays open. What comes before the options that fix it is `question`.
struct open_shape : error {
  std::string question;
  open_shape(const std::string& q, const std::string& options, const std::string& length)
      : error(exit_code::refused, with(q, options, length)), question(q) {}
  /// The whole sentence, with the length that stands for those that the game needs.
  static std::string with(const std::string& question, const std::string& options, const std::string& length) {
    return question + options + ", with the size that you need in place of " + length;
  }
};

/// Whether an input has an open length, one that no --set replaces.
bool has_open_lengths(const graph& g, const input_options& options);

/// Throws the error that is being handled, of an attempt to resolve `source`. Where other lengths are accepted in place
/// of those that the source leaves open, the message has options with which `resolves` succeeds: a few lengths are
/// tried, and the numbers that decide an If.
[[noreturn]] void refuse_with_lengths(const graph& source, const input_options& options, const error& e,
                                      const std::function<void(graph& copy, const input_options& tried)>& resolves);

}
