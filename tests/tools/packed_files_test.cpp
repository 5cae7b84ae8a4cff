// SPDX-License-Identifier: MIT
// Archives behind a model, written by hand: found, bounded, and refused where they are.
#include "import/tflite/file/packed_files.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using nsk::tool::packed_files;

void put(std::vector<std::byte>& to, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) to.push_back(static_cast<std::byte>(i < 8 ? number >> 8 * i & 255 : 0));
}

void put(std::vector<std::byte>& to, const std::string& text) {
  for (const char c : text) to.push_back(static_cast<std::byte>(c));
}

/// "before" and an archive of one file a.txt: "123456789", whose CRC-32 is the check value of the catalogues.
std::vector<std::byte> archive(std::uint32_t checksum = 0xcbf43926u, std::uint64_t header = 0, unsigned method = 0,
                               std::uint64_t size = 9) {
  const std::string before = "before", name = "a.txt", content = "123456789";
  std::vector<std::byte> a;
  put(a, before);
  put(a, 0x04034b50, 4);
  for (int i = 0; i < 11; ++i) put(a, 0, 2);
  put(a, name.size(), 2);
  put(a, 0, 2);
  put(a, name + content);
  const std::size_t directory = a.size();
  put(a, 0x02014b50, 4);
  put(a, 0, 2 * 3);
  put(a, method, 2);
  put(a, 0, 2 * 2);
  put(a, checksum, 4);
  put(a, size, 4);
  put(a, size, 4);
  put(a, name.size(), 2);
  put(a, 0, 2 * 6);
  put(a, header, 4);
  put(a, name);
  const std::size_t end = a.size();
  put(a, 0x06054b50, 4);
  put(a, 0, 2 * 2);
  put(a, 1, 2);
  put(a, 1, 2);
  put(a, end - directory, 4);
  put(a, directory - before.size(), 4);
  put(a, 0, 2);
  return a;
}

std::string reason(const std::vector<std::byte>& bytes) {
  std::string why;
  const std::string_view text = packed_files(bytes.data(), bytes.size()).find("a.txt", why);
  CHECK(text.empty() == !why.empty());
  return why;
}

}

TEST_CASE("packed files: a stored file behind other bytes") {
  const std::vector<std::byte> bytes = archive();
  const packed_files files(bytes.data(), bytes.size());
  std::string why = "something";
  CHECK(files.find("a.txt", why) == "123456789");
  CHECK(why.empty());
  CHECK(files.find("b.txt", why).empty());
  CHECK(why == "is not packed with the model");
}

TEST_CASE("packed files: what cannot be read is said") {
  CHECK(reason(archive(1)).find("checksum") != std::string::npos);
  CHECK(reason(archive(0xcbf43926u, 5)).find("does not lead") != std::string::npos);
  CHECK(reason(archive(0xcbf43926u, 0xffffffffu)).find("does not lead") != std::string::npos);
  CHECK(reason(archive(0xcbf43926u, 0, 8)).find("compressed") != std::string::npos);
  CHECK(reason(archive(0xcbf43926u, 0, 0, 10)).find("beyond") != std::string::npos);
  CHECK(reason(archive(0xcbf43926u, 0, 0, 0xffffffffu)).find("beyond") != std::string::npos);
}

TEST_CASE("packed files: every truncation holds nothing") {
  const std::vector<std::byte> whole = archive();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(reason({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) == "is not packed with the model");
}
