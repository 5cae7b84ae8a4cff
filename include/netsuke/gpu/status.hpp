// SPDX-License-Identifier: MIT
#pragma once
/// How the GPU path reports: as all others do. Devices of a renderer return nsk::gpu::status.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>

NSK_BEGIN
namespace gpu {
using nsk::status;
using nsk::status_code;
using nsk::status_place;
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
