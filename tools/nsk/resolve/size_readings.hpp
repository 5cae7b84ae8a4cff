// SPDX-License-Identifier: MIT
#pragma once
/// What a number that an exporter wrote becomes where it was made of a length that has changed: W - 1, 2 / W, log N.
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace nsk::tool {

/// One way to make a number of a length.
struct size_reading {
  double was, now;   ///< in the source, and for the lengths of --input
  int rank;          ///< 0: of one length; 1: of a product of two; 2: the rest, where nothing else explains a number
  bool direct;       ///< a length, its root, or one divided by these
  std::string text;  ///< "(16 - 1) / 2"
};

/// All numbers that are made of the lengths in which two graphs differ.
class size_readings {
 public:
  /// Compares the axes of values of the same name; `sums` are counts of summed elements, in the source and now.
  size_readings(const graph& exported, const graph& g, const std::set<std::pair<double, double>>& sums);

  /// The readings of a number, of the lowest ranks that have any, each new number once; the sign is the number's own.
  /// Integers are exact and stay integers; others may be rounded to float32 twice, to float16 where `is_half`.
  std::vector<size_reading> of(double number, bool is_integer, bool is_half) const;
  /// Whether the number may have been made of a count of `n` elements.
  static bool is_made_of(double number, double n);

 private:
  using pair = std::pair<double, double>;  ///< a length in the source, and what it is
  struct quantity {
    pair lengths;
    std::string text;
  };
  void learn(const shape_t& was, const shape_t& now, bool is_input);
  void find_parts(const std::set<double>& strides);
  void add(double was, double now, int rank, bool direct, const std::string& text);
  void add_parts(double was, double now, int rank, const std::string& text, const std::set<double>& parts);
  void add_length(const quantity& n, int rank, const std::set<double>& parts);
  void add_statistics(const quantity& n);
  void add_shares(const quantity& n);
  void add_ratios();

  std::set<pair> m_axes;                       ///< that changed
  std::set<double> m_others;                   ///< lengths of axes that did not
  std::set<std::pair<pair, pair>> m_products;  ///< of two axes of a value, of which the first one changed
  std::set<double> m_parts;                    ///< 2, 3, 4 and the strides of the model
  std::vector<size_reading> m_all;             ///< by the number in the source
};

}
