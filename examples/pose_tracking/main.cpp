// SPDX-License-Identifier: MIT
// Follows several people through frames: a detector finds them, one run of the pose landmarks looks at all, a row of
// its batch each.
//   pose_tracking LANDMARKS.nsk FRAME... [--detector DETECTOR.nsk] [--at X,Y,REACH,...] [-o STRIP.png] [--gif CLIP.gif]
//   [--points OUT.csv] pose_tracking LANDMARKS.nsk PHOTO... --clip 60 ...              the photos side by side,
//   swaying, as 60 frames
// LANDMARKS.nsk is converted for so many people as there can be: nsk convert pose_landmark_full.tflite --input
// input_1=4x256x256x3.
// --at says where people are in the first frame, in place of a detector: the middle of the hips, and how far the body
// reaches from it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include "avatar/gif.hpp"
#include "pose_tracking/people.hpp"
#include "pose_tracking/stage.hpp"
#include "support/command_line.hpp"
#include "support/count_allocations.hpp"
#include "support/detector.hpp"

using namespace example;

constexpr int k_detector_rests = 15;  ///< frames between two looks for new people
constexpr float k_seconds = 1 / 30.0F;

/// "x,y,reach,x,y,reach"
static void add_at(people& crowd, const std::string& places) {
  const char* text = places.c_str();
  while (*text != '\0') {
    float n[3];
    for (float& x : n) {
      char* end = nullptr;
      x = std::strtof(text, &end);
      if (end == text || (*end != ',' && *end != '\0'))
        fail("--at should be X,Y,REACH of one person or of several, with commas between all numbers");
      text = *end == ',' ? end + 1 : end;
    }
    crowd.add({n[0], n[1]}, {n[0], n[1] - n[2]});
  }
}

/// The detector sees 224 pixels: it looks at squares of the frame, each half a square from the next, and finds people
/// who are small in the whole.
static void look_for_people(detector& finder, const image& frame, people& crowd) {
  const int side = std::min(frame.width, frame.height);
  const int columns = 1 + (2 * (frame.width - side) + side - 1) / side,
            rows = 1 + (2 * (frame.height - side) + side - 1) / side;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const int x = std::min(column * side / 2, frame.width - side), y = std::min(row * side / 2, frame.height - side);
      for (const detection& d : finder.find(pyramid(crop(frame, x, y, side, side)))) {
        const point to{static_cast<float>(x), static_cast<float>(y)};
        crowd.add({d.keypoints[0].x + to.x, d.keypoints[0].y + to.y},
                  {d.keypoints[1].x + to.x, d.keypoints[1].y + to.y});
      }
    }
}

static std::vector<image> frames_of(const command_line& given) {
  std::vector<image> images;
  for (std::size_t i = 1; i < given.words().size(); ++i) images.push_back(load_image(given.words()[i]));
  const int wanted = std::atoi(given.value("--clip", "0").c_str());
  if (wanted < 0 || wanted > 10000) fail("--clip should be 1 to 10000");
  if (wanted == 0) {
    for (std::size_t i = 1; i < images.size(); ++i)
      if (images[i].width != images[0].width || images[i].height != images[0].height)
        fail(given.words()[i + 1] + " should have the size of " + given.words()[1]);
    return images;
  }
  const stage all(images);
  std::vector<image> frames;
  for (int i = 0; i < wanted; ++i) frames.push_back(all.frame(k_seconds * static_cast<float>(i)));
  return frames;
}

/// The frame with everybody who is followed, and their numbers.
static image rendered(const image& frame, const people& crowd) {
  image out = frame;
  for (const person& p : crowd) {
    if (!p.followed) continue;
    draw_body(out, {p.joints.begin(), p.joints.end()}, [&](std::size_t i) { return p.in_sight[i]; });
    draw_text(out, static_cast<int>(p.joints[0].x) - 6, std::max(2, static_cast<int>(p.joints[0].y - 0.2F * p.unit)),
              std::to_string(p.number), 3, {255, 230, 80});
  }
  return out;
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

int main(int argc, char** argv) {
  const command_line given(
      argc, argv,
      "pose_tracking LANDMARKS.nsk FRAME... [--detector DETECTOR.nsk] [--at X,Y,REACH,...] [--clip 60] [-o STRIP.png] "
      "[--gif CLIP.gif] [--points OUT.csv]",
      {"--detector", "--at", "--clip", "-o", "--gif", "--points"}, 2, 10000);
  const std::vector<image> frames = frames_of(given);
  people crowd(given.words()[0], frames[0].width, frames[0].height);
  std::unique_ptr<detector> finder;
  if (const std::string path = given.value("--detector", ""); !path.empty())
    finder = std::make_unique<detector>(path, std::vector<detector_kind>{k_body_detector});
  else if (given.value("--at", "").empty())
    fail("give --detector, or --at with the places of the people");
  add_at(crowd, given.value("--at", ""));

  landmark_table table(given.value("--points", ""));
  std::vector<image> shown;
  std::vector<double> detecting, following;
  std::size_t seen = 0;
  int wait = 0;  // frames until the detector looks for more people
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto since = [&] {
      return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    };
    double detected = 0;
    if (finder && crowd.followed() < crowd.capacity() && wait-- == 0) {
      wait = k_detector_rests;
      look_for_people(*finder, frames[i], crowd);
      detecting.push_back(detected = since());
    }
    const std::size_t before = allocations();
    crowd.follow(frames[i], k_seconds);
    if (allocations() != before) fail("following people has allocated");
    following.push_back(since() - detected);
    seen += crowd.followed();
    for (const person& p : crowd)
      if (p.followed) table.add(i, static_cast<std::size_t>(p.number), {p.joints.begin(), p.joints.end()});
    shown.push_back(rendered(frames[i], crowd));
  }

  int people_seen = 0;
  for (const person& p : crowd) people_seen = std::max(people_seen, p.number);
  std::printf(
      "%zu frames, %d people, %.2f per frame; milliseconds (median): detector %.2f in %zu frames, landmarks of %zu "
      "rows %.2f in each\n",
      frames.size(), people_seen, static_cast<double>(seen) / static_cast<double>(frames.size()), median(detecting),
      detecting.size(), crowd.capacity(), median(following));
  const std::string out = given.value("-o", "people.png");
  const std::size_t rows = std::min<std::size_t>(3, shown.size());
  image strip(shown[0].width, shown[0].height * static_cast<int>(rows));
  for (std::size_t k = 0; k < rows; ++k)
    paste(strip, shown[rows > 1 ? k * (shown.size() - 1) / (rows - 1) : 0], 0, static_cast<int>(k) * shown[0].height);
  save_png(out, strip);
  if (const std::string path = given.value("--gif", ""); !path.empty()) save_gif(path, shown, 3);
  std::printf("%s\n", out.c_str());
}
