// SPDX-License-Identifier: MIT
// Small files: what nsk::prepare makes of good ones, and that it refuses all others.
#include <doctest/doctest.h>
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <netsuke/model/open.hpp>
#include <netsuke/prepare.hpp>
#include "sample_plans.hpp"

namespace {

using byte_list = std::vector<std::byte>;

byte_list bytes_of(const test::aligned_bytes& file) { return {file.data(), file.data() + file.size()}; }

/// A small file of parts that a test writes one by one.
class small_builder {
 public:
  void add(nsk::small_part p, const byte_list& stored) {
    p.stored_bytes = stored.size();
    m_parts.push_back(p);
    m_stored.insert(m_stored.end(), stored.begin(), stored.end());
  }
  void add_bytes(const byte_list& bytes) {
    nsk::small_part p{};
    p.kind = nsk::part_kind::bytes;
    p.bytes = bytes.size();
    add(p, bytes);
  }
  void add_compressed(const std::vector<int>& block, std::uint64_t bytes) {
    nsk::small_part p{};
    p.kind = nsk::part_kind::compressed;
    p.bytes = bytes;
    byte_list stored;
    for (const int b : block) stored.push_back(static_cast<std::byte>(b));
    add(p, stored);
  }
  nsk::small_part& last() { return m_parts.back(); }

  test::aligned_bytes write() const {
    nsk::file_header h{};
    std::memcpy(h.magic, nsk::file_magic, sizeof h.magic);
    h.format_version = NSK_FORMAT_VERSION;
    h.features = nsk::feature_small;
    h.table_offset = sizeof h;
    h.table_bytes = m_parts.size() * sizeof(nsk::small_part);
    h.weights_offset = (h.table_offset + h.table_bytes + 63) / 64 * 64;
    h.weights_bytes = m_stored.size();
    h.file_bytes = h.weights_offset + h.weights_bytes;
    test::aligned_bytes file(static_cast<std::size_t>(h.file_bytes));
    std::memset(file.data(), 0, file.size());
    std::memcpy(file.data(), &h, sizeof h);
    if (!m_parts.empty())
      std::memcpy(file.data() + h.table_offset, m_parts.data(), static_cast<std::size_t>(h.table_bytes));
    if (!m_stored.empty()) std::memcpy(file.data() + h.weights_offset, m_stored.data(), m_stored.size());
    return file;
  }

 private:
  std::vector<nsk::small_part> m_parts;
  byte_list m_stored;
};

struct outcome {
  nsk::status status;
  byte_list bytes;
};
/// Memory of exactly so many bytes, so that the address sanitizer sees what is written behind it.
class exact_memory {
 public:
  explicit exact_memory(std::size_t size) : m_size(size) {
    REQUIRE(posix_memalign(&m_data, 64, size == 0 ? 1 : size) == 0);
  }
  ~exact_memory() { std::free(m_data); }
  exact_memory(const exact_memory&) = delete;
  exact_memory& operator=(const exact_memory&) = delete;
  nsk::span<std::byte> span() const { return {static_cast<std::byte*>(m_data), m_size}; }

 private:
  void* m_data = nullptr;
  std::size_t m_size;
};

outcome expand(const test::aligned_bytes& small) {
  const nsk::span<const std::byte> file(small.data(), small.size());
  const exact_memory memory(nsk::required_bytes(file));
  const nsk::status s = nsk::prepare(file, memory.span());
  return {s, {memory.span().data(), memory.span().data() + memory.span().size()}};
}
nsk::status_code code_of(const small_builder& b) { return expand(b.write()).status.code(); }

/// Panels of `channels` columns and `depth` rows of bytes, stored as zeros.
small_builder one_part(nsk::part_kind kind, nsk::stored_number numbers, std::uint32_t channels, std::uint32_t depth) {
  nsk::small_part p{};
  p.kind = kind;
  p.numbers = numbers;
  p.channels = channels;
  p.depth = depth;
  p.bytes = nsk::floats_of(p) * 4;
  const auto heads = static_cast<std::uint64_t>(nsk::heads_of(numbers)) * 4;
  small_builder b;
  b.add(p, byte_list(static_cast<std::size_t>(channels * (heads + nsk::rows_of(p) * nsk::size_of(numbers)))));
  return b;
}

TEST_CASE("prepare: the parts make the bytes of the file, which opens") {
  const byte_list large = bytes_of(test::make_cnn().plan.write());
  small_builder b;
  b.add_bytes({large.begin(), large.begin() + 64});
  b.add_bytes({});
  b.add_bytes({large.begin() + 64, large.end()});
  const outcome o = expand(b.write());
  REQUIRE(o.status);
  CHECK(o.bytes == large);
  nsk::model m;
  CHECK(nsk::open({o.bytes.data(), o.bytes.size()}, m, {true}));
}

TEST_CASE("prepare: a small file is not opened, and another is not expanded") {
  small_builder b;
  b.add_bytes(byte_list(128));
  const test::aligned_bytes small = b.write(), large = test::make_cnn().plan.write();
  nsk::model m;
  CHECK(nsk::open({small.data(), small.size()}, m).code() == nsk::status_code::not_prepared);
  CHECK_FALSE(m.is_open());
  CHECK(nsk::required_bytes({large.data(), large.size()}) == 0);
  CHECK(expand(large).status.code() == nsk::status_code::bad_header);
}

TEST_CASE("prepare: memory is as large as it is said to be, and aligned") {
  small_builder b;
  b.add_bytes(byte_list(256, std::byte{7}));
  const test::aligned_bytes small = b.write();
  const nsk::span<const std::byte> file(small.data(), small.size());
  REQUIRE(nsk::required_bytes(file) == 256);
  test::aligned_bytes memory(512);
  CHECK(nsk::prepare(file, {memory.data(), 255}).code() == nsk::status_code::too_little_memory);
  CHECK(nsk::prepare(file, {memory.data() + 16, 256}).code() == nsk::status_code::misaligned_memory);
  std::memset(memory.data(), 0, memory.size());
  CHECK(nsk::prepare(file, {memory.data(), 512}));
  CHECK(memory.data()[255] == std::byte{7});
  CHECK(memory.data()[256] == std::byte{0});
}

TEST_CASE("prepare: LZ4 blocks are expanded, copies of themselves included") {
  const auto expanded = [](const std::vector<int>& block, std::uint64_t bytes) {
    small_builder b;
    b.add_compressed(block, bytes);
    const outcome o = expand(b.write());
    if (!o.status) return std::string("refused");
    return std::string(reinterpret_cast<const char*>(o.bytes.data()), o.bytes.size());
  };
  CHECK(expanded({0x30, 'a', 'b', 'c'}, 3) == "abc");
  CHECK(expanded({0x12, 'a', 1, 0, 0x10, 'b'}, 8) == "aaaaaaab");
  CHECK(expanded({0x20, 'a', 'b', 2, 0, 0x00}, 6) == "ababab");
  CHECK(expanded({0x1f, 'x', 1, 0, 2, 0x00}, 22) == std::string(22, 'x'));
  CHECK(expanded({0xf0, 1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'}, 16) ==
        "abcdefghijklmnop");
  const std::vector<int> bad[] = {{},                          // no token
                                  {0x30, 'a', 'b'},            // literals end
                                  {0x30, 'a', 'b', 'c', 'd'},  // the distance ends
                                  {0x10, 'a', 0, 0, 0x00},     // copies itself
                                  {0x10, 'a', 2, 0, 0x00},     // before the part
                                  {0xf0},                      // a length ends
                                  {0x1f, 'a', 1, 0, 255},      // the same of a copy
                                  {0x10, 'a', 1, 0}};          // no last literals
  for (const std::vector<int>& block : bad) CHECK(expanded(block, 5) == "refused");
  CHECK(expanded({0x30, 'a', 'b', 'c'}, 2) == "refused");
  CHECK(expanded({0x30, 'a', 'b', 'c'}, 4) == "refused");
  CHECK(expanded({0x12, 'a', 1, 0, 0x00}, 5) == "refused");
}

/// Lengths of a code: 'a' 1 bit, 'b' and 'c' 2.
byte_list two_bits() {
  byte_list lengths(nsk::code_lengths_bytes);
  lengths['a' / 2] = std::byte{1 << 4};
  lengths['b' / 2] = std::byte{2 | 2 << 4};
  return lengths;
}
/// Text by the code 0, 10, 11 of a, b, c, behind the lengths.
byte_list coded(const std::vector<char>& text, byte_list lengths) {
  lengths.resize(lengths.size() + 8);
  lengths[lengths.size() - 8] = static_cast<std::byte>(text.size());
  std::string bits;
  for (const char c : text) bits += c == 'a' ? "0" : c == 'b' ? "10" : "11";
  bits.resize((bits.size() + 7) / 8 * 8, '0');
  for (std::size_t i = 0; i < bits.size(); i += 8)
    lengths.push_back(static_cast<std::byte>(std::stoi(bits.substr(i, 8), nullptr, 2)));
  return lengths;
}
void add_codes(small_builder& b, nsk::code_source from, const byte_list& stored, std::uint64_t bytes) {
  nsk::small_part p{};
  p.kind = nsk::part_kind::bytes;
  p.flags = static_cast<std::uint8_t>(static_cast<int>(from) << 1);
  p.bytes = bytes;
  b.add(p, stored);
}

TEST_CASE("prepare: codes are those of the part or of the part before, and others are refused") {
  using nsk::code_source;
  const auto made = [](const byte_list& first, std::uint64_t bytes, const byte_list& second = coded({'c', 'b'}, {})) {
    small_builder b;
    add_codes(b, code_source::own, first, bytes);
    add_codes(b, code_source::before, second, 2);
    const outcome o = expand(b.write());
    if (!o.status) return std::string("refused");
    return std::string(reinterpret_cast<const char*>(o.bytes.data()), o.bytes.size());
  };
  const byte_list good = coded({'a', 'b', 'a', 'c'}, two_bits());
  CHECK(made(good, 4) == "abaccb");
  CHECK(made(good, 3) == "refused");
  CHECK(made(good, 5) == "refused");
  const auto changed = [&](std::size_t place, int value) {
    byte_list bad = good;
    bad[place] = static_cast<std::byte>(value);
    return made(bad, 4);
  };
  CHECK(changed('b' / 2, 2) == "refused");                  // the code is not complete
  CHECK(changed('b' / 2, 2 | 1 << 4) == "refused");         // too many codes
  CHECK(changed('b' / 2, 2 | 13 << 4) == "refused");        // too long
  CHECK(changed(nsk::code_lengths_bytes, 3) == "refused");  // other numbers of bytes
  CHECK(changed(nsk::code_lengths_bytes, 9) == "refused");
  CHECK(changed(nsk::code_lengths_bytes + 7, 255) == "refused");
  CHECK(made({good.begin(), good.end() - 1}, 4) == "refused");      // no codes
  CHECK(made({good.begin(), good.begin() + 100}, 4) == "refused");  // not all lengths
  byte_list longer = good;
  longer.push_back(std::byte{0});
  CHECK(made(longer, 4) == "refused");
  CHECK(made(good, 4, byte_list(7)) == "refused");
  small_builder alone;
  add_codes(alone, code_source::before, coded({'a'}, {}), 1);
  CHECK(code_of(alone) == nsk::status_code::bad_part);
}

TEST_CASE("prepare: distances of three bytes") {
  nsk::small_part p{};
  p.kind = nsk::part_kind::compressed_far;
  p.bytes = 70016;
  byte_list block = {std::byte{0x1f}, std::byte{'a'}, std::byte{1}, std::byte{0}, std::byte{0}};
  for (int left = 70000 - 1 - 19; left >= 0; left -= 255) block.push_back(static_cast<std::byte>(std::min(left, 255)));
  // a literal, 8 bytes of 69,000 before, 7 literals
  const int rest[] = {0x14, 'b', 69000 & 255, 69000 >> 8 & 255, 69000 >> 16, 0x70, 'c', 'd', 'e', 'f', 'g', 'h', 'i'};
  for (const int b : rest) block.push_back(static_cast<std::byte>(b));
  small_builder b;
  b.add(p, block);
  const outcome o = expand(b.write());
  REQUIRE(o.status);
  CHECK(std::string(reinterpret_cast<const char*>(o.bytes.data()) + 69999, 17) == "abaaaaaaaacdefghi");
  block[block.size() - 9] = std::byte{2};  // before the part
  small_builder bad;
  bad.add(p, block);
  CHECK(code_of(bad) == nsk::status_code::bad_part);
}

TEST_CASE("prepare: parts that contradict themselves are refused") {
  using nsk::part_kind;
  using nsk::stored_number;
  for (const part_kind kind : {part_kind::panels, part_kind::winograd4, part_kind::winograd2})
    for (const stored_number numbers : {stored_number::float32, stored_number::float16, stored_number::byte,
                                        stored_number::centred_byte, stored_number::scaled_float16}) {
      const auto good = [&] { return one_part(kind, numbers, 19, 3); };
      CHECK(code_of(good()) == nsk::status_code::ok);
      const auto refused = [&](auto&& change) {
        small_builder b = good();
        change(b.last());
        return code_of(b) == nsk::status_code::bad_part;
      };
      CHECK(refused([](nsk::small_part& p) { p.kind = static_cast<part_kind>(6); }));
      CHECK(refused([](nsk::small_part& p) { p.numbers = static_cast<stored_number>(5); }));
      CHECK(refused([](nsk::small_part& p) { p.flags = 6; }));  // no source of codes
      CHECK(refused([](nsk::small_part& p) { p.flags = 4; }));  // codes of a part before, which there is not
      CHECK(refused([](nsk::small_part& p) { p.flags = 2; }));  // all lengths are 0
      CHECK(refused([](nsk::small_part& p) { p.flags = 1; }));
      CHECK(refused([](nsk::small_part& p) { p.channels = 0; }));
      CHECK(refused([](nsk::small_part& p) { p.channels = 25; }));
      CHECK(refused([](nsk::small_part& p) { p.channels = 18; }));  // stores more than that
      CHECK(refused([](nsk::small_part& p) { p.channels = 0xffffffff; }));
      CHECK(refused([](nsk::small_part& p) { p.depth += 1; }));
      CHECK(refused([](nsk::small_part& p) { p.depth = 0xffffffff; }));
      CHECK(refused([](nsk::small_part& p) { p.zeros = 4; }));
      CHECK(refused([](nsk::small_part& p) { p.bytes += 4; }));
      CHECK(refused([](nsk::small_part& p) { p.bytes = 0; }));
      CHECK(refused([](nsk::small_part& p) { p.bytes = ~std::uint64_t{0}; }));
      CHECK(refused([](nsk::small_part& p) { p.stored_bytes = ~std::uint64_t{0} / 2; }));
    }
}

TEST_CASE("prepare: panels behind an odd number of bytes are refused, zeros follow others") {
  small_builder odd;
  odd.add_bytes(byte_list(63));
  nsk::small_part p{};
  p.kind = nsk::part_kind::panels;
  p.channels = 8;
  p.bytes = 32;
  odd.add(p, byte_list(32));
  CHECK(code_of(odd) == nsk::status_code::bad_part);
  small_builder even;
  p.zeros = 32;
  p.bytes = 64;
  even.add(p, byte_list(32, std::byte{1}));
  const outcome o = expand(even.write());
  REQUIRE(o.status);
  CHECK(o.bytes[31] == std::byte{1});
  for (std::size_t i = 32; i < 64; ++i) CHECK(o.bytes[i] == std::byte{0});
}

TEST_CASE("prepare: every truncation is refused") {
  const test::aligned_bytes file = one_part(nsk::part_kind::winograd4, nsk::stored_number::byte, 9, 2).write();
  test::aligned_bytes memory(nsk::required_bytes({file.data(), file.size()}));
  for (std::size_t n = 0; n < file.size(); ++n) {
    test::aligned_bytes part(n);
    if (n != 0) std::memcpy(part.data(), file.data(), n);
    CHECK(nsk::required_bytes({part.data(), n}) == 0);
    CHECK_FALSE(nsk::prepare({part.data(), n}, {memory.data(), memory.size()}));
  }
}

TEST_CASE("prepare: any bytes are expanded or refused") {
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    small_builder b = one_part(static_cast<nsk::part_kind>(2 + random() % 3),
                               static_cast<nsk::stored_number>(random() % 5), 1 + random() % 40, random() % 5);
    b.last().flags = static_cast<std::uint8_t>(random() % 2);
    b.add_compressed({0x12, 'a', 1, 0, 0x10, 'b'}, 8);
    add_codes(b, nsk::code_source::own, coded({'a', 'b', 'a', 'c'}, two_bits()), 4);
    add_codes(b, nsk::code_source::before, coded({'c', 'b'}, {}), 2);
    test::aligned_bytes file = b.write();
    for (unsigned changes = random() % 4 + 1; changes != 0; --changes)
      file.data()[8 + random() % (file.size() - 8)] ^= static_cast<std::byte>(1u << random() % 8);
    const nsk::span<const std::byte> bytes(file.data(), file.size());
    const std::size_t size = nsk::required_bytes(bytes);
    if (size > (1 << 20)) continue;
    const exact_memory memory(size);
    static_cast<void>(nsk::prepare(bytes, memory.span()));
  }
}

}
