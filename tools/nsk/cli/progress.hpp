// SPDX-License-Identifier: MIT
#pragma once
/// One line on a terminal that says what a long command is doing; nothing when standard error is no terminal, or with --quiet.
#include <string>

namespace nsk::tool {

class progress_line {
 public:
  explicit progress_line(bool quiet);
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(const std::string& what);
  void clear();

 private:
  bool m_active, m_shown = false;
};

}
