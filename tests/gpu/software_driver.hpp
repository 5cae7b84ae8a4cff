// SPDX-License-Identifier: MIT
#pragma once
/// Which driver of Vulkan tests take.
#include <cstdlib>
#include <filesystem>
#include <string>

namespace test {

/// Names Mesa's software driver to the loader where it is installed and no variable named another.
inline void prefer_software_driver() {
#if !defined(_WIN32)
  for (const char* const machine : {"x86_64", "aarch64"}) {
    const std::string driver = std::string("/usr/share/vulkan/icd.d/lvp_icd.") + machine + ".json";
    if (std::filesystem::exists(driver)) setenv("VK_ICD_FILENAMES", driver.c_str(), 0);
  }
#endif
}

}
