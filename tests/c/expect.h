/* SPDX-License-Identifier: MIT */
/* What programs that misuse the library expect: a status, or equal numbers. Failures are counted, and printed with
 * their line. */
#ifndef NSK_TEST_EXPECT_H
#define NSK_TEST_EXPECT_H
#include "support.h"

static int failures;

static void expect(nsk_status actual, int32_t code, int32_t where, const char* file, int line) {
  if (actual.code == code && actual.where == where && strlen(nsk_status_text(code)) > 20) return;
  ++failures;
  fprintf(stderr, "%s:%d: %s (where: %d), expected %s (where: %d)\n", file, line, nsk_status_name(actual.code),
          (int)actual.where, nsk_status_name(code), (int)where);
}
#define EXPECT(code, where, call) expect((call), nsk_status_##code, (where), __FILE__, __LINE__)
#define EXPECT_EQUAL(a, b)                                                       \
  do {                                                                           \
    if ((a) != (b)) {                                                            \
      ++failures;                                                                \
      fprintf(stderr, "%s:%d: not equal: %s, %s\n", __FILE__, __LINE__, #a, #b); \
    }                                                                            \
  } while (0)

#endif
