// SPDX-License-Identifier: MIT
// Finds a body with MediaPipe's pose detector, draws those of its 33 joints that are in sight, and darkens what is not
// of it.
//   body DETECTOR.nsk LANDMARKS.nsk PHOTO.jpg [-o OUT.png] [--mask MASK.png] [--points OUT.csv]
// examples/models/fetch_mediapipe.sh fetches the models.
#include "support/body_points.hpp"
#include "support/command_line.hpp"
#include "support/detector.hpp"

using namespace example;

struct pose {
  std::vector<landmark> joints;
  std::vector<bool> in_sight;
};

/// The body that the network has just looked at.
static pose pose_of(const vision_network& net) {
  pose p{net.points(0, k_joints, k_body_numbers), {}};
  const float* raw = net.output(0).data();
  for (std::size_t i = 0; i < k_joints; ++i, raw += k_body_numbers) {
    const point in_input = refined({raw[0], raw[1]}, net.output(3), i, net.width());
    const point on_photo = net.map().to_image(in_input.x, in_input.y);
    p.joints[i] = {on_photo.x, on_photo.y, p.joints[i].z};
    p.in_sight.push_back(sigmoid(raw[3]) >= 0.5F);
  }
  return p;
}

/// Darkens the photo where the mask says that there is no body.
static image darkened(const image& photo, const mask& body) {
  image out = photo;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) blend(out, x, y, {12, 16, 40}, 0.65 * (1 - static_cast<double>(body.at(x, y))));
  return out;
}

int main(int argc, char** argv) {
  const command_line given(argc, argv,
                           "body DETECTOR.nsk LANDMARKS.nsk PHOTO [-o OUT.png] [--mask MASK.png] [--points OUT.csv]",
                           {"-o", "--mask", "--points"}, 3, 3);
  detector finder(given.words()[0], {k_body_detector});
  vision_network net(given.words()[1]);
  const auto pixels = static_cast<std::size_t>(net.height()) * static_cast<std::size_t>(net.width());
  if (net.height() != net.width() || !net.gives({k_body_numbers * k_body_points, 1, pixels,
                                                 std::size_t{k_heat} * k_heat * k_body_points, 3 * k_body_points}))
    fail(given.words()[1] +
         " is not MediaPipe's pose landmark model: it should give 39 points, a score, a mask, heat maps "
         "and 39 points in metres");

  const pyramid photo(load_image(given.words()[2]));
  landmark_table table(given.value("--points", ""));
  const std::string out = given.value("-o", "body.png");
  const std::vector<detection> found = finder.find(photo);
  if (!found.empty()) net.run(photo, region_about(found[0].keypoints[0], found[0].keypoints[1], 1.25F));
  if (found.empty() || net.output(1)[0] < 0.5F) {
    save_png(out, photo.photo());
    std::printf("no body; %s\n", out.c_str());
    return 0;
  }

  const pose person = pose_of(net);
  const std::vector<landmark>& joints = person.joints;
  table.add(0, 0, joints);

  const mask body = net.mask_of(2, sigmoid);
  image rendered = darkened(photo.photo(), body);
  draw_body(rendered, person.joints, [&](std::size_t i) { return person.in_sight[i]; });
  save_png(out, rendered);
  if (const std::string path = given.value("--mask", ""); !path.empty())
    save_png(path, rendered_mask(body, photo.photo()));
  std::printf(
      "body %.3f (detector %.3f), %d of %zu joints in sight: nose at (%.1f, %.1f), wrists at (%.1f, %.1f) and "
      "(%.1f, %.1f); %s\n",
      net.output(1)[0], found[0].score,
      static_cast<int>(std::count(person.in_sight.begin(), person.in_sight.end(), true)), k_joints, joints[0].x,
      joints[0].y, joints[15].x, joints[15].y, joints[16].x, joints[16].y, out.c_str());
}
