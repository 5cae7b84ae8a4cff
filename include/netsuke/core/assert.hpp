// SPDX-License-Identifier: MIT
#pragma once
/// Asserts report mistakes of the caller (a wrong type asked of an input, run before bind). Bad files never assert:
/// they give a status.
///
/// The default prints "FILE:LINE: netsuke: TEXT" on standard error (on Windows also to the debugger) and traps; nothing
/// is left of it with NDEBUG. The functions of the operating system that it calls are declared here, as their own
/// headers declare them, so that no header of the system is included. On an operating system that is not named below
/// it traps only: define NSK_ASSERT there (config.hpp).
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/version.hpp>

#if !defined(NSK_ASSERT)
#if defined(NDEBUG)
#define NSK_ASSERT(condition, text) ((void)0)
#else
#define NSK_ASSERT(condition, text) \
  ((condition) ? (void)0 : ::nsk::assert_impl::assertion_failed(__FILE__, __LINE__, text))

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

/// A line of text on the stack; what does not fit is left out.
class line_of_text {
 public:
  void add(const char* text) {
    while (*text != '\0' && m_size + 2 < sizeof m_text) m_text[m_size++] = *text++;
  }
  void add(int number) {
    char digits[12];
    char* first = digits + sizeof digits;
    *--first = '\0';
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    add(first);
  }
  void print() {
    m_text[m_size++] = '\n';
    m_text[m_size] = '\0';
#if defined(_WIN32)
    constexpr auto standard_error = static_cast<unsigned long>(-12);
    unsigned long written = 0;
    WriteFile(GetStdHandle(standard_error), m_text, static_cast<unsigned long>(m_size), &written, nullptr);
    OutputDebugStringA(m_text);
#elif defined(__APPLE__)
#elif defined(__unix__) || defined(__wasi__)
    if (write(2, m_text, m_size) < 0) return;
#endif
  }

 private:
  char m_text[1024];
  std::size_t m_size = 0;
};

/// Prints where and what, and stops the program there.
[[noreturn]] NSK_COLD NSK_NOINLINE inline void assertion_failed(const char* file, int line, const char* text) {
#if defined(__APPLE__)
  __assert_rtn("netsuke", file, line, text);
#else
  line_of_text message;
  message.add(file);
  message.add(":");
  message.add(line);
  message.add(": netsuke: ");
  message.add(text);
  message.print();
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
#endif
#include <netsuke/core/restore_macros.hpp>
