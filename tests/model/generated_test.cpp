// SPDX-License-Identifier: MIT
// The committed accessor header is what the schema gives.
#include <doctest/doctest.h>
#include <cstdlib>
#include <string>

TEST_CASE("generated accessors: committed header and schema agree") {
  const std::string root = NSK_TEST_SOURCE_DIR;
  const std::string probe = "flatc --version 2>/dev/null | grep -q ' 2\\.0\\.8'";
  if (std::system(probe.c_str()) != 0) {
    MESSAGE("flatc 2.0.8 is not installed: not compared");
    return;
  }
  const std::string command = "python3 '" + root + "/tools/regenerate_schema.py' --check";
  CHECK(std::system(command.c_str()) == 0);
}
