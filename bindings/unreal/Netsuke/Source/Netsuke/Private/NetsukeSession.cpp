// SPDX-License-Identifier: MIT
#include "NetsukeSession.h"
#include "Async/ParallelFor.h"
#include "HAL/PlatformTime.h"
#include "ProfilingDebugging/CpuProfilerTrace.h"
#include <netsuke/c/netsuke.h>

/** The engine's ParallelFor as a job system. */
static void RunLanes(void*, int32_t Count, nsk_job Job, void* Context) {
  ParallelFor(Count, [Job, Context](int32 Lane) { Job(Context, Lane); });
}

static int64_t NowInMicroseconds(void*) { return static_cast<int64_t>(FPlatformTime::Seconds() * 1e6); }

bool UNetsukeSession::Idle(FString& Error) const {
  if (Session == nullptr) Error = TEXT("the session was not started: call Start");
  if (Session != nullptr && !IsRunning()) return true;
  if (Session != nullptr) Error = TEXT("a task runs this session: wait for OnDone");
  return false;
}

bool UNetsukeSession::Start(UNetsukeModel* InModel, int32 Lanes, FString& Error) {
  if (InModel == nullptr || Session != nullptr) {
    Error = TEXT("a session is started once, with a model");
    return false;
  }
  uint64_t Bytes = 0;
  if (!UNetsukeModel::Succeeded(nsk_arena_required_bytes(InModel->Handle(), 0, Lanes, &Bytes), InModel, Error))
    return false;
  void* const ArenaBlock = Arena.Allocate(static_cast<SIZE_T>(Bytes));
  void* const HandleMemory = Memory.Allocate(nsk_session_required_bytes());
  Model = InModel;
  return UNetsukeModel::Succeeded(nsk_session_open(HandleMemory, nsk_session_required_bytes(), InModel->Handle(), 0,
                                                   ArenaBlock, static_cast<SIZE_T>(Bytes), &Session),
                                  InModel, Error);
}

bool UNetsukeSession::Succeeded(const nsk_status& Status, FString& Error) const {
  return UNetsukeModel::Succeeded(Status, Model, Error);
}

bool UNetsukeSession::WriteInput(int32 Input, const TArray<float>& Values, FString& Error) {
  const uint64_t Bytes = static_cast<uint64_t>(Values.Num()) * sizeof(float);
  return Idle(Error) && Succeeded(nsk_session_write(Session, Input, Values.GetData(), Bytes), Error);
}

bool UNetsukeSession::ReadOutput(int32 Output, TArray<float>& Values, FString& Error) {
  const void* Data = nullptr;
  uint64_t Bytes = 0;
  nsk_port Port = {};
  if (!Idle(Error)) return false;
  if (!Succeeded(nsk_session_output(Session, Output, &Data, &Bytes), Error)) return false;
  if (!Succeeded(nsk_model_output(Model->Handle(), 0, Output, &Port, sizeof Port), Error)) return false;
  if (Port.type != nsk_type_float32) return Succeeded({nsk_status_wrong_type, Output}, Error);
  Values.SetNumUninitialized(static_cast<int32>(Port.elements));
  FMemory::Memcpy(Values.GetData(), Data, static_cast<SIZE_T>(Bytes));
  return true;
}

bool UNetsukeSession::Run(FString& Error) {
  TRACE_CPUPROFILER_EVENT_SCOPE(Netsuke_Run);
  return Idle(Error) && Succeeded(nsk_session_run(Session, nullptr), Error);
}

bool UNetsukeSession::RunForTime(int64 Microseconds, bool& bComplete, FString& Error) {
  TRACE_CPUPROFILER_EVENT_SCOPE(Netsuke_RunForTime);
  int32_t Complete = 0;
  const bool bGood =
      Idle(Error) &&
      Succeeded(nsk_session_run_for_time(Session, Microseconds, NowInMicroseconds, nullptr, nullptr, &Complete), Error);
  bComplete = Complete != 0;
  return bGood;
}

bool UNetsukeSession::RunAsync(FString& Error) {
  if (!Idle(Error)) return false;
  // The session outlives the task (IsReadyForFinishDestroy), but perhaps not what follows on the game thread.
  const UNetsukeModel* const Named = Model;
  Task = FFunctionGraphTask::CreateAndDispatchWhenReady(
      [Running = Session, Named] {
        TRACE_CPUPROFILER_EVENT_SCOPE(Netsuke_RunAsync);
        const nsk_jobs Jobs = {RunLanes, nullptr, 0};
        FString Reason;
        if (!UNetsukeModel::Succeeded(nsk_session_run(Running, &Jobs), Named, Reason)) {
          UE_LOG(LogNetsuke, Error, TEXT("%s"), *Reason);
        }
      },
      TStatId(), nullptr, ENamedThreads::AnyThread);
  FFunctionGraphTask::CreateAndDispatchWhenReady(
      [Weak = TWeakObjectPtr<UNetsukeSession>(this)] {
        if (UNetsukeSession* const Self = Weak.Get()) Self->OnDone.Broadcast();
      },
      TStatId(), Task, ENamedThreads::GameThread);
  return true;
}

bool UNetsukeSession::Reset(FString& Error) { return Idle(Error) && Succeeded(nsk_session_reset(Session), Error); }

void UNetsukeSession::FinishDestroy() {
  if (Session != nullptr) nsk_session_close(Session);
  Session = nullptr;
  Memory.Free();
  Arena.Free();
  UObject::FinishDestroy();
}
