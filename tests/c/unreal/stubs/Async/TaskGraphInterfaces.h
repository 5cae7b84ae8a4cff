// SPDX-License-Identifier: MIT
#pragma once
// Tasks on threads; those of the game thread wait until the program pumps them.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

struct TStatId {};
struct ENamedThreads {
  enum Type { AnyThread, GameThread };
};

struct FTaskGraphInterface {
  static FTaskGraphInterface& Get() {
    static FTaskGraphInterface graph;
    return graph;
  }
  int GetNumWorkerThreads() const { return 3; }
};

class FGraphEvent {
 public:
  ~FGraphEvent() {
    if (m_thread.joinable()) m_thread.join();
  }
  bool IsComplete() const { return m_complete; }
  std::atomic<bool> m_complete{false};
  std::thread m_thread;
};

class FGraphEventRef {
 public:
  FGraphEventRef(std::nullptr_t = nullptr) {}
  explicit FGraphEventRef(std::shared_ptr<FGraphEvent> event) : m_event(std::move(event)) {}
  bool IsValid() const { return m_event != nullptr; }
  FGraphEvent* operator->() const { return m_event.get(); }

 private:
  std::shared_ptr<FGraphEvent> m_event;
};

struct FFunctionGraphTask {
  struct waiting_task {
    std::function<void()> function;
    FGraphEventRef after;
  };
  static inline std::vector<waiting_task> game_thread;

  static FGraphEventRef CreateAndDispatchWhenReady(std::function<void()> function, TStatId, FGraphEventRef after,
                                                   ENamedThreads::Type thread) {
    auto event = std::make_shared<FGraphEvent>();
    if (thread == ENamedThreads::GameThread) {
      game_thread.push_back({std::move(function), after});
    } else {
      event->m_thread = std::thread([function, raw = event.get()] {
        function();
        raw->m_complete = true;
      });
    }
    return FGraphEventRef(event);
  }

  /// Runs the tasks of the game thread whose prerequisites are complete; returns how many.
  static int pump() {
    int done = 0;
    for (auto task = game_thread.begin(); task != game_thread.end();) {
      if (task->after.IsValid() && !task->after->IsComplete()) {
        ++task;
        continue;
      }
      task->function();
      task = game_thread.erase(task);
      ++done;
    }
    return done;
  }
};
