// SPDX-License-Identifier: MIT
#include "io/system/process.hpp"

#include <cerrno>
#include <thread>

#include "io/system/windows/native.hpp"

namespace nsk::tool {
namespace {
using clock = std::chrono::steady_clock;

constexpr std::size_t max_output = 4096;
constexpr std::chrono::milliseconds pause{10};
constexpr DWORD no_such_program = 9009, posix_no_such_program = 127;  ///< exit codes of cmd and of POSIX shells

struct started {
  handle process, job, output;
  int error = 0;
};

/// Starts cmd /c with its output in a pipe and no input, in a job that ends with its handle.
void start(std::wstring line, started& s) {
  SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
  HANDLE read_end = nullptr, write_end = nullptr;
  if (CreatePipe(&read_end, &write_end, &inherited, 0) == 0) {
    s.error = last_errno();
    return;
  }
  s.output.reset(read_end);
  const handle to(write_end);
  SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
  const handle nothing(
      CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, nullptr));
  s.job.reset(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  SetInformationJobObject(s.job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  STARTUPINFOW how = {};
  how.cb = sizeof how;
  how.dwFlags = STARTF_USESTDHANDLES;
  how.hStdInput = nothing.get();
  how.hStdOutput = to.get();
  how.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION made = {};
  if (CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP, nullptr,
                     nullptr, &how, &made) == 0) {
    s.error = last_errno();
    return;
  }
  s.process.reset(made.hProcess);
  const handle thread(made.hThread);
  AssignProcessToJobObject(s.job.get(), made.hProcess);
  ResumeThread(made.hThread);
}

/// Reads what is there. Returns false where the program has closed its output.
bool read_some(const handle& output, std::string& text) {
  DWORD waiting = 0;
  while (PeekNamedPipe(output.get(), nullptr, 0, nullptr, &waiting, nullptr) != 0) {
    if (waiting == 0) return true;
    char part[512];
    DWORD count = 0;
    if (ReadFile(output.get(), part, sizeof part, &count, nullptr) == 0) return false;
    if (text.size() < max_output) text.append(part, count);
  }
  return false;
}

}

program_end run_program(const std::string& command, const std::string& argument, std::chrono::milliseconds limit) {
  const signal_hold signals;
  program_end a;
  started s;
  start(utf16_of("cmd /s /c \"" + command + " \"" + argument + "\"\""), s);
  a.error = s.error;
  if (a.error != 0) return a;
  const clock::time_point end = clock::now() + limit;
  bool has_ended = false;
  while (!has_ended) {
    has_ended = WaitForSingleObject(s.process.get(), 0) == WAIT_OBJECT_0;
    read_some(s.output, a.output);
    a.is_interrupted = signals.interrupted();
    a.is_late = !has_ended && clock::now() > end;
    if (a.is_interrupted || a.is_late) return a;  // the job ends what still runs
    if (!has_ended) std::this_thread::sleep_for(pause);
  }
  DWORD code = 0;
  GetExitCodeProcess(s.process.get(), &code);
  a.exit_code = static_cast<int>(code == no_such_program ? posix_no_such_program : code);
  return a;
}

}
