// SPDX-License-Identifier: MIT
#include "io/system/program.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace nsk::tool {

std::vector<std::string> begin_program(int argc, char** argv) {
#if defined(__GLIBC__)
  // Arrays of megabytes come and go: keeping their pages is faster than giving them back and clearing new ones. Larger
  // ones are given back: what grows by doubling would leave a gigabyte of holes.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit becomes an error of the write, with a message
#endif
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

bool is_terminal(console which) { return ::isatty(which == console::output ? STDOUT_FILENO : STDERR_FILENO) != 0; }

bool terminal_has_colours() {
  const char* const kind = std::getenv("TERM");
  return kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

void* allocate_pages(std::size_t bytes) {
  constexpr std::size_t alignment = 64, large_page = 2 * 1024 * 1024;
  const std::size_t unit = bytes < large_page ? alignment : large_page, whole = (bytes + unit) / unit * unit;
  void* const memory = std::aligned_alloc(unit, whole);
#if defined(MADV_HUGEPAGE)
  if (memory != nullptr && unit == large_page)
    static_cast<void>(madvise(memory, whole, MADV_HUGEPAGE));  // refused: small pages
#endif
  return memory;
}

void free_pages(void* memory) { std::free(memory); }

std::string processor_name() {
#if defined(__APPLE__)
  char name[128] = {};
  std::size_t size = sizeof name - 1;
  if (::sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
#endif
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const std::size_t at = line.find(": ");
    if (at != std::string::npos) return line.substr(at + 2);
  }
  return "this machine";
}

}
