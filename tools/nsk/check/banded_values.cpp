// SPDX-License-Identifier: MIT
#include "check/banded_values.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nsk::tool {
namespace {

bool is_image(const array& band) { return band.shape.size() == 4 && band.shape[0] == 1; }

/// Bands whose channels are outermost, as [1, channels, rows, columns].
array planes_of(const std::vector<array>& bands, const shape_t& shape) {
  array all(bands.front().type, shape);
  const std::size_t channels = static_cast<std::size_t>(shape[1]), plane = all.data.size() / channels;
  std::size_t at = 0;  // in a plane
  for (const array& band : bands) {
    const std::size_t bytes = band.data.size() / channels;
    for (std::size_t c = 0; c < channels; ++c)
      std::memcpy(all.data.data() + c * plane + at, band.data.data() + c * bytes, bytes);
    at += bytes;
  }
  return all;
}

}

bool banded_values::add(const std::string& name, array rows, const shape_t& shape) {
  bands& b = m_values[name];
  b.count += rows.count();
  b.rows.push_back(std::move(rows));
  return b.count == count_of(shape);
}

stored_value banded_values::whole(const std::string& name, const shape_t& shape) {
  const std::vector<array> rows = std::move(m_values.at(name).rows);
  stored_value v{array(rows.front().type, {0}), {}};
  for (const array& band : rows) v.got.data.insert(v.got.data.end(), band.data.begin(), band.data.end());
  v.got.shape = {count_of(shape)};
  if (const shape_t& last = rows.back().shape; is_image(rows.back()))
    v.got.shape = {1, count_of(shape) / (last[2] * last[3]), last[2], last[3]};
  if (shape.size() == 4 && !std::all_of(rows.begin(), rows.end(), is_image)) v.planes = planes_of(rows, shape);
  return v;
}

}
