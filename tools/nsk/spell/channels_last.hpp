// SPDX-License-Identifier: MIT
#pragma once
/// Tensors whose channels are the last axis, which ONNX Runtime's optimiser writes, and ONNX has second.
#include "spell/speller.hpp"

namespace nsk::tool {

/// The order that brings the second of `rank` axes behind all others.
inline std::vector<std::int64_t> order_behind(std::size_t rank) {
  std::vector<std::int64_t> order = {0};
  for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
  if (rank > 1) order.push_back(1);
  return order;
}

/// `v` of `rank` axes with its last one second.
inline value_id channels_second(speller& s, value_id v, std::size_t rank) {
  std::vector<std::int64_t> order = {0};
  if (rank > 1) order.push_back(static_cast<std::int64_t>(rank) - 1);
  for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d) - 1);
  return s.add("Transpose", {v}, {{"perm", std::move(order)}});
}

/// `v` of `rank` axes with its second one last.
inline value_id channels_behind(speller& s, value_id v, std::size_t rank) {
  return s.add("Transpose", {v}, {{"perm", order_behind(rank)}});
}

}
