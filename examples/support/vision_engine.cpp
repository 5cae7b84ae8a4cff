// SPDX-License-Identifier: MIT
#define EXAMPLE_ENGINE_HERE
#include "support/vision_engine.hpp"

NSK_KERNELS(, example::vision_settings)
