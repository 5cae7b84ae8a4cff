// SPDX-License-Identifier: MIT
#pragma once
// Unreal Header Tool writes this file.
