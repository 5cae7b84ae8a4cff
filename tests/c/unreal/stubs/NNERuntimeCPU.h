// SPDX-License-Identifier: MIT
#pragma once
#include "NNERuntimeRunSync.h"
#include "UObject/Object.h"

class UNNEModelData;

namespace UE::NNE {

class IModelInstanceCPU : public IModelInstanceRunSync {};
class IModelCPU {
 public:
  virtual ~IModelCPU() = default;
  virtual TSharedPtr<IModelInstanceCPU> CreateModelInstanceCPU() = 0;
};

}

class INNERuntimeCPU {
 public:
  using ECanCreateModelCPUStatus = UE::NNE::EResultStatus;
  virtual ~INNERuntimeCPU() = default;
  virtual ECanCreateModelCPUStatus CanCreateModelCPU(const TObjectPtr<UNNEModelData> ModelData) const = 0;
  virtual TSharedPtr<UE::NNE::IModelCPU> CreateModelCPU(const TObjectPtr<UNNEModelData> ModelData) = 0;
};
