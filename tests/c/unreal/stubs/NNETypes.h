// SPDX-License-Identifier: MIT
#pragma once
// Shapes and descriptions of tensors, as an NNE runtime makes them.
#include "CoreMinimal.h"

enum class ENNETensorDataType : uint8 { None, Float, Half, Int8, UInt8, Int16, Int32, Int64, Boolean };

namespace UE::NNE {

template <class T>
class shape_of {
 public:
  static shape_of Make(TConstArrayView<T> lengths) {
    shape_of made;
    made.m_lengths.assign(lengths.GetData(), lengths.GetData() + lengths.Num());
    return made;
  }
  TConstArrayView<T> GetData() const { return {m_lengths.data(), Rank()}; }
  int32 Rank() const { return static_cast<int32>(m_lengths.size()); }
  bool operator==(const shape_of& other) const { return m_lengths == other.m_lengths; }

 private:
  std::vector<T> m_lengths;
};
using FTensorShape = shape_of<uint32>;
using FSymbolicTensorShape = shape_of<int32>;

class FTensorDesc {
 public:
  static FTensorDesc Make(const FString& name, const FSymbolicTensorShape& shape, ENNETensorDataType type) {
    FTensorDesc made;
    made.m_name = name;
    made.m_shape = shape;
    made.m_type = type;
    return made;
  }
  const FString& GetName() const { return m_name; }
  const FSymbolicTensorShape& GetShape() const { return m_shape; }
  ENNETensorDataType GetDataType() const { return m_type; }

 private:
  FString m_name;
  FSymbolicTensorShape m_shape;
  ENNETensorDataType m_type = ENNETensorDataType::None;
};

}
