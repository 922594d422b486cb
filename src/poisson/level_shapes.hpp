#pragma once

/// The grids of multigrid under a finest grid: their extents, and how far the coarsest is relaxed.

#include "grid_level.hpp"
#include "relaxation.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace coir::poisson::detail {

/// The cells of a grid along each of three axes, and its gaps (grid_level.hpp).
struct LevelShape {
  int n[3];
  double gap[3];
};

/// The grids of multigrid, from the finest one on.
///
/// \param extents  cells of the finest grid
template <int Rank>
std::vector<LevelShape> level_shapes(std::array<int, Rank> const& extents) {
  std::vector<LevelShape> shapes;
  double length[3] = {0, 0, 0};  // from boundary to boundary; halves exactly
  for (int d = 0; d < Rank; ++d) length[Rank == 2 ? 2 * d : d] = double(extents[d]) + 1;
  while (true) {
    LevelShape shape{{1, 1, 1}, {1, 1, 1}};
    bool exists = true;
    for (int axis = 0; axis < 3; ++axis) {
      if (length[axis] == 0) continue;
      shape.n[axis] = static_cast<int>(std::floor(length[axis] - 0.5));
      shape.gap[axis] = length[axis] - shape.n[axis];
      exists = exists && shape.n[axis] >= 1;
      length[axis] /= 2;
    }
    if (!exists) return shapes;
    shapes.push_back(shape);
  }
}

/// The relaxation of the coarsest grid: enough sweeps to reduce its error a hundredfold. A sweep at
/// the best omega reduces it by the factor omega - 1. A few sweeps are enough, because the shortest
/// axis has at most two cells.
template <class T, int Rank>
Smoothing<T> coarsest_smoothing(LevelShape const& shape) {
  double extents[Rank];
  bool single = true;
  for (int d = 0; d < Rank; ++d) {
    int const axis = Rank == 2 ? 2 * d : d;
    extents[d] = shape.n[axis] + shape.gap[axis] - 1;
    single = single && shape.n[axis] == 1;
  }
  if (single) return {true, T(1), 1};
  double const omega = best_omega(jacobi_radius(extents, Rank));
  int const sweeps = 2 + static_cast<int>(std::ceil(std::log(0.01) / std::log(omega - 1)));
  return {true, static_cast<T>(omega), sweeps};
}

}  // namespace coir::poisson::detail
