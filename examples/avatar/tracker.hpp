// SPDX-License-Identifier: MIT
#pragma once
/// A face in the frames of a camera: found by the detector, followed by the mesh. Memory is taken when it is made, not
/// per frame.
///
///   face_tracker tracker("face_detection_short_range.nsk", "face_landmark_with_attention.nsk", 1280, 720);
///   if (tracker.locate(frame) && tracker.measure(frame)) use(tracker.points(), tracker.has_irises());
///
/// points() are k_face_points: x to the right, y up, z towards the camera, in pixels; the last ten only where the mesh
/// has irises.
#include "avatar/head_pose.hpp"
#include "avatar/face_shape.hpp"
#include "support/detector.hpp"
#include "support/image_reader.hpp"
#include "support/mesh_points.hpp"

namespace example {

/// A network of one square image, its memory, and how it saw the last frame.
class square_network {
 public:
  square_network(const std::string& path, int size) : m_network(path), m_size(size) {
    const nsk::model& model = m_network.model;
    const std::int32_t shape[] = {1, size, size, 3};
    bool good =
        model.input_count() == 1 && model.input(0).type() == nsk::dtype::float32 && model.input(0).shape().size() == 4;
    for (std::size_t k = 0; good && k < 4; ++k) good = model.input(0).shape()[k] == shape[k];
    for (int i = 0; i < model.output_count(); ++i) good = good && model.output(i).type() == nsk::dtype::float32;
    if (!good)
      fail(path + " is not the network that belongs here: it should take float32 [1, " + std::to_string(size) + ", " +
           std::to_string(size) + ", 3]");
    m_session = nsk::session<vision_settings>(model, m_network.memory);
    if (!m_session) fail(path + ": " + m_session.status().message());
  }
  void run(image_reader& reader, const image& frame, const nsk::image_settings& how) {
    m_map = reader.read(frame, how, m_session.input<float>(0), m_size);
    m_session.run();
  }
  int output_count() const { return m_session.output_count(); }
  nsk::span<const float> output(int i) const { return m_session.output<float>(i); }
  const nsk::image_map& map() const { return m_map; }
  int size() const { return m_size; }

 private:
  network m_network;
  nsk::session<vision_settings> m_session;
  nsk::image_map m_map;
  int m_size;
};

class face_tracker {
 public:
  /// Opens BlazeFace (short range) and the face mesh, with attention or without; ends the program where they are
  /// something else.
  face_tracker(const std::string& detector, const std::string& mesh, int width, int height)
      : m_reader(width, height),
        m_detector(detector, k_face_detector.size),
        m_mesh(mesh, 192),
        m_anchors(make_anchors(k_face_detector)) {
    for (int i = 0; i < m_detector.output_count(); ++i) {
      if (m_detector.output(i).size() == m_anchors.size()) m_scores = i;
      if (m_detector.output(i).size() == 16 * m_anchors.size()) m_boxes = i;
    }
    if (m_scores < 0 || m_boxes < 0)
      fail(detector + " is not MediaPipe's face detector: it should give a score and a box for each of 896 anchors");
    constexpr std::size_t sizes[] = {3 * k_mesh_points, 160, 142, 142, 10, 10, 1};
    const int count = m_mesh.output_count();
    bool good = count == 7 || (count == 2 && m_mesh.output(0).size() == sizes[0] && m_mesh.output(1).size() == 1);
    for (int i = 0; count == 7 && i < 7; ++i) good = good && m_mesh.output(i).size() == sizes[i];
    if (!good)
      fail(mesh +
           " is not MediaPipe's face mesh: it should give 468 points and a score, or with attention lips, eyes and "
           "irises between them");
  }

  bool has_irises() const { return m_mesh.output_count() == 7; }
  /// Whether a face is followed, so that locate() has nothing to do.
  bool follows() const { return m_follows; }
  void forget() { m_follows = false; }

  /// Looks for the face with the best score where none is followed, and returns whether there is one.
  bool locate(const image& frame) {
    if (m_follows) return true;
    nsk::image_settings how;
    how.fit = nsk::image_fit::letterbox;
    how.scale = k_face_detector.scale;
    m_detector.run(m_reader, frame, how);
    const nsk::span<const float> scores = m_detector.output(m_scores);
    std::size_t best = 0;
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (scores[i] > scores[best]) best = i;
    if (sigmoid(scores[best]) < 0.5F) return false;
    const float* raw = m_detector.output(m_boxes).data() + 16 * best;
    const auto place = [&](float x, float y) {
      return m_detector.map().to_image(x + m_anchors[best].x, y + m_anchors[best].y);
    };
    const point upper = place(raw[0] - raw[2] / 2, raw[1] - raw[3] / 2),
                lower = place(raw[0] + raw[2] / 2, raw[1] + raw[3] / 2);
    m_region = region_around({upper.x, upper.y, lower.x, lower.y},
                             direction(place(raw[4], raw[5]), place(raw[6], raw[7])), 1.5F);
    return m_follows = true;
  }

  /// Lays the mesh over the face that is followed, and returns whether the network sees one there.
  bool measure(const image& frame) {
    nsk::image_settings how;
    how.region = m_region;
    m_mesh.run(m_reader, frame, how);
    m_follows = sigmoid(m_mesh.output(m_mesh.output_count() - 1)[0]) >= 0.5F;
    if (!m_follows) return false;
    const nsk::affine& a = m_mesh.map().image_from_tensor;
    const auto step = static_cast<float>(std::hypot(a.xx, a.yx));
    const float* raw = m_mesh.output(0).data();
    for (std::size_t i = 0; i < k_mesh_points; ++i, raw += 3) m_points[i] = {0, 0, -raw[2] * step}, put(i, raw);
    if (has_irises()) refine();
    m_region = region_of_points();
    return true;
  }
  const vec3* points() const { return m_points; }

 private:
  void put(std::size_t i, const float* raw) {
    const point p = m_mesh.map().to_image(raw[0], raw[1]);
    m_points[i].x = p.x;
    m_points[i].y = -p.y;
  }
  /// Lips and eyes that the model has looked at twice, and irises as deep as the outlines of their eyes.
  void refine() {
    const float* raw = m_mesh.output(1).data();
    for (const mesh_index i : k_refined_lips) put(i, raw), raw += 2;
    for (std::size_t eye = 0; eye < 2; ++eye) {
      raw = m_mesh.output(2 + static_cast<int>(eye)).data();
      for (const mesh_index i : k_refined_eyes[eye]) put(i, raw), raw += 2;
      float depth = 0;
      for (std::size_t k = 0; k < k_eye_outline; ++k) depth += m_points[k_refined_eyes[eye][k]].z / k_eye_outline;
      raw = m_mesh.output(4 + static_cast<int>(eye)).data();
      for (std::size_t k = 0; k < k_iris_points; ++k, raw += 2) {
        const std::size_t i = k_mesh_points + eye * k_iris_points + k;
        put(i, raw);
        m_points[i].z = depth;
      }
    }
  }
  nsk::image_region region_of_points() const {
    box b{m_points[0].x, -m_points[0].y, m_points[0].x, -m_points[0].y};
    for (const vec3& p : m_points)
      if (&p < m_points + k_mesh_points)
        b = {std::min(b.left, p.x), std::min(b.top, -p.y), std::max(b.right, p.x), std::max(b.bottom, -p.y)};
    const vec3 right = m_points[k_right_corner], left = m_points[k_left_corner];
    return region_around(b, direction({right.x, -right.y}, {left.x, -left.y}), 1.5F);
  }

  image_reader m_reader;
  square_network m_detector, m_mesh;
  std::vector<point> m_anchors;
  int m_scores = -1, m_boxes = -1;
  bool m_follows = false;
  nsk::image_region m_region;
  vec3 m_points[k_face_points];
};

}  // namespace example
