// SPDX-License-Identifier: MIT
#pragma once
#include "Memory/SharedBuffer.h"
#include "NNEStatus.h"

class ITargetPlatform;

namespace UE::NNE {

/// The bytes that a runtime has made of an asset, with the alignment that it asked for.
class FSharedModelData {
 public:
  FSharedModelData(FSharedBuffer data, uint32 alignment) : m_data(data), m_alignment(alignment) {}
  TConstArrayView64<uint8> GetView() const {
    return {static_cast<const uint8*>(m_data.GetData()), static_cast<int64>(m_data.GetSize())};
  }
  uint32 GetMemoryAlignment() const { return m_alignment; }

 private:
  FSharedBuffer m_data;
  uint32 m_alignment;
};

}

class INNERuntime {
 public:
  enum class ECanCreateModelDataStatus : uint8 { Ok, Fail, FailFileIdNotSupported };
  virtual ~INNERuntime() = default;
  virtual FString GetRuntimeName() const = 0;
  virtual ECanCreateModelDataStatus CanCreateModelData(
      const FString& FileType, TConstArrayView64<uint8> FileData,
      const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData, const FGuid& FileId,
      const ITargetPlatform* TargetPlatform) const = 0;
  virtual TSharedPtr<UE::NNE::FSharedModelData> CreateModelData(
      const FString& FileType, TConstArrayView64<uint8> FileData,
      const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData, const FGuid& FileId,
      const ITargetPlatform* TargetPlatform) = 0;
  virtual FString GetModelDataIdentifier(const FString& FileType, TConstArrayView64<uint8> FileData,
                                         const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData,
                                         const FGuid& FileId, const ITargetPlatform* TargetPlatform) const = 0;
};
