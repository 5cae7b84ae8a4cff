// SPDX-License-Identifier: MIT
#pragma once
/// A short performance with known weights and poses: for the clip of one photo, and for landmarks without a camera.
#include <algorithm>
#include <cmath>
#include "avatar/blendshapes.hpp"

namespace example {

struct moment {
  float weights[k_blendshapes] = {};
  rotation rotate;
};

namespace impl {

/// Rises from 0 at `from` to 1 and falls to 0 at `to`, smoothly.
inline float swell(float t, float from, float to) {
  if (t <= from || t >= to) return 0;
  const float s = std::sin(3.14159265F * (t - from) / (to - from));
  return std::min(1.0F, 1.25F * s * s);
}

}  // namespace impl

/// What the face does at a time in [0, 1]; the first tenth is neutral.
inline moment performance(float t) {
  moment m;
  const auto set = [&](blendshape shape, float value) { m.weights[index_of(shape)] += value; };
  const auto both = [&](blendshape left, float value) {
    set(left, value);
    m.weights[index_of(left) + 1] += value;
  };
  const float smile = impl::swell(t, 0.12F, 0.36F), look = impl::swell(t, 0.34F, 0.46F) - impl::swell(t, 0.44F, 0.56F);
  const float gape = impl::swell(t, 0.54F, 0.72F), kiss = impl::swell(t, 0.70F, 0.83F),
              frown = impl::swell(t, 0.82F, 0.98F);
  for (const float blink : {0.12F, 0.43F, 0.68F}) both(blendshape::eyeBlinkLeft, impl::swell(t, blink, blink + 0.05F));
  both(blendshape::mouthSmileLeft, 0.9F * smile);
  both(blendshape::cheekSquintLeft, 0.5F * smile);
  set(blendshape::eyeLookOutLeft, 0.9F * std::max(0.0F, look));
  set(blendshape::eyeLookInRight, 0.9F * std::max(0.0F, look));
  set(blendshape::eyeLookInLeft, 0.9F * std::max(0.0F, -look));
  set(blendshape::eyeLookOutRight, 0.9F * std::max(0.0F, -look));
  set(blendshape::jawOpen, 0.75F * gape);
  set(blendshape::browInnerUp, 0.9F * gape);
  both(blendshape::browOuterUpLeft, 0.7F * gape);
  set(blendshape::mouthPucker, 0.9F * kiss);
  set(blendshape::eyeBlinkLeft, impl::swell(t, 0.74F, 0.82F));
  both(blendshape::browDownLeft, 0.9F * frown);
  both(blendshape::mouthFrownLeft, 0.7F * frown);
  const float rest = std::min(1.0F, std::max(0.0F, 12 * std::min(t - 0.08F, 1 - t)));  // still at both ends
  m.rotate = rotation_of(rest * (0.10F * std::sin(11 * t) + 0.05F * gape),
                         rest * (0.16F * std::sin(14 * t) + 0.14F * look), rest * 0.09F * std::sin(9 * t + 1));
  return m;
}

}  // namespace example
