// SPDX-License-Identifier: MIT
#include "gpu/kinds.hpp"

#if defined(NSK_DEVICE_D3D12)
#include <devices/d3d12.hpp>

#include "gpu/device_session.hpp"

namespace nsk::tool {
std::unique_ptr<device_runner> open_d3d12(const device_request& request) {
  if (const std::string missing = hlsl::missing_compiler(); !missing.empty())
    misuse("--device d3d12: " + missing + ".");
  return open_session("d3d12", std::make_unique<d3d12_device>(),
                      "Install the driver of the GPU; elsewhere than on Windows vkd3d and a Vulkan driver (Debian and "
                      "Ubuntu: apt-get install libvkd3d-utils1 mesa-vulkan-drivers).",
                      request);
}
}
#else
std::unique_ptr<nsk::tool::device_runner> nsk::tool::open_d3d12(const device_request&) {
  not_built("d3d12", "libvkd3d-dev");
}
#endif
