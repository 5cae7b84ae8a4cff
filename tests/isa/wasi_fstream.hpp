// SPDX-License-Identifier: MIT
#pragma once
/// std::fstream for a C++ library that declares it and has no files (WASI's): doctest needs the class, and writes to
/// standard output.
#include <ios>
#include <sstream>

template <>
class std::basic_fstream<char> : public std::stringstream {
 public:
  void open(const char*, std::ios_base::openmode) {}
  bool is_open() const { return false; }
  void close() {}
};
