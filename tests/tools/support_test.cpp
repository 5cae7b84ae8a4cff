// SPDX-License-Identifier: MIT
// The table of operators tells what imports: no more, no less, and as docs/reference/operators.md has it.
#include <doctest/doctest.h>
#include <algorithm>
#include <fstream>
#include <sstream>
#include "import/tflite/import.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "passes/support.hpp"
#include "resolve/shapes/class_texts.hpp"
#include "resolve/shapes/sequences.hpp"
#include "spell/spell.hpp"

using namespace nsk::tool;

TEST_CASE("operators: every rule has one line in the table, and every line its rules") {
  std::vector<std::string> told;
  for (const operator_support& row : supported_operators())
    told.insert(told.end(), row.operators.begin(), row.operators.end());
  std::sort(told.begin(), told.end());
  std::vector<std::string> rules = operators_with_rules();
  for (const std::string& name : spelled_operators()) rules.push_back(name);
  for (const std::string& name : sequences::operators()) rules.push_back(name);
  for (const std::string& name : class_texts::operators()) rules.push_back(name);
  std::sort(rules.begin(), rules.end());
  CHECK(told == rules);
}

TEST_CASE("operators: the same for TensorFlow Lite") {
  std::vector<std::string> told;
  for (const operator_support& row : supported_tflite_operators())
    told.insert(told.end(), row.operators.begin(), row.operators.end());
  std::sort(told.begin(), told.end());
  CHECK(told == tflite_operators());
}

TEST_CASE("operators: docs/reference/operators.md is what `nsk operators` prints") {
  std::ifstream file(NSK_TEST_SOURCE_DIR "/docs/reference/operators.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE(text.str() == operators_page(), "write it again: nsk operators > docs/reference/operators.md");
}
