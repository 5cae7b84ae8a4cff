// SPDX-License-Identifier: MIT
// Puts a person in front of another background with MediaPipe's selfie segmentation.
//   selfie MODEL.nsk PHOTO.jpg [BACKGROUND.jpg] [-o OUT.png] [--mask MASK.png]
// examples/models/fetch_mediapipe.sh fetches the model.
#include "support/command_line.hpp"
#include "support/marks.hpp"

using namespace example;

/// A background of the photo's size: the middle of an image, or an evening sky.
static image make_background(const std::string& path, int width, int height) {
  image out(width, height);
  if (path.empty()) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        blend(out, x, y, {40, 60, 120}, 1);
        blend(out, x, y, {255, 170, 110}, static_cast<double>(y) / height);
      }
    return out;
  }
  const pyramid source(load_image(path));
  std::vector<float> levels(out.rgb.size());
  nsk::image_settings how;
  how.fit = nsk::image_fit::crop;
  source.read(how, levels, height, width);
  nsk::tensor_to_image(levels, {}, target_of(out));
  return out;
}

int main(int argc, char** argv) {
  const command_line given(argc, argv, "selfie MODEL.nsk PHOTO [BACKGROUND] [-o OUT.png] [--mask MASK.png]",
                           {"-o", "--mask"}, 2, 3);
  vision_network net(given.words()[0]);
  if (!net.gives({static_cast<std::size_t>(net.height()) * static_cast<std::size_t>(net.width())}))
    fail(given.words()[0] + " is not MediaPipe's selfie segmentation: it should give one number per pixel");
  const pyramid photo(load_image(given.words()[1]));
  const int width = photo.photo().width, height = photo.photo().height;

  net.run(photo, nsk::image_region{});  // the whole photo, stretched
  const mask person = net.mask_of(0, [](float x) { return x; });
  image out = make_background(given.words().size() > 2 ? given.words()[2] : "", width, height);
  double share = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto opacity = static_cast<double>(person.at(x, y));
      const std::uint8_t* p = photo.photo().at(x, y);
      blend(out, x, y, {p[0], p[1], p[2]}, opacity);
      share += opacity / (static_cast<double>(width) * height);
    }
  save_png(given.value("-o", "selfie.png"), out);
  if (const std::string path = given.value("--mask", ""); !path.empty())
    save_png(path, rendered_mask(person, photo.photo()));
  std::printf("the person covers %.1f %% of the photo; %s\n", 100 * share, given.value("-o", "selfie.png").c_str());
}
