// SPDX-License-Identifier: MIT
#pragma once
#include <vcruntime.h>
