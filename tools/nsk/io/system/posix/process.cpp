// SPDX-License-Identifier: MIT
#include "io/system/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "io/system/posix/descriptor.hpp"

namespace nsk::tool {
namespace {
using clock = std::chrono::steady_clock;

constexpr std::size_t max_output = 4096;

[[noreturn]] void become(const std::string& command, const std::string& argument, int output) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), "sh", argument.c_str(), static_cast<char*>(nullptr));
  ::_exit(127);
}

/// Reads what a program prints until it closes its output, is late, or a signal comes.
void listen(int output, const signal_hold& signals, clock::time_point end, program_end& a) {
  for (;;) {
    constexpr int pause_ms = 50;
    pollfd waiting = {output, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, pause_ms);
    a.is_interrupted = signals.interrupted();
    a.is_late = clock::now() > end;
    if (a.is_interrupted || a.is_late) return;
    if (ready <= 0) continue;
    char part[512];
    const ssize_t count = ::read(output, part, sizeof part);
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    if (count > 0 && a.output.size() < max_output) a.output.append(part, static_cast<std::size_t>(count));
  }
}

/// Waits for the end of a program that may have closed its output long before. Returns its status.
int wait_for(pid_t child, const signal_hold& signals, clock::time_point end, program_end& a) {
  int status = 0;
  while (!a.is_late && !a.is_interrupted) {
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    ::usleep(2000);
    a.is_interrupted = signals.interrupted();
    a.is_late = clock::now() > end;
  }
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return status;
}

/// A pipe whose ends are closed in programs that are started. Returns false, with errno, where there is none.
bool make_pipe(int (&ends)[2]) {
#if defined(__linux__)
  return ::pipe2(ends, O_CLOEXEC) == 0;
#else
  if (::pipe(ends) != 0) return false;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return true;
#endif
}

}

program_end run_program(const std::string& command, const std::string& argument, std::chrono::milliseconds limit) {
  const signal_hold signals;
  program_end a;
  int ends[2];
  if (!make_pipe(ends)) {
    a.error = errno;
    return a;
  }
  const std::string whole = command + " \"$1\"";
  const pid_t child = ::fork();
  if (child == 0) become(whole, argument, ends[1]);
  descriptor output(ends[0]);
  ::close(ends[1]);
  if (child < 0) {
    a.error = errno;
    return a;
  }
  ::setpgid(child, child);
  const clock::time_point end = clock::now() + limit;
  listen(output.get(), signals, end, a);
  const int status = wait_for(child, signals, end, a);
  if (WIFSIGNALED(status)) a.signal = WTERMSIG(status);
  if (WIFEXITED(status)) a.exit_code = WEXITSTATUS(status);
  return a;
}

}
