/* SPDX-License-Identifier: MIT */
#ifndef NETSUKE_C_BASE_H
#define NETSUKE_C_BASE_H
/* What every part of the C interface shares: version, linkage, status, handles. Included by netsuke/c/netsuke.h. */
#include <stddef.h>
#include <stdint.h>
#include <netsuke/core/status_list.h>

/* Version of this interface. It grows by functions at the end and by fields at the end of structs, whose size the
 * caller passes, without another version; where it changes in another way, the version does. */
#define NSK_C_VERSION 1

/* Define NSK_C_SHARED where the functions are in a shared library, and where that library is compiled. */
#if !defined(NSK_C_API)
#if defined(NSK_C_SHARED) && defined(_WIN32)
#if defined(NSK_C_IMPLEMENTATION)
#define NSK_C_API __declspec(dllexport)
#else
#define NSK_C_API __declspec(dllimport)
#endif
#elif defined(NSK_C_SHARED) && defined(__GNUC__)
#define NSK_C_API __attribute__((visibility("default")))
#else
#define NSK_C_API
#endif
#endif

#if defined(__cplusplus)
#define NSK_C_NOEXCEPT noexcept
#else
#define NSK_C_NOEXCEPT
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* --- status --- */

/* `code` is 0 where a call succeeded. `where` is the number of what the code refers to, -1 where there is none;
 * nsk_status_place says what it counts. */
typedef struct nsk_status {
  int32_t code, where;
} nsk_status;

/* nsk_status_ok, nsk_status_not_open ...: netsuke/core/status_list.h lists them. Codes are append-only. Those below
 * 1000 are the status codes of the C++ library, the others of this interface alone. */
enum nsk_status_code {
#define NSK_C_STATUS_CODE(code, place, text) nsk_status_##code,
#define NSK_C_STATUS_NUMBER(code, number, place, text) nsk_status_##code = number,
  NSK_STATUS_LIST(NSK_C_STATUS_CODE) NSK_C_STATUS_LIST(NSK_C_STATUS_NUMBER)
#undef NSK_C_STATUS_CODE
#undef NSK_C_STATUS_NUMBER
};

/* Returns what a code means and what to do about it; and its name, for logs. Never null. */
NSK_C_API const char* nsk_status_text(int32_t code) NSK_C_NOEXCEPT;
NSK_C_API const char* nsk_status_name(int32_t code) NSK_C_NOEXCEPT;
/* Returns what `where` counts: "step", "port", "variant" ...; "none" where the code has no number. Never null. */
NSK_C_API const char* nsk_status_place(int32_t code) NSK_C_NOEXCEPT;

/* --- handles --- */

typedef struct nsk_model nsk_model;
typedef struct nsk_session nsk_session;
typedef struct nsk_batcher nsk_batcher;
typedef struct nsk_run_log nsk_run_log;
typedef struct nsk_trace nsk_trace;

/* Returns a time from any start, in the unit that the function says to which it is given. */
typedef int64_t (*nsk_clock)(void* user);

#if defined(__cplusplus)
}
#endif

#endif
