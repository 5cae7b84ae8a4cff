// SPDX-License-Identifier: MIT
#include "check/used_rows.hpp"

#include <algorithm>
#include <cstring>

#include "bounded/lengths.hpp"
#include "errors.hpp"
#include "reference/evaluator.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {

array used_part(const array& got, const shape_t& shape) {
  bool fits = got.shape.size() == shape.size() && got.shape != shape;
  for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = shape[d] <= got.shape[d];
  if (!fits) return got;
  array used(got.type, shape);
  const std::size_t bytes = size_of(got.type);
  std::size_t to = 0;
  reference::for_each_offset(shape, reference::strides_of(got.shape), [&](std::int64_t, std::int64_t from) {
    std::memcpy(used.data.data() + to, got.data.data() + static_cast<std::size_t>(from) * bytes, bytes);
    to += bytes;
  });
  return used;
}

std::map<std::string, array> evaluate_source(const graph& g, const std::map<std::string, array>& inputs,
                                             const std::function<void(const std::string&, array&)>& observe) {
  try {
    return evaluator(g).run(inputs, false, observe);
  } catch (const undefined_result&) {
    throw;
  } catch (const error& e) {
    if (e.code == exit_code::refused && bounded::has_bounded(g)) throw undefined_result(e.what());
    throw;
  }
}

const array* expected_of(const graph& g, const std::map<std::string, array>& computed, const std::string& name) {
  const auto found = computed.find(name);
  if (found != computed.end()) return &found->second;
  const value_id constant = g.find(name);
  return constant != no_value ? g.values[static_cast<std::size_t>(constant)].constant.get() : nullptr;
}

}
