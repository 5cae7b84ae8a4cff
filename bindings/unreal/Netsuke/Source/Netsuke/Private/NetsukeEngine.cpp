// SPDX-License-Identifier: MIT
// The engine's code is in this file alone. Put the settings type of your models in the place of nsk::all_settings.
#include <netsuke/all_ops.hpp>
#define NSK_C_IMPLEMENTATION nsk::all_settings
#include <netsuke/c/netsuke.h>
