// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"
#include "HAL/LowLevelMemTracker.h"
#include "UObject/Object.h"
#include "NetsukeModel.generated.h"

struct nsk_model;
struct nsk_status;

DECLARE_LOG_CATEGORY_EXTERN(LogNetsuke, Log, All);

/** The memory of all models and sessions, in Memory Insights and `stat LLM`. */
LLM_DECLARE_TAG_API(Netsuke, NETSUKE_API);

/** Memory at a multiple of 64 bytes: files, handles and arenas. */
class NETSUKE_API FNetsukeMemory {
 public:
  FNetsukeMemory() = default;
  FNetsukeMemory(const FNetsukeMemory&) = delete;
  FNetsukeMemory& operator=(const FNetsukeMemory&) = delete;
  ~FNetsukeMemory() { Free(); }
  void* Allocate(SIZE_T Bytes);
  void Free();
  void Swap(FNetsukeMemory& Other);

 private:
  void* Block = nullptr;
};

/** A verified .nsk file. Sessions keep it alive. */
UCLASS(BlueprintType)
class NETSUKE_API UNetsukeModel : public UObject {
  GENERATED_BODY()

 public:
  /** Opens a file; false with a reason when it is not one that this engine can run. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool LoadFile(const FString& Path, FString& Error);

  /** Opens the bytes of a file, which are copied; false with a reason, as LoadFile. */
  bool Open(const TArray<uint8>& Bytes, FString& Error);

  const nsk_model* Handle() const { return Model; }
  /** Lengths of an input's or output's dimensions; images are [N, H, W, C]. Empty where there is no such port. */
  TArray<int32> InputShape(int32 Input) const;
  TArray<int32> OutputShape(int32 Output) const;

  void FinishDestroy() override;

  /** True when the call succeeded; otherwise Error says which step or port is at fault, why, and what to do. Names are
   * those of InModel, where there is one. */
  static bool Succeeded(const nsk_status& Status, const UNetsukeModel* InModel, FString& Error);

 private:
  FNetsukeMemory File, Memory;
  nsk_model* Model = nullptr;
};
