// SPDX-License-Identifier: MIT
#pragma once
/// The one Vulkan device of a test program.
#include <doctest/doctest.h>
#include <cstdlib>
#include <filesystem>

#include "devices/vulkan.hpp"
#include "support.hpp"

namespace test {

/// Names Mesa's software driver to the loader where it is installed and nobody named another.
inline void prefer_software_driver() {
#if !defined(_WIN32)
  for (const char* const machine : {"x86_64", "aarch64"}) {
    const std::string driver = std::string("/usr/share/vulkan/icd.d/lvp_icd.") + machine + ".json";
    if (std::filesystem::exists(driver)) setenv("VK_ICD_FILENAMES", driver.c_str(), 0);
  }
#endif
}

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
