// SPDX-License-Identifier: MIT
#pragma once
/// A converted model and its comparison with its source.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "check/compare.hpp"

namespace nsk::tool {

/// Largest error that a conversion may have, as a share of a tensor's largest magnitude.
inline constexpr double conversion_tolerance = 1e-4;

/// A converted model, verified as the engine would, and what is known about it.
struct conversion {
  std::vector<std::byte> bytes;  ///< as the engine opens them
  std::vector<std::byte> small;  ///< the small file that is written in their place; empty where none is
  nlohmann::json report;
  std::optional<comparison_report> comparison;
  std::string check_declined;  ///< why there is no comparison
  double check_seconds = 0;
  random_choice random;                        ///< the inputs of the comparison
  std::vector<length_choice> short_choices;    ///< compiled_file::short_choices
  std::vector<length_choice> unknown_choices;  ///< compiled_file::unknown_choices

  std::optional<compile_options> options;  ///< of a file whose weights are the source's own

  const std::vector<std::byte>& written() const { return small.empty() ? bytes : small; }
};

/// Returns the file with one run of every variant on random inputs in it (--embed-check). Refuses more than a file may
/// hold.
std::vector<std::byte> with_check_vectors(const model_file& file, const std::vector<variant_source>& variants);

/// Compares every variant with its source on random inputs, unless the options or the model's size forbid it. Refuses a
/// file whose steps do not fit each other at lengths for which nothing was lowered (compiled_file::short_choices), and
/// rows that other lengths add where they are not compared and no option said so.
void compare_with_source(const convert_options& o, const std::vector<variant_source>& variants, const model_file& file,
                         progress_line& progress, conversion& result);

/// What the comparison found, or why there was none, as text.
std::string check_text(const convert_options& o, const conversion& c);

}
