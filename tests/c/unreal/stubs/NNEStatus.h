// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"

namespace UE::NNE {
enum class EResultStatus : uint8 { Ok, Fail };
}
