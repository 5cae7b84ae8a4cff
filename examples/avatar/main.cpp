// SPDX-License-Identifier: MIT
// A face that a camera sees drives a head: landmarks, the head's pose, 52 blendshape weights, and a small renderer.
//   avatar DETECTOR.nsk MESH.nsk FRAME... [-o STRIP.png] [--gif CLIP.gif] [--weights OUT.csv]
//   avatar DETECTOR.nsk MESH.nsk PHOTO [--frames 120] ...        one photo: a clip is made of it, with weights that are
//   known avatar [--frames 120] ...                                    no network: landmarks of a performance, with
//   noise
// The first frame should show a face at rest. examples/models/fetch_mediapipe.sh fetches the models. The loop over the
// frames allocates nothing, which is counted.
#include <cstdlib>
#include <memory>
#include "avatar/player.hpp"
#include "avatar/show.hpp"
#include "support/command_line.hpp"
#include "support/count_allocations.hpp"

using namespace example;

/// Plays all frames, and fails if that allocates.
template <class Frame>
static void play(std::size_t count, Frame&& frame) {
  const std::size_t before = allocations();
  for (std::size_t i = 0; i < count; ++i) frame(i);
  if (allocations() != before)
    fail("the loop over the frames has allocated " + std::to_string(allocations() - before) + " times");
}

int main(int argc, char** argv) {
  const std::string usage =
      "avatar [DETECTOR.nsk MESH.nsk FRAME...] [-o STRIP.png] [--gif CLIP.gif] [--weights OUT.csv] [--frames 120]";
  const command_line given(argc, argv, usage, {"-o", "--gif", "--weights", "--frames"}, 0, 10000);
  const std::vector<std::string>& words = given.words();
  if (words.size() == 1 || words.size() == 2) fail("usage: " + usage);
  const int wanted = std::atoi(given.value("--frames", "120").c_str());
  if (wanted < 2 || wanted > 10000) fail("--frames should be 2 to 10000");
  const auto frames = static_cast<std::size_t>(wanted);

  const auto actor = std::make_unique<player>();
  clip shown;
  if (words.empty()) {
    shown = make_landmarks(frames, actor->solver().shapes());
    actor->prepare(shown.count());
    play(shown.count(), [&](std::size_t i) { actor->follow(&shown.points[i * k_face_points], true); });
  } else {
    const image first = load_image(words[2]);
    face_tracker tracker(words[0], words[1], first.width, first.height);
    if (!tracker.locate(first) || !tracker.measure(first)) fail(words[2] + " shows no face");
    for (int i = 0; i < 3; ++i) tracker.measure(first);  // until the region is that of later frames
    actor->calibrate(tracker.points(), tracker.has_irises());
    if (words.size() == 3) {
      shown = make_clip(frames, first, tracker.points(), actor->solver());
    } else {
      for (std::size_t i = 2; i < words.size(); ++i) {
        shown.images.push_back(load_image(words[i]));
        if (shown.images.back().width != first.width || shown.images.back().height != first.height)
          fail(words[i] + " should have the size of " + words[2]);
      }
    }
    tracker.forget();
    actor->set_gain(1.4F);
    actor->prepare(shown.count());
    play(shown.count(), [&](std::size_t i) { actor->follow(shown.images[i], tracker); });
  }
  actor->report(shown);
  show(shown, *actor, given.value("-o", "avatar.png"), given.value("--gif", ""));
  if (const std::string path = given.value("--weights", ""); !path.empty()) actor->save_weights(path);
}
