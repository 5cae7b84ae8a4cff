// SPDX-License-Identifier: MIT
#include "io/system/signals.hpp"

#include <atomic>

#include "io/system/windows/native.hpp"

namespace nsk::tool {
namespace {

std::atomic<int> holds{0};
std::atomic<bool> asked_to_end{false};

/// Windows calls it on a thread of its own. While nothing is held the default handler ends the program.
BOOL WINAPI note_end(DWORD) {
  if (holds.load() == 0) return FALSE;
  asked_to_end = true;
  return TRUE;
}

}

struct signal_hold::state {};

signal_hold::signal_hold() {
  static const BOOL registered = SetConsoleCtrlHandler(note_end, TRUE);
  static_cast<void>(registered);
  ++holds;
}

signal_hold::~signal_hold() {
  if (--holds == 0 && asked_to_end.load()) ExitProcess(static_cast<UINT>(STATUS_CONTROL_C_EXIT));
}

bool signal_hold::interrupted() const { return asked_to_end.load(); }

}
