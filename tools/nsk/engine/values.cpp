// SPDX-License-Identifier: MIT
#include "engine/values.hpp"

#include <cstring>

#include "io/layout.hpp"

namespace nsk::tool {

void give_inputs(runner& r, const variant_view& v, const std::map<std::string, array>& inputs) {
  for (int i = 0; i < v.input_count(); ++i) {
    const array data = to_engine(v.input(i), inputs.at(v.input(i).name()), r.lengths());
    std::memcpy(r.input(i), data.data.data(), data.data.size());
  }
}

void give_inputs_and_states(runner& r, const variant_view& v, const std::map<std::string, array>& inputs) {
  give_inputs(r, v, inputs);
  for (int i = 0; i < v.state_count(); ++i) {
    const array& before = inputs.at(v.state(i).name());
    std::memcpy(r.state(i), before.data.data(), before.data.size());
  }
}

array output_of(inference& r, const variant_view& v, int i) {
  array own(element_of(v.output(i).type()), engine_shape_of(v.output(i), r.lengths()));
  std::memcpy(own.data.data(), r.output(i), own.data.size());
  return to_source(v.output(i), own, r.lengths());
}

array state_of(runner& r, const variant_view& v, int i) {
  const tensor_info t = v.state(i).tensor();
  array own(element_of(t.type()), shape_of(t));
  std::memcpy(own.data.data(), r.state(i), own.data.size());
  return own;
}

}
