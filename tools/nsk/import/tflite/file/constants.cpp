// SPDX-License-Identifier: MIT
#include "import/tflite/file/constants.hpp"

#include <cmath>

#include "errors.hpp"
#include "graph/float16.hpp"
#include "import/tflite/file/sparse.hpp"

namespace nsk::tool {
namespace {

std::string what(const tflite_tensor& t) { return "tensor '" + t.name + "'"; }

/// Stored elements, one value each.
array widened(const tflite_tensor& t, const shape_t& shape, element type) {
  const std::int64_t count = checked_count(shape, what(t));
  const bool nibbles = t.data->type() == tfl::TensorType::INT4, half = t.data->type() == tfl::TensorType::FLOAT16,
             brain = t.data->type() == tfl::TensorType::BFLOAT16;
  const std::size_t expected = nibbles ? static_cast<std::size_t>((count + 1) / 2)
                                       : static_cast<std::size_t>(count) * (half || brain ? 2 : size_of(type));
  if (t.size != expected)
    refuse(what(t) + " has the shape " + to_string(shape) + " and " + std::to_string(t.size) + " bytes, but needs " +
           std::to_string(expected) + ". The file is damaged");
  array a(type, shape);
  if (half || brain) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint16_t bits;
      std::memcpy(&bits, t.bytes + 2 * i, sizeof bits);
      const std::uint32_t wide = std::uint32_t{bits} << 16;
      if (half)
        a.as<float>()[i] = float_from_half(bits);
      else
        std::memcpy(a.as<float>() + i, &wide, sizeof wide);
    }
  } else if (nibbles) {
    for (std::int64_t i = 0; i < count; ++i) {
      const int pair = std::to_integer<int>(t.bytes[i / 2]), nibble = i % 2 == 0 ? pair & 15 : pair >> 4;
      a.set_integer(i, nibble >= 8 ? nibble - 16 : nibble);
    }
  } else if (expected > 0) {
    std::memcpy(a.data.data(), t.bytes, expected);
  }
  if (type == element::boolean)
    for (std::byte& b : a.data) b = b == std::byte{0} ? b : std::byte{1};
  return a;
}

/// Scale and zero point per position of an axis; one of each where the tensor has one.
struct affine {
  std::vector<double> scale;
  std::vector<std::int64_t> zero;
  std::int64_t positions = 1, inner = 1;
};

/// The least and the largest zero point of a type.
std::pair<std::int64_t, std::int64_t> zero_points_of(tfl::TensorType type) {
  switch (type) {
    case tfl::TensorType::INT4: return {-8, 7};
    case tfl::TensorType::INT8: return {-128, 127};
    case tfl::TensorType::UINT8: return {0, 255};
    case tfl::TensorType::INT16: return {-32768, 32767};
    case tfl::TensorType::UINT16: return {0, 65535};
    default: return {0, 0};  // biases
  }
}

affine affine_of(const tflite_tensor& t) {
  constexpr float min_scale = 0x1p-60f, max_scale = 0x1p60f;  // products and quotients of three stay normal floats
  const tfl::QuantizationParameters& q = *t.data->quantization();
  if (q.details_type() != 0)
    refuse(what(t) + " is quantised by a scheme of its own. Export the model with scale and zero_point");
  affine a;
  for (const float s : *q.scale()) {
    if (!std::isfinite(s) || s < 0)
      refuse(what(t) + " has a scale that is negative or not finite. The file is damaged");
    if (s > max_scale || (t.bytes == nullptr && s < min_scale))
      refuse(what(t) + " has a scale that is larger than 2^60, or for a tensor that is computed smaller than 2^-60");
    a.scale.push_back(static_cast<double>(s));
  }
  const std::size_t count = a.scale.size(), zeros = q.zero_point() == nullptr ? 0 : q.zero_point()->size();
  if (zeros != 0 && zeros != count)
    refuse(what(t) + " has " + std::to_string(count) + " scales and " + std::to_string(zeros) +
           " zero points. The file is damaged");
  for (std::size_t i = 0; i < count; ++i)
    a.zero.push_back(zeros == 0 ? 0 : q.zero_point()->Get(static_cast<flatbuffers::uoffset_t>(i)));
  const auto [low, high] = zero_points_of(t.data->type());
  for (const std::int64_t zero : a.zero)
    if (zero < low || zero > high)
      refuse(what(t) + " has the zero point " + std::to_string(zero) + ", and its type those from " +
             std::to_string(low) + " to " + std::to_string(high) + ". The file is damaged");
  const std::int64_t axis = q.quantized_dimension(), rank = static_cast<std::int64_t>(t.shape.size());
  if (count == 1 && axis >= 0 && (axis < rank || rank == 0)) return a;
  if (axis < 0 || axis >= rank || t.shape[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(count))
    refuse(what(t) + " has " + std::to_string(count) + " scales along axis " + std::to_string(axis) +
           ", which the shape " + to_string(t.shape) + " contradicts. The file is damaged");
  a.positions = static_cast<std::int64_t>(count);
  a.inner = count_of({t.shape.begin() + axis + 1, t.shape.end()});
  return a;
}

array dequantized(const tflite_tensor& t, const array& stored) {
  const affine a = affine_of(t);
  array real(element::f32, stored.shape);
  for (std::int64_t i = 0; i < stored.count(); ++i) {
    const auto at = static_cast<std::size_t>(i / a.inner % a.positions);
    real.set(i, a.scale[at] * (stored.number(i) - static_cast<double>(a.zero[at])));
  }
  return real;
}

}

std::optional<element> element_of_tflite(tfl::TensorType type) {
  switch (type) {
    case tfl::TensorType::FLOAT32:
    case tfl::TensorType::FLOAT16:
    case tfl::TensorType::BFLOAT16: return element::f32;
    case tfl::TensorType::FLOAT64: return element::f64;
    case tfl::TensorType::INT4:
    case tfl::TensorType::INT8: return element::i8;
    case tfl::TensorType::UINT8: return element::u8;
    case tfl::TensorType::INT16: return element::i16;
    case tfl::TensorType::UINT16: return element::u16;
    case tfl::TensorType::INT32: return element::i32;
    case tfl::TensorType::UINT32: return element::u32;
    case tfl::TensorType::INT64: return element::i64;
    case tfl::TensorType::BOOL: return element::boolean;
    default: return std::nullopt;
  }
}

bool is_quantized(const tflite_tensor& t) {
  const tfl::QuantizationParameters* q = t.data->quantization();
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return false;
  switch (t.data->type()) {
    case tfl::TensorType::INT4:
    case tfl::TensorType::INT8:
    case tfl::TensorType::UINT8:
    case tfl::TensorType::INT16:
    case tfl::TensorType::UINT16: return true;
    case tfl::TensorType::INT32:
    case tfl::TensorType::INT64: return t.bytes != nullptr;
    default: return false;
  }
}

bool stored_alike(const tflite_tensor& a, const tflite_tensor& b) {
  const affine of_a = affine_of(a), of_b = affine_of(b);
  return of_a.scale == of_b.scale && of_a.zero == of_b.zero;
}

std::pair<double, double> quantized_range(const tflite_tensor& t) {
  const affine a = affine_of(t);
  if (a.scale.size() != 1) refuse(what(t) + " is an activation with a scale per channel. The file is damaged");
  double low = 0, high = 0;
  switch (t.data->type()) {
    case tfl::TensorType::INT4: low = -8, high = 7; break;
    case tfl::TensorType::INT8: low = -128, high = 127; break;
    case tfl::TensorType::UINT8: low = 0, high = 255; break;
    case tfl::TensorType::INT16: low = -32768, high = 32767; break;
    case tfl::TensorType::UINT16: low = 0, high = 65535; break;
    default: refuse(what(t) + " is a quantised activation of type " + name_of(t.data->type()) + ", which is not known");
  }
  const auto zero = static_cast<double>(a.zero[0]);
  return {a.scale[0] * (low - zero), a.scale[0] * (high - zero)};
}

stored_scale scale_of(const tflite_tensor& t) {
  const affine a = affine_of(t);
  stored_scale s;
  for (const double v : a.scale) s.scale.push_back(static_cast<float>(v));
  s.zero = a.zero;
  s.axis = t.data->quantization()->quantized_dimension();
  return s;
}

array decode_tflite(const tflite_tensor& t, bool dequantize) {
  const std::optional<element> type = t.signed_bytes ? element::i8 : element_of_tflite(t.data->type());
  if (!type) refuse(what(t) + " holds elements of type " + name_of(t.data->type()) + ", which are not supported");
  array stored = t.data->sparsity() == nullptr ? widened(t, t.shape, *type) : array();
  if (t.data->sparsity() != nullptr) {
    const sparse_layout layout(t);
    stored = layout.spread(widened(t, {layout.stored()}, *type));
  }
  return dequantize && is_quantized(t) ? dequantized(t, stored) : stored;
}

}
