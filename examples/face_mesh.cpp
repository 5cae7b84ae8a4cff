// SPDX-License-Identifier: MIT
// Finds faces and lays MediaPipe's mesh of 468 points over them (478 with irises); follows them through several frames.
//   face_mesh DETECTOR.nsk MESH.nsk FRAME.jpg... [-o OUT.png] [--faces 1] [--points OUT.csv]
// The detector runs only while fewer faces are followed than wanted: a face is looked for where it was in the frame
// before, and given up when the network doubts that it sees one. A mesh file with a length looks at all faces in one
// run. examples/models/fetch_mediapipe.sh fetches the models.
#include "support/command_line.hpp"
#include "support/detector.hpp"
#include "support/face_points.hpp"

using namespace example;

struct face {
  nsk::image_region region;  ///< where the network looks
  float score = 0;           ///< how sure it was to see a face there
  std::vector<landmark> points;
};

/// The mesh of the model with attention: lips and eyes are looked at twice, irises come behind the other points, as
/// deep as the eye around them.
static void refine(const vision_network& net, std::size_t row, std::vector<landmark>& points) {
  const auto move = [&](int output, const mesh_index* to, std::size_t count) {
    for (const landmark& p : net.points(output, count, 2, row)) {
      points[*to].x = p.x;
      points[*to++].y = p.y;
    }
  };
  move(1, k_refined_lips, std::size(k_refined_lips));
  for (int eye = 0; eye < 2; ++eye) move(2 + eye, k_refined_eyes[eye], std::size(k_refined_eyes[eye]));
  for (int eye = 0; eye < 2; ++eye) {
    float depth = 0;
    for (std::size_t i = 0; i < k_eye_outline; ++i) depth += points[k_refined_eyes[eye][i]].z / k_eye_outline;
    for (const landmark& p : net.points(4 + eye, k_iris_points, 2, row)) points.push_back({p.x, p.y, depth});
  }
}

/// Looks at the regions of faces, as many at once as the network takes, and fills in the rest.
static void look(vision_network& net, const pyramid& frame, std::vector<face>& faces) {
  for (std::size_t first = 0; first < faces.size(); first += net.max_rows()) {
    std::vector<nsk::image_region> regions;
    for (std::size_t i = first; i < faces.size() && regions.size() < net.max_rows(); ++i)
      regions.push_back(faces[i].region);
    net.run(frame, regions);
    for (std::size_t row = 0; row < regions.size(); ++row) {
      face& f = faces[first + row];
      f.score = sigmoid(net.output(net.output_count() - 1, row)[0]);
      f.points = net.points(0, k_mesh_points, 3, row);
      if (net.output_count() == 7) refine(net, row, f.points);
    }
  }
}

/// Where to look after a detection, and after a mesh: the box, upright by the eyes, half as large again.
static nsk::image_region region_of(const detection& d) {
  return region_around(d.around, direction(d.keypoints[0], d.keypoints[1]), 1.5F);
}
static nsk::image_region region_of(const std::vector<landmark>& points) {
  return region_around(box_around(points), direction(flat(points[k_right_corner]), flat(points[k_left_corner])), 1.5F);
}

/// Adds faces that are not followed yet, best first.
static void detect(detector& finder, const pyramid& frame, std::size_t wanted, std::vector<face>& faces) {
  for (const detection& d : finder.find(frame)) {
    const bool known = std::any_of(faces.begin(), faces.end(), [&](const face& f) {
      return !f.points.empty() && overlap(box_around(f.points), d.around) > 0.3F;
    });
    if (!known && faces.size() < wanted) faces.push_back({region_of(d), 0, {}});
  }
}

/// "out.png" for one frame, "out_3.png" for the third of several.
static std::string numbered(const std::string& path, std::size_t number, std::size_t count) {
  if (count == 1) return path;
  const std::size_t dot = std::min(path.rfind('.'), path.size());
  return path.substr(0, dot) + "_" + std::to_string(number) + path.substr(dot);
}

int main(int argc, char** argv) {
  const command_line given(argc, argv,
                           "face_mesh DETECTOR.nsk MESH.nsk FRAME... [-o OUT.png] [--faces 1] [--points OUT.csv]",
                           {"-o", "--faces", "--points"}, 3, 10000);
  const std::vector<std::string> frames(given.words().begin() + 2, given.words().end());
  const auto wanted = static_cast<std::size_t>(std::max(1, std::atoi(given.value("--faces", "1").c_str())));
  detector finder(given.words()[0], {k_face_detector, k_far_face_detector});
  vision_network net(given.words()[1]);
  const bool plain = net.output_count() == 2 && net.gives({3 * k_mesh_points, 1});
  if (!plain && !(net.output_count() == 7 && net.gives({3 * k_mesh_points, 160, 142, 142, 10, 10, 1})))
    fail(given.words()[1] +
         " is not MediaPipe's face mesh: it should give 468 points and a score, or with attention lips, "
         "eyes and irises between them");

  landmark_table table(given.value("--points", ""));
  std::vector<face> faces;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const pyramid frame(load_image(frames[i]));
    const bool detected = faces.size() < wanted;
    if (detected) detect(finder, frame, wanted, faces);
    look(net, frame, faces);
    faces.erase(std::remove_if(faces.begin(), faces.end(), [](const face& f) { return f.score < 0.5F; }), faces.end());

    std::printf("frame %zu: detector %s, %zu %s", i + 1, detected ? "ran" : "rested", faces.size(),
                faces.size() == 1 ? "face" : "faces");
    image rendered = frame.photo();
    for (std::size_t k = 0; k < faces.size(); ++k) {
      face& f = faces[k];
      std::printf("%s %.3f at (%.1f, %.1f), rotated %.1f degrees", k == 0 ? ":" : ";", f.score, f.region.centre_x,
                  f.region.centre_y, f.region.angle * 57.29578F);
      draw_face(rendered, f.points);
      table.add(i, k, f.points);
      f.region = region_of(f.points);
    }
    const std::string out = numbered(given.value("-o", "mesh.png"), i + 1, frames.size());
    save_png(out, rendered);
    std::printf("; %s\n", out.c_str());
  }
}
