// SPDX-License-Identifier: MIT
#include "gpu/kinds.hpp"

#if defined(NSK_DEVICE_GL)
#include <devices/gl.hpp>

#include "gpu/device_session.hpp"

namespace nsk::tool {
namespace {

std::unique_ptr<device_runner> open_language(const char* name, gl_language language, const device_request& request) {
  return open_session(name, std::make_unique<gl_device>(language),
                      "Install the driver of the GPU, or Mesa's software driver (Debian and Ubuntu: apt-get install "
                      "libegl1 libgl1-mesa-dri).",
                      request);
}

}

std::unique_ptr<device_runner> open_gl(const device_request& request) {
  return open_language("gl", gl_language::glsl_430, request);
}
std::unique_ptr<device_runner> open_gles(const device_request& request) {
  return open_language("gles", gl_language::essl_310, request);
}
}
#else
std::unique_ptr<nsk::tool::device_runner> nsk::tool::open_gl(const device_request&) {
  not_built("gl", "libgl-dev libegl-dev");
}
std::unique_ptr<nsk::tool::device_runner> nsk::tool::open_gles(const device_request&) {
  not_built("gles", "libgl-dev libegl-dev");
}
#endif
