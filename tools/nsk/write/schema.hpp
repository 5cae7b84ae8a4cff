// SPDX-License-Identifier: MIT
#pragma once
/// Names that schema/netsuke.fbs gives to numbers of files.
#include <string>

namespace nsk::tool {

/// Returns the name of a value of one of the schema's enumerations ("PoolKind", 0: "max"), "" for a number that is
/// none.
std::string enumerator_name(const std::string& enumeration, int value);

}
