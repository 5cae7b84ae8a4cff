// SPDX-License-Identifier: MIT
#pragma once
/// What `nsk inspect` shows of a model.
#include <netsuke/model/model.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profile/profile.hpp"
#include "io/text.hpp"

namespace nsk::tool {

/// Multiply-accumulates per microsecond on which tile times rest where no device profile is given: a console core
/// reaches them. A Winograd convolution counts for as many more as plan_tiles takes it to (algorithm_gain).
inline constexpr double usual_macs_per_us = 30'000;
/// Metadata key under which convert records the limit that it cut tiles for, in microseconds, and its default.
inline constexpr const char* tile_limit_key = "max_tile_us";
inline constexpr double usual_tile_us = 100;

/// Returns everything that a person asks of a plan: ports, memory, steps with operator, algorithm, shapes, tiles, MACs
/// and bytes, the arena map, the longest tile, and the copies that remain with the converter's reason for each. Sizes
/// are bytes, MACs are counts, times microseconds. With a profile every step has the time that it is expected to take
/// on that device, and the longest tile is the one that takes longest there; without, the one that takes longest at
/// usual_macs_per_us.
nlohmann::json inspect(const model& m, std::size_t file_bytes, const device_profile* profile = nullptr);

/// inspect() as text for a terminal or a file.
std::string inspect_text(const nlohmann::json& report, const text_style& style = {});

/// One line about a variant's longest tile; two where it is longer than the model was converted for, naming the step.
std::string longest_tile_text(const nlohmann::json& variant);

/// One line per state of a variant: what it is fed by.
std::string states_text(const nlohmann::json& variant);

/// Returns C++ source, a header that stands alone: the settings type that lists exactly the operators and functions
/// that the model needs. The type is called NAME_settings after `name` (a file's, or what the user wants), in letters,
/// digits and single underscores; types of different models must have different names in one program.
std::string settings_source(const model& m, const std::string& name);
/// The type's name.
std::string settings_name(const std::string& name);

/// Returns C++ aliases of what calls of kernels name for a variant: `functions`, a kernel set, and `reductions` and
/// `pools` where it has such steps.
std::string kernel_aliases(const variant_view& v);

}
