// SPDX-License-Identifier: MIT
#pragma once
#include <vcruntime.h>
namespace std {
class exception {
 public:
  exception() noexcept;
  explicit exception(const char*) noexcept;
  exception(const char*, int) noexcept;
  virtual ~exception() noexcept;
  virtual const char* what() const;
};
class bad_exception : public exception {};
class bad_alloc : public exception {
 public:
  bad_alloc() noexcept;

 private:
  friend class bad_array_new_length;
  bad_alloc(const char*) noexcept;
};
class bad_array_new_length : public bad_alloc {
 public:
  bad_array_new_length() noexcept;
};
}
