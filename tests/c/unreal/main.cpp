// SPDX-License-Identifier: MIT
// main MODEL.nsk: the plug-in as a game uses it. Prints the hash of its outputs for each way to run and each time step.
#include "NetsukeModel.h"
#include "NetsukeSession.h"
#include "HAL/LowLevelMemTracker.h"
#include "Misc/FileHelper.h"
#include "Modules/ModuleManager.h"
#include "ProfilingDebugging/CpuProfilerTrace.h"
#include "support.h"

IModuleInterface* make_Netsuke();

namespace {

int32 elements(const TArray<int32>& shape) {
  int32 count = 1;
  for (int32 i = 0; i < shape.Num(); ++i) count *= shape[i];
  return count;
}

void run(UNetsukeSession& session, int way, const TArray<float>& input) {
  FString error;
  if (way == 0) require(session.Run(error), "Run", error);
  if (way == 1) {
    bool complete = false;
    while (!complete) require(session.RunForTime(0, complete, error), "RunForTime", error);
  }
  if (way == 2) {
    const int before = session.OnDone.broadcasts;
    require(session.RunAsync(error), "RunAsync", error);
    if (session.IsRunning()) {
      const bool written = session.WriteInput(0, input, error);
      require(written || std::strstr(*error, "wait for OnDone") != nullptr, "a call while a task runs", error);
    }
    while (FFunctionGraphTask::pump() == 0) std::this_thread::yield();
    require(session.OnDone.broadcasts == before + 1 && session.IsReadyForFinishDestroy(), "OnDone");
  }
}

}  // namespace

int main(int, char** arguments) {
  make_Netsuke()->StartupModule();
  UNetsukeModel model, damaged;
  UNetsukeSession session, other;
  FString error;
  TArray<float> output;
  TArray<uint8> bytes;
  require_error(model.LoadFile("no such file", error), error, "the file cannot be read");
  require_error(other.Run(error), error, "the session was not started");
  require(model.LoadFile(arguments[1], error), "LoadFile", error);
  FFileHelper::LoadFileToArray(bytes, arguments[1]);
  ++bytes[8];
  require_error(damaged.Open(bytes, error), error, "wrong_version");
  require_error(other.Start(&damaged, 1, error), error, "bad_handle");
  require(session.Start(&model, 2, error), "Start", error);
  require_error(session.WriteInput(0, inputs_of(3, 0), error), error, "wrong_size: port 0 (input '");
  require_error(session.ReadOutput(9, output, error), error, "no_such_port: port 9: the model has no");
  for (int way = 0; way < 3; ++way) {
    require(session.Reset(error), "Reset", error);
    for (std::uint32_t step = 0; step < 3; ++step) {
      const TArray<float> input = inputs_of(elements(model.InputShape(0)), 1000 * step);
      require(session.WriteInput(0, input, error), "WriteInput", error);
      run(session, way, input);
      require(session.ReadOutput(0, output, error) && output.Num() == elements(model.OutputShape(0)), "ReadOutput",
              error);
      std::printf("hash %d %u %016llx\n", way, step, static_cast<unsigned long long>(hash_of(output)));
    }
  }
  require(llm_tag_Netsuke >= 4 && traced_scopes > 3, "memory without a tag, or runs without a scope");
  session.FinishDestroy();
  other.FinishDestroy();
  model.FinishDestroy();
  damaged.FinishDestroy();
  return failures != 0;
}
