// SPDX-License-Identifier: MIT
#pragma once
/// NumPy's .npy files <-> arrays.
#include <filesystem>
#include "graph/array.hpp"

namespace nsk::tool {

/// Reads format versions 1 to 3 with '<f2' '<f4' '<f8', '<i1..8', '<u1..8' and '|b1', in C or Fortran order (the result
/// is in C order,
/// '<f2' widened to f32). Refuses, naming the file: what is no .npy, other types (saying how to convert), truncated or
/// surplus bytes.
array read_npy(const std::string& file);

/// Returns the bytes of a file of version 1.0 in C order; `file` is what messages call it.
std::string npy_bytes(const std::string& file, const array& a);
/// Writes it: `file` appears whole or not at all (new_files.hpp).
void write_npy(const std::string& file, const array& a);

}
