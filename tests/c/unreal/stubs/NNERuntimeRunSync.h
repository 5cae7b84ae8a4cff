// SPDX-License-Identifier: MIT
#pragma once
#include "NNEStatus.h"
#include "NNETypes.h"

namespace UE::NNE {

struct FTensorBindingCPU {
  void* Data;
  uint64 SizeInBytes;
};

class IModelInstanceRunSync {
 public:
  using ESetInputTensorShapesStatus = EResultStatus;
  using ERunSyncStatus = EResultStatus;
  virtual ~IModelInstanceRunSync() = default;
  virtual TConstArrayView<FTensorDesc> GetInputTensorDescs() const = 0;
  virtual TConstArrayView<FTensorDesc> GetOutputTensorDescs() const = 0;
  virtual TConstArrayView<FTensorShape> GetInputTensorShapes() const = 0;
  virtual TConstArrayView<FTensorShape> GetOutputTensorShapes() const = 0;
  virtual ESetInputTensorShapesStatus SetInputTensorShapes(TConstArrayView<FTensorShape> InInputShapes) = 0;
  virtual ERunSyncStatus RunSync(TConstArrayView<FTensorBindingCPU> InInputTensors,
                                 TConstArrayView<FTensorBindingCPU> InOutputTensors) = 0;
};

}
