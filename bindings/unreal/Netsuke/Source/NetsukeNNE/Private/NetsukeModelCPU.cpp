// SPDX-License-Identifier: MIT
#include "NetsukeModelCPU.h"
#include "Async/ParallelFor.h"
#include "Async/TaskGraphInterfaces.h"
#include "NNEModelData.h"
#include "NNETypes.h"
#include "ProfilingDebugging/CpuProfilerTrace.h"

using UE::NNE::FTensorBindingCPU;
using UE::NNE::FTensorDesc;
using UE::NNE::FTensorShape;

/** The lanes of a step on worker threads. */
static void RunLanes(void*, int32_t Count, nsk_job Job, void* Context) {
  ParallelFor(Count, [Job, Context](int32 Lane) { Job(Context, Lane); });
}

static ENNETensorDataType DataTypeOf(int32_t Type) {
  switch (Type) {
    case nsk_type_float32: return ENNETensorDataType::Float;
    case nsk_type_float16: return ENNETensorDataType::Half;
    case nsk_type_int8: return ENNETensorDataType::Int8;
    case nsk_type_uint8: return ENNETensorDataType::UInt8;
    case nsk_type_int16: return ENNETensorDataType::Int16;
    case nsk_type_int32: return ENNETensorDataType::Int32;
    case nsk_type_int64: return ENNETensorDataType::Int64;
    default: return ENNETensorDataType::Boolean;
  }
}

/** Whether rows of a batch are the first dimension, so that a shape can say how many. */
static bool HasRows(const nsk_port& Port, int32 MaxRows) {
  return Port.rows > 0 && Port.rank > 0 && Port.shape[0] == MaxRows;
}

// --- model ---

FNetsukeModelCPU::~FNetsukeModelCPU() {
  if (Model != nullptr) nsk_model_close(Model);
}

bool FNetsukeModelCPU::Init(TSharedPtr<UE::NNE::FSharedModelData> InData, FString& Error) {
  Data = InData;
  const void* Bytes = Data->GetView().GetData();
  SIZE_T Size = static_cast<SIZE_T>(Data->GetView().Num());
  if (reinterpret_cast<UPTRINT>(Bytes) % nsk_file_alignment() != 0) {
    void* const Copy = File.Allocate(Size);
    FMemory::Memcpy(Copy, Bytes, Size);
    Bytes = Copy;
  }
  if (const SIZE_T Expanded = nsk_prepare_required_bytes(Bytes, Size); Expanded != 0) {  // a small file
    FNetsukeMemory Prepared;
    void* const Block = Prepared.Allocate(Expanded);
    if (!UNetsukeModel::Succeeded(nsk_prepare(Bytes, Size, Block, Expanded), nullptr, Error)) return false;
    File.Swap(Prepared);
    Bytes = Block;
    Size = Expanded;
  }
  void* const HandleMemory = Memory.Allocate(nsk_model_required_bytes());
  return UNetsukeModel::Succeeded(nsk_model_open(HandleMemory, nsk_model_required_bytes(), Bytes, Size, 0, &Model),
                                  nullptr, Error);
}

TSharedPtr<UE::NNE::IModelInstanceCPU> FNetsukeModelCPU::CreateModelInstanceCPU() {
  FString Error;
  TSharedPtr<FNetsukeInstanceCPU> Instance = MakeShared<FNetsukeInstanceCPU>(AsShared());
  if (Instance->Init(Error)) return Instance;
  UE_LOG(LogNetsuke, Error, TEXT("%s"), *Error);
  return nullptr;
}

// --- instance ---

void FNetsukeInstanceCPU::FPorts::Add(const nsk_port& Port, int32 InMaxRows) {
  TArray<int32> Lengths;
  for (int32 i = 0; i < Port.rank; ++i) Lengths.Add(i == 0 && HasRows(Port, InMaxRows) ? -1 : Port.shape[i]);
  Ports.Add(Port);
  Descs.Add(FTensorDesc::Make(FString(UTF8_TO_TCHAR(Port.name)), UE::NNE::FSymbolicTensorShape::Make(Lengths),
                              DataTypeOf(Port.type)));
}

void FNetsukeInstanceCPU::FPorts::SetRows(int32 InRows, int32 InMaxRows) {
  Shapes.Empty();
  for (const nsk_port& Port : Ports) {
    TArray<uint32> Lengths;
    for (int32 i = 0; i < Port.rank; ++i)
      Lengths.Add(static_cast<uint32>(i == 0 && HasRows(Port, InMaxRows) ? InRows : Port.shape[i]));
    Shapes.Add(FTensorShape::Make(Lengths));
  }
}

uint64 FNetsukeInstanceCPU::FPorts::Bytes(int32 Port, int32 InRows) const {
  const nsk_port& Of = Ports[Port];
  return Of.rows > 0 ? Of.bytes / static_cast<uint64>(Of.rows) * static_cast<uint64>(InRows) : Of.bytes;
}

bool FNetsukeInstanceCPU::Succeeded(const nsk_status& Status) const {
  if (Status.code == nsk_status_ok) return true;
  char Line[2048];
  nsk_status_format(Status, Model->Handle(), 0, Line, sizeof Line);
  UE_LOG(LogNetsuke, Error, TEXT("%s"), UTF8_TO_TCHAR(Line));
  return false;
}

FNetsukeInstanceCPU::~FNetsukeInstanceCPU() {
  if (Session != nullptr) nsk_session_close(Session);
}

bool FNetsukeInstanceCPU::Init(FString& Error) {
  const nsk_model* const Handle = Model->Handle();
  const int32 Workers = FTaskGraphInterface::Get().GetNumWorkerThreads();
  const int32 Lanes = Workers < 3 ? Workers + 1 : 4;  // more lanes cost memory and gain little in a frame
  uint64_t ArenaBytes = 0;
  if (!UNetsukeModel::Succeeded(nsk_arena_required_bytes(Handle, 0, Lanes, &ArenaBytes), nullptr, Error)) return false;
  void* const ArenaBlock = Arena.Allocate(static_cast<SIZE_T>(ArenaBytes));
  void* const HandleMemory = Memory.Allocate(nsk_session_required_bytes());
  if (!UNetsukeModel::Succeeded(nsk_session_open(HandleMemory, nsk_session_required_bytes(), Handle, 0, ArenaBlock,
                                                 static_cast<SIZE_T>(ArenaBytes), &Session),
                                nullptr, Error))
    return false;
  MaxRows = nsk_model_max_batch(Handle, 0);
  nsk_port Port = {};
  for (int32 i = 0; nsk_model_input(Handle, 0, i, &Port, sizeof Port).code == nsk_status_ok; ++i)
    Inputs.Add(Port, MaxRows);
  for (int32 i = 0; nsk_model_output(Handle, 0, i, &Port, sizeof Port).code == nsk_status_ok; ++i)
    Outputs.Add(Port, MaxRows);
  return true;
}

FNetsukeInstanceCPU::ESetInputTensorShapesStatus FNetsukeInstanceCPU::SetInputTensorShapes(
    TConstArrayView<FTensorShape> InInputShapes) {
  bShapesSet = false;
  if (InInputShapes.Num() != Inputs.Ports.Num()) return ESetInputTensorShapesStatus::Fail;
  int32 Asked = MaxRows;
  for (int32 i = 0; i < InInputShapes.Num(); ++i) {
    if (HasRows(Inputs.Ports[i], MaxRows) && InInputShapes[i].Rank() > 0)
      Asked = static_cast<int32>(InInputShapes[i].GetData()[0]);
  }
  if (MaxRows > 0 && !Succeeded(nsk_session_set_batch(Session, Asked))) return ESetInputTensorShapesStatus::Fail;
  Rows = Asked;
  Inputs.SetRows(Rows, MaxRows);
  Outputs.SetRows(Rows, MaxRows);
  for (int32 i = 0; i < InInputShapes.Num(); ++i) {
    if (!(InInputShapes[i] == Inputs.Shapes[i])) return ESetInputTensorShapesStatus::Fail;
  }
  bShapesSet = true;
  return ESetInputTensorShapesStatus::Ok;
}

bool FNetsukeInstanceCPU::CopyInputs(TConstArrayView<FTensorBindingCPU> From) {
  for (int32 i = 0; i < From.Num(); ++i) {
    void* Data = nullptr;
    uint64_t Bytes = 0;
    if (From[i].Data == nullptr || From[i].SizeInBytes < Inputs.Bytes(i, Rows)) return false;
    if (!Succeeded(nsk_session_input(Session, i, &Data, &Bytes))) return false;
    FMemory::Memcpy(Data, From[i].Data, static_cast<SIZE_T>(Inputs.Bytes(i, Rows)));
  }
  return true;
}

bool FNetsukeInstanceCPU::CopyOutputs(TConstArrayView<FTensorBindingCPU> To) {
  for (int32 i = 0; i < To.Num(); ++i) {
    const void* Data = nullptr;
    uint64_t Bytes = 0;
    if (!Succeeded(nsk_session_output(Session, i, &Data, &Bytes))) return false;
    FMemory::Memcpy(To[i].Data, Data, static_cast<SIZE_T>(Outputs.Bytes(i, Rows)));
  }
  return true;
}

FNetsukeInstanceCPU::ERunSyncStatus FNetsukeInstanceCPU::RunSync(TConstArrayView<FTensorBindingCPU> InInputTensors,
                                                                 TConstArrayView<FTensorBindingCPU> InOutputTensors) {
  TRACE_CPUPROFILER_EVENT_SCOPE(Netsuke_RunSync);
  const bool bCounts = InInputTensors.Num() == Inputs.Ports.Num() && InOutputTensors.Num() == Outputs.Ports.Num();
  if (!bShapesSet || !bCounts) return ERunSyncStatus::Fail;
  for (int32 i = 0; i < InOutputTensors.Num(); ++i) {
    if (InOutputTensors[i].Data == nullptr || InOutputTensors[i].SizeInBytes < Outputs.Bytes(i, Rows))
      return ERunSyncStatus::Fail;
  }
  if (!CopyInputs(InInputTensors)) return ERunSyncStatus::Fail;
  const nsk_jobs Jobs = {RunLanes, nullptr, 0};
  if (!Succeeded(nsk_session_run(Session, nsk_session_lanes(Session) > 1 ? &Jobs : nullptr)))
    return ERunSyncStatus::Fail;
  return CopyOutputs(InOutputTensors) ? ERunSyncStatus::Ok : ERunSyncStatus::Fail;
}
