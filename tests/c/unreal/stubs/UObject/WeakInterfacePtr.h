// SPDX-License-Identifier: MIT
#pragma once

template <class T>
class TWeakInterfacePtr {
 public:
  explicit TWeakInterfacePtr(T* object) : m_object(object) {}
  T* Get() const { return m_object; }

 private:
  T* m_object;
};
