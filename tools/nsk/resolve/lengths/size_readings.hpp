// SPDX-License-Identifier: MIT
#pragma once
/// What a number that an exporter wrote becomes where it was made of a length that has changed: W - 1, 2 / W, log N.
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "resolve/lengths/graph_pair.hpp"
#include "resolve/lengths/size_numbers.hpp"

namespace nsk::tool {

/// One way to make a number of a length.
struct size_reading {
  double was, now;   ///< in the source, and for the lengths of --input
  int rank;          ///< 0: of one length; 1: of a product of two; 2: the rest, where nothing else explains a number
  bool direct;       ///< a length, its root, or one divided by these
  std::string text;  ///< "(16 - 1) / 2"
};

/// Numbers that are a base and whole multiples of a unit: positions in pixels / W, steps of 2 / (W - 1) from -1 on.
struct multiples {
  double base = 0, unit = 0;          ///< in the source
  std::vector<size_reading> units{};  ///< of the unit
};

/// All numbers that are made of the lengths in which two graphs differ.
class size_readings {
 public:
  /// Compares the axes of all values; `sums` are counts of summed elements, in the source and now.
  size_readings(const graph_pair& graphs, const std::set<std::pair<double, double>>& sums);

  /// The readings of a number, of the lowest ranks that have any, each new number once; the sign is the number's own.
  std::vector<size_reading> of(double number, const number_kind& kind) const;
  /// What some numbers, of which all differ, are multiples of; no units where there is none, or a plain one.
  multiples multiples_in(const std::vector<double>& numbers, const number_kind& kind,
                         const std::function<bool(double)>& is_plain) const;
  /// Whether the number may have been made of a count of `n` elements.
  static bool is_made_of(double number, double n, double rounding);

 private:
  using pair = std::pair<double, double>;  ///< a length in the source, and what it is
  struct quantity {
    pair lengths;
    std::string text;
  };
  void learn(const shape_t& was, const shape_t& now, bool is_input);
  void find_parts(const std::set<double>& strides);
  void add(const size_reading& r);
  void add_forms(const quantity& n, int rank, const std::set<double>& parts);
  void add_ratios();

  std::set<pair> m_axes;                       ///< that changed
  std::set<double> m_others;                   ///< lengths of axes that did not
  std::set<std::pair<pair, pair>> m_products;  ///< of two axes of a value, of which the first one changed
  std::set<double> m_parts;                    ///< 2, 3, 4 and the strides of the model
  std::vector<size_reading> m_all;             ///< by the number in the source
};

}
