// SPDX-License-Identifier: MIT
#include "NetsukeModel.h"
#include "HAL/UnrealMemory.h"
#include "Misc/FileHelper.h"
#include <netsuke/c/netsuke.h>

LLM_DEFINE_TAG(Netsuke);

void* FNetsukeMemory::Allocate(SIZE_T Bytes) {
  LLM_SCOPE_BYTAG(Netsuke);
  Free();
  Block = FMemory::Malloc(Bytes, 64);
  return Block;
}

void FNetsukeMemory::Free() {
  FMemory::Free(Block);
  Block = nullptr;
}

void FNetsukeMemory::Swap(FNetsukeMemory& Other) {
  void* const Mine = Block;
  Block = Other.Block;
  Other.Block = Mine;
}

bool UNetsukeModel::Succeeded(const nsk_status& Status, const UNetsukeModel* InModel, FString& Error) {
  if (Status.code == nsk_status_ok) return true;
  char Line[2048];
  nsk_status_format(Status, InModel != nullptr ? InModel->Handle() : nullptr, 0, Line, sizeof Line);
  Error = FString(UTF8_TO_TCHAR(nsk_status_name(Status.code))) + TEXT(": ") + FString(UTF8_TO_TCHAR(Line));
  return false;
}

bool UNetsukeModel::LoadFile(const FString& Path, FString& Error) {
  TArray<uint8> Bytes;
  if (FFileHelper::LoadFileToArray(Bytes, *Path)) return Open(Bytes, Error);
  Error = FString(TEXT("the file cannot be read: ")) + Path;
  return false;
}

bool UNetsukeModel::Open(const TArray<uint8>& Bytes, FString& Error) {
  if (Model != nullptr) {
    Error = TEXT("the model is open already, and sessions may use it: make another UNetsukeModel");
    return false;
  }
  SIZE_T FileBytes = static_cast<SIZE_T>(Bytes.Num());
  const SIZE_T Prepared = nsk_prepare_required_bytes(Bytes.GetData(), FileBytes);  // of a small file
  void* const Copy = File.Allocate((Prepared != 0 ? Prepared : FileBytes) + 1);
  if (Prepared == 0) {
    FMemory::Memcpy(Copy, Bytes.GetData(), FileBytes);
  } else {
    if (!Succeeded(nsk_prepare(Bytes.GetData(), FileBytes, Copy, Prepared), nullptr, Error)) return false;
    FileBytes = Prepared;
  }
  void* const HandleMemory = Memory.Allocate(nsk_model_required_bytes());
  return Succeeded(nsk_model_open(HandleMemory, nsk_model_required_bytes(), Copy, FileBytes, 0, &Model), nullptr,
                   Error);
}

static TArray<int32> ShapeOf(const nsk_port& Port) {
  TArray<int32> Shape;
  for (int32 i = 0; i < Port.rank; ++i) Shape.Add(Port.shape[i]);
  return Shape;
}

TArray<int32> UNetsukeModel::InputShape(int32 Input) const {
  nsk_port Port = {};
  return nsk_model_input(Model, 0, Input, &Port, sizeof Port).code == nsk_status_ok ? ShapeOf(Port) : TArray<int32>();
}

TArray<int32> UNetsukeModel::OutputShape(int32 Output) const {
  nsk_port Port = {};
  return nsk_model_output(Model, 0, Output, &Port, sizeof Port).code == nsk_status_ok ? ShapeOf(Port) : TArray<int32>();
}

void UNetsukeModel::FinishDestroy() {
  if (Model != nullptr) nsk_model_close(Model);
  Model = nullptr;
  Memory.Free();
  File.Free();
  UObject::FinishDestroy();
}
