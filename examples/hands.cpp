// SPDX-License-Identifier: MIT
// Finds hands with MediaPipe's palm detector and draws their 21 joints, and which hand it is.
//   hands DETECTOR.nsk LANDMARKS.nsk PHOTO.jpg [-o OUT.png] [--hands 2] [--points OUT.csv]
// examples/models/fetch_mediapipe.sh fetches the models.
#include "support/command_line.hpp"
#include "support/detector.hpp"
#include "support/marks.hpp"

using namespace example;

constexpr std::size_t k_joints = 21;
/// Wrist 0; thumb 1 to 4, index 5 to 8, middle 9 to 12, ring 13 to 16, little finger 17 to 20, each from its root.
constexpr bone k_palm[] = {{0, 1}, {0, 5}, {5, 9}, {9, 13}, {13, 17}, {0, 17}};
constexpr bone k_fingers[5][3] = {{{1, 2}, {2, 3}, {3, 4}},
                                  {{5, 6}, {6, 7}, {7, 8}},
                                  {{9, 10}, {10, 11}, {11, 12}},
                                  {{13, 14}, {14, 15}, {15, 16}},
                                  {{17, 18}, {18, 19}, {19, 20}}};
constexpr color k_finger_colors[5] = {{255, 120, 80}, {255, 205, 60}, {90, 220, 110}, {80, 190, 255}, {190, 130, 255}};

/// The palm's box with the middle finger's knuckle above the wrist, moved towards the fingers and enlarged over them.
static nsk::image_region region_of(const detection& palm) {
  return region_around(palm.around, upright(palm.keypoints[0], palm.keypoints[2]), 2.6F, -0.5F);
}

static void draw_hand(image& p, const std::vector<landmark>& joints) {
  const box around = box_around(joints);
  const double unit = std::max(around.right - around.left, around.bottom - around.top),
               thick = std::max(1.5, unit / 70);
  const auto all = [](std::size_t) { return true; };
  draw_bones(p, joints, k_palm, thick, {230, 230, 230}, all);
  for (int finger = 0; finger < 5; ++finger)
    draw_bones(p, joints, k_fingers[finger], thick, k_finger_colors[finger], all);
  for (const landmark& joint : joints) {
    draw_dot(p, flat(joint), 1.3 * thick, {255, 255, 255});
    draw_dot(p, flat(joint), 0.8 * thick, {40, 40, 60});
  }
}

int main(int argc, char** argv) {
  const command_line given(argc, argv,
                           "hands DETECTOR.nsk LANDMARKS.nsk PHOTO [-o OUT.png] [--hands 2] [--points OUT.csv]",
                           {"-o", "--hands", "--points"}, 3, 3);
  const auto wanted = static_cast<std::size_t>(std::max(1, std::atoi(given.value("--hands", "2").c_str())));
  detector finder(given.words()[0], {k_palm_detector});
  vision_network net(given.words()[1]);
  if (!net.gives({3 * k_joints, 1, 1, 3 * k_joints}))
    fail(given.words()[1] +
         " is not MediaPipe's hand landmark model: it should give 21 points, a score, which hand it is, "
         "and 21 points in metres");

  const pyramid photo(load_image(given.words()[2]));
  landmark_table table(given.value("--points", ""));
  image rendered = photo.photo();
  std::size_t found = 0;
  for (const detection& palm : finder.find(photo)) {
    if (found == wanted) break;
    net.run(photo, region_of(palm));
    const float score = net.output(1)[0], mirrored_left = net.output(2)[0];
    if (score < 0.5F) continue;
    // The network was trained on mirrored images, as a front camera shows them: in others left and right change
    // places.
    const char* side = mirrored_left > 0.5F ? "right" : "left";
    std::vector<landmark> joints = net.points(0, k_joints, 3);
    for (landmark& joint : joints) joint.z /= 0.4F;  // the network's depths are flat (normalize_z)
    std::printf("%s hand %.3f (palm %.3f): wrist at (%.1f, %.1f), tip of the index finger at (%.1f, %.1f)\n", side,
                score, palm.score, joints[0].x, joints[0].y, joints[8].x, joints[8].y);
    draw_hand(rendered, joints);
    const int dot = std::max(1, photo.photo().width / 300);
    draw_text(rendered, static_cast<int>(joints[0].x), static_cast<int>(joints[0].y) + 4 * dot, side, dot,
              {255, 255, 255});
    table.add(0, found++, joints);
  }
  const std::string out = given.value("-o", "hands.png");
  save_png(out, rendered);
  std::printf("%zu %s; %s\n", found, found == 1 ? "hand" : "hands", out.c_str());
}
