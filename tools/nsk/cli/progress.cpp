// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace nsk::tool {

progress_line::progress_line(bool quiet) : m_active(!quiet && ::isatty(STDERR_FILENO) != 0) {}

void progress_line::show(const std::string& what) {
  if (!m_active) return;
  std::fprintf(stderr, "\r\x1b[K%s ...", what.c_str());
  std::fflush(stderr);
  m_shown = true;
}

void progress_line::clear() {
  if (m_shown) std::fputs("\r\x1b[K", stderr);
  m_shown = false;
}

}
