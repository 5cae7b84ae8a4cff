// SPDX-License-Identifier: MIT
// Finds faces with MediaPipe's BlazeFace (front or short range 128 x 128, or back 256 x 256) and draws boxes and six
// keypoints.
//   detect_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5]
// examples/models/fetch_blazeface.sh fetches two models; nsk convert turns them into .nsk.
#include "support/command_line.hpp"
#include "support/faces.hpp"

using namespace example;

int main(int argc, char** argv) {
  const command_line given(argc, argv, "detect_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5]", {"-o", "--score"},
                           2, 2);
  const auto minimum = static_cast<float>(std::atof(given.value("--score", "0.5").c_str()));
  detector finder(given.words()[0], {k_face_detector, k_far_face_detector});
  const pyramid photo(load_image(given.words()[1]));

  const std::string out = given.value("-o", "faces.png");
  save_png(out, show_faces(photo.photo(), finder.find(photo, minimum)));
  std::printf("%s\n", out.c_str());
}
