// SPDX-License-Identifier: MIT
#pragma once
// As much of Unreal Engine as the plug-in names, so that it compiles and runs without it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <strings.h>
#include <vector>

using int32 = std::int32_t;
using int64 = long long;
using uint8 = std::uint8_t;
using uint32 = std::uint32_t;
using uint64 = unsigned long long;
using SIZE_T = std::size_t;
using UPTRINT = std::uintptr_t;
using TCHAR = char;
#define TEXT(text) text
#define UTF8_TO_TCHAR(text) text
#define NETSUKE_API
#define NETSUKENNE_API
// Names that Unreal's headers define as macros.
#define check(expression) ((void)(expression))
#define verify(expression) ((void)(expression))
#define PI (3.1415926535897932f)

struct ESearchCase {
  enum Type { CaseSensitive, IgnoreCase };
};

class FString {
 public:
  FString() = default;
  FString(const TCHAR* text) : m_text(text) {}
  const TCHAR* operator*() const { return m_text.c_str(); }
  FString operator+(const FString& other) const { return FString((m_text + other.m_text).c_str()); }
  bool operator==(const FString& other) const { return m_text == other.m_text; }
  int32 Compare(const FString& other, ESearchCase::Type how) const {
    return how == ESearchCase::IgnoreCase ? strcasecmp(**this, *other) : std::strcmp(**this, *other);
  }

 private:
  std::string m_text;
};
using FName = FString;

enum class EGuidFormats { Digits };
struct FGuid {
  FString ToString(EGuidFormats) const { return FString("00000001000000020000000300000004"); }
};

template <class T>
class TArray {
 public:
  int32 Num() const { return static_cast<int32>(m_items.size()); }
  T* GetData() { return m_items.data(); }
  const T* GetData() const { return m_items.data(); }
  void Add(const T& item) { m_items.push_back(item); }
  void Append(const T* items, int32 count) { m_items.insert(m_items.end(), items, items + count); }
  void Empty() { m_items.clear(); }
  void SetNumUninitialized(int32 count) { m_items.resize(static_cast<std::size_t>(count)); }
  T& operator[](int32 i) { return m_items[static_cast<std::size_t>(i)]; }
  const T& operator[](int32 i) const { return m_items[static_cast<std::size_t>(i)]; }
  auto begin() const { return m_items.begin(); }
  auto end() const { return m_items.end(); }

 private:
  std::vector<T> m_items;
};

/// A view whose number has the type Size.
template <class T, class Size>
class view_of_array {
 public:
  view_of_array() = default;
  view_of_array(const T* items, Size count) : m_items(items), m_count(count) {}
  view_of_array(const TArray<T>& items) : m_items(items.GetData()), m_count(items.Num()) {}
  Size Num() const { return m_count; }
  const T* GetData() const { return m_items; }
  const T& operator[](Size i) const { return m_items[i]; }

 private:
  const T* m_items = nullptr;
  Size m_count = 0;
};
template <class T>
using TConstArrayView = view_of_array<T, int32>;
template <class T>
using TConstArrayView64 = view_of_array<T, int64>;

template <class Key, class Value>
class TMap {};

template <class T>
class TSharedPtr {
 public:
  TSharedPtr(std::nullptr_t = nullptr) {}
  explicit TSharedPtr(std::shared_ptr<T> item) : m_item(std::move(item)) {}
  template <class U>
  TSharedPtr(const TSharedPtr<U>& other) : m_item(other.shared()) {}
  bool IsValid() const { return m_item != nullptr; }
  T* Get() const { return m_item.get(); }
  T* operator->() const { return m_item.get(); }
  const std::shared_ptr<T>& shared() const { return m_item; }

 private:
  std::shared_ptr<T> m_item;
};
template <class T>
using TSharedRef = TSharedPtr<T>;

template <class T>
struct TSharedFromThis : std::enable_shared_from_this<T> {
  TSharedRef<T> AsShared() { return TSharedRef<T>(this->shared_from_this()); }
};

template <class T, class... Arguments>
TSharedPtr<T> MakeShared(Arguments&&... arguments) {
  return TSharedPtr<T>(std::make_shared<T>(std::forward<Arguments>(arguments)...));
}

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
#define UE_LOG(category, level, ...) ((void)(category), std::printf("log: "), std::printf(__VA_ARGS__), std::puts(""))
