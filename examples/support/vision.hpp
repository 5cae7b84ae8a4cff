// SPDX-License-Identifier: MIT
#pragma once
/// A network that looks at a region of an image, and what it answers there: points and masks, in pixels of the photo.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>
#include <netsuke/netsuke.hpp>
#include "support/network.hpp"
#include "support/region.hpp"

namespace example {

/// Just what MediaPipe's networks need, as `nsk inspect --settings` prints it for each of them.
struct vision_settings : nsk::default_settings {
  using ops =
      nsk::op_list<nsk::op::conv_2d, nsk::op::depthwise_conv_2d, nsk::op::fully_connected, nsk::op::pool_2d,
                   nsk::op::unary, nsk::op::binary, nsk::op::copy, nsk::op::fill, nsk::op::resize_2d, nsk::op::reduce,
                   nsk::op::cast, nsk::op::compare, nsk::op::select, nsk::op::arithmetic, nsk::op::gather>;
  using functions =
      nsk::function_list<nsk::function::identity, nsk::function::clip, nsk::function::prelu, nsk::function::sigmoid,
                         nsk::function::hard_swish, nsk::function::sqrt, nsk::function::neg, nsk::function::floor>;
};

inline float sigmoid(float x) { return 1 / (1 + std::exp(-std::clamp(x, -100.0F, 100.0F))); }

/// x and y in pixels of the photo; z in the same unit, where the network has one, smaller towards the camera.
struct landmark {
  float x = 0, y = 0, z = 0;
};
inline point flat(const landmark& p) { return {p.x, p.y}; }

/// One number per pixel of a network's input, seen from the photo.
struct mask {
  std::vector<float> values;
  int height = 0, width = 0;
  nsk::image_map map;

  /// Returns the mask at the centre of a pixel of the photo, bilinear; 0 outside of what the network saw.
  float at(int x, int y) const {
    const point p = map.to_tensor(static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F);
    if (!(p.x >= 0 && p.y >= 0 && p.x < static_cast<float>(width) && p.y < static_cast<float>(height))) return 0;
    const float left = std::floor(p.x - 0.5F), top = std::floor(p.y - 0.5F);
    const float right_share = p.x - 0.5F - left, lower_share = p.y - 0.5F - top;
    const auto value = [&](float column, float row) {
      const int c = std::clamp(static_cast<int>(column), 0, width - 1),
                r = std::clamp(static_cast<int>(row), 0, height - 1);
      return values[static_cast<std::size_t>(r) * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)];
    };
    const float upper = value(left, top) + right_share * (value(left + 1, top) - value(left, top));
    const float lower = value(left, top + 1) + right_share * (value(left + 1, top + 1) - value(left, top + 1));
    return upper + lower_share * (lower - upper);
  }
};

/// Returns a mask as a grey image of a photo's size.
inline image rendered_mask(const mask& m, const image& photo) {
  image out(photo.width, photo.height);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const std::uint8_t level = to_byte(255 * static_cast<double>(m.at(x, y)));
      out.set(x, y, {level, level, level});
    }
  return out;
}

/// A network of RGB images [rows, height, width, 3], and its memory. There is one image, or as many as there are
/// regions to look at, up to the bound of the only length of the file.
class vision_network {
 public:
  explicit vision_network(const std::string& path) : m_network(path) {
    const bool one_input = m_network.model.input_count() == 1;
    const nsk::port_view in = one_input ? m_network.model.input(0) : m_network.model.output(0);
    const nsk::variant_view plan = m_network.model.variant();
    m_max_rows = plan.length_count() == 1 ? plan.length(0).bound() : 1;
    m_rows = static_cast<std::size_t>(m_max_rows);
    if (!one_input || in.shape().size() != 4 || in.shape()[0] != m_max_rows || in.shape()[3] != 3 ||
        in.type() != nsk::dtype::float32)
      fail(path + " should take one RGB image as [1, height, width, 3], or a length of them");
    for (int i = 0; i < m_network.model.output_count(); ++i)
      if (m_network.model.output(i).type() != nsk::dtype::float32) fail(path + " should give float32 numbers only");
    m_height = in.shape()[1];
    m_width = in.shape()[2];
    m_session = nsk::session<vision_settings>(m_network.model, m_network.memory);
    if (!m_session) fail(path + ": " + m_session.status().message());
  }
  const nsk::model& model() const { return m_network.model; }
  int height() const { return m_height; }
  int width() const { return m_width; }

  /// Shows the network the photo as `how` says and computes its outputs.
  void run(const pyramid& photo, const nsk::image_settings& how) {
    choose_rows(1);
    m_maps[0] = photo.read(how, m_session.input<float>(0), m_height, m_width);
    m_session.run();
  }
  /// Shows the network a region with pixels in [0, 1]; where it leaves the photo, the photo's edge goes on.
  void run(const pyramid& photo, const nsk::image_region& region) {
    run(photo, std::vector<nsk::image_region>{region});
  }
  /// How many regions it can be shown at once.
  std::size_t max_rows() const { return static_cast<std::size_t>(m_max_rows); }
  /// Shows it several regions, one per row.
  void run(const pyramid& photo, const std::vector<nsk::image_region>& regions) {
    choose_rows(regions.size());
    const nsk::span<float> in = m_session.input<float>(0);
    const std::size_t size = in.size() / regions.size();
    for (std::size_t row = 0; row < regions.size(); ++row) {
      nsk::image_settings how;
      how.region = regions[row];
      m_maps[row] = photo.read(how, {in.data() + row * size, size}, m_height, m_width);
    }
    m_session.run();
  }
  /// The map between the network's input and the photo of the last run.
  const nsk::image_map& map(std::size_t row = 0) const { return m_maps[row]; }

  int output_count() const { return m_session.output_count(); }
  /// What a row of an output holds.
  nsk::span<const float> output(int i, std::size_t row = 0) const {
    const nsk::span<const float> all = m_session.output<float>(i);
    const std::size_t size = all.size() / m_rows;
    return {all.data() + row * size, size};
  }
  /// Whether the first outputs have these numbers of elements.
  bool gives(std::initializer_list<std::size_t> sizes) const {
    int i = 0;
    for (const std::size_t size : sizes) {
      if (i >= output_count() || output(i).size() != size) return false;
      ++i;
    }
    return true;
  }

  /// Returns `count` points of an output, in which a point is `floats` numbers: x and y in pixels of the network's
  /// input, then z in the same unit where there are more than two, then what does not matter here.
  std::vector<landmark> points(int i, std::size_t count, std::size_t floats, std::size_t row = 0) const {
    const float* raw = output(i, row).data();
    const nsk::image_map& map = m_maps[row];
    const auto step = static_cast<float>(std::hypot(map.image_from_tensor.xx, map.image_from_tensor.yx));
    std::vector<landmark> found;
    for (std::size_t k = 0; k < count; ++k, raw += floats) {
      const point p = map.to_image(raw[0], raw[1]);
      found.push_back({p.x, p.y, floats > 2 ? raw[2] * step : 0});
    }
    return found;
  }
  /// Returns an output of the input's height and width as a mask; f turns the network's numbers into [0, 1].
  template <class F>
  mask mask_of(int i, F&& f) const {
    mask m{{}, m_height, m_width, m_maps[0]};
    for (const float x : output(i)) m.values.push_back(f(x));
    return m;
  }

 private:
  void choose_rows(std::size_t rows) {
    m_rows = rows;
    m_maps.resize(rows);
    if (m_max_rows == 1) return;
    const nsk::status chosen = m_session.set_length(m_network.model.variant().length(0).name(), static_cast<int>(rows));
    if (!chosen) fail(std::string("the length of the network: ") + chosen.message());
  }

  network m_network;
  nsk::session<vision_settings> m_session;
  std::vector<nsk::image_map> m_maps;
  std::size_t m_rows = 1;
  int m_max_rows = 1, m_height = 0, m_width = 0;
};

/// Writes landmarks as a table: image, object, point, x, y, z. Without a path nothing is written.
class landmark_table {
 public:
  explicit landmark_table(const std::string& path) {
    if (path.empty()) return;
    m_file.reset(std::fopen(path.c_str(), "w"));
    if (!m_file) fail("cannot write " + path);
    std::fprintf(m_file.get(), "image,object,point,x,y,z\n");
  }
  void add(std::size_t image, std::size_t object, const std::vector<landmark>& points) {
    for (std::size_t i = 0; m_file && i < points.size(); ++i)
      std::fprintf(m_file.get(), "%zu,%zu,%zu,%.3f,%.3f,%.3f\n", image, object, i, static_cast<double>(points[i].x),
                   static_cast<double>(points[i].y), static_cast<double>(points[i].z));
  }

 private:
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, close> m_file;
};

}  // namespace example
