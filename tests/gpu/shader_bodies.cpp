// SPDX-License-Identifier: MIT
// Every kernel as C++, each in a namespace of its own. shader_bodies.inc, which CMake writes from NSK_GPU_KERNEL_LIST,
// includes the texts: NSK_SHADER_BEGIN(name, waits), the text, NSK_SHADER_END(name).
#include "shader_runtime.hpp"

#include <netsuke/gpu/pipeline.hpp>

namespace test {
nsk_shader::kernel_body body_of(nsk::gpu::kernel k);
}

#define NSK_SHADER_BEGIN(name) \
  namespace nsk_shader {       \
  namespace kernel_##name {
#define NSK_SHADER_END \
  }                    \
  }
#include "shader_bodies.inc"

nsk_shader::kernel_body test::body_of(nsk::gpu::kernel k) {
  switch (k) {
#define NSK_SHADER_BODY(name, file, pixels)                                        \
  case nsk::gpu::kernel::name:                                                     \
    return {nsk_shader::kernel_##name::run_thread, &nsk_shader::kernel_##name::pc, \
            sizeof nsk_shader::kernel_##name::pc, nsk_shader::kernel_##name::waits};
    NSK_GPU_KERNEL_LIST(NSK_SHADER_BODY)
#undef NSK_SHADER_BODY
  }
  return {};
}
