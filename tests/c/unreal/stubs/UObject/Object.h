// SPDX-License-Identifier: MIT
#pragma once
#include "CoreMinimal.h"

#define UCLASS(...)
#define UFUNCTION(...)
#define UPROPERTY(...)
#define GENERATED_BODY()
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE(name) \
  struct name {                                  \
    int broadcasts = 0;                          \
    void Broadcast() { ++broadcasts; }           \
  }

class UClass;
enum EObjectFlags { RF_NoFlags };

class UObject {
 public:
  virtual ~UObject() = default;
  virtual bool IsReadyForFinishDestroy() { return true; }
  virtual void FinishDestroy() {}
  void AddToRoot() { ++m_roots; }
  void RemoveFromRoot() { --m_roots; }

 private:
  int m_roots = 0;
};

/// Objects of the program, which the collector frees at its end.
inline std::vector<std::unique_ptr<UObject>> all_objects;
template <class T>
T* NewObject(UObject* = nullptr, UClass* = nullptr, FName = FName(), EObjectFlags = RF_NoFlags) {
  auto made = std::make_unique<T>();
  T* const object = made.get();
  all_objects.push_back(std::move(made));
  return object;
}

template <class T>
using TObjectPtr = T*;

template <class T>
class TWeakObjectPtr {
 public:
  TWeakObjectPtr(T* object = nullptr) : m_object(object) {}
  T* Get() const { return m_object; }
  T* operator->() const { return m_object; }
  bool IsValid() const { return m_object != nullptr; }

 private:
  T* m_object;
};
