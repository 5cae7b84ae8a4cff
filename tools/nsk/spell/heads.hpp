// SPDX-License-Identifier: MIT
#pragma once
/// The heads of an attention and what is made of them: softmax(scale * Q K^T + bias) V.
#include "spell/speller.hpp"

namespace nsk::tool {

struct heads {
  value_id query = no_value, key = no_value, value = no_value;  ///< [batch, heads, length, size]
  std::int64_t batch = 0, rows = 0, columns = 0;                ///< rows: queries; columns: keys, the past included
  std::int64_t count = 0, shared = 0;                           ///< heads of queries, and of keys and values
  std::int64_t size = 0, value_size = 0;
  bool joins_heads = false;       ///< the result is [batch, rows, heads * size]
  double scale = 0, softcap = 0;  ///< 0: 1 / sqrt(size), and none
  std::vector<value_id> bias;     ///< each broadcast to the scores
  bool may_see_nothing = false;   ///< a query may see no key: its result is 0
  std::int64_t told_scores = 0;   ///< which scores the last output is: 0 raw, 1 capped, 2 with bias, 3 probabilities
};

/// `x` of shape [batch, length, heads * size] as [batch, heads, length, size].
value_id split_heads(speller& s, value_id x, const shape_t& shape, std::int64_t count);

/// Heads of the inputs 0 to 2, of three axes, or of four. `bias`, [queries' size + keys' size + values' size], is added
/// to inputs of three axes.
heads heads_of(speller& s, std::pair<std::int64_t, std::int64_t> counts, value_id bias = no_value);

/// Puts `length` earlier keys and values in front of those of `h`.
void join_past(speller& s, heads& h, value_id key, value_id value, std::int64_t length);

/// Gives output 0 and, where it is wanted, the scores as output `scores`.
void attend(speller& s, const heads& h, std::size_t scores);

}
