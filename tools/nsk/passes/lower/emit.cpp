// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <limits>
#include "errors.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {
namespace {

template <class T>
std::shared_ptr<std::vector<std::byte>> bytes_of(const std::vector<T>& values) {
  auto data = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(data->data(), values.data(), data->size());
  return data;
}

/// A length as the file holds it.
std::int32_t length_of(std::int64_t length, const std::string& name) {
  if (length > std::numeric_limits<std::int32_t>::max())
    refuse("'" + name + "' would have a dimension of " + std::to_string(length) +
           ", but those of the engine are below 2^31. Export the model for smaller inputs");
  return static_cast<std::int32_t>(length);
}

/// One dimension of several tensors at once.
struct joint_dimension {
  std::int64_t length = 1;
  std::vector<std::int64_t> stride;
  bool barrier = false;
};

bool mergeable(const joint_dimension& outer, const joint_dimension& inner) {
  if (outer.barrier || inner.barrier) return false;
  for (std::size_t v = 0; v < outer.stride.size(); ++v)
    if (outer.stride[v] != inner.stride[v] * inner.length) return false;
  return true;
}

/// The dimensions of views of one shape, in the physical order of the first, merged where all of them allow it.
std::vector<joint_dimension> joint_dimensions(const std::vector<view>& views, int barrier) {
  const view& out = views[0];
  std::vector<joint_dimension> dims;
  for (int axis : order_of(out)) {
    const auto a = static_cast<std::size_t>(axis);
    if (out.shape[a] == 1 && axis != barrier &&
        std::all_of(views.begin(), views.end(), [&](const view& v) { return v.shape[a] == 1; }))
      continue;
    joint_dimension d;
    d.length = out.shape[a];
    d.barrier = axis == barrier;
    for (const view& v : views) d.stride.push_back(v.shape[a] == 1 ? 0 : v.stride[a]);
    if (!dims.empty() && mergeable(dims.back(), d)) {
      d.length *= dims.back().length;
      dims.pop_back();
    }
    dims.push_back(std::move(d));
  }
  return dims;
}

/// The axis that has the fewest positions of those that have several.
std::size_t shortest_axis(const view& v) {
  std::size_t best = 0;
  for (std::size_t a = 0; a < v.rank(); ++a)
    if (v.shape[a] > 1 && (v.shape[best] < 2 || v.shape[a] < v.shape[best])) best = a;
  return best;
}
/// Position `i` of an axis.
view part_of(view v, std::size_t axis, std::int64_t i) {
  v.offset += i * v.stride[axis];
  v.shape[axis] = 1;
  return v;
}
void require_copies(std::int64_t count, const std::string& name) {
  if (count > 64)
    refuse(name + ": a copy between more than " + std::to_string(max_rank) +
           " dimensions that cannot be merged would take " + std::to_string(count) +
           " steps; split the operator in the exporter");
}

/// The border that a view of a storage with a border has too.
nsk::halo border_of(const std::map<int, storage_root>& roots, const view& v, int row_axis, int column_axis) {
  const auto found = roots.find(v.storage);
  if (found == roots.end() || column_axis < 0) return {};
  const storage_root& r = found->second;
  if ((row_axis < 0) != (r.row_axis < 0) || r.column_axis < 0) return {};
  const std::optional<touched_edges> edges = edges_of(r, v, row_axis, column_axis);
  if (!edges) return {};
  const std::int64_t pixel = r.whole.stride[static_cast<std::size_t>(r.column_axis)];
  std::int64_t within = v.offset - r.whole.offset;
  if (!edges->top || !edges->bottom) within %= r.whole.stride[static_cast<std::size_t>(r.row_axis)];
  if (within < 0 || within >= pixel) return {};
  nsk::halo border = r.border;
  if (!edges->top) border.top = 0;
  if (!edges->bottom) border.bottom = 0;
  return border;
}

}

packed_panels::packed_panels(const std::vector<float>& panels, std::shared_ptr<const std::vector<float>> made_of)
    : bytes(bytes_of(panels)), kernels(std::move(made_of)) {}

const packed_panels* packed_weights::find_like(std::size_t number, const operation& o) const {
  if (m_like == nullptr || number >= m_like->operations.size()) return nullptr;
  const auto found = m_of->m_packed.find(number);
  const bool serves = found != m_of->m_packed.end() && have_same_weights(o, m_like->operations[number]);
  return serves ? &found->second : nullptr;
}

int lowerer::constant_floats(const std::string& name, const std::vector<float>& values, packing arrangement) {
  return constant_floats(name, packed_panels(values), arrangement);
}

int lowerer::constant_floats(const std::string& name, const packed_panels& packed, packing arrangement) {
  plan_storage s;
  s.kind = storage_kind::constant;
  s.name = name;
  s.elements = static_cast<std::int64_t>(packed.size());
  s.data = packed.bytes;
  result.storages.push_back(std::move(s));
  plan_tensor t;
  t.name = name;
  t.shape = {static_cast<std::int32_t>(packed.size())};
  t.strides = {1};
  t.storage = static_cast<int>(result.storages.size()) - 1;
  t.arrangement = arrangement;
  result.tensors.push_back(std::move(t));
  return static_cast<int>(result.tensors.size()) - 1;
}

int lowerer::constant_ints(const std::string& name, const std::vector<std::int32_t>& values) {
  const int t = constant_floats(name, std::vector<float>(values.size()));
  plan_storage& s = result.storages.back();
  s.type = dtype::int32;
  s.data = bytes_of(values);
  result.tensor(t).type = dtype::int32;
  return t;
}

int lowerer::tensor(const view& v, const std::vector<int>& axes, const std::string& name, bool border) {
  if (axes.size() > static_cast<std::size_t>(max_rank))
    refuse("'" + name + "' has " + std::to_string(axes.size()) + " dimensions, but the engine has " +
           std::to_string(max_rank) + "; join some of them in the exporter");
  plan_tensor t;
  t.name = name;
  t.type = result.storages[static_cast<std::size_t>(v.storage)].type;
  t.storage = v.storage;
  t.offset = v.offset;
  const std::size_t rank = axes.size();
  if (border && rank >= 3) t.border = border_of(roots, v, axes[rank - 3], axes[rank - 2]);
  const bool bordered = t.border.top || t.border.left || t.border.bottom || t.border.right;
  t.shape.resize(rank);
  t.strides.resize(rank);
  std::int64_t step = 1;
  for (std::size_t i = rank; i-- > 0;) {
    const std::int64_t length = axes[i] < 0 ? 1 : v.shape[static_cast<std::size_t>(axes[i])];
    const bool keep = length != 1 || (bordered && axes[i] >= 0 && i + 1 != rank);
    t.shape[i] = length_of(length, name);
    t.strides[i] = keep ? v.stride[static_cast<std::size_t>(axes[i])] : step;
    step = t.strides[i] * length;
  }
  if (t.shape.empty()) {
    t.shape = {1};
    t.strides = {1};
  }
  result.tensors.push_back(std::move(t));
  return static_cast<int>(result.tensors.size()) - 1;
}

int lowerer::joint_tensors(const std::vector<view>& views, const std::vector<std::string>& names,
                           std::vector<int>& tensors, int barrier) {
  const view& out = views[0];
  tensors.clear();
  const storage_root& r = roots[out.storage];
  const bool image = out.rank() == r.whole.rank() && (out.rank() == 3 || out.rank() == 4);
  if (image) {
    const nsk::halo b = border_of(roots, out, r.row_axis, r.column_axis);
    if (b.top || b.left || b.bottom || b.right) {
      const std::vector<int> axes = out.rank() == 4 ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{0, -1, 2, 1};
      for (std::size_t i = 0; i < views.size(); ++i) tensors.push_back(tensor(views[i], axes, names[i], i == 0));
      return static_cast<int>(std::find(axes.begin(), axes.end(), barrier) - axes.begin());
    }
  }
  std::vector<joint_dimension> dims = joint_dimensions(views, barrier);
  if (dims.empty()) dims.push_back({1, std::vector<std::int64_t>(views.size(), 1), false});
  if (dims.size() > static_cast<std::size_t>(max_rank))
    refuse("'" + names[0] + "' needs " + std::to_string(dims.size()) +
           " dimensions after merging, but the engine has " + std::to_string(max_rank) +
           "; split the operator in the exporter");
  int position = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    plan_tensor t;
    t.name = names[i];
    t.type = result.storages[static_cast<std::size_t>(views[i].storage)].type;
    t.storage = views[i].storage;
    t.offset = views[i].offset;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      t.shape.push_back(length_of(dims[d].length, names[i]));
      t.strides.push_back(dims[d].stride[i]);
      if (dims[d].barrier) position = static_cast<int>(d);
    }
    result.tensors.push_back(std::move(t));
    tensors.push_back(static_cast<int>(result.tensors.size()) - 1);
  }
  return position;
}

void lowerer::copy_step(const view& from, const view& to, const std::string& name, const std::string& result_name,
                        const std::string& reason) {
  const std::size_t dimensions = joint_dimensions({to, from}, -1).size();
  if (dimensions > static_cast<std::size_t>(max_rank)) {
    const std::size_t axis = shortest_axis(to);
    require_copies(to.shape[axis], name);
    for (std::int64_t i = 0; i < to.shape[axis]; ++i)
      copy_step(part_of(from, axis, i), part_of(to, axis, i), name, result_name, reason);
    return;
  }
  std::vector<int> t;
  joint_tensors({to, from}, {result_name, name + "#from"}, t);
  plan_step s;
  s.p.make<op::copy>();
  s.name = name;
  s.inputs = {t[1]};
  s.outputs = {t[0]};
  s.layout_reason = reason;
  result.steps.push_back(std::move(s));
}

void lowerer::fill_step(const view& to, float value, const std::string& name, const std::string& result_name) {
  std::vector<int> t;
  joint_tensors({to}, {result_name}, t);
  plan_step s;
  s.p.make<op::fill>().value = value;
  s.name = name;
  s.outputs = {t[0]};
  result.steps.push_back(std::move(s));
}

}
