// SPDX-License-Identifier: MIT
#include "resolve/lengths/length_reader.hpp"

#include <algorithm>

namespace nsk::tool {

/// The readings that --constant leaves.
std::vector<reading> length_reader::chosen_of(const node& n, std::vector<reading> readings) {
  const constant_choice* choice = m_view.choice_of(n);
  if (choice == nullptr || readings.empty()) return readings;
  std::vector<reading> left;
  std::size_t maximum = 0;
  for (const reading& r : readings) maximum = std::max(maximum, m_view.changes_of(r, n));
  for (const reading& r : readings) {
    const bool fits = choice->what == constant_choice::kind::numbers ? numbers_in(r) == choice->numbers
                                                                     : m_view.changes_of(r, n) == maximum;
    if (fits) left.push_back(r);
  }
  if (left.empty()) {
    std::string known;
    for (const reading& r : readings) known += (known.empty() ? "" : " or ") + option_of(r);
    misuse("--constant " + n.name + ": its numbers may become " + known + ".");
  }
  m_view.trial().settled.insert(n.name);
  return left;
}

void length_reader::rewrite(node& n) {
  length_trial& t = m_view.trial();
  const auto named = std::find_if(n.outputs.begin(), n.outputs.end(), [](value_id v) { return v != no_value; });
  if (named == n.outputs.end()) return;
  const std::string key = m_view.at(*named).name;
  if (const auto found = t.chosen.find(key); t.replays && found != t.chosen.end())
    apply(found->second, n, m_view.placer());
  if (t.rows) {
    repeat_constants(m_view, n);
    if (const std::vector<reading> readings = readings_of(m_view, n); !readings.empty())
      apply(readings[0], n, m_view.placer());
  }
  if (t.replays) return;
  const constant_choice* choice = m_view.choice_of(n);
  if (choice != nullptr && choice->what == constant_choice::kind::keep)
    return static_cast<void>(t.settled.insert(n.name));
  t.has_weights = (n.op == "Gemm" || n.op == "MatMul" || n.op == "Conv" || n.op == "ConvTranspose") &&
                  (m_view.is_own_constant(n, 0) || m_view.is_own_constant(n, 1));
  const std::vector<reading> readings = chosen_of(n, readings_of(m_view, n));
  if (readings.empty()) return;
  std::size_t pick = 0;
  if (readings.size() > 1) {
    const std::size_t place = t.reached++;
    if (place == t.points.size())
      t.points.push_back({key, n.name, describe(m_view.the_graph(), n), 0, readings.size()});
    pick = t.points[place].pick;
  }
  t.chosen[key] = readings[pick];
  const std::size_t changes = n.op == "Resize" ? m_view.changes_of(readings[pick], n) : 0;
  if (changes > 0) t.resized[key] = changes;
  apply(readings[pick], n, m_view.placer());
}

void length_reader::look_at(const node& n) {
  length_trial& t = m_view.trial();
  if (t.rows) follow_rows(m_view, n);
  if (t.replays) return;
  for (const value_id v : n.outputs)
    if (const value* old = m_view.before(v)) t.lengths.add(old->shape, m_view.at(v).shape);
  check_ambiguous_results(m_view, n);
  note_merges(m_view, n);
  const auto changed = [&](value_id v) { return m_view.changed(v); };
  if (std::any_of(n.inputs.begin(), n.inputs.end(), changed)) check_ambiguous_node(m_view, n);
}

void length_reader::finish() {
  length_trial& t = m_view.trial();
  if (t.replays || !t.lengths.hides_one()) return;
  t.doubts.push_back(
      {"--input: some axes change and have as many elements together as in the source, which does not show where they "
       "are merged"});
}

}
