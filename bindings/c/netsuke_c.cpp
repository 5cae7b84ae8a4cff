// SPDX-License-Identifier: MIT
// The C interface as a library, with every operator. A game that wants a smaller one copies this file and puts the type
// that `nsk inspect --settings` prints in the place of nsk::all_settings.
#include <netsuke/all_ops.hpp>
#define NSK_C_IMPLEMENTATION nsk::all_settings
#include <netsuke/c/netsuke.h>
