// SPDX-License-Identifier: MIT
#define EXAMPLE_ENGINE_HERE
#include "support/vision_engine.hpp"

EXAMPLE_ENGINE(, example::vision_settings)
