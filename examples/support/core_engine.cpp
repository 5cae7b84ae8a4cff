// SPDX-License-Identifier: MIT
#define EXAMPLE_ENGINE_HERE
#include "support/core_engine.hpp"

NSK_KERNELS(, nsk::default_settings)
NSK_KERNELS(, nsk::all_settings)
