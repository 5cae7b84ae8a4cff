// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "io/system/program.hpp"
#include "io/system/signals.hpp"

namespace nsk::tool {
namespace {
constexpr std::chrono::milliseconds patience{1000}, pause{200};
}

text_style style_of_output() {
  const char* const refusal = std::getenv("NO_COLOR");
  text_style style;
  style.colour = is_terminal(console::output) && (!refusal || !*refusal) && terminal_has_colours();
  return style;
}

std::string progress_text(const std::string& what, double share, double seconds) {
  constexpr int width = 30;
  if (share < 0) return format_text("%s ... %.0f s", what.c_str(), seconds);
  const double part = std::min(share, 1.0);
  const int filled = static_cast<int>(part * width);
  return what + " [" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(width - filled), '.') + format_text("] %.0f %%", 100 * part);
}

progress_line::progress_line(bool quiet) {
  if (quiet || !is_terminal(console::error)) return;
  const signal_hold by_this_thread;  // not by the painter
  m_painter = std::thread([this] { draw_from_time_to_time(); });
}

progress_line::~progress_line() { clear(); }

void progress_line::show(const std::string& what, double share) {
  if (!m_painter.joinable()) return;
  const std::lock_guard lock(m_mutex);
  m_what = what;
  m_share = share;
}

void progress_line::draw_from_time_to_time() {
  const auto begin = std::chrono::steady_clock::now();
  bool shown = false;
  std::unique_lock lock(m_mutex);
  while (!m_change.wait_for(lock, shown ? pause : patience, [this] { return m_end; })) {
    if (m_what.empty()) continue;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::fprintf(stderr, "\r\x1b[K%s", progress_text(m_what, m_share, seconds).c_str());
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fputs("\r\x1b[K", stderr);
}

void progress_line::clear() {
  if (!m_painter.joinable()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_end = true;
  }
  m_change.notify_all();
  m_painter.join();
}

}
