// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include "errors.hpp"
#include "ops/every_op.hpp"
#include "planner/planner.hpp"

namespace nsk::tool {
namespace {

/// The first dimension longer than 1, -1 when there is none: where rows are.
int batch_dimension(const plan_tensor& t) {
  const auto found = std::find_if(t.shape.begin(), t.shape.end(), [](std::int32_t length) { return length > 1; });
  return found == t.shape.end() ? -1 : static_cast<int>(found - t.shape.begin());
}

class batch_binder {
 public:
  batch_binder(plan& p, int rows) : m_plan(p), m_rows(rows), m_batched(p.storages.size(), false) {}

  void run(const std::set<std::string>& inputs) {
    m_plan.batch = m_rows;
    for (const plan_port& port : m_plan.inputs)
      if (inputs.count(port.name) != 0) m_batched[storage_of(port.tensor)] = true;
    for (const plan_state& s : m_plan.states)
      if (inputs.count(s.name) != 0) m_batched[storage_of(s.tensor)] = true;
    while (spread()) continue;
    for (const plan_state& s : m_plan.states)
      if (m_batched[storage_of(s.tensor)] || m_batched[storage_of(s.next)]) refuse_state(s.name);
    for (const plan_step& s : m_plan.steps)
      if (m_batched[storage_of(s.outputs[0])]) check(s);
    for (const auto* ports : {&m_plan.inputs, &m_plan.outputs})
      for (const plan_port& port : *ports)
        if (m_batched[storage_of(port.tensor)]) set_rows(port.tensor, "'" + port.name + "'");
  }

 private:
  std::size_t storage_of(int tensor) const { return static_cast<std::size_t>(m_plan.tensor(tensor).storage); }

  /// Marks what is computed from rows. Returns whether anything is new.
  bool spread() {
    bool any = false;
    for (const plan_step& s : m_plan.steps) {
      const std::size_t to = storage_of(s.outputs[0]);
      bool batched = s.kind() == op::random && m_plan.tensor(s.outputs[0]).shape[0] == m_rows;
      for (int t : s.inputs) batched = batched || m_batched[storage_of(t)];
      any = any || (batched && !m_batched[to]);
      m_batched[to] = m_batched[to] || batched;
    }
    return any;
  }

  [[noreturn]] void refuse_rows(const std::string& what, const std::string& why) const {
    refuse(
        "--batch-max " + std::to_string(m_rows) + ": " + what + " " + why +
        ", so that rows of a batch cannot be computed alone. Convert without --batch-max, for one row and a run for "
        "each, "
        "or with --input for a batch that is always whole; or change the model so that its first axis stays the batch");
  }

  [[noreturn]] void refuse_state(const std::string& name) const {
    refuse("--batch-max " + std::to_string(m_rows) + ": state '" + name +
           "' would have a part for each row, and a run of fewer rows would leave the others behind. Keep it an input "
           "and an output with --no-states and without a --state for it, or convert without --batch-max");
  }

  /// Rows of a tensor with a storage of rows: equal parts of the first dimension longer than 1, each inside its own
  /// part of the storage.
  void set_rows(int index, const std::string& what) {
    plan_tensor& t = m_plan.tensor(index);
    const std::int64_t elements = m_plan.storages[static_cast<std::size_t>(t.storage)].elements,
                       row = elements / m_rows;
    const int d = batch_dimension(t);
    const auto at = static_cast<std::size_t>(std::max(d, 0));
    if (d < 0 || t.shape[at] % m_rows != 0 || elements % m_rows != 0)
      refuse_rows(what, "has a value, '" + t.name + "', whose outermost dimension is not the batch");
    const int part = t.shape[at] / m_rows;
    std::int64_t low = t.offset, high = t.offset;
    for (std::size_t k = 0; k < t.shape.size(); ++k) {
      const std::int64_t reach = ((k == at ? part : t.shape[k]) - 1) * t.strides[k];
      low += std::min<std::int64_t>(reach, 0);
      high += std::max<std::int64_t>(reach, 0);
    }
    if (part * t.strides[at] != row || low < 0 || high >= row)
      refuse_rows(what, "has a value, '" + t.name + "', whose rows are not one behind the other");
    t.batch = part;
  }

  /// A tensor that is read beside rows but has none of its own: the same for every row.
  void set_shared(int index, const std::string& what) {
    plan_tensor& t = m_plan.tensor(index);
    const int d = batch_dimension(t);
    const auto at = static_cast<std::size_t>(std::max(d, 0));
    if (d < 0 || t.shape[at] % m_rows != 0) refuse_rows(what, "reads '" + t.name + "', which has no part for each row");
    const int part = t.shape[at] / m_rows;
    if (t.strides[at] != 0 && !repeats(t, at, part))
      refuse_rows(what, "reads '" + t.name + "', which differs from row to row");
    t.batch = part;
  }

  /// Whether a constant has the same elements in every row.
  bool repeats(const plan_tensor& t, std::size_t at, int part) const {
    const plan_storage& s = m_plan.storages[static_cast<std::size_t>(t.storage)];
    if (!s.data || t.arrangement != packing::plain) return false;
    const auto size = static_cast<std::size_t>(size_of(t.type));
    for (std::int64_t n = 0; n < t.count(); ++n) {
      std::int64_t place = t.offset, first = place, rest = n;
      for (std::size_t k = t.shape.size(); k-- > 0; rest /= t.shape[k]) {
        const std::int64_t index = rest % t.shape[k];
        place += index * t.strides[k];
        first += (k == at ? index % part : index) * t.strides[k];
      }
      if (std::memcmp(s.data->data() + static_cast<std::size_t>(place) * size,
                      s.data->data() + static_cast<std::size_t>(first) * size, size) != 0)
        return false;
    }
    return true;
  }

  /// Requires that each row of the step's outputs reads the same row of its inputs, and no other.
  void check(const plan_step& s) {
    const std::string what = "step '" + s.name + "'";
    set_rows(s.outputs[0], what);
    const plan_tensor& y = m_plan.tensor(s.outputs[0]);
    const int d = batch_dimension(y);
    const impl::row_rule rule = rows_of(s, d, static_cast<int>(y.shape.size()));
    if (!rule.apart) refuse_rows(what, "takes several rows together");
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      const std::uint32_t bit = 1u << i;
      const bool batched = m_batched[storage_of(s.inputs[i])], line = (rule.line & bit) != 0,
                 free = (rule.free & bit) != 0,
                 has_rows = line || free || (rule.same & bit) != 0 || static_cast<int>(i) == s.e.residual;
      if (free && m_plan.tensor(s.inputs[i]).arrangement == packing::panels) {  // packed from matrices of rows
        if (!batched) refuse_rows(what, "has a right matrix for every row that is not computed from the row");
        continue;
      }
      if (!has_rows) {
        if (batched) refuse_rows(what, "takes several rows together");
        continue;
      }
      batched ? set_rows(s.inputs[i], what) : set_shared(s.inputs[i], what);
      const plan_tensor& x = m_plan.tensor(s.inputs[i]);
      if (x.batch != y.batch || (!line && batch_dimension(x) != d)) refuse_rows(what, "takes several rows together");
    }
  }

  plan& m_plan;
  int m_rows;
  std::vector<bool> m_batched;  ///< by storage
};

}

void bind_batch(plan& p, int rows, const std::set<std::string>& inputs) { batch_binder(p, rows).run(inputs); }

}
