// SPDX-License-Identifier: MIT
#pragma once
/// Streaming: runs of operations computed a band of rows at a time, depth first, so that what is between them stays in
/// the second-level cache.
///
/// A run of convolutions whose tensors are larger than that cache writes each of them to memory farther away and reads
/// it back. Computed in bands, only a window of rows of each is there: the rows that a band adds, behind those of the
/// band before that windows still reach. Nothing is computed twice, and every row has the bits that it has otherwise:
/// bands begin where Winograd's cells do.
#include <cstdint>
#include <string>
#include <vector>
#include "program/program.hpp"

namespace nsk::tool {

/// Names of the values of a run: rows that band `k` computes of a value, or keeps of it.
std::string name_of_band(const std::string& value, std::size_t k);
std::string name_of_window(const std::string& value, std::size_t k);
/// Returns the value that a name of a band belongs to, empty for other names; whether a name is that of a window.
std::string whole_of_band(const std::string& name);
bool is_window(const std::string& name);

/// What streaming has to know of a machine.
struct stream_target {
  std::int64_t second_level = 0;   ///< bytes of a core's second-level cache; 0: nothing is streamed
  std::int64_t last_level = 0;     ///< bytes of the cache behind it
  double memory = 2.5;             ///< a byte from memory costs as much as so many of that cache
  std::int64_t begin_step = 8000;  ///< bytes that are read there in the time that beginning a step takes
};

/// Operations of a program that were put into bands.
struct streamed_run {
  std::string first, last;  ///< names of the operations at its ends
  int operations = 0, bands = 0;
  std::int64_t rows = 0;          ///< of the last result in a band
  std::int64_t whole_bytes = 0;   ///< of the tensors between the operations
  std::int64_t window_bytes = 0;  ///< of what is kept of them
};

/// Puts runs into bands where that saves more traffic beyond the second-level cache than it costs. Images of
/// several batch rows stay as they are.
std::vector<streamed_run> stream(program& p, const stream_target& t);

}
