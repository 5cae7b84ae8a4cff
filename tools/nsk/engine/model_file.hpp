// SPDX-License-Identifier: MIT
#pragma once
/// A .nsk file in memory.
#include <netsuke/model/model.hpp>
#include <string>
#include <utility>
#include <vector>
#include "engine/engine.hpp"
#include "engine/small_file.hpp"

namespace nsk::tool {

struct model_file {
  aligned_bytes bytes;
  model view;                           ///< points into bytes
  std::vector<small_share> parts = {};  ///< of the small file that bytes were expanded from; none of others
  std::size_t stored_bytes = 0;         ///< of that file
};

/// Reads and verifies a model; a small one is expanded. Refuses, saying what the file is, why it cannot be used, and
/// what to do.
model_file open_model(const std::string& path);
/// open_model() for bytes that were just made; `name` is what messages call them.
model_file open_model(const std::vector<std::byte>& bytes, const std::string& name);

/// Number of the variant of this name; 0 for an empty name. Refuses unknown ones, listing those that there are.
int variant_of(const model& m, const std::string& name);

/// Returns what the metadata has under keys that begin with `prefix`: what follows in the key, and the text.
std::vector<std::pair<std::string, std::string>> recorded(const model& m, const std::string& prefix);

/// Returns what to do about a name that was asked for as an input or output and is a state of the file, a sentence with
/// a space in front; "" for other names.
std::string state_cure(const model& m, int variant, const std::string& name);

}
