// SPDX-License-Identifier: MIT
#pragma once
/// Cutting a text into pieces at the matches of a pattern.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/impl/pattern.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// How a step of kind split cuts.
struct cut_rule {
  cut_kind behavior;
  bool inverted;  ///< what is between matches takes the place of matches
  explicit cut_rule(std::uint8_t flags) : behavior(static_cast<cut_kind>(flags & 7)), inverted((flags & 8) != 0) {}

  /// Whether a part belongs to the piece of the part in front of it.
  bool joins(bool previous, bool match) const {
    switch (behavior) {
      case cut_kind::contiguous: return previous == match;
      case cut_kind::merged_with_previous: return match && !previous;
      case cut_kind::merged_with_next: return previous && !match;
      default: return false;
    }
  }
};

/// Calls use(piece) for each piece of a text, from left to right, as long as it returns true. Returns whether it always
/// did, and whether the search for matches came to its end.
template <class Use>
bool for_each_piece(const text_tables& t, const text_step& step, piece text, Use&& use) {
  const cut_rule rule(step.flags);
  matcher search(t, step.pattern, text);
  piece held = {text.begin, text.begin};
  bool held_match = false;
  const auto take = [&](piece part, bool match) {
    if (part.empty()) return true;
    match = match != rule.inverted;
    if (!held.empty() && rule.joins(held_match, match)) {
      held.end = part.end, held_match = match;
      return true;
    }
    const piece done = held;
    held = part, held_match = match;
    if (match && rule.behavior == cut_kind::removed) held = {part.end, part.end};
    return done.empty() || use(done);
  };
  for (const byte_type* at = text.begin; at != text.end;) {
    const piece found = search.find(at);
    if (search.exhausted() || !take({at, found.begin}, false) || !take(found, true)) return false;
    at = found.end;
  }
  return held.empty() || use(held);
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
