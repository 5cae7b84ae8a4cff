// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"
#include "NNERuntime.h"
#include "NNERuntimeCPU.h"
#include "NetsukeModel.h"
#include "UObject/Object.h"
#include "NetsukeRuntime.generated.h"

class UNNEModelData;

/** netsuke as a runtime of Unreal's neural network engine: UE::NNE::GetRuntime<INNERuntimeCPU>(TEXT("NetsukeCPU")).
 * Assets are imported .nsk files; shapes are those of the engine, images [N, H, W, C]. */
UCLASS()
class NETSUKENNE_API UNetsukeRuntime : public UObject, public INNERuntime, public INNERuntimeCPU {
  GENERATED_BODY()

 public:
  FString GetRuntimeName() const override;
  /** Takes .nsk files that this engine can run. */
  ECanCreateModelDataStatus CanCreateModelData(const FString& FileType, TConstArrayView64<uint8> FileData,
                                               const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData,
                                               const FGuid& FileId,
                                               const ITargetPlatform* TargetPlatform) const override;
  /** Keeps the file as it is: what is cooked are its bytes. */
  TSharedPtr<UE::NNE::FSharedModelData> CreateModelData(
      const FString& FileType, TConstArrayView64<uint8> FileData,
      const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData, const FGuid& FileId,
      const ITargetPlatform* TargetPlatform) override;
  FString GetModelDataIdentifier(const FString& FileType, TConstArrayView64<uint8> FileData,
                                 const TMap<FString, TConstArrayView64<uint8>>& AdditionalFileData, const FGuid& FileId,
                                 const ITargetPlatform* TargetPlatform) const override;
  ECanCreateModelCPUStatus CanCreateModelCPU(const TObjectPtr<UNNEModelData> ModelData) const override;
  TSharedPtr<UE::NNE::IModelCPU> CreateModelCPU(const TObjectPtr<UNNEModelData> ModelData) override;

  /** The model of an imported file, for UNetsukeSession: slices of a frame, states, tasks. Null with a reason where the
   * asset is none of ours. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  static UNetsukeModel* OpenModelData(UNNEModelData* ModelData, FString& Error);
};
