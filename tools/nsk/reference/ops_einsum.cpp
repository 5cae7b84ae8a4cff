// SPDX-License-Identifier: MIT
/// Einsum: for every combination of labels the product of the inputs' elements, summed into the output's.
#include <set>

#include "graph/einsum.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

std::vector<shape_t> shapes_of(const call& c) {
  std::vector<shape_t> shapes;
  for (std::size_t i = 0; i < c.input_count(); ++i) shapes.push_back(c.shape(i));
  return shapes;
}

einsum_equation equation_of(const call& c) { return einsum_equation_of(c.op(), shapes_of(c), c.who()); }

shape_t lengths_of(const einsum_equation& e, const std::vector<shape_t>& shapes, const axis_labels& labels) {
  shape_t lengths;
  for (int label : labels) lengths.push_back(length_of(e, shapes, label));
  return lengths;
}

/// The labels that are summed over.
axis_labels summed(const einsum_equation& e) {
  std::set<int> labels;
  for (const axis_labels& term : e.inputs) labels.insert(term.begin(), term.end());
  for (int label : e.output) labels.erase(label);
  return {labels.begin(), labels.end()};
}

/// Elements that input `i` moves by for each of `labels`; those that occur twice move along both axes.
shape_t strides_along(const call& c, const einsum_equation& e, std::size_t i, const axis_labels& labels) {
  const shape_t own = strides_of(c.shape(i));
  shape_t strides;
  for (int label : labels) {
    std::int64_t stride = 0;
    for (std::size_t d = 0; d < own.size(); ++d)
      if (e.inputs[i][d] == label && c.shape(i)[d] != 1) stride += own[d];
    strides.push_back(stride);
  }
  return strides;
}

void infer_einsum(call& c) {
  c.require_inputs(1, 64);
  for (std::size_t i = 0; i < c.input_count(); ++i)
    c.require(c.type(i) == c.type(0) && c.type(i) != element::boolean, "its inputs must be numbers of one type");
  const einsum_equation e = equation_of(c);
  c.declare(0, c.type(0), lengths_of(e, shapes_of(c), e.output));
}

double work_of_einsum(call& c) {
  const einsum_equation e = equation_of(c);
  double work = static_cast<double>(c.input_count());
  for (const axis_labels& labels : {e.output, summed(e)})
    for (std::int64_t length : lengths_of(e, shapes_of(c), labels)) work *= static_cast<double>(length);
  return work;
}

void evaluate_einsum(call& c) {
  const einsum_equation e = equation_of(c);
  axis_labels labels = e.output;
  const axis_labels rest = summed(e);
  labels.insert(labels.end(), rest.begin(), rest.end());
  const shape_t lengths = lengths_of(e, shapes_of(c), labels);
  shape_t to = strides_of(c.out_shape(0));
  to.resize(labels.size(), 0);
  std::vector<shape_t> from;
  for (std::size_t i = 0; i < c.input_count(); ++i) from.push_back(strides_along(c, e, i, labels));
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_offset(lengths, to, [&](std::int64_t at, std::int64_t offset) {
      T product = 1;
      for (std::size_t i = 0; i < from.size(); ++i) {
        std::int64_t index = at, element = 0;
        for (std::size_t d = labels.size(); d-- > 0;) {
          element += index % lengths[d] * from[i][d];
          index /= lengths[d];
        }
        product = times(product, c.data(i).as<T>()[element]);
      }
      c.out(0).as<T>()[offset] = plus(c.out(0).as<T>()[offset], product);
    });
  });
}

}

void add_einsum(table& t) { t["Einsum"] = {infer_einsum, evaluate_einsum, 12, work_of_einsum}; }

}
