// SPDX-License-Identifier: MIT
// Steps whose results one side of a choice reads, and nothing else: they run where that side is chosen.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <netsuke/format/length.hpp>
#include <netsuke/ops/every_op.hpp>
#include "planner/planner.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t min_saved = std::int64_t{1} << 16;  // multiply-accumulates of a side: else both are computed
constexpr int condition_input = 0, first_side = 1;         // inputs of a choice; the second side follows

/// A choice by one boolean, and the steps of each side.
struct choice {
  int condition = 0;           ///< the tensor that decides, as a choice reads it
  int known_after = -1;        ///< the step that writes it; -1 for an input
  std::vector<int> selects;    ///< steps that choose by it
  std::vector<int> sides[2];   ///< steps, the last first
  std::int64_t saved[2] = {};  ///< what they compute
};

/// The axis that has no positions where a step stops: one of one position, or the outermost in memory.
int stopped_axis(const plan_tensor& y) {
  const int last = static_cast<int>(y.shape.size()) - 1;
  int outermost = 0;
  for (int d = 0; d <= last; ++d) {
    if (d < last && y.shape[static_cast<std::size_t>(d)] == 1) return d;
    const auto stride = [&](int axis) { return std::abs(y.strides[static_cast<std::size_t>(axis)]); };
    if (stride(d) > stride(outermost)) outermost = d;
  }
  return outermost;
}

bool is_last(const plan_tensor& y, int axis) { return axis == static_cast<int>(y.shape.size()) - 1; }

class branch_finder {
 public:
  explicit branch_finder(const plan& p) : m_plan(p), m_readers(p.storages.size()) {
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      for (const int t : p.steps[i].inputs) m_readers[storage_of(t)].push_back(static_cast<int>(i));
      m_writers[storage_of(p.steps[i].outputs[0])].push_back(static_cast<int>(i));
    }
    for (const plan_state& s : p.states) m_kept.insert(storage_of(s.next));
  }

  /// Choices with a side that is worth it, by the order of their conditions.
  std::vector<choice> find() {
    std::map<std::size_t, choice> by_condition;
    for (std::size_t i = 0; i < m_plan.steps.size(); ++i)
      if (is_choice(m_plan.steps[i])) {
        const int condition = m_plan.steps[i].inputs[condition_input];
        choice& c = by_condition[storage_of(condition)];
        c.condition = condition;
        c.selects.push_back(static_cast<int>(i));
      }
    std::vector<choice> found;
    for (auto& [storage, c] : by_condition) {
      for (const int writer : m_writers[storage]) c.known_after = std::max(c.known_after, writer);
      for (const int side : {0, 1}) find_side(c, side);
      if (std::max(c.saved[0], c.saved[1]) >= min_saved) found.push_back(std::move(c));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const choice& a, const choice& b) { return a.known_after < b.known_after; });
    return found;
  }

 private:
  std::size_t storage_of(int t) const {
    return static_cast<std::size_t>(m_plan.tensors[static_cast<std::size_t>(t)].storage);
  }

  /// Whether a step chooses between two tensors by one boolean that is no constant.
  bool is_choice(const plan_step& s) const {
    if (s.kind() != op::select) return false;
    const plan_storage& from = m_plan.storages[storage_of(s.inputs[condition_input])];
    return from.elements == 1 && from.kind != storage_kind::constant && from.kind != storage_kind::state;
  }

  /// Steps of which nothing but one side of the choices has a use.
  void find_side(choice& c, int side) {
    std::set<int> inside;
    const auto uses = [&](int reader, std::size_t storage) {
      if (inside.count(reader) != 0) return true;
      if (std::find(c.selects.begin(), c.selects.end(), reader) == c.selects.end()) return false;
      const plan_step& s = m_plan.steps[static_cast<std::size_t>(reader)];
      for (std::size_t i = 0; i < s.inputs.size(); ++i)
        if (static_cast<int>(i) != first_side + side && storage_of(s.inputs[i]) == storage) return false;
      return true;
    };
    for (int i = c.selects.back() - 1; i > c.known_after; --i) {
      const plan_step& s = m_plan.steps[static_cast<std::size_t>(i)];
      const std::size_t storage = storage_of(s.outputs[0]);
      const std::vector<int>& readers = m_readers[storage];
      const plan_storage& to = m_plan.storages[storage];
      if (to.kind != storage_kind::arena || to.lasts || m_kept.count(storage) != 0 || readers.empty()) continue;
      if (!std::all_of(readers.begin(), readers.end(), [&](int r) { return uses(r, storage); })) continue;
      if (!may_stop(s, readers)) continue;  // and so nothing that it reads
      inside.insert(i);
      c.sides[side].push_back(i);
      c.saved[side] += s.macs;
    }
  }

  /// Whether the engine takes a length in the step's output (model/impl/verify_lengths.hpp): kernels with scratch want
  /// whole lines.
  bool may_stop(const plan_step& s, const std::vector<int>& readers) const {
    const plan_tensor& y = m_plan.tensor(s.outputs[0]);
    if (s.kind() == op::recurrent || !y.terms.empty() || y.arrangement != packing::plain) return false;
    const bool whole_lines = !is_last(y, stopped_axis(y));
    return std::all_of(readers.begin(), readers.end(), [&](int r) {
      const plan_step& reader = m_plan.steps[static_cast<std::size_t>(r)];
      return reader.kind() != op::recurrent && (whole_lines || (s.scratch_bytes == 0 && reader.scratch_bytes == 0));
    });
  }

  const plan& m_plan;
  std::vector<std::vector<int>> m_readers;  ///< of each storage
  std::map<std::size_t, std::vector<int>> m_writers;
  std::set<std::size_t> m_kept;  ///< of new states
};

/// Lets steps follow lengths that are 1 where they run and 0 elsewhere.
class branch_writer {
 public:
  explicit branch_writer(plan& p) : m_plan(p) {}

  /// Steps that write the numbers of a choice stand behind `known_after`.
  std::vector<plan_step> write(const choice& c) {
    std::vector<plan_step> counting;
    for (const int select : c.selects) read_whole(select);
    const int taken = add_number(c.condition, "taken");
    counting.push_back(step_of<op::cast>({whole_of(c.condition)}, taken));
    if (c.saved[0] >= min_saved) follow(c.sides[0], add_length(taken));
    if (c.saved[1] < min_saved) return counting;
    const int left = add_number(c.condition, "left");
    counting.push_back(step_of<op::arithmetic>({add_one(), taken}, left));
    counting.back().p.as<op::arithmetic>().kind = arithmetic_kind::sub;
    follow(c.sides[1], add_length(left));
    return counting;
  }

 private:
  template <op O>
  plan_step step_of(std::vector<int> inputs, int output) {
    plan_step s;
    s.p.make<O>();
    s.name = m_plan.tensor(output).name;
    s.inputs = std::move(inputs);
    s.outputs = {output};
    return s;
  }

  int add(plan_storage storage, plan_tensor tensor) {
    tensor.storage = static_cast<int>(m_plan.storages.size());
    m_plan.storages.push_back(std::move(storage));
    m_plan.tensors.push_back(std::move(tensor));
    return static_cast<int>(m_plan.tensors.size()) - 1;
  }

  /// A number that is kept until the end.
  int add_number(int condition, const std::string& suffix) {
    plan_tensor t;
    t.name = m_plan.tensor(condition).name + "/" + suffix;
    t.type = dtype::int64;
    t.shape = {1};
    t.strides = {1};
    plan_storage s;
    s.type = dtype::int64;
    s.name = t.name;
    s.elements = 1;
    s.lasts = true;
    return add(std::move(s), std::move(t));
  }

  int add_one() {
    const std::int64_t one = 1;
    auto bytes = std::make_shared<std::vector<std::byte>>(sizeof one);
    std::memcpy(bytes->data(), &one, sizeof one);
    plan_tensor t;
    t.name = "one";
    t.type = dtype::int64;
    t.shape = {1};
    t.strides = {1};
    plan_storage s;
    s.kind = storage_kind::constant;
    s.type = dtype::int64;
    s.name = t.name;
    s.elements = 1;
    s.data = std::move(bytes);
    return add(std::move(s), std::move(t));
  }

  int add_length(int number) {
    plan_length l;
    l.minimum = 0;
    l.bound = 1;
    l.counted = number;
    m_plan.lengths.push_back(l);
    return static_cast<int>(m_plan.lengths.size()) - 1;
  }

  /// The one element that decides.
  int whole_of(int condition) {
    plan_tensor t = m_plan.tensor(condition);
    t.shape = {1};
    t.strides = {1};
    m_plan.tensors.push_back(std::move(t));
    return static_cast<int>(m_plan.tensors.size()) - 1;
  }

  /// A choice reads sides that may not have been computed: as tensors of their own.
  void read_whole(int select) {
    for (const int side : {first_side, first_side + 1}) {
      const auto at = static_cast<std::size_t>(side);
      m_plan.tensors.push_back(m_plan.tensor(m_plan.steps[static_cast<std::size_t>(select)].inputs[at]));
      m_plan.steps[static_cast<std::size_t>(select)].inputs[at] = static_cast<int>(m_plan.tensors.size()) - 1;
    }
  }

  /// Steps on a side inside another one run where both are taken.
  void follow(const std::vector<int>& steps, int length) {
    for (const int i : steps) {
      plan_tensor& y = m_plan.tensor(m_plan.steps[static_cast<std::size_t>(i)].outputs[0]);
      if (y.terms.empty()) {
        plan_term t;
        t.number = stopped_axis(y);
        t.coefficient = y.shape[static_cast<std::size_t>(t.number)];
        y.terms.push_back(t);
      }
      for (int* const factor : {&y.terms[0].a, &y.terms[0].b, &y.terms[0].c}) {
        if (*factor != impl::no_length) continue;
        *factor = length;
        break;
      }
    }
  }

  plan& m_plan;
};

}

void stop_branches(plan& p) {
  if (p.batch != 0) return;
  std::map<int, std::vector<plan_step>> behind;  // a step, or -1
  std::vector<choice> found = branch_finder(p).find();
  std::reverse(found.begin(), found.end());  // choices inside others, and late rounds of loops, come first
  for (const choice& c : found) {
    if (p.lengths.size() + 2 > static_cast<std::size_t>(max_lengths)) break;
    for (plan_step& s : branch_writer(p).write(c)) behind[c.known_after].push_back(std::move(s));
  }
  if (behind.empty()) return;
  std::vector<plan_step> steps = std::move(behind[-1]);
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    steps.push_back(std::move(p.steps[i]));
    for (plan_step& s : behind[static_cast<int>(i)]) steps.push_back(std::move(s));
  }
  p.steps = std::move(steps);
}

}
