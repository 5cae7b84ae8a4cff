// SPDX-License-Identifier: MIT
#include "suggest.hpp"
#include <doctest/doctest.h>
#include "inspect/inspect.hpp"

using namespace nsk::tool;

TEST_CASE("the distance of two texts counts letters changed, added, left out and swapped") {
  CHECK(edit_distance("check", "check") == 0);
  CHECK(edit_distance("chekc", "check") == 1);
  CHECK(edit_distance("chec", "check") == 1);
  CHECK(edit_distance("Check", "checks") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is named, where one is near") {
  const std::vector<std::string> names = {"--input", "--output", "--check", "--no-check", "-o"};
  CHECK(nearest("--inptu", names) == "--input");
  CHECK(nearest("--chekc", names) == "--check");
  CHECK(nearest("--unrelated", names) == "");
  CHECK(nearest("obs", {"obs_0", "masks"}) == "obs_0");
  CHECK(did_you_mean("masc", {"obs_0", "mask"}) == " Did you mean 'mask'?");
  CHECK(did_you_mean("x", {}) == "");
  CHECK(nearest("z", {"x", "y"}) == "");
  CHECK(nearest("--see", {"--set", "--seed"}) == "--seed");
  CHECK(nearest(std::string(5000, 'a'), {std::string(5000, 'b')}) == "");
}

TEST_CASE("a settings type is called after its file, in an identifier that is not reserved") {
  CHECK(settings_name("face") == "face_settings");
  CHECK(settings_name("3d ball--v1.2") == "model_3d_ball_v1_2_settings");
  CHECK(settings_name("__Hidden__") == "Hidden_settings");
  CHECK(settings_name("\xc3\xbc") == "model_settings");
  CHECK(settings_name("") == "model_settings");
  CHECK(settings_name("my_settings") == "my_settings");
}
