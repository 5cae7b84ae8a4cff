// SPDX-License-Identifier: MIT
#include "graph/array.hpp"

#include <algorithm>
#include <cstdio>

#include "errors.hpp"
#include "graph/float16.hpp"

namespace nsk::tool {

const char* name_of(element t) {
  static constexpr const char* names[] = {"float32", "float64", "float16", "int8",   "uint8", "int16", "uint16",
                                          "int32",   "uint32",  "int64",   "uint64", "bool",  "string"};
  return names[static_cast<std::size_t>(t)];
}

std::string to_string(const shape_t& s) {
  std::string text = "[";
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (i != 0) text += ',';
    if (i == max_axes) return text + "...]";
    text += s[i] < 0 ? "?" : std::to_string(s[i]);
  }
  return text + "]";
}

std::string to_string(double number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, number);
  return text;
}

std::int64_t checked_count(const shape_t& s, const std::string& what) {
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  if (s.size() > max_axes)
    refuse(what + ": it has " + std::to_string(s.size()) + " dimensions, more than " + std::to_string(max_axes));
  std::int64_t count = 1;  // of the shape without its empty dimensions, so that no partial product overflows
  for (std::int64_t d : s) {
    if (d < 0) refuse(what + ": shape " + to_string(s) + " has the negative dimension " + std::to_string(d));
    if (d > limit / count) refuse(what + ": shape " + to_string(s) + " is larger than 2^40 elements");
    count *= std::max<std::int64_t>(d, 1);
  }
  return std::find(s.begin(), s.end(), 0) != s.end() ? 0 : count;
}

double array::number(std::int64_t i) const {
  switch (type) {
    case element::f32: return static_cast<double>(as<float>()[i]);
    case element::f64: return as<double>()[i];
    case element::f16: return static_cast<double>(float_from_half(as<std::uint16_t>()[i]));
    case element::u64: return static_cast<double>(as<std::uint64_t>()[i]);
    default: return static_cast<double>(integer(i));
  }
}

std::int64_t array::integer(std::int64_t i) const {
  switch (type) {
    case element::i8: return as<std::int8_t>()[i];
    case element::u8: return as<std::uint8_t>()[i];
    case element::i16: return as<std::int16_t>()[i];
    case element::u16: return as<std::uint16_t>()[i];
    case element::i32: return as<std::int32_t>()[i];
    case element::u32: return as<std::uint32_t>()[i];
    case element::i64: return as<std::int64_t>()[i];
    case element::u64: return static_cast<std::int64_t>(as<std::uint64_t>()[i]);
    case element::boolean: return as<std::uint8_t>()[i] != 0 ? 1 : 0;
    case element::string: return 0;
    default: return integer_from(number(i));
  }
}

std::vector<double> array::numbers() const {
  std::vector<double> list(static_cast<std::size_t>(count()));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = number(static_cast<std::int64_t>(i));
  return list;
}

void array::set(std::int64_t i, double v) {
  switch (type) {
    case element::f32: as<float>()[i] = static_cast<float>(v); return;
    case element::f64: as<double>()[i] = v; return;
    case element::f16: as<std::uint16_t>()[i] = half_from_double(v); return;
    default: set_integer(i, type == element::boolean ? (v != 0 ? 1 : 0) : integer_from(v));
  }
}

void array::set_integer(std::int64_t i, std::int64_t v) {
  switch (type) {
    case element::i8:
    case element::u8: as<std::uint8_t>()[i] = static_cast<std::uint8_t>(v); return;
    case element::i16:
    case element::u16: as<std::uint16_t>()[i] = static_cast<std::uint16_t>(v); return;
    case element::i32:
    case element::u32: as<std::uint32_t>()[i] = static_cast<std::uint32_t>(v); return;
    case element::i64:
    case element::u64: as<std::int64_t>()[i] = v; return;
    case element::boolean: as<std::uint8_t>()[i] = v != 0 ? 1 : 0; return;
    case element::string: return;
    default: set(i, static_cast<double>(v));
  }
}

std::int64_t integer_from(double v) {
  constexpr double low = -9223372036854775808.0, high = 9223372036854775808.0;
  if (!(v > low)) return v != v ? 0 : std::numeric_limits<std::int64_t>::min();
  if (v >= high)
    return v < 2 * high ? static_cast<std::int64_t>(static_cast<std::uint64_t>(v))
                        : std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(v);
}

namespace {

template <class T>
array made_of(element type, shape_t shape, const std::vector<T>& values, const char* who) {
  array a(type, std::move(shape));
  if (a.count() != static_cast<std::int64_t>(values.size()))
    misuse(std::string(who) + ": shape " + to_string(a.shape) + " does not hold the values");
  std::copy(values.begin(), values.end(), a.as<T>());
  return a;
}

}

array make_floats(shape_t shape, const std::vector<float>& values) {
  return made_of(element::f32, std::move(shape), values, "make_floats");
}

array make_ints(shape_t shape, const std::vector<std::int64_t>& values) {
  return made_of(element::i64, std::move(shape), values, "make_ints");
}

}
