// SPDX-License-Identifier: MIT
#pragma once
/// MediaPipe's single-shot detectors (faces, palms, bodies): anchors, decoding, weighted suppression.
#include <array>
#include <cmath>
#include <string>
#include <vector>
#include "support/region.hpp"
#include "support/vision.hpp"

namespace example {

struct detection {
  float score = 0;
  box around;
  std::vector<point> keypoints;
};

/// What a detector takes and gives, from the options of its graph: the square that it sees, SsdAnchors' strides in the
/// order of its layers (0: none), how many keypoints a box has, and the range of its pixels.
struct detector_kind {
  int size;
  std::array<int, 5> strides;
  std::size_t keypoints;
  nsk::channel_scale scale;
};
/// Right eye, left eye, nose tip, mouth, right ear, left ear (the person's right and left).
inline constexpr detector_kind k_face_detector{128, {8, 16, 16, 16}, 6, nsk::channel_scale::to_symmetric()};
inline constexpr detector_kind k_far_face_detector{256, {16, 32, 32, 32}, 6, nsk::channel_scale::to_symmetric()};
/// Wrist, knuckles of index, middle, ring and little finger, two of the thumb.
inline constexpr detector_kind k_palm_detector{192, {8, 16, 16, 16}, 7, nsk::channel_scale::to_unit()};
/// Middle of the hips, a point on the circle around the whole body; the same two for the upper body.
inline constexpr detector_kind k_body_detector{224, {8, 16, 32, 32, 32}, 4, nsk::channel_scale::to_symmetric()};

/// Returns the centres of anchors in pixels of the square. Layers with the same stride share one grid, row by row; each
/// layer has two anchors per cell (aspect ratio 1 and the interpolated one), and anchor sizes are fixed to 1.
inline std::vector<point> make_anchors(const detector_kind& kind) {
  std::vector<point> anchors;
  for (std::size_t layer = 0; layer < kind.strides.size() && kind.strides[layer] != 0;) {
    const int stride = kind.strides[layer], cells = kind.size / stride;
    int repeat = 0;
    for (; layer < kind.strides.size() && kind.strides[layer] == stride; ++layer) repeat += 2;
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x)
        for (int k = 0; k < repeat; ++k)
          anchors.push_back({(static_cast<float>(x) + 0.5F) * static_cast<float>(stride),
                             (static_cast<float>(y) + 0.5F) * static_cast<float>(stride)});
  }
  return anchors;
}

/// Returns the candidate of one anchor: centre x, y, width, height, then keypoints, relative to the anchor in pixels of
/// the square.
inline detection decode(const float* raw, point anchor, float score, std::size_t keypoints, const nsk::image_map& map) {
  const float x = raw[0] + anchor.x, y = raw[1] + anchor.y;
  const point a = map.to_image(x - raw[2] / 2, y - raw[3] / 2), b = map.to_image(x + raw[2] / 2, y + raw[3] / 2);
  detection d{score, {a.x, a.y, b.x, b.y}, {}};
  for (std::size_t k = 0; k < keypoints; ++k)
    d.keypoints.push_back(map.to_image(raw[4 + 2 * k] + anchor.x, raw[5 + 2 * k] + anchor.y));
  return d;
}

/// Returns the shared area of two boxes as a share of what they cover together.
inline float overlap(const box& a, const box& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const float both = width * height;
  return both / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - both);
}

/// Returns the mean of candidates with their scores as weights, and the first one's score.
template <class Iterator>
detection mean_of(Iterator begin, Iterator end) {
  detection mean{begin->score, {}, std::vector<point>(begin->keypoints.size())};
  float total = 0;
  for (auto d = begin; d != end; ++d) total += d->score;
  for (auto d = begin; d != end; ++d) {
    const float w = d->score / total;
    mean.around.left += w * d->around.left;
    mean.around.top += w * d->around.top;
    mean.around.right += w * d->around.right;
    mean.around.bottom += w * d->around.bottom;
    for (std::size_t k = 0; k < mean.keypoints.size(); ++k) {
      mean.keypoints[k].x += w * d->keypoints[k].x;
      mean.keypoints[k].y += w * d->keypoints[k].y;
    }
  }
  return mean;
}

/// MediaPipe's weighted non-maximum suppression: the best candidate and all that overlap it by more than `threshold`
/// become their mean; then the best of the rest. Returns them best first.
inline std::vector<detection> merge(std::vector<detection> candidates, float threshold) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const detection& a, const detection& b) { return a.score > b.score; });
  std::vector<detection> found;
  while (!candidates.empty()) {
    const box best = candidates.front().around;
    const auto rest = std::stable_partition(candidates.begin(), candidates.end(),
                                            [&](const detection& d) { return overlap(d.around, best) > threshold; });
    if (rest == candidates.begin()) break;  // an empty box overlaps nothing, not even itself
    found.push_back(mean_of(candidates.begin(), rest));
    candidates.erase(candidates.begin(), rest);
  }
  return found;
}

/// Anchors of a detector, and which of its outputs are what; the same for every machine that runs the network.
class box_decoder {
 public:
  /// Looks at the inputs and outputs of a model, which must be of one of these kinds; ends the program otherwise.
  box_decoder(const nsk::variant_view& model, const std::string& path, const std::vector<detector_kind>& kinds) {
    std::string sizes;
    for (const detector_kind& kind : kinds) {
      if (takes_square(model, kind.size)) m_kind = kind;
      sizes += (sizes.empty() ? "" : " or ") + std::to_string(kind.size);
    }
    m_anchors = make_anchors(m_kind);
    find_outputs(model);
    std::size_t scored = 0;
    for (const pair& p : m_pairs) scored += p.count;
    if (m_anchors.empty() || scored != m_anchors.size())
      fail(path + " is not the detector that belongs here: it should take a square of " + sizes +
           " pixels and give a score and a box per anchor");
  }

  int size() const { return m_kind.size; }
  /// How the network is shown a photo: whole, letterboxed, in its range of pixels.
  nsk::image_settings settings() const {
    nsk::image_settings how;
    how.fit = nsk::image_fit::letterbox;
    how.scale = m_kind.scale;
    return how;
  }

  /// Returns what the outputs say, with a score of at least `minimum`, best first, in pixels of the photo that `map`
  /// leads to. output(i) is a span of the numbers of output i.
  template <class Output>
  std::vector<detection> find(Output&& output, const nsk::image_map& map, float minimum) const {
    std::vector<detection> candidates;
    std::size_t anchor = 0;
    for (const pair& p : m_pairs) {
      const nsk::span<const float> scores = output(p.scores), boxes = output(p.boxes);
      for (std::size_t i = 0; i < p.count; ++i, ++anchor) {
        const float score = sigmoid(scores[i]);
        if (score >= minimum)
          candidates.push_back(
              decode(boxes.data() + i * coordinates(), m_anchors[anchor], score, m_kind.keypoints, map));
      }
    }
    return merge(std::move(candidates), 0.3F);
  }

 private:
  /// Two outputs: scores [1, count, 1] and boxes [1, count, coordinates].
  struct pair {
    int scores, boxes;
    std::size_t count;
  };
  std::size_t coordinates() const { return 4 + 2 * m_kind.keypoints; }
  static bool takes_square(const nsk::variant_view& model, int size) {
    if (model.input_count() != 1 || model.input(0).type() != nsk::dtype::float32) return false;
    const nsk::span<const std::int32_t> shape = model.input(0).shape();
    return shape.size() == 4 && shape[0] == 1 && shape[1] == size && shape[2] == size && shape[3] == 3;
  }
  /// Outputs are distinguished by their sizes; the finer grid comes first.
  void find_outputs(const nsk::variant_view& model) {
    const auto numbers = [&](int i) {
      const nsk::port_view port = model.output(i);
      return port.type() == nsk::dtype::float32 ? static_cast<std::size_t>(port.elements()) : 0;
    };
    for (int s = 0; s < model.output_count(); ++s)
      for (int b = 0; b < model.output_count(); ++b)
        if (numbers(s) > 0 && numbers(b) == coordinates() * numbers(s)) m_pairs.push_back({s, b, numbers(s)});
    std::sort(m_pairs.begin(), m_pairs.end(), [](const pair& a, const pair& b) { return a.count > b.count; });
  }

  detector_kind m_kind{};
  std::vector<point> m_anchors;
  std::vector<pair> m_pairs;
};

/// A detector on the CPU and its memory.
class detector {
 public:
  /// Opens the model, which must be of one of these kinds; ends the program otherwise.
  detector(const std::string& path, const std::vector<detector_kind>& kinds)
      : m_net(path), m_decoder(m_net.model().variant(), path, kinds) {}

  /// Returns what the network finds in a photo with a score of at least `minimum`, best first, in pixels of the photo.
  std::vector<detection> find(const pyramid& photo, float minimum = 0.5F) {
    m_net.run(photo, m_decoder.settings());
    return m_decoder.find([&](int i) { return m_net.output(i); }, m_net.map(), minimum);
  }

 private:
  vision_network m_net;
  box_decoder m_decoder;
};

}  // namespace example
