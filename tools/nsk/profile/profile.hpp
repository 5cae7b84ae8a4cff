// SPDX-License-Identifier: MIT
#pragma once
/// What one machine does in a second, measured once by `nsk profile`, and the time that a model is expected to take on
/// it.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "profile/step_work.hpp"

namespace nsk::tool {

/// Bandwidth of one core on blocks that fit a level of the memory hierarchy. GB/s; a copy counts what it reads and what
/// it writes.
struct memory_level {
  std::string name;  ///< "L1", "L2", "L3", "DRAM"
  double bytes = 0;  ///< size of the level; 0 for DRAM, which holds everything
  double read = 0, copy = 0;
};

/// One step of a reference network and how fast it ran.
struct reference_step {
  std::string name;
  step_work shape;
  double us = 0;    ///< of the whole step
  double rate = 0;  ///< shape.work() per microsecond, without the overhead of step and tiles
};

struct device_profile {
  std::string name, isa;
  double peak_gflops = 0;  ///< fused multiply-adds of one core, two operations each
  std::vector<memory_level> levels;
  double step_us = 0;      ///< to begin a step
  double tile_us = 0;      ///< to begin a tile
  double hand_out_us = 0;  ///< to hand a step to two lanes and wait for them; 0 where there is one core
  std::vector<reference_step> references;
};

/// Profile <-> JSON; docs/guide/performance.md documents the fields. profile_from refuses what is no profile, naming
/// `path` and the cure.
nlohmann::json profile_json(const device_profile& p);
device_profile profile_from(const std::string& text, const std::string& path);
/// profile_from() of a file.
device_profile open_profile(const std::string& path);

/// Expected microseconds on one lane.
struct step_estimate {
  double compute = 0;   ///< work at the rate of the references beside it
  double memory = 0;    ///< bytes at the bandwidth of the level that holds them
  double overhead = 0;  ///< beginning the step and its tiles
  double total() const { return (compute > memory ? compute : memory) + overhead; }
  double largest_tile = 0;  ///< of the step's largest tile
};

/// The middle rate of the profile's layers of a kind, 0 where it has none.
double rate_of_kind(const device_profile& p, const std::string& kind);

/// Returns how many multiply-accumulates a microsecond a tile of a matrix product reaches: the middle of the pointwise
/// references.
double macs_per_us(const device_profile& p);

/// Returns the roofline of one step. `footprint` is what a whole run touches (weights and arena, in bytes): weights
/// come from the level that holds all of it, activations from the level that holds the step's own.
step_estimate estimate(const device_profile& p, const step_work& w, double footprint);

/// Returns the estimates of every step of a variant, in order.
std::vector<step_estimate> estimate(const device_profile& p, const model& m, const variant_view& v);

}
