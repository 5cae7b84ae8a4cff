// SPDX-License-Identifier: MIT
#include "winograd.hpp"

namespace nsk::tool {
namespace {

constexpr double g2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double g4[6][3] = {{1.0 / 4, 0, 0},
                             {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                             {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                             {1.0 / 24, 1.0 / 12, 1.0 / 6},
                             {1.0 / 24, -1.0 / 12, 1.0 / 6},
                             {0, 0, 1}};

template <int Side>
void transform(const double (&m)[Side][3], const double* g, double* u) {
  for (int i = 0; i < Side; ++i) {
    double row[3] = {};
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 3; ++y) row[x] += m[i][y] * g[y * 3 + x];
    for (int j = 0; j < Side; ++j) u[i * Side + j] = row[0] * m[j][0] + row[1] * m[j][1] + row[2] * m[j][2];
  }
}

}

void winograd_transform_weights(conv_algorithm algorithm, const double* g, double* u) {
  if (algorithm == conv_algorithm::winograd4)
    transform(g4, g, u);
  else
    transform(g2, g, u);
}

}
