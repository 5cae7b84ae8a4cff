// SPDX-License-Identifier: MIT
#pragma once
/// The one Vulkan device of a test program.
#include <doctest/doctest.h>

#include "devices/vulkan.hpp"
#include "software_driver.hpp"
#include "support.hpp"

namespace test {

/// Returns the device, null where this machine has none: then the test has said so and returns.
inline shared_pipelines<vulkan_device>* vulkan() {
  static shared_pipelines<vulkan_device> device;
  static const std::string missing = [] {
    prefer_software_driver();
    return device.open();
  }();
  if (missing.empty()) return &device;
  std::printf("SKIPPED: %s\n", missing.c_str());
  return nullptr;
}

}
