// SPDX-License-Identifier: MIT
#include "quantize/apply/metric.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "errors.hpp"
#include "io/files.hpp"
#include "io/new_files.hpp"
#include "io/npy.hpp"
#include "io/system/files.hpp"
#include "io/system/paths.hpp"
#include "io/system/process.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

/// A folder that is removed with everything in it. Signals wait meanwhile, so that none leaves it behind.
class scratch_folder {
 public:
  scratch_folder() : m_path(path_of(make_scratch_directory("nsk_metric_"))) {
    if (m_path.empty())
      refuse(
          "--metric: no folder for the outputs could be made among temporary files. Set TMPDIR (on Windows TMP) to one "
          "that can be written");
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
  new_files written;
  written.add(utf8_of(file), text);
  written.commit();
}

void write_outputs(const fs::path& folder, const std::vector<std::string>& names, const std::vector<sample>& outputs) {
  fs::create_directory(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (const auto& [name, a] : outputs[i]) {
      const fs::path file = folder / (names[i] + "." + file_name_of(name) + ".npy");
      write_text(file, npy_bytes(utf8_of(file), a));
    }
}

/// The one number of an answer. Refuses everything else.
double number_in(const program_end& a, const metric_program& p) {
  const std::string name = "--metric '" + shortened(p.command, 200) + "' ";
  if (a.error != 0) refuse(name + "cannot be started: " + reason_of(a.error));
  if (a.is_interrupted) refuse(name + "was interrupted");
  if (a.is_late)
    refuse(name + format_text("has not ended after %g seconds, and was stopped. Give it more by --metric-seconds",
                              p.max_seconds));
  if (a.signal != 0) refuse(name + "was ended by signal " + std::to_string(a.signal));
  if (a.exit_code != 0)
    refuse(name + "failed with exit code " + std::to_string(a.exit_code) +
           (a.exit_code == 127 ? ", by which a shell says that there is no such program"
                               : ". It gets the folder of outputs as its last argument"));
  const char* const text = a.output.c_str();
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || end[std::strspn(end, " \t\r\n")] != '\0' || !std::isfinite(number))
    refuse(name + "has to print one finite number, and nothing else. It printed '" + shortened(a.output, 80) +
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
  const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(p.max_seconds * 1e3));
  const fs::path judged = folder.path() / (outputs.quantised != nullptr ? "quantised" : "float32");
  return number_in(run_program(p.command, utf8_of(judged), limit), p);
}

}
