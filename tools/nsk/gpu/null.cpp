// SPDX-License-Identifier: MIT
#include <devices/null.hpp>

#include "gpu/device_session.hpp"
#include "gpu/kinds.hpp"

namespace nsk::tool {
namespace {

/// Computes nothing: what recording alone takes.
class recording_device : public null_device {
 public:
  std::string open() { return {}; }
  const char* name() const { return "no device, nothing is computed"; }
  bool is_software() const { return false; }
  double microseconds() const { return 0; }
  void bind(list&, const gpu::bindings<recording_device>&) { ++counts.binds; }
};

}

std::unique_ptr<device_runner> open_null(const device_request& request) {
  return open_session("null", std::make_unique<recording_device>(), "", request);
}

}
