// SPDX-License-Identifier: MIT
#include "profile/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <thread>

#include "engine/model_file.hpp"
#include "io/system/program.hpp"
#include "profile/references.hpp"

namespace nsk::tool {
namespace {
using clock = std::chrono::steady_clock;

/// Microseconds of one network's turn; small networks run many times in it, and find in caches what they left there.
constexpr double turn_us = 300;

/// Processor time of this program. Where others keep the machine busy, it passes more slowly than the clock on the
/// wall.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Size of a cache as the system tells it ("32K", "2M"), or `otherwise`.
double cache_bytes(int level, double otherwise) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    if (first_line_of(folder + "/level") != std::to_string(level) || first_line_of(folder + "/type") == "Instruction")
      continue;
    const std::string text = first_line_of(folder + "/size");
    const double number = std::atof(text.c_str());
    if (number > 0) return number * (text.back() == 'M' ? 1048576 : text.back() == 'K' ? 1024 : 1);
  }
  return otherwise;
}

std::vector<memory_level> levels_of_this_machine() {
  return {{"L1", cache_bytes(1, 32 << 10), 0, 0},
          {"L2", cache_bytes(2, 512 << 10), 0, 0},
          {"L3", cache_bytes(3, 8 << 20), 0, 0},
          {"DRAM", 0, 0, 0}};
}

/// A block that belongs to a level: half of a cache, several times the largest cache for DRAM.
std::size_t block_bytes(const std::vector<memory_level>& levels, std::size_t level) {
  constexpr double largest = 256 << 20;
  const double bytes = levels[level].bytes > 0 ? levels[level].bytes / 2 : 4 * levels[level - 1].bytes;
  return static_cast<std::size_t>(std::min(bytes, largest)) / 1024 * 1024;
}

/// One network of the profile, open.
struct subject {
  model_file file;
  std::unique_ptr<runner> run;
  std::vector<double> best;  ///< microseconds of each step

  subject(const engine& e, const reference_network& n)
      : file(open_model(n.file, n.name)), run(e.open(file.bytes.data(), file.bytes.size(), 1, 0)) {
    fill_with_noise(file.view, *run);
    best.assign(static_cast<std::size_t>(file.view.variant().step_count()), 0);
  }
  /// Runs once; a step's best time is kept.
  void measure() {
    std::vector<step_event> events;
    run->run(events);
    for (const step_event& s : events) {
      double& time = best[static_cast<std::size_t>(s.step)];
      const double us = s.end_us - s.begin_us;
      time = time > 0 ? std::min(time, us) : us;
    }
  }
};

/// Best microseconds of a whole run, each timed over a batch.
double best_run(runner& r, double seconds) {
  constexpr int batch = 8;
  double best = 1e30;
  const clock::time_point begin = clock::now();
  do {
    const clock::time_point start = clock::now();
    for (int i = 0; i < batch; ++i) r.run();
    best = std::min(best, seconds_since(start) * 1e6 / batch);
  } while (seconds_since(begin) < seconds);
  return best;
}

void measure_bandwidths(const engine& e, device_profile& p, double seconds) {
  p.levels = levels_of_this_machine();
  std::size_t largest = 0;
  for (std::size_t i = 0; i < p.levels.size(); ++i) largest = std::max(largest, block_bytes(p.levels, i));
  const aligned_bytes block(largest);
  std::memset(block.data(), 0, largest);
  constexpr int rounds = 3;
  const double us = seconds * 1e6 / (rounds * 2 * static_cast<double>(p.levels.size()));
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < p.levels.size(); ++i) {
      p.levels[i].read = std::max(p.levels[i].read, e.bandwidth(block.data(), block_bytes(p.levels, i), false, us));
      p.levels[i].copy = std::max(p.levels[i].copy, e.bandwidth(block.data(), block_bytes(p.levels, i), true, us));
    }
  }
}

void measure_overheads(const engine& e, device_profile& p, double seconds) {
  constexpr int steps = 8, tiles = 32;  // small enough for the first cache
  const reference_network whole = make_overhead_network(steps, 1), cut = make_overhead_network(steps, tiles);
  subject one(e, whole), many(e, cut);
  const double one_us = best_run(*one.run, seconds / 3), many_us = best_run(*many.run, seconds / 3);
  p.tile_us = std::max(0.0, many_us - one_us) / (steps * (tiles - 1));
  p.step_us = std::max(0.0, one_us / steps - p.tile_us);
  if (std::thread::hardware_concurrency() < 2) return;
  const auto shared = e.open(many.file.bytes.data(), many.file.bytes.size(), 2, 0);
  p.hand_out_us = std::max(0.0, best_run(*shared, seconds / 3) - many_us / 2) / steps;
}

/// Smallest share of a measured time that is taken for the kernel's own.
constexpr double min_net_share = 0.3;

void add_references(device_profile& p, const subject& s) {
  const variant_view v = s.file.view.variant();
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view step = v.step(i);
    if (std::string(step.name()) == preparation_name) continue;
    reference_step r;
    r.name = step.name();
    r.shape = describe_work(step);
    r.us = s.best[static_cast<std::size_t>(i)];
    const double net = std::max(r.us - p.step_us - p.tile_us * r.shape.tiles, min_net_share * r.us);
    r.rate = net > 0 ? r.shape.work() / net : 0;
    p.references.push_back(std::move(r));
  }
}

}

void fill_with_noise(const model& m, inference& r, int variant) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (int i = 0; i < m.input_count(variant); ++i) {
    const port_view port = m.input(i, variant);
    std::memset(r.input(i), 0, port.bytes());
    if (port.type() != dtype::float32) continue;
    float* const data = reinterpret_cast<float*>(r.input(i));
    for (std::int64_t k = 0; k < port.elements(); ++k) data[k] = uniform(generator);
  }
}

device_profile measure_device(const engine& e, double seconds,
                              const std::function<void(const std::string& what, double share)>& progress) {
  device_profile p;
  p.name = processor_name();
  p.isa = e.name;
  progress("measuring the FMA peak", 0);
  p.peak_gflops = e.fma_peak();
  progress("measuring bandwidths", 0.05);
  measure_bandwidths(e, p, seconds * 0.15);
  progress("measuring overheads", 0.2);
  measure_overheads(e, p, seconds * 0.1);
  std::vector<std::unique_ptr<subject>> subjects;
  for (const reference_network& n : make_reference_networks()) subjects.push_back(std::make_unique<subject>(e, n));
  constexpr double max_patience = 3;  // in wall time, for a machine that is busy with other work
  const clock::time_point kernels_begin = clock::now();
  const double processor_begin = processor_seconds();
  double passed = 0.3;
  do {
    for (const auto& s : subjects) {
      progress("measuring kernels", std::min(1.0, passed));
      const clock::time_point turn = clock::now();
      do {
        s->measure();
      } while (seconds_since(turn) * 1e6 < turn_us);
    }
    passed = 0.3 + 0.7 * std::max((processor_seconds() - processor_begin) / (0.7 * seconds),
                                  seconds_since(kernels_begin) / (max_patience * seconds));
  } while (passed < 1);
  p.peak_gflops = std::max(p.peak_gflops, e.fma_peak());
  for (const auto& s : subjects) add_references(p, *s);
  return p;
}

}
