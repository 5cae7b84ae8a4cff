// SPDX-License-Identifier: MIT
// Finds a body with MediaPipe's pose detector, draws those of its 33 joints that are in sight, and darkens what is not
// of it.
//   body DETECTOR.nsk LANDMARKS.nsk PHOTO.jpg [-o OUT.png] [--mask MASK.png] [--points OUT.csv]
// examples/models/fetch_mediapipe.sh fetches the models.
#include "support/command_line.hpp"
#include "support/detector.hpp"
#include "support/marks.hpp"

using namespace example;

constexpr std::size_t k_joints = 33;  ///< of a body
constexpr std::size_t k_points = 39;  ///< of the network: the others are for itself
constexpr std::size_t k_numbers = 5;  ///< of a point: x, y, z, and how sure it is seen, and in the image
constexpr int k_heat = 64;            ///< side of the maps of where a point may be

/// Nose 0, eyes 1 to 6, ears 7 and 8, mouth 9 and 10; from here on left is odd and right even: shoulders 11, elbows 13,
/// wrists 15, hands 17 to 22, hips 23, knees 25, ankles 27, heels 29, toes 31.
constexpr bone k_head[] = {{0, 1}, {1, 2}, {2, 3}, {3, 7}, {0, 4}, {4, 5}, {5, 6}, {6, 8}, {9, 10}};
constexpr bone k_trunk[] = {{11, 12}, {12, 24}, {24, 23}, {23, 11}};
constexpr bone k_left[] = {{11, 13}, {13, 15}, {15, 17}, {15, 19}, {15, 21}, {17, 19},
                           {23, 25}, {25, 27}, {27, 29}, {29, 31}, {27, 31}};
constexpr bone k_right[] = {{12, 14}, {14, 16}, {16, 18}, {16, 20}, {16, 22}, {18, 20},
                            {24, 26}, {26, 28}, {28, 30}, {30, 32}, {28, 32}};

/// Puts a point, in pixels of the network's input, where its heat map has its centre of gravity, in a window of 7 x 7
/// cells around it; not where no cell is warmer than one half. (RefineLandmarksFromHeatmap.)
static point refined(point p, nsk::span<const float> heat, std::size_t index, int size) {
  const float cells = static_cast<float>(k_heat) / static_cast<float>(size);
  if (!(p.x * cells > -1 && p.y * cells > -1 && p.x * cells < k_heat && p.y * cells < k_heat)) return p;
  const int column = static_cast<int>(p.x * cells), row = static_cast<int>(p.y * cells);
  float sum = 0, x = 0, y = 0, warmest = 0;
  for (int r = std::max(0, row - 3); r < std::min(k_heat, row + 4); ++r)
    for (int c = std::max(0, column - 3); c < std::min(k_heat, column + 4); ++c) {
      const float warmth = sigmoid(heat[static_cast<std::size_t>(r * k_heat + c) * k_points + index]);
      sum += warmth;
      x += warmth * static_cast<float>(c);
      y += warmth * static_cast<float>(r);
      warmest = std::max(warmest, warmth);
    }
  if (warmest < 0.5F) return p;
  return {x / sum / cells, y / sum / cells};
}

struct pose {
  std::vector<landmark> joints;
  std::vector<bool> in_sight;
};

/// The body that the network has just looked at.
static pose pose_of(const vision_network& net) {
  pose p{net.points(0, k_joints, k_numbers), {}};
  const float* raw = net.output(0).data();
  for (std::size_t i = 0; i < k_joints; ++i, raw += k_numbers) {
    const point in_input = refined({raw[0], raw[1]}, net.output(3), i, net.width());
    const point on_photo = net.map().to_image(in_input.x, in_input.y);
    p.joints[i] = {on_photo.x, on_photo.y, p.joints[i].z};
    p.in_sight.push_back(sigmoid(raw[3]) >= 0.5F);
  }
  return p;
}

static void draw_pose(image& to, const pose& p) {
  const box around = box_around(p.joints);
  const double thick = std::max(1.5, std::max(around.right - around.left, around.bottom - around.top) / 170.0);
  const auto in_sight = [&](std::size_t i) { return p.in_sight[i]; };
  draw_bones(to, p.joints, k_head, 0.6 * thick, {240, 240, 240}, in_sight);
  draw_bones(to, p.joints, k_trunk, thick, {240, 240, 240}, in_sight);
  draw_bones(to, p.joints, k_left, thick, {255, 165, 60}, in_sight);
  draw_bones(to, p.joints, k_right, thick, {70, 190, 255}, in_sight);
  for (std::size_t i = 11; i < k_joints; ++i)
    if (in_sight(i)) draw_dot(to, flat(p.joints[i]), 1.3 * thick, {255, 255, 255});
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
  if (net.height() != net.width() ||
      !net.gives({k_numbers * k_points, 1, pixels, std::size_t{k_heat} * k_heat * k_points, 3 * k_points}))
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
  draw_pose(rendered, person);
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
