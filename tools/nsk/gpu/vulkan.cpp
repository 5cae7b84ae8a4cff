// SPDX-License-Identifier: MIT
#include "gpu/kinds.hpp"

#if defined(NSK_DEVICE_VULKAN)
#include <devices/vulkan.hpp>

#include "gpu/device_session.hpp"

namespace nsk::tool {
std::unique_ptr<device_runner> open_vulkan(const device_request& request) {
  return open_session("vulkan", std::make_unique<vulkan_device>(),
                      "Install the driver of the GPU, or Mesa's software driver (Debian and Ubuntu: apt-get install "
                      "libvulkan1 mesa-vulkan-drivers).",
                      request);
}
}
#else
std::unique_ptr<nsk::tool::device_runner> nsk::tool::open_vulkan(const device_request&) {
  not_built("vulkan", "libvulkan-dev");
}
#endif
