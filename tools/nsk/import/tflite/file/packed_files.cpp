// SPDX-License-Identifier: MIT
#include "import/tflite/file/packed_files.hpp"

#include <algorithm>
#include <array>

namespace nsk::tool {
namespace {

constexpr std::int64_t file_header_bytes = 30, directory_entry_bytes = 46, end_bytes = 22, max_comment = 65535;
constexpr std::int64_t file_signature = 0x04034b50, directory_signature = 0x02014b50, end_signature = 0x06054b50;

/// CRC-32 of ISO 3309.
std::uint32_t checksum_of(std::string_view text) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = (t[i] >> 1) ^ ((t[i] & 1) != 0 ? 0xedb88320u : 0u);
    }
    return t;
  }();
  std::uint32_t sum = 0xffffffffu;
  for (const char c : text) sum = table[(sum ^ static_cast<std::uint8_t>(c)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

}

/// The little-endian number of `width` bytes at `at`, which must be inside.
std::int64_t packed_files::number(std::int64_t at, int width) const {
  std::int64_t value = 0;
  for (int i = width; i-- > 0;) value = value << 8 | std::to_integer<std::int64_t>(m_bytes[at + i]);
  return value;
}

packed_files::packed_files(const std::byte* bytes, std::size_t size)
    : m_bytes(bytes), m_size(static_cast<std::int64_t>(size)) {
  const std::int64_t last = m_size - end_bytes, first = std::max<std::int64_t>(0, last - max_comment);
  std::int64_t at = last;
  while (at >= first && number(at, 4) != end_signature) --at;
  if (at >= first) read_directory(at);
}

/// Reads the entries in front of the end record at `end`.
void packed_files::read_directory(std::int64_t end) {
  const std::int64_t count = number(end + 10, 2), bytes = number(end + 12, 4), offset = number(end + 16, 4);
  m_directory = end - bytes;
  m_base = m_directory - offset;
  if (m_directory < 0 || m_base < 0) return;
  std::int64_t at = m_directory;
  for (std::int64_t i = 0; i < count; ++i) {
    if (at + directory_entry_bytes > end || number(at, 4) != directory_signature) return;
    const std::int64_t name = number(at + 28, 2), behind = number(at + 30, 2) + number(at + 32, 2);
    if (at + directory_entry_bytes + name > end) return;
    const auto* first = reinterpret_cast<const char*>(m_bytes + at + directory_entry_bytes);
    m_entries[std::string(first, static_cast<std::size_t>(name))] = {static_cast<unsigned>(number(at + 8, 2)),
                                                                     static_cast<unsigned>(number(at + 10, 2)),
                                                                     static_cast<std::uint32_t>(number(at + 16, 4)),
                                                                     number(at + 20, 4),
                                                                     number(at + 24, 4),
                                                                     m_base + number(at + 42, 4)};
    at += directory_entry_bytes + name + behind;
  }
}

std::string_view packed_files::find(const std::string& name, std::string& why) const {
  const auto found = m_entries.find(name);
  const auto refused = [&](const char* reason) {
    why = reason;
    return std::string_view();
  };
  if (found == m_entries.end()) return refused("is not packed with the model");
  const entry& e = found->second;
  constexpr unsigned encrypted = 1;
  if (e.method != 0 || (e.flags & encrypted) != 0) return refused("is compressed or encrypted; pack it stored");
  if (e.header > m_directory - file_header_bytes || number(e.header, 4) != file_signature || e.packed != e.size)
    return refused("is damaged: the archive does not lead to it");
  const std::int64_t at = e.header + file_header_bytes + number(e.header + 26, 2) + number(e.header + 28, 2);
  if (at > m_directory || e.size > m_directory - at) return refused("is damaged: it reaches beyond the archive");
  const std::string_view text(reinterpret_cast<const char*>(m_bytes + at), static_cast<std::size_t>(e.size));
  if (checksum_of(text) != e.checksum) return refused("is damaged: its checksum is another one");
  why.clear();
  return text;
}

}
