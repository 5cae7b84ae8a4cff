// SPDX-License-Identifier: MIT
#pragma once
#include <fstream>
#include <iterator>
#include "CoreMinimal.h"

struct FFileHelper {
  static bool LoadFileToArray(TArray<uint8>& bytes, const TCHAR* path) {
    std::ifstream file(path, std::ios::binary);
    for (std::istreambuf_iterator<char> i(file), end; i != end; ++i) bytes.Add(static_cast<uint8>(*i));
    return bytes.Num() > 0;
  }
};
