// SPDX-License-Identifier: MIT
// Read before each program: what Visual C++'s library asks of the C library by name and Wine's headers lack.
#pragma once
#include <vcruntime.h>
typedef float float_t;
typedef double double_t;
struct timespec {
  long long tv_sec;
  long tv_nsec;
};
typedef struct _Mbstatet {
  unsigned long _Wchar;
  unsigned short _Byte, _State;
} _Mbstatet;
typedef _Mbstatet mbstate_t;
#define _MBSTATE_T_DEFINED
#define mbstate_t wine_mbstate_t
#include <wchar.h>
#undef mbstate_t
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#undef fpclassify
#undef isfinite
#undef isinf
#undef isnan
#undef isnormal
#undef signbit
#undef isgreater
#undef isgreaterequal
#undef isless
#undef islessequal
#undef islessgreater
#undef isunordered
extern "C" {
#define ONE(name) long double name(long double)
#define TWO(name) long double name(long double, long double)
// clang-format off
ONE(acosl); ONE(acoshl); ONE(asinl); ONE(asinhl); ONE(atanl); ONE(atanhl); ONE(cbrtl); ONE(ceill); ONE(cosl);
ONE(coshl); ONE(erfl); ONE(erfcl); ONE(expl); ONE(exp2l); ONE(expm1l); ONE(fabsl); ONE(floorl); ONE(lgammal);
ONE(logl); ONE(log10l); ONE(log1pl); ONE(log2l); ONE(logbl); ONE(nearbyintl); ONE(rintl); ONE(roundl); ONE(sinl);
ONE(sinhl); ONE(sqrtl); ONE(tanl); ONE(tanhl); ONE(tgammal); ONE(truncl); TWO(atan2l); TWO(copysignl); TWO(fdiml);
TWO(fmaxl); TWO(fminl); TWO(fmodl); TWO(hypotl); TWO(nextafterl); TWO(powl); TWO(remainderl);
// clang-format on
#undef ONE
#undef TWO
long double fmal(long double, long double, long double);
long double frexpl(long double, int*);
long double ldexpl(long double, int);
long double modfl(long double, long double*);
long double nexttowardl(long double, long double);
long double remquol(long double, long double, int*);
long double scalbnl(long double, int);
long double scalblnl(long double, long);
int ilogbl(long double);
long lrintl(long double);
long lroundl(long double);
long long llrintl(long double);
long long llroundl(long double);
double nan(const char*);
float nanf(const char*);
long double nanl(const char*);
float erfcf(float);
double erfc(double);
double nexttoward(double, long double);
int _get_stream_buffer_pointers(FILE*, char***, char***, int**);
float fmaf(float, float, float);
float nexttowardf(float, long double);

int timespec_get(timespec*, int);
int at_quick_exit(void(__cdecl*)());
[[noreturn]] void quick_exit(int);
[[noreturn]] void _invoke_watson(const wchar_t*, const wchar_t*, const wchar_t*, unsigned, uintptr_t);
typedef void(__cdecl* terminate_handler)();
[[noreturn]] void terminate() noexcept;
terminate_handler set_terminate(terminate_handler) noexcept;
terminate_handler _get_terminate();
int vfscanf(FILE*, const char*, va_list);
int vscanf(const char*, va_list);
int vsscanf(const char*, const char*, va_list);
int fwide(FILE*, int);
int mbsinit(const mbstate_t*);
int vfwscanf(FILE*, const wchar_t*, va_list);
int vswscanf(const wchar_t*, const wchar_t*, va_list);
int vwscanf(const wchar_t*, va_list);
long double wcstold(const wchar_t*, wchar_t**);
}
// math.h of Visual C++ has these in C++.
inline long abs(long x) noexcept { return labs(x); }
inline long long abs(long long x) noexcept { return llabs(x); }
