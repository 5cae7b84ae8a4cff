// SPDX-License-Identifier: MIT
// Opening files: good ones, damaged headers, every truncation, and the hash.
#include <doctest/doctest.h>
#include "sample_plans.hpp"
#include <netsuke/model/open.hpp>

namespace {

nsk::status open_bytes(const test::aligned_bytes& file, nsk::open_options options = {}) {
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m, options);
}

TEST_CASE("open: a valid file is seen as it was written") {
  const test::cnn_sample s = test::make_cnn();
  const test::aligned_bytes file = s.plan.write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m, {true}));
  CHECK(m.is_open());
  CHECK(m.signature() == 42);
  CHECK(std::string(m.name()) == "sample");
  CHECK(std::string(m.producer()) == "plan_builder");
  CHECK(m.variant_count() == 1);
  CHECK(m.find_variant("only") == 0);
  CHECK(m.find_variant("other") == -1);
  REQUIRE(m.metadata_count() == 1);
  CHECK(std::string(m.metadata_key(0)) == "license");
  CHECK(m.required_bytes(3) == s.plan.arena_bytes + 3 * s.plan.lane_bytes);
  const nsk::variant_view v = m.variant();
  CHECK(v.step_count() == test::cnn_sample::steps);
  CHECK(v.find_input("image") == 0);
  CHECK(v.find_input("scores") == -1);
  CHECK(v.find_output("scores") == 0);
  CHECK(std::string(v.input(0).color()) == "rgb");
  CHECK(v.input(0).bytes() == 8 * 8 * 3 * 4);
  const nsk::step_view stem = v.step(0);
  CHECK(stem.op() == nsk::op::conv_2d);
  CHECK(stem.tile_count() == 3);
  CHECK(stem.macs() == 8 * 8 * 16 * 27);
  CHECK(stem.params<nsk::op::conv_2d>().w.pad_left == 1);
  CHECK(stem.epilogue().beta == 6.0f);
  CHECK(stem.output().border().top == 1);
  CHECK(std::string(nsk::name_of(stem.op())) == "Conv2D");
}

TEST_CASE("open: several variants share constants") {
  test::plan_spec p = test::make_cnn().plan;
  p.variants = 3;
  const test::aligned_bytes file = p.write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  CHECK(m.variant_count() == 3);
}

TEST_CASE("open: every truncation is refused, and says so") {
  const test::aligned_bytes file = test::make_cnn().plan.write();
  for (std::size_t n = 0; n < file.size(); ++n) {
    // A copy in memory of exactly this size, so that reading past it is seen by the address sanitizer.
    std::vector<std::byte> part(n + 16);
    std::byte* start =
        part.data() + part.size() - n - (reinterpret_cast<std::uintptr_t>(part.data() + part.size() - n) % 16);
    std::memcpy(start, file.data(), n);
    nsk::model m;
    const nsk::status s = nsk::open({start, n}, m);
    REQUIRE_FALSE(s);
    CHECK_FALSE(m.is_open());
    if (n == 0 || n >= 8) CHECK(s.code() == nsk::status_code::too_short);
  }
}

TEST_CASE("open: bytes after the end of the file do not matter") {
  const test::aligned_bytes file = test::make_cnn().plan.write();
  test::aligned_bytes longer(file.size() + 1000, std::byte{0xee});
  std::memcpy(longer.data(), file.data(), file.size());
  CHECK(open_bytes(longer));
}

void change_header(test::aligned_bytes& file, void (*change)(nsk::file_header&)) {
  nsk::file_header h;
  std::memcpy(&h, file.data(), sizeof h);
  change(h);
  std::memcpy(file.data(), &h, sizeof h);
}

struct cnn_settings {
  using ops = nsk::op_list<nsk::op::conv_2d, nsk::op::depthwise_conv_2d, nsk::op::copy, nsk::op::reduce,
                           nsk::op::fully_connected, nsk::op::softmax>;
};
struct no_softmax {
  using ops = nsk::op_list<nsk::op::conv_2d, nsk::op::depthwise_conv_2d, nsk::op::copy, nsk::op::reduce,
                           nsk::op::fully_connected>;
};

TEST_CASE("open: settings decide which operators are verified") {
  const test::aligned_bytes file = test::make_cnn().plan.write();
  nsk::model m;
  CHECK(nsk::open<cnn_settings>({file.data(), file.size()}, m));
  CHECK(m.is_open());
  nsk::model other;
  const nsk::status s = nsk::open<no_softmax>({file.data(), file.size()}, other);
  CHECK(s.code() == nsk::status_code::unsupported_op);
  CHECK(s.where() == test::cnn_sample::softmax_step);
  CHECK_FALSE(other.is_open());
}

TEST_CASE("open: a file that uses an addition has its bit, and all known bits are accepted") {
  test::aligned_bytes file = test::make_cnn().plan.write();
  nsk::file_header h;
  std::memcpy(&h, file.data(), sizeof h);
  CHECK(h.features == 0);
  h.features = nsk::known_features;
  std::memcpy(file.data(), &h, sizeof h);
  CHECK(open_bytes(file));
}

TEST_CASE("open: a header that contradicts itself is refused") {
  using nsk::file_header;
  using nsk::status_code;
  struct invalid_case {
    status_code code;
    void (*change)(file_header&);
  };
  const invalid_case invalid_cases[] = {
      {status_code::bad_magic, [](file_header& h) { h.magic[0] = 'X'; }},
      {status_code::bad_magic, [](file_header& h) { std::memcpy(h.magic, "\x89PNG\r\n\x1a\n", 8); }},
      {status_code::wrong_version, [](file_header& h) { h.format_version = NSK_FORMAT_VERSION + 1; }},
      {status_code::wrong_version, [](file_header& h) { h.format_version = 0; }},
      {status_code::unknown_feature, [](file_header& h) { h.features = 0x80000000u; }},
      {status_code::bad_header, [](file_header& h) { h.table_offset = 0; }},
      {status_code::bad_header, [](file_header& h) { h.table_offset = ~std::uint64_t{63}; }},
      {status_code::bad_header, [](file_header& h) { h.table_bytes = ~std::uint64_t{0}; }},
      {status_code::bad_header, [](file_header& h) { h.table_bytes = h.file_bytes; }},
      {status_code::bad_header, [](file_header& h) { h.weights_offset += 4; }},
      {status_code::bad_header, [](file_header& h) { h.weights_offset = ~std::uint64_t{63}; }},
      {status_code::bad_header, [](file_header& h) { h.weights_bytes = 63; }},
      {status_code::bad_header, [](file_header& h) { h.weights_bytes += 64; }},
      {status_code::bad_header, [](file_header& h) { h.weights_bytes = ~std::uint64_t{0}; }},
      {status_code::bad_header, [](file_header& h) { h.file_bytes += 64; }},
      {status_code::too_short, [](file_header& h) { h.file_bytes += 64, h.weights_bytes += 64; }},
      {status_code::bad_structure, [](file_header& h) { h.table_bytes = 0; }},
      {status_code::bad_structure, [](file_header& h) { h.table_bytes = 12; }},
  };
  const test::aligned_bytes good = test::make_cnn().plan.write();
  for (const invalid_case& l : invalid_cases) {
    test::aligned_bytes file = good;
    change_header(file, l.change);
    const nsk::status s = open_bytes(file);
    CHECK_MESSAGE(s.code() == l.code, "case " << (&l - invalid_cases) << ": " << s.name());
    CHECK(std::strlen(s.message()) > 20);
  }
}

TEST_CASE("open: bytes at an odd address are refused") {
  const test::aligned_bytes file = test::make_cnn().plan.write();
  test::aligned_bytes moved(file.size() + 64);
  std::memcpy(moved.data() + 8, file.data(), file.size());
  nsk::model m;
  CHECK(nsk::open({moved.data() + 8, file.size()}, m).code() == nsk::status_code::misaligned_bytes);
}

TEST_CASE("open: the hash finds any changed byte") {
  const test::aligned_bytes good = test::make_cnn().plan.write();
  for (std::size_t i = sizeof(nsk::file_header); i < good.size(); i += 41) {
    test::aligned_bytes file = good;
    file.data()[i] ^= std::byte{4};
    CHECK(open_bytes(file, {true}).code() == nsk::status_code::wrong_hash);
  }
}

TEST_CASE("content_hash: known values, so that files of other builds agree") {
  CHECK(nsk::content_hash({}) != 0);
  std::vector<std::byte> bytes(100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  // The definition of content_hash, word by word, in the plainest way.
  const auto reference = [&](std::size_t n) {
    std::uint64_t lane[4] = {1, 2, 3, 4};
    const auto mix = [](std::uint64_t h, std::uint64_t w) {
      const std::uint64_t x = (h ^ w) * 0x9e3779b97f4a7c15u;
      return x << 29 | x >> 35;
    };
    for (std::size_t block = 0; block * 32 < n; ++block)
      for (std::size_t i = 0; i < 4; ++i) {
        std::uint64_t word = 0;
        for (std::size_t k = 0; k < 8; ++k) {
          const std::size_t at = block * 32 + i * 8 + k;
          if (at < n) word |= static_cast<std::uint64_t>(bytes[at]) << (8 * k);
        }
        lane[i] = mix(lane[i], word);
      }
    std::uint64_t h = mix(0, n);
    for (const std::uint64_t l : lane) h = mix(h, l);
    return h ^ h >> 32;
  };
  for (std::size_t n = 0; n <= bytes.size(); ++n) CHECK(nsk::content_hash({bytes.data(), n}) == reference(n));
}

TEST_CASE("status: every code has a name and a text") {
#define NSK_TEST_CODE(code, place, text) nsk::status_code::code,
  for (const nsk::status s : {NSK_STATUS_LIST(NSK_TEST_CODE)}) {
    CHECK(std::strlen(s.message()) > 5);
    CHECK(std::string(s.name()) != "unknown");
    const bool has_cure = std::strpbrk(s.message(), ":;,(") != nullptr;
    CHECK_MESSAGE((has_cure || s), s.name() << ": " << s.message());
  }
#undef NSK_TEST_CODE
}

}
