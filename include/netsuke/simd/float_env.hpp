// SPDX-License-Identifier: MIT
#pragma once
/// The floating-point mode that equal bits need, for as long as an object lives.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#elif defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

NSK_BEGIN
/// Sets this thread to round to nearest, with denormal numbers, and without floating-point traps; the destructor
/// restores the mode that it found, sticky exception flags included. Costs some tens of cycles. Not copyable; destroy
/// it on the thread that made it.
class float_environment {
 public:
  float_environment() : m_found(read()) {
#if defined(__x86_64__) || defined(_M_X64)
    write(
        0x1f80);  // reset value of MXCSR: all exceptions masked, nearest, neither flush-to-zero nor denormals-are-zero
#else
    write(0);  // reset value of FPCR
#endif
  }
  ~float_environment() { write(m_found); }
  float_environment(const float_environment&) = delete;
  float_environment& operator=(const float_environment&) = delete;

 private:
  /// Memory operations stay on their side: a result cannot be stored, nor an operand loaded, in the wrong mode.
  static void fence() {
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory");
#endif
  }
#if defined(__x86_64__) || defined(_M_X64)
  using word = std::uint32_t;
  static word read() { return static_cast<word>(_mm_getcsr()); }
  static void write(word mode) {
    fence();
    _mm_setcsr(mode);
    fence();
  }
#elif defined(__aarch64__)
  using word = std::uint64_t;
  static word read() {
    word mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void write(word mode) { __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory"); }
#elif defined(_M_ARM64)
  using word = std::uint64_t;
  static word read() { return static_cast<word>(_ReadStatusReg(ARM64_FPCR)); }
  static void write(word mode) { _WriteStatusReg(ARM64_FPCR, static_cast<__int64>(mode)); }
#else
  using word = std::uint32_t;
  static word read() { return 0; }
  static void write(word) { fence(); }
#endif
  word m_found;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
