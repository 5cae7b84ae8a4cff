// SPDX-License-Identifier: MIT
#pragma once
/// A dense row-major tensor that owns its bytes: constants of a graph, and every value of the reference evaluator.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace nsk::tool {

/// Element types of source models. Floats are float32 (or float64); float16 and bfloat16 are widened at import.
enum class element : std::uint8_t { f32, f64, f16, i8, u8, i16, u16, i32, u32, i64, u64, boolean, string };

constexpr std::size_t size_of(element t) {
  switch (t) {
    case element::f64:
    case element::i64:
    case element::u64: return 8;
    case element::f32:
    case element::i32:
    case element::u32: return 4;
    case element::f16:
    case element::i16:
    case element::u16: return 2;
    default: return 1;
  }
}
const char* name_of(element t);  ///< NumPy's spelling: "float32", "int64", "bool"

using shape_t = std::vector<std::int64_t>;
/// Returns the number of elements; 1 for a scalar. The caller has checked that it does not overflow (checked_count).
inline std::int64_t count_of(const shape_t& s) {
  return std::accumulate(s.begin(), s.end(), std::int64_t{1}, std::multiplies<>());
}
/// Product of the dimensions [first, last).
inline std::int64_t count_between(const shape_t& s, std::size_t first, std::size_t last) {
  std::int64_t count = 1;
  for (std::size_t d = first; d < last; ++d) count *= s[d];
  return count;
}
std::string to_string(const shape_t& s);           ///< "[1,3,224,224]"
std::string to_string(double number, int digits);  ///< "0.00392156863" in 9 digits
/// An axis as nodes name it, where negative ones count from the end, counted from the start. It may not exist.
inline std::int64_t counted_from_start(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}
/// Dimensions of any tensor on the way; the engine has fewer (nsk::max_rank).
inline constexpr std::size_t max_axes = 64;
/// Returns the number of elements; refuses more dimensions than max_axes, negative ones and more than 2^40
/// elements, with a message that begins with `what`.
std::int64_t checked_count(const shape_t& s, const std::string& what);
inline bool is_float(element t) { return t == element::f32 || t == element::f64 || t == element::f16; }
inline bool is_integer(element t) { return t >= element::i8 && t <= element::u64; }

struct array {
  element type = element::f32;
  shape_t shape;
  std::vector<std::byte> data;

  array() = default;
  array(element t, shape_t s)
      : type(t), shape(std::move(s)), data(static_cast<std::size_t>(count_of(shape)) * size_of(t)) {}
  std::int64_t count() const { return count_of(shape); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
  /// Element `i` in row-major order, converted: floats to integers towards zero, integers wrap to narrower ones.
  double number(std::int64_t i) const;
  std::int64_t integer(std::int64_t i) const;
  std::vector<double> numbers() const;  ///< all elements
  void set(std::int64_t i, double v);
  void set_integer(std::int64_t i, std::int64_t v);
};

/// Returns `v` rounded towards zero; 0 for NaN, the nearest representable value (as int64 or uint64 bits) beyond the
/// range.
std::int64_t integer_from(double v);

/// Makes arrays of one type from values.
array make_floats(shape_t shape, const std::vector<float>& values);
array make_ints(shape_t shape, const std::vector<std::int64_t>& values);  ///< int64

}
