// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"
#include "Factories/Factory.h"
#include "NetsukeFactory.generated.h"

/** Imports .nsk files as UNNEModelData, whose cooked form holds the file's bytes. */
UCLASS()
class UNetsukeFactory : public UFactory {
  GENERATED_BODY()

 public:
  UNetsukeFactory();
  UObject* FactoryCreateBinary(UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, UObject* Context,
                               const TCHAR* Type, const uint8*& Buffer, const uint8* BufferEnd,
                               FFeedbackContext* Warn) override;
};
