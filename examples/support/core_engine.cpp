// SPDX-License-Identifier: MIT
#define EXAMPLE_ENGINE_HERE
#include "support/core_engine.hpp"

EXAMPLE_ENGINE(, nsk::default_settings)
EXAMPLE_ENGINE(, nsk::all_settings)
