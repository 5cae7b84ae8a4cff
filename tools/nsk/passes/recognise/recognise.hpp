// SPDX-License-Identifier: MIT
#pragma once
/// Several operations that compute what the engine has one operation for.
#include "program/program.hpp"

namespace nsk::tool {

/// Puts one operation in the place of several that compute the same: normalisation along one axis with its scale and
/// bias, GELU.
void recognise(program& p);
/// Finds the cells of LSTM and GRU layers whose gates were spelled out.
void recognise_cells(program& p);

}
