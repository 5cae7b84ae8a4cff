// SPDX-License-Identifier: MIT
#pragma once
/// Kernels of the settings of examples that look at photos, compiled once like those of core_engine.hpp.
#include "support/core_engine.hpp"
#include "support/vision.hpp"

#if !defined(EXAMPLE_ENGINE_HERE)
NSK_KERNELS(extern, example::vision_settings)
#endif
