// SPDX-License-Identifier: MIT
#include "resolve/lengths/other_lengths.hpp"

#include <algorithm>
#include <iterator>

#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_fits = 64;
constexpr std::size_t max_looks = std::size_t{1} << 20;  // at nodes, in all resolutions of a graph

const char* const other_cures =
    "Export the model for these lengths or with open ones, write the number yourself (`nsk json` shows the graph), or "
    "leave --input out";

std::string option_for(const std::string& node, const std::string& what) {
  return "--constant " + as_word(node + "=" + what);
}

[[noreturn]] void refuse_doubt(const length_doubt& d) {
  refuse(d.text + ", so that it is not certain what it is for the lengths of --input. " +
         (d.node.empty() ? std::string()
                         : "Where its numbers are the same for all lengths, add " + option_for(d.node, "keep") + ". ") +
         other_cures);
}

const reading& reading_of(const length_trial& t, const std::string& result) {
  static const reading unchanged;
  const auto found = t.chosen.find(result);
  return found == t.chosen.end() ? unchanged : found->second;
}

[[noreturn]] void refuse_both(const length_trial& a, const length_trial& b) {
  std::size_t place = 0;
  while (place + 1 < std::min(a.points.size(), b.points.size()) && a.points[place].pick == b.points[place].pick)
    ++place;
  const length_point& point = a.points.at(place);
  const std::string one = option_of(reading_of(a, point.result)), other = option_of(reading_of(b, point.result));
  refuse(point.text + ": with the lengths of --input its numbers may become " + one + " or " + other +
         ", and both fit. Add " + option_for(point.node, one) + " or " + option_for(point.node, other) +
         ", whichever is the network's. " + other_cures);
}

/// One search through all readings.
class search {
 public:
  search(const graph& source, const graph& exported, const constant_choices& choices,
         const std::function<void(graph&, length_trial&)>& resolve)
      : m_source(source), m_exported(exported), m_choices(choices), m_resolve(resolve) {}

  /// Repeats the search until it finds no lengths that it did not know at its beginning: each may give a number that
  /// was looked at before another reading.
  void run() {
    for (std::size_t known = m_lengths.count() + 1; known != m_lengths.count();) {
      known = m_lengths.count();
      m_fits.clear();
      m_first_error.clear();
      try_all();
      if (m_fits.empty()) m_lengths.add(m_first);
    }
    if (m_fits.empty()) refuse(m_first_error);
    prefer_resized();
    if (m_fits.size() > 1) refuse_both(m_fits[0], m_fits[1]);
  }
  length_trial& trial() { return m_fits[0]; }
  const std::vector<std::string>& notes() const { return m_notes; }

 private:
  void try_all() {
    std::vector<length_point> points;
    const changed_lengths known = m_lengths;
    for (bool first = true, more = true; more; first = false) {
      length_trial t;
      t.exported = &m_exported;
      t.choices = m_choices;
      t.lengths = known;
      t.points = points;
      try_one(t, first);
      points = t.points;
      while (!points.empty() && points.back().pick + 1 == points.back().count) points.pop_back();
      more = !points.empty();
      if (more) ++points.back().pick;
    }
  }

  void try_one(length_trial& t, bool first) {
    graph g = m_source;
    bool fits = true;
    m_looks += m_source.nodes.size();
    if (m_looks > max_looks)
      refuse(t.points.back().text + ": its numbers may follow the lengths of --input in too many ways. " + other_cures);
    try {
      m_resolve(g, t);
    } catch (const no_reading& e) {
      t.doubts.push_back(e.doubt);
    } catch (const error& e) {
      if (e.code != exit_code::refused) throw;
      if (first) m_first_error = e.what();
      fits = t.was_one && !t.has_weights;
    }
    if (first) m_first = t.lengths;
    if (!fits) return;
    m_lengths.add(t.lengths);
    if (!t.doubts.empty()) refuse_doubt(t.doubts[0]);
    if (m_fits.size() == max_fits) refuse_both(m_fits[0], m_fits[1]);
    m_fits.push_back(t);
  }

  /// Where images are resized to lengths that follow in every way that fits, those of other Resizes follow, too: their
  /// author takes sizes of the input.
  void prefer_resized() {
    std::map<std::string, std::size_t> in_all = m_fits[0].resized;
    const auto count = [](const length_trial& t) {
      std::size_t n = 0;
      for (const auto& [result, numbers] : t.resized) n += numbers;
      return n;
    };
    std::size_t maximum = 0;
    for (const length_trial& t : m_fits) {
      maximum = std::max(maximum, count(t));
      for (auto r = in_all.begin(); r != in_all.end();) {
        const auto found = t.resized.find(r->first);
        r = found == t.resized.end() || found->second != r->second ? in_all.erase(r) : std::next(r);
      }
    }
    if (in_all.empty() || m_fits.size() == 1) return;
    const auto keeps_some = [&](const length_trial& t) { return count(t) != maximum; };
    m_fits.erase(std::remove_if(m_fits.begin(), m_fits.end(), keeps_some), m_fits.end());
    for (const length_point& point : m_fits[0].points)
      if (m_fits[0].resized.count(point.result) > in_all.count(point.result))
        m_notes.push_back("'" + point.node + "' resizes to " + option_of(reading_of(m_fits[0], point.result)) +
                          ", because other nodes resize to lengths that follow --input; " +
                          option_for(point.node, "keep") + " keeps its numbers");
  }

  const graph &m_source, &m_exported;
  const constant_choices& m_choices;
  const std::function<void(graph&, length_trial&)>& m_resolve;
  changed_lengths m_lengths, m_first;  ///< of what fits; of the first way, whether it fits or not
  std::vector<length_trial> m_fits;
  std::vector<std::string> m_notes;
  std::string m_first_error;
  std::size_t m_looks = 0;
};

}

asked_lengths compare_lengths(const graph& g, const input_options& options) {
  asked_lengths asked{options, options, false, false};
  std::int64_t rows = 0;
  for (const value_id id : g.inputs) {
    const value& v = g.at(id);
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
  search s(source, exported, trial.choices, resolve);
  s.run();
  trial = s.trial();
  graph settled = source;
  trial.replays = true;
  resolve(settled, trial);
  settled.facts.notes.insert(settled.facts.notes.end(), s.notes().begin(), s.notes().end());
  return settled;
}

void require_known_nodes(const graph& source, const graph& resolved, const constant_choices& choices) {
  std::vector<std::string> known;
  for (const graph* g : {&source, &resolved}) {
    for (const node& n : g->nodes) known.push_back(n.name);
    for (const value_id v : g->outputs) known.push_back(g->at(v).name);
  }
  for (const auto& [name, choice] : choices)
    if (std::find(known.begin(), known.end(), name) == known.end())
      misuse("--constant names '" + name + "', which is no node or output of the model." + did_you_mean(name, known));
}

void require_settled(const length_trial& trial, const settled_constants& constants, graph& g) {
  for (const auto& [name, choice] : trial.choices) {
    const bool known = constants.nodes.count(name) != 0;
    if (const auto found = trial.unsettled.find(name); !known && found != trial.unsettled.end())
      refuse_doubt({found->second, name});
    if (!known && trial.settled.count(name) == 0)
      g.facts.warnings.push_back("--constant " + name + ": the node has no number that follows a length");
  }
}

}
