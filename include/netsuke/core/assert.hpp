// SPDX-License-Identifier: MIT
#pragma once
/// Asserts report mistakes of the caller (a wrong type asked of an input, run before bind). Bad files never assert:
/// they give a status.
///
/// The default prints "FILE:LINE: netsuke: TEXT" on standard error (on Windows also to the debugger) and traps; nothing
/// is left of it with NDEBUG. NSK_STOP does that in every build, where going on would be a wrong result without a word.
/// The functions of the operating system that it calls are declared here, as their own headers declare them, so that no
/// header of the system is included. On an operating system that is not named below it traps only: define NSK_STOP
/// there (config.hpp).
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/core/text_writer.hpp>
#include <netsuke/version.hpp>

#if !defined(NSK_ASSERT)
#if defined(NDEBUG)
#define NSK_ASSERT(condition, text) ((void)0)
#else
#define NSK_ASSERT(condition, text) ((condition) ? (void)0 : NSK_STOP(text))
#endif
#endif

#if !defined(NSK_STOP)
#define NSK_STOP(text) ::nsk::assert_impl::stop(__FILE__, __LINE__, text)

#if defined(_WIN32)
struct _OVERLAPPED;
extern "C" {
__declspec(dllimport) void* __stdcall GetStdHandle(unsigned long handle);
__declspec(dllimport) int __stdcall WriteFile(void* file, const void* bytes, unsigned long size, unsigned long* written,
                                              _OVERLAPPED* overlapped);
__declspec(dllimport) void __stdcall OutputDebugStringA(const char* text);
}
#endif

NSK_BEGIN
namespace assert_impl {
#if defined(__APPLE__)
extern "C" [[noreturn]] void __assert_rtn(const char* function, const char* file, int line, const char* text);
#elif defined(__unix__) || defined(__wasi__)
extern "C" std::make_signed_t<std::size_t> write(int file, const void* bytes, std::size_t size);
#endif

/// Writes a line to standard error.
inline void print([[maybe_unused]] const char* line, [[maybe_unused]] std::size_t bytes) {
#if defined(_WIN32)
  constexpr auto standard_error = static_cast<unsigned long>(-12);
  unsigned long written = 0;
  WriteFile(GetStdHandle(standard_error), line, static_cast<unsigned long>(bytes), &written, nullptr);
  OutputDebugStringA(line);
#elif defined(__APPLE__)
#elif defined(__unix__) || defined(__wasi__)
  if (write(2, line, bytes) < 0) return;
#endif
}

/// Prints where and what, and stops the program there.
[[noreturn]] NSK_COLD NSK_NOINLINE inline void stop(const char* file, int line, const char* text) {
#if defined(__APPLE__)
  __assert_rtn("netsuke", file, line, text);
#else
  char block[1024];
  text_writer message(block, sizeof block - 1);
  message.add(file);
  message.add(":");
  message.add(line);
  message.add(": netsuke: ");
  message.add(text);
  block[message.size()] = '\n';
  block[message.size() + 1] = '\0';
  print(block, message.size() + 1);
#if defined(_MSC_VER) && !defined(__clang__)
  for (;;) __debugbreak();
#else
  __builtin_trap();
#endif
#endif
}

}
NSK_END
#endif
#include <netsuke/core/restore_macros.hpp>
