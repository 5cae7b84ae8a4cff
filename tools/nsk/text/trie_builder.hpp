// SPDX-License-Identifier: MIT
#pragma once
/// Builds the tries of include/netsuke/text/impl/trie.hpp.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nsk::tool {

/// Words and what they stand for, which is not 0.
using trie_words = std::map<std::string, std::uint32_t>;

struct built_trie {
  std::vector<std::uint64_t> units;
  std::vector<std::uint32_t> roots;  ///< of each list of words
};

/// Puts lists of words into one array. Refuses more than its 2^24 units; `what` begins the message.
built_trie build_trie(const std::vector<trie_words>& lists, const std::string& what);

}
