// SPDX-License-Identifier: MIT
#pragma once
/// Elements as bytes, for the calls that take blocks of any type.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/span.hpp>

NSK_BEGIN
/// Returns the bytes of contiguous elements: as_bytes(vector), as_bytes(span).
template <class Range>
span<const std::byte> as_bytes(const Range& range) {
  return {reinterpret_cast<const std::byte*>(range.data()), range.size() * sizeof(*range.data())};
}
/// Returns the bytes of contiguous elements that will be written: as_writable_bytes(vector).
template <class Range>
span<std::byte> as_writable_bytes(Range&& range) {
  return {reinterpret_cast<std::byte*>(range.data()), range.size() * sizeof(*range.data())};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
