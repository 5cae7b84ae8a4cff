// SPDX-License-Identifier: MIT
#pragma once
/// One variant of a model as C++ source: a header with a class that computes it by calls of kernels.
#include <netsuke/model/model.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace nsk::tool {

struct network_source_options {
  std::string name;    ///< of the namespace; an identifier
  std::string origin;  ///< of the model, for the first comment
  int variant = 0;
  bool embed = false;  ///< weights are an array of the header
};
struct source_files {
  std::string header;
  std::vector<std::byte> weights;  ///< of the file of weights; empty where they are embedded
};

/// Returns the source of a variant. Refuses operators that it has no form for, by name.
source_files network_source(const model& m, const network_source_options& o);

/// Bytes of the constants that a variant reads.
std::size_t constant_bytes(const variant_view& v);

}
