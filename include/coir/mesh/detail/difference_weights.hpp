#pragma once

/// \file
/// The weights of finite differences.

namespace coir::mesh::detail {

/// -f' at a cell = near (f[-1] - f[1]) + far (f[-2] - f[2]).
template <class T>
struct DifferenceWeights {
  T near, far;

  DifferenceWeights() = default;

  /// \param points    2, (f[-1] - f[1]) / 2h, or 4, which is exact for polynomials of degree 4
  /// \param per_cell  1 / h
  DifferenceWeights(int points, double per_cell)
      : near(static_cast<T>(points == 2 ? per_cell / 2 : per_cell * 2 / 3)),
        far(static_cast<T>(points == 2 ? 0 : -per_cell / 12)) {}
};

}  // namespace coir::mesh::detail
