// SPDX-License-Identifier: MIT
#pragma once
/// Comparisons of a file for chunks with what its source computes of the whole signal.
#include "cli/conversion_check.hpp"

namespace nsk::tool {

/// Compares the network for chunks with the source, in double precision, and the file's results with those of the file
/// for the whole signal; notes what it found. Of large networks, without --check, it takes a signal of some seconds'
/// work. Throws exit_code::check_failed where the network computes something else.
void check_chunks(const convert_options& o, const variant_source& v, const model_file& file, progress_line& progress,
                  conversion& result);

}
