// SPDX-License-Identifier: MIT
#include "quantize/apply/metric.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "errors.hpp"
#include "io/files.hpp"
#include "io/npy.hpp"
#include "io/signals.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr std::size_t max_answer = 4096;

/// A folder that is removed with everything in it. Signals wait meanwhile, so that none leaves it behind.
class scratch_folder {
 public:
  scratch_folder() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "nsk_metric_XXXXXX").string();
    if (failed || ::mkdtemp(name.data()) == nullptr)
      refuse("--metric: no folder for the outputs could be made at '" + name +
             "'. Set TMPDIR to one that can be written");
    m_path = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const fs::path& path() const { return m_path; }

 private:
  signal_hold m_signals;
  fs::path m_path;
};

void write_text(const fs::path& file, const std::string& text) {
  std::FILE* f = std::fopen(file.c_str(), "wb");
  const bool written = f != nullptr && std::fwrite(text.data(), 1, text.size(), f) == text.size();
  if (f == nullptr || std::fclose(f) != 0 || !written)
    refuse("--metric: '" + file.string() + "' could not be written (" + std::strerror(errno) +
           "). Set TMPDIR to a folder with more space");
}

void write_outputs(const fs::path& folder, const std::vector<std::string>& names, const std::vector<sample>& outputs) {
  fs::create_directory(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (const auto& [name, a] : outputs[i]) {
      const fs::path file = folder / (names[i] + "." + file_name_of(name) + ".npy");
      write_text(file, npy_bytes(file, a));
    }
}

/// What a program printed, and how it ended.
struct answer {
  std::string text;
  int status = 0;
  bool is_late = false, is_interrupted = false;
};

[[noreturn]] void become(const std::string& command, const std::string& folder, int output) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), "sh", folder.c_str(), static_cast<char*>(nullptr));
  ::_exit(127);
}

/// Reads what a program prints until it closes its output, is late, or a signal comes.
void listen(int output, const signal_hold& signals, clock::time_point end, answer& a) {
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
    if (count > 0 && a.text.size() < max_answer) a.text.append(part, static_cast<std::size_t>(count));
  }
}

/// Waits for the end of a program that may have closed its output long before.
void wait_for(pid_t child, const signal_hold& signals, clock::time_point end, answer& a) {
  while (!a.is_late && !a.is_interrupted) {
    if (::waitpid(child, &a.status, WNOHANG) == child) return;
    ::usleep(2000);
    a.is_interrupted = signals.interrupted();
    a.is_late = clock::now() > end;
  }
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);
  ::waitpid(child, &a.status, 0);
}

answer call(const metric_program& p, const std::string& folder) {
  const signal_hold signals;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) refuse(std::string("--metric: no pipe: ") + std::strerror(errno));
  const std::string command = p.command + " \"$1\"";
  const pid_t child = ::fork();
  if (child == 0) become(command, folder, ends[1]);
  ::close(ends[1]);
  answer a;
  if (child < 0) {
    ::close(ends[0]);
    refuse(std::string("--metric: no process: ") + std::strerror(errno));
  }
  ::setpgid(child, child);
  const clock::time_point end =
      clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(p.max_seconds * 1e3));
  listen(ends[0], signals, end, a);
  wait_for(child, signals, end, a);
  ::close(ends[0]);
  return a;
}

/// The one number of an answer. Refuses everything else.
double number_in(const answer& a, const metric_program& p) {
  const std::string name = "--metric '" + shortened(p.command, 200) + "' ";
  if (a.is_interrupted) refuse(name + "was interrupted");
  if (a.is_late)
    refuse(name + format_text("has not ended after %g seconds, and was stopped. Give it more by --metric-seconds",
                              p.max_seconds));
  if (WIFSIGNALED(a.status)) refuse(name + "was ended by signal " + std::to_string(WTERMSIG(a.status)));
  if (WEXITSTATUS(a.status) != 0)
    refuse(name + "failed with exit code " + std::to_string(WEXITSTATUS(a.status)) +
           (WEXITSTATUS(a.status) == 127 ? ", by which a shell says that there is no such program"
                                         : ". It gets the folder of outputs as its last argument"));
  const char* const text = a.text.c_str();
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || end[std::strspn(end, " \t\r\n")] != '\0' || !std::isfinite(number))
    refuse(name + "has to print one finite number, and nothing else. It printed '" + shortened(a.text, 80) +
           "' and ended with exit code 0");
  return number;
}

}

double run_metric(const metric_program& p, const judged_outputs& outputs) {
  const scratch_folder folder;
  std::string list;
  for (std::size_t i = 0; i < outputs.names.size(); ++i) list += outputs.names[i] + " " + outputs.files[i] + "\n";
  write_text(folder.path() / "samples.txt", list);
  write_outputs(folder.path() / "float32", outputs.names, *outputs.floats);
  if (outputs.quantised != nullptr) write_outputs(folder.path() / "quantised", outputs.names, *outputs.quantised);
  const fs::path judged = folder.path() / (outputs.quantised != nullptr ? "quantised" : "float32");
  return number_in(call(p, judged.string()), p);
}

}
