#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/hermite.hpp>
#include <coir/cosmology/detail/plain.hpp>
#include <coir/cosmology/parameters.hpp>

#include <cmath>

namespace coir::cosmology::detail {

/// chi and its derivatives by x = -ln a
template <class T>
struct DistanceNode {
  T chi, slope, second;
};

/// Nodes of a table of distances over x in [0, range], 1/80 apart at most.
struct DistanceSteps {
  int steps;
  double step;

  KOKKOS_FUNCTION explicit DistanceSteps(double range)
      : steps(static_cast<int>(std::ceil(range * 80))), step(range / steps) {}
};

/// The derivatives at a; chi is 0.
template <class T>
KOKKOS_FUNCTION DistanceNode<T> distance_slopes(Parameters<T> const& p, T const& a) {
  T const slope = double(hubble_distance) / (a * expansion_rate(p, a));
  return {T(0), slope, T(slope * (1 + expansion_rate_slope(p, a)))};
}

/// Node i of the table, given node i - 1.
template <class T>
KOKKOS_FUNCTION DistanceNode<T> distance_node(Parameters<T> const& p, double step, int i,
                                              DistanceNode<T> const& last) {
  DistanceNode<T> node = distance_slopes(p, T(std::exp(-step * i)));
  if (i > 0)
    node.chi = last.chi + (step / 2) * (last.slope + node.slope) +
               (step * step / 12) * (last.second - node.second);
  return node;
}

/// chi at x, by a table of `steps` steps.
template <class T>
KOKKOS_FUNCTION T distance_at(DistanceNode<T> const* nodes, DistanceSteps const& table,
                              T const& x) {
  T const position = x / table.step;
  double const at = plain(position);
  int const i = at > table.steps - 1 ? table.steps - 1 : at > 0 ? static_cast<int>(at) : 0;
  DistanceNode<T> const &left = nodes[i], &right = nodes[i + 1];
  return quintic(T(position - double(i)), table.step, left.chi, left.slope, left.second, right.chi,
                 right.slope, right.second);
}

}  // namespace coir::cosmology::detail
