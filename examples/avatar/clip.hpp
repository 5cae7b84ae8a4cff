// SPDX-License-Identifier: MIT
#pragma once
/// Frames to play: images, or landmarks, and what is known of them.
#include <cstddef>
#include <random>
#include <vector>
#include "avatar/performance.hpp"
#include "avatar/puppet.hpp"
#include "support/image.hpp"

namespace example {

struct clip {
  std::vector<image> images;
  std::vector<vec3> points;   ///< where there are no images: k_face_points of each frame
  std::vector<moment> known;  ///< weights of each frame; empty where it is not known
  std::size_t count() const { return images.empty() ? points.size() / k_face_points : images.size(); }
};

inline float time_of(std::size_t frame, std::size_t count) {
  return static_cast<float>(frame) / static_cast<float>(count - 1);
}

/// The performance as a face mesh would see it: 2 pixels per millimetre, with noise of half a pixel, twice that in
/// depth.
inline clip make_landmarks(std::size_t count, const blendshapes& shapes) {
  clip made;
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 0.5F);
  made.points.resize(count * k_face_points);
  for (std::size_t i = 0; i < count; ++i) {
    made.known.push_back(performance(time_of(i, count)));
    vec3 face[k_face_points];
    shapes.apply(made.known[i].weights, face);
    const head_pose pose{made.known[i].rotate, 2, {200, -200, 0}};
    for (std::size_t k = 0; k < k_face_points; ++k) {
      const float x = noise(random), y = noise(random), z = 2 * noise(random);
      made.points[i * k_face_points + k] = pose(face[k]) + vec3{x, y, z};
    }
  }
  return made;
}

/// A photo that performs. The solver is calibrated with its points.
inline clip make_clip(std::size_t count, const image& photo, const vec3* points, blendshape_solver& solver) {
  clip made;
  const puppet actor(photo, points, solver);
  for (std::size_t i = 0; i < count; ++i) {
    made.known.push_back(performance(time_of(i, count)));
    made.images.push_back(actor.act(made.known[i]));
  }
  return made;
}

}  // namespace example
