// SPDX-License-Identifier: MIT
#pragma once
#include "Async/TaskGraphInterfaces.h"
#include "CoreMinimal.h"
#include "NetsukeModel.h"
#include "UObject/Object.h"
#include "NetsukeSession.generated.h"

struct nsk_session;
struct nsk_status;

DECLARE_DYNAMIC_MULTICAST_DELEGATE(FNetsukeDone);

/** A model with memory of its own: inputs, outputs, states. Used from the game thread; while a task runs, every call
 * but IsRunning gives false. */
UCLASS(BlueprintType)
class NETSUKE_API UNetsukeSession : public UObject {
  GENERATED_BODY()

 public:
  /** Makes the session, with memory for so many lanes. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool Start(UNetsukeModel* InModel, int32 Lanes, FString& Error);

  /** Copies a whole input or output of floats. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool WriteInput(int32 Input, const TArray<float>& Values, FString& Error);
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool ReadOutput(int32 Output, TArray<float>& Values, FString& Error);

  /** Runs a whole inference on this thread. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool Run(FString& Error);

  /** Runs for so many microseconds; bComplete says whether the inference is complete. The next call goes on. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool RunForTime(int64 Microseconds, bool& bComplete, FString& Error);

  /** Runs a whole inference as a task; OnDone is broadcast on the game thread. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool RunAsync(FString& Error);

  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool IsRunning() const { return Task.IsValid() && !Task->IsComplete(); }

  /** Gives every state its initial value. */
  UFUNCTION(BlueprintCallable, Category = "Netsuke")
  bool Reset(FString& Error);

  UPROPERTY(BlueprintAssignable, Category = "Netsuke")
  FNetsukeDone OnDone;

  bool IsReadyForFinishDestroy() override { return UObject::IsReadyForFinishDestroy() && !IsRunning(); }
  void FinishDestroy() override;

 private:
  bool Idle(FString& Error) const;
  bool Succeeded(const nsk_status& Status, FString& Error) const;

  UPROPERTY()
  TObjectPtr<UNetsukeModel> Model;
  FNetsukeMemory Arena, Memory;
  nsk_session* Session = nullptr;
  FGraphEventRef Task;
};
