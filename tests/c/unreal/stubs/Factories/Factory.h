// SPDX-License-Identifier: MIT
#pragma once
#include "UObject/Object.h"

class FFeedbackContext;

class UFactory : public UObject {
 public:
  virtual UObject* FactoryCreateBinary(UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags,
                                       UObject* Context, const TCHAR* Type, const uint8*& Buffer,
                                       const uint8* BufferEnd, FFeedbackContext* Warn) = 0;
  UClass* SupportedClass = nullptr;
  TArray<FString> Formats;
  bool bEditorImport = false, bCreateNew = true;
};
