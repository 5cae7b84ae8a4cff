// SPDX-License-Identifier: MIT
// nne MODEL.nsk AGENTS.nsk: the plug-in as a runtime of Unreal's neural network engine, from the import of a file to
// runs of its cooked asset. Prints the hash of the outputs of MODEL for each time step. AGENTS has a batch.
#include "NNE.h"
#include "NNEModelData.h"
#include "NNERuntimeCPU.h"
#include "NetsukeFactory.h"
#include "NetsukeRuntime.h"
#include "NetsukeSession.h"
#include "Misc/FileHelper.h"
#include "Modules/ModuleManager.h"
#include "ProfilingDebugging/CpuProfilerTrace.h"
#include "support.h"

IModuleInterface* make_NetsukeNNE();

using UE::NNE::EResultStatus;
using UE::NNE::FTensorBindingCPU;
using UE::NNE::FTensorShape;

namespace {

UNNEModelData* imported(const char* path, const char* type = "nsk") {
  TArray<uint8> file;
  FFileHelper::LoadFileToArray(file, path);
  UNetsukeFactory factory;
  const uint8* begin = file.GetData();
  return static_cast<UNNEModelData*>(factory.FactoryCreateBinary(
      UNNEModelData::StaticClass(), nullptr, "model", RF_NoFlags, nullptr, type, begin, begin + file.Num(), nullptr));
}

INNERuntimeCPU* runtime() { return UE::NNE::GetRuntime<INNERuntimeCPU>("NetsukeCPU"); }

FTensorShape shape_with_rows(const UE::NNE::FTensorDesc& desc, uint32 rows) {
  TArray<uint32> lengths;
  for (int32 i = 0; i < desc.GetShape().Rank(); ++i) {
    const int32 length = desc.GetShape().GetData()[i];
    lengths.Add(length < 0 ? rows : static_cast<uint32>(length));
  }
  return FTensorShape::Make(lengths);
}

int32 elements(const FTensorShape& shape) {
  uint32 count = 1;
  for (int32 i = 0; i < shape.Rank(); ++i) count *= shape.GetData()[i];
  return static_cast<int32>(count);
}

uint64 bytes_of(const TArray<float>& values) { return static_cast<uint64>(values.Num()) * sizeof(float); }

TSharedPtr<UE::NNE::IModelInstanceCPU> instance_of(UNNEModelData* data) {
  require(runtime()->CanCreateModelCPU(data) == EResultStatus::Ok, "CanCreateModelCPU");
  // The model goes; its instance stays.
  const TSharedPtr<UE::NNE::IModelCPU> model = runtime()->CreateModelCPU(data);
  return model->CreateModelInstanceCPU();
}

/// Hashes of the time steps of a model with one input and one output, of the bytes that were cooked.
void time_steps(const char* path) {
  UNNEModelData* const data = imported(path);
  data->cook("NetsukeCPU");
  const auto net = instance_of(data);
  TArray<FTensorShape> shapes;
  shapes.Add(shape_with_rows(net->GetInputTensorDescs()[0], 0));
  TArray<FTensorShape> wrong;
  wrong.Add(shape_with_rows(net->GetOutputTensorDescs()[0], 0));
  TArray<float> input = inputs_of(elements(shapes[0]), 0), output;
  output.SetNumUninitialized(elements(shape_with_rows(net->GetOutputTensorDescs()[0], 0)));
  FTensorBindingCPU from = {input.GetData(), bytes_of(input)}, to = {output.GetData(), bytes_of(output)};
  require(net->RunSync({&from, 1}, {&to, 1}) == EResultStatus::Fail, "a run without shapes");
  require(net->SetInputTensorShapes(wrong) == EResultStatus::Fail, "a wrong shape");
  require(net->SetInputTensorShapes(TArray<FTensorShape>()) == EResultStatus::Fail, "no shapes");
  require(net->RunSync({&from, 1}, {&to, 1}) == EResultStatus::Fail, "a run behind wrong shapes");
  require(net->SetInputTensorShapes(shapes) == EResultStatus::Ok, "SetInputTensorShapes");
  require(net->GetInputTensorShapes()[0] == shapes[0] && elements(net->GetOutputTensorShapes()[0]) == output.Num(),
          "shapes");
  require(net->GetInputTensorDescs()[0].GetDataType() == ENNETensorDataType::Float, "the type of an input");
  from.SizeInBytes -= 4;
  require(net->RunSync({&from, 1}, {&to, 1}) == EResultStatus::Fail, "an input that is too short");
  from.SizeInBytes += 4;
  require(net->RunSync({&from, 1}, {}) == EResultStatus::Fail, "no outputs");
  const int before = traced_scopes;
  for (std::uint32_t step = 0; step < 3; ++step) {
    input = inputs_of(input.Num(), 1000 * step);
    from.Data = input.GetData();
    require(net->RunSync({&from, 1}, {&to, 1}) == EResultStatus::Ok, "RunSync");
    std::printf("hash 0 %u %016llx\n", step, static_cast<unsigned long long>(hash_of(output)));
  }
  require(traced_scopes == before + 3, "runs without a scope");
}

/// What a session of the asset gives for all rows.
TArray<float> answer_of_session(const char* path, const TArray<float>& input, int32 output) {
  FString error;
  TArray<float> answer;
  UNetsukeModel* const model = UNetsukeRuntime::OpenModelData(imported(path), error);
  UNetsukeSession session;
  const bool good = model != nullptr && session.Start(model, 1, error) && session.WriteInput(0, input, error) &&
                    session.Run(error) && session.ReadOutput(output, answer, error);
  require(good, "a session of an asset", error);
  session.FinishDestroy();
  model->FinishDestroy();
  return answer;
}

/// Three rows of a batch give what the first of eight give, and these what a session gives.
void rows_of_a_batch(const char* path) {
  const auto net = instance_of(imported(path));
  const int32 outputs = net->GetOutputTensorDescs().Num(), answer = 4;
  TArray<float> first_answer;
  for (uint32 rows : {8u, 3u}) {
    TArray<FTensorShape> shapes;
    shapes.Add(shape_with_rows(net->GetInputTensorDescs()[0], rows));
    require(net->SetInputTensorShapes(shapes) == EResultStatus::Ok, "rows");
    TArray<float> input = inputs_of(elements(shapes[0]), 0);
    std::vector<TArray<float>> values(static_cast<std::size_t>(outputs));
    TArray<FTensorBindingCPU> to;
    for (int32 i = 0; i < outputs; ++i) {
      values[static_cast<std::size_t>(i)].SetNumUninitialized(elements(net->GetOutputTensorShapes()[i]));
      to.Add({values[static_cast<std::size_t>(i)].GetData(), bytes_of(values[static_cast<std::size_t>(i)])});
    }
    const FTensorBindingCPU from = {input.GetData(), bytes_of(input)};
    require(net->RunSync({&from, 1}, to) == EResultStatus::Ok, "a run of rows");
    const TArray<float>& given = values[answer];
    if (rows == 8) first_answer = answer_of_session(path, input, answer);
    require(given.Num() == static_cast<int32>(2 * rows), "the number of rows");
    require(std::memcmp(given.GetData(), first_answer.GetData(), rows * 2 * sizeof(float)) == 0, "rows of a batch");
  }
  TArray<FTensorShape> many;
  many.Add(shape_with_rows(net->GetInputTensorDescs()[0], 9));
  require(net->SetInputTensorShapes(many) == EResultStatus::Fail, "more rows than the batch has");
}

/// What is no file of ours is refused, by the importer and by the runtime.
void refusals(const char* path) {
  UNetsukeRuntime own;
  const uint8 bytes[100] = {};
  using can = INNERuntime::ECanCreateModelDataStatus;
  require(own.CanCreateModelData("NSK", {bytes, 100}, {}, FGuid(), nullptr) == can::Ok, "a file's type in capitals");
  require(own.CanCreateModelData("onnx", {bytes, 100}, {}, FGuid(), nullptr) != can::Ok, "a file of another type");
  require(!own.CreateModelData("nsk", {bytes, 0}, {}, FGuid(), nullptr).IsValid(), "an empty file");
  TArray<uint8> file;
  file.Append(bytes, 100);
  UNNEModelData damaged, empty;
  damaged.Init("nsk", {bytes, 100});
  require(runtime()->CanCreateModelCPU(&empty) == EResultStatus::Fail, "an asset of another runtime");
  require(!runtime()->CreateModelCPU(&damaged).IsValid(), "a damaged asset");
  require(imported("/dev/null") == nullptr, "the import of no file");
  FString error;
  require(UNetsukeRuntime::OpenModelData(&empty, error) == nullptr && std::strstr(*error, "no .nsk file") != nullptr,
          "OpenModelData", error);
  UNetsukeModel* const model = UNetsukeRuntime::OpenModelData(imported(path), error);
  UNetsukeSession session;
  require(model != nullptr && session.Start(model, 1, error) && session.Run(error), "a session of an asset", error);
  session.FinishDestroy();
  model->FinishDestroy();
}

}  // namespace

int main(int, char** arguments) {
  IModuleInterface* const module = make_NetsukeNNE();
  require(runtime() == nullptr, "the runtime in front of its module");
  module->StartupModule();
  require(runtime() != nullptr, "the runtime is not registered");
  time_steps(arguments[1]);
  rows_of_a_batch(arguments[2]);
  refusals(arguments[1]);
  module->ShutdownModule();
  require(runtime() == nullptr, "the runtime behind its module");
  return failures != 0;
}
