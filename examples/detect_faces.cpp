// SPDX-License-Identifier: MIT
// Finds faces with MediaPipe's BlazeFace (front or short range 128 x 128, or back 256 x 256) and draws boxes and six
// keypoints.
//   detect_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5]
// examples/models/fetch_blazeface.sh fetches two models; nsk convert turns them into .nsk.
#include "support/command_line.hpp"
#include "support/detector.hpp"

using namespace example;

int main(int argc, char** argv) {
  const command_line given(argc, argv, "detect_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5]", {"-o", "--score"},
                           2, 2);
  const auto minimum = static_cast<float>(std::atof(given.value("--score", "0.5").c_str()));
  detector finder(given.words()[0], {k_face_detector, k_far_face_detector});
  const pyramid photo(load_image(given.words()[1]));

  image rendered = photo.photo();
  const int thick = std::max(1, rendered.width / 250);
  for (const detection& f : finder.find(photo, minimum)) {
    const box& b = f.around;
    std::printf("face %.4f: (%.1f, %.1f) to (%.1f, %.1f); keypoints", f.score, b.left, b.top, b.right, b.bottom);
    draw_rectangle(rendered, static_cast<int>(b.left), static_cast<int>(b.top), static_cast<int>(b.right),
                   static_cast<int>(b.bottom), thick, {60, 230, 90});
    for (const point& k : f.keypoints) {
      std::printf(" (%.1f, %.1f)", k.x, k.y);
      draw_disc(rendered, k.x, k.y, 1.2 * thick + 0.8, {255, 70, 60});
    }
    std::printf("\n");
    char label[16];
    std::snprintf(label, sizeof label, "%.0f%%", f.score * 100);
    draw_text(rendered, static_cast<int>(b.left), static_cast<int>(b.top) - 8 * thick - thick, label, thick,
              {60, 230, 90});
  }
  const std::string out = given.value("-o", "faces.png");
  save_png(out, rendered);
  std::printf("%s\n", out.c_str());
}
