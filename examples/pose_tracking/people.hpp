// SPDX-License-Identifier: MIT
#pragma once
/// Several people in the frames of a camera: one run of MediaPipe's pose landmarks for all of them, one row of its
/// batch each.
///
///   people crowd("pose_landmarks_of_4.nsk", 1280, 720);     // nsk convert ... --input input_1=4x256x256x3
///   crowd.add(hips, top);                                   // a detection, or where a game knows that a person stands
///   crowd.follow(frame, 1 / 30.0F);                         // every frame; allocates nothing
///   for (const person& p : crowd) if (p.followed) draw(p.joints);
///
/// The region of the next frame comes from two points of the network: the middle of the hips and one on the circle
/// around the body. A person is given up when the network's score falls under one half. Joints are smoothed by one-euro
/// filters.
#include <array>
#include <string>
#include <vector>
#include "avatar/one_euro.hpp"
#include "support/body_points.hpp"
#include "support/image_reader.hpp"

namespace example {

struct person {
  bool followed = false;
  int number = 0;   ///< of everybody who was ever followed, from 1
  float score = 0;  ///< how sure the network is that a person is there
  float unit = 1;   ///< side of the first region: the filters see shares of it, near and far people alike
  nsk::image_region region;
  std::array<landmark, k_joints> joints{};  ///< smoothed, in pixels of the frame
  std::array<bool, k_joints> in_sight{};
};

class people {
 public:
  /// Opens the network; ends the program where it is something else. The batch of its input says how many people there
  /// can be.
  people(const std::string& path, int width, int height) : m_network(path), m_reader(width, height) {
    const nsk::model& model = m_network.model;
    const nsk::span<const std::int32_t> shape = model.input(0).shape();
    bool good = model.input_count() == 1 && model.output_count() == 5 && shape.size() == 4 && shape[1] == 256 &&
                shape[2] == 256 && shape[3] == 3;
    const std::size_t rows = good ? static_cast<std::size_t>(shape[0]) : 0;
    constexpr std::size_t sizes[] = {k_body_numbers * k_body_points, 1, 256 * 256,
                                     std::size_t{k_heat} * k_heat * k_body_points, 3 * k_body_points};
    for (int i = 0; good && i < 5; ++i)
      good = model.output(i).type() == nsk::dtype::float32 &&
             static_cast<std::size_t>(model.output(i).elements()) == rows * sizes[i];
    if (!good)
      fail(path +
           " is not MediaPipe's pose landmark model: it should take [people, 256, 256, 3] and give 39 points, a score, "
           "a mask, heat maps and 39 points in metres for each");
    m_session = nsk::session<vision_settings>(model, m_network.memory);
    if (!m_session) fail(path + ": " + m_session.status().message());
    m_people.resize(rows);
    m_maps.resize(rows);
    m_filters.resize(rows * 2 * k_joints, one_euro_filter({3, 30, 3}));
  }

  std::size_t capacity() const { return m_people.size(); }
  std::size_t followed() const {
    return static_cast<std::size_t>(std::count_if(begin(), end(), [](const person& p) { return p.followed; }));
  }
  const person* begin() const { return m_people.data(); }
  const person* end() const { return m_people.data() + m_people.size(); }

  /// Follows a person from the next frame on, whose hips have their middle at one point, and whose body is within a
  /// circle through another. Who is followed already is not added, and no person where all rows of the batch are
  /// taken.
  void add(point hips, point circle) {
    const nsk::image_region region = region_about(hips, circle, 1.25F);
    person* free = nullptr;
    for (person& p : m_people) {
      if (!p.followed)
        free = free == nullptr ? &p : free;
      else if (std::hypot(p.region.centre_x - hips.x, p.region.centre_y - hips.y) <
               0.25F * std::min(p.region.width, region.width))
        return;
    }
    if (free == nullptr) return;
    *free = {};
    free->followed = true;
    free->number = ++m_count;
    free->region = region;
    free->unit = region.width;
    for (std::size_t k = 0; k < 2 * k_joints; ++k) filter_of(*free, k).reset();
  }

  /// Looks at everybody who is followed, in one run.
  void follow(const image& frame, float seconds) {
    if (followed() == 0) return;
    const nsk::span<float> input = m_session.input<float>(0);
    for (std::size_t row = 0; row < m_people.size(); ++row) {
      if (!m_people[row].followed) continue;  // what is in its row is computed, and not looked at
      nsk::image_settings how;
      how.region = m_people[row].region;
      m_maps[row] = m_reader.read(frame, how, {input.data() + row * k_input, k_input}, k_side);
    }
    m_session.run();
    for (std::size_t row = 0; row < m_people.size(); ++row)
      if (m_people[row].followed) take(row, seconds);
  }

 private:
  static constexpr int k_side = 256;
  static constexpr std::size_t k_input = std::size_t{3} * k_side * k_side;

  one_euro_filter& filter_of(const person& p, std::size_t k) {
    return m_filters[static_cast<std::size_t>(&p - m_people.data()) * 2 * k_joints + k];
  }
  nsk::span<const float> row_of(int output, std::size_t row) const {
    const nsk::span<const float> all = m_session.output<float>(output);
    const std::size_t size = all.size() / m_people.size();
    return {all.data() + row * size, size};
  }

  /// What the network says of one person.
  void take(std::size_t row, float seconds) {
    person& p = m_people[row];
    p.score = row_of(1, row)[0];
    p.followed = p.score >= 0.5F;
    if (!p.followed) return;
    const nsk::image_map& map = m_maps[row];
    const float* raw = row_of(0, row).data();
    for (std::size_t i = 0; i < k_joints; ++i) {
      const float* at = raw + i * k_body_numbers;
      const point in_input = refined({at[0], at[1]}, row_of(3, row), i, k_side);
      const point now = map.to_image(in_input.x, in_input.y);
      p.joints[i].x = p.unit * filter_of(p, 2 * i)(now.x / p.unit, seconds);
      p.joints[i].y = p.unit * filter_of(p, 2 * i + 1)(now.y / p.unit, seconds);
      p.in_sight[i] = sigmoid(at[3]) >= 0.5F;
    }
    const float *hips = raw + k_joints * k_body_numbers, *circle = hips + k_body_numbers;
    p.region = region_about(map.to_image(hips[0], hips[1]), map.to_image(circle[0], circle[1]), 1.25F);
  }

  network m_network;
  nsk::session<vision_settings> m_session;
  image_reader m_reader;
  std::vector<person> m_people;
  std::vector<one_euro_filter> m_filters;  ///< x and y of each joint of each person
  std::vector<nsk::image_map> m_maps;
  int m_count = 0;
};

}  // namespace example
