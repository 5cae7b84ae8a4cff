// SPDX-License-Identifier: MIT
#pragma once
#include "NNE.h"
#include "UObject/Object.h"

/// An asset: the imported file, of which each runtime makes its data; cook() keeps the data alone.
class UNNEModelData : public UObject {
 public:
  static UClass* StaticClass() { return nullptr; }
  void Init(const FString& type, TConstArrayView64<uint8> data) {
    m_type = type;
    m_file.assign(data.GetData(), data.GetData() + data.Num());
  }
  TSharedPtr<UE::NNE::FSharedModelData> GetModelData(const FString& name) {
    INNERuntime* const runtime = UE::NNE::GetRuntime<INNERuntime>(name);
    if (!m_cooked && runtime != nullptr && !m_data.IsValid())
      m_data =
          runtime->CreateModelData(m_type, {m_file.data(), static_cast<int64>(m_file.size())}, {}, FGuid(), nullptr);
    return m_data;
  }
  void cook(const FString& name) {
    GetModelData(name);
    m_cooked = true;
    m_file.clear();
  }

 private:
  FString m_type;
  std::vector<uint8> m_file;
  TSharedPtr<UE::NNE::FSharedModelData> m_data;
  bool m_cooked = false;
};
