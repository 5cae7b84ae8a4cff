// SPDX-License-Identifier: MIT
#pragma once
/// The one Vulkan device of a test program.
#include <doctest/doctest.h>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "devices/vulkan.hpp"
#include "software_driver.hpp"
#include "support.hpp"

namespace test {

/// Returns the SPIR-V that another compiler made of a kernel: KERNEL.spv in the folder that NSK_TEST_SPIRV names.
inline nsk::span<const std::uint32_t> spirv_of_folder(nsk::gpu::kernel k) {
  static std::vector<std::uint32_t> words[nsk::gpu::kernel_count];
  std::vector<std::uint32_t>& found = words[static_cast<int>(k)];
  if (found.empty()) {
    std::ifstream in(std::string(std::getenv("NSK_TEST_SPIRV")) + "/" + nsk::gpu::name_of(k) + ".spv",
                     std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(bytes.size() >= 4);
    found.resize(bytes.size() / 4);
    std::memcpy(found.data(), bytes.data(), found.size() * 4);
  }
  return {found.data(), found.size()};
}

/// Returns the device, null where this machine has none: then the test has said so and returns.
inline shared_pipelines<vulkan_device>* vulkan() {
  static shared_pipelines<vulkan_device> device;
  static const std::string missing = [] {
    prefer_software_driver();
    if (std::getenv("NSK_TEST_SPIRV")) device.find_spirv = spirv_of_folder;
    return device.open();
  }();
  if (missing.empty()) return &device;
  std::printf("SKIPPED: %s\n", missing.c_str());
  return nullptr;
}

}
