// SPDX-License-Identifier: MIT
#pragma once
/// The loop of an avatar: landmarks of a frame, pose, weights, filters, the rendered head, and how long each took.
///
///   auto actor = std::make_unique<player>();
///   actor->prepare(frame_count);           // memory for what is kept of each frame
///   actor->follow(frame, tracker);         // one frame; allocates nothing
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>
#include "avatar/blendshape_solver.hpp"
#include "avatar/clip.hpp"
#include "avatar/head.hpp"
#include "avatar/one_euro.hpp"
#include "avatar/tracker.hpp"

namespace example {

inline constexpr int k_head_side = 180;  ///< pixels of the rendered head

/// What is kept of a frame.
struct played {
  enum part { detection, mesh, pose, weights, filter, render, parts };
  std::array<float, parts> milliseconds{};
  bool seen = false;
  expression found;  ///< smoothed
  vec3 points[k_face_points];
};

class player {
 public:
  player() : m_canvas(k_head_side, k_head_side), m_turn({1.5F, 6, 2}) { m_filters.fill(one_euro_filter({2, 6, 5})); }
  blendshape_solver& solver() { return m_solver; }
  const std::vector<played>& frames() const { return m_played; }
  const image& rendered(std::size_t frame) const { return m_rendered[frame]; }

  /// Takes a face for the person's neutral one.
  void calibrate(const vec3* points, bool irises) { m_solver.calibrate(points, irises); }
  /// Weights are multiplied by this: a face mesh shows less of a movement than the face (docs/guide/avatars.md).
  void set_gain(float gain) { m_gain = gain; }
  /// Takes memory for so many frames.
  void prepare(std::size_t count) {
    m_played.reserve(count);
    m_rendered.assign(count, image(k_head_side, k_head_side));
  }

  /// A frame of a camera. The head stays as it was where no face is seen.
  void follow(const image& frame, face_tracker& tracker) {
    played& now = m_played.emplace_back();
    bool seen = false;
    timed(now, played::detection, [&] { seen = tracker.locate(frame); });
    timed(now, played::mesh, [&] { seen = seen && tracker.measure(frame); });
    if (seen)
      drive(now, tracker.points(), tracker.has_irises());
    else
      rest(now);
  }
  /// A frame whose landmarks are given.
  void follow(const vec3* points, bool irises) { drive(m_played.emplace_back(), points, irises); }

  /// Prints medians of the parts and of the whole, and where the weights are known how far off the main ones are.
  void report(const clip& shown) const;
  /// Writes the weights of all frames as a table.
  void save_weights(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) fail("cannot write " + path);
    std::fprintf(file, "frame");
    for (const char* name : k_blendshape_names) std::fprintf(file, ",%s", name);
    std::fprintf(file, ",pitch,yaw,roll\n");
    for (std::size_t i = 0; i < m_played.size(); ++i) {
      std::fprintf(file, "%zu", i);
      for (const float w : m_played[i].found.weights) std::fprintf(file, ",%.4f", static_cast<double>(w));
      const head_angles a = angles_of(m_played[i].found.pose.rotate);
      for (const float angle : {a.pitch, a.yaw, a.roll}) std::fprintf(file, ",%.4f", static_cast<double>(angle));
      std::fprintf(file, "\n");
    }
    if (std::fclose(file) != 0) fail("cannot write " + path);
  }

 private:
  static constexpr float k_seconds = 1 / 30.0F;  ///< from frame to frame

  template <class F>
  static void timed(played& now, played::part part, F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    now.milliseconds[part] = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  void drive(played& now, const vec3* points, bool irises) {
    timed(now, played::pose, [&] { m_solver.locate(points); });
    timed(now, played::weights, [&] { now.found = m_solver.explain(points, irises); });
    timed(now, played::filter, [&] {
      for (std::size_t b = 0; b < k_blendshapes; ++b)
        now.found.weights[b] = m_filters[b](std::min(1.0F, m_gain * now.found.weights[b]), k_seconds);
      now.found.pose.rotate = m_turn(now.found.pose.rotate, k_seconds);
    });
    now.seen = true;
    std::copy(points, points + (irises ? k_face_points : k_mesh_points), now.points);
    draw(now);
  }
  void rest(played& now) {
    if (m_played.size() > 1) now.found = m_played[m_played.size() - 2].found;
    draw(now);
  }
  void draw(played& now) {
    timed(now, played::render, [&] {
      m_canvas.clear();
      m_head.draw(m_canvas, now.found.weights, now.found.pose.rotate, {});
      m_canvas.resolve(m_rendered[m_played.size() - 1], 0, 0);
    });
  }

  blendshape_solver m_solver;
  head m_head;
  canvas m_canvas;
  std::array<one_euro_filter, k_blendshapes> m_filters;
  one_euro_rotation m_turn;
  float m_gain = 1;
  std::vector<played> m_played;
  std::vector<image> m_rendered;
};

inline void player::report(const clip& shown) const {
  const char* names[] = {"detection", "mesh", "pose", "weights", "filter", "render"};
  std::vector<float> sorted(m_played.size());
  const auto median = [&](auto&& of) {
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = of(m_played[i]);
    std::sort(sorted.begin(), sorted.end());
    return static_cast<double>(sorted[sorted.size() / 2]);
  };
  const auto whole = [](const played& p) {
    float sum = 0;
    for (const float ms : p.milliseconds) sum += ms;
    return sum;
  };
  std::size_t seen = 0, detected = 0;
  for (const played& p : m_played) {
    seen += p.seen ? 1 : 0;
    detected += p.milliseconds[played::detection] > 0.05F ? 1 : 0;  // asking whether a face is followed takes less
  }
  std::printf("%zu frames, a face in %zu, the detector ran in %zu; milliseconds per frame (median):", m_played.size(),
              seen, detected);
  for (std::size_t k = 0; k < played::parts; ++k)
    std::printf(" %s %.3f%s", names[k], median([k](const played& p) { return p.milliseconds[k]; }),
                k + 1 < played::parts ? "," : "");
  std::printf("; all %.3f\n", median(whole));
  if (shown.known.empty()) return;
  std::printf("weights are off on average (at most):");
  for (const blendshape b : {blendshape::eyeBlinkLeft, blendshape::eyeBlinkRight, blendshape::jawOpen,
                             blendshape::mouthSmileLeft, blendshape::mouthSmileRight, blendshape::mouthPucker,
                             blendshape::browInnerUp, blendshape::browDownLeft, blendshape::browDownRight,
                             blendshape::eyeLookInLeft, blendshape::eyeLookOutLeft, blendshape::eyeLookOutRight}) {
    double sum = 0, worst = 0;
    for (std::size_t i = 0; i < m_played.size(); ++i) {
      const double off =
          std::fabs(static_cast<double>(m_played[i].found.weights[index_of(b)] - shown.known[i].weights[index_of(b)]));
      sum += off;
      worst = std::max(worst, off);
    }
    std::printf(" %s %.3f (%.2f)", k_blendshape_names[index_of(b)], sum / static_cast<double>(m_played.size()), worst);
  }
  std::printf("\n");
}

}  // namespace example
