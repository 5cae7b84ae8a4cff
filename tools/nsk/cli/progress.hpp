// SPDX-License-Identifier: MIT
#pragma once
/// What nsk shows on terminals alone.
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "io/text.hpp"

namespace nsk::tool {

/// Returns how to write to standard output: emphasis on a terminal, unless NO_COLOR is set (https://no-color.org) or
/// the terminal is "dumb"; plain text into files and pipes.
text_style style_of_output();

/// One line that says what a long command is doing, once it has taken a second; nothing when standard error is no
/// terminal, or with --quiet.
class progress_line {
 public:
  explicit progress_line(bool quiet);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// What is happening now, and which share of it is done; below 0 where that is not known.
  void show(const std::string& what, double share = -1);
  /// Removes the line; to be called before anything else is printed.
  void clear();

 private:
  void draw_from_time_to_time();

  std::mutex m_mutex;
  std::condition_variable m_change;
  std::string m_what;
  double m_share = -1;
  bool m_end = false;
  std::thread m_painter;  ///< runs where the line is wanted
};

/// The line itself: "checking [#####.....] 50 %", "checking ... 3 s".
std::string progress_text(const std::string& what, double share, double seconds);

}
