// SPDX-License-Identifier: MIT
#include "io/system/program.hpp"

#include <fcntl.h>
#include <io.h>
#include <malloc.h>

#include <cstdio>

#include "io/system/windows/native.hpp"
#include <shellapi.h>

namespace nsk::tool {

std::vector<std::string> begin_program(int, char**) {
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX);  // an error, no window that asks for a disk
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> result;
  for (int i = 1; words != nullptr && i < count; ++i) result.push_back(utf8_of_utf16(words[i]));
  LocalFree(words);
  return result;
}

bool is_terminal(console which) {
  const HANDLE to = GetStdHandle(which == console::output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
  DWORD mode = 0;
  return GetConsoleMode(to, &mode) != 0 && SetConsoleMode(to, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

bool terminal_has_colours() { return true; }

void* allocate_pages(std::size_t bytes) { return _aligned_malloc(bytes + (bytes == 0), 64); }

void free_pages(void* memory) { _aligned_free(memory); }

std::string processor_name() {
  char name[128] = {};
  DWORD size = sizeof name - 1;
  const LSTATUS found = RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                                     "ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &size);
  return found == ERROR_SUCCESS && name[0] != '\0' ? name : "this machine";
}

}
