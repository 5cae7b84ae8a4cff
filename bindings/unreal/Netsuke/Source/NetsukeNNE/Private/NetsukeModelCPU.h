// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"
#include "NNERuntimeCPU.h"
#include "NetsukeModel.h"
#include <netsuke/c/netsuke.h>

namespace UE::NNE {
class FSharedModelData;
}

/** A file, opened once and shared by its instances. */
class FNetsukeModelCPU : public UE::NNE::IModelCPU, public TSharedFromThis<FNetsukeModelCPU> {
 public:
  ~FNetsukeModelCPU() override;
  /** Opens the bytes of an asset, which are used in place where they begin at a multiple of 64. */
  bool Init(TSharedPtr<UE::NNE::FSharedModelData> InData, FString& Error);
  TSharedPtr<UE::NNE::IModelInstanceCPU> CreateModelInstanceCPU() override;
  const nsk_model* Handle() const { return Model; }

 private:
  TSharedPtr<UE::NNE::FSharedModelData> Data;
  FNetsukeMemory File, Memory;
  nsk_model* Model = nullptr;
};

/** A session. Ports with rows of a batch have -1 as their first length, until SetInputTensorShapes says how many. */
class FNetsukeInstanceCPU : public UE::NNE::IModelInstanceCPU {
 public:
  explicit FNetsukeInstanceCPU(TSharedRef<FNetsukeModelCPU> InModel) : Model(InModel) {}
  ~FNetsukeInstanceCPU() override;
  bool Init(FString& Error);

  TConstArrayView<UE::NNE::FTensorDesc> GetInputTensorDescs() const override { return Inputs.Descs; }
  TConstArrayView<UE::NNE::FTensorDesc> GetOutputTensorDescs() const override { return Outputs.Descs; }
  TConstArrayView<UE::NNE::FTensorShape> GetInputTensorShapes() const override { return Inputs.Shapes; }
  TConstArrayView<UE::NNE::FTensorShape> GetOutputTensorShapes() const override { return Outputs.Shapes; }
  ESetInputTensorShapesStatus SetInputTensorShapes(TConstArrayView<UE::NNE::FTensorShape> InInputShapes) override;
  /** Copies the inputs, runs with the lanes of the session on worker threads, copies the outputs. */
  ERunSyncStatus RunSync(TConstArrayView<UE::NNE::FTensorBindingCPU> InInputTensors,
                         TConstArrayView<UE::NNE::FTensorBindingCPU> InOutputTensors) override;

 private:
  struct FPorts {
    TArray<nsk_port> Ports;
    TArray<UE::NNE::FTensorDesc> Descs;
    TArray<UE::NNE::FTensorShape> Shapes;

    void Add(const nsk_port& Port, int32 MaxRows);
    /** Shapes for so many rows. */
    void SetRows(int32 Rows, int32 MaxRows);
    /** Bytes of a port for so many rows. */
    uint64 Bytes(int32 Port, int32 Rows) const;
  };

  bool Succeeded(const nsk_status& Status) const;
  bool CopyInputs(TConstArrayView<UE::NNE::FTensorBindingCPU> From);
  bool CopyOutputs(TConstArrayView<UE::NNE::FTensorBindingCPU> To);

  TSharedRef<FNetsukeModelCPU> Model;
  FNetsukeMemory Arena, Memory;
  nsk_session* Session = nullptr;
  FPorts Inputs, Outputs;
  int32 MaxRows = 0, Rows = 0;
  bool bShapesSet = false;
};
