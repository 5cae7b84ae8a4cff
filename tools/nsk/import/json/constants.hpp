// SPDX-License-Identifier: MIT
#pragma once
/// Constants of a graph's JSON: elements in the text, or a .npy file beside it.
#include <deque>
#include <filesystem>
#include <set>
#include <string>

#include "graph/graph.hpp"
#include "import/json/fields.hpp"
#include "import/onnx/wire.hpp"

namespace nsk::tool {

/// Keys of a constant.
inline const std::vector<std::string> constant_keys = {"name", "tensor", "file", "permute", "type", "shape", "values"};

class constant_reader {
 public:
  explicit constant_reader(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  /// Reads a constant. Its elements belong to the reader.
  wire::tensor read(const fields& f);
  /// Reads a constant as an array, which belongs to the reader.
  const array& read_array(const fields& f);
  /// What the file holds, of the constant with "permute" that was read last.
  std::shared_ptr<const stored_constant> stored(const fields& f) const;
  /// Paths of the files that were read.
  const std::set<std::string>& files() const { return m_files; }

 private:
  array from_file(const fields& f);
  std::filesystem::path m_folder;
  std::set<std::string> m_files;
  std::deque<array> m_arrays;
  std::shared_ptr<const array> m_last;  ///< before it was permuted
};

}
