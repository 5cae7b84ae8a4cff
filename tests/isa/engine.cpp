// SPDX-License-Identifier: MIT
// The whole engine with every operator, for one instruction set: compiled, not linked.
#include <netsuke/all_ops.hpp>

template class nsk::session<nsk::all_settings>;
