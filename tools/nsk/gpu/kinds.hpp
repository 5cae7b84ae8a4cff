// SPDX-License-Identifier: MIT
#pragma once
/// The devices that there are, each in its file. One whose headers were not found when nsk was built says so.
#include <memory>
#include <string>

#include "errors.hpp"
#include "gpu/device.hpp"

namespace nsk::tool {

using device_opener = std::unique_ptr<device_runner>(const device_request& request);
device_opener open_vulkan, open_gl, open_gles, open_d3d12, open_null;

/// Misuse of a device that this build lacks; `package` has its headers.
[[noreturn]] inline void not_built(const char* name, const char* package) {
  misuse(std::string("--device ") + name + ": this nsk was built without it. Install its headers (Debian and Ubuntu: " +
         "apt-get install " + package + "), then configure and build nsk again.");
}

}
