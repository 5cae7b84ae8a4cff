// SPDX-License-Identifier: MIT
#pragma once
// Macros that programs have before they include the library, as the headers that define them write them.
// clang-format off

// windows.h, and the annotations of older versions of it
#define near
#define far
#define in
#define out
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define hyper long long
#define interface struct
#define pascal
#define cdecl
#define huge
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define ERROR 0
#define TRANSPARENT 1
#define OPAQUE 2
#define DIFFERENCE 11
#define DELETE 0x00010000L
#define STRICT 1
#define DWORD unsigned long
#define GetObject GetObjectA
#define Yield()

// MFC and crtdbg.h
#define DEBUG_NEW new(1, __FILE__, __LINE__)
#define new DEBUG_NEW
#define free(p) _free_dbg(p, 1)

// complex.h
#define I _Complex_I
#define complex _Complex
#define imaginary _Imaginary

// Qt
#define emit
#define slots
#define signals public
#define foreach(a, b) for (a : b)
#define forever for (;;)

// X11
#define Bool int
#define Status int
#define None 0L
#define True 1
#define False 0
#define Always 2
#define Success 0
#define Above 0
#define Below 1
#define Data(display, data, length) XData(display, data, length)

// GLSL and HLSL in C++
#define abs(x) ((x) < 0 ? -(x) : (x))
#define all(v) foreign_all(v)
#define any(v) foreign_any(v)
#define ceil(x) foreign_ceil(x)
#define clamp(x, a, b) min(max(x, a), b)
#define cos(x) foreign_cos(x)
#define cross(a, b) foreign_cross(a, b)
#define dot(a, b) foreign_dot(a, b)
#define exp(x) foreign_exp(x)
#define floor(x) foreign_floor(x)
#define fma(a, b, c) ((a) * (b) + (c))
#define fmod(a, b) foreign_fmod(a, b)
#define frac(x) ((x) - floor(x))
#define half float
#define length(v) foreign_length(v)
#define lerp(a, b, t) ((a) + (t) * ((b) - (a)))
#define log(...) foreign_log(__VA_ARGS__)
#define mix(a, b, t) lerp(a, b, t)
#define mod(a, b) foreign_mod(a, b)
#define mul(a, b) foreign_mul(a, b)
#define neg(x) (-(x))
#define normalize(v) foreign_normalize(v)
#define pow(a, b) foreign_pow(a, b)
#define round(x) foreign_round(x)
#define saturate(x) clamp(x, 0, 1)
#define select(a, b, c) ((a) ? (b) : (c))
#define sign(x) (((x) > 0) - ((x) < 0))
#define sin(x) foreign_sin(x)
#define sqrt(x) foreign_sqrt(x)
#define step(edge, x) ((x) < (edge) ? 0 : 1)
#define swap(a, b) foreign_swap(a, b)
#define tanh(x) foreign_tanh(x)
#define trunc(x) foreign_trunc(x)
#define uniform
#define varying

// Arduino
#define F(text) foreign_flash(text)
#define bit(n) (1ul << (n))
#define boolean bool
#define byte unsigned char
#define sq(x) ((x) * (x))
#define word(high, low) (((high) << 8) | (low))

// curses
#define border(a, b, c, d, e, f, g, h) wborder(stdscr, a, b, c, d, e, f, g, h)
#define box(window, v, h) wborder(window, v, v, h, h, 0, 0, 0, 0)
#define clear() wclear(stdscr)
#define erase() werase(stdscr)
#define move(y, x) wmove(stdscr, y, x)
#define refresh() wrefresh(stdscr)
#define timeout(delay) wtimeout(stdscr, delay)

// Unix and its kernels
#define linux 1
#define unix 1
#define B0 0
#define major(device) gnu_dev_major(device)
#define minor(device) gnu_dev_minor(device)
#define index strchr
#define fence() foreign_fence()
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define prefetch(p) __builtin_prefetch(p)
#define isnan(x) foreign_isnan(x)
#define isinf(x) foreign_isinf(x)
#if !defined(_WIN32)  // its own headers use these names
#define _C 0x20
#define _N 0x04
#endif

// Assertions and constants of Apple's headers, Unreal and others
#define assert(condition) ((void)0)
#define check(condition) ((void)0)
#define checkf(condition, ...) ((void)0)
#define ensure(condition) ((void)0)
#define require(condition, label) do { if (!(condition)) goto label; } while (0)
#define verify(condition) ((void)0)
#define nil nullptr
#define Nil nullptr
#define PI 3.14159265f
#define TEXT(text) L##text

// Programs' own
#define MAX 100
#define MIN 0
#define NONE -1
#define A 1
#define B 2
#define C 3
#define E 2.718281828
#define J 6
#define K 1024
#define N 100
#define P(x) x
#define T double
#define U unsigned
#define loop for (;;)
#define repeat(n) for (int repeated = 0; repeated < (n); ++repeated)
#define scalar double
