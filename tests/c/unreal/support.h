// SPDX-License-Identifier: MIT
#pragma once
// What the programs of this folder share: failures, inputs, hashes.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include "CoreMinimal.h"

inline int failures = 0;

inline void require(bool condition, const char* text, const FString& error = FString()) {
  if (condition) return;
  ++failures;
  std::printf("wrong: %s %s\n", text, *error);
}

/// Fails with a text that begins as expected.
inline void require_error(bool succeeded, const FString& error, const char* begin) {
  require(!succeeded && std::strncmp(*error, begin, std::strlen(begin)) == 0, begin, error);
}

inline TArray<float> inputs_of(int32 count, std::uint32_t first) {
  TArray<float> values;
  for (std::uint32_t i = first; i < first + static_cast<std::uint32_t>(count); ++i)
    values.Add(static_cast<float>((i * 2654435761u) >> 16) / 65536.0f - 0.5f);
  return values;
}

inline std::uint64_t hash_of(const TArray<float>& values) {
  std::uint64_t hash = 14695981039346656037u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.GetData());
  for (std::size_t i = 0; i < static_cast<std::size_t>(values.Num()) * sizeof(float); ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}
