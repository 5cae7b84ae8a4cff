// SPDX-License-Identifier: MIT
/// Experimental operators of ONNX's opsets 1 to 6, which CoreML and Caffe2 exporters wrote and ONNX has removed since.
/// Their meaning is that of onnx/docs/Operators.md of version 1.4.
#include <algorithm>

#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

/// The attribute, which must have one number per channel; for each channel of an image.
value_id per_channel(speller& s, const char* name) {
  const std::vector<float> list = numbers_of(s, name);
  const shape_t image = s.shape(0);
  if (image.size() < 2 || static_cast<std::int64_t>(list.size()) != image[1])
    s.refuse("its attribute " + std::string(name) + " must have one number for each channel of its image");
  shape_t shape(image.size(), 1);
  shape[1] = image[1];
  return s.floats(std::move(shape), list);
}

/// x * scale + bias.
void image_scaler(speller& s) {
  const value_id bias = per_channel(s, "bias");
  s.give(0, "Add", {s.add("Mul", {s.in(0), s.number(s.op().number("scale", 1))}), bias});
}

/// alpha * x + beta.
void affine(speller& s) {
  const value_id scaled = s.add("Mul", {s.in(0), s.number(s.op().number("alpha", 1))});
  s.give(0, "Add", {scaled, s.number(s.op().number("beta", 0))});
}

void scale(speller& s) { s.give(0, "Mul", {s.in(0), s.number(s.op().number("scale", 1))}); }

/// alpha * f(beta * x).
void scaled(speller& s, const char* function) {
  const value_id inner = s.add("Mul", {s.in(0), s.number(s.op().number("beta", 1))});
  s.give(0, "Mul", {s.add(function, {inner}), s.number(s.op().number("alpha", 1))});
}
void scaled_tanh(speller& s) { scaled(s, "Tanh"); }
void parametric_softplus(speller& s) { scaled(s, "Softplus"); }

/// Cuts `border` (left, top, right, bottom) off an image, or with `scale` (height, width) that many pixels behind its
/// left top corner.
void crop(speller& s) {
  const shape_t image = s.shape(0);
  const std::vector<std::int64_t> border = s.op().integers("border"), size = s.op().integers("scale");
  if (image.size() != 4 || border.size() != 4 || !(size.empty() || size.size() == 2))
    s.refuse("it takes an image, a border of four numbers and a scale of two");
  for (const std::int64_t b : border)
    if (b < 0 || b > std::max(image[2], image[3])) s.refuse("its border is outside of its image");
  const std::int64_t top = border[1], left = border[0];
  const std::int64_t bottom = size.empty() ? image[2] - border[3] : top + size[0];
  const std::int64_t right = size.empty() ? image[3] - border[2] : left + size[1];
  if (bottom <= top || right <= left || bottom > image[2] || right > image[3])
    s.refuse("it leaves nothing of its image, or more than there is");
  s.give(0, "Slice", {s.in(0), s.integers({top, left}), s.integers({bottom, right}), s.integers({2, 3})});
}

/// Slice, whose starts, ends and axes are tensors.
void dynamic_slice(speller& s) { s.give(0, "Slice", s.op().inputs); }

}

void add_old_spellings(spelling_table& t) {
  t["ImageScaler"] = image_scaler;
  t["Affine"] = affine;
  t["Scale"] = scale;
  t["ScaledTanh"] = scaled_tanh;
  t["ParametricSoftplus"] = parametric_softplus;
  t["Crop"] = crop;
  t["DynamicSlice"] = dynamic_slice;
}

}
