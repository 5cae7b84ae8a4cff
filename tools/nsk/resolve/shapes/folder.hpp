// SPDX-License-Identifier: MIT
#pragma once
/// Shape inference and constant folding of one node after the other, within limits: a file of a kilobyte can ask for
/// terabytes and years, so what grows faster than the file is counted before it is made.
#include <cstdint>
#include "bounded/lengths.hpp"
#include "graph/graph.hpp"

namespace nsk::tool {

class folder {
 public:
  /// Works on `g`, whose file holds `held` elements of constants. They set the limits: all that is made from them may
  /// have 2^24 elements and 8 for each that is held, and take 2^30 multiply-adds and 4096 for each. A trusted file may
  /// cost what it likes.
  folder(graph& g, std::int64_t held, bool trusted = false);

  /// Results whose number is data: what is computed from their number gives shapes as it is at most.
  void read_lengths(const bounded::lengths* lengths) { m_lengths = lengths; }
  /// Whether all that `n` reads is known: constants, or nothing but shapes.
  bool folds(const node& n) const;
  /// Sets type and shape of the outputs of `n`, and where it folds their values. Returns whether it does. Refuses
  /// operators that the reference does not know or accept, and what is beyond the limits.
  bool run(const node& n);
  /// Counts `elements` of a constant that is made otherwise; `who` begins the message of a refusal.
  void make(std::int64_t elements, const std::string& who);

 private:
  bool pass_on(const node& n);

  graph& m_graph;
  const double m_max_elements, m_max_work;
  double m_elements = 0, m_work = 0;
  const bounded::lengths* m_lengths = nullptr;
};

}
