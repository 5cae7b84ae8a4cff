// SPDX-License-Identifier: MIT
// A game loop whose network is replaced while it runs: when the file changes, a loader thread reads and verifies it,
// and between two frames it takes the old one's place. What does not fit is refused, and the old network goes on.
//   hot_reload MODEL.nsk [CHANGES]       ends after so many changes of the file (default 1) and a few more frames
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>
#include "support/network.hpp"

using namespace example;

/// A file's bytes and the memory for its session; what a loader thread hands over.
struct loaded {
  static inline std::atomic<int> alive{0};
  memory_block file, memory;
  nsk::model model;
  nsk::status status;
  std::vector<std::byte> expected;  ///< what every frame has to give; a game has no such thing

  explicit loaded(const std::string& path) : file(try_read_file(path)) {
    ++alive;
    nsk::open_options options;
    options.check_hash = true;
    status = nsk::open(file, model, options);
    if (!status) return;
    memory = memory_block(model.required_bytes());
    expected = expected_results(model);
  }
  ~loaded() { --alive; }
};

/// When the file was last written; a file that is missing for a moment was never written.
static std::filesystem::file_time_type time_of(const std::string& path) {
  std::error_code missing;
  return std::filesystem::last_write_time(path, missing);
}

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: hot_reload MODEL.nsk [CHANGES]");
  const std::string path = argv[1];
  const int changes = argc > 2 ? std::max(0, std::atoi(argv[2])) : 1;
  auto seen = time_of(path);
  auto current = std::make_unique<loaded>(path);
  must(current->status);
  nsk::session<> net(current->model, current->memory);
  must(net.status());
  std::vector<std::byte> snapshot(net.state_bytes());
  std::future<std::unique_ptr<loaded>> arriving;
  int frames = 0, wrong = 0, replaced = 0, refused = 0;

  for (int more = 5; more > 0; ++frames, more -= replaced + refused >= changes) {
    fill_input(net);
    net.run();
    wrong += results(net) != current->expected;
    if (frames == 0) std::printf("frame 0: running\n");

    if (const auto now = time_of(path); !arriving.valid() && now != seen) {
      seen = now;
      arriving = std::async(std::launch::async, [path] { return std::make_unique<loaded>(path); });
    }
    if (arriving.valid() && arriving.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      std::unique_ptr<loaded> fresh = arriving.get();
      nsk::status s = fresh->status;
      if (s) s = nsk::rebind(net, fresh->model, fresh->memory, snapshot);
      if (s) {
        current = std::move(fresh);
        ++replaced;
        std::printf("frame %d: replaced\n", frames);
      } else {
        ++refused;
        std::printf("frame %d: refused, %s: %s\n", frames, s.name(), s.message());
      }
    }
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(4));  // the rest of the frame
  }
  std::printf("%d frames, %d wrong, %d replaced, %d refused, %d in memory\n", frames, wrong, replaced, refused,
              loaded::alive.load());
  return wrong == 0 && loaded::alive == 1 ? 0 : 2;
}
