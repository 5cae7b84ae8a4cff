// SPDX-License-Identifier: MIT
#pragma once
/// The device that a test program is compiled for: what is in every_device/ runs on each.
#if defined(NSK_TEST_GL)
#include "gl_support.hpp"
#elif defined(NSK_TEST_D3D12)
#include "d3d12_support.hpp"
#elif defined(NSK_TEST_SHADERS)
#include "shader_device.hpp"
#else
#include "vulkan_support.hpp"
#endif

namespace test {

#if defined(NSK_TEST_GL)
using tested_device = shared_pipelines<gl_test_device>;
inline tested_device* device() { return gl(); }
#elif defined(NSK_TEST_D3D12)
using tested_device = shared_pipelines<d3d12_test_device>;
inline tested_device* device() { return d3d12(); }
#elif defined(NSK_TEST_SHADERS)
using tested_device = shared_pipelines<shader_device>;
inline tested_device* device() { return shaders(); }
#else
using tested_device = shared_pipelines<vulkan_device>;
inline tested_device* device() { return vulkan(); }
#endif

}
