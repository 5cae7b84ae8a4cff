// SPDX-License-Identifier: MIT
#include "passes/canonicalise/constants.hpp"
#include <algorithm>
#include "graph/cures.hpp"

namespace nsk::tool::canonical {
namespace {

/// Elements of constant input `i`, counted in the budget.
const array& constant_input(context& c, std::size_t i, const char* what) {
  const value& v = c.input(i);
  if (!v.constant) {
    const std::string options = options_that_set(c.source(), c.op().inputs[i]);
    c.refuse(std::string(what) + " ('" + v.name + "'): computed at run time, but it must be a constant of the model" +
             (options.empty() ? "" : ". It follows from small inputs alone: try" + options));
  }
  c.charge(static_cast<double>(v.constant->count()));
  return *v.constant;
}

template <class T>
T only_one(const context& c, const std::vector<T>& given, const char* what) {
  if (given.size() != 1) c.refuse(std::string(what) + " must be one number, not " + std::to_string(given.size()));
  return given[0];
}

}

std::vector<double> numbers(context& c, std::size_t i, const char* what) {
  const array& a = constant_input(c, i, what);
  std::vector<double> values(static_cast<std::size_t>(a.count()));
  if (a.type == element::f32)
    std::copy_n(a.as<float>(), values.size(), values.begin());
  else
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = a.number(static_cast<std::int64_t>(k));
  return values;
}

std::vector<std::int64_t> integers(context& c, std::size_t i, const char* what) {
  const array& a = constant_input(c, i, what);
  std::vector<std::int64_t> values(static_cast<std::size_t>(a.count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = a.integer(static_cast<std::int64_t>(k));
  return values;
}

double number(context& c, std::size_t i, const char* what) { return only_one(c, numbers(c, i, what), what); }

std::int64_t integer(context& c, std::size_t i, const char* what) { return only_one(c, integers(c, i, what), what); }

std::vector<double> weights(context& c, std::size_t i, const char* what) {
  constexpr double packed = 2;  // times as many floats, in the plan and in the file
  c.charge(packed * static_cast<double>(count_of(c.in_shape(i))));
  return numbers(c, i, what);
}

int constant(context& c, const std::string& suffix, shape_t shape, const std::vector<double>& values) {
  auto data = std::make_shared<array>(element::f32, shape);
  for (std::size_t i = 0; i < values.size(); ++i) data->set(static_cast<std::int64_t>(i), values[i]);
  return c.made().add({c.op().name + "#" + suffix, element::f32, std::move(shape), std::move(data)});
}

int constant_integers(context& c, const std::string& suffix, shape_t shape, element type,
                      const std::vector<std::int64_t>& values) {
  auto data = std::make_shared<array>(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) data->set_integer(static_cast<std::int64_t>(i), values[i]);
  return c.made().add({c.op().name + "#" + suffix, type, std::move(shape), std::move(data)});
}

int scalar(context& c, const std::string& suffix, double value) { return constant(c, suffix, {}, {value}); }

}
