// SPDX-License-Identifier: MIT
#pragma once
// Counts the scopes that were entered.
#include <atomic>

inline std::atomic<int> traced_scopes{0};
#define TRACE_CPUPROFILER_EVENT_SCOPE(name) \
  const int scope_##name = ++traced_scopes; \
  (void)scope_##name
