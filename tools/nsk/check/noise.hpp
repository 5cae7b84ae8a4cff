// SPDX-License-Identifier: MIT
#pragma once
/// Signal to noise in decibels: how far numbers are from those that were wanted, where they are not meant to be equal.
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <netsuke/model/model.hpp>
#include "engine/engine.hpp"
#include "graph/graph.hpp"

namespace nsk::tool {

/// Squares of what is wanted and of how far it is missed.
class noise_sums {
 public:
  /// Adds the elements of two arrays of equal length.
  void add(const array& wanted, const array& found);
  /// Returns 10 log10 of the squares of what is wanted over those of the differences, between -200 and 200 dB: 200
  /// where nothing differs, -200 where there is no signal, or where only one of two elements is finite.
  double decibels() const;

 private:
  double m_signal = 0, m_noise = 0;
  bool m_differs_in_kind = false;  ///< one is finite, or a number, and the other is not
};

struct port_noise {
  std::string name;
  double decibels;
};

/// Runs a variant on `file_inputs`, and its float source `g`, resolved for the variant's shapes, on `source_inputs`,
/// states among them. Returns the noise of each output and of what each state holds next, the worst first;
/// `dequantized` returns the numbers that an output of the file stands for. Refuses outputs that the source has not.
std::vector<port_noise> noise_of(const graph& g, const std::map<std::string, array>& source_inputs, const model& m,
                                 runner& r, const std::map<std::string, array>& file_inputs, int variant,
                                 const std::function<array(const std::string& name, const array& found)>& dequantized);

}
