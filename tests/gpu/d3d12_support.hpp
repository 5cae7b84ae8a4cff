// SPDX-License-Identifier: MIT
#pragma once
/// The one Direct3D 12 device of a test program. Elsewhere than on Windows blobs come from the FXC that
/// tools/hlsl_compilers.py fetched into the folder hlsl_compilers of the build, unless NSK_FXC names another.
#include <doctest/doctest.h>

#include "devices/d3d12.hpp"
#include "software_driver.hpp"
#include "support.hpp"

namespace test {

/// Prints what the compiler of HLSL says.
class d3d12_test_device : public d3d12_device {
 public:
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) {
    const status s = d3d12_device::create_pipeline(key, made);
    for (const std::string& said : messages) std::printf("%s\n", said.c_str());
    messages.clear();
    return s;
  }
  void bind(list& l, const nsk::gpu::bindings<d3d12_test_device>& b) {
    d3d12_device::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
};

inline void prefer_fetched_compiler() {
#if !defined(_WIN32)
  const char* const program = NSK_TEST_BINARY_DIR "/hlsl_compilers/fxc";
  if (!std::filesystem::exists(program) || !std::filesystem::exists("/usr/bin/wine")) return;
  setenv("NSK_FXC", program, 0);
  setenv("NSK_FXC_CACHE", NSK_TEST_BINARY_DIR "/hlsl_blobs", 0);
#endif
}

/// Returns the device, null where this machine has none: then the test has said so and returns.
inline shared_pipelines<d3d12_test_device>* d3d12() {
  static shared_pipelines<d3d12_test_device> device;
  static const std::string missing = [] {
    prefer_software_driver();
    prefer_fetched_compiler();
    const std::string compiler = hlsl::missing_compiler();
    return compiler.empty() ? device.open() : compiler;
  }();
  if (missing.empty()) return &device;
  std::printf("SKIPPED: %s\n", missing.c_str());
  return nullptr;
}

}
