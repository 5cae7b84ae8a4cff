// SPDX-License-Identifier: MIT
#pragma once
// As much of Unreal Engine as the plug-in names, so that it compiles and runs without it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using int32 = std::int32_t;
using int64 = long long;
using uint8 = std::uint8_t;
using SIZE_T = std::size_t;
using TCHAR = char;
#define TEXT(text) text
#define UTF8_TO_TCHAR(text) text
#define NETSUKE_API
// Names that Unreal's headers define as macros.
#define check(expression) ((void)(expression))
#define verify(expression) ((void)(expression))
#define PI (3.1415926535897932f)

class FString {
 public:
  FString() = default;
  FString(const TCHAR* text) : m_text(text) {}
  const TCHAR* operator*() const { return m_text.c_str(); }
  FString operator+(const FString& other) const { return FString((m_text + other.m_text).c_str()); }

 private:
  std::string m_text;
};

template <class T>
class TArray {
 public:
  int32 Num() const { return static_cast<int32>(m_items.size()); }
  T* GetData() { return m_items.data(); }
  const T* GetData() const { return m_items.data(); }
  void Add(const T& item) { m_items.push_back(item); }
  void SetNumUninitialized(int32 count) { m_items.resize(static_cast<std::size_t>(count)); }
  T& operator[](int32 i) { return m_items[static_cast<std::size_t>(i)]; }
  const T& operator[](int32 i) const { return m_items[static_cast<std::size_t>(i)]; }

 private:
  std::vector<T> m_items;
};

struct FMemory {
  static void* Malloc(SIZE_T bytes, std::uint32_t alignment) {
    return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  }
  static void Free(void* block) { std::free(block); }
  static void* Memcpy(void* to, const void* from, SIZE_T bytes) {
    return bytes != 0 ? std::memcpy(to, from, bytes) : to;
  }
};

#define DECLARE_LOG_CATEGORY_EXTERN(name, ...) \
  struct name##_category {};                   \
  extern name##_category name
#define DEFINE_LOG_CATEGORY(name) name##_category name
#define UE_LOG(category, level, ...) ((void)(category), std::printf(__VA_ARGS__), std::puts(""))
