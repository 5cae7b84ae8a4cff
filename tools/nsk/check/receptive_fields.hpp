// SPDX-License-Identifier: MIT
#pragma once
/// Errors of convolutions beside what their own windows hold: a share of a tensor's largest magnitude hides what a few
/// bright pixels do to dark ones.
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// The two-dimensional convolutions of a graph whose weights are constants, and what follows them: batch normalisation,
/// sums with other values, Relu, LeakyRelu and Clip. Values are to be shown in the order in which they are computed.
class receptive_fields {
 public:
  explicit receptive_fields(const graph& g);
  bool empty() const { return m_results.empty(); }

  /// Remembers what the error of later values is held against.
  void see(const std::string& name, const array& a);
  /// Returns the largest error among the elements of `name`, as a share of the largest product of an input and a weight
  /// in the element's own window, or of the bias or an addend where that is larger, a millionth of the tensor's largest
  /// such number at least. Nothing where no convolution makes `name`, or its input was not seen.
  std::optional<double> error_of(const std::string& name, const array& got, const array& wanted) const;

 private:
  /// How a value is made of a convolution.
  struct result {
    const node* convolution;
    std::vector<double> gain, offset;  ///< of each output channel: largest weight, and what is added
    std::vector<std::string> addends;  ///< values of the same shape
  };
  const value& at(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)]; }
  const array* constant(const node& n, std::size_t i) const;
  void add(const node& convolution);
  bool follow(const node& n, value_id v, result& r) const;
  std::vector<double> windows(const node& n, const shape_t& to) const;

  const graph& m_graph;
  std::map<std::string, result> m_results;
  std::map<std::string, array> m_brightest;  ///< of inputs: the largest magnitude of each pixel, [N, groups, H, W]
  std::map<std::string, int> m_groups;       ///< of inputs of convolutions
  std::map<std::string, array> m_addends;
};

}
