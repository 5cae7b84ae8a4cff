// SPDX-License-Identifier: MIT
#pragma once
/// Quantised ONNX models as float32 ones (--dequantize). What the source stores as integers becomes the same numbers in
/// float32 that are not rounded, but saturate; operators on them become those on floats. Where numbers are stored and
/// widened again by the same scale, nothing is left but the saturation.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "resolve/shapes/folder.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

class dequantizer {
 public:
  /// `infer` is called with every node that takes the place of another.
  dequantizer(const graph& g, folder& folds, node_placer& placer, std::function<void(node)> infer)
      : m_graph(g), m_folds(folds), m_placer(placer), m_infer(std::move(infer)) {}

  /// Puts operators on floats in the place of `n`, where it is one on stored integers. Returns whether it was.
  bool replace(const node& n);

 private:
  struct stored_numbers {
    value_id from = no_value;  ///< the real numbers, where they are known
    value_id scale = no_value, zero = no_value;
    double low = 0, high = 0;
  };
  value& at(value_id v) { return m_placer.at(v); }
  /// Infers a node of our own, whose numbers are not stored.
  void infer_own(node n);
  void dequantize_product(const node& n);
  void follow_stored(const node& n);
  value_id stored(const node& n, value_id x, std::size_t scale, std::size_t zero, value_id result);
  value_id real(const node& n, std::size_t i, std::size_t scale, std::size_t zero, std::int64_t axis);
  value_id quantisation(const node& n, std::size_t i, const shape_t& shape, std::int64_t axis, double otherwise);
  value_id number(const node& n, const char* suffix, double v);
  value_id placed(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                  const std::map<std::string, attribute>& attributes = {});
  /// Makes `v` output `i` of the node.
  void give(const node& n, std::size_t i, value_id v);

  const graph& m_graph;
  folder& m_folds;
  node_placer& m_placer;
  std::function<void(node)> m_infer;
  std::map<value_id, stored_numbers> m_stored;
  bool m_own_arithmetic = false;  ///< nodes that stand in the place of one on stored integers
};

}
