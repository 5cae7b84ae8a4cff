// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"

/// Bytes with a counted owner, at an odd address: what an asset's bytes may have.
class FSharedBuffer {
 public:
  static FSharedBuffer Clone(const void* data, uint64 size) {
    FSharedBuffer made;
    made.m_bytes = std::make_shared<std::vector<uint8>>(size + 1);
    made.m_size = size;
    if (size > 0) std::memcpy(made.m_bytes->data() + 1, data, size);
    return made;
  }
  const void* GetData() const { return m_bytes->data() + 1; }
  uint64 GetSize() const { return m_size; }

 private:
  std::shared_ptr<std::vector<uint8>> m_bytes;
  uint64 m_size = 0;
};
