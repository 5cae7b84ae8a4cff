// SPDX-License-Identifier: MIT
#include "NetsukeRuntime.h"
#include "Memory/SharedBuffer.h"
#include "NNEModelData.h"
#include "NetsukeModelCPU.h"
#include <netsuke/c/netsuke.h>

static constexpr uint32 FileAlignment = 64;

FString UNetsukeRuntime::GetRuntimeName() const { return TEXT("NetsukeCPU"); }

UNetsukeRuntime::ECanCreateModelDataStatus UNetsukeRuntime::CanCreateModelData(
    const FString& FileType, TConstArrayView64<uint8> FileData, const TMap<FString, TConstArrayView64<uint8>>&,
    const FGuid&, const ITargetPlatform*) const {
  const bool bOurs = FileType.Compare(TEXT("nsk"), ESearchCase::IgnoreCase) == 0;
  return bOurs && FileData.Num() > 0 ? ECanCreateModelDataStatus::Ok
                                     : ECanCreateModelDataStatus::FailFileIdNotSupported;
}

TSharedPtr<UE::NNE::FSharedModelData> UNetsukeRuntime::CreateModelData(
    const FString& FileType, TConstArrayView64<uint8> FileData,
    const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData, const FGuid& FileId,
    const ITargetPlatform* TargetPlatform) {
  if (CanCreateModelData(FileType, FileData, AdditionalFileData, FileId, TargetPlatform) !=
      ECanCreateModelDataStatus::Ok)
    return nullptr;
  return MakeShared<UE::NNE::FSharedModelData>(
      FSharedBuffer::Clone(FileData.GetData(), static_cast<uint64>(FileData.Num())), FileAlignment);
}

FString UNetsukeRuntime::GetModelDataIdentifier(const FString&, TConstArrayView64<uint8>,
                                                const TMap<FString, TConstArrayView64<uint8>>&, const FGuid& FileId,
                                                const ITargetPlatform*) const {
  // The bytes depend on the file alone: neither on the platform nor on the version of this plug-in.
  return FString(TEXT("NetsukeCPU-")) + FileId.ToString(EGuidFormats::Digits);
}

UNetsukeRuntime::ECanCreateModelCPUStatus UNetsukeRuntime::CanCreateModelCPU(
    const TObjectPtr<UNNEModelData> ModelData) const {
  const bool bThere = ModelData != nullptr && nsk_check_library(NSK_C_VERSION).code == nsk_status_ok &&
                      ModelData->GetModelData(GetRuntimeName()).IsValid();
  return bThere ? ECanCreateModelCPUStatus::Ok : ECanCreateModelCPUStatus::Fail;
}

TSharedPtr<UE::NNE::IModelCPU> UNetsukeRuntime::CreateModelCPU(const TObjectPtr<UNNEModelData> ModelData) {
  if (CanCreateModelCPU(ModelData) != ECanCreateModelCPUStatus::Ok) return nullptr;
  FString Error;
  TSharedPtr<FNetsukeModelCPU> Model = MakeShared<FNetsukeModelCPU>();
  if (Model->Init(ModelData->GetModelData(GetRuntimeName()), Error)) return Model;
  UE_LOG(LogNetsuke, Error, TEXT("%s"), *Error);
  return nullptr;
}

UNetsukeModel* UNetsukeRuntime::OpenModelData(UNNEModelData* ModelData, FString& Error) {
  TSharedPtr<UE::NNE::FSharedModelData> Data;
  if (ModelData != nullptr) Data = ModelData->GetModelData(TEXT("NetsukeCPU"));
  if (!Data.IsValid()) {
    Error = TEXT("the asset has no .nsk file: import one, and let NetsukeCPU be among its target runtimes");
    return nullptr;
  }
  TArray<uint8> Bytes;
  Bytes.Append(Data->GetView().GetData(), static_cast<int32>(Data->GetView().Num()));
  UNetsukeModel* const Model = NewObject<UNetsukeModel>();
  return Model->Open(Bytes, Error) ? Model : nullptr;
}
