// SPDX-License-Identifier: MIT
#pragma once
/// Files that are packed behind a model as a ZIP archive (APPNOTE 6.3), uncompressed.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nsk::tool {

class packed_files {
 public:
  /// Finds the archive at the end of `bytes`, which must outlive the object. An archive that is absent or damaged holds
  /// nothing.
  packed_files(const std::byte* bytes, std::size_t size);

  /// Content of the file `name`. Where it cannot be had, returns nothing and says in `why`: it is not there, compressed
  /// or encrypted, is outside, or has another checksum.
  std::string_view find(const std::string& name, std::string& why) const;

 private:
  struct entry {
    unsigned flags, method;
    std::uint32_t checksum;
    std::int64_t packed, size, header;  ///< bytes; place of the file's own header
  };
  std::int64_t number(std::int64_t at, int width) const;
  void read_directory(std::int64_t end);

  const std::byte* m_bytes;
  std::int64_t m_size, m_base = 0, m_directory = 0;
  std::map<std::string, entry> m_entries;
};

}
