// SPDX-License-Identifier: MIT
#pragma once
/// The same for the settings of examples that look at photos.
#include "support/core_engine.hpp"
#include "support/vision.hpp"

#if !defined(EXAMPLE_ENGINE_HERE)
EXAMPLE_ENGINE(extern, example::vision_settings)
#endif
