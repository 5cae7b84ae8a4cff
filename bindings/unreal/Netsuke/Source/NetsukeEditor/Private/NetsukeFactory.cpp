// SPDX-License-Identifier: MIT
#include "NetsukeFactory.h"
#include "Modules/ModuleManager.h"
#include "NNEModelData.h"
#include "NetsukeModel.h"

UNetsukeFactory::UNetsukeFactory() {
  SupportedClass = UNNEModelData::StaticClass();
  bEditorImport = true;
  bCreateNew = false;
  Formats.Add(TEXT("nsk;netsuke model"));
}

UObject* UNetsukeFactory::FactoryCreateBinary(UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags,
                                              UObject*, const TCHAR* Type, const uint8*& Buffer, const uint8* BufferEnd,
                                              FFeedbackContext*) {
  const SIZE_T Size = static_cast<SIZE_T>(BufferEnd - Buffer);
  TArray<uint8> Bytes;
  Bytes.Append(Buffer, static_cast<int32>(Size));
  FString Error;
  UNetsukeModel* const Model = NewObject<UNetsukeModel>();
  if (!Model->Open(Bytes, Error)) {  // the reason is in the log, the import fails
    UE_LOG(LogNetsuke, Error, TEXT("%s"), *Error);
    return nullptr;
  }
  UNNEModelData* const ModelData = NewObject<UNNEModelData>(InParent, InClass, InName, Flags);
  ModelData->Init(Type, TConstArrayView64<uint8>(Buffer, static_cast<int64>(Size)));
  return ModelData;
}

IMPLEMENT_MODULE(FDefaultModuleImpl, NetsukeEditor)
