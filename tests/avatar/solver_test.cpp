// SPDX-License-Identifier: MIT
/// The solver of examples/avatar on faces of known weights and pose: a neutral face moved by the weights, rotated,
/// projected, with noise.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include "avatar/blendshape_solver.hpp"
#include "avatar/one_euro.hpp"
#include "avatar/performance.hpp"

using namespace example;

namespace {

constexpr blendshape k_main[] = {blendshape::eyeBlinkLeft,   blendshape::eyeBlinkRight,   blendshape::jawOpen,
                                 blendshape::mouthSmileLeft, blendshape::mouthSmileRight, blendshape::mouthPucker,
                                 blendshape::browInnerUp,    blendshape::browDownLeft,    blendshape::browDownRight,
                                 blendshape::eyeLookInLeft,  blendshape::eyeLookOutRight, blendshape::eyeLookUpLeft};
constexpr float k_pixels = 2.3F;  // per millimetre: a face of 320 pixels
constexpr float k_degree = 0.0174532925F;

struct view {
  float pitch = 0, yaw = 0, roll = 0;  ///< degrees
  float noise = 0;                     ///< millimetres, twice that along z
};

head_pose pose_of(const view& v) {
  return {rotation_of(v.pitch * k_degree, v.yaw * k_degree, v.roll * k_degree), k_pixels, {310, -240, 12}};
}

struct face {
  vec3 points[k_face_points];
};

/// What a face mesh would give of a face.
void look(const view& v, const face& of, std::mt19937& random, face& to) {
  std::normal_distribution<float> noise(0, 1);
  const head_pose pose = pose_of(v);
  for (std::size_t i = 0; i < k_face_points; ++i) {
    const float x = noise(random), y = noise(random), z = 2 * noise(random);
    to.points[i] = pose(of.points[i]) + k_pixels * v.noise * vec3{x, y, z};
  }
}

float angle_between(const rotation& a, const rotation& b) {
  return 2 * std::acos(std::min(1.0F, std::fabs((a * b.inverse()).w))) / k_degree;
}

struct weights {
  float of[k_blendshapes] = {};
  float& operator[](blendshape b) { return of[index_of(b)]; }
};

/// Up to five main shapes and two of the others; of two opposites one.
weights random_weights(std::mt19937& random) {
  std::uniform_real_distribution<float> strength(0, 1);
  weights w;
  for (int k = 0; k < 5; ++k) w[k_main[random() % std::size(k_main)]] = strength(random);
  for (int k = 0; k < 2; ++k) w.of[random() % (k_blendshapes - 1)] = strength(random);
  for (const auto& pair : k_opposites)
    if (w[pair[0]] > 0) w[pair[1]] = 0;
  return w;
}

struct errors {
  float worst = 0, mean = 0, angle = 0, scale = 0;
  std::string where;
};

/// The main weights' errors over random faces of one person.
errors measure(blendshape_solver& solver, const blendshapes& person, const view& v, int faces, std::mt19937& random,
               bool irises = true) {
  errors e;
  float count = 0;
  for (int n = 0; n < faces; ++n) {
    weights w = random_weights(random);
    face moved, seen;
    person.apply(w.of, moved.points);
    look(v, moved, random, seen);
    const expression& found = solver.solve(seen.points, irises);
    for (const blendshape b : k_main) {
      if (!irises && std::string(k_blendshape_names[index_of(b)]).substr(0, 7) == "eyeLook") continue;
      const float off = std::fabs(found.weights[index_of(b)] - w[b]);
      if (off > e.worst) e.where = k_blendshape_names[index_of(b)];
      e.worst = std::max(e.worst, off);
      e.mean += off;
      ++count;
    }
    e.angle = std::max(e.angle, angle_between(found.pose.rotate, pose_of(v).rotate));
    e.scale = std::max(e.scale, std::fabs(found.pose.scale / k_pixels - 1));
  }
  e.mean /= count;
  return e;
}

std::unique_ptr<blendshape_solver> new_solver() { return std::make_unique<blendshape_solver>(); }

/// Another person: wider or narrower, with other eyes, nose and chin, and not symmetric.
face other_person(std::mt19937& random) {
  std::uniform_real_distribution<float> part(-1, 1);
  face f;
  neutral_face(f.points);
  const vec3 stretch{1 + 0.06F * part(random), 1 + 0.06F * part(random), 1 + 0.06F * part(random)};
  struct {
    vec3 at, move;
  } bumps[12];
  for (auto& b : bumps) {
    b.at = f.points[random() % k_mesh_points];
    b.move = {3 * part(random), 3 * part(random), 3 * part(random)};
  }
  for (vec3& p : f.points) {
    const vec3 from = p;
    p = {stretch.x * p.x, stretch.y * p.y, stretch.z * p.z};
    for (const auto& b : bumps) {
      const float d = length(from - b.at) / 40;
      if (d < 1) p = p + (1 - d * d) * (1 - d * d) * b.move;
    }
  }
  return f;
}

float gap(const face& f, std::size_t a, std::size_t b) { return length(f.points[a] - f.points[b]); }

}  // namespace

TEST_CASE("avatar: shapes do what their names say") {
  const auto shapes = std::make_unique<blendshapes>();
  face rest, moved;
  neutral_face(rest.points);
  const auto with = [&](std::initializer_list<blendshape> which) {
    weights w;
    for (const blendshape b : which) w[b] = 1;
    shapes->apply(w.of, moved.points);
    return moved;
  };
  for (std::size_t b = 0; b < k_blendshapes; ++b) {
    float farthest = 0, other_side = 0;
    for (std::size_t i = 0; i < k_face_points; ++i) {
      const vec3 m = shapes->movement(i, static_cast<blendshape>(b));
      const vec3 image = shapes->movement(k_face_mirror[i], impl::mirrored(static_cast<blendshape>(b)));
      const bool left = std::string(k_blendshape_names[b]).find("Right") == std::string::npos;
      if (left) other_side = std::max(other_side, length(m - vec3{-image.x, image.y, image.z}));
      farthest = std::max(farthest, length(m));
    }
    INFO(std::string(k_blendshape_names[b]));
    CHECK((static_cast<blendshape>(b) == blendshape::tongueOut ? farthest == 0 : (farthest > 1.5F && farthest < 40)));
    CHECK(other_side < 1e-3F);
  }
  // The left eye's lids, the lips, the corner of the mouth, the iris, a brow.
  CHECK(gap(rest, 386, 374) > 8);
  CHECK(gap(with({blendshape::eyeBlinkLeft}), 386, 374) < 0.1F);
  CHECK(gap(with({blendshape::eyeBlinkRight}), 386, 374) > 8);
  CHECK(gap(with({blendshape::eyeWideLeft}), 386, 374) > gap(rest, 386, 374) + 2);
  CHECK(gap(with({blendshape::jawOpen}), 13, 14) > 20);
  CHECK(gap(with({blendshape::jawOpen, blendshape::mouthClose}), 13, 14) < 3);
  CHECK(with({blendshape::mouthSmileLeft}).points[291].y > rest.points[291].y + 6);
  CHECK(with({blendshape::mouthFrownLeft}).points[291].y < rest.points[291].y - 6);
  CHECK(gap(with({blendshape::mouthPucker}), 61, 291) < 0.7F * gap(rest, 61, 291));
  CHECK(with({blendshape::eyeLookInLeft}).points[473].x < rest.points[473].x - 4);
  CHECK(with({blendshape::eyeLookInRight}).points[468].x > rest.points[468].x + 4);
  CHECK(with({blendshape::browInnerUp}).points[336].y > rest.points[336].y + 5);
}

TEST_CASE("avatar: weights and pose of faces without noise") {
  std::mt19937 random(1);
  const auto solver = new_solver();
  for (const view& v : {view{}, view{20, 0, 0}, view{-15, 35, 0}, view{0, -30, 40}}) {
    const errors e = measure(*solver, solver->shapes(), v, 150, random);
    INFO(v.pitch << ' ' << v.yaw << ' ' << v.roll << ": worst " << e.where);
    CHECK(e.worst <= 0.05F);
    CHECK(e.angle <= 0.3F);
    CHECK(e.scale <= 0.01F);
  }
}

TEST_CASE("avatar: weights and pose of faces with noise") {
  std::mt19937 random(2);
  const auto solver = new_solver();
  for (const view& v : {view{0, 0, 0, 0.25F}, view{15, -25, 10, 0.25F}, view{-15, 30, -20, 0.25F}}) {
    const errors e = measure(*solver, solver->shapes(), v, 200, random);
    INFO(v.yaw << " degrees: worst " << e.where);
    CHECK(e.worst <= 0.1F);
    CHECK(e.mean <= 0.015F);
    CHECK(e.angle <= 0.5F);
  }
  const errors rough = measure(*solver, solver->shapes(), view{15, -25, 10, 0.5F}, 200, random);
  CHECK(rough.mean <= 0.03F);
}

TEST_CASE("avatar: the mesh without irises") {
  std::mt19937 random(3);
  const auto solver = new_solver();
  weights w;
  w[blendshape::jawOpen] = 0.6F;
  w[blendshape::eyeBlinkLeft] = 1;
  face moved, seen;
  solver->shapes().apply(w.of, moved.points);
  look({5, 10, 0}, moved, random, seen);
  for (std::size_t i = k_mesh_points; i < k_face_points; ++i) seen.points[i] = {1e9F, 1e9F, 1e9F};  // not to be read
  solver->calibrate(solver->shapes().neutral(), false);
  const expression& e = solver->solve(seen.points, false);
  for (std::size_t b = 0; b < k_blendshapes; ++b) {
    INFO(std::string(k_blendshape_names[b]));
    CHECK(std::fabs(e.weights[b] - w.of[b]) <= 0.05F);
  }
}

TEST_CASE("avatar: other people, after a look at their neutral faces") {
  std::mt19937 random(4);
  float uncalibrated = 0;
  for (int k = 0; k < 5; ++k) {
    const face person = other_person(random);
    const auto shapes = std::make_unique<blendshapes>(person.points);
    const view v{-8, 15, 5, 0.25F};
    const auto solver = new_solver();
    uncalibrated = std::max(uncalibrated, measure(*solver, *shapes, v, 20, random).worst);
    face seen;
    look({5, -4, 3, 0}, person, random, seen);
    solver->calibrate(seen.points, true);
    const errors e = measure(*solver, *shapes, v, 100, random);
    INFO("worst " << e.where);
    CHECK(e.worst <= 0.15F);
    CHECK(e.mean <= 0.025F);
  }
  CHECK(uncalibrated > 0.3F);  // these people differ
}

TEST_CASE("avatar: a performance through the filters") {
  std::mt19937 random(5);
  const auto solver = new_solver();
  std::vector<one_euro_filter> filters(k_blendshapes, one_euro_filter({2, 4, 5}));
  constexpr std::size_t frames = 150;
  float mean = 0, rough_steps = 0, smooth_steps = 0, before[2] = {};
  for (std::size_t i = 0; i < frames; ++i) {
    const moment m = performance(static_cast<float>(i) / (frames - 1));
    face moved, seen;
    solver->shapes().apply(m.weights, moved.points);
    look({0, 0, 0, 0.5F}, moved, random, seen);
    const expression& e = solver->solve(seen.points, true);
    for (const blendshape b : k_main) {
      const float smooth = filters[index_of(b)](e.weights[index_of(b)], 1 / 30.0F);
      mean += std::fabs(smooth - m.weights[index_of(b)]) / (frames * std::size(k_main));
      CHECK(std::fabs(smooth - m.weights[index_of(b)]) <=
            0.3F);  // a blink of a tenth of a second lags behind by a frame
      if (b != blendshape::browDownLeft || i < 2 || i > frames / 2) continue;
      rough_steps += std::fabs(e.weights[index_of(b)] - before[0]);  // this one rests in the first half
      smooth_steps += std::fabs(smooth - before[1]);
      before[0] = e.weights[index_of(b)];
      before[1] = smooth;
    }
  }
  CHECK(mean <= 0.03F);
  CHECK(smooth_steps < 0.6F * rough_steps);
}

TEST_CASE("avatar: the one-euro filter") {
  one_euro_filter f({1, 0.5F, 1});
  CHECK(f(3, 0.1F) == 3);  // the first value is taken as it is
  for (int i = 0; i < 10; ++i) CHECK(f(3, 0.1F) == doctest::Approx(3));
  float up = 0;
  for (int i = 0; i < 30; ++i) {
    const float next = f(4, 1 / 60.0F);
    CHECK(next >= up);
    CHECK(next <= 4);
    up = next;
  }
  CHECK(up > 3.9F);
  f.reset();
  CHECK(f(-1, 0.1F) == -1);
  one_euro_rotation r({1, 0, 1});
  const rotation a = rotation_of(0.1F, 0.2F, 0.3F);
  r(a, 0.1F);
  const rotation same = r({-a.w, -a.x, -a.y, -a.z}, 0.1F);  // the same rotation by other numbers
  CHECK(angle_between(a, same) < 0.1F);
}

TEST_CASE("avatar: angles of a rotation") {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> angle(-1.4F, 1.4F);
  for (int i = 0; i < 100; ++i) {
    const float pitch = angle(random), yaw = angle(random), roll = angle(random);
    const head_angles a = angles_of(rotation_of(pitch, yaw, roll));
    CHECK(a.pitch == doctest::Approx(pitch).epsilon(1e-3));
    CHECK(a.yaw == doctest::Approx(yaw).epsilon(1e-3));
    CHECK(a.roll == doctest::Approx(roll).epsilon(1e-3));
  }
  const vec3 nose = rotation_of(0, 0.5F, 0)({0, 0, 1});
  CHECK(nose.x > 0.4F);  // to the person's left is the image's right
  CHECK(rotation_of(0.5F, 0, 0)({0, 0, 1}).y < -0.4F);
}
