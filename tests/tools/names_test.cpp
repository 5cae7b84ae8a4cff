// SPDX-License-Identifier: MIT
#include "graph/names.hpp"
#include <doctest/doctest.h>
#include "errors.hpp"

using namespace nsk::tool;

namespace {

std::string refusal(const std::string& name) {
  try {
    require_name(name, "it");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}

TEST_CASE("names are UTF-8 without control characters") {
  for (const char* good :
       {"", "conv_1/kernel:0", "caf\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(refusal(good) == "");
  const std::string bad[] = {std::string("a\0b", 3),
                             "a\nb",
                             "\x1b[2J",
                             "a\x7f",
                             "\xc2\x80",
                             "\x80",
                             "\xc0\xaf",
                             "\xc3",
                             "\xe0\x80\x80",
                             "\xed\xa0\x80",
                             "\xf0\x80\x80\x80",
                             "\xf4\x90\x80\x80",
                             "\xf8\x88\x80\x80\x80",
                             "\xe4\xb8"};
  for (const std::string& name : bad) {
    const std::string message = refusal(name);
    CHECK(message.find("position") != std::string::npos);
    for (char c : message) CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
}

TEST_CASE("long names are refused, and shown in part") {
  CHECK(refusal(std::string(16384, 'n')) == "");
  const std::string message = refusal(std::string(16385, 'n'));
  CHECK(message.find("16385 bytes") != std::string::npos);
  CHECK(message.size() < 200);
}

TEST_CASE("bytes that are no UTF-8 become U+FFFD, one by one; control characters stay") {
  CHECK(utf8_text("caf\xc3\xa9\n") == "caf\xc3\xa9\n");
  CHECK(utf8_text("\xff\xe4\xb8") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(utf8_text("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}
