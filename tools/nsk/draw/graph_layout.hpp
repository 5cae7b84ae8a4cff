// SPDX-License-Identifier: MIT
#pragma once
/// Layered layout of a directed acyclic graph, top to bottom, folded into columns like a newspaper where it is much
/// taller than wide.
#include <cstddef>
#include <utility>
#include <vector>

namespace nsk::tool {

struct point {
  double x, y;
};

struct layout_request {
  std::vector<double> widths;              ///< of the boxes; boxes are numbered so that edges lead to higher numbers
  std::vector<std::pair<int, int>> edges;  ///< from, to
  double box_height = 40, layer_gap = 34;  ///< below each box there is space for a label
  double box_gap = 26, column_gap = 70;
  double wanted_ratio = 1.4;  ///< height of the page over its width
};

struct graph_layout {
  std::vector<point> boxes;               ///< middle of the upper side of each
  std::vector<int> layers;                ///< of each box, from 0; every edge leads to a higher one
  std::vector<std::vector<point>> lines;  ///< curves from layer to layer: points with vertical tangents
  std::vector<std::vector<point>>
      bridges;  ///< lines with right angles from the foot of a column to the head of the next
  double width = 0, height = 0;
};

/// Maximum number of lines from layer to layer; beyond, the graph could not be read, and a layout would take minutes.
inline constexpr std::size_t max_lines = 100000;
/// Throws that the graph has more lines than that.
[[noreturn]] void refuse_to_draw();

/// Refuses graphs of more than max_lines lines.
graph_layout lay_out(const layout_request& r);

}
