// SPDX-License-Identifier: MIT
// Functions of Visual C++ that the library calls, declared as its intrin.h does: "Compiler intrinsics", Microsoft.
#pragma once
extern "C" {
long _InterlockedCompareExchange(volatile long*, long, long);
long _InterlockedExchange(volatile long*, long);
long _InterlockedExchangeAdd(volatile long*, long);
long _InterlockedOr(volatile long*, long);
#if defined(_M_ARM64)
constexpr int ARM64_FPCR = 0x5a20;
long long _ReadStatusReg(int);
void _WriteStatusReg(int, long long);
void __prefetch(const void*);
#else
void __cpuidex(int (&)[4], int, int);
#endif
}
