// SPDX-License-Identifier: MIT
#pragma once
/// What libFuzzer's custom mutators have in common.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>
#include "random.hpp"

#ifdef NSK_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maximum);
#endif

namespace fuzz {

/// What an entry point returns: 0 to libFuzzer, which keeps what it finds new; else 0 for what was converted alone.
inline int verdict(bool converted) {
#ifdef NSK_LIBFUZZER
  static_cast<void>(converted);
  return 0;
#else
  return converted ? 0 : 1;
#endif
}

/// Changes an input by `mutate`, now and then by libFuzzer's own means, which know nothing of formats. Returns its new
/// length, at most `maximum`.
template <class Mutate>
std::size_t mutate_in_place(std::uint8_t* data, std::size_t size, std::size_t maximum, unsigned seed, Mutate mutate) {
  generator random{seed};
  random();
#ifdef NSK_LIBFUZZER
  if (random.one_in(16)) return LLVMFuzzerMutate(data, size, maximum);
#endif
  const std::vector<std::uint8_t> changed = mutate({data, data + size}, random);
  if (changed.size() > maximum) return size;
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}

}
