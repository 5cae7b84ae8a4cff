// SPDX-License-Identifier: MIT
#pragma once
/// The one OpenGL device of a test program: OpenGL ES where the environment variable NSK_TEST_GLES is set.
#include <doctest/doctest.h>
#include <cstdlib>

#include "devices/gl.hpp"
#include "support.hpp"

namespace test {

class gl_test_device : public gl_device {
 public:
  gl_test_device() : gl_device(std::getenv("NSK_TEST_GLES") ? gl_language::essl_310 : gl_language::glsl_430) {}
  void bind(list& l, const nsk::gpu::bindings<gl_test_device>& b) {
    gl_device::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
};

/// Returns the device, null where this machine has none: then the test has said so and returns.
inline shared_pipelines<gl_test_device>* gl() {
  static shared_pipelines<gl_test_device> device;
  static const std::string missing = device.open();
  if (missing.empty()) return &device;
  std::printf("SKIPPED: %s\n", missing.c_str());
  return nullptr;
}

}
