// SPDX-License-Identifier: MIT
#pragma once
/// Choosing the next token by the logits of a network: the same token for the same numbers, on every machine.
///
///     nsk::text::sampling how;
///     how.temperature = 0.8f, how.top_k = 40, how.seed = 7;
///     auto next = nsk::text::sample(logits, how, ids_so_far, memory);
///     if (!next) { log(next.status().message()); return; }
///     ids[count++] = next.id();
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/text/impl/candidates.hpp>
#include <netsuke/text/impl/text_memory.hpp>

NSK_BEGIN
namespace text {
/// Bits of ids that may be chosen, in the caller's memory.
class token_mask {
 public:
  token_mask() = default;
  /// `words` has words_for(token_count) elements.
  explicit token_mask(span<std::uint64_t> words) : m_words(words) {}
  static constexpr std::size_t words_for(std::size_t token_count) { return (token_count + 63) / 64; }

  /// Whether there is no mask: then every id may be chosen.
  bool empty() const { return m_words.empty(); }
  void clear() const {
    for (std::uint64_t& word : m_words) word = 0;
  }
  /// Ids outside the mask are ignored.
  void allow(std::int32_t id) const {
    if (is_inside(id)) m_words[static_cast<std::size_t>(id) / 64] |= std::uint64_t{1} << (id % 64);
  }
  bool allows(std::int32_t id) const {
    return is_inside(id) && (m_words[static_cast<std::size_t>(id) / 64] >> (id % 64) & 1) != 0;
  }

 private:
  bool is_inside(std::int32_t id) const { return id >= 0 && static_cast<std::size_t>(id) / 64 < m_words.size(); }
  span<std::uint64_t> m_words;
};

/// Allows what may follow `so_far` where the text has to become one of some phrases, as the commands of a game: the
/// next id of each phrase that starts with it, and `end` behind a whole one.
inline void allow_phrases(span<const span<const std::int32_t>> phrases, span<const std::int32_t> so_far,
                          std::int32_t end, const token_mask& mask) {
  mask.clear();
  for (const span<const std::int32_t>& phrase : phrases) {
    std::size_t same = 0;
    while (same < so_far.size() && same < phrase.size() && phrase[same] == so_far[same]) ++same;
    if (same == so_far.size()) mask.allow(same == phrase.size() ? end : phrase[same]);
  }
}

/// How tokens are chosen. Penalty, temperature, top_k and top_p act in this order.
struct sampling {
  float temperature = 1;         ///< 0: the likeliest token, of equal ones the first
  int top_k = 0;                 ///< among so many of the likeliest; 0: all
  float top_p = 1;               ///< among the likeliest whose probabilities reach this sum
  float repetition_penalty = 1;  ///< divides positive logits, and multiplies negative ones, of ids in the history
  std::uint64_t seed = 0;
  token_mask allowed = {};
};

/// The next id, or why there is none.
class [[nodiscard]] sampled {
 public:
  sampled(nsk::status s, std::int32_t id) : m_status(s), m_id(id) {}
  explicit operator bool() const { return static_cast<bool>(m_status); }
  nsk::status status() const { return m_status; }
  std::int32_t id() const { return m_id; }

 private:
  nsk::status m_status;
  std::int32_t m_id;
};

/// Bytes of memory that sample() needs for so many logits.
constexpr std::size_t sampling_bytes(std::size_t logits) {
  return logits * (2 * sizeof(float) + sizeof(std::uint32_t)) + token_mask::words_for(logits) * 8 + 64;
}

namespace impl {

/// Lists the ids that may be chosen, with their logits. What is no number, and negative infinity, is never chosen.
inline void list_candidates(span<const float> logits, const sampling& how, const token_mask& seen,
                            candidate_list& list) {
  constexpr float largest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    float logit = logits.data()[i];
    const auto id = static_cast<std::int32_t>(i);
    if (!(logit >= -largest) || (!how.allowed.empty() && !how.allowed.allows(id))) continue;
    if (seen.allows(id)) logit = penalized(logit, how.repetition_penalty);
    list.add(logit > largest ? largest : logit, static_cast<std::uint32_t>(i));
  }
}

/// The candidate at which the sum of weights passes `limit`; steps go from `first` to the last of `count`, or back.
inline std::size_t pick(const candidate_list& list, std::size_t first, std::size_t count, bool back, double limit) {
  double sum = 0;
  std::size_t i = first;
  for (std::size_t n = 1;; ++n, i = back ? i - 1 : i + 1) {
    sum += static_cast<double>(list.weights[i]);
    if (sum > limit || n == count) return i;
  }
}

/// Chooses among the likeliest alone. They go to the end of the list, the best last.
inline std::size_t pick_of_best(candidate_list& list, const sampling& how, double fraction) {
  const std::size_t all = list.count, k = how.top_k > 0 ? static_cast<std::size_t>(how.top_k) : all;
  const std::size_t maximum = k < all ? k : all;
  double total = maximum == all ? sum_of(list.weights, all) : 0;
  list.make_heap();
  std::size_t kept = 0;
  double sum = 0;
  if (maximum < all) {
    for (; kept < maximum; ++kept) {
      list.take_best(all - kept);
      total += static_cast<double>(list.weights[all - 1 - kept]);
    }
    kept = 0;
  }
  const double enough = static_cast<double>(how.top_p) * total;
  for (; kept < maximum && (kept == 0 || sum < enough); ++kept) {
    if (maximum == all) list.take_best(all - kept);
    sum += static_cast<double>(list.weights[all - 1 - kept]);
  }
  return pick(list, all - 1, kept, true, fraction * sum);
}

}

/// Chooses the next id. `history` are the ids so far: the penalty is for them, and their number makes each choice
/// another one of the seed's. `memory` is overwritten; sampling_bytes() says how much is enough.
[[nodiscard]] inline sampled sample(span<const float> logits, const sampling& how, span<const std::int32_t> history,
                                    span<std::byte> memory) {
  impl::text_memory m(memory);
  const std::size_t words = token_mask::words_for(logits.size());
  const token_mask seen(span<std::uint64_t>(m.take<std::uint64_t>(words), words));
  impl::candidate_list list = {m.take<float>(logits.size()), m.take<float>(logits.size()),
                               m.take<std::uint32_t>(logits.size())};
  if (m.overflowed()) return {status_code::text_memory_too_small, -1};
  seen.clear();
  for (std::size_t i = 0; how.repetition_penalty != 1 && i < history.size(); ++i) seen.allow(history[i]);
  impl::list_candidates(logits, how, seen, list);
  if (list.count == 0) return {status_code::no_allowed_token, -1};
  std::size_t chosen = list.best();
  if (how.temperature > 0) {
    const float maximum = list.logits[chosen];
    std::memcpy(list.weights, list.logits, list.count * sizeof(float));
    impl::weigh(list.weights, list.count, maximum, how.temperature);
    const double fraction = impl::random_fraction(how.seed, history.size());
    const bool cut = how.top_p < 1 || (how.top_k > 0 && static_cast<std::size_t>(how.top_k) < list.count);
    chosen = cut ? impl::pick_of_best(list, how, fraction)
                 : impl::pick(list, 0, list.count, false, fraction * impl::sum_of(list.weights, list.count));
  }
  return {status_code::ok, static_cast<std::int32_t>(list.ids[chosen])};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
