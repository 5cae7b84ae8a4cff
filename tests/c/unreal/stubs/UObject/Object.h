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

class UObject {
 public:
  virtual ~UObject() = default;
  virtual bool IsReadyForFinishDestroy() { return true; }
  virtual void FinishDestroy() {}
};

template <class T>
using TObjectPtr = T*;

template <class T>
class TWeakObjectPtr {
 public:
  explicit TWeakObjectPtr(T* object) : m_object(object) {}
  T* Get() const { return m_object; }

 private:
  T* m_object;
};
