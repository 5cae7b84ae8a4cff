// SPDX-License-Identifier: MIT
#pragma once
/// A device profile on disk.
#include <string>
#include "profile/profile.hpp"

namespace nsk::tool {

/// Reads a profile that `nsk profile` wrote. Refuses what is missing or is none.
device_profile open_profile(const std::string& path);

}
