// SPDX-License-Identifier: MIT
// The part of Visual C++'s vcruntime.h that its public library of templates needs of it, for programs that are compiled
// and never run. Wine's sal.h has the annotations, but for the few that it lacks.
#pragma once
#define _VCRUNTIME_H
#include <vadefs.h>
#include <sal.h>
#define _Analysis_assume_(expression)
#define _In_range_(low, high)
#define _Ret_range_(low, high)
#define _Out_writes_all_(size)
#define _Out_writes_z_(size)
#define _In_opt_z_
#define _Out_writes_(size)
#define _Pre_satisfies_(condition)
#define _Out_writes_bytes_(size)
#define _In_reads_or_z_(size)

#define _CRTIMP
#define _VCRTIMP
#define _ACRTIMP
#define _CRTIMP2
#define _CRTIMP2_PURE
#define _CRTIMP2_IMPORT
#define _MRTIMP2
#define _PGLOBAL
#define _CRT_SATELLITE_CODECVT_IDS
#define _CRT_SATELLITE_CODECVT_IDS_NOIMPORT
#define _CRT_SATELLITE_1
#define _CRT_SATELLITE_2
#define __CRTDECL __cdecl
#define __CLRCALL_OR_CDECL __cdecl
#define __CLRCALL_PURE_OR_CDECL __cdecl
#define __CLR_OR_THIS_CALL
#define _CLR_OR_STD_CALL __stdcall
#define _VCRT_NOALIAS __declspec(noalias)
#define _VCRT_RESTRICT __declspec(restrict)
#define _VCRT_ALIGN(bytes) __declspec(align(bytes))
#define _CONST_RETURN const
#define _UNALIGNED
#define _CRT_BEGIN_C_HEADER extern "C" {
#define _CRT_END_C_HEADER }
#define _CRT_CONCATENATE_(a, b) a##b
#define _CRT_CONCATENATE(a, b) _CRT_CONCATENATE_(a, b)
#define _CRT_STRINGIZE_(text) #text
#define _CRT_STRINGIZE(text) _CRT_STRINGIZE_(text)
#define _CRT_WIDE_(text) L##text
#define _CRT_WIDE(text) _CRT_WIDE_(text)
#define _CRT_GUARDOVERFLOW
#define _CRT_INSECURE_DEPRECATE(replacement)
#define _CRT_SECURE_NO_WARNINGS 1
#define _STATIC_ASSERT(condition) static_assert(condition, #condition)

#define _HAS_NODISCARD 1
#define _NODISCARD [[nodiscard]]
#define _NODISCARD_MSG(text) [[nodiscard]]
#define _DEPRECATED_CXX
#define _HAS_CXX17 1
#if _MSVC_LANG > 201703L
#define _HAS_CXX20 1
#else
#define _HAS_CXX20 0
#endif
#define _MSVC_CONSTEXPR [[msvc::constexpr]]
#define _HAS_CXX23 0
#define _CRT_HAS_CXX17 1
#define _HAS_STATIC_RTTI 1
#define _HAS_EXCEPTIONS 1

#define _SIZE_T_DEFINED
#define _PTRDIFF_T_DEFINED
#define _INTPTR_T_DEFINED
#define _UINTPTR_T_DEFINED
typedef unsigned long long size_t;
typedef long long ptrdiff_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef bool __vcrt_bool;
#ifndef NULL
#define NULL 0
#endif
