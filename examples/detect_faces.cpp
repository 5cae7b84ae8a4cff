// SPDX-License-Identifier: MIT
// Finds faces with MediaPipe's BlazeFace (front 128 x 128 or back 256 x 256) and draws boxes and six keypoints.
//   detect_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5]
// examples/models/fetch_blazeface.sh fetches both models; nsk convert turns them into .nsk.
#include <array>
#include <netsuke/netsuke.hpp>
#include "support/picture.hpp"

using namespace example;

struct point {
  float x = 0, y = 0;
};

/// A face in pixels: right eye, left eye, nose tip, mouth, right ear, left ear (the person's right and left).
struct face {
  float score = 0;
  float left = 0, top = 0, right = 0, bottom = 0;
  std::array<point, 6> keypoints;
};

/// The photo, or where it is larger than the network's square, the photo shrunk by a filter that lets every pixel
/// count: image_to_tensor samples four pixels whatever the distance.
static picture shrunk(const picture& photo, int size) {
  const float scale = static_cast<float>(size) / static_cast<float>(std::max(photo.width, photo.height));
  if (scale >= 1) return photo;
  const auto length = [scale](int n) {
    return std::max(1, static_cast<int>(std::lround(static_cast<float>(n) * scale)));
  };
  return resize(photo, length(photo.width), length(photo.height), filter::linear);
}

/// Centres of MediaPipe's SSD anchors, in [0, 1] over the square. Both models have four layers: the first with its own
/// stride (8 of 128, or 16 of 256), the other three with twice that stride and therefore on one grid; each layer has
/// two anchors per cell (aspect ratio 1 and the interpolated one), and anchor sizes are fixed to 1.
static std::vector<point> make_anchors(int size) {
  const int first = size == 128 ? 8 : 16;
  const int strides[4] = {first, 2 * first, 2 * first, 2 * first};
  std::vector<point> anchors;
  for (int layer = 0; layer < 4;) {
    int repeat = 0;
    const int cells = size / strides[layer];
    for (; layer < 4 && size / strides[layer] == cells; ++layer) repeat += 2;
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x)
        for (int k = 0; k < repeat; ++k)
          anchors.push_back({(static_cast<float>(x) + 0.5F) / static_cast<float>(cells),
                             (static_cast<float>(y) + 0.5F) / static_cast<float>(cells)});
  }
  return anchors;
}

/// One candidate from the 16 numbers of an anchor: centre x, y, width, height, then six keypoints, in pixels of the
/// square.
static face decode(const float* raw, point anchor, float score, int size) {
  const float unit = 1 / static_cast<float>(size);
  const float cx = raw[0] * unit + anchor.x;
  const float cy = raw[1] * unit + anchor.y;
  const float half_width = raw[2] * unit * 0.5F;
  const float half_height = raw[3] * unit * 0.5F;
  face f{score, cx - half_width, cy - half_height, cx + half_width, cy + half_height, {}};
  for (std::size_t k = 0; k < f.keypoints.size(); ++k)
    f.keypoints[k] = {raw[4 + 2 * k] * unit + anchor.x, raw[5 + 2 * k] * unit + anchor.y};
  return f;
}

static float overlap(const face& a, const face& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const float both = width * height;
  return both / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - both);
}

/// MediaPipe's weighted non-maximum suppression: candidates that overlap the best one by more than `threshold` are
/// averaged with their scores as weights; the best score is kept.
static std::vector<face> merge(std::vector<face> candidates, float threshold) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const face& a, const face& b) { return a.score > b.score; });
  std::vector<face> found;
  while (!candidates.empty()) {
    const face best = candidates.front();
    const auto rest = std::stable_partition(candidates.begin(), candidates.end(),
                                            [&](const face& f) { return overlap(f, best) > threshold; });
    if (rest == candidates.begin()) break;  // an empty box overlaps nothing, not even itself
    face mean;
    mean.score = best.score;
    float total = 0;
    for (auto f = candidates.begin(); f != rest; ++f) total += f->score;
    for (auto f = candidates.begin(); f != rest; ++f) {
      const float w = f->score / total;
      mean.left += w * f->left;
      mean.top += w * f->top;
      mean.right += w * f->right;
      mean.bottom += w * f->bottom;
      for (std::size_t k = 0; k < mean.keypoints.size(); ++k) {
        mean.keypoints[k].x += w * f->keypoints[k].x;
        mean.keypoints[k].y += w * f->keypoints[k].y;
      }
    }
    found.push_back(mean);
    candidates.erase(candidates.begin(), rest);
  }
  return found;
}

/// Outputs of the network, told apart by their shapes: scores [1, n, 1] and boxes [1, n, 16], for the fine and the
/// coarse grid.
template <class Session>
static std::vector<face> candidates_of(const nsk::model& model, const Session& net, int size, float least) {
  const std::vector<point> anchors = make_anchors(size);
  std::vector<face> candidates;
  for (int s = 0; s < model.output_count(); ++s) {
    const auto scores = net.template output<float>(s);
    for (int b = 0; b < model.output_count(); ++b) {
      const auto boxes = net.template output<float>(b);
      if (boxes.size() != 16 * scores.size()) continue;
      const std::size_t first = scores.size() == 512 ? 0 : 512;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const float score = 1 / (1 + std::exp(-std::clamp(scores[i], -100.0F, 100.0F)));
        if (score >= least) candidates.push_back(decode(boxes.data() + 16 * i, anchors[first + i], score, size));
      }
    }
  }
  return candidates;
}

int main(int argc, char** argv) {
  std::string model_path;
  std::string photo_path;
  std::string out = "faces.png";
  float least = 0.5F;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-o" && i + 1 < argc)
      out = argv[++i];
    else if (word == "--score" && i + 1 < argc)
      least = static_cast<float>(std::atof(argv[++i]));
    else if (model_path.empty())
      model_path = word;
    else
      photo_path = word;
  }
  if (photo_path.empty()) fail("usage: detect_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5]", 1);

  const memory_block file = read_file(model_path);
  nsk::model model;
  if (nsk::status s = nsk::open(file, model); !s) fail(model_path + ": " + s.message());
  const nsk::span<const std::int32_t> shape = model.input(0).shape();
  if (shape.size() != 4 || (shape[1] != 128 && shape[1] != 256) || shape[2] != shape[1] || model.output_count() != 4)
    fail(model_path + " is not BlazeFace: it should take [1, 128, 128, 3] or [1, 256, 256, 3] and give four outputs");
  const int size = shape[1];

  const memory_block memory(model.arena_bytes());
  nsk::session<> net(model, memory);
  picture photo = load_picture(photo_path);
  nsk::image_settings how;
  how.fit = nsk::image_fit::letterbox;
  how.scale = nsk::channel_scale::to_symmetric();
  const picture small = shrunk(photo, size);
  const nsk::image_map map = nsk::image_to_tensor(view_of(small), how, net.input<float>(0), size, size);
  const float zoom =
      static_cast<float>(std::max(photo.width, photo.height)) / static_cast<float>(std::max(small.width, small.height));
  const auto on_photo = [&](float x, float y) {  // from [0, 1] over the square
    const nsk::image_point p = map.to_image(x * static_cast<float>(size), y * static_cast<float>(size));
    return point{p.x * zoom, p.y * zoom};
  };
  net.run();

  const int thick = std::max(1, photo.width / 250);
  for (const face& f : merge(candidates_of(model, net, size, least), 0.3F)) {
    const point a = on_photo(f.left, f.top);
    const point b = on_photo(f.right, f.bottom);
    std::printf("face %.4f: (%.1f, %.1f) to (%.1f, %.1f); keypoints", f.score, a.x, a.y, b.x, b.y);
    draw_rectangle(photo, static_cast<int>(a.x), static_cast<int>(a.y), static_cast<int>(b.x), static_cast<int>(b.y),
                   thick, {60, 230, 90});
    for (const point& k : f.keypoints) {
      const point p = on_photo(k.x, k.y);
      std::printf(" (%.1f, %.1f)", p.x, p.y);
      draw_disc(photo, p.x, p.y, 1.2 * thick + 0.8, {255, 70, 60});
    }
    std::printf("\n");
    char label[16];
    std::snprintf(label, sizeof label, "%.0f%%", f.score * 100);
    draw_text(photo, static_cast<int>(a.x), static_cast<int>(a.y) - 8 * thick - thick, label, thick, {60, 230, 90});
  }
  save_png(out, photo);
  std::printf("%s\n", out.c_str());
}
