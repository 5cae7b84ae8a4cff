// SPDX-License-Identifier: MIT
#pragma once
/// What examples need around the engine: a file's bytes and aligned memory. A game uses its own.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace example {

/// Prints a message on standard error and ends the program with exit code 1.
[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

/// A block of memory at a multiple of 64 bytes, freed with its owner; ends the program where there is not enough.
class memory_block {
 public:
  memory_block() = default;
  explicit memory_block(std::size_t bytes)
      : m_data(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}, std::nothrow))), m_size(bytes) {
    if (!m_data) fail("there is no memory for " + std::to_string(bytes) + " bytes");
  }

  std::byte* data() const { return m_data.get(); }
  std::size_t size() const { return m_size; }

 private:
  struct release {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, release> m_data;
  std::size_t m_size = 0;
};

/// Returns all bytes of a file; none when it cannot be read.
inline memory_block try_read_file(const std::string& path) {
  std::error_code unreadable;  // a folder, for one
  const std::uintmax_t size = std::filesystem::file_size(path, unreadable);
  std::FILE* file = unreadable ? nullptr : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  memory_block block(static_cast<std::size_t>(size));
  const bool whole = std::fread(block.data(), 1, block.size(), file) == block.size();
  std::fclose(file);
  return whole ? std::move(block) : memory_block();
}

/// Returns all bytes of a file; ends the program when it cannot be read.
inline memory_block read_file(const std::string& path) {
  memory_block block = try_read_file(path);
  if (block.size() == 0) fail("cannot read " + path + ", or it is empty");
  return block;
}

}  // namespace example
