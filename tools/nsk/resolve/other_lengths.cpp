// SPDX-License-Identifier: MIT
#include "resolve/other_lengths.hpp"

#include <algorithm>
#include <optional>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_looks = std::size_t{1} << 20;  // at nodes, in all resolutions of a graph

const char* const cure =
    ". Export the model for these lengths or with open ones, write the number yourself (`nsk json` shows the graph), "
    "or "
    "leave --input out";

std::string text_of(const reading& r) {
  std::string text;
  for (const edit& e : r) {
    text += (text.empty() ? "" : ", ") + (e.attribute.empty() ? std::string() : e.attribute + " ");
    if (e.scales.empty())
      text += to_string(e.numbers);
    else
      for (std::size_t i = 0; i < e.scales.size(); ++i)
        text += (i == 0 ? "[" : ",") + std::to_string(e.scales[i]) + (i + 1 == e.scales.size() ? "]" : "");
  }
  return text.empty() ? "unchanged" : text;
}

[[noreturn]] void refuse_both(const length_trial& a, const length_trial& b) {
  std::size_t place = 0;
  while (place + 1 < std::min(a.picks.size(), b.picks.size()) && a.picks[place] == b.picks[place]) ++place;
  std::string one = "unchanged", other = "unchanged";
  for (const auto& [key, r] : a.chosen) {
    const auto found = b.chosen.find(key);
    const std::string text = found == b.chosen.end() ? "unchanged" : text_of(found->second);
    if (text == text_of(r)) continue;
    one = text_of(r);
    other = text;
    break;
  }
  refuse(a.points.at(place) + ": with the lengths of --input its numbers may become " + one + " or " + other +
         ", and both fit" + cure);
}

/// One search through all readings.
class search {
 public:
  search(const graph& source, const graph& exported, const std::function<void(graph&, length_trial&)>& resolve)
      : m_source(source), m_exported(exported), m_resolve(resolve) {}

  /// Repeats the search until it finds no lengths that it did not know at its beginning: each may give a number that
  /// was looked at before another reading.
  void run() {
    for (std::size_t known = m_lengths.count() + 1; known != m_lengths.count();) {
      known = m_lengths.count();
      m_found.reset();
      m_first_error.clear();
      try_all();
      if (!m_found) m_lengths.add(m_first);
    }
    if (!m_found) refuse(m_first_error);
  }
  graph& found() { return *m_found; }
  length_trial& trial() { return m_trial; }

 private:
  void try_all() {
    std::vector<std::size_t> picks, counts;
    std::vector<std::string> points;
    const changed_lengths known = m_lengths;
    for (bool first = true, more = true; more; first = false) {
      length_trial t;
      t.exported = &m_exported;
      t.lengths = known;
      t.picks = picks;
      t.counts = counts;
      t.points = points;
      try_one(t, first);
      picks = t.picks;
      counts = t.counts;
      points = t.points;
      while (!picks.empty() && picks.back() + 1 == counts.back()) {
        picks.pop_back();
        counts.pop_back();
        points.pop_back();
      }
      more = !picks.empty();
      if (more) ++picks.back();
    }
  }

  void try_one(length_trial& t, bool first) {
    graph g = m_source;
    bool fits = true;
    m_looks += m_source.nodes.size();
    if (m_looks > max_looks)
      refuse(t.points.back() + ": its numbers may follow the lengths of --input in too many ways" + cure);
    try {
      m_resolve(g, t);
    } catch (const no_reading& e) {
      t.doubts.push_back(e.what());
    } catch (const error& e) {
      if (e.code != exit_code::refused) throw;
      if (first) m_first_error = e.what();
      fits = t.was_one && !t.has_weights;
    }
    if (first) m_first = t.lengths;
    if (fits) m_lengths.add(t.lengths);
    if (!fits) return;
    if (!t.doubts.empty())
      refuse(t.doubts[0] + ", so that it is not certain what it is for the lengths of --input" + cure);
    if (m_found) refuse_both(m_trial, t);
    m_found = std::move(g);
    m_trial = t;
  }

  const graph &m_source, &m_exported;
  const std::function<void(graph&, length_trial&)>& m_resolve;
  changed_lengths m_lengths, m_first;  ///< of what fits; of the first way, whether it fits or not
  std::optional<graph> m_found;
  length_trial m_trial;
  std::string m_first_error;
  std::size_t m_looks = 0;
};

}

asked_lengths compare_lengths(const graph& g, const input_options& options) {
  asked_lengths asked{options, options, false, false};
  std::int64_t rows = 0;
  for (const value_id id : g.inputs) {
    const value& v = g.values[static_cast<std::size_t>(id)];
    const auto given = options.shapes.find(v.name);
    if (given == options.shapes.end() || !v.known_rank || v.shape.size() != given->second.size()) continue;
    bool has_rows = false;
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
      const std::int64_t now = given->second[d];
      if (v.shape[d] < 0 || v.shape[d] == now) continue;
      asked.own.shapes[v.name][d] = v.shape[d];
      if (v.shape[d] != 1) {
        asked.lengths = true;
        continue;
      }
      if (has_rows || (rows != 0 && rows != now))
        refuse("--input " + v.name + "=" + to_string(given->second) + ": the source has " + to_string(v.shape) +
               ". One axis of length 1 may become rows, by the same number in all inputs. Export the model for these "
               "shapes");
      has_rows = asked.rows = true;
      rows = now;
      asked.others.shapes[v.name][d] = 1;
    }
  }
  return asked;
}

graph settle_lengths(const graph& source, const graph& exported, length_trial& trial,
                     const std::function<void(graph&, length_trial&)>& resolve) {
  search s(source, exported, resolve);
  s.run();
  trial = s.trial();
  return std::move(s.found());
}

}
