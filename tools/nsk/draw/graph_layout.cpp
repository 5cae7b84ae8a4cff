// SPDX-License-Identifier: MIT
#include "draw/graph_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr double lane_width = 12;  ///< of a line that passes a layer without a box in it
constexpr double bridge_step = 7;  ///< between two lines that bridge the same columns
constexpr int order_sweeps = 12, place_sweeps = 80;

/// A box, or the place where a long edge passes a layer.
struct knot {
  int layer = 0, box = -1;
  double width = lane_width, x = 0;
  std::vector<int> above, below;
};

class layering {
 public:
  explicit layering(const layout_request& r) : m_request(r) {
    assign_layers();
    add_knots();
    for (int sweep = 0; sweep < order_sweeps; ++sweep) sort_by_neighbours(sweep % 2 == 0);
    place();
  }
  graph_layout fold() const;

 private:
  void assign_layers();
  void add_knots();
  void sort_by_neighbours(bool downwards);
  void place();
  void place_layer(const std::vector<int>& layer);
  int knot_of(int box, int layer, std::map<std::pair<int, int>, int>& passing);
  double width_of(int first_layer, int end_layer, double* minimum) const;
  int best_column_count() const;
  knot& at(int i) { return m_knots[static_cast<std::size_t>(i)]; }
  const knot& at(int i) const { return m_knots[static_cast<std::size_t>(i)]; }
  double layer_height() const { return m_request.box_height + m_request.layer_gap; }

  const layout_request& m_request;
  std::vector<int> m_layer_of;             ///< by box
  std::vector<knot> m_knots;               ///< the boxes first
  std::vector<std::vector<int>> m_layers;  ///< knots from left to right
};

/// Longest path from the top; boxes that nothing leads to move down to the first box that needs them.
void layering::assign_layers() {
  m_layer_of.assign(m_request.widths.size(), 0);
  std::vector<bool> reached(m_request.widths.size(), false);
  std::vector<std::pair<int, int>> edges = m_request.edges;
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [from, to] : edges) {
    int& layer = m_layer_of[static_cast<std::size_t>(to)];
    layer = std::max(layer, m_layer_of[static_cast<std::size_t>(from)] + 1);
    reached[static_cast<std::size_t>(to)] = true;
  }
  std::vector<int> nearest(m_request.widths.size(), -1);
  for (const auto& [from, to] : edges) {
    int& near = nearest[static_cast<std::size_t>(from)];
    const int layer = m_layer_of[static_cast<std::size_t>(to)];
    near = near < 0 ? layer : std::min(near, layer);
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (!reached[i] && nearest[i] > 0) m_layer_of[i] = nearest[i] - 1;
}

/// The knot through which lines from `box` pass `layer`; all edges of a box share one line until they part.
int layering::knot_of(int box, int layer, std::map<std::pair<int, int>, int>& passing) {
  int last = box;
  for (int passed = m_layer_of[static_cast<std::size_t>(box)] + 1; passed <= layer; ++passed) {
    const auto [found, is_new] = passing.emplace(std::make_pair(box, passed), static_cast<int>(m_knots.size()));
    if (is_new) {
      knot k;
      k.layer = passed;
      k.above = {last};
      m_knots.push_back(k);
      at(last).below.push_back(found->second);
    }
    last = found->second;
  }
  return last;
}

void layering::add_knots() {
  for (std::size_t i = 0; i < m_layer_of.size(); ++i) {
    knot k;
    k.layer = m_layer_of[i];
    k.box = static_cast<int>(i);
    k.width = m_request.widths[i];
    m_knots.push_back(k);
  }
  std::map<std::pair<int, int>, int> passing;
  std::size_t passed = m_request.edges.size();
  for (const auto& [from, to] : m_request.edges) {
    passed +=
        static_cast<std::size_t>(m_layer_of[static_cast<std::size_t>(to)] - m_layer_of[static_cast<std::size_t>(from)]);
    if (passed > max_lines) refuse_to_draw();
    const int last = knot_of(from, m_layer_of[static_cast<std::size_t>(to)] - 1, passing);
    at(last).below.push_back(to);
    at(to).above.push_back(last);
  }
  int count = 0;
  for (const knot& k : m_knots) count = std::max(count, k.layer + 1);
  m_layers.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < m_knots.size(); ++i)
    m_layers[static_cast<std::size_t>(m_knots[i].layer)].push_back(static_cast<int>(i));
}

/// Orders each layer by the middle of its neighbours in the layer before (or after), so that few lines cross.
void layering::sort_by_neighbours(bool downwards) {
  std::vector<double> rank(m_knots.size());
  const auto number = [&](const std::vector<int>& layer) {
    for (std::size_t i = 0; i < layer.size(); ++i)
      rank[static_cast<std::size_t>(layer[i])] = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
  };
  for (const auto& layer : m_layers) number(layer);
  for (std::size_t n = 0; n < m_layers.size(); ++n) {
    auto& layer = m_layers[downwards ? n : m_layers.size() - 1 - n];
    std::map<int, double> middle;
    for (const int i : layer) {
      const auto& neighbours = downwards ? at(i).above : at(i).below;
      double sum = 0;
      for (const int k : neighbours) sum += rank[static_cast<std::size_t>(k)];
      middle[i] = neighbours.empty() ? rank[static_cast<std::size_t>(i)] : sum / static_cast<double>(neighbours.size());
    }
    std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return middle[a] < middle[b]; });
    number(layer);
  }
}

/// Moves the knots of a layer to the middle of their neighbours as far as their order and widths allow: least squares
/// by merging neighbours that would overlap into blocks that move together.
void layering::place_layer(const std::vector<int>& layer) {
  struct run {
    double sum, weight;
    std::size_t end;
    double mean() const { return sum / weight; }
  };
  std::vector<double> shift;
  std::vector<run> runs;
  double offset = 0;
  for (std::size_t n = 0; n < layer.size(); ++n) {
    const knot& k = at(layer[n]);
    if (n > 0) offset += (at(layer[n - 1]).width + k.width) / 2 + m_request.box_gap;
    shift.push_back(offset);
    double sum = 0, weight = 0;
    for (const auto* side : {&k.above, &k.below}) {
      for (const int i : *side) {
        const double pull = k.box < 0 && at(i).box < 0 ? 8 : k.box >= 0 && at(i).box >= 0 ? 4 : 1;
        sum += pull * at(i).x;
        weight += pull;
      }
    }
    if (weight == 0) sum = k.x, weight = 1;
    runs.push_back({sum - weight * offset, weight, n + 1});
    while (runs.size() > 1 && runs[runs.size() - 2].mean() > runs.back().mean()) {
      const run last = runs.back();
      runs.pop_back();
      runs.back() = {runs.back().sum + last.sum, runs.back().weight + last.weight, last.end};
    }
  }
  std::size_t n = 0;
  for (const run& r : runs)
    for (; n < r.end; ++n) at(layer[n]).x = r.mean() + shift[n];
}

void layering::place() {
  for (const auto& layer : m_layers) {
    double x = 0;
    for (const int i : layer) {
      at(i).x = x + at(i).width / 2;
      x += at(i).width + m_request.box_gap;
    }
    for (const int i : layer) at(i).x -= x / 2;
  }
  for (int sweep = 0; sweep < place_sweeps; ++sweep)
    for (std::size_t n = 0; n < m_layers.size(); ++n) place_layer(m_layers[sweep % 2 ? m_layers.size() - 1 - n : n]);
}

double layering::width_of(int first_layer, int end_layer, double* minimum) const {
  double low = 1e30, high = -1e30;
  for (int layer = first_layer; layer < end_layer; ++layer) {
    for (const int i : m_layers[static_cast<std::size_t>(layer)]) {
      low = std::min(low, at(i).x - at(i).width / 2);
      high = std::max(high, at(i).x + at(i).width / 2);
    }
  }
  *minimum = low;
  return high - low;
}

int layering::best_column_count() const {
  const int layers = static_cast<int>(m_layers.size());
  int best = 1;
  double best_miss = 1e30;
  for (int count = 1; count <= std::min(layers, 12); ++count) {
    const int per_column = (layers + count - 1) / count;
    double width = 0, minimum = 0;
    for (int first = 0; first < layers; first += per_column)
      width += width_of(first, std::min(first + per_column, layers), &minimum) + m_request.column_gap;
    const double miss = std::fabs(std::log(per_column * layer_height() / width / m_request.wanted_ratio));
    if (miss < best_miss) {
      best_miss = miss;
      best = count;
    }
  }
  return best;
}

graph_layout layering::fold() const {
  graph_layout result;
  result.layers = m_layer_of;
  result.boxes.resize(m_request.widths.size());
  const int layers = static_cast<int>(m_layers.size());
  const int columns = best_column_count(), per_column = std::max(1, (layers + columns - 1) / columns);
  const double head = columns > 1 ? 8 * bridge_step : 0;
  std::vector<point> places(m_knots.size());
  std::vector<double> right_side;
  double x = 0;
  for (int first = 0; first < layers; first += per_column) {
    const int end = std::min(first + per_column, layers);
    double minimum = 0;
    const double width = width_of(first, end, &minimum);
    for (int layer = first; layer < end; ++layer)
      for (const int i : m_layers[static_cast<std::size_t>(layer)])
        places[static_cast<std::size_t>(i)] = {at(i).x - minimum + x, head + (layer - first) * layer_height()};
    right_side.push_back(x + width);
    x += width + m_request.column_gap;
  }
  const double foot = head + per_column * layer_height();
  std::vector<int> bridges(right_side.size() + 1, 0);
  for (std::size_t i = 0; i < m_knots.size(); ++i) {
    const knot& k = m_knots[i];
    const point from = places[i];
    const double below_box = from.y + m_request.box_height;
    if (k.box >= 0) result.boxes[static_cast<std::size_t>(k.box)] = from;
    for (const int next : k.below) {
      const point to = places[static_cast<std::size_t>(next)];
      std::vector<point> line{{from.x, k.box >= 0 ? below_box : from.y}};
      if (k.box < 0) line.push_back({from.x, below_box});
      const int column = k.layer / per_column;
      if (column == at(next).layer / per_column) {
        line.push_back(to);
        result.lines.push_back(line);
        continue;
      }
      const double step = bridge_step * (bridges[static_cast<std::size_t>(column)]++ % 8);
      const double between = right_side[static_cast<std::size_t>(column)] + 14 + step;
      line.insert(line.end(), {{from.x, foot - 6 + step},
                               {between, foot - 6 + step},
                               {between, head - 10 - step},
                               {to.x, head - 10 - step},
                               to});
      result.bridges.push_back(line);
    }
  }
  result.width = x - m_request.column_gap;
  result.height = foot + head;
  return result;
}

}

void refuse_to_draw() {
  refuse("the graph has more than " + std::to_string(max_lines) +
         " lines from step to step, too many to draw. nsk inspect --json lists the steps with what they read");
}

graph_layout lay_out(const layout_request& r) {
  if (r.widths.empty()) return {};
  return layering(r).fold();
}

}
